// Package interrupts asks for interrupts of goja's machine, and takes some of them back.
package interrupts

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"
)

// Interrupts are the interrupts that are asked for of one machine. Some may be taken back
// while goja captures the stack for their error; goja holds its lock then, which is how a
// captured stack that belongs to an interrupt is told from others.
type Interrupts struct {
	vm *goja.Runtime
	at *Places

	mu      sync.Mutex    // held by who asks; never taken by who holds goja's lock
	asking  atomic.Uint32 // odd while who asks may hold goja's lock
	pending atomic.Bool   // the interrupt may be taken back; changed with goja's lock held
}

// Places is where a machine keeps its interrupt.
type Places struct {
	Flag   *uint32     // that there is one; read with sync/atomic
	Lock   *sync.Mutex // held while the stack of its error is captured
	Reason *any
}

// New are those of a runtime; nil places are not known, and nothing is taken back.
func New(vm *goja.Runtime, at *Places) *Interrupts { return &Interrupts{vm: vm, at: at} }

// Ask interrupts the JavaScript that runs, as goja's Interrupt does, in place of an
// interrupt that is still to be seen. It waits while a stack is captured. Safe for
// concurrent use.
func (i *Interrupts) Ask(reason any, revocable bool) {
	if i.at == nil {
		i.vm.Interrupt(reason)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for {
		i.asking.Add(1)
		if i.at.Lock.TryLock() {
			break
		}
		i.asking.Add(1)
		runtime.Gosched()
	}
	*i.at.Reason = reason
	i.pending.Store(revocable)
	atomic.StoreUint32(i.at.Flag, 1)
	i.at.Lock.Unlock()
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
		if i.at.Lock.TryLock() { // not the stack of an interrupt
			i.at.Lock.Unlock()
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
	atomic.StoreUint32(i.at.Flag, 0)
	i.at.Lock.Unlock()
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
