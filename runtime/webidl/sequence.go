package webidl

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// ForOf calls fn with each item of an iterable; it throws a TypeError for
// other values.
func (r *Realm) ForOf(iterable goja.Value, fn func(goja.Value)) {
	if IsMissing(iterable) {
		r.Engine.Throw("TypeError", "%s is not iterable", r.Engine.Text(iterable))
	}
	if thrown := r.Engine.Try(func() {
		r.VM.ForOf(iterable, func(v goja.Value) bool {
			fn(v)
			return true
		})
	}); thrown != nil {
		panic(thrown)
	}
}

// List is the items of an array of our own.
func (r *Realm) List(v goja.Value) []goja.Value {
	var items []goja.Value
	r.ForOf(v, func(item goja.Value) { items = append(items, item) })
	return items
}

// NotSequence throws workerd's TypeError for a member that is no sequence.
func (r *Realm) NotSequence(member, dictionary string) {
	r.Engine.Throw("TypeError", "Incorrect type for the '%s' field on '%s': the provided value is not of type 'Array'.", member, dictionary)
}

// StringArray is an array of strings.
func (r *Realm) StringArray(list []string) *goja.Object {
	values := make([]any, len(list))
	for i, s := range list {
		values[i] = s
	}
	return r.VM.NewArray(values...)
}

// FrozenList is a FrozenArray.
func FrozenList[T any](r *Realm, items []T) goja.Value {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	return r.Engine.Call(r.Engine.Primordial("ObjectFreeze"), goja.Undefined(), r.VM.NewArray(list...))
}

// Symbol is Symbol[name], also where goja lacks it.
func (r *Realm) Symbol(name string) *goja.Symbol {
	sym, _ := r.Engine.Primordial("Symbol").Get(name).(*goja.Symbol)
	return sym
}

// IsIterable tells whether an object other than a String has an iterator.
func (r *Realm) IsIterable(v *goja.Object) bool {
	if v.ClassName() == "String" {
		return false
	}
	for _, sym := range []*goja.Symbol{r.Symbol("asyncIterator"), goja.SymIterator} {
		if sym != nil && engine.IsCallable(v.GetSymbol(sym)) {
			return true
		}
	}
	return false
}

// Array calls fn for the items of the member of a dictionary that workerd takes
// as an array only, not as any iterable.
func (r *Realm) Array(list goja.Value, member, dictionary string, fn func(goja.Value)) {
	if obj, ok := list.(*goja.Object); !ok || !builtin.IsArray(r.Engine, obj) {
		r.NotSequence(member, dictionary)
	}
	r.ForOf(list, fn)
}

// Sequence calls fn for the items of the member of a dictionary that is a
// sequence: of an object that can be iterated over, which a string is not (Web
// IDL, section 3.2.21).
func (r *Realm) Sequence(list goja.Value, member, dictionary string, fn func(goja.Value)) {
	obj, ok := list.(*goja.Object)
	if !ok || !engine.IsCallable(obj.GetSymbol(goja.SymIterator)) {
		r.NotSequence(member, dictionary)
	}
	r.ForOf(list, fn)
}
