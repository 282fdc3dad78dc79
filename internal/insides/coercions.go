package insides

import (
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
)

// An object pattern refuses undefined and null (ECMA-262, section 13.15.5.2), in goja at
// once. V8 does it at once only where the pattern begins otherwise than with a key that is
// written out. Where it does not, it is reading the first property that fails, and by then
// V8 has looked at what that is assigned to: at `O.n` in ({ a: O.n.b } = null). So the two
// instructions that refuse let such a pattern begin if that is a member.

// coercions is what the replacements need to know. Immutable after learn.
type coercions struct {
	known               bool
	whole, rest         instructionKind // of a pattern, and of one that ends with a rest
	dup, load, key, get unsafe.Pointer  // the method tables of what reads a property with a key
	theirs              *Goja
	walk                programWalk
}

// theCoercions is written once, by learn, before any program is changed.
var theCoercions coercions

func (co *coercions) learn(l *look) {
	co.theirs = TheGoja()
	if !l.Is("goja.Object.self", "known", co.theirs.Known) {
		return
	}
	program, err := goja.Compile("", "(function (a, d) { ({ b: a } = 1); ({ b: a, ...d } = 1); })", false)
	if !l.Is("an instruction", "compiled", err == nil) || !l.Known() {
		return
	}
	co.walk = programWalk{theirs: co.theirs, places: map[unsafe.Pointer][]uintptr{}}
	names := [5]string{1: "_dup", 2: "loadVal", 3: "_toPropertyKey", 4: "_getKey"}
	read := 0 // properties, behind both instructions
	co.walk.all(program, func(code []words) {
		for i := range max(len(code)-len(names), 0) {
			switch t := co.walk.typeOf(&code[i]); {
			case t.Name() == "_checkObjectCoercible" && t.Size() == 0:
				co.whole = replaced(code[i].tab, beginWhole)
			case t.Name() == "_createDestructSrc" && t.Size() == 0:
				co.rest = replaced(code[i].tab, beginRest)
			default:
				continue
			}
			names[0] = co.walk.typeOf(&code[i]).Name()
			if !slices.ContainsFunc(names[:], func(name string) bool { i++; return co.walk.typeOf(&code[i-1]).Name() != name }) {
				co.dup, co.load, co.key, co.get = code[i-4].tab, code[i-3].tab, code[i-2].tab, code[i-1].tab
				read++
			}
		}
	})
	l.Is("goja._checkObjectCoercible", "the instruction of patterns", co.whole.ours != nil)
	l.Is("goja._createDestructSrc", "the instruction of patterns with a rest", co.rest.ours != nil)
	l.Is("the program of a pattern", "behind that instruction the reading of its first property", read == 2)
	co.known = l.Known()
}

// instrument has a pattern begin if V8 does. It comes before what follows in code is
// changed.
func (co *coercions) instrument(code []words) {
	if tab := code[0].tab; tab != co.whole.table && tab != co.rest.table || !co.assignsMember(code) {
		return
	}
	if code[0].tab == co.whole.table {
		code[0].tab = unsafe.Pointer(co.whole.ours)
	} else {
		code[0].tab = unsafe.Pointer(co.rest.ours)
	}
}

// assignsMember reports whether the instruction of a pattern is followed by a key that is
// written out, and then by neither the reading of the property nor the search for a variable.
func (co *coercions) assignsMember(code []words) bool {
	if len(code) < 5 || code[1].tab != co.dup || code[2].tab != co.load || code[3].tab != co.key || code[4].tab == co.get {
		return false
	}
	t := co.walk.typeOf(&code[4])
	return t.Kind() != reflect.Pointer && !strings.HasPrefix(t.Name(), "resolve")
}

// beginWhole is the method of the instruction of a pattern, which leaves its value where it is.
func beginWhole(instruction, machine unsafe.Pointer) {
	co := &theCoercions
	if m := (Machine{co.theirs, machine}); m.refused() {
		*m.number(m.In.pc)++
		return
	}
	co.whole.original(instruction, machine)
}

// beginRest is the method of that of a pattern with a rest, which pushes something that
// remembers the keys.
func beginRest(instruction, machine unsafe.Pointer) {
	co := &theCoercions
	if m := (Machine{co.theirs, machine}); m.refused() {
		push(machine, m.Peek(1))
		*m.number(m.In.pc)++
		return
	}
	co.rest.original(instruction, machine)
}

// refused reports whether the value on the top of the stack has no properties.
func (m Machine) refused() bool {
	v := m.Peek(1)
	return goja.IsUndefined(v) || goja.IsNull(v)
}
