package wasm

import (
	"context"
	"runtime"
	"weak"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"minido.dev/minido/internal/insides/instances"
)

// instance is an instance of a module, or of a module of our own (code is nil)
// that holds what JavaScript made or passes on what another exports. wazero's side
// never leads back here but weakly; when nothing of JavaScript does, it is closed.
// Loop-confined.
type instance struct {
	store  *Store
	code   *Code
	mod    api.Module
	engine instances.Engine
	linear *linear // the memory that it defines, if any

	imports   []imported // the functions
	functions map[uint32]*function
	byCode    map[instances.Code]uint32
	memories  []*memory
	tables    []*table
	globals   []*global
	tags      []*tag
	thrown    instances.Cell         // what it has thrown, if its exceptions are its own
	links     map[*instance]struct{} // kept alive
	providers []*instance            // kept alive: what the imports came through
}

// remains are what is left to close of an instance.
type remains struct {
	mod      api.Module
	host     api.Module
	hostCode wazero.CompiledModule
	borrowed bool // its memory is another's
}

func (r *remains) close() {
	ctx := context.Background()
	// Closing frees memory alone; its errors are those of files, of which there are none.
	if r.mod != nil {
		if r.borrowed {
			instances.WithoutMemory(r.mod)
		}
		_ = r.mod.Close(ctx)
	}
	if r.host != nil {
		_ = r.host.Close(ctx)
		_ = r.hostCode.Close(ctx)
	}
}

// born registers an instance, to be closed when it is out of reach.
func (s *Store) born(i *instance, r *remains) {
	runtime.AddCleanup(i, (*remains).close, r)
	if len(s.instances) == cap(s.instances) {
		s.living()
	}
	s.instances = append(s.instances, weak.Make(i))
}

// living are the instances that can still be reached.
func (s *Store) living() []*instance {
	var all []*instance
	kept := s.instances[:0]
	for _, w := range s.instances {
		if i := w.Value(); i != nil {
			all, kept = append(all, i), append(kept, w)
		}
	}
	s.instances = kept
	for at, w := range s.contexts { // order-independent: each entry is looked at alone
		if w.Value() == nil {
			delete(s.contexts, at)
		}
	}
	return all
}

// join makes two instances keep each other alive.
func join(a, b *instance) {
	if a == b || a == nil || b == nil {
		return
	}
	for _, pair := range [][2]*instance{{a, b}, {b, a}} {
		if pair[0].links == nil {
			pair[0].links = map[*instance]struct{}{}
		}
		pair[0].links[pair[1]] = struct{}{}
	}
}

// instantiate makes wazero's instance of compiled code. from gives the modules that
// imports name. The linear memory, if the module defines one, is i's.
func (s *Store) instantiate(i *instance, compiled wazero.CompiledModule, from func(name string) api.Module) error {
	e, err := theCompiler()
	if err != nil {
		return err
	}
	ctx := s.ctx
	if from != nil {
		ctx = experimental.WithImportResolver(ctx, from)
	}
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		i.linear = &linear{growth: s.growth, most: min(most, maxMemory)}
		return i.linear
	}))
	err = guarded(func() (err error) {
		i.mod, err = e.runtime.InstantiateModule(ctx, compiled, anonymous())
		return err
	})
	if err == nil {
		i.engine = instances.EngineOf(i.mod)
	}
	return err
}

// home is an instance of a module of our own.
func (s *Store) home(binary []byte, from *instance) *instance {
	i := &instance{store: s}
	e, err := theCompiler()
	if err != nil {
		s.throw("RuntimeError", "%v", err)
	}
	compiled, kept, err := e.home(binary)
	if err == nil {
		var resolve func(string) api.Module
		if from != nil {
			resolve = func(string) api.Module { return from.mod }
			i.providers = []*instance{from}
		}
		err = s.instantiate(i, compiled, resolve)
	}
	if err != nil {
		s.throw("RuntimeError", "%v", err)
	}
	s.born(i, &remains{mod: i.mod, borrowed: from != nil && i.linear == nil})
	if kept {
		return i
	}
	runtime.AddCleanup(i, func(m wazero.CompiledModule) { _ = m.Close(context.Background()) }, compiled) // frees memory; no error
	return i
}
