package webapi

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// What fetch needs of the rest of the platform.

// global is a constructor of the platform.
func (p *Platform) global(name string) *goja.Object {
	obj, ok := p.vm.GlobalObject().Get(name).(*goja.Object)
	if !ok {
		p.Engine.Throw("Error", "the platform's %s is missing", name)
	}
	return obj
}

// construct is `new name(...args)`.
func (p *Platform) construct(name string, args ...goja.Value) *goja.Object {
	obj, err := p.vm.New(p.global(name), args...)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return obj
}

// invoke calls a method of an object.
func (p *Platform) invoke(obj *goja.Object, method string, args ...goja.Value) goja.Value {
	return p.Engine.Call(obj.Get(method), obj, args...)
}

// record makes a plain object.
func (p *Platform) record(keysAndValues ...any) *goja.Object {
	obj := p.vm.NewObject()
	for i := 0; i < len(keysAndValues); i += 2 {
		obj.Set(keysAndValues[i].(string), keysAndValues[i+1])
	}
	return obj
}

// compat answers for a compatibility flag; without an answer, as the newest
// compatibility date does.
func (p *Platform) compat(flag string) bool { return p.opts.Compat == nil || p.opts.Compat(flag) }

// forRecord calls fn with the entries of a record<> argument (Web IDL, section
// 3.2.25). Symbols are left out, as workerd does.
func (p *Platform) forRecord(obj *goja.Object, fn func(key string, value goja.Value)) {
	if obj.ExportType() != proxyType {
		keys := obj.Keys()
		plain := true
		for _, key := range keys {
			plain = plain && !strings.ContainsRune(key, utf8.RuneError) // perhaps a lone surrogate
		}
		if plain {
			for _, key := range keys {
				if v := obj.Get(key); v != nil {
					fn(key, v)
				}
			}
			return
		}
	}
	none := goja.Undefined()
	for _, key := range p.list(p.Engine.Call(p.Engine.Primordial("ReflectOwnKeys"), none, obj)) {
		name, ok := key.(goja.String)
		if !ok || !p.Engine.Call(p.Engine.Primordial("ObjectPrototypePropertyIsEnumerable"), none, obj, key).ToBoolean() {
			continue
		}
		fn(utf8Of(name), p.Engine.Call(p.Engine.Primordial("ReflectGet"), none, obj, key))
	}
}
