package insides

import (
	"testing"

	"github.com/dop251/goja"
)

// The built-in objects of a runtime that adopts methods are those of another, property by property, and their methods
// work. All but those with two names are ours.
func TestAdoptedMethodsAreAsOthers(t *testing.T) {
	program := goja.MustCompile("", `(function () { const said = [], seen = new Set(), identities = new Map();
		const visit = (o, path) => {
			if (Object(o) !== o || seen.has(o)) return;
			seen.add(o);
			for (const key of Reflect.ownKeys(o)) {
				const d = Object.getOwnPropertyDescriptor(o, key), name = path + "." + String(key);
				for (const part of ["value", "get", "set"]) {
					if (typeof d[part] === "function" && !identities.has(d[part])) identities.set(d[part], name);
				}
				said.push([name, d.writable, d.enumerable, d.configurable, typeof d.value, identities.get(d.value), identities.get(d.get), typeof d.value === "function" ? d.value + d.value.name + d.value.length + Object.isExtensible(d.value) : ""].join());
				visit(d.value, name);
			}
			visit(Object.getPrototypeOf(o), path + ".^");
		};
		visit(globalThis, "globalThis");
		said.push([3, 1].concat(2).sort().join(), "a-b".split("-").length, Math.max(1, 2), new Date(0).toISOString(), (255).toString(16), Object.keys({ a: 1 }).join(),
			new DataView(new ArrayBuffer(2)).getInt16(0), new Uint8Array([1, 2]).subarray(1).join(), BigInt.asIntN(8, 255n), isNaN(NaN));
		return said.join("\n");
	})()`, false)
	AdoptMethods(goja.New()) // not the first
	theirs, ours := goja.New(), goja.New()
	if n := AdoptMethods(ours); n < 250 {
		t.Errorf("%d methods are ours", n)
	}
	want, err := theirs.RunProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ours.RunProgram(program)
	if err != nil || got.String() != want.String() {
		t.Errorf("not as goja's: %v\n%s", err, got)
	}
}
