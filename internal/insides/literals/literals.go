// Package literals finds how many properties an object literal has, in what goja has
// compiled of it. The instructions of a literal make an object, and each property takes a
// value from the stack above it; so they are followed with nothing but the height of the
// stack.
package literals

import (
	"reflect"
	"unsafe"
)

// Most is how many properties are counted.
const Most = 8

// Effect is what an instruction does to the height of the stack.
type Effect struct {
	known  bool
	change int       // of the height
	each   int       // and for each of the operand
	kind   kind      // besides that
	form   operandOf // the operand
}

type kind uint8

const (
	plain    kind = iota
	object        // makes the object of a literal
	property      // adds one to the object of a literal
	jumps         // always, by the operand
	may           // jump by the operand; the height changes whether it does or not
	keeps         // what is on the stack, and jumps by the operand, or takes it
	ends          // the function
)

type operandOf uint8

const (
	none operandOf = iota
	unsigned
	signed
	word
)

// effects are those of the instructions that are known, by goja's names.
var effects = func() map[string]Effect {
	list := map[string]Effect{}
	add := func(e Effect, names ...string) {
		e.known = true
		for _, name := range names {
			list[name] = e
		}
	}
	add(Effect{change: 1}, "loadVal", "_loadUndef", "_loadNil", "_loadGlobalObject", "loadStack", "loadStack1", "loadStackLex", "loadStack1Lex", "_loadCallee", "loadStash", "loadStashLex",
		"loadMixed", "loadMixedLex", "loadMixedStack", "loadMixedStack1", "loadMixedStackLex", "loadMixedStack1Lex", "loadDynamic", "loadDynamicRef", "_dup", "newArray", "newRegexp", "newFunc", "newAsyncFunc",
		"newGeneratorFunc", "newMethod", "newAsyncMethod", "newGeneratorMethod", "newArrowFunc", "newAsyncArrowFunc", "loadThisStash", "loadThisStack", "getThisDynamic", "_loadNewTarget", "getTaggedTmplObject",
		"getPropCallee", "getPrivatePropIdCallee", "getPrivatePropResCallee")
	add(Effect{change: 1, kind: object}, "_newObject")
	add(Effect{change: 2}, "loadDynamicCallee")
	add(Effect{}, "storeStack", "storeStack1", "storeStackLex", "storeStack1Lex", "storeStash", "storeStashLex", "_toNumber", "_neg", "_plus", "_inc", "_dec", "_bnot", "_toPropertyKey", "_toString", "getProp",
		"_getElemCallee", "_not", "_typeof", "_checkObjectCoercible", "getPrivatePropId", "getPrivatePropRes", "yieldMarker")
	add(Effect{change: -1}, "storeStackP", "storeStack1P", "storeStackLexP", "storeStack1LexP", "storeStashP", "storeStashLexP", "_add", "_sub", "_mul", "_exp", "_div", "_mod", "_and", "_or", "_xor", "_sal", "_sar", "_shr",
		"_getElem", "_pop", "_pushArrayItem", "_pushArraySpread", "setProp", "setPropStrict", "_op_lt", "_op_lte", "_op_gt", "_op_gte", "_op_eq", "_op_neq", "_op_strict_eq", "_op_strict_neq", "_op_instanceof", "_op_in",
		"_setProto", "setPrivatePropId", "setPrivatePropRes")
	add(Effect{change: -2}, "_setElem", "_setElemStrict", "setPropP", "setPropStrictP", "setPrivatePropIdP", "setPrivatePropResP")
	add(Effect{change: -3}, "_setElemP", "_setElemStrictP")
	add(Effect{change: -1, kind: property}, "putProp", "defineMethodKeyed", "defineGetterKeyed", "defineSetterKeyed")
	add(Effect{change: -2, kind: property}, "_setElem1", "_setElem1Named", "defineMethod", "defineGetter", "defineSetter")
	add(Effect{change: -1, each: -1, form: unsigned}, "call")
	add(Effect{each: -1, form: unsigned}, "_new")
	add(Effect{change: 1, each: -1, form: word}, "concatStrings")
	add(Effect{kind: jumps, form: signed}, "jump")
	add(Effect{change: -1, kind: may, form: signed}, "jneP", "jeqP", "jcoalescP")
	add(Effect{kind: may, form: signed}, "jopt")
	add(Effect{change: -1, kind: keeps, form: signed}, "jeq", "jne", "jcoalesc", "jdef")
	add(Effect{kind: ends}, "_ret", "cret", "_throw")
	return list
}()

// EffectOf is what an instruction of a type does.
func EffectOf(t reflect.Type) Effect {
	name, in := t.Name(), t.Kind()
	if t.Kind() == reflect.Pointer {
		name, in = t.Elem().Name(), t.Elem().Kind()
	}
	e := effects[name]
	switch {
	case e.form == unsigned && in != reflect.Uint32, e.form == signed && in != reflect.Int32, e.form == word && in != reflect.Int:
		return Effect{}
	}
	return e
}

// operand is that of an instruction, which lies at a place.
func (e Effect) operand(at unsafe.Pointer) int {
	switch e.form {
	case unsigned:
		return int(*(*uint32)(at))
	case signed:
		return int(*(*int32)(at))
	case word:
		return *(*int)(at)
	}
	return 0
}

// Properties is how many properties the literal has whose object the instruction at pc makes, at
// most Most; -1 if that cannot be told. at gives an instruction's effect and where its operand
// lies. That a name may occur twice is not looked at: what is asked for is how much room
// there has to be.
func Properties(pc, end int, at func(pc int) (Effect, unsafe.Pointer)) int {
	height, count := 1, 0 // with the object
	var targets map[int]int
	for pc++; pc < end; pc++ {
		if h, is := targets[pc]; is {
			height = h
		}
		e, data := at(pc)
		if !e.known {
			return -1
		}
		n := e.operand(data)
		before := height
		height += e.change + n*e.each
		switch e.kind {
		case property:
			if height == 1 {
				if count++; count == Most {
					return count
				}
			}
		case ends:
			return count
		case jumps, may, keeps:
			if n <= 0 {
				return count // a loop: no literal has one
			}
			landing := height
			if e.kind == keeps {
				landing = before
			}
			if targets == nil {
				targets = map[int]int{}
			}
			targets[pc+n] = landing
			if _, is := targets[pc+1]; e.kind == jumps && !is {
				return count // nobody gets to what follows
			}
		}
		if height < 1 {
			return count
		}
	}
	return count
}
