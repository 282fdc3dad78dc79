package insides

import (
	"errors"
	"math/big"
	"reflect"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/written"
)

// To parse and compile what the agents' packages evaluate takes half of a start. So programs are
// written (package written) and read again, function by function. A function that has not been
// read has one instruction, which reads it and goes on in it.

// writing is how programs are written. Immutable after learn.
type writing struct {
	known  bool
	format *written.Format
	unread *instructionTable
}

// theWriting is written once, by learn, before any program is changed.
var theWriting writing

func (w *writing) learn(l *look) {
	in, plain := TheGoja(), ThePlainLayout()
	if !l.Is("goja.Object.self", "known", in.Known && plain.Known) {
		return
	}
	program := reflect.TypeFor[goja.Program]()
	l.beginning(reflect.TypeFor[written.Program](), program)
	l.Is("goja.Program", "struct of 4 members", program.NumField() == 4)
	places := l.Kind(program, "srcMap", reflect.Slice)
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer).Type
	l.beginning(reflect.TypeFor[gojaMachine](), machine)
	samples, err := goja.Compile("", written.Samples+written.LoopSamples, false)
	if !l.Is("an instruction", "compiled", err == nil) || !l.Known() || !l.Mirrors(reflect.TypeFor[written.Place](), places.Type.Elem()) {
		return
	}
	walk := programWalk{theirs: in, places: map[unsafe.Pointer][]uintptr{}}
	var list []*written.Words
	var pattern reflect.Type
	walk.each(samples, func(i *words) {
		list = append(list, (*written.Words)(unsafe.Pointer(i)))
		t := walk.typeOf(i)
		if t.Kind() != reflect.Pointer {
			return
		}
		switch t.Elem().Name() {
		case "newRegexp":
			pattern = l.Kind(t, "pattern", reflect.Pointer).Type
			l.beginning(reflect.TypeFor[written.Pattern](), pattern)
		case "getTaggedTmplObject":
			raw := *(*[]goja.Value)(unsafe.Add(i.data, l.Typed(t, "raw", reflect.TypeFor[[]goja.Value]())))
			if l.Is("an item of a template's object", "a property", len(raw) > 0 && wordsOf(&raw[0]).tab == plain.property) {
				l.Mirrors(reflect.TypeFor[written.Property](), reflect.TypeOf(raw[0]).Elem())
			}
		case "leaveBlock":
			if l.Mirrors(reflect.TypeFor[gojaLeaveBlock](), t.Elem()) && w.unread == nil { // whoever looks for pointers in it finds none
				ours := *(*instructionTable)(i.tab)
				l.Is("the method table of an instruction", "its type's, as internal/abi.ITab has it", ours.value == typeWord(t))
				ours.exec = reflect.ValueOf(readFunction).Pointer()
				w.unread = &ours
			}
		}
	})
	l.Is("goja.newRegexp", "an instruction", pattern != nil)
	if l.Is("goja.leaveBlock", "an instruction", w.unread != nil); !l.Known() {
		return
	}
	long := goja.New().ToValue(big.NewInt(1))
	w.format = written.NewFormat(list, map[string]bool{"*goja.yieldMarker": true}, written.Values{ASCII: plain.ascii, Wide: plain.wide, Integer: plain.integer, Float: plain.float, Boolean: plain.boolean, Property: plain.property,
		BigInt: wordsOf(&long).tab, ASCIIString: plain.asciiString, WideString: plain.wideString},
		pattern, unsafe.Pointer(w.unread), func(i *written.Words) reflect.Type { return walk.typeOf((*words)(unsafe.Pointer(i))) })
	w.known = l.Known()
}

// ProgramFormat tells this build's way of WriteProgram from others; "" if goja's layout is unknown.
func ProgramFormat() string {
	if !Instrument(nil) || !theWriting.known {
		return ""
	}
	return theWriting.format.Mark()
}

// WriteProgram is a program, whether or not it was instrumented, as bytes that ReadProgram reads.
// The error says what in it cannot be written. Safe for concurrent use.
func WriteProgram(program *goja.Program) (data []byte, err error) {
	if !Instrument(nil) || !theWriting.known {
		return nil, errors.New("the layout of goja's programs is unknown")
	}
	return theWriting.format.Write(program)
}

// ReadProgram is the program that WriteProgram has written, instrumented; name and source are those that
// it was compiled from. It must be of this ProgramFormat, and unchanged. Safe for concurrent use.
func ReadProgram(data, name, source string) *goja.Program {
	if !Instrument(nil) || !theWriting.known {
		return nil
	}
	program, _ := theWriting.format.Read(data, name, source, func(p *goja.Program) { Instrument(p) }) // nil with an error
	return program
}

// readFunction is the method of the one instruction of a function that may not have been
// read: the machine goes on with the first one of the function.
func readFunction(instruction, machine unsafe.Pointer) {
	f, m := (*written.Function)(instruction), (*gojaMachine)(machine)
	unread := m.prg
	m.prg = (*goja.Program)(unsafe.Pointer(f.Read()))
	if at := m.sp - m.args - 2; at >= 0 && at < len(m.stack) { // what is called
		if fn := scripted(m.stack[at]); fn != nil && fn.prg == unread {
			fn.prg = m.prg
		}
	}
}

// looksHome reports whether an instruction stands for a function in which something looks for a
// home object.
func (w *writing) looksHome(i *words) bool {
	return w.known && i.tab == unsafe.Pointer(w.unread) && (*written.Function)(i.data).Super()
}

// latest is a program, or what was read where it stands for a function.
func (w *writing) latest(p *goja.Program) *goja.Program {
	if !w.known {
		return p
	}
	if f := w.format.OfUnread(p); f != nil {
		return f.Latest()
	}
	return p
}

// scripted is the implementation of a function, method or arrow function; nil for other values.
func scripted(v goja.Value) *gojaScripted {
	w := wordsOf(&v)
	if w.tab != tabObject {
		return nil
	}
	if self := (*gojaObject)(w.data).self; self.tab == tabFunction || self.tab == tabMethod || self.tab == tabArrow {
		return (*gojaScripted)(self.data)
	}
	return nil
}
