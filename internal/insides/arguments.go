package insides

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
)

// A function that says `arguments` gets an object with a property for each argument and
// three more. Compilers' helpers ask that object for its length and for nothing else
// (`arguments.length < 3 ? a : b` in the helpers of private members). Such a function
// gets a string of that length instead: nothing can tell the two apart by their length.

// fewArguments is up to how many arguments there is such a string.
const fewArguments = 16

// counting is what the replacement needs to know. Immutable after learn.
type counting struct {
	known            bool
	mapped, unmapped instructionKind // what makes the objects, in functions of both modes
	arguments        uintptr         // how many there are, in the virtual machine
	lengths          [fewArguments]goja.Value
	theirs           *Goja
	programs         programWalk
}

// theCounting is written once, by learn, before any program is changed.
var theCounting counting

func (c *counting) learn(l *look) {
	c.theirs = TheGoja()
	c.programs = programWalk{theirs: c.theirs, places: map[unsafe.Pointer][]uintptr{}}
	if !l.Is("goja.Object.self", "known", c.theirs.Known) {
		return
	}
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer)
	c.arguments = l.Typed(machine.Type, "args", reflect.TypeFor[int]())
	for _, source := range []string{"(function (a) { return arguments.length; })", "(function (a) { 'use strict'; return arguments.length; })"} {
		program, err := goja.Compile("", source, false)
		if !l.Is(source, "compiled", err == nil) || !l.Known() {
			return
		}
		found := false
		c.programs.all(program, func(code []words) {
			at := c.onlyCounted(code)
			found = found || at >= 0
			switch {
			case at < 0:
			case c.programs.typeOf(&code[at]).Name() == "createArgsMapped":
				c.mapped = replaced(code[at].tab, countArguments)
			case c.programs.typeOf(&code[at]).Name() == "createArgsUnmapped":
				c.unmapped = replaced(code[at].tab, countArgumentsStrictly)
			}
		})
		l.Is("the program of "+source, "a place in the stack that is set once and asked for its length", found)
	}
	l.Is("goja.createArgsMapped", "the instruction that makes arguments", c.mapped.ours != nil)
	l.Is("goja.createArgsUnmapped", "the instruction that makes arguments of strict functions", c.unmapped.ours != nil)
	var nobody *goja.Runtime // strings belong to none
	for n := range c.lengths {
		c.lengths[n] = nobody.ToValue(strings.Repeat(" ", n)).ToString()
	}
	c.known = l.Known()
}

// onlyCounted is where a function makes its arguments, if all that it does with them is
// to read their length; -1 otherwise.
func (c *counting) onlyCounted(code []words) (at int) {
	at = -1
	for i := range code {
		if name := c.programs.typeOf(&code[i]).Name(); name == "createArgsMapped" || name == "createArgsUnmapped" {
			at = i
			break
		}
	}
	if at < 0 || at+1 >= len(code) || c.programs.typeOf(&code[at+1]).Name() != "initStack1P" {
		return -1
	}
	place := *(*int)(code[at+1].data)
	for i := range code {
		t := c.programs.typeOf(&code[i])
		switch {
		case i == at+1 || !strings.Contains(t.Name(), "Stack"):
		case t.Kind() != reflect.Int && t.Kind() != reflect.Struct, strings.Contains(t.Name(), "Mixed"):
			return -1
		case t.Kind() != reflect.Int || *(*int)(code[i].data) != place:
		case t.Name() != "loadStack1" || i+1 == len(code) || !c.readsLength(&code[i+1]):
			return -1
		}
	}
	return at
}

// readsLength reports whether an instruction reads the property "length" of what is on
// the stack.
func (c *counting) readsLength(instruction *words) bool {
	t := c.programs.typeOf(instruction)
	return t.Name() == "getProp" && t.Kind() == reflect.String && *(*string)(instruction.data) == "length"
}

// instrument has a function make no arguments of which it reads the length alone.
func (c *counting) instrument(code []words) {
	for i := range code {
		if tab := code[i].tab; tab != c.mapped.table && tab != c.unmapped.table {
			continue
		}
		if at := c.onlyCounted(code); at == i && code[i].tab == c.mapped.table {
			code[i].tab = unsafe.Pointer(c.mapped.ours)
		} else if at == i {
			code[i].tab = unsafe.Pointer(c.unmapped.ours)
		}
		return
	}
}

func countArguments(instruction, machine unsafe.Pointer) {
	theCounting.count(&theCounting.mapped, instruction, machine)
}

func countArgumentsStrictly(instruction, machine unsafe.Pointer) {
	theCounting.count(&theCounting.unmapped, instruction, machine)
}

// count is the method of the two instructions.
func (c *counting) count(kind *instructionKind, instruction, machine unsafe.Pointer) {
	m := Machine{c.theirs, machine}
	n := *m.number(c.arguments)
	if n >= fewArguments {
		kind.original(instruction, machine)
		return
	}
	push(machine, c.lengths[n])
	*m.number(c.theirs.pc)++
}
