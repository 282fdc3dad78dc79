package regex

import (
	"strings"
	"testing"
)

// Every table of the data file parses, and set operations keep their laws.
func TestUnicodeSets(t *testing.T) {
	for name := range extraProperties() {
		if short, isScript := strings.CutPrefix(name, "scx="); isScript {
			if _, ok := Property("Script_Extensions=" + short); !ok && name != "scx=" {
				t.Logf("%s is a script that this Go does not know", short)
			}
			continue
		}
		if _, ok := Property(name); !ok {
			t.Errorf("no set of %s", name)
		}
	}
	upper, _ := Property("Lu")
	letters, _ := Property("L")
	if len(upper.minus(letters)) != 0 || len(letters.intersect(letters.negate())) != 0 {
		t.Error("Lu is no subset of L, or L meets its complement")
	}
	if got := upper.union(upper.negate()); len(got) != 1 || got[0] != (Range{0, maxRune}) {
		t.Errorf("Lu and its complement: %v", got)
	}
}
