package engine

import (
	"testing"

	"github.com/dop251/goja"
)

func worldWithCounter(t *testing.T) *world {
	w := newWorld(t)
	w.e.Global("Counter", DefineClass(w.e, ClassDef[*int64]{
		Name: "Counter", Length: 1,
		New: func(call goja.ConstructorCall) *int64 { n := call.Argument(0).ToInteger(); return &n },
		Accessors: []Accessor[*int64]{{Name: "value", Get: func(n *int64, _ *goja.Object) goja.Value {
			return w.e.VM().ToValue(*n)
		}}},
	}).Ctor)
	return w
}

// Web IDL, section 3.7.1, "create an interface object", step 4.2: a constructor
// throws if NewTarget is undefined, and only then; who constructs does not count.
func TestConstructorsAreConstructed(t *testing.T) {
	w := worldWithCounter(t)
	w.script(nil, `
		const tell = (f) => { try { return f().value } catch (e) { return e.name } };
		say([
			() => Array.of.call(Counter, 3, 4), () => Array.from.call(Counter, { length: 5 }),
			() => Reflect.construct.call(null, Counter, [6]), () => Reflect.construct.apply(null, [Counter, [7]]),
			() => new (Counter.bind(null, 8))(), () => Reflect.construct(Object, [], Counter),
			() => Counter(1), () => ({ Counter }).Counter(1), () => Counter.call(new Counter(1)), () => Counter.apply(undefined, []),
			() => Counter.call(Object.create(Counter.prototype)), () => Reflect.apply(Counter, new Counter(1), []),
			() => [1].map(Counter, new Counter(1)), () => Counter.bind(new Counter(1))(),
		].map(tell).join());
	`)
	w.said("2,5,6,7,8,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError")
}

// ECMA-262, section 6.1.7.2: internal slots are no properties, and no proxy hears
// of them.
func TestSlotsAreHiddenFromProxies(t *testing.T) {
	w := worldWithCounter(t)
	w.script(nil, `
		const value = Object.getOwnPropertyDescriptor(Counter.prototype, "value").get, seen = [];
		const spy = new Proxy({}, { get(_, k) { seen.push(String(k)) }, getOwnPropertyDescriptor(_, k) { seen.push(String(k)) }, has(_, k) { seen.push(String(k)) } });
		for (const o of [spy, Object.create(spy), Object.create(Object.create(spy))]) {
			try { value.call(o); say("read") } catch (e) { say(e.name) }
		}
		say(value.call(Object.setPrototypeOf(new Counter(9), spy)));
		say(seen.join());
	`)
	w.said("TypeError", "TypeError", "TypeError", "9", "")
}
