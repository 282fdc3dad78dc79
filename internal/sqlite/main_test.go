package sqlite

import (
	"os"
	"testing"
)

// TestMain puts the process into a zone that is not UTC, so that the tests
// notice where the machine's zone leaks into SQL.
func TestMain(m *testing.M) {
	os.Setenv("TZ", "America/New_York")
	os.Exit(m.Run())
}
