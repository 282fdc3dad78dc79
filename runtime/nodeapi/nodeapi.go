// Package nodeapi holds the `node:` modules that Workers offer under the
// compatibility flag nodejs_compat, and the globals that come with it.
//
// A module is made at its first import and cached per runtime. Its value is
// the CommonJS exports object, without a property `default`: the interop of
// package bundle makes the default import and the namespace from it.
//
// Algorithms over JavaScript values are preludes (js/*.js); bytes, codecs,
// paths, hashing and compression are Go. What Workers export and minido lacks
// stands in every module as a function that throws and says what to use
// instead (surface.go), so that importing it never fails.
//
// Behaviour follows nodejs.org/api, and workerd (src/node, src/workerd/api/node)
// where the two differ.
package nodeapi

import (
	"fmt"
	"sort"
	"strings"

	"github.com/dop251/goja"

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
	Compat func(flag string) bool
	// Files are the worker's own modules, shown under /bundle; nil means none.
	Files func() map[string][]byte
}

// Modules are the node: modules of one isolate. Loop-confined.
type Modules struct {
	engine   *engine.Engine
	platform *webapi.Platform
	vm       *goja.Runtime
	opts     Options
	loaded   map[string]goja.Value
	loading  map[string]bool
	prims    captured
	errors   *goja.Object
	buffers  bufferState
	timers   *timerClasses
	symbols  map[string]*goja.Symbol // Symbol.for, by name
	output   [3]strings.Builder      // process.stdout and stderr: the line begun
	disk     *disk
}

// New prepares the modules of an engine in which no user code has run yet.
// Under nodejs_compat_v2 it defines the globals process, Buffer, global,
// setImmediate and clearImmediate, made at their first use. p may be nil in tests.
func New(e *engine.Engine, p *webapi.Platform, o Options) *Modules {
	if o.Compat == nil {
		o.Compat = func(string) bool { return true }
	}
	m := &Modules{engine: e, platform: p, vm: e.VM(), opts: o,
		loaded: map[string]goja.Value{}, loading: map[string]bool{}, symbols: map[string]*goja.Symbol{}}
	m.prims = capture(m.vm)
	m.installGlobals()
	return m
}

// Require is the exports object of a module, by its name with or without
// `node:`. The error names a module that does not exist.
func (m *Modules) Require(specifier string) (goja.Value, error) {
	name, ok := m.resolve(specifier)
	if !ok {
		return nil, m.unknown(specifier)
	}
	var v goja.Value
	if ex := m.vm.Try(func() { v = m.load(name) }); ex != nil {
		return nil, ex
	}
	return v, nil
}

// CloudflareNode is the exports object of cloudflare:node, which hands a
// Worker's requests to servers of node:http
// (developers.cloudflare.com/workers/runtime-apis/nodejs/http).
func (m *Modules) CloudflareNode() (exports goja.Value, err error) {
	if ex := m.vm.Try(func() { exports = m.load("internal/http_server").(*goja.Object).Get("cloudflare") }); ex != nil {
		return nil, ex
	}
	return exports, nil
}

// Has reports whether Require(spec) finds a module under the worker's
// compatibility flags.
func (m *Modules) Has(spec string) bool {
	_, ok := m.resolve(spec)
	return ok
}

// Has reports whether a specifier, with or without `node:`, is a module that
// some setting of the compatibility flags offers; see Offered. Pure.
func Has(spec string) bool {
	d, ok := definitions[strings.TrimPrefix(spec, "node:")]
	return ok && !d.internal
}

// Names are all modules, sorted, without `node:`.
func Names() []string {
	var names []string
	for name, d := range definitions {
		if !d.internal {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Offered is Has under a worker's compatibility flags: nodejs_als alone gives
// async_hooks, and newer modules have flags of their own
// (compatibility-date.capnp). Pure.
func Offered(spec string, compat func(flag string) bool) bool {
	name := strings.TrimPrefix(spec, "node:")
	d, found := definitions[name]
	if !found || d.internal || (prefixOnly[name] && name == spec) {
		return false
	}
	if name == "async_hooks" && compat("nodejs_als") {
		return true
	}
	return (compat("nodejs_compat") || compat("nodejs_compat_v2")) && (d.flag == "" || compat(d.flag))
}

func (m *Modules) resolve(spec string) (name string, ok bool) {
	return strings.TrimPrefix(spec, "node:"), Offered(spec, m.opts.Compat)
}

// prefixOnly are modules whose bare name is left to packages.
var prefixOnly = map[string]bool{"sqlite": true, "test": true}

func (m *Modules) unknown(spec string) error {
	name := strings.TrimPrefix(spec, "node:")
	d, found := definitions[name]
	if !found || d.internal {
		return textError(fmt.Sprintf("No such module %q: Node.js modules that Workers have are listed by require(\"node:module\").builtinModules", spec))
	}
	flag := "nodejs_compat"
	if d.flag != "" && m.opts.Compat(flag) {
		flag = d.flag
	}
	return textError(fmt.Sprintf("No such module %q: it needs the compatibility flag %s (set compatibility_flags, or a newer compatibility_date)", spec, flag))
}

// load makes a module, once.
func (m *Modules) load(name string) goja.Value {
	if v, ok := m.loaded[name]; ok {
		return v
	}
	d, ok := definitions[name]
	if !ok {
		panic("nodeapi: no module " + name)
	}
	if m.loading[name] {
		panic("nodeapi: modules import each other in a circle at " + name)
	}
	m.loading[name] = true
	defer delete(m.loading, name)
	var v goja.Value
	m.engine.In(engine.GlobalFrame, func() {
		if d.make != nil {
			v = d.make(m)
		} else {
			v = m.engine.Load(d.prelude, m.native(d.native))
		}
		if obj, isObject := v.(*goja.Object); isObject && !d.internal {
			m.complete(name, obj)
		}
	})
	m.loaded[name] = v
	return v
}

// native is what a module's prelude gets: its own Go functions, `require` for
// other modules, and `errors`.
func (m *Modules) native(make func(m *Modules) []engine.Func) *goja.Object {
	funcs := []engine.Func{
		{Name: "nextTick", Length: 1, Fn: m.nextTick},
		{Name: "reportUncaught", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			m.engine.ReportUncaught(c.Argument(0))
			return goja.Undefined()
		}},
		{Name: "isView", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			k := m.kindOf(c.Argument(0))
			return m.vm.ToValue(k == isUint8 || k == isTypedArray || k == isDataView)
		}},
		{Name: "methods", Length: 2, Fn: m.defineMethods},
		{Name: "accessors", Length: 2, Fn: m.defineAccessors},
		{Name: "mixin", Length: 3, Fn: m.mixin},
		{Name: "warn", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			m.engine.Log(engine.Warn, m.engine.Text(c.Argument(0)))
			return goja.Undefined()
		}},
	}
	if make != nil {
		funcs = append(funcs, make(m)...)
	}
	obj := m.engine.Native(funcs...)
	m.define(obj, "require", m.engine.Func("require", 1, func(call goja.FunctionCall) goja.Value {
		return m.load(call.Argument(0).String())
	}))
	m.define(obj, "errors", m.errorsObject())
	m.define(obj, "compat", m.engine.Func("compat", 1, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.opts.Compat(call.Argument(0).String()))
	}))
	version := nodeVersion22
	if m.opts.Compat("nodejs_process_version_24") {
		version = nodeVersion24
	}
	m.define(obj, "nodeVersion", m.vm.ToValue(version))
	// lazy defines a property that is made when it is first read.
	m.define(obj, "lazy", m.engine.Func("lazy", 3, func(call goja.FunctionCall) goja.Value {
		target, fn := call.Argument(0).ToObject(m.vm), call.Argument(2)
		m.engine.Lazy(target, call.Argument(1).String(), goja.FLAG_TRUE, func() goja.Value {
			return m.engine.Call(fn, goja.Undefined())
		})
		return target
	}))
	return obj
}

// nextTick calls fn(...args) as a microtask; what it throws is uncaught.
func (m *Modules) nextTick(c goja.FunctionCall) goja.Value {
	fn := m.function(c.Argument(0), "callback")
	var args []goja.Value
	if len(c.Arguments) > 1 {
		args = append(args, c.Arguments[1:]...)
	}
	job := m.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if thrown := m.engine.Try(func() { m.engine.Call(fn, goja.Undefined(), args...) }); thrown != nil {
			m.engine.ReportUncaught(thrown)
		}
		return goja.Undefined()
	})
	settled := m.engine.Call(m.engine.Primordial("PromiseResolve"), goja.Undefined())
	m.engine.Call(m.engine.Primordial("PromisePrototypeThen"), goja.Undefined(), settled, job)
	return goja.Undefined()
}

func (m *Modules) define(obj *goja.Object, name string, v goja.Value) {
	obj.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// lazyGlobal is an enumerable, writable global of a module, as in workerd.
func (m *Modules) lazyGlobal(name, module string) {
	m.engine.Lazy(m.vm.GlobalObject(), name, goja.FLAG_TRUE, func() goja.Value {
		v := m.load(module)
		if obj, ok := v.(*goja.Object); ok && name != module {
			return obj.Get(name)
		}
		return v
	})
}

func (m *Modules) installGlobals() {
	if !m.opts.Compat("nodejs_compat_v2") {
		return
	}
	m.lazyGlobal("process", "process")
	m.lazyGlobal("Buffer", "buffer")
	m.define(m.vm.GlobalObject(), "global", m.vm.GlobalObject())
	m.installTimers()
}
