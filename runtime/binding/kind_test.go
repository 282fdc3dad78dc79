package binding

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestKinds shows that the kinds do not contradict each other: names, keys and
// places in both orders are taken once, and what a kind says of itself is there.
func TestKinds(t *testing.T) {
	if len(Kinds()) < 40 {
		t.Fatalf("%d kinds only", len(Kinds()))
	}
	taken := map[string]ID{}
	claim := func(k *Kind, what, value string) {
		if value == "" || value == "0" {
			return
		}
		if first, dup := taken[what+" "+value]; dup {
			t.Errorf("%s and %s both have the %s %s", first, k.ID, what, value)
		}
		taken[what+" "+value] = k.ID
	}
	for _, k := range Kinds() {
		number := func(n int) string { b, _ := json.Marshal(n); return string(b) }
		claim(k, "name", string(k.ID))
		claim(k, "key", k.Key)
		claim(k, "title", k.Title)
		claim(k, "state folder", k.State)
		claim(k, "place in the list", number(k.Order.Listed))
		claim(k, "place on env", number(k.Order.Made))
		if k.ID == "" || k.Title == "" || k.Key == "" || k.Schema == nil || k.Order.Listed == 0 {
			t.Errorf("%+v lacks something", k)
		}
		if !slices.Contains([]State{Full, Partial, Absent, Remote}, k.Docs.State) {
			t.Errorf("%s: the state %q", k.ID, k.Docs.State)
		}
		if !slices.Contains([]Scope{ScopeEnvironment, ScopeInherited, ScopeFile}, k.Scope) {
			t.Errorf("%s: the scope %q", k.ID, k.Scope)
		}
		if !strings.HasSuffix(k.Advice, ".") {
			t.Errorf("%s: the advice %q is no sentence", k.ID, k.Advice)
		}
	}
}

// TestParseErrors shows that a slip of the pen in a kind.json is found.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind": "x", "titel": "X"}`:                      `unknown field "titel"`,
		`{"kind": "x", "schema": {"type": 1}}`:             "type",
		`{"kind": "x", "schema": {"propertys": {}}}`:       `unknown field "propertys"`,
		`{"kind": "x", "order": {"listed": "first"}}`:      "listed",
		`{"kind": "x", "schema": {"enum": "a or b"}}`:      "enum",
		`{"kind": "x", "bindings": {"name": "n", "in":1}}`: `unknown field "in"`,
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
