package bundle

import (
	_ "embed"
	"errors"
	"fmt"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/bundle/mend"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"minido.dev/minido/runtime/wasm"
)

//go:embed helpers.js
var helpersSource string

//go:embed generators.js
var generatorsSource string

//go:embed disposal.js
var disposalSource string

// helperFile is one of the three: a function that answers with an object of helpers.
type helperFile struct {
	program func() *goja.Program
	names   []string
}

var interop = helperFile{compiled("helpers.js", helpersSource),
	[]string{"__toESM", "__toESMNode", "__toCommonJS", "__reExport", "__pow", mend.ShiftLeft, mend.ShiftRight, mend.Factor, mend.MemberBase, mend.ChainCall, mend.OwnHelper}}

var generators = helperFile{compiled("generators.js", generatorsSource),
	[]string{"__await", mend.AsyncGenerator, "__yieldStar", "__forAwait", mend.AwaitResult, mend.AwaitReturn, mend.AsyncFunction, mend.Delegation}}

var disposal = helperFile{compiled("disposal.js", disposalSource), []string{"__using", mend.DisposeHelper}}

func compiled(name, source string) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program {
		ast, err := goja.Parse("minido:bundle", source, parser.WithDisableSourceMaps)
		if err != nil {
			panic("bundle: " + name + ": " + err.Error())
		}
		prog, err := goja.CompileAST(ast, false)
		if err != nil {
			panic("bundle: " + name + ": " + err.Error())
		}
		insides.Instrument(prog)
		return prog
	})
}

// install evaluates the file with arguments and keeps its helpers.
func (f helperFile) install(in *instance, args ...goja.Value) (*goja.Object, error) {
	factory, err := in.vm.RunProgram(f.program())
	if err != nil {
		return nil, fmt.Errorf("bundle: helpers: %w", err)
	}
	call, _ := goja.AssertFunction(factory)
	made, err := call(goja.Undefined(), args...)
	if err != nil {
		return nil, fmt.Errorf("bundle: helpers: %w", err)
	}
	obj := made.ToObject(in.vm)
	for _, name := range f.names {
		in.helpers[name] = obj.Get(name)
	}
	return obj, nil
}

// Host is what a runtime provides to the modules loaded into it. Both
// functions are called on the runtime's loop only.
type Host struct {
	// Builtin returns the module behind a specifier that Options.Builtins
	// accepts. An object with an own `default` property is used as the module
	// namespace: import reads its properties, require() returns its default.
	// Any other value is module.exports of a CommonJS module.
	Builtin func(spec string) (goja.Value, error)
	// Enter runs fn, which evaluates module code, in the global-scope frame. It
	// must call fn once, before it returns. nil calls fn directly. Evaluation
	// may be deferred: Enter is then called in the middle of a turn.
	Enter func(fn func())
	// AsyncIterator is %AsyncIteratorPrototype% (ECMA-262, section 27.1.4), from
	// which async generators inherit; nil will do for modules that have none.
	AsyncIterator *goja.Object
	// Language, if not nil, is called once by Load with the prototype of the helpers'
	// async generators: what inherits from it has internal slots in V8.
	Language func(proto *goja.Object)
	// Wasm makes the WebAssembly.Module of what a .wasm file holds; nil: importing
	// one is an error.
	Wasm func(code *wasm.Code) goja.Value
	// Provides says whether Builtin has a module, for import() of what is computed when
	// the code runs; nil: it has none.
	Provides func(spec string) bool
	// Registry: modules have URLs, as since workerd's flag new_module_registry, which
	// import.meta and errors tell.
	Registry bool
	// Ahead, if not nil, is called by Load with what evaluates deferred modules before
	// they are used, once the bundle is loaded.
	Ahead func(*Ahead)
}

// state of a module in one runtime.
type state byte

const (
	stateNew state = iota
	stateRunning
	stateDone
	stateFailed
)

// record is a module in one runtime. Loop-confined.
type record struct {
	*module
	state    state
	ns       *goja.Object // namespace (formatESM, text, data)
	self     *goja.Object // the top-level names of a prebuilt bundle's trunk
	cjs      *goja.Object // the CommonJS `module`
	value    goja.Value   // parsed JSON
	err      error
	promise  *goja.Promise // of an evaluation that waits
	importer string        // who first imported it while it was deferred
	awaits   int           // the offset, in the unit's code, of the await at the top level that was reached last
}

// instance is one bundle in one runtime. Loop-confined.
type instance struct {
	b        *Bundle
	vm       *goja.Runtime
	host     Host
	records  []*record
	spaces   map[*goja.Object]bool
	builtins map[string]goja.Value
	helpers  map[string]goja.Value
	metas    map[string]*goja.Object // import.meta, by the URL of a module
	announce goja.Callable
	adopt    goja.Callable
	parse    goja.Callable // JSON.parse
	settled  goja.Callable // makes a promise of what is none
	esm      *goja.Object  // the `module` that ESM code writes to and nobody reads
	orders   map[int][]int
	forwards goja.Callable // what importers of what may be mocked get
	mocksOf  goja.Callable // the mocking functions of a file
	early    bool          // what is evaluated now, nobody has asked for
}

// Load evaluates the entry in vm and returns its exports: the namespace, whose
// properties are live (and may throw when read, if their module was deferred).
// When a module awaits at its top level, pending is the promise of the whole
// evaluation and exports fill up until it settles; otherwise it is nil. The
// error is what the module code threw (*goja.Exception), or an interruption.
//
// It must be called on vm's loop. Deferred modules keep using host afterwards.
func (b *Bundle) Load(vm *goja.Runtime, host Host) (exports *goja.Object, pending *Pending, err error) {
	in, err := newInstance(b, vm, host)
	if err != nil {
		return nil, nil, err
	}
	if host.Ahead != nil {
		host.Ahead(in.ahead())
	}
	entry := in.records[b.entry]
	if entry.waits {
		in.namespace(entry)
		p := in.evaluateAsync(entry)
		return in.entryExports(entry), &Pending{p, in}, nil
	}
	if err := in.evaluate(entry); err != nil {
		return nil, nil, err
	}
	if b.frozen {
		in.evaluateUsed()
	}
	return in.entryExports(entry), nil, nil
}

// evaluateUsed evaluates the deferred modules that an earlier process came to use.
// What one throws, its first user gets.
func (in *instance) evaluateUsed() {
	for _, r := range in.records {
		if r.deferred && r.used.Load() {
			_ = in.evaluate(r)
		}
	}
}

func newInstance(b *Bundle, vm *goja.Runtime, host Host) (*instance, error) {
	if host.Enter == nil {
		host.Enter = func(fn func()) { fn() }
	}
	in := &instance{
		b: b, vm: vm, host: host, spaces: map[*goja.Object]bool{}, builtins: map[string]goja.Value{},
		helpers: map[string]goja.Value{}, orders: map[int][]int{}, esm: vm.NewObject(),
	}
	for _, m := range b.modules {
		in.records = append(in.records, &record{module: m})
	}
	obj, err := interop.install(in, vm.ToValue(in.isNamespace), vm.ToValue(in.touch), vm.ToValue(in.accessor))
	if err != nil {
		return nil, err
	}
	base := host.AsyncIterator
	if base == nil {
		base = vm.NewObject()
	}
	in.settled, _ = goja.AssertFunction(obj.Get("settled"))
	in.helpers[mend.AwaitGuard] = vm.ToValue(func(call goja.FunctionCall) goja.Value { return in.settledOf(call.Argument(0)) })
	made, err := generators.install(in, base, in.helpers[mend.AwaitGuard])
	if err != nil {
		return nil, err
	}
	if host.Language != nil {
		host.Language(made.Get("$generators").ToObject(vm))
	}
	if _, err = disposal.install(in); err != nil {
		return nil, err
	}
	if b.bundler.opts.Mocks {
		if err = in.installMocks(); err != nil {
			return nil, err
		}
	}
	in.helpers["__export"] = vm.ToValue(in.export)
	in.helpers["__name"] = vm.ToValue(in.name)
	in.announce, _ = goja.AssertFunction(obj.Get("announce"))
	in.adopt, _ = goja.AssertFunction(obj.Get("adopt"))
	if in.parse, err = jsonParse(vm); err != nil {
		return nil, err
	}
	return in, nil
}

// Pending is an evaluation that waits for a module's top-level await. Loop-confined.
type Pending struct {
	// Promise is that of the whole evaluation.
	Promise *goja.Promise

	in *instance
}

// Where is the await that the evaluation waits for, as a place in the file's
// source; false if it waits for none.
func (p *Pending) Where() (file string, line, col int, ok bool) {
	for _, r := range p.in.records {
		if r.state != stateRunning || r.promise == nil {
			continue
		}
		before := r.low.code[:min(r.awaits, len(r.low.code))]
		line, col = strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n')
		if src, l, c, ok := p.in.b.MapPosition(r.name, line, col); ok {
			return src, l, c, true
		}
		return r.name, line, col, true
	}
	return "", 0, 0, false
}

// awaitHelper is the helper of await of a module that awaits at its top level.
func (in *instance) awaitHelper(r *record) goja.Value {
	return in.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		if len(call.Arguments) > 1 {
			r.awaits = int(call.Argument(1).ToInteger())
		}
		return in.settledOf(call.Argument(0))
	})
}

// settledOf is what to await for a value: itself, or a promise of an object that is none.
func (in *instance) settledOf(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok || o.ExportType() == promiseType {
		return v
	}
	promise, err := in.settled(goja.Undefined(), v)
	if err != nil {
		in.throw(err)
	}
	return promise
}

var promiseType = reflect.TypeFor[*goja.Promise]()

func jsonParse(vm *goja.Runtime) (goja.Callable, error) {
	if o, ok := vm.Get("JSON").(*goja.Object); ok {
		if f, ok := goja.AssertFunction(o.Get("parse")); ok {
			return f, nil
		}
	}
	return nil, fmt.Errorf("bundle: the runtime has no JSON.parse")
}

// entryExports is the entry's namespace, also when it is a CommonJS module.
func (in *instance) entryExports(r *record) *goja.Object {
	v := in.exports(r)
	o, ok := v.(*goja.Object)
	if ok && in.spaces[o] {
		return o
	}
	wrap, _ := goja.AssertFunction(in.helpers["__toESM"])
	ns, err := wrap(goja.Undefined(), v)
	if err != nil {
		return in.vm.NewObject() // wrap throws only for a throwing getter of the module's own
	}
	return ns.ToObject(in.vm)
}

func (in *instance) isNamespace(call goja.FunctionCall) goja.Value {
	o, ok := call.Argument(0).(*goja.Object)
	return in.vm.ToValue(ok && in.spaces[o])
}

// name sets a function's name where lowering lost it.
func (in *instance) name(call goja.FunctionCall) goja.Value {
	fn, ok := call.Argument(0).(*goja.Object)
	if !ok {
		return call.Argument(0)
	}
	if have := fn.Get("name"); have == nil || !have.StrictEquals(call.Argument(1)) {
		if err := fn.DefineDataProperty("name", call.Argument(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			in.throw(err)
		}
	}
	return fn
}

// namespace is r's namespace object, made when it is first asked for, with a
// getter for each name that is known before r's code runs.
func (in *instance) namespace(r *record) *goja.Object {
	if r.ns != nil {
		return r.ns
	}
	r.ns = in.vm.NewObject()
	in.spaces[r.ns] = true
	in.define(r.ns, "__esModule", in.vm.ToValue(true))
	in.announceAll(r)
	return r.ns
}

// announceAll gives the namespace its getters that lead to touch: all that are to come, so
// that they are in order, as namespaces are. Those that the module's own code makes first
// are in order by themselves.
func (in *instance) announceAll(r *record) {
	if len(r.stars) == 0 && !r.lazy() || len(r.names) == 0 {
		return
	}
	names := make([]any, len(r.names))
	for i, n := range r.names {
		names[i] = n
	}
	if _, err := in.announce(goja.Undefined(), r.ns, in.vm.ToValue(r.id), in.vm.NewArray(names...)); err != nil {
		in.throw(err)
	}
}

// selfOf holds a trunk's top-level names for its parts.
func (in *instance) selfOf(r *record) *goja.Object {
	if r.self == nil {
		r.self = in.vm.NewObject()
		in.spaces[r.self] = true
	}
	return r.self
}

func (in *instance) define(o *goja.Object, name string, v goja.Value) {
	if err := o.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		in.throw(err)
	}
}

// touch is the getter behind names whose module has not filled them in yet:
// exports of a deferred module, and names that arrive through `export *`.
func (in *instance) touch(call goja.FunctionCall) goja.Value {
	r := in.records[call.Argument(0).ToInteger()]
	name := call.Argument(1).String()
	fresh := r.state == stateNew && r.lazy()
	if fresh || r.state == stateFailed {
		if err := in.evaluate(r); err != nil {
			in.throw(err)
		}
	}
	if star, ok := r.stars[name]; ok {
		from := in.records[star.module]
		if from.mockable {
			return orUndefined(in.forward(target{module: from.id}, importRef{}).ToObject(in.vm).Get(star.name))
		}
		if !from.lazy() && (from.state == stateNew || from.state == stateFailed) { // only a deferred module between r and it imports it
			if err := in.evaluate(from); err != nil {
				in.throw(err)
			}
		}
		v := in.namespace(from).Get(star.name)
		if from.state == stateDone {
			if _, err := in.adopt(goja.Undefined(), r.ns, in.vm.ToValue(name), from.ns, in.vm.ToValue(star.name)); err != nil {
				in.throw(err)
			}
		}
		return orUndefined(v)
	}
	if fresh {
		return orUndefined(r.ns.Get(name))
	}
	return goja.Undefined() // a cycle reads a name before its module set it up
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// exports is what r's code has published.
func (in *instance) exports(r *record) goja.Value {
	switch r.low.format {
	case formatCJS:
		if r.cjs == nil {
			return goja.Undefined()
		}
		return orUndefined(r.cjs.Get("exports"))
	case formatJSON:
		return orUndefined(r.value)
	default:
		return in.namespace(r)
	}
}

// meta is import.meta: as in workerd it has no prototype, and before new_module_registry no
// properties. In tests it is what vitest makes of it.
func (in *instance) meta(r *record) goja.Value {
	switch {
	case in.b.bundler.opts.Mocks:
	case in.host.Registry:
		return in.registered(r)
	default:
		return in.vm.CreateObject(nil)
	}
	o := in.vm.NewObject()
	url := r.path
	var failed error
	if filepath.IsAbs(r.path) {
		place := filepath.ToSlash(r.path)
		url = "file:///" + strings.TrimPrefix(place, "/")
		failed = errors.Join(o.Set("filename", place), o.Set("dirname", path.Dir(place)))
	}
	if err := errors.Join(failed, o.Set("url", url), o.Set("main", r.id == in.b.entry), in.ownTests(o)); err != nil {
		in.throw(err)
	}
	return o
}

// ownTests gives import.meta its member vitest: in the file whose tests run it is vitest,
// elsewhere undefined.
func (in *instance) ownTests(meta *goja.Object) error {
	own := in.vm.ToValue(func(goja.FunctionCall) goja.Value {
		worker, _ := in.vm.Get("__vitest_worker__").(*goja.Object)
		if worker == nil || !meta.Get("filename").SameAs(orUndefined(worker.Get("filepath"))) {
			return goja.Undefined()
		}
		return orUndefined(in.vm.Get("__vitest_index__"))
	})
	return meta.DefineAccessorProperty("vitest", own, nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
}
