package insides

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dop251/goja"
)

// literalsOf lists how many properties the objects of a program's literals have room for, 0 where
// goja makes them, in the order of the code.
func literalsOf(t *testing.T, source string) (list []int) {
	t.Helper()
	program, err := goja.Compile("", source, false)
	if err != nil {
		t.Fatal(err)
	}
	if !Instrument(program) || !theClosures.known {
		t.Fatal("goja is not known")
	}
	var each func(p *goja.Program)
	each = func(p *goja.Program) {
		code := joined.programs.code(p)
		for i := range code {
			switch code[i].tab {
			case unsafe.Pointer(theClosures.literal.ours):
				list = append(list, *(*int)(code[i].data))
			case theClosures.literal.table:
				list = append(list, 0)
			}
			for _, inner := range joined.programs.inner(code[i:i+1], nil) {
				each(inner)
			}
		}
	}
	each(program)
	return list
}

// An object has room for the properties of its literal, whatever their values are.
func TestLiteralsHaveRoom(t *testing.T) {
	for source, want := range map[string][]int{ // order-independent: each by itself
		"x = { a: 1 }":                           {1},
		"x = {}":                                 {0},
		"x = { a: 1, b: { c: 1, d: 2 }, e: {} }": {3, 2, 0},
		"x = { a: f(1, { b: 1 }, [1, { c: 1, d: 1 }]), e: 1 }":                                                       {2, 1, 2},
		"x = { a: y ? { b: 1 } : { c: 1, d: 1 }, e: 1, g: 1 }":                                                       {3, 1, 2},
		"x = { a: y && z, b: y || z, c: y ?? z, d: y?.z }":                                                           {4},
		"x = { a: y?.z.w[1], b: new Y(1, 2), c: `${y}-${z}-1` }":                                                     {3},
		"x = { a() {}, get b() { return { c: 1 } }, set d(v) {}, async e() {}, *f() {}, g: () => ({ h: 1, i: 2 }) }": {6, 1, 2},
		"x = { [y]: 1, a: 2, [z + 1]: () => {} }":                                                                    {3},
		"f({ a: 1 }); f({ b: 2, c: 3 }); x = { d: 1 }.d; y = { e: 1, f: 1 }":                                         {1, 2, 1, 2},
		"x = { ...y, a: 1 }": {0},
		"x = { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1 }":                 {8},
		"x = (async () => ({ a: await y, b: await { c: 1 } }))":                        {2, 1},
		"x = (function* () { x = { a: yield 1, b: 2 } })":                              {2},
		"x = { a: typeof y, b: -y, c: y + z, d: y in z, e: y = z, f: y.z = 1, g: !y }": {7},
		"x = { __proto__: null, a: 1 }":                                                {1},
		"x = (function () { return { a: this, b: new.target } })":                      {2},
	} {
		if got := literalsOf(t, "(function (x, y, z, f, Y) { "+source+" })"); !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", source, got, want)
		}
	}
}

// Objects, arrays and functions are what goja's are, whatever is done to them afterwards.
func TestLiteralsAreAsGoja(t *testing.T) {
	var b strings.Builder
	b.WriteString("const said = [], say = o => said.push(JSON.stringify(o) + Object.getOwnPropertyNames(o) + Object.keys(o).length);\n")
	changes := []string{"", "o.z = 1", "delete o.a", "delete o.a; o.a = 5", "o[0] = 1; o.b = 2", "Object.defineProperty(o, 'a', { value: 7, enumerable: false, configurable: true })",
		"for (const k in o) delete o[k]; o.q = 1", "for (let i = 0; i < 20; i++) o['k' + i] = i; delete o.k3", "Object.freeze(o); try { o.a = 9 } catch {}", "o.name = 1; o.length = 3", "o.prototype = 1; o.toString = undefined"}
	makes := []string{"{ a: 1 }", "{ a: 1, b: 2 }", "{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 }", "{ a: 1, a: 2 }", "{ 1: 1, a: 2, 0: 3 }", "{ get a() { return 1 }, set a(v) {} }", "[]", "[1]", "[1, 2, 3, 4]", "[1, , 3]", "[...'abc', 1]",
		"function a() {}", "(a, b) => 1", "{ a() {} }.a", "new (class { a = 1; b = { c: 1 } })"}
	for i, made := range makes {
		for j, change := range changes {
			fmt.Fprintf(&b, "{ const o = (%s); %s; say(o); if (Array.isArray(o)) { try { o.push(1, 2, 3); o.length = 2 } catch {} say(o) } if (typeof o === 'function') said.push(o.name, o.length, typeof o.prototype); said.push('%d %d') }\n", made, change, i, j)
		}
	}
	b.WriteString("said.join('\\n')")
	run := func(instrumented bool) string {
		program, err := goja.Compile("", b.String(), false)
		if err != nil {
			t.Fatal(err)
		}
		if instrumented && !Instrument(program) {
			t.Fatal("goja is not known")
		}
		v, err := goja.New().RunProgram(program)
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	got, want := run(true), run(false)
	if got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Errorf("%q, not %q", g[i], w[i])
			}
		}
		t.Errorf("%d lines, not %d", len(g), len(w))
	}
}
