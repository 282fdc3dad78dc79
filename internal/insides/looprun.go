package insides

import (
	"sync/atomic"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/dop251/goja/unistring"
	"minido.dev/minido/internal/insides/numbers"
)

// loopBudget is how many jumps back, calls and instructions of goja's the loop makes
// before it goes back to goja, which looks whether it is to be profiled.
const loopBudget = 256

// runLoop runs the machine from where it is until it halts, is interrupted or has used
// its budget up.
func runLoop(m *gojaMachine) {
	var numbers *Numbers
	var k kind      // of a result that is not in the stack yet
	var bits uint64 // it
	var at int      // its place
	budget := loopBudget
frame:
	pc := m.pc
	if pc < 0 || m.prg == nil {
		return
	}
	code := *(*[]words)(unsafe.Add(unsafe.Pointer(m.prg), theLoop.theirs.code))
	stack, sp, sb := m.stack, m.sp, m.sb
	locals := sb + m.args
loop:
	for pc < len(code) {
		in := &code[pc]
		op := (*loopTable)(in.tab).op
		var v *goja.Value
		switch op {
		case opLoadValue:
			v = (*goja.Value)(in.data)
		case opLoadUndefined:
			v = &valueUndefined
		case opLoadStack:
			if i := *(*int)(in.data); i > 0 {
				if v = &stack[locals+i]; wordsOf(v).tab == nil {
					v = &valueUndefined
				}
			} else {
				v = &stack[sb]
			}
		case opLoadStackLex:
			if i := *(*int)(in.data); i > 0 {
				v = &stack[locals+i]
			} else if -i <= m.args {
				v = &stack[sb-i]
			} else {
				v = &valueUndefined
			}
			if wordsOf(v).tab == nil {
				goto other
			}
		case opLoadStack1:
			if i := *(*int)(in.data); i > 0 {
				if v = &stack[sb+i]; wordsOf(v).tab == nil {
					v = &valueUndefined
				}
			} else {
				v = &stack[sb]
			}
		case opLoadStack1Lex:
			if v = &stack[sb+*(*int)(in.data)]; wordsOf(v).tab == nil {
				goto other
			}
		case opLoadStash:
			if v = m.variableAt(*(*uint32)(in.data)); wordsOf(v).tab == nil {
				v = &valueUndefined
			}
		case opLoadStashLex:
			if v = m.variableAt(*(*uint32)(in.data)); wordsOf(v).tab == nil {
				goto other
			}

		case opAdd, opSub, opMul, opDiv, opMod, opAnd, opOr, opXor, opSal, opSar, opShr, opLess, opLessEqual, opGreater, opGreaterEqual:
			lk, l := numberIn(&stack[sp-2])
			rk, r := numberIn(&stack[sp-1])
			if lk == noNumber || rk == noNumber {
				goto other
			}
			k, bits = compute(op, lk, l, rk, r)
			at = sp - 2
			goto chained
		case opEqual, opNotEqual, opStrictEqual, opStrictNotEqual:
			if k, bits = equality(op, &stack[sp-2], &stack[sp-1]); k == noNumber {
				goto other
			}
			at = sp - 2
			goto chained
		case opIncrement, opDecrement, opNegate, opPlus, opToNumber, opBitNot:
			if k, bits = numberIn(&stack[sp-1]); k == noNumber {
				goto other
			}
			if op == opPlus || op == opToNumber {
				pc++
				continue
			}
			k, bits = unary(op, k, bits)
			at = sp - 1
			goto chained
		case opNot:
			is, known := truthOf(&stack[sp-1])
			if !known {
				goto other
			}
			if stack[sp-1] = valueTrue; is {
				stack[sp-1] = valueFalse
			}
			pc++
			continue
		case opTypeof:
			name := typeOf(&stack[sp-1])
			if name == nil {
				goto other
			}
			stack[sp-1] = name
			pc++
			continue

		case opStoreStack, opStoreStackP:
			stack[locals+*(*int)(in.data)] = stack[sp-1]
			if op == opStoreStackP {
				sp--
			}
			pc++
			continue
		case opStoreStack1, opStoreStack1P, opInitStack1P:
			stack[sb+*(*int)(in.data)] = stack[sp-1]
			if op != opStoreStack1 {
				sp--
			}
			pc++
			continue
		case opStoreStackLex, opStoreStackLexP:
			i := sb - *(*int)(in.data)
			if i <= sb {
				i = locals + *(*int)(in.data)
			}
			if stack[i] == nil {
				goto other
			}
			stack[i] = stack[sp-1]
			if op == opStoreStackLexP {
				sp--
			}
			pc++
			continue
		case opStoreStack1Lex, opStoreStack1LexP:
			i := sb + *(*int)(in.data)
			if stack[i] == nil {
				goto other
			}
			stack[i] = stack[sp-1]
			if op == opStoreStack1LexP {
				sp--
			}
			pc++
			continue
		case opInitStackP:
			if i := *(*int)(in.data); i <= 0 {
				stack[sb-i] = stack[sp-1]
			} else {
				stack[locals+i] = stack[sp-1]
			}
			sp--
			pc++
			continue
		case opStoreStashLex, opStoreStashLexP:
			at := m.variableAt(*(*uint32)(in.data))
			if *at == nil {
				goto other
			}
			*at = stack[sp-1]
			if op == opStoreStashLexP {
				sp--
			}
			pc++
			continue

		case opJump:
			goto jump
		case opJumpIfNotP, opJumpIfP:
			is, known := truthOf(&stack[sp-1])
			if !known {
				goto other
			}
			sp--
			if is == (op == opJumpIfP) {
				goto jump
			}
			pc++
			continue
		case opJumpIf, opJumpIfNot:
			is, known := truthOf(&stack[sp-1])
			if !known {
				goto other
			}
			if is == (op == opJumpIf) {
				goto jump
			}
			sp--
			pc++
			continue
		case opJumpOptional:
			switch wordsOf(&stack[sp-1]).tab {
			case tabUndefined, tabNull:
				stack[sp-1] = valueUndefined
				pc += int(*(*int32)(in.data))
			default:
				pc++
			}
			continue
		case opJumpCoalesce:
			switch wordsOf(&stack[sp-1]).tab {
			case tabUndefined, tabNull:
				sp--
				pc++
			default:
				pc += int(*(*int32)(in.data))
			}
			continue

		case opPop:
			sp--
			pc++
			continue
		case opDuplicate:
			v = &stack[sp-1]

		case opGetLength:
			switch w := wordsOf(&stack[sp-1]); w.tab {
			case tabASCII:
				k, bits, at = integer, uint64(len(*(*string)(w.data))), sp-1
				goto chained
			case tabWide:
				k, bits, at = integer, uint64(len(*(*[]uint16)(w.data))-1), sp-1
				goto chained
			case tabObject:
				if self := (*gojaObject)(w.data).self; self.tab == tabArray {
					k, bits, at = integer, uint64((*Array)(self.data).length), sp-1
					goto chained
				}
			}
			goto property
		case opGetProperty:
			goto property
		case opGetCallee:
			w := wordsOf(&stack[sp-1])
			if w.tab != tabObject || sp >= len(stack) {
				goto other
			}
			{
				v, _ := property((*gojaObject)(w.data), *(*unistring.String)(in.data))
				if v == nil {
					goto other
				}
				stack[sp] = v
			}
			sp++
			pc++
			continue
		case opGetElement:
			w, i := wordsOf(&stack[sp-2]), wordsOf(&stack[sp-1])
			if w.tab != tabObject || i.tab != tabInteger {
				goto other
			}
			self, index := (*gojaObject)(w.data).self, *(*uint64)(i.data)
			switch self.tab {
			case tabArray:
				a := (*Array)(self.data)
				if index >= uint64(len(a.values)) {
					goto other
				}
				v = &a.values[index]
				if tab := wordsOf(v).tab; tab == nil || tab == tabProperty {
					goto other
				}
				stack[sp-2] = *v
				sp--
				pc++
				continue
			case tabView:
				a := (*gojaView)(self.data)
				if index >= uint64(a.length) || a.buffer().detached {
					goto other
				}
				if k, bits = a.element(int(index)); k == noNumber {
					goto other
				}
				at = sp - 2
				goto chained
			}
			goto other
		case opSetElement, opSetElementP, opSetElementStrict, opSetElementStrictP:
			if !setElement(&stack[sp-3], &stack[sp-2], &stack[sp-1]) {
				goto other
			}
			if op == opSetElementP || op == opSetElementStrictP {
				sp -= 3
			} else {
				stack[sp-3] = stack[sp-1]
				sp -= 2
			}
			pc++
			continue

		case opCall:
			n := int(*(*uint32)(in.data))
			w := wordsOf(&stack[sp-n-1])
			if w.tab != tabObject {
				goto other
			}
			self := (*gojaObject)(w.data).self
			if self.tab != tabFunction && self.tab != tabMethod && self.tab != tabArrow || len(m.callStack) > m.maxCallStackSize || len(m.callStack) == cap(m.callStack) {
				goto other
			}
			fn := (*gojaScripted)(self.data)
			top := len(m.callStack)
			m.callStack = m.callStack[:top+1]
			m.callStack[top] = gojaContext{m.prg, unsafe.Pointer(m.stash), m.privEnv, m.newTarget, m.result, pc, sb, m.args}
			m.args, m.prg, m.stash, m.privEnv, m.pc, m.sp = n, fn.prg, (*gojaStash)(fn.stash), fn.privEnv, 0, sp
			if self.tab == tabArrow {
				stack[sp-n-1], stack[sp-n-2] = nil, stack[sp-n-1]
				m.newTarget = (*gojaArrow)(self.data).newTarget
			} else {
				stack[sp-n-1], stack[sp-n-2] = stack[sp-n-2], stack[sp-n-1]
			}
			if budget--; budget <= 0 || atomic.LoadUint32(&m.interrupted) != 0 {
				return
			}
			goto frame
		case opReturn:
			stack[sb-1] = stack[sp-1]
			m.sp = sb
			top := len(m.callStack) - 1
			c := &m.callStack[top]
			m.prg, m.stash, m.privEnv, m.newTarget, m.result, m.pc, m.sb, m.args = c.prg, (*gojaStash)(c.stash), c.privEnv, c.newTarget, c.result, c.pc+1, c.sb, c.args
			if c.prg != nil {
				*c = gojaContext{}
			}
			m.callStack = m.callStack[:top]
			goto frame
		case opEnter:
			e := (*gojaEnter)(in.data)
			missing := max(int(e.args)-m.args, 0)
			end := sp + missing + int(e.stackSize)
			if end >= len(stack) {
				goto other
			}
			sb = sp - m.args - 1
			for i := sp; i < sp+missing; i++ {
				stack[i] = valueUndefined
			}
			clear(stack[sp+missing : end])
			m.sb, sp = sb, end
			m.args += missing
			locals = sb + m.args
			pc++
			continue
		case opEnterBlock:
			e := (*gojaEnterBlock)(in.data)
			end := sp + int(e.stackSize)
			if e.stashSize > 0 || end >= len(stack) {
				goto other
			}
			clear(stack[sp:end])
			sp = end
			pc++
			continue
		case opLeaveBlock:
			e := (*gojaLeaveBlock)(in.data)
			if e.popStash {
				m.stash = m.stash.outer
			}
			sp -= int(e.stackSize)
			pc++
			continue
		default:
			goto other
		}

		// A value to be pushed, or to be computed with.
		if sp >= len(stack) {
			goto other
		}
		if pc+1 < len(code) {
			next := (*loopTable)(code[pc+1].tab).op
			switch {
			case next >= opAdd && next <= opGreaterEqual:
				if rk, r := numberIn(v); rk != noNumber {
					if lk, l := numberIn(&stack[sp-1]); lk != noNumber {
						k, bits = compute(next, lk, l, rk, r)
						at = sp - 1
						pc++
						goto chained
					}
				}
			case next >= opEqual && next <= opStrictNotEqual:
				if k, bits = equality(next, &stack[sp-1], v); k != noNumber {
					at = sp - 1
					pc++
					goto chained
				}
			case next == opIncrement || next == opDecrement:
				if k, bits = numberIn(v); k != noNumber {
					k, bits = unary(next, k, bits)
					at = sp
					pc++
					goto chained
				}
			}
		}
		stack[sp] = *v
		sp++
		pc++
		continue

	property:
		{
			w := wordsOf(&stack[sp-1])
			if w.tab != tabObject {
				goto other
			}
			v, known := property((*gojaObject)(w.data), *(*unistring.String)(in.data))
			if !known {
				goto other
			}
			if v == nil {
				v = valueUndefined
			}
			stack[sp-1] = v
			pc++
			continue
		}

	jump:
		{
			by := int(*(*int32)(in.data))
			if pc += by; by > 0 { // an empty loop jumps by 0
				continue
			}
			if budget--; budget <= 0 || atomic.LoadUint32(&m.interrupted) != 0 {
				m.pc, m.sp = pc, sp
				return
			}
			continue
		}

	chained:
		// A result that belongs in the stack at a place: as long as the next instructions
		// compute with it it stays outside, and one may store it.
		for pc++; pc < len(code); pc++ {
			in = &code[pc]
			switch op = (*loopTable)(in.tab).op; op {
			case opAdd, opSub, opMul, opDiv, opMod, opAnd, opOr, opXor, opSal, opSar, opShr, opLess, opLessEqual, opGreater, opGreaterEqual, opEqual, opNotEqual, opStrictEqual, opStrictNotEqual:
				if k == boolean {
					goto stored
				}
				lk, l := numberIn(&stack[at-1])
				if lk == noNumber {
					goto stored
				}
				k, bits = compute(op, lk, l, k, bits)
				at--
				continue
			case opLoadValue, opLoadStack, opLoadStackLex:
				if k == boolean || pc+1 >= len(code) {
					goto stored
				}
				then := (*loopTable)(code[pc+1].tab).op
				if then < opAdd || then > opStrictNotEqual {
					goto stored
				}
				p := (*goja.Value)(in.data)
				if op != opLoadValue {
					i := *(*int)(in.data)
					switch {
					case i > 0:
						p = &stack[locals+i]
					case i < 0 && op == opLoadStackLex && -i <= m.args:
						p = &stack[sb-i]
					default:
						goto stored
					}
				}
				rk, r := numberIn(p)
				if rk == noNumber {
					goto stored
				}
				k, bits = compute(then, k, bits, rk, r)
				pc++
				continue
			case opIncrement, opDecrement, opNegate, opPlus, opToNumber, opBitNot:
				if k == boolean {
					goto stored
				}
				k, bits = unary(op, k, bits)
				continue
			case opNot:
				if k != boolean {
					goto stored
				}
				bits ^= 1
				continue
			case opJumpIfNotP, opJumpIfP:
				if k != boolean {
					goto stored
				}
				if sp = at; (bits != 0) == (op == opJumpIfP) {
					goto jump
				}
				pc++
				continue loop
			case opSetElementP, opSetElementStrictP:
				if k == boolean {
					goto stored
				}
				w, i := wordsOf(&stack[at-2]), wordsOf(&stack[at-1])
				if w.tab != tabObject || i.tab != tabInteger {
					goto stored
				}
				self, index := (*gojaObject)(w.data).self, *(*uint64)(i.data)
				if self.tab != tabView {
					goto stored
				}
				if v := (*gojaView)(self.data); index >= uint64(v.length) || v.buffer().detached || !v.put(int(index), k, bits) {
					goto stored
				}
				sp = at - 2
				pc++
				continue loop
			default:
				goto stored
			}
		}

	stored:
		if k == boolean {
			if stack[at] = valueTrue; bits == 0 {
				stack[at] = valueFalse
			}
		} else if i := bits + smallBelow; k == integer && i < uint64(len(smallIntegers)) {
			*wordsOf(&stack[at]) = words{tabInteger, unsafe.Pointer(&smallIntegers[i])}
		} else {
			if numbers == nil {
				numbers = joined.joiner(unsafe.Pointer(m)).Numbers()
			}
			numbers.put(wordsOf(&stack[at]), k, bits)
		}
		sp = at + 1
		continue

	other:
		m.pc, m.sp = pc, sp
		if op == opOther {
			methodOf(in.tab)(in.data, unsafe.Pointer(m))
		} else {
			theLoop.originals[op](in.data, unsafe.Pointer(m))
		}
		if budget--; budget <= 0 || atomic.LoadUint32(&m.interrupted) != 0 {
			return
		}
		goto frame
	}
	m.pc, m.sp = pc, sp
}

// variableAt is a variable of a shared scope, level and index as goja has them.
func (m *gojaMachine) variableAt(place uint32) *goja.Value {
	s := m.stash
	for range place >> 24 {
		s = s.outer
	}
	return &s.values[place&0xffffff]
}

// truthOf is ToBoolean (ECMA-262, 7.1.2) of what the loop knows.
func truthOf(v *goja.Value) (is, known bool) {
	w := wordsOf(v)
	switch w.tab {
	case tabBoolean:
		return *(*bool)(w.data), true
	case tabUndefined, tabNull:
		return false, true
	case tabObject:
		return true, true
	case tabInteger:
		return *(*int64)(w.data) != 0, true
	case tabFloat:
		f := *(*float64)(w.data)
		return f != 0 && f == f, true
	case tabASCII:
		return len(*(*string)(w.data)) > 0, true
	}
	return false, false
}

// typeOf is what typeof answers, nil if goja has to say it.
func typeOf(v *goja.Value) goja.Value {
	switch w := wordsOf(v); w.tab {
	case tabBoolean:
		return typeNames[typeBoolean]
	case tabUndefined:
		return typeNames[typeUndefined]
	case tabNull:
		return typeNames[typeObject]
	case tabObject:
		switch (*gojaObject)(w.data).self.tab {
		case tabPlain, tabArray:
			return typeNames[typeObject]
		case tabFunction, tabMethod, tabArrow:
			return typeNames[typeFunction]
		}
	case tabInteger, tabFloat:
		return typeNames[typeNumber]
	case tabASCII, tabWide:
		return typeNames[typeString]
	}
	return nil
}

// equality is the result of == and its like; noNumber if goja has to do it.
func equality(op opcode, a, b *goja.Value) (kind, uint64) {
	l, r := wordsOf(a), wordsOf(b)
	if lk, lb := numberIn(a); lk != noNumber {
		if rk, rb := numberIn(b); rk != noNumber {
			return compute(op, lk, lb, rk, rb)
		}
	}
	equal := false
	switch {
	case l.tab != r.tab:
		if !simple(l.tab) || !simple(r.tab) {
			return noNumber, 0
		}
		if op == opEqual || op == opNotEqual {
			nothing := l.tab == tabUndefined || l.tab == tabNull
			other := r.tab == tabUndefined || r.tab == tabNull
			if !nothing && !other {
				return noNumber, 0 // a conversion
			}
			equal = nothing && other
		}
	case l.tab == tabASCII:
		equal = *(*string)(l.data) == *(*string)(r.data)
	case l.tab == tabObject:
		if equal = l.data == r.data; !equal && (!alone((*gojaObject)(l.data).self.tab) || !alone((*gojaObject)(r.data).self.tab)) {
			return noNumber, 0
		}
	case l.tab == tabBoolean:
		equal = *(*bool)(l.data) == *(*bool)(r.data)
	case l.tab == tabUndefined || l.tab == tabNull:
		equal = true
	default:
		return noNumber, 0
	}
	return numbers.Truth(equal == (op == opEqual || op == opStrictEqual))
}

// simple reports whether a value with this table is one that the loop knows.
func simple(tab unsafe.Pointer) bool {
	return tab == tabUndefined || tab == tabNull || tab == tabBoolean || tab == tabInteger || tab == tabFloat || tab == tabASCII || tab == tabObject
}

// alone reports whether an object of this implementation equals only itself.
func alone(self unsafe.Pointer) bool {
	return self == tabPlain || self == tabArray || self == tabFunction || self == tabMethod || self == tabArrow
}

// property is that of an ordinary object, or of those that it inherits from, nil for
// none; known is false if goja has to get it.
func property(o *gojaObject, name unistring.String) (v goja.Value, known bool) {
	for o.self.tab == tabPlain {
		b := (*Object)(o.self.data)
		if v := b.values[name]; v != nil {
			w := wordsOf(&v)
			if w.tab != tabProperty {
				return v, true
			}
			p := (*gojaProperty)(w.data)
			return p.value, p.value != nil && p.getterFunc == nil
		}
		if b.prototype == nil {
			return nil, true
		}
		o = mirrorOf(b.prototype)
	}
	return nil, false
}

// setElement writes an element, if nothing else has to be done; the value may be a number
// that a typed array converts.
func setElement(object, key, value *goja.Value) bool {
	w, i := wordsOf(object), wordsOf(key)
	if w.tab != tabObject || i.tab != tabInteger {
		return false
	}
	self, index := (*gojaObject)(w.data).self, *(*uint64)(i.data)
	switch self.tab {
	case tabArray:
		a := (*Array)(self.data)
		if index >= uint64(len(a.values)) {
			return index == uint64(len(a.values)) && a.Append(*value)
		}
		if tab := wordsOf(&a.values[index]).tab; tab == nil || tab == tabProperty {
			return false
		}
		a.values[index] = *value
		return true
	case tabView:
		v := (*gojaView)(self.data)
		k, bits := numberIn(value)
		return k != noNumber && index < uint64(v.length) && !v.buffer().detached && v.put(int(index), k, bits)
	}
	return false
}
