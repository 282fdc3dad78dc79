package insides

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dop251/goja"
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

// Interrupts are the interrupts that are asked for of one machine. Some may be taken back
// while goja captures the stack for their error; goja holds its lock then, which is how a
// captured stack that belongs to an interrupt is told from others.
type Interrupts struct {
	vm *goja.Runtime
	m  Machine // its In is nil where goja's insides are unknown: nothing is taken back then

	mu      sync.Mutex    // held by who asks; never taken by who holds goja's lock
	asking  atomic.Uint32 // odd while who asks may hold goja's lock
	pending atomic.Bool   // the interrupt may be taken back; changed with goja's lock held
}

// NewInterrupts are those of a runtime.
func NewInterrupts(vm *goja.Runtime) *Interrupts {
	i := &Interrupts{vm: vm}
	if in := TheGoja(); in.Known {
		i.m = in.MachineOf(vm)
	}
	return i
}

func (i *Interrupts) lock() *sync.Mutex { return (*sync.Mutex)(unsafe.Add(i.m.at, i.m.In.lock)) }

// Ask interrupts the JavaScript that runs, as goja's Interrupt does, in place of an
// interrupt that is still to be seen. It waits while a stack is captured. Safe for
// concurrent use.
func (i *Interrupts) Ask(reason any, revocable bool) {
	if i.m.In == nil {
		i.vm.Interrupt(reason)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for {
		i.asking.Add(1)
		if i.lock().TryLock() {
			break
		}
		i.asking.Add(1)
		runtime.Gosched()
	}
	*(*any)(unsafe.Add(i.m.at, i.m.In.reason)) = reason
	i.pending.Store(revocable)
	atomic.StoreUint32(i.m.InterruptFlag(), 1)
	i.lock().Unlock()
	i.asking.Add(1)
}

// TakeBack takes a revocable interrupt back if goja captures the stack of its error at the
// moment, in which case it reports true: what is thrown then is thrown instead of the
// error. Call it where the JavaScript runs.
func (i *Interrupts) TakeBack() bool {
	if !i.pending.Load() {
		return false
	}
	for {
		before := i.asking.Load()
		if i.lock().TryLock() { // not the stack of an interrupt
			i.lock().Unlock()
			return false
		}
		if before%2 == 0 && before == i.asking.Load() {
			break // nobody else can have held it
		}
		runtime.Gosched()
	}
	if !i.pending.Load() { // another one has taken its place
		return false
	}
	i.pending.Store(false)
	atomic.StoreUint32(i.m.InterruptFlag(), 0)
	i.lock().Unlock()
	return true
}

// Drop takes back a revocable interrupt that no JavaScript has seen. Call it where
// JavaScript would run, while none does.
func (i *Interrupts) Drop() {
	if !i.pending.Load() {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pending.Load() { // nobody asks now
		i.pending.Store(false)
		i.vm.ClearInterrupt()
	}
}
