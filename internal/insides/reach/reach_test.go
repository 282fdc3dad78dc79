package reach

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// What code holds is in the list, with names, sizes and who refers to it: properties,
// elements, entries, variables of closures, private fields; no getter is called.
func TestFrom(t *testing.T) {
	vm := goja.New()
	v, err := vm.RunString(`
		class Leak { #secret = { hidden: new Uint8Array(5000) }; constructor(n) { this.n = n; this.text = "a text of " + n; } get loud() { throw new Error("called"); } }
		globalThis.map = new Map([["k", new Leak(1)]]);
		globalThis.list = [new Leak(2), , new Leak(3)];
		globalThis.chain = new Map(Array.from({ length: 20000 }, (_, i) => [i, i]));
		const big = new Leak(4);
		function keep() { return () => big; }
		globalThis.closed = keep();
		globalThis.self = globalThis;
		globalThis.späte = { "schlüssel": "wörter" };
		({ inside: new Leak(5) })`)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := From(vm, map[string]*goja.Object{"given": v.(*goja.Object), "none": nil})
	if err != nil {
		t.Fatal(err)
	}
	ids, leaks, into := map[uint32]bool{}, 0, make([]string, len(nodes))
	for i, n := range nodes {
		if ids[n.ID] {
			t.Errorf("two nodes have the id %d", n.ID)
		}
		ids[n.ID] = true
		for _, e := range n.Edges {
			into[e.To] += n.Name + "." + e.Label() + " "
		}
		if n.Name == "Leak" && n.Kind == Object && len(n.Edges) > 2 {
			leaks++
		}
		if i > 0 && n.Size <= 0 {
			t.Errorf("%+v has no size", n)
		}
	}
	if leaks != 5 {
		t.Errorf("%d of 5 instances are listed", leaks)
	}
	find := func(name string, from ...string) Node {
		for i, n := range nodes {
			for _, f := range from {
				if n.Name == name && strings.Contains(into[i], f) {
					return n
				}
			}
		}
		t.Errorf("no %s that %v refers to", name, from)
		return Node{}
	}
	find("Leak", "Map.value")
	find("Leak", "Array.0")
	find("Leak", "Array.2")
	find("Leak", "(scope).")
	find("Leak", "Object.inside")
	find("a text of 3", "Leak.text")
	find("wörter", "Object.schlüssel")
	find("keep", "globalThis.keep", "Object.keep", "global.keep")
	if n := find("ArrayBuffer", "Uint8Array."); n.Size < 5000 || n.Size > 6000 {
		t.Errorf("a buffer of 5,000 bytes has %d", n.Size)
	}
	if n := find("Map", ".chain"); n.Size < 20000*16 {
		t.Errorf("a map of 20,000 entries has %d bytes", n.Size)
	}
	again, err := From(vm, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range again {
		if n.Kind == Object && !ids[n.ID] {
			t.Fatalf("%+v has another id now", n)
		}
	}
}

// A goja that is otherwise is named, and not read.
func TestUnknownLayout(t *testing.T) {
	type baseObject struct{}
	object := reflect.ValueOf(struct{ self any }{&baseObject{}})
	for _, c := range []struct {
		runtime reflect.Type
		object  reflect.Value
		want    string
	}{
		{reflect.TypeFor[struct{ global int }](), object, ".global is not as expected"},
		{reflect.TypeFor[goja.Runtime](), object, "goja.baseObject.val is not as expected"},
		{reflect.TypeFor[goja.Runtime](), reflect.ValueOf(struct{ impl any }{}), "goja.Object.self is not as expected"},
	} {
		if err := known(c.runtime, c.object); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
