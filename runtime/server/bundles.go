package server

import (
	"fmt"
	"sync"

	"minido.dev/minido/runtime/bundle"
)

// Bundles keeps what bundling has made, for servers that load the same projects
// again and again, also side by side: the lives of a simulated world. The files
// of the projects are read once. Its zero value is ready; safe for concurrent
// use.
type Bundles struct {
	mu   sync.Mutex // guards made
	made map[string]*keptBundle
}

// keptBundle is made once, by whoever asks first; others wait.
type keptBundle struct {
	once   sync.Once
	bundle *bundle.Bundle
	err    error
}

func (b *Bundles) get(o bundle.Options) (*bundle.Bundle, error) {
	o.Spawn = nil // it belongs to one server; and who bundles must make no difference to the others
	key := fmt.Sprintf("%q", []any{o.Dir, o.Entry, o.TSConfig, o.NoBundle, o.NoDefer, o.JSXFactory, o.JSXFragment, o.Alias, o.Define, o.Rules, o.Additional})
	b.mu.Lock()
	k := b.made[key]
	if k == nil {
		if b.made == nil {
			b.made = map[string]*keptBundle{}
		}
		k = &keptBundle{}
		b.made[key] = k
	}
	b.mu.Unlock()
	k.once.Do(func() {
		bundler := bundle.New(o)
		defer bundler.Close()
		k.bundle, k.err = bundler.Build()
	})
	return k.bundle, k.err
}
