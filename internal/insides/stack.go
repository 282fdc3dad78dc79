package insides

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/interrupts"
)

// Mend takes away the try block that goja leaves behind when the call that
// starts an async function or a generator overflows: it has been opened by
// then, and is closed only after a call that succeeds. What is thrown next
// would end up in it.
func (m Machine) Mend() {
	if m.Source() != nil || *m.number(m.In.sb) != -1 || *m.number(m.In.pc) != -2 {
		return
	}
	if tries := (*sliceHeader)(unsafe.Add(m.at, m.In.tries)); tries.len > 0 {
		tries.len--
	}
}

// Bottom is what promise jobs stand on: one active call of a native function.
type Bottom struct {
	m            Machine
	root         goja.Value
	frame, calls reflect.Value // the call, and the machine's active calls
}

// BottomOf is the bottom of a machine whose function is root.
func (m Machine) BottomOf(root goja.Value) *Bottom {
	frame := reflect.New(m.In.callType).Elem()
	*(*int)(unsafe.Add(frame.Addr().UnsafePointer(), m.In.callSB)) = 1
	return &Bottom{m, root, frame, reflect.NewAt(reflect.SliceOf(m.In.callType), unsafe.Add(m.at, m.In.calls)).Elem()}
}

// Stand puts the bottom on a stack that is empty; leave takes it away.
func (b *Bottom) Stand() {
	b.calls.Set(reflect.Append(b.calls.Slice(0, 0), b.frame))
	stack := b.m.Stack()
	if len(*stack) < 2 {
		*stack = make([]goja.Value, 2, 1024)
	}
	(*stack)[0], (*stack)[1] = b.root, goja.Undefined()
	*b.m.number(b.m.In.sp) = 2
}

// Leave takes the bottom off the stack.
func (b *Bottom) Leave() {
	(*sliceHeader)(unsafe.Add(b.m.at, b.m.In.calls)).len = 0
	*b.m.number(b.m.In.sp) = 0
}

// InterruptFlag is goja's flag that an interrupt was asked for; it is read with
// sync/atomic.
func (m Machine) InterruptFlag() *uint32 { return (*uint32)(unsafe.Add(m.at, m.In.interrupted)) }

// NewInterrupts are those of a runtime. Where goja's insides are unknown nothing is taken back.
func NewInterrupts(vm *goja.Runtime) *interrupts.Interrupts {
	in := TheGoja()
	if !in.Known {
		return interrupts.New(vm, nil)
	}
	m := in.MachineOf(vm)
	return interrupts.New(vm, &interrupts.Places{
		Flag: m.InterruptFlag(), Lock: (*sync.Mutex)(unsafe.Add(m.at, in.lock)), Reason: (*any)(unsafe.Add(m.at, in.reason)),
	})
}
