package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// gojaFrameOf mirrors goja.StackFrame.
type gojaFrameOf struct {
	prg      unsafe.Pointer
	funcName unistring.String
	pc       int
}

// Call is a call on goja's stack: what runs, and where its receiver and
// arguments lie.
type Call struct {
	Program   unsafe.Pointer
	NewTarget goja.Value
	Sb        int
}

// Calls are the active calls that a stack shows, the innermost first.
func (m Machine) Calls(list []Call, most int) []Call {
	in, at := m.In, m.at
	list = list[:0]
	add := func(c Call) {
		if c.Program != nil || c.Sb > 0 {
			list = append(list, c)
		}
	}
	add(Call{*(*unsafe.Pointer)(unsafe.Add(at, in.program)), *(*goja.Value)(unsafe.Add(at, in.newTarget)), *m.number(in.sb)})
	calls := (*sliceHeader)(unsafe.Add(at, in.calls))
	size := in.callType.Size()
	for i := calls.len - 1; i >= 0 && len(list) < most; i-- {
		c := unsafe.Add(calls.data, uintptr(i)*size)
		add(Call{*(*unsafe.Pointer)(unsafe.Add(c, in.callProgram)), *(*goja.Value)(unsafe.Add(c, in.callNewTarget)), *(*int)(unsafe.Add(c, in.callSB))})
	}
	return list
}

// Runs reports whether fn is a function of that program.
func (in *Goja) Runs(fn *goja.Object, program unsafe.Pointer) bool {
	v := in.implementation(fn)
	offset, ok := in.programs[v.Type()]
	if !ok {
		return false
	}
	its := *(**goja.Program)(unsafe.Add(v.UnsafePointer(), offset))
	return its != nil && unsafe.Pointer(theWriting.latest(its)) == program
}

// Constructs reports whether c is a construction by fn, called by caller. goja leaves the
// target of a construction in place for what its constructor calls.
func (in *Goja) Constructs(fn *goja.Object, c, caller Call) bool {
	if c.NewTarget == nil || goja.IsUndefined(c.NewTarget) {
		return false
	}
	t := in.implementation(fn).Type()
	return t == in.class || t == in.plain && c.NewTarget != caller.NewTarget
}

// FrameName is where a frame keeps the name of its function.
func FrameName(f *goja.StackFrame) *unistring.String {
	return &(*gojaFrameOf)(unsafe.Pointer(f)).funcName
}

// FrameProgram is what a frame's function was compiled to; nil for a native.
func FrameProgram(f *goja.StackFrame) unsafe.Pointer {
	return (*gojaFrameOf)(unsafe.Pointer(f)).prg
}

// FramesKnown reports whether goja.StackFrame is as its mirror says.
var FramesKnown = learnt(learnFrames)

func learnFrames(l *look) bool {
	return l.Mirrors(reflect.TypeFor[gojaFrameOf](), reflect.TypeFor[goja.StackFrame]())
}
