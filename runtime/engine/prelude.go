package engine

import (
	_ "embed"
	"fmt"
	"strings"
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
	native := e.Native(Func{"lazy", 4, func(call goja.FunctionCall) goja.Value {
		p := &primordials{engine: e, made: call.Argument(0).(*goja.Object)}
		p.bound, _ = goja.AssertFunction(call.Argument(2))
		p.give, _ = goja.AssertFunction(call.Argument(3))
		p.capture(call.Argument(1).(*goja.Object))
		return e.vm.NewDynamicObject(p)
	}})
	for _, f := range e.Hiding() {
		e.DefineFunc(native, f)
	}
	e.DefineFunc(native, Func{"resource", 1, func(call goja.FunctionCall) goja.Value {
		e.MarkResource(call.Argument(0).(*goja.Object))
		return goja.Undefined()
	}})
	native.Set("tagged", !e.untagged)
	return e.Load(primordialsPrelude, native).(*goja.Object)
}

// primordialNames are what is captured while an Engine is made, with a space
// between owner and member: touching every built-in there is would take longer
// than all the rest. A test holds the list to the names that are in use.
//
//go:embed js/primordials.txt
var primordialNames string

// capturing is what is captured of an owner: a class or a namespace, or the prototype of a class.
type capturing struct {
	owner, class string // the same for what is no prototype
	members      []capturedMember
}

// capturedMember is a member that is captured, with its number. It is the method of that key, or
// else the getter.
type capturedMember struct {
	name, key, getter string
	symbol            *goja.Symbol // of a method, or of the getter if it has no key; nil for others
	number            int
}

// captured is primordialNames, and the number of each name. Immutable.
var captured = sync.OnceValues(func() (list []*capturing, numbers map[string]int) {
	numbers = map[string]int{}
	small := func(s string) string { return strings.ToLower(s[:1]) + s[1:] }
	for line := range strings.Lines(primordialNames) {
		owner, member, _ := strings.Cut(strings.TrimSpace(line), " ")
		if len(list) == 0 || list[len(list)-1].owner != owner {
			list = append(list, &capturing{owner: owner, class: strings.TrimSuffix(owner, "Prototype")})
		}
		m := capturedMember{name: owner + member, key: small(member), number: len(numbers)}
		if rest, ok := strings.CutPrefix(member, "Get"); ok && rest != "" {
			m.getter = small(rest)
		}
		switch member {
		case "SymbolHasInstance":
			m.symbol = goja.SymHasInstance
		case "GetTag":
			m.symbol, m.getter = goja.SymToStringTag, ""
		}
		numbers[m.name] = m.number
		c := list[len(list)-1]
		c.members = append(c.members, m)
	}
	return list, numbers
})

// primordials gives captured built-ins by name and binds each at its first use: most of them
// never are. Loop-confined.
type primordials struct {
	engine      *Engine
	made        *goja.Object // null prototype, out of reach of user code
	bound, give goja.Callable
	raw         []rawPrimordial // by number
}

// rawPrimordial is a function that was captured; owner is nil for one of a prototype. Until fn is
// made it is the method toCome of holder.
type rawPrimordial struct {
	fn, owner, holder *goja.Object
	toCome            string
}

// made is the function. What has not been made has not been changed either.
func (r *rawPrimordial) made() *goja.Object {
	if r.fn == nil && r.holder != nil {
		r.holder.Get(r.toCome)
	}
	return r.fn
}

// capture takes what the list names, of classes and of others.
func (p *primordials) capture(others *goja.Object) {
	list, numbers := captured()
	p.raw = make([]rawPrimordial, len(numbers))
	for _, c := range list {
		owner, _ := others.Get(c.owner).(*goja.Object)
		if owner == nil {
			owner = p.made.Get(c.class).(*goja.Object)
			if c.owner != c.class {
				owner = owner.Get("prototype").(*goja.Object)
			}
		}
		for i := range c.members {
			m := &c.members[i]
			raw := &p.raw[m.number]
			if m.symbol == nil && insides.MethodToCome(owner, m.key) >= 0 {
				raw.holder, raw.toCome = owner, m.key
				p.engine.Builtins.When(owner, m.key, func(fn *goja.Object) { raw.fn = fn })
			} else if raw.fn = m.of(p.engine.vm, owner); raw.fn == nil { // where goja's properties are not known
				p.made.Set(m.name, p.ask(p.give, p.engine.vm.ToValue(m.name)))
			}
			if c.owner == c.class {
				raw.owner = owner
			}
		}
	}
}

// of is the member of owner, nil if it is not known.
func (m *capturedMember) of(vm *goja.Runtime, owner *goja.Object) *goja.Object {
	var v goja.Value
	switch {
	case m.symbol == goja.SymToStringTag:
		d, _ := insides.OwnProperty(owner, m.symbol)
		return d.Getter
	case m.symbol != nil:
		v = owner.GetSymbol(m.symbol)
	default:
		v = owner.Get(m.key)
	}
	if fn, ok := v.(*goja.Object); ok || m.getter == "" {
		return fn
	}
	d, _ := insides.OwnProperty(owner, vm.ToValue(m.getter))
	return d.Getter
}

// ask calls a function of primordials.js, which does not throw.
func (p *primordials) ask(fn goja.Callable, args ...goja.Value) goja.Value {
	v, err := fn(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return v
}

// Get implements goja.DynamicObject.
func (p *primordials) Get(name string) goja.Value {
	if v := p.made.Get(name); v != nil {
		return v
	}
	var v goja.Value
	_, numbers := captured()
	if number, ok := numbers[name]; ok && p.raw[number].made() != nil {
		raw := &p.raw[number]
		args := []goja.Value{raw.fn}
		if raw.owner != nil {
			args = append(args, raw.owner)
		}
		v = p.ask(p.bound, args...)
	} else if v = p.ask(p.give, p.engine.vm.ToValue(name)); goja.IsUndefined(v) {
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
