package vectorize

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// maxFilterBytes is the service's limit.
const maxFilterBytes = 2048

// compileFilter makes the test of a metadata filter: all of its properties must
// hold. The service looks only at properties with a metadata index; here each has
// one.
func compileFilter(filter map[string]json.RawMessage) (func(metadata json.RawMessage) (bool, error), error) {
	size := 0
	var tests []func(root any) bool
	for _, path := range slices.Sorted(maps.Keys(filter)) {
		raw := filter[path]
		size += len(path) + len(raw)
		if path == "" || strings.HasPrefix(path, "$") || strings.Contains(path, `"`) {
			return nil, refuse(0, "invalid filter: %q is no name of a property", path)
		}
		var want any
		if err := json.Unmarshal(raw, &want); err != nil {
			return nil, refuse(0, "invalid filter: %s", err)
		}
		conditions, isObject := want.(map[string]any)
		if !isObject {
			conditions = map[string]any{"$eq": want}
		}
		for _, op := range slices.Sorted(maps.Keys(conditions)) {
			test, err := operator(op, conditions[op])
			if err != nil {
				return nil, err
			}
			tests = append(tests, func(root any) bool { return test(at(root, path)) })
		}
	}
	if size > maxFilterBytes {
		return nil, refuse(0, "invalid filter: max is %d bytes, got %d bytes", maxFilterBytes, size)
	}
	return func(metadata json.RawMessage) (bool, error) {
		if len(tests) == 0 {
			return true, nil
		}
		var root any
		if len(metadata) > 0 {
			if err := json.NewDecoder(bytes.NewReader(metadata)).Decode(&root); err != nil {
				return false, err
			}
		}
		for _, test := range tests {
			if !test(root) {
				return false, nil
			}
		}
		return true, nil
	}, nil
}

// at is the value of a property, by its path with dots; nil if there is none.
func at(v any, path string) any {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if found, ok := object[path]; ok {
		return found
	}
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return nil
	}
	return at(object[name], rest)
}

func operator(op string, want any) (func(any) bool, error) {
	ordered := func(holds func(c int) bool) func(any) bool {
		return func(v any) bool {
			c, ok := compare(v, want)
			return ok && holds(c)
		}
	}
	switch op {
	case "$eq":
		return func(v any) bool { return same(v, want) }, nil
	case "$ne":
		return func(v any) bool { return !same(v, want) }, nil
	case "$in", "$nin":
		list, ok := want.([]any)
		if !ok {
			return nil, refuse(0, "invalid filter: %s takes an array", op)
		}
		return func(v any) bool {
			return slices.ContainsFunc(list, func(x any) bool { return same(v, x) }) == (op == "$in")
		}, nil
	case "$lt":
		return ordered(func(c int) bool { return c < 0 }), nil
	case "$lte":
		return ordered(func(c int) bool { return c <= 0 }), nil
	case "$gt":
		return ordered(func(c int) bool { return c > 0 }), nil
	case "$gte":
		return ordered(func(c int) bool { return c >= 0 }), nil
	}
	return nil, refuse(0, "invalid filter: there is no operator %q", op)
}

func same(a, b any) bool {
	switch a.(type) {
	case nil, bool, float64, string:
		return a == b
	}
	return false
}

func compare(a, b any) (c int, ok bool) {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return cmp.Compare(x, y), ok
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	}
	return 0, false
}
