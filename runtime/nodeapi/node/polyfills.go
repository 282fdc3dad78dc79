package node

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
)

// polyfilledText is the table of what refuses in wrangler's polyfills; its first lines
// say how it is written.
//
//go:embed polyfilled.txt
var polyfilledText string

// polyfilled are the refusals of the table by module: the text of each name.
// Immutable; read when it is first asked for.
var polyfilled = sync.OnceValue(func() map[string]map[string]string {
	table := map[string]map[string]string{}
	for line := range strings.Lines(polyfilledText) {
		head, names, found := strings.Cut(strings.TrimSpace(line), " | ")
		if !found {
			continue // a comment
		}
		module, shown, other := strings.Cut(head, "=")
		if !other {
			shown = module
		}
		table[module] = map[string]string{}
		for _, word := range strings.Fields(names) {
			name, text, other := strings.Cut(word, "=")
			if !other {
				text = name
			}
			table[module][name] = "[unenv] " + shown + "." + text + " is not implemented yet!" // the reference's text
		}
	}
	return table
})

// StandsIn says which internal module an import gets instead of this one under a
// worker's flags; "" is this one itself.
func (d *Definition) StandsIn(choose func(on func(flag compat.Flag) bool) string) *Definition {
	d.standsIn = choose
	return d
}

// offeredBy reports whether workerd itself offers the module under these flags of a worker
// with Node.js compatibility. Pure.
func (d *Definition) offeredBy(on func(flag compat.Flag) bool) bool { return d.flag == 0 || on(d.flag) }

// Polyfill is a choice for StandsIn: the module of that name where the worker's date
// leaves the module of flag out.
func Polyfill(flag compat.Flag, name string) func(on func(flag compat.Flag) bool) string {
	return func(on func(flag compat.Flag) bool) string {
		if on(flag) {
			return ""
		}
		return name
	}
}

// Export is what a program gets that imports a module, which the worker's flags offer.
// From nodejs_compat_v2 on that may be wrangler's polyfill: a module that workerd leaves out
// at the worker's date then refuses what the polyfill refuses.
func (m *Modules) Export(name string) goja.Value {
	if v, ok := m.exported[name]; ok {
		return v
	}
	d, on := m.Registry.definitions[name], m.Options.Compat
	source := name
	if d.standsIn != nil {
		if other := d.standsIn(on); other != "" {
			source = other
		}
	}
	v := m.Load(source)
	if obj, isObject := v.(*goja.Object); isObject && on(compat.NodejsCompatV2) && !d.offeredBy(on) {
		v = m.polyfill(name, obj)
	}
	m.exported[name] = v
	return v
}

// Native is the module that workerd itself has under a name, by process.getBuiltinModule;
// undefined if there is none at the worker's date.
func (m *Modules) Native(spec string) goja.Value {
	name, ok := m.Resolve(spec)
	if !ok || !m.Registry.definitions[name].offeredBy(m.Options.Compat) {
		return goja.Undefined()
	}
	if name == "process" && !m.Options.Compat(compat.EnableNodejsProcessV2) {
		name = "internal/process_v1"
	}
	return m.Load(name)
}

// polyfill is a copy of a module's exports in which the names of the table refuse.
func (m *Modules) polyfill(name string, of *goja.Object) goja.Value {
	refuses := polyfilled()[name]
	if name == "console" { // the global one, whose class refuses
		for key, text := range refuses { // order-independent: properties of names of their own
			m.Define(of, key, m.refuse(text))
		}
		return of
	}
	copied := m.VM.NewObject()
	for _, key := range of.Keys() {
		if text, ok := refuses[key]; ok {
			m.Define(copied, key, m.refuse(text))
			continue
		}
		m.Engine.Lazies.Export(copied, key, func() goja.Value {
			if part := name + "/" + key; polyfilled()[part] != nil {
				return m.Export(part)
			}
			return of.Get(key)
		})
	}
	if name == "fs" {
		m.Define(copied, "existsSync", m.Engine.Func("existsSync", 0, func(goja.FunctionCall) goja.Value { return m.VM.ToValue(false) }))
	}
	return copied
}

// refuse is a function, usable as a class, that throws an Error with a text.
func (m *Modules) refuse(text string) goja.Value {
	return m.Engine.Call(m.Load("internal/refuse"), goja.Undefined(), m.VM.ToValue(text))
}

// Surface are the names that the namespace of a module has under the worker's flags; nil
// for those of its exports.
func (m *Modules) Surface(name string) []string {
	if d := m.Registry.definitions[name]; d == nil || !d.offeredBy(m.Options.Compat) || d.standsIn != nil && d.standsIn(m.Options.Compat) != "" {
		return nil
	}
	return Surface(name)
}
