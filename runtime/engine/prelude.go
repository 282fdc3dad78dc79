package engine

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/engine/prepared"
)

// Prelude is JavaScript of our own: a function expression of (native,
// primordials). It is compiled once per process, at its first use, and shared
// by all runtimes. Safe for concurrent use.
type Prelude struct {
	name    string
	source  func() string
	once    sync.Once
	program *goja.Program
}

// NewPrelude declares a prelude; name is the file name in stack traces, with
// the prefix "minido:".
func NewPrelude(name, source string) *Prelude {
	return NewPreludeOf(name, func() string { return source })
}

// NewPreludeOf is NewPrelude with a text that is read at the first use: source is called once.
func NewPreludeOf(name string, source func() string) *Prelude {
	return &Prelude{name: name, source: source}
}

func (p *Prelude) compile() *goja.Program {
	p.once.Do(func() {
		source := p.source()
		if written := prepared.Program(insides.ProgramFormat(), source); written != "" {
			p.program = insides.ReadProgram(written, prefix+p.name, expression(source))
		}
		if p.program != nil {
			return
		}
		program, err := compilePrelude(p.name, source)
		if err != nil {
			panic(fmt.Sprintf("prelude %s does not compile: %v", p.name, err))
		}
		insides.Instrument(program)
		p.program = program
	})
	return p.program
}

const prefix = "minido:"

// expression is a prelude as it is compiled.
func expression(source string) string { return "(" + source + "\n)" }

func compilePrelude(name, source string) (*goja.Program, error) {
	ast, err := goja.Parse(prefix+name, expression(source), parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(ast, true)
}

// Prepare compiles the source of a prelude and gives what package prepared keeps of it. The
// error says why it does not compile, or cannot be kept.
func Prepare(source string) (string, error) {
	program, err := compilePrelude("", source)
	if err != nil {
		return "", err
	}
	data, err := insides.WriteProgram(program)
	return prepared.Data(insides.ProgramFormat(), string(data)), err
}

// Load runs a prelude in this runtime and returns what its function returns.
// An exception in it is a bug and panics.
func (e *Engine) Load(p *Prelude, native *goja.Object) goja.Value {
	var result goja.Value
	var failure error
	e.In(GlobalFrame, func() {
		fn, err := e.vm.RunProgram(p.compile())
		if err != nil {
			failure = err
			return
		}
		call, ok := goja.AssertFunction(fn)
		if !ok {
			failure = fmt.Errorf("it is not a function")
			return
		}
		var prims goja.Value = e.prims
		if e.prims == nil {
			prims = goja.Undefined()
		}
		result, failure = call(goja.Undefined(), native, prims)
	})
	if failure != nil {
		panic(fmt.Sprintf("prelude %s: %v", p.name, failure))
	}
	return result
}

//go:embed js/primordials.js
var primordialsSource string

var primordialsPrelude = NewPrelude("primordials.js", primordialsSource)

// loadPrimordials captures the built-ins before user code can patch them, and
// adds those that goja lacks and that preludes need.
func (e *Engine) loadPrimordials() *goja.Object {
	native := e.Native(Func{"lazy", 2, func(call goja.FunctionCall) goja.Value {
		give, _ := goja.AssertFunction(call.Argument(1))
		return e.vm.NewDynamicObject(&primordials{vm: e.vm, made: call.Argument(0).(*goja.Object), give: give})
	}})
	e.DefineFunc(native, Func{"resource", 1, func(call goja.FunctionCall) goja.Value {
		e.MarkResource(call.Argument(0).(*goja.Object))
		return goja.Undefined()
	}})
	native.Set("names", primordialNames)
	native.Set("tagged", !e.untagged)
	return e.Load(primordialsPrelude, native).(*goja.Object)
}

// primordialNames are what is captured while an Engine is made, with a space
// between owner and member: touching every built-in there is would take longer
// than all the rest. A test holds the list to the names that are in use.
//
//go:embed js/primordials.txt
var primordialNames string

// primordials gives captured built-ins by name and binds each at its first use.
// Loop-confined.
type primordials struct {
	vm   *goja.Runtime
	made *goja.Object // null prototype, out of reach of user code
	give goja.Callable
}

// Get implements goja.DynamicObject.
func (p *primordials) Get(name string) goja.Value {
	if v := p.made.Get(name); v != nil {
		return v
	}
	v, err := p.give(goja.Undefined(), p.vm.ToValue(name))
	if err != nil {
		panic(err)
	}
	if goja.IsUndefined(v) {
		return nil
	}
	p.made.Set(name, v)
	return v
}

// Set implements goja.DynamicObject: primordials cannot be changed.
func (*primordials) Set(string, goja.Value) bool { return false }

// Has implements goja.DynamicObject.
func (p *primordials) Has(name string) bool { return p.Get(name) != nil }

// Delete implements goja.DynamicObject: primordials cannot be changed.
func (*primordials) Delete(string) bool { return false }

// Keys implements goja.DynamicObject: what has been asked for.
func (p *primordials) Keys() []string { return p.made.Keys() }

// Primordial is a captured built-in, by its name in js/primordials.js.
func (e *Engine) Primordial(name string) *goja.Object {
	obj, ok := e.prims.Get(name).(*goja.Object)
	if !ok {
		panic("no primordial " + name)
	}
	return obj
}
