package bundle

import (
	"fmt"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/bundle/counting"
	"minido.dev/minido/runtime/bundle/mend"
	"minido.dev/minido/runtime/bundle/sourcemap"
	"minido.dev/minido/runtime/bundle/uses"
	"minido.dev/minido/runtime/wasm"
)

// unit is one file of the graph: its lowered code and the program compiled
// from it. It outlives the bundle it was first built for, so that a rebuild
// compiles only what changed. Immutable but for
// used, and for the program and the source map, which their Once guards.
type unit struct {
	path   string   // absolute, or a virtual module's specifier
	name   string   // as stacks and messages show it: relative to the project
	low    *lowered // nil when refused
	text   string   // contents of JSON, text and data; source of small project files
	refuse *Message // why importing this file is an error
	parts  []*unit  // of a prebuilt bundle, as low.parts
	whole  *unit    // the bundle that this unit is a part of

	counted bool // what runs of it is counted (Options.Counting)

	used uses.Mark // by some runtime

	once sync.Once
	prog *goja.Program
	plan *counting.Plan // nil unless counted
	err  error

	wasmOnce sync.Once
	wasm     *wasm.Code
	wasmErr  error

	mapOnce sync.Once
	sm      *sourcemap.Map // nil if there is none

	besideOnce sync.Once
	beside     *sourcemap.Map // see mapBeside
}

// divide makes the parts of a prebuilt bundle. It is called once, by who made u.
func (u *unit) divide() {
	for _, p := range u.low.parts {
		u.parts = append(u.parts, &unit{path: u.path, name: u.name + "#" + p.path, low: p.low, whole: u})
	}
}

// program compiles the unit at its first use. It is safe for concurrent use.
func (u *unit) program() (*goja.Program, error) {
	u.once.Do(func() {
		ast, err := goja.Parse(u.name, u.low.code, parser.WithDisableSourceMaps)
		if err == nil {
			if u.counted {
				u.plan = counting.Instrument(ast, countersName)
			}
			if err = mend.Unit(ast, u.low.helpers); err == nil {
				u.prog, err = goja.CompileAST(ast, false)
			}
			if err == nil {
				insides.Instrument(u.prog)
			}
		}
		if err != nil {
			u.err = fmt.Errorf("compile %s: %w", u.name, err)
		}
	})
	return u.prog, u.err
}
