package written

import (
	"os"
	"strings"
	"testing"
)

func TestVersionOfGoja(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/dop251/goja " + gojaVersion + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("go.mod does not require %s: let gojaVersion be what it requires", want)
	}
}
