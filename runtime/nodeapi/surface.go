package nodeapi

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"
)

// surfaceText lists what each module exports in workerd 1.20261117 with the
// compatibility date 2026-09-01: one line per module, `name: exports`.
//
//go:embed surface.txt
var surfaceText string

// surface is surfaceText by module. Immutable.
var surface = func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(surfaceText) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		out[name] = strings.Fields(list)
	}
	return out
}()

// complete adds to a module's exports what Workers export there and minido
// refuses: functions that throw, so that imports of them succeed and their use
// says what is wrong.
func (m *Modules) complete(name string, exports *goja.Object) {
	for _, key := range surface[name] {
		if !m.hasOwn(exports, key) && exports.Get(key) == nil {
			m.define(exports, key, m.missing(name+"."+key))
		}
	}
}

func (m *Modules) hasOwn(o *goja.Object, key string) bool {
	return m.engine.Call(m.engine.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), o, m.vm.ToValue(key)).ToBoolean()
}

// missing is a function, usable as a class, that throws when it is called. It
// stands for an API of the table of refusals.
func (m *Modules) missing(api string) goja.Value {
	return m.engine.Call(m.load("internal/missing"), goja.Undefined(), m.vm.ToValue(api))
}

// makeUnsupported makes a module of which every function throws.
func makeUnsupported(m *Modules) goja.Value { return m.vm.NewObject() }
