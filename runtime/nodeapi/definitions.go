package nodeapi

import (
	"embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

//go:embed js/*.js
var sources embed.FS

// definition says how a module is made: by a prelude with native functions, or
// by Go alone.
type definition struct {
	prelude  *engine.Prelude
	native   func(m *Modules) []engine.Func
	make     func(m *Modules) goja.Value
	internal bool   // only for other modules
	flag     string // the compatibility flag that it needs besides nodejs_compat
}

// definitions are all modules by name. Immutable after package initialization.
var definitions = map[string]*definition{}

// js declares a module whose prelude is js/<file>.
func js(name, file string, native func(m *Modules) []engine.Func) *definition {
	text, err := sources.ReadFile("js/" + file)
	if err != nil {
		panic(err)
	}
	d := &definition{prelude: engine.NewPrelude("node/"+name, string(text)), native: native}
	definitions[name] = d
	return d
}

// internal declares a part that other modules share.
func internal(name, file string, native func(m *Modules) []engine.Func) {
	js(name, file, native).internal = true
}

// goModule declares a module made by Go.
func goModule(name string, make func(m *Modules) goja.Value) *definition {
	d := &definition{make: make}
	definitions[name] = d
	return d
}

// alias declares a module that is another one.
func alias(name, of string) *definition {
	return goModule(name, func(m *Modules) goja.Value { return m.load(of) })
}

// property declares a module that is a property of another one.
func property(name, of, key string) *definition {
	return goModule(name, func(m *Modules) goja.Value { return m.load(of).(*goja.Object).Get(key) })
}
