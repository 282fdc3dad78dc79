package engine

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// mend takes away the try block that goja leaves behind when the call that
// starts an async function or a generator overflows: it has been opened by
// then, and is closed only after a call that succeeds. What is thrown next
// would end up in it.
func (m machine) mend() {
	if m.source() != nil || *m.number(m.in.sb) != -1 || *m.number(m.in.pc) != -2 {
		return
	}
	if tries := (*sliceHeader)(unsafe.Add(m.at, m.in.tries)); tries.len > 0 {
		tries.len--
	}
}

// bottom is what promise jobs stand on: one active call of a native function.
type bottom struct {
	m            machine
	root         goja.Value
	frame, calls reflect.Value // the call, and the machine's active calls
}

// bottomOf is the bottom of a machine whose function is root.
func (m machine) bottomOf(root goja.Value) *bottom {
	frame := reflect.New(m.in.callType).Elem()
	*(*int)(unsafe.Add(frame.Addr().UnsafePointer(), m.in.callSB)) = 1
	return &bottom{m, root, frame, reflect.NewAt(reflect.SliceOf(m.in.callType), unsafe.Add(m.at, m.in.calls)).Elem()}
}

// stand puts the bottom on a stack that is empty; leave takes it away.
func (b *bottom) stand() {
	b.calls.Set(reflect.Append(b.calls.Slice(0, 0), b.frame))
	stack := b.m.stack()
	if len(*stack) < 2 {
		*stack = make([]goja.Value, 2, 1024)
	}
	(*stack)[0], (*stack)[1] = b.root, goja.Undefined()
	*b.m.number(b.m.in.sp) = 2
}

func (b *bottom) leave() {
	(*sliceHeader)(unsafe.Add(b.m.at, b.m.in.calls)).len = 0
	*b.m.number(b.m.in.sp) = 0
}

// interruptFlag is goja's flag that an interrupt was asked for; it is read with
// sync/atomic.
func (m machine) interruptFlag() *uint32 { return (*uint32)(unsafe.Add(m.at, m.in.interrupted)) }
