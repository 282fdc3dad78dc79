// Package node is the base of every package of node: modules: the registry of their
// definitions, the modules of one isolate, argument checks with Node's errors, bytes
// and Buffers, and the tables of what Workers export and minido refuses.
package node

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi"
)

// Options are what the modules need from outside. All functions are called on
// the loop.
type Options struct {
	// Env is the initial content of process.env; nil means empty. It is asked
	// only under nodejs_compat_populate_process_env.
	Env func() map[string]string
	// Compat answers for a compatibility flag (its enable name); nil means that
	// every flag is on.
	Compat func(flag compat.Flag) bool
	// Import is the namespace of a module of the host, a cloudflare: one too; nil means
	// that there is none.
	Import func(spec string) (goja.Value, error)
	// Files are the worker's own modules, shown under /bundle; nil means none.
	Files func() map[string][]byte
}

// Modules are the node: modules of one isolate. Loop-confined.
type Modules struct {
	Engine   *engine.Engine
	Platform *webapi.Platform // nil in tests without the web platform
	VM       *goja.Runtime
	Options  Options
	Registry *Registry
	Prims    Captured
	Buffers  Buffers

	loaded   map[string]goja.Value
	exported map[string]goja.Value // what imports get, by name
	loading  map[string]bool
	errors   *goja.Object
	symbols  map[string]*goja.Symbol // Symbol.for, by name
	outputs  [3]output               // by file descriptor
}

// New prepares the modules of an engine in which no user code has run yet.
// Under nodejs_compat_v2 it defines the globals of the registry, made at their first
// use. p may be nil in tests.
func New(r *Registry, e *engine.Engine, p *webapi.Platform, o Options) *Modules {
	if o.Compat == nil {
		o.Compat = func(compat.Flag) bool { return true }
	}
	m := &Modules{Engine: e, Platform: p, VM: e.VM(), Options: o, Registry: r,
		loaded: map[string]goja.Value{}, exported: map[string]goja.Value{}, loading: map[string]bool{}, symbols: map[string]*goja.Symbol{}}
	m.Prims = capture(m.VM)
	if m.Options.Compat(compat.NodejsCompatV2) {
		for _, install := range r.globals {
			install(m)
		}
	}
	return m
}

// Require is the exports object of a module for who imports it, by its name with or
// without `node:`. The error names a module that does not exist.
func (m *Modules) Require(specifier string) (goja.Value, error) {
	name, ok := m.Resolve(specifier)
	if !ok {
		return nil, m.unknown(specifier)
	}
	var v goja.Value
	if ex := m.VM.Try(func() { v = m.Export(name) }); ex != nil {
		return nil, ex
	}
	return v, nil
}

// Has reports whether Require(spec) finds a module under the worker's
// compatibility flags.
func (m *Modules) Has(spec string) bool {
	_, ok := m.Resolve(spec)
	return ok
}

// Resolve is a specifier's module; false if the worker's flags offer none.
func (m *Modules) Resolve(spec string) (name string, ok bool) {
	return strings.TrimPrefix(spec, "node:"), m.Registry.Offered(spec, m.Options.Compat)
}

func (m *Modules) unknown(spec string) error {
	name := strings.TrimPrefix(spec, "node:")
	d, found := m.Registry.definitions[name]
	if !found || d.internal {
		return TextError(fmt.Sprintf("No such module %q: Node.js modules that Workers have are listed by require(\"node:module\").builtinModules", spec))
	}
	flag := compat.NodejsCompat
	if d.flag != 0 && m.Options.Compat(flag) {
		flag = d.flag
	}
	return TextError(fmt.Sprintf("No such module %q: it needs the compatibility flag %s (set compatibility_flags, or a newer compatibility_date)", spec, flag))
}

// Load makes a module, once.
func (m *Modules) Load(name string) goja.Value {
	if v, ok := m.loaded[name]; ok {
		return v
	}
	d, ok := m.Registry.definitions[name]
	if !ok {
		panic("nodeapi: no module " + name)
	}
	if m.loading[name] {
		panic("nodeapi: modules import each other in a circle at " + name)
	}
	m.loading[name] = true
	defer delete(m.loading, name)
	var v goja.Value
	m.Engine.In(engine.GlobalFrame, func() {
		if d.make != nil {
			v = d.make(m)
		} else {
			v = m.Engine.Load(d.prelude, m.native(d.native))
		}
		if obj, isObject := v.(*goja.Object); isObject && !d.internal {
			m.complete(name, obj)
		}
	})
	m.loaded[name] = v
	return v
}

// Loaded is a module's value if it has been made, else nil.
func (m *Modules) Loaded(name string) goja.Value { return m.loaded[name] }

// native is what a module's prelude gets: its own Go functions, `require` for
// other modules, and `errors`.
func (m *Modules) native(make func(m *Modules) []engine.Func) *goja.Object {
	funcs := []engine.Func{
		{Name: "nextTick", Length: 1, Fn: m.nextTick},
		{Name: "isView", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			k := m.KindOf(c.Argument(0))
			return m.VM.ToValue(k == IsUint8 || k == isTypedArray || k == IsDataView)
		}},
		{Name: "methods", Length: 2, Fn: m.defineMethods},
		{Name: "accessors", Length: 2, Fn: m.defineAccessors},
		{Name: "mixin", Length: 3, Fn: m.mixin},
		{Name: "warn", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			m.Engine.Log(engine.Warn, m.Engine.Text(c.Argument(0)))
			return goja.Undefined()
		}},
	}
	if make != nil {
		funcs = append(funcs, make(m)...)
	}
	obj := m.Engine.Native(funcs...)
	m.Define(obj, "require", m.Engine.Func("require", 1, func(call goja.FunctionCall) goja.Value {
		return m.Load(call.Argument(0).String())
	}))
	m.Define(obj, "errors", m.errorsObject())
	m.Define(obj, "compat", m.Engine.Func("compat", 1, func(call goja.FunctionCall) goja.Value {
		flag, enables, _ := compat.Lookup(call.Argument(0).String())
		return m.VM.ToValue(m.Options.Compat(flag) == enables)
	}))
	version := nodeVersion22
	if m.Options.Compat(compat.NodejsProcessVersion24) {
		version = nodeVersion24
	}
	m.Define(obj, "nodeVersion", m.VM.ToValue(version))
	// lazy defines a property that is made when it is first read.
	m.Define(obj, "lazy", m.Engine.Func("lazy", 3, func(call goja.FunctionCall) goja.Value {
		target, fn := call.Argument(0).ToObject(m.VM), call.Argument(2)
		m.Engine.Lazies.Export(target, call.Argument(1).String(), func() goja.Value {
			return m.Engine.Call(fn, goja.Undefined())
		})
		return target
	}))
	return obj
}

// nextTick calls fn(...args) as a microtask; what it throws is uncaught.
func (m *Modules) nextTick(c goja.FunctionCall) goja.Value {
	fn := m.Function(c.Argument(0), "callback")
	var args []goja.Value
	if len(c.Arguments) > 1 {
		args = append(args, c.Arguments[1:]...)
	}
	job := m.VM.ToValue(func(goja.FunctionCall) goja.Value {
		if thrown := m.Engine.Try(func() { m.Engine.Call(fn, goja.Undefined(), args...) }); thrown != nil {
			m.Engine.Uncaught.Announce(thrown)
		}
		return goja.Undefined()
	})
	settled := m.Engine.Call(m.Engine.Primordial("PromiseResolve"), goja.Undefined())
	m.Engine.Call(m.Engine.Primordial("PromisePrototypeThen"), goja.Undefined(), settled, job)
	return goja.Undefined()
}

// Define puts a writable, enumerable, configurable property on obj.
func (m *Modules) Define(obj *goja.Object, name string, v goja.Value) {
	obj.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// LazyGlobal is an enumerable, writable global of a module, as in workerd.
func (m *Modules) LazyGlobal(name, module string) {
	m.Engine.Lazies.Property(m.VM.GlobalObject(), name, goja.FLAG_TRUE, func() goja.Value {
		v := m.Export(module)
		if obj, ok := v.(*goja.Object); ok && name != module {
			return obj.Get(name)
		}
		return v
	})
}

// The versions of Node.js that workerd claims to be (src/node/process.ts).
const (
	nodeVersion22 = "22.23.4"
	nodeVersion24 = "24.22.2"
)
