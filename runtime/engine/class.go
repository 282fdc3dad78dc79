package engine

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// Class is a JavaScript class implemented in Go: instances are ordinary
// extensible objects that carry a Go value of type T in a hidden slot, so that
// user code may subclass them and hang properties on them. Loop-confined.
type Class[T any] struct {
	Name  string
	Ctor  *goja.Object
	Proto *goja.Object
	e     *Engine
	own   []Accessor[T]
	owner Owner
}

// ClassDef describes a class. Methods get the Go value of their receiver; a
// receiver without one throws "Illegal invocation".
type ClassDef[T any] struct {
	Name   string
	Length int // the constructor's .length
	// New makes the Go value for `new Name(...)`. It throws by panicking with a
	// goja value. Nil makes the constructor throw "Illegal constructor".
	New func(call goja.ConstructorCall) T
	// Tag is what Symbol.toStringTag says; "" is Name. See Options.Untagged.
	Tag string
	// Called is the TypeError of a call without new; "" is Web IDL's.
	Called string
	// CallIsNew makes a call without new construct too, as Intl's classes do.
	CallIsNew bool
	// Language is for classes of ECMAScript and WebAssembly: getters have names
	// and constants stay, which those of the platform do not in workerd (jsg/resource.h).
	Language bool
	// Script is for classes that workerd writes in JavaScript: instances have no
	// internal fields there, and are cloned as plain objects.
	Script bool
	// Extends is the parent's constructor, whose methods are inherited.
	Extends *goja.Object
	// Proto is the prototype if it is there already; nil makes one.
	Proto     *goja.Object
	Methods   []Method[T]
	Accessors []Accessor[T]
	// Own are read-only properties that each instance has of its own, with the
	// values of when it was made (jsg/resource.h, JSG_READONLY_INSTANCE_PROPERTY).
	Own []Accessor[T]
	// Shown are what the console shows of an instance beside its properties, in square
	// brackets (jsg/resource.h, JSG_INSPECT_PROPERTY).
	Shown     []Accessor[T]
	Statics   []Func
	Constants []Constant // on both constructor and prototype
}

// Method is a method of a Class. Every one throws for a wrong receiver, as in
// workerd; by Web IDL those that return promises would reject.
type Method[T any] struct {
	Name   string
	Length int
	Fn     func(self T, call goja.FunctionCall) goja.Value
}

// Accessor is a getter with an optional setter.
type Accessor[T any] struct {
	Name string
	Get  func(self T, this *goja.Object) goja.Value
	Set  func(self T, this *goja.Object, v goja.Value)
}

// Func is a named native function. Arguments are valid only until it returns:
// goja reuses their memory.
type Func struct {
	Name   string
	Length int
	Fn     func(call goja.FunctionCall) goja.Value
}

// Constant is a read-only property.
type Constant struct {
	Name  string
	Value any
}

// classSlots holds the hidden symbol under which instances carry their Go value.
type classSlots struct {
	slot      *goja.Symbol
	language  []*goja.Object            // prototypes that MarkLanguage was given
	resources map[*goja.Object][]Inside // those that MarkResource was given
}

func (s *classSlots) init() { s.slot = goja.NewSymbol("minido.slot") }

// Owner says whose an object's internal slots are in production, which decides
// whether and with which error it is cloned.
type Owner byte

const (
	OwnerNone     Owner = iota // it has none: an ordinary object
	OwnerPlatform              // workerd's native code
	OwnerLanguage              // V8: ECMAScript, Intl, WebAssembly
)

// holder makes a Go value storable in a JavaScript property without reflection.
// It is an object without properties.
type holder struct {
	value any
	of    *goja.Object
	owner Owner
}

func (*holder) Get(string) goja.Value       { return nil }
func (*holder) Set(string, goja.Value) bool { return false }
func (*holder) Has(string) bool             { return false }
func (*holder) Delete(string) bool          { return true }
func (*holder) Keys() []string              { return nil }

// Slot is the symbol under which objects carry their Go value.
func (e *Engine) Slot() *goja.Symbol { return e.classes.slot }

// Attach hangs a Go value on an object, where Attached finds it.
func (e *Engine) Attach(obj *goja.Object, value any) { e.attach(obj, value, OwnerPlatform) }

// AttachLanguage is Attach for objects whose internal slots are V8's (Owner).
func (e *Engine) AttachLanguage(obj *goja.Object, value any) { e.attach(obj, value, OwnerLanguage) }

func (e *Engine) attach(obj *goja.Object, value any, owner Owner) {
	obj.DefineDataPropertySymbol(e.classes.slot, e.vm.NewDynamicObject(&holder{value, obj, owner}),
		goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// MarkLanguage makes what inherits from proto OwnerLanguage's: for classes of
// ECMAScript that are written in JavaScript here.
func (e *Engine) MarkLanguage(proto *goja.Object) {
	e.classes.language = append(e.classes.language, proto)
}

// Owner tells whose the internal slots of obj are. It runs no user code.
func (e *Engine) Owner(obj *goja.Object) Owner {
	if h := e.held(obj); h != nil {
		return h.owner
	}
	if obj.ExportType() == reflect.TypeFor[goja.Proxy]() {
		return OwnerNone
	}
	for p := obj.Prototype(); p != nil && p.ExportType() != reflect.TypeFor[goja.Proxy](); p = p.Prototype() {
		if slices.Contains(e.classes.language, p) {
			return OwnerLanguage
		}
	}
	return OwnerNone
}

// Attached is the Go value that hangs on v, nil if there is none: what inherits
// from an object, and a proxy of it, has no internal slots of its own (Web IDL,
// section 3.2: "platform object that implements I").
func (e *Engine) Attached(v goja.Value) any {
	if h := e.held(v); h != nil {
		return h.value
	}
	return nil
}

// held is what Attach hung on v, nil if there is nothing.
func (e *Engine) held(v goja.Value) *holder {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() == reflect.TypeFor[goja.Proxy]() {
		return nil
	}
	for p := obj.Prototype(); p != nil; p = p.Prototype() {
		if p.ExportType() == reflect.TypeFor[goja.Proxy]() { // its code must not see the symbol
			if !e.Call(e.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), obj, e.classes.slot).ToBoolean() {
				return nil
			}
			break
		}
	}
	slot, ok := obj.GetSymbol(e.classes.slot).(*goja.Object)
	if !ok {
		return nil
	}
	if h, ok := slot.Export().(*holder); ok && h.of == obj {
		return h
	}
	return nil
}

// DefineClass makes the class in this runtime. It does not put it on globalThis.
func DefineClass[T any](e *Engine, def ClassDef[T]) *Class[T] {
	c := &Class[T]{Name: def.Name, e: e, own: def.Own, owner: OwnerPlatform}
	switch {
	case def.Language:
		c.owner = OwnerLanguage
	case def.Script:
		c.owner = OwnerNone
	}
	c.Ctor = e.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		if def.New == nil {
			panic(e.vm.NewTypeError("Illegal constructor"))
		}
		c.make(call.This, def.New(call))
		return nil
	}).(*goja.Object)
	// A call: Name(), obj.Name(), or Name.call(obj). goja makes one of an object a
	// construction, so that is not left to it.
	called := func(call goja.FunctionCall, _ insides.Function) goja.Value {
		switch {
		case def.New == nil:
			panic(e.vm.NewTypeError("Illegal constructor"))
		case def.Called != "":
			panic(e.vm.NewTypeError(def.Called))
		case !def.CallIsNew:
			if def.Language {
				panic(e.vm.NewTypeError("Constructor %s requires 'new'", def.Name))
			}
			panic(e.vm.NewTypeError("Failed to construct '%s': Please use the 'new' operator, this object constructor cannot be called as a function.", def.Name))
		}
		made := e.vm.CreateObject(c.Proto)
		c.make(made, def.New(goja.ConstructorCall{This: made, Arguments: call.Arguments}))
		return made
	}
	insides.Amend(c.Ctor, called) // where goja is not known, a call without new constructs
	e.nameFunc(c.Ctor, def.Name, def.Length)
	if c.Proto = def.Proto; c.Proto == nil {
		c.Proto = c.Ctor.Get("prototype").(*goja.Object)
	}
	c.Proto.DefineDataProperty("constructor", c.Ctor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	c.Ctor.DefineDataProperty("prototype", c.Proto, flag(!def.Language), goja.FLAG_FALSE, goja.FLAG_FALSE)
	if def.Extends != nil { // not the constructor: it inherits from Function.prototype
		c.Proto.SetPrototype(def.Extends.Get("prototype").(*goja.Object))
	}
	if !e.untagged || def.Language || def.Script {
		c.Proto.DefineDataPropertySymbol(goja.SymToStringTag, e.vm.ToValue(cmp.Or(def.Tag, def.Name)), flag(!def.Language), goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	var members []classMember
	for _, m := range def.Methods {
		members = append(members, classMember{m.Name, func() {
			e.DefineFunc(c.Proto, Func{m.Name, m.Length, func(call goja.FunctionCall) goja.Value {
				return m.Fn(c.Self(call.This), call)
			}})
		}})
	}
	for _, a := range def.Accessors {
		members = append(members, classMember{a.Name, func() { c.accessor(a, def.Language) }})
	}
	for _, f := range def.Statics {
		e.DefineFunc(c.Ctor, f)
	}
	for _, k := range def.Constants {
		members = append(members, classMember{k.Name, func() {
			for _, o := range []*goja.Object{c.Ctor, c.Proto} {
				o.DefineDataProperty(k.Name, e.vm.ToValue(k.Value), goja.FLAG_FALSE, flag(!def.Language), goja.FLAG_TRUE)
			}
		}})
	}
	defineOrdered(def.Name, members)
	if c.owner == OwnerPlatform {
		e.MarkResource(c.Proto, c.insides(def.Shown)...)
	}
	return c
}

func flag(on bool) goja.Flag {
	if on {
		return goja.FLAG_TRUE
	}
	return goja.FLAG_FALSE
}

func (c *Class[T]) accessor(a Accessor[T], named bool) {
	getter, setter, arity := "", "", 0
	if named {
		getter, setter, arity = "get "+a.Name, "set "+a.Name, 1
	}
	get := c.e.Func(getter, 0, func(call goja.FunctionCall) goja.Value {
		self := c.Self(call.This)
		this, _ := call.This.(*goja.Object)
		return a.Get(self, this)
	})
	var set goja.Value
	if a.Set != nil {
		set = c.e.Func(setter, arity, func(call goja.FunctionCall) goja.Value {
			self := c.Self(call.This)
			this, _ := call.This.(*goja.Object)
			a.Set(self, this, call.Argument(0))
			return goja.Undefined()
		})
	}
	c.Proto.DefineAccessorProperty(a.Name, get, set, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// Alias has the method of that name answer to a symbol too, as a function
// without a name (jsg/resource.h, JSG_ITERABLE, JSG_DISPOSE).
func (c *Class[T]) Alias(symbol *goja.Symbol, method string) {
	fn := c.Proto.Get(method)
	unnamed := c.e.Func("", 0, func(call goja.FunctionCall) goja.Value { return c.e.Call(fn, call.This, call.Arguments...) })
	c.Proto.DefineDataPropertySymbol(symbol, unnamed, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// Wrap makes an instance around value, without running the constructor.
func (c *Class[T]) Wrap(value T) *goja.Object {
	obj := c.e.vm.CreateObject(c.Proto)
	c.make(obj, value)
	return obj
}

// make makes obj an instance that carries value.
func (c *Class[T]) make(obj *goja.Object, value T) {
	c.e.attach(obj, value, c.owner)
	for _, p := range c.own {
		obj.DefineDataProperty(p.Name, p.Get(value, obj), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
}

// Of is the Go value of an instance; ok is false for anything else.
func (c *Class[T]) Of(v goja.Value) (value T, ok bool) {
	value, ok = c.e.Attached(v).(T)
	return value, ok
}

// IllegalInvocation is what a method of the platform says, as a TypeError, to a
// receiver that is no instance of its class (V8's text, as workerd builds it).
const IllegalInvocation = "Illegal invocation: function called with incorrect `this` reference. " +
	"See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."

// Self is Of for receivers: it throws IllegalInvocation.
func (c *Class[T]) Self(v goja.Value) T {
	value, ok := c.Of(v)
	if !ok {
		panic(c.e.vm.NewTypeError(IllegalInvocation))
	}
	return value
}

// Func makes a native function object.
func (e *Engine) Func(name string, length int, fn func(goja.FunctionCall) goja.Value) *goja.Object {
	return e.maker.Native(e.Natives.bounded(fn), name, length)
}

func (e *Engine) nameFunc(obj *goja.Object, name string, length int) {
	obj.DefineDataProperty("name", e.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	obj.DefineDataProperty("length", e.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// DefineFunc puts a native function on obj, as methods are: writable,
// configurable, not enumerable on plain prototypes (Web IDL says enumerable).
func (e *Engine) DefineFunc(obj *goja.Object, f Func) {
	obj.DefineDataProperty(f.Name, e.Func(f.Name, f.Length, f.Fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// HideMembers makes what a class's prototype has non-enumerable, as the members
// of ECMAScript's own classes are; those that DefineClass makes are enumerable, as
// Web IDL wants them. Loop-confined.
func (e *Engine) HideMembers(ctor *goja.Object) {
	proto := ctor.Get("prototype").(*goja.Object)
	hide := e.vm.NewObject()
	hide.Set("enumerable", false)
	for _, name := range proto.GetOwnPropertyNames() {
		e.Call(e.Primordial("ObjectDefineProperty"), goja.Undefined(), proto, e.vm.ToValue(name), hide)
	}
}

// Native makes the plain object of functions that a prelude gets as `native`.
func (e *Engine) Native(funcs ...Func) *goja.Object {
	obj := e.vm.NewObject()
	for _, f := range funcs {
		e.DefineFunc(obj, f)
	}
	return obj
}

// Global defines a property of globalThis: writable and configurable, and
// enumerable if its name begins with a small letter, which ECMAScript's classes
// and namespaces do not.
func (e *Engine) Global(name string, v goja.Value) {
	e.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, listed(name))
}

// Interface defines a class or an operation of the global scope, which globalThis
// inherits (workerd: api/global-scope.h, JSG_NESTED_TYPE and JSG_METHOD).
func (e *Engine) Interface(name string, v goja.Value) {
	e.Scope().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// Scope is the prototype of globalThis.
func (e *Engine) Scope() *goja.Object {
	if e.scope == nil {
		e.scope = e.vm.NewObject()
		e.vm.GlobalObject().SetPrototype(e.scope)
	}
	return e.scope
}

func listed(name string) goja.Flag {
	return flag(name[0] >= 'a' && name[0] <= 'z' && name != "console" && name != "eval") // a namespace, and ECMAScript's
}
