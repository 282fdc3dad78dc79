package node

import (
	"embed"
	"sort"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// Definition says how a module is made: by a prelude with native functions, or
// by Go alone.
type Definition struct {
	prelude  *engine.Prelude
	native   func(m *Modules) []engine.Func
	make     func(m *Modules) goja.Value
	internal bool        // only for other modules
	flag     compat.Flag // the compatibility flag that it needs besides nodejs_compat
	standsIn func(on func(flag compat.Flag) bool) string
}

// Flag says that the module needs a compatibility flag besides nodejs_compat: the
// one that workerd's compatibility-date.capnp puts on modules that came late.
func (d *Definition) Flag(name compat.Flag) *Definition {
	d.flag = name
	return d
}

// Registry holds the definitions of all modules by name. Immutable after
// NewRegistry.
type Registry struct {
	definitions map[string]*Definition
	globals     []func(m *Modules)
}

// Family declares the modules of one package.
type Family func(r *Registry)

// NewRegistry makes the registry of some families. Globals are defined in their order.
func NewRegistry(families ...Family) *Registry {
	r := &Registry{definitions: map[string]*Definition{}}
	shared := Sources{r, sources}
	shared.Internal("internal/missing", "missing.js", nil)
	shared.Internal("internal/abort_error", "abort_error.js", nil)
	shared.Internal("internal/errors", "errors.js", nil)
	shared.Internal("internal/refuse", "refuse.js", nil)
	for _, family := range families {
		family(r)
	}
	return r
}

//go:embed js/*.js
var sources embed.FS

// Sources declares modules whose preludes are files of one package, below js.
type Sources struct {
	*Registry
	Files embed.FS
}

// JS declares a module whose prelude is js/<file>.
func (s Sources) JS(name, file string, native func(m *Modules) []engine.Func) *Definition {
	prelude := engine.NewPreludeOf("node/"+name, func() string {
		text, err := s.Files.ReadFile("js/" + file)
		if err != nil {
			panic(err)
		}
		return string(text)
	})
	d := &Definition{prelude: prelude, native: native}
	s.definitions[name] = d
	return d
}

// Internal declares a part that other modules share, under a name that begins with
// internal/.
func (s Sources) Internal(name, file string, native func(m *Modules) []engine.Func) {
	s.JS(name, file, native).internal = true
}

// Go declares a module made by Go.
func (r *Registry) Go(name string, make func(m *Modules) goja.Value) *Definition {
	d := &Definition{make: make}
	r.definitions[name] = d
	return d
}

// Alias declares a module that is another one.
func (r *Registry) Alias(name, of string) *Definition {
	return r.Go(name, func(m *Modules) goja.Value { return m.Load(of) })
}

// Part declares a module of those exports of another one that workerd has there.
func (r *Registry) Part(name, of string) *Definition {
	return r.Go(name, func(m *Modules) goja.Value {
		whole, exports := m.Load(of).(*goja.Object), m.VM.NewObject()
		for _, key := range Surface(name) {
			if v := whole.Get(key); v != nil {
				m.Define(exports, key, v)
			}
		}
		return exports
	})
}

// Property declares a module that is a property of another one.
func (r *Registry) Property(name, of, key string) *Definition {
	return r.Go(name, func(m *Modules) goja.Value { return m.Load(of).(*goja.Object).Get(key) })
}

// Globals has install called for each new isolate with nodejs_compat_v2, before user
// code runs.
func (r *Registry) Globals(install func(m *Modules)) { r.globals = append(r.globals, install) }

// Has reports whether a specifier, with or without `node:`, is a module that
// some setting of the compatibility flags offers; see Offered. Pure.
func (r *Registry) Has(spec string) bool {
	d, ok := r.definitions[strings.TrimPrefix(spec, "node:")]
	return ok && !d.internal
}

// Names are all modules, sorted, without `node:`.
func (r *Registry) Names() []string {
	var names []string
	for name, d := range r.definitions {
		if !d.internal {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Offered is Has under a worker's compatibility flags: nodejs_als alone gives
// async_hooks, and newer modules have flags of their own
// (compatibility-date.capnp). From nodejs_compat_v2 on, wrangler gives a worker
// polyfills of those that its date leaves out (unenv); see Export. Pure.
func (r *Registry) Offered(spec string, on func(flag compat.Flag) bool) bool {
	name := strings.TrimPrefix(spec, "node:")
	d, found := r.definitions[name]
	if !found || d.internal || (PrefixOnly[name] && name == spec) {
		return false
	}
	if name == "async_hooks" && on(compat.NodejsAls) {
		return true
	}
	return (on(compat.NodejsCompat) || on(compat.NodejsCompatV2)) && (d.flag == 0 || on(d.flag) || on(compat.NodejsCompatV2))
}

// PrefixOnly are modules whose bare name is left to packages. Immutable.
var PrefixOnly = map[string]bool{"sqlite": true, "test": true}
