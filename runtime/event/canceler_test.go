package event

import (
	"errors"
	"testing"
)

// A cancellation reaches an exchange that has begun, one that begins afterwards, and the one
// that takes its place, with its reason or without.
func TestCanceler(t *testing.T) {
	for _, reason := range []error{errors.New("gone"), nil} {
		var got []error
		note := func(err error) { got = append(got, err) }
		var begun, late Canceler
		begun.Set(note)
		begun.Cancel(reason)
		late.Cancel(reason)
		late.Set(note)
		late.Set(note)
		if len(got) != 3 || got[0] != reason || got[1] != reason || got[2] != reason {
			t.Errorf("%v: %v", reason, got)
		}
	}
}
