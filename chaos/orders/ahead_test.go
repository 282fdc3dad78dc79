package orders

import (
	"slices"
	"strings"
	"testing"
)

// What a life has passed before its death, and otherwise passes behind it.
func TestAhead(t *testing.T) {
	clean := []string{"a", "b", "c", "d", "e"}
	for _, c := range []struct{ points, want string }{
		{"a b c", ""}, {"a b", ""}, {"a d b", "d"}, {"a e d b", "d"}, {"d e a b c", "e"}, {"a x", ""}, {"", ""}, {"a c b d", ""},
	} {
		if got := Ahead(clean, strings.Fields(c.points)); got != c.want {
			t.Errorf("%s: %q", c.points, got)
		}
	}
}

// An effect whose before-side was passed may have happened by the next point.
func TestSidesOf(t *testing.T) {
	if got := SidesOf("fetch:before()/fetch#2"); !slices.Equal(got, []string{"fetch:before()/fetch#2", "fetch:after()/fetch#2"}) {
		t.Errorf("%v", got)
	}
	if got := SidesOf("commit:after(A/a)/rpc#1"); len(got) != 1 {
		t.Errorf("%v", got)
	}
}
