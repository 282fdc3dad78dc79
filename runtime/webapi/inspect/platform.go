package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// resource shows an object of the platform as workerd does (src/node/internal/
// internal_inspect.ts, formatJsgResourceType): as a plain object of what it and its
// classes have besides functions, for which getters are called, and of what only the
// console shows, in square brackets. Names and values that it lists, as Headers do, stand
// as those of a Map. self is the proxy that it is behind, or the object; name, unless it
// is "", is what to call it.
func (in *inspector) resource(inside []engine.Inside, self *goja.Object, name string, level int) string {
	ctor := self.Get("constructor")
	if name == "" {
		if webidl.IsMissing(ctor) {
			in.p.Engine.Throw("TypeError", "Cannot read properties of %s (reading 'name')", ctor)
		}
		name = in.p.Engine.Text(webidl.Get(ctor.ToObject(in.p.VM), "name"))
	}
	if float64(level) > in.o.depth {
		return in.style("["+name+"]", "special")
	}
	entries, listed := in.entries(self)
	record := in.p.VM.NewObject()
	for at := self; ; {
		names := in.ask("ObjectGetOwnPropertyNames", at).(*goja.Object)
		for i := range int(webidl.Get(names, "length").ToInteger()) {
			key := names.Get(strconv.Itoa(i)).String()
			if v := self.Get(key); !engine.IsCallable(v) && !in.isStatic(ctor, key) {
				if v == nil {
					v = goja.Undefined()
				}
				record.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			}
		}
		next, ok := in.ask("ObjectGetPrototypeOf", at).(*goja.Object)
		if !ok || in.isLanguages(next) {
			break
		}
		at = next
	}
	for _, property := range inside {
		record.DefineDataProperty(property.Name, property.Get(self), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	sub := &inspector{p: in.p, o: in.o, inspect: in.inspect, symbol: in.symbol}
	sub.o.depth -= float64(level)
	sub.o.showHidden = true
	if !listed {
		return name + " " + sub.value(record, 0)
	}
	return name + strings.Replace(sub.shaped(record, sub.entriesShape(record, entries), "Object", "", 0), "Object", "", 1)
}

// entriesShape is that of a list of names and values, however many, with further
// properties.
func (in *inspector) entriesShape(record *goja.Object, entries [][2]goja.Value) shape {
	s := shape{open: fmt.Sprintf("Object(%d) {", len(entries)), end: "}", filled: len(entries) > 0}
	for _, key := range in.keys(record, false) {
		if key.String() != "size" {
			s.keys = append(s.keys, key)
		}
	}
	s.parts = func() []string {
		var parts []string
		level := len(in.seen) - 1
		for _, pair := range entries {
			parts = append(parts, in.nested(pair[0], level)+" => "+in.nested(pair[1], level))
		}
		return parts
	}
	return s
}

// entries are what entries() of an object gives, if these are pairs.
func (in *inspector) entries(self *goja.Object) (pairs [][2]goja.Value, ok bool) {
	method := self.Get("entries")
	if !engine.IsCallable(method) || in.p.standsIn(self) {
		return nil, false
	}
	list, isObject := in.p.Engine.Call(method, self).(*goja.Object)
	if !isObject || webidl.IsMissing(list.GetSymbol(goja.SymIterator)) {
		return nil, false
	}
	ok = true
	in.p.ForOf(list, func(v goja.Value) {
		pair, isObject := v.(*goja.Object)
		if !isObject || pair.ClassName() != "Array" || webidl.Get(pair, "length").ToInteger() != 2 {
			ok = false
			return
		}
		pairs = append(pairs, [2]goja.Value{pair.Get("0"), pair.Get("1")})
	})
	return pairs, ok
}

// isStatic reports whether a constructor has an enumerable property of its own.
func (in *inspector) isStatic(ctor goja.Value, key string) bool {
	obj, ok := ctor.(*goja.Object)
	if !ok {
		return false
	}
	d := in.descriptor(obj, in.p.VM.ToValue(key))
	return d != nil && d.Get("enumerable").ToBoolean()
}

// isLanguages reports whether an object is the prototype of one of ECMAScript's classes,
// by its constructor's name.
func (in *inspector) isLanguages(proto *goja.Object) bool {
	d := in.descriptor(proto, in.p.VM.ToValue("constructor"))
	if d == nil {
		return false
	}
	fn, ok := d.Get("value").(*goja.Object)
	return ok && engine.IsCallable(fn) && languages[in.p.Engine.Text(fn.Get("name"))]
}

// languages are the names of ECMAScript's classes, and of others that the global object
// has of its own.
var languages = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`Object Function Array Number Boolean String Symbol Date Promise RegExp Error AggregateError EvalError
		RangeError ReferenceError SyntaxError TypeError URIError SuppressedError JSON Math Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array
		Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set
		Iterator WeakMap WeakSet WeakRef Proxy Reflect FinalizationRegistry DisposableStack AsyncDisposableStack SharedArrayBuffer WebAssembly Infinity NaN
		Buffer Cloudflare ServiceWorkerGlobalScope`) {
		names[name] = true
	}
	return names
}()

// standsIn reports whether v is a proxy that StandIn knows.
func (p *Console) standsIn(v *goja.Object) bool { return p.StandIn != nil && p.StandIn(v) != "" }
