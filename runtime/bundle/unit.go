package bundle

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/bundle/counting"
	"minido.dev/minido/runtime/bundle/mend"
	"minido.dev/minido/runtime/bundle/programs"
	"minido.dev/minido/runtime/bundle/sourcemap"
	"minido.dev/minido/runtime/bundle/uses"
	"minido.dev/minido/runtime/wasm"
)

// unit is one file of the graph: its lowered code and the program compiled
// from it. It outlives the bundle it was first built for, so that a rebuild
// compiles only what changed. Immutable but for
// used and spoiled, and for the program and the source map, which their Once guards.
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

	kept     *programs.Store // may have its program; nil for one of a frozen bundle
	written  string          // its program, in a frozen bundle or once it was asked for; "" if there is none
	compiled atomic.Bool     // it has a program
	spoiled  atomic.Bool     // the store's program of it cannot be read

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
		u.parts = append(u.parts, &unit{path: u.path, name: u.name + "#" + p.path, low: p.low, whole: u, kept: u.kept})
	}
}

// program compiles the unit at its first use, unless its program was kept. It is safe for
// concurrent use.
func (u *unit) program() (*goja.Program, error) {
	u.once.Do(func() {
		if u.prog = u.keptProgram(); u.prog != nil {
			u.compiled.Store(true)
			return
		}
		ast, err := goja.Parse(u.name, u.low.code, parser.WithDisableSourceMaps)
		if err == nil {
			if u.counted {
				u.plan = counting.Instrument(ast, countersName)
			}
			if err = mend.Unit(ast, u.low.helpers); err == nil {
				u.prog, err = goja.CompileAST(ast, false)
			}
			if err == nil {
				if !u.unpack() {
					insides.Instrument(u.prog)
				}
				u.compiled.Store(true)
			}
		}
		if err != nil {
			u.err = fmt.Errorf("compile %s: %w", u.name, err)
		}
	})
	return u.prog, u.err
}

// unpack writes the program that was just compiled, if it is going to be kept, and has it read again
// function by function: one that is never called then takes a few words.
func (u *unit) unpack() bool {
	if u.kept == nil || u.counted || !u.kept.Keeps() {
		return false
	}
	data, err := insides.WriteProgram(u.prog)
	if err != nil {
		return false // one that cannot be written stays as it is
	}
	text := string(data)
	program := insides.ReadProgram(text, u.name, u.low.code)
	if program == nil {
		return false
	}
	u.written, u.prog = text, program
	return true
}

// keptProgram is one that an earlier process has compiled, nil if there is none.
func (u *unit) keptProgram() *goja.Program {
	if u.kept != nil && !u.counted {
		u.written = u.kept.Program(useOf(u))
	}
	if u.written == "" {
		return nil
	}
	program := insides.ReadProgram(u.written, u.name, u.low.code)
	if program == nil {
		u.written = "" // it is compiled and kept anew
		u.spoiled.Store(true)
	}
	return program
}

// write is the unit's program for later processes; "" if it cannot be kept.
func (u *unit) write() string {
	p, err := u.program()
	if err != nil || u.counted {
		return ""
	}
	if u.written == "" {
		text, _ := insides.WriteProgram(p) // one that cannot be written is compiled each time
		return string(text)
	}
	return u.written
}
