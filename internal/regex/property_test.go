package regex

import (
	"strings"
	"testing"
)

// Every table of the data file parses, and set operations keep their laws.
func TestUnicodeSets(t *testing.T) {
	for key := range propertyTables() {
		kind, name, _ := strings.Cut(key, " ")
		property := map[string]string{"gc": "gc=", "sc": "sc=", "scx": "scx=", "bin": ""}
		prefix, ok := property[kind]
		if !ok {
			_, ok = stringProperty(name)
		} else {
			_, ok = Property(prefix + name)
		}
		if !ok {
			t.Errorf("nothing has %s", key)
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
