package check

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
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

func (orphanChecker) Applies(e Evidence) bool { return !e.Restless && len(indexes(e.Rest)) > 0 }

// indexes are the paths of the alarm indexes of a snapshot.
func indexes(s Snapshot) []string {
	if s.Dir == "" {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(s.Dir, "v3", "do", "*", indexFile))
	if err != nil {
		panic(err) // the pattern is a constant, but for a directory that the harness has named
	}
	return paths
}

func (c orphanChecker) Check(e Evidence) []Violation {
	var out []Violation
	for _, path := range indexes(e.Rest) {
		space := filepath.Base(filepath.Dir(path))
		rows, err := readIndex(path)
		if err != nil {
			out = append(out, Violation{c.Name(), "alarm-has-object", fmt.Sprintf("%s: the alarm index cannot be read: %v", space, errors.Unwrap(err))})
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			if _, exists := e.Rest.find(Object{Namespace: space, ID: id}); !exists {
				out = append(out, Violation{c.Name(), "alarm-has-object", fmt.Sprintf("%s: the index has an alarm at %s, and the object has no database",
					Object{Namespace: space, ID: id}.Label(), rows[id])})
			}
		}
	}
	return out
}
