package webidl

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// IsMissing tells undefined and null from other values.
func IsMissing(v goja.Value) bool { return v == nil || goja.IsUndefined(v) || goja.IsNull(v) }

// IsUndefined is goja.IsUndefined that takes nil too.
func IsUndefined(v goja.Value) bool { return v == nil || goja.IsUndefined(v) }

// Get is a property of an options object, undefined if v is no object.
func Get(v goja.Value, name string) goja.Value {
	if obj, ok := v.(*goja.Object); ok {
		if x := obj.Get(name); x != nil {
			return x
		}
	}
	return goja.Undefined()
}

// GetOr is a property of an options object, or def.
func GetOr(v goja.Value, name string, def goja.Value) goja.Value {
	if x := Get(v, name); !goja.IsUndefined(x) {
		return x
	}
	return def
}

// Present is a property that is not undefined, nil otherwise.
func Present(obj *goja.Object, name string) goja.Value {
	if v := obj.Get(name); v != nil && !goja.IsUndefined(v) {
		return v
	}
	return nil
}

// Record makes a plain object.
func (r *Realm) Record(keysAndValues ...any) *goja.Object {
	obj := r.VM.NewObject()
	for i := 0; i < len(keysAndValues); i += 2 {
		obj.Set(keysAndValues[i].(string), keysAndValues[i+1])
	}
	return obj
}

// DefinePlain defines a property as object literals do, whatever setters prototypes have.
func (r *Realm) DefinePlain(obj *goja.Object, name string, v any) {
	obj.DefineDataProperty(name, r.VM.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// ForRecord calls fn with the entries of a record<> argument (Web IDL, section
// 3.2.25). Symbols are left out, as workerd does.
func (r *Realm) ForRecord(obj *goja.Object, fn func(key string, value goja.Value)) {
	if obj.ExportType() != ProxyType {
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
	var names []goja.String // as workerd: all members are looked at before one is read
	for _, key := range r.List(r.Engine.Call(r.Engine.Primordial("ReflectOwnKeys"), none, obj)) {
		name, ok := key.(goja.String)
		if !ok || !r.Engine.Call(r.Engine.Primordial("ObjectPrototypePropertyIsEnumerable"), none, obj, key).ToBoolean() {
			continue
		}
		names = append(names, name)
	}
	for _, name := range names {
		fn(UTF8Of(name), r.Engine.Call(r.Engine.Primordial("ReflectGet"), none, obj, name))
	}
}

// ProxyType is the ExportType of a Proxy, which must be asked for nothing where
// user code may not run.
var ProxyType = reflect.TypeFor[goja.Proxy]()
