package clone

import (
	"fmt"
	"strconv"

	"github.com/dop251/goja"
)

// native is a builtin function called without going through JavaScript. Unlike
// goja.Callable it does not run pending promise jobs when it is called from
// outside JavaScript; it panics with the JavaScript exception it throws.
type native func(goja.FunctionCall) goja.Value

// primordials are a runtime's builtins as they were when the codec was made.
// Immutable after capture.
type primordials struct {
	objectProto    *goja.Object
	objectToString goja.Value

	keys, hasOwn, getOwnDescriptor, functionToString native
	reflectGet, reflectDefine                        native
	mapForEach, mapSet, setForEach                   native
	setAdd, stringValueOf, symbolToString            native
	viewTag, viewBuffer, viewOffset, viewLength      native
	dataBuffer, dataOffset, dataLength               native
	regExpSource                                     native
	regExpFlag                                       [len(regExpFlags)]native

	mapCtor, setCtor, dateCtor, regExpCtor, objectCtor *goja.Object
	errorCtors                                         map[string]*goja.Object
	viewCtors                                          [len(viewTypes)]*goja.Object
}

func capture(vm *goja.Runtime) *primordials {
	p := &primordials{errorCtors: map[string]*goja.Object{}}
	ctor := func(name string) *goja.Object {
		o, _ := vm.Get(name).(*goja.Object)
		assert(o != nil, "clone: the runtime has no %s", name)
		return o
	}
	proto := func(o *goja.Object) *goja.Object { return o.Get("prototype").ToObject(vm) }
	p.objectCtor = ctor("Object")
	p.objectProto = proto(p.objectCtor)
	p.objectToString = p.objectProto.Get("toString")
	p.keys = function(p.objectCtor.Get("keys"), "Object.keys")
	p.getOwnDescriptor = function(p.objectCtor.Get("getOwnPropertyDescriptor"), "Object.getOwnPropertyDescriptor")
	p.hasOwn = function(p.objectProto.Get("hasOwnProperty"), "hasOwnProperty")
	p.functionToString = function(proto(ctor("Function")).Get("toString"), "Function.prototype.toString")
	p.reflectGet = function(ctor("Reflect").Get("get"), "Reflect.get")
	p.reflectDefine = function(ctor("Reflect").Get("defineProperty"), "Reflect.defineProperty")
	p.mapCtor, p.setCtor, p.dateCtor, p.regExpCtor = ctor("Map"), ctor("Set"), ctor("Date"), ctor("RegExp")
	p.mapForEach = function(proto(p.mapCtor).Get("forEach"), "Map.prototype.forEach")
	p.mapSet = function(proto(p.mapCtor).Get("set"), "Map.prototype.set")
	p.setForEach = function(proto(p.setCtor).Get("forEach"), "Set.prototype.forEach")
	p.setAdd = function(proto(p.setCtor).Get("add"), "Set.prototype.add")
	p.stringValueOf = function(proto(ctor("String")).Get("valueOf"), "String.prototype.valueOf")
	p.symbolToString = function(proto(ctor("Symbol")).Get("toString"), "Symbol.prototype.toString")

	getter := func(of *goja.Object, key goja.Value) native {
		descriptor, _ := p.getOwnDescriptor(goja.FunctionCall{Arguments: []goja.Value{of, key}}).(*goja.Object)
		if descriptor == nil {
			return nil
		}
		return function(descriptor.Get("get"), key.String())
	}
	str := func(s string) goja.Value { return vm.ToValue(s) }
	typed := proto(ctor("Uint8Array")).Prototype()
	p.viewTag = getter(typed, goja.SymToStringTag)
	p.viewBuffer, p.viewOffset, p.viewLength = getter(typed, str("buffer")), getter(typed, str("byteOffset")), getter(typed, str("byteLength"))
	data := proto(ctor("DataView"))
	p.dataBuffer, p.dataOffset, p.dataLength = getter(data, str("buffer")), getter(data, str("byteOffset")), getter(data, str("byteLength"))
	regExp := proto(p.regExpCtor)
	p.regExpSource = getter(regExp, str("source"))
	for i, f := range regExpFlags {
		p.regExpFlag[i] = getter(regExp, str(f.getter)) // nil where goja lacks the flag
	}
	for i, t := range viewTypes {
		p.viewCtors[i], _ = vm.Get(t.name).(*goja.Object)
		assert(p.viewCtors[i] != nil || t.name == "Float16Array", "clone: the runtime has no %s", t.name)
	}
	for _, e := range errorKinds {
		if o, isObject := vm.Get(e.name).(*goja.Object); isObject {
			p.errorCtors[e.name] = o
		}
	}
	return p
}

// function returns the Go function behind a builtin.
func function(v goja.Value, name string) native {
	if v != nil {
		if f, ok := v.Export().(func(goja.FunctionCall) goja.Value); ok {
			return f
		}
	}
	panic(fmt.Sprintf("clone: %s is not a builtin function; make the codec before user code runs", name))
}

func assert(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

func itoa(i int) string { return strconv.Itoa(i) }
