// Package dynamic is the life of a worker whose code comes at run time: handed over, loaded at
// its first use, ended.
package dynamic

import (
	"slices"
	"sync"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// Worker is a worker that is loaded when it is first used, once its code is there. Safe
// for concurrent use.
type Worker struct {
	name string
	load Load

	mu      sync.Mutex   // guards the fields below
	code    *driver.Code // nil before it was handed over
	loading bool
	settled bool
	closed  bool
	loaded  driver.Loaded
	err     error
	waiting []func() // calls that came before the code, in order
	// objects is the same code in an isolate on the loop of the objects that have
	// facets of its classes; nil: there are none.
	objects *Worker
}

// Load loads code, whose references it takes over, and tells once, on any goroutine.
type Load func(driver.Code, func(driver.Loaded, error))

// New makes a worker without code; name is "" for one without.
func New(name string, load Load) *Worker { return &Worker{name: name, load: load} }

// Name is the worker's name, "" for one without.
func (w *Worker) Name() string { return w.name }

// Usable reports whether calls of the worker may still succeed: it has not ended, and its code
// has not failed.
func (w *Worker) Usable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.closed && w.err == nil && (w.loaded == nil || w.loaded.Alive()) && (w.objects == nil || w.objects.Usable())
}

// Provide hands the code over, with the references of its env.
func (w *Worker) Provide(code driver.Code) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		release(code)
		return
	}
	w.code = &code
	objects := w.objects
	w.mu.Unlock()
	if objects != nil {
		objects.Provide(withEnv(code))
	}
	w.begin()
}

// begin loads the code when it is there and somebody waits for it.
func (w *Worker) begin() {
	w.mu.Lock()
	if w.code == nil || w.loading || w.closed || len(w.waiting) == 0 {
		w.mu.Unlock()
		return
	}
	w.loading = true
	code := withEnv(*w.code)
	w.mu.Unlock()
	w.load(code, w.settle)
}

// release gives up what the env of code refers to.
func release(code driver.Code) {
	if code.Env == nil {
		return
	}
	for _, reference := range code.Env.Caps {
		if capability, ok := reference.(event.Capability); ok {
			capability.Release()
		}
	}
}

// withEnv is the code with an env of its own: who loads it takes that over.
func withEnv(code driver.Code) driver.Code {
	if code.Env != nil {
		code.Env = copied(code.Env)
	}
	return code
}

// copied is a payload with references of its own.
func copied(p *event.Payload) *event.Payload {
	c := &event.Payload{Bytes: p.Bytes, Caps: slices.Clone(p.Caps)}
	for i, reference := range c.Caps {
		if capability, ok := reference.(event.Capability); ok {
			c.Caps[i] = capability.Dup()
		}
	}
	return c
}

func (w *Worker) settle(loaded driver.Loaded, err error) {
	w.mu.Lock()
	if w.settled || w.closed {
		w.mu.Unlock()
		if loaded != nil {
			loaded.Close()
		}
		return
	}
	w.settled, w.loaded, w.err = true, loaded, err
	waiting := w.waiting
	w.waiting = nil
	w.mu.Unlock()
	for _, fn := range waiting {
		fn()
	}
}

// Fail says that the code did not come, to those who wait for its objects, too.
func (w *Worker) Fail(err error) {
	w.mu.Lock()
	objects := w.objects
	w.mu.Unlock()
	w.settle(nil, err)
	if objects != nil {
		objects.settle(nil, err)
	}
}

// ErrEnded is what callers of a worker get whose isolate had to make room, or
// whose session ends.
var ErrEnded = &event.Error{Message: "The dynamic worker has been unloaded; load it again, or give it a name."}

// Close ends the worker, and gives up what its env refers to. Those who wait get ErrEnded.
func (w *Worker) Close() {
	w.mu.Lock()
	loaded, waiting, objects := w.loaded, w.waiting, w.objects
	if !w.closed {
		w.closed, w.err = true, ErrEnded
		if w.code != nil {
			release(*w.code)
		}
	}
	w.waiting = nil
	w.mu.Unlock()
	for _, fn := range waiting {
		fn()
	}
	if loaded != nil {
		loaded.Close()
	}
	if objects != nil {
		objects.Close()
	}
}

// ForObjects is the same code on the loop of e, for objects of its classes.
func (w *Worker) ForObjects(e *engine.Engine) *Worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.objects == nil {
		w.objects = &Worker{name: w.name, load: w.load, closed: w.closed}
		w.objects.load = func(code driver.Code, done func(driver.Loaded, error)) {
			code.Beside = e
			w.load(code, done)
		}
		switch {
		case w.err != nil:
			w.objects.settled, w.objects.err = true, w.err
		case w.code != nil:
			code := withEnv(*w.code)
			w.objects.code = &code
		}
	}
	return w.objects
}

// When calls fn with the worker once it is loaded, or with why it is not.
func (w *Worker) When(fn func(driver.Loaded, error)) {
	w.mu.Lock()
	if !w.settled && !w.closed {
		w.waiting = append(w.waiting, func() { w.When(fn) })
		w.mu.Unlock()
		w.begin()
		return
	}
	loaded, err := w.loaded, w.err
	w.mu.Unlock()
	fn(loaded, err)
}
