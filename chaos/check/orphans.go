package check

import (
	"fmt"
	"maps"
	"slices"
)

// orphanChecker looks for alarms of objects that do not exist: they would create the
// object when they fire.
type orphanChecker struct{}

func (orphanChecker) Name() string { return "orphans" }

func (orphanChecker) Doc() Doc {
	return Doc{"the alarm indexes of namespaces, at rest", []Invariant{
		{"alarm-has-object", "each row of an alarm index belongs to an object that has a database"},
	}}
}

func (orphanChecker) Applies(e Evidence) bool { return !e.Restless && len(e.Rest.indexes) > 0 }

func (c orphanChecker) Check(e Evidence) []Violation {
	var out []Violation
	for _, space := range slices.Sorted(maps.Keys(e.Rest.indexes)) {
		rows := e.Rest.indexes[space]
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			if _, exists := e.Rest.find(Object{Namespace: space, ID: id}); !exists {
				out = append(out, Violation{c.Name(), "alarm-has-object", fmt.Sprintf("%s: the index has an alarm at %s, and the object has no database",
					Object{Namespace: space, ID: id}.Label(), rows[id])})
			}
		}
	}
	return out
}
