package ecma

import (
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// weakKeys are the objects that stand for symbols in goja's WeakMaps and
// WeakSets, which take objects alone: one for each symbol, as long as it lives.
// Safe for concurrent use, since symbols are collected beside the loop.
type weakKeys struct {
	mu   sync.Mutex
	keys map[weak.Pointer[goja.Symbol]]*goja.Object // guarded by mu
}

// installWeakKeys lets symbols be held weakly, but for registered ones
// (ECMA-262, section 9.14: CanBeHeldWeakly). The methods are functions of their
// own, not amended ones: goja's constructors bypass those that they know.
func installWeakKeys(e *engine.Engine) {
	k := &weakKeys{keys: map[weak.Pointer[goja.Symbol]]*goja.Object{}}
	registered, _ := goja.AssertFunction(e.VM().Get("Symbol").(*goja.Object).Get("keyFor"))
	refusals := map[string]string{"set": "Invalid value used as weak map key", "add": "Invalid value used in weak set"}
	for class, names := range map[string][]string{"WeakMap": {"get", "set", "has", "delete"}, "WeakSet": {"add", "has", "delete"}} { // order-independent: each class is its own
		proto := builtin.Prototype(e, class)
		sample, err := e.VM().New(e.VM().Get(class))
		if err != nil {
			panic(err)
		}
		for _, name := range names {
			refusal := refusals[name]
			old := proto.Get(name).(*goja.Object)
			method, _ := goja.AssertFunction(old)
			insides.Amend(old, rememberKeys(e, sample, name))
			native := insides.TheGoja().FunctionOf(old)
			fn := e.Func(name, int(old.Get("length").ToInteger()), func(c goja.FunctionCall) goja.Value {
				args := c.Arguments
				if _, isObject := c.Argument(0).(*goja.Object); isObject && native != nil {
					return (*native)(c)
				}
				_, valid := c.Argument(0).(*goja.Object)
				if s, ok := c.Argument(0).(*goja.Symbol); ok {
					if known, err := registered(goja.Undefined(), s); err == nil && goja.IsUndefined(known) {
						args, valid = append([]goja.Value{k.of(e.VM(), s)}, args[1:]...), true
					}
				}
				v, err := method(c.This, args...)
				if err != nil {
					if refusal != "" && !valid && !strings.Contains(err.Error(), "incompatible receiver") {
						e.Throw("TypeError", "%s", refusal)
					}
					e.Rethrow(err)
				}
				return v
			})
			proto.DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
}

// rememberKeys amends a method of goja's, which preludes call, too. goja makes a weak pointer of
// each object that a WeakMap is asked for, and Go keeps a record of each in a list of its neighbours'
// that grows with every question. Most of them have never been a key of any. So what adds marks its
// keys, and the others answer by themselves for an object without a mark.
func rememberKeys(e *engine.Engine, sample *goja.Object, name string) func(c goja.FunctionCall, method insides.Function) goja.Value {
	plain := e.Maker().Plain
	adds := name == "set" || name == "add"
	absent := e.VM().ToValue(false)
	if name == "get" {
		absent = goja.Undefined()
	}
	return func(c goja.FunctionCall, method insides.Function) goja.Value {
		key, isObject := c.Argument(0).(*goja.Object)
		switch {
		case !isObject:
		case adds:
			key.ClassName() // goja makes some of its own objects when they are first looked at
			if mark := plain.Mark(key); mark != nil {
				*mark = true
			}
		default:
			of, ok := c.This.(*goja.Object)
			if mark := plain.Mark(key); ok && mark != nil && !*mark && plain.Alike(of, sample) {
				return absent
			}
		}
		return method(c)
	}
}

// of is the object that stands for s.
func (k *weakKeys) of(vm *goja.Runtime, s *goja.Symbol) *goja.Object {
	p := weak.Make(s)
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.keys[p]
	if key == nil {
		key = vm.NewObject()
		k.keys[p] = key
		runtime.AddCleanup(s, func(p weak.Pointer[goja.Symbol]) {
			k.mu.Lock()
			defer k.mu.Unlock()
			delete(k.keys, p)
		}, p)
	}
	return key
}
