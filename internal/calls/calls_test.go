package calls

import (
	"reflect"
	"strings"
	"testing"
)

// A seed makes the same calls each time, of every member before any has two, in the
// place where their receivers are.
func TestDraw(t *testing.T) {
	members := []Member{{Plain, "", "util.format", "call"}, {Plain, "", "URL", "new"}, {Plain, "URL", "href", "get"}, {Plain, "URL", "hash", "set"},
		{Plain, "Map", "[Symbol.iterator]", "call"}, {Bound, "KV", "get", "call"}, {Object, "Storage", "put", "call"}}
	p := Draw(7, members, len(members))
	if again := Draw(7, members, len(members)); !reflect.DeepEqual(p, again) {
		t.Error("the same seed makes other calls")
	}
	if other := Draw(8, members, len(members)); reflect.DeepEqual(p, other) {
		t.Error("another seed makes the same calls")
	}
	for place, wants := range map[string][]string{Plain: {"util.format(", "new URL(", ".href }", ".hash = ", "o[Symbol.iterator]("}, Bound: {"const o = env.KV; return o.get("}, Object: {"const o = state.storage; return o.put("}} {
		if len(p.Cases[place]) != len(wants) {
			t.Errorf("%s: %v", place, p.Cases[place])
		}
		for _, want := range wants {
			found := false
			for _, c := range p.Cases[place] {
				found = found || strings.Contains(c.Source, want)
			}
			if !found {
				t.Errorf("%s: no %s in %v", place, want, p.Cases[place])
			}
		}
		for _, c := range p.Cases[place] {
			if !strings.Contains(p.Source, quoted(c.Source)) {
				t.Errorf("the worker lacks %s", c.Source)
			}
		}
	}
}

// Outcomes that differ in the same way are a group; what is another in every run is no
// difference, nor what there is a reason for.
func TestDifferences(t *testing.T) {
	known, err := KnownDifferences()
	if err != nil || len(known) == 0 {
		t.Fatal(known, err)
	}
	calls := []Case{{Plain, "a(1)"}, {Plain, "a(2)"}, {Plain, "b()"}, {Plain, "id()"}, {Plain, "gap()"}}
	want := map[string]string{"a(1)": `throws E["x": 1]`, "a(2)": `throws E["y": 22]`, "b()": "1", "id()": `"0123456789abcdef0123456789abcdef"`, "gap()": "throws E[The gap method is not implemented code=X]"}
	got := map[string]string{"a(1)": "undefined", "a(2)": "undefined", "b()": "2", "id()": `"fedcba9876543210fedcba9876543210"`, "gap()": "throws E[The gap method is not implemented: use another code=X]"}
	groups, excused := Differences(calls, want, got, known)
	if len(groups) != 2 || len(groups[0].Calls) != 2 || groups[1].Calls[0].Call != "b()" {
		t.Errorf("%+v", groups)
	}
	if excused[known[0].Why] != 1 {
		t.Errorf("excused: %v", excused)
	}
	if report := Report(groups, 1); !strings.HasPrefix(report, "== 2\n   a(1)\n") || strings.Contains(report, "a(2)") || !strings.Contains(report, "== 1\n   b()\n") {
		t.Error(report)
	}
}
