package node

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// surfaceText lists what each module exports in workerd 1.20261117 with the
// compatibility date 2026-09-01: one line per module, `name: exports`. An export
// is its name; where the function that stands there has another length in Node's
// and workerd's eyes, a slash and that; where another name, a colon and that.
//
//go:embed surface.txt
var surfaceText string

// shape is what Function.prototype.length and name of an export are.
type shape struct {
	export, name string
	length       int
}

// surface are the names of surfaceText by module, and what it says of some.
// Immutable; read when it is first asked for.
var surface = sync.OnceValues(func() (map[string][]string, map[string][]shape) {
	names, shapes := map[string][]string{}, map[string][]shape{}
	for line := range strings.Lines(surfaceText) {
		module, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		names[module] = []string{}
		for _, word := range strings.Fields(list) {
			export, rest, shaped := strings.Cut(word, "/")
			names[module] = append(names[module], export)
			if shaped {
				length, name, named := strings.Cut(rest, ":")
				if !named {
					name = export
				}
				n, err := strconv.Atoi(length)
				if err != nil {
					panic("surface.txt: " + word)
				}
				shapes[module] = append(shapes[module], shape{export, name, n})
			}
		}
	}
	return names, shapes
})

// Surface are the names that a module exports in workerd beside its default; nil if it is
// not in the table.
func Surface(module string) []string {
	names, _ := surface()
	return names[module]
}

// removed are exports that are undefined once a flag takes away what Node.js has
// taken away; those of node:util and of process are made without them.
var removed = []struct {
	flag   compat.Flag
	module string
	names  []string
}{
	{compat.RemoveNodejsCompatEolV22, "crypto", []string{"Cipher", "Decipher", "createCipher", "createDecipher"}},
	{compat.RemoveNodejsCompatEolV24, "tls", []string{"createSecurePair"}},
}

// complete adds to a module's exports what Workers export there and minido
// refuses: functions that throw, so that imports of them succeed and their use
// says what is wrong.
func (m *Modules) complete(name string, exports *goja.Object) {
	for _, r := range removed {
		if r.module == name && m.Options.Compat(r.flag) {
			for _, key := range r.names {
				m.Define(exports, key, goja.Undefined())
			}
		}
	}
	for _, key := range Surface(name) {
		if !m.hasOwn(exports, key) && exports.Get(key) == nil {
			m.Define(exports, key, m.missing(name+"."+key))
		}
	}
	_, shapes := surface()
	for _, s := range shapes[name] {
		if fn, ok := exports.Get(s.export).(*goja.Object); ok && engine.IsCallable(fn) {
			fn.DefineDataProperty("length", m.VM.ToValue(s.length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
			fn.DefineDataProperty("name", m.VM.ToValue(s.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
}

func (m *Modules) hasOwn(o *goja.Object, key string) bool {
	return m.Engine.Call(m.Engine.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), o, m.VM.ToValue(key)).ToBoolean()
}

// missing is a function, usable as a class, that throws when it is called. It
// stands for an API of the table of refusals.
func (m *Modules) missing(api string) goja.Value {
	return m.Engine.Call(m.Load("internal/missing"), goja.Undefined(), m.VM.ToValue(api))
}
