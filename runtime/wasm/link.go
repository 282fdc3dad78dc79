package wasm

import (
	"context"
	"fmt"
	"strconv"
	"weak"

	"github.com/dop251/goja"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// imported is a function that a module imports: JavaScript's, or another
// instance's, which is called through Go.
type imported struct {
	typ  functionType
	call goja.Callable
	wasm *function
}

// imports reads the import object (JS interface, section 5.1, "read the imports")
// into i. what names the operation in errors.
func (i *instance) readImports(what string, object goja.Value) {
	s := i.store
	b := i.code.binary
	if len(b.imports) > 0 && goja.IsUndefined(object) {
		s.throw("TypeError", "%s: Imports argument must be present and must be an object", what)
	}
	for n, item := range b.imports {
		from, ok := object.(*goja.Object).Get(item.module).(*goja.Object)
		if !ok {
			s.throw("TypeError", "%s: Import #%d %q: module is not an object or function", what, n, item.module)
		}
		v := from.Get(item.name)
		if v == nil {
			v = goja.Undefined()
		}
		l := linking{i, fmt.Sprintf("%s: Import #%d %q %q", what, n, item.module, item.name), what}
		switch item.kind {
		case kindFunction:
			l.function(item, v)
		case kindMemory:
			l.memory(item, v)
		case kindTable:
			l.table(item, v)
		case kindGlobal:
			l.global(item, v)
		case kindTag:
			l.tag(item, v)
		}
	}
}

// linking is one import.
type linking struct {
	*instance
	where, what string
}

func (l linking) fail(format string, args ...any) {
	l.store.throw("LinkError", "%s: %s", l.where, fmt.Sprintf(format, args...))
}

func (l linking) function(item importItem, v goja.Value) {
	call, ok := goja.AssertFunction(v)
	if !ok {
		l.fail("function import requires a callable")
	}
	in := imported{typ: item.function, call: call}
	if f, ok := l.store.engine.Attached(v).(*function); ok {
		if !f.typ.equal(item.function) {
			l.fail("imported function does not match the expected type")
		}
		in.wasm, in.call = f, nil
		if f.refs {
			join(l.instance, f.inst)
		}
	}
	l.imports = append(l.imports, in)
}

func (l linking) memory(item importItem, v goja.Value) {
	m, ok := l.store.engine.Attached(v).(*memory)
	if !ok {
		l.fail("memory import must be a WebAssembly.Memory object")
	}
	switch want := item.memory; {
	case m.pages() < want.min:
		l.fail("memory import has %d pages which is smaller than the declared initial of %d", m.pages(), want.min)
	case want.bounded && !m.typ.bounded:
		l.fail("memory import has no maximum limit, expected at most 4294967295")
	case want.bounded && m.typ.max > want.max:
		l.fail("memory import has a larger maximum size %d than the module's declared maximum %d", m.typ.max, want.max)
	}
	l.memories = append(l.memories, m)
}

func (l linking) table(item importItem, v goja.Value) {
	t, ok := l.store.engine.Attached(v).(*table)
	if !ok {
		l.fail("table import requires a WebAssembly.Table")
	}
	want := item.table
	switch have := t.typ.limits; {
	case t.typ.element != want.element:
		l.fail("imported table does not match the expected type")
	case uint64(t.length()) < want.limits.min:
		l.store.throw("LinkError", "%s: table import %d is smaller than initial %d, got %d", l.what, len(l.imports)+len(l.memories)+len(l.tables)+len(l.globals), want.limits.min, t.length())
	case want.limits.bounded && !have.bounded:
		l.fail("table import has no maximum length, expected %d", want.limits.max)
	case want.limits.bounded && have.max > want.limits.max:
		l.fail("table import has a larger maximum size %d than the module's declared maximum %d", have.max, want.limits.max)
	}
	join(l.instance, t.inst)
	l.tables = append(l.tables, t)
}

func (l linking) global(item importItem, v goja.Value) {
	s, want := l.store, item.global
	g, ok := s.engine.Attached(v).(*global)
	switch {
	case ok && g.typ.mutable != want.mutable:
		l.fail("imported global does not match the expected mutability")
	case ok && g.typ.value != want.value:
		l.fail("imported global does not match the expected type")
	case !ok && want.mutable:
		l.fail("imported mutable global must be a WebAssembly.Global object")
	case !ok:
		isNumber, isBig := goja.IsNumber(v), goja.IsBigInt(v)
		var bits uint64
		fits := true
		switch want.value {
		case typeI64:
			fits = isBig
		case typeI32, typeF32, typeF64:
			fits = isNumber
		case typeFuncref:
			bits, fits = s.reference(v, l.instance)
		}
		if !fits {
			l.fail("global import must be a number, valid Wasm reference, or WebAssembly.Global object")
		}
		if want.value != typeFuncref {
			bits = s.toWasm(v, want.value, l.instance)
		}
		g = s.newGlobal(want, bits)
	}
	if want.value == typeFuncref {
		join(l.instance, g.inst)
	}
	l.globals = append(l.globals, g)
}

// provider is the instance that exports what an import by number asks for. owner
// exports it under name; a passage gives it the name that imports have.
func (s *Store) provider(owner *instance, through **instance, name string, e entity) *instance {
	if owner.code == nil {
		return owner
	}
	if *through == nil {
		*through = s.home(passage(e, name), owner)
	}
	return *through
}

// provided lists by number the modules that wazero asks for.
func (i *instance) provided(host api.Module) func(name string) api.Module {
	var memories, tables, globals int
	by := map[string]api.Module{fromJS: host}
	for n, item := range i.code.binary.imports {
		var p *instance
		switch e := (entity{kind: item.kind}); item.kind {
		case kindMemory:
			m := i.memories[memories]
			memories++
			e.memory = limits{max: m.typ.max, bounded: m.typ.bounded}
			p = i.store.provider(m.inst, &m.through, m.name, e)
		case kindTable:
			t := i.tables[tables]
			tables++
			e.table = tableType{t.typ.element, limits{max: t.typ.limits.max, bounded: t.typ.limits.bounded}}
			p = i.store.provider(t.inst, &t.through, t.name, e)
		case kindGlobal:
			g := i.globals[globals]
			globals++
			e.global = g.typ
			p = i.store.provider(g.inst, &g.through, g.name, e)
		default:
			continue
		}
		i.providers = append(i.providers, p)
		by[strconv.Itoa(n)] = p.mod
	}
	return func(name string) api.Module { return by[name] }
}

// hostOf is wazero's module with the imported functions. It leads to the instance
// only weakly: whoever calls keeps that alive.
func (i *instance) hostOf(e *compiler) (code wazero.CompiledModule, mod api.Module, err error) {
	w := weak.Make(i)
	b := e.runtime.NewHostModuleBuilder(fromJS)
	at := 0
	for n, item := range i.code.binary.imports {
		if item.kind != kindFunction {
			continue
		}
		place := at
		at++
		b = b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
			defer carry()
			if i := w.Value(); i.thrown != nil {
				i.callCatching(place, stack)
			} else {
				i.callImport(place, stack)
			}
		}), item.function.params, item.function.results).Export(strconv.Itoa(n))
	}
	ctx := context.Background()
	err = guarded(func() (err error) {
		if code, err = b.Compile(ctx); err == nil {
			mod, err = e.runtime.InstantiateModule(ctx, code, anonymous())
		}
		return err
	})
	return code, mod, err
}

// callCatching is callImport for an instance that catches what JavaScript throws.
func (i *instance) callCatching(place int, stack []uint64) {
	defer i.catches(stack[:len(i.imports[place].typ.results)])
	i.callImport(place, stack)
}

// callImport runs an imported function: arguments and results are on the stack.
func (i *instance) callImport(place int, stack []uint64) {
	s, in := i.store, &i.imports[place]
	s.settle()
	if in.wasm != nil {
		own := make([]uint64, max(len(in.typ.params), len(in.typ.results)))
		copy(own, stack[:len(in.typ.params)])
		s.run(in.wasm, own)
		copy(stack, own[:len(in.typ.results)])
		return
	}
	if in.typ.has(typeV128) || in.typ.has(typeExnref) {
		s.throw("TypeError", "type incompatibility when transforming from/to JS")
	}
	args := make([]goja.Value, len(in.typ.params))
	for n, t := range in.typ.params {
		args[n] = s.toJS(stack[n], t)
	}
	v, err := in.call(goja.Undefined(), args...)
	if err != nil {
		s.engine.Rethrow(err)
	}
	switch results := in.typ.results; len(results) {
	case 0:
	case 1:
		stack[0] = s.toWasm(v, results[0], i)
	default:
		listed, err := s.helpers.collect(goja.Undefined(), v)
		if err != nil {
			s.engine.Rethrow(err)
		}
		list, _ := listed.(*goja.Object)
		if n := list.Get("length").ToInteger(); n != int64(len(results)) {
			s.throw("TypeError", "multi-return length mismatch")
		}
		for n, t := range results {
			stack[n] = s.toWasm(list.Get(strconv.Itoa(n)), t, i)
		}
	}
}
