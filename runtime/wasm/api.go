package wasm

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// classes are WebAssembly's in one isolate.
type classes struct {
	module    *engine.Class[*Code]
	instance  *engine.Class[*instanceObject]
	memory    *engine.Class[*memory]
	table     *engine.Class[*table]
	global    *engine.Class[*global]
	tag       *engine.Class[*tag]
	exception *engine.Class[*exception]
}

// instanceObject is what a WebAssembly.Instance has.
type instanceObject struct{ exports *goja.Object }

// disallowed is V8's text where the embedder allows no code to be made from bytes.
const disallowed = "%s: Wasm code generation disallowed by embedder"

// namespace is the object WebAssembly (JS interface, section 5).
func (s *Store) namespace() *goja.Object {
	if s.names != nil {
		return s.names
	}
	s.names = s.vm.NewObject()
	s.loadHelpers()
	s.names.DefineDataPropertySymbol(goja.SymToStringTag, s.vm.ToValue("WebAssembly"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	s.engine.DefineFunc(s.names, engine.Func{Name: "compile", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
		v := call.Argument(0)
		return s.promised(func() goja.Value { return s.classes.module.Wrap(s.compileBytes(v, "WebAssembly.compile()")) })
	}})
	s.engine.DefineFunc(s.names, engine.Func{Name: "validate", Length: 1, Fn: s.validate})
	s.engine.DefineFunc(s.names, engine.Func{Name: "instantiate", Length: 1, Fn: s.instantiateFunc})
	s.defineModule()
	s.defineInstance()
	s.defineTable()
	s.defineMemory()
	s.defineGlobal()
	s.defineTags()
	for _, name := range []string{"CompileError", "LinkError", "RuntimeError"} {
		s.define(name, s.errors[name])
	}
	return s.names
}

// define puts a class on the namespace.
func (s *Store) define(name string, class *goja.Object) {
	s.names.DefineDataProperty(name, class, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// promised is a promise of what fn returns or throws.
func (s *Store) promised(fn func() goja.Value) goja.Value {
	p, resolve, reject := s.engine.NewPromise()
	var v goja.Value
	var err error
	if reason := s.engine.Try(func() { v = fn() }); reason != nil {
		err = reject(reason)
	} else {
		err = resolve(v)
	}
	if err != nil {
		s.engine.Rethrow(err)
	}
	return s.vm.ToValue(p)
}

// bytesOf are those of a BufferSource.
func (s *Store) bytesOf(v goja.Value) ([]byte, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	if b, ok := o.Export().(goja.ArrayBuffer); ok {
		return b.Bytes(), true
	}
	if !s.engine.Call(s.engine.Primordial("ArrayBufferIsView"), goja.Undefined(), o).ToBoolean() {
		return nil, false
	}
	b, ok := o.Get("buffer").Export().(goja.ArrayBuffer)
	if !ok {
		return nil, false
	}
	from, n := o.Get("byteOffset").ToInteger(), o.Get("byteLength").ToInteger()
	all := b.Bytes()
	if from < 0 || n < 0 || from+n > int64(len(all)) {
		return nil, true
	}
	return all[from : from+n], true
}

// compileBytes makes a module of bytes, which is allowed while the global scope
// runs. what names the operation in errors.
func (s *Store) compileBytes(v goja.Value, what string) *Code {
	if s.engine.Current() != nil || !s.opts.FromBytes {
		s.throw("CompileError", disallowed, what)
	}
	data, ok := s.bytesOf(v)
	if !ok {
		s.throw("TypeError", "%s: Argument 0 must be a buffer source", what)
	}
	code, err := Read(append([]byte(nil), data...))
	if err == nil {
		err = code.Compile()
	}
	if err != nil {
		s.throw("CompileError", "%s: %v", what, err)
	}
	return code
}

// validate is WebAssembly.validate.
func (s *Store) validate(call goja.FunctionCall) goja.Value {
	data, ok := s.bytesOf(call.Argument(0))
	if !ok {
		s.throw("TypeError", "WebAssembly.validate(): Argument 0 must be a buffer source")
	}
	code, err := Read(append([]byte(nil), data...))
	return s.vm.ToValue(err == nil && code.Compile() == nil)
}

// instantiateFunc is WebAssembly.instantiate: of modules, or of bytes.
func (s *Store) instantiateFunc(call goja.FunctionCall) goja.Value {
	const what = "WebAssembly.instantiate()"
	v, imports := call.Argument(0), call.Argument(1)
	return s.promised(func() goja.Value {
		code, ok := s.classes.module.Of(v)
		if !ok {
			if _, isObject := v.(*goja.Object); !isObject {
				s.throw("TypeError", "%s: Argument 0 must be a buffer source or a WebAssembly.Module object", what)
			}
			code = s.compileBytes(v, what)
			both := s.vm.NewObject()
			instance := s.classes.instance.Wrap(&instanceObject{s.instantiateCode(code, imports, what)})
			both.DefineDataProperty("module", s.classes.module.Wrap(code), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			both.DefineDataProperty("instance", instance, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			return both
		}
		return s.classes.instance.Wrap(&instanceObject{s.instantiateCode(code, imports, what)})
	})
}

func (s *Store) defineModule() {
	s.classes.module = engine.DefineClass(s.engine, engine.ClassDef[*Code]{
		Language: true,
		Name:     "Module", Tag: "WebAssembly.Module", Length: 1, Called: "WebAssembly.Module(): WebAssembly.Module must be invoked with 'new'",
		New: func(call goja.ConstructorCall) *Code { return s.compileBytes(call.Argument(0), "WebAssembly.Module()") },
	})
	static := func(name string, length int, fn func(b *binary, call goja.FunctionCall) []any) {
		s.engine.DefineFunc(s.classes.module.Ctor, engine.Func{Name: name, Length: length, Fn: func(call goja.FunctionCall) goja.Value {
			code, ok := s.classes.module.Of(call.Argument(0))
			if !ok {
				s.throw("TypeError", "WebAssembly.Module.%s(): Argument 0 must be a WebAssembly.Module", name)
			}
			return s.vm.NewArray(fn(code.binary, call)...)
		}})
	}
	static("imports", 1, func(b *binary, _ goja.FunctionCall) (list []any) {
		for _, i := range b.imports {
			list = append(list, s.described("module", i.module, "name", i.name, "kind", i.kind.String()))
		}
		return list
	})
	static("exports", 1, func(b *binary, _ goja.FunctionCall) (list []any) {
		for _, x := range b.exports {
			list = append(list, s.described("name", x.name, "kind", x.kind.String()))
		}
		return list
	})
	static("customSections", 2, func(b *binary, call goja.FunctionCall) (list []any) {
		if goja.IsUndefined(call.Argument(1)) {
			s.throw("TypeError", "WebAssembly.Module.customSections(): Argument 1 is required")
		}
		name := call.Argument(1).String()
		for _, c := range b.customs {
			if c.name == name {
				list = append(list, s.vm.NewArrayBuffer(append([]byte(nil), c.data...)))
			}
		}
		return list
	})
	s.define("Module", s.classes.module.Ctor)
}

// described is an object of texts.
func (s *Store) described(pairs ...string) *goja.Object {
	o := s.vm.NewObject()
	for n := 0; n < len(pairs); n += 2 {
		o.DefineDataProperty(pairs[n], s.vm.ToValue(pairs[n+1]), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	return o
}

func (s *Store) defineInstance() {
	const what = "WebAssembly.Instance()"
	s.classes.instance = engine.DefineClass(s.engine, engine.ClassDef[*instanceObject]{
		Language: true,
		Name:     "Instance", Tag: "WebAssembly.Instance", Length: 1, Called: "WebAssembly.Instance must be invoked with 'new'",
		New: func(call goja.ConstructorCall) *instanceObject {
			code, ok := s.classes.module.Of(call.Argument(0))
			if !ok {
				s.throw("TypeError", "%s: Argument 0 must be a WebAssembly.Module", what)
			}
			return &instanceObject{s.instantiateCode(code, call.Argument(1), what)}
		},
	})
	getter(s, s.classes.instance, "exports", "WebAssembly.Instance.exports()", func(i *instanceObject) goja.Value { return i.exports })
	s.define("Instance", s.classes.instance.Ctor)
}

// receiver is the Go value of an operation's this.
func receiver[T any](s *Store, c *engine.Class[T], this goja.Value, what string) T {
	v, ok := c.Of(this)
	if !ok {
		s.throw("TypeError", "%s: Receiver is not a WebAssembly.%s", what, c.Name)
	}
	return v
}

func getter[T any](s *Store, c *engine.Class[T], name, what string, get func(T) goja.Value) {
	c.Proto.DefineAccessorProperty(name, s.engine.Func("get "+name, 0, func(call goja.FunctionCall) goja.Value {
		return get(receiver(s, c, call.This, what))
	}), nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

func method[T any](s *Store, c *engine.Class[T], name string, length int, fn func(self T, what string, call goja.FunctionCall) goja.Value) {
	what := "WebAssembly." + c.Name + "." + name + "()"
	s.engine.DefineFunc(c.Proto, engine.Func{Name: name, Length: length, Fn: func(call goja.FunctionCall) goja.Value {
		return fn(receiver(s, c, call.This, what), what, call)
	}})
}
