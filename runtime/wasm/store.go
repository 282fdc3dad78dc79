package wasm

import (
	"context"
	"errors"
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// Store is the WebAssembly of one isolate. It costs nothing until it is used.
// Loop-confined.
type Store struct {
	engine *engine.Engine
	vm     *goja.Runtime
	ctx    context.Context // carries the store to tick
	opts   Options

	names   *goja.Object // WebAssembly, nil until it is used
	classes classes
	errors  map[string]*goja.Object
	helpers helpers
	jsTag   *tag
	trapped *goja.Object // the last trap

	instances []weak.Pointer[instance]
	contexts  map[uintptr]weak.Pointer[instance] // by what references to functions say of theirs
	memories  []weak.Pointer[memory]             // those that have given out a buffer
	growth    *growth
	extern    externs
	active    int // calls into modules that are in progress
}

// growth tells a store that memories have grown. It leads nowhere: wazero holds it.
type growth struct{ pending bool }

type storeKey struct{}

// Options are how an isolate's WebAssembly is.
type Options struct {
	// FromBytes lets modules be made of bytes while the global scope runs, as
	// production does since allow_eval_during_startup (2025-06-01). In handlers they
	// never are.
	FromBytes bool
}

// Install defines the global WebAssembly, which is made at its first use.
func Install(e *engine.Engine, o Options) *Store {
	s := &Store{opts: o, engine: e, vm: e.VM(), growth: &growth{}, contexts: map[uintptr]weak.Pointer[instance]{}}
	s.ctx = context.WithValue(context.Background(), storeKey{}, s)
	e.Lazies.Global("WebAssembly", func() goja.Value { return s.namespace() })
	return s
}

// Module is the WebAssembly.Module of code: what an import of a .wasm file gives.
func (s *Store) Module(code *Code) goja.Value {
	s.namespace()
	return s.classes.module.Wrap(code)
}

// tick is called by modules now and then, from the store's loop: it ends the turn
// if it has been interrupted.
func tick(ctx context.Context, _ []uint64) {
	s, ok := ctx.Value(storeKey{}).(*Store)
	if !ok {
		return
	}
	defer carry()
	s.engine.Natives.Pause()
}

// thrown carries what JavaScript throws through wazero, which wraps errors and
// prints the rest.
type thrown struct{ value any }

// Error implements error.
func (*thrown) Error() string { return "thrown by JavaScript" }

// carry is deferred where wazero calls JavaScript.
func carry() {
	if r := recover(); r != nil {
		panic(&thrown{r})
	}
}

// raise throws in JavaScript what a call into a module has ended with.
func (s *Store) raise(err error) {
	var t *thrown
	if errors.As(err, &t) {
		panic(t.value)
	}
	class, text := trapText(err)
	s.trapped = s.newError(class, text)
	s.addFrames(s.trapped, err)
	panic(s.trapped)
}
