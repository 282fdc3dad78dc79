package fault

import (
	"errors"
	"syscall"
	"testing"

	"minido.dev/minido/internal/killpoint"
)

// A connection is refused before a fetch, and nowhere else.
func TestRefuse(t *testing.T) {
	f, err := Parse("refuse@fetch:before()/alarm#1")
	if err != nil || f.EndsObjects() || f.String() != "refuse@fetch:before()/alarm#1" {
		t.Fatalf("%+v, %v", f, err)
	}
	told := false
	fails := kindOf(f.Verb).Do(nil, f.Arg, killpoint.Point{Kind: killpoint.Fetch, Side: killpoint.Before}, func(err error) { told = err == nil })
	if !told || !errors.Is(fails, syscall.ECONNREFUSED) {
		t.Errorf("%v, %v", told, fails)
	}
	for _, text := range []string{"refuse@fetch:after()/alarm#1", "refuse@commit:before(A/a)/alarm#1", "refuse(dns)@fetch:before#1"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}
