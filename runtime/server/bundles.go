package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/config"
)

// Bundles keeps what bundling has made, for servers that load the same projects
// again and again, also side by side: the lives of a simulated world. The files
// of the projects are read once. Its zero value is ready; safe for concurrent
// use.
type Bundles struct {
	// Dir, if not "", holds frozen bundles for other processes, which load the
	// same projects again and again: the lives of a real one. Keep puts them there.
	Dir string
	// Live keeps the bundlers, so that Renew only does again what has changed. Close
	// must be called.
	Live bool
	// Ahead, if not nil, compiles beside the servers what a bundle's start will evaluate and
	// what earlier processes evaluated (Remember). Simulated worlds are the same with it and
	// without.
	Ahead sched.Scheduler

	mu       sync.Mutex // guards what follows
	made     map[string]*keptBundle
	bundlers map[string]*bundle.Bundler
}

// Renew forgets the bundles: the files are read again.
func (b *Bundles) Renew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made = nil
}

// Remember writes to the servers' cache directories what their bundles evaluated until now, and
// the programs of that.
func (b *Bundles) Remember() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, k := range b.made { // order-independent: each has its own file
		if k.bundle != nil && !k.frozen {
			errs = append(errs, k.bundle.Remember(false), k.bundle.KeepPrograms())
		}
	}
	return errors.Join(errs...)
}

// Close ends the bundlers that Live has kept. Bundles stay usable.
func (b *Bundles) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, bundler := range b.bundlers { // order-independent: each ends by itself
		bundler.Close()
	}
	b.bundlers = nil
	return nil
}

// bundler is the one of a key, and what ends its use.
func (b *Bundles) bundler(key string, o bundle.Options) (*bundle.Bundler, func()) {
	if !b.Live {
		bundler := bundle.New(o)
		return bundler, bundler.Close
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bundlers == nil {
		b.bundlers = map[string]*bundle.Bundler{}
	}
	if b.bundlers[key] == nil {
		b.bundlers[key] = bundle.New(o)
	}
	return b.bundlers[key], func() {}
}

// keptBundle is made once, by whoever asks first; others wait.
type keptBundle struct {
	once   sync.Once
	bundle *bundle.Bundle
	frozen bool // it came from the directory
	err    error
}

func (b *Bundles) get(o bundle.Options) (*bundle.Bundle, error) {
	if b.Dir == "" {
		o.Spawn = nil // it belongs to one server; and who bundles must make no difference to the others
	}
	if b.Ahead != nil {
		o.Spawn = b.Ahead.Go
	}
	key := bundleKey(o)
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
		if b.Dir != "" {
			k.bundle = bundle.Thaw(b.file(key), o)
			k.frozen = k.bundle != nil
		}
		if k.frozen {
			return
		}
		bundler, end := b.bundler(key, o)
		defer end()
		k.bundle, k.err = bundler.Build()
	})
	return k.bundle, k.err
}

// bundleKey tells what is bundled from everything else, its builtins left out.
func bundleKey(o bundle.Options) string {
	return fmt.Sprintf("%q", []any{o.Dir, o.Entry, o.TSConfig, o.NoBundle, o.NoDefer, o.JSXFactory, o.JSXFragment, o.Alias, o.Define, o.Rules, o.Additional, o.Virtual, o.Mocks})
}

// Digest is a hash of a project as these bundles have it: what is bundled, its
// configuration file and its variables. What is bundled already is not bundled again.
//
// # Errors
//
// Those of bundling and of reading the files.
func (b *Bundles) Digest(p *config.Project, cacheDir string) (string, error) {
	o := Options{CacheDir: cacheDir}
	made, err := o.bundle(p)
	if err != nil {
		return "", fmt.Errorf("server: the project's digest: %w", err)
	}
	made.Spawn = nil
	bundle, err := b.get(made)
	if err != nil {
		return "", fmt.Errorf("server: the project's digest: %w", err)
	}
	sum, err := bundle.Digest()
	if err != nil {
		return "", fmt.Errorf("server: the project's digest: %w", err)
	}
	file, err := os.ReadFile(p.ConfigFile)
	if err != nil {
		return "", fmt.Errorf("server: the project's digest: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %d\n%s\n", sum, len(file), file)
	for _, v := range p.Vars {
		fmt.Fprintf(h, "%q %+v\n", v.Name, v.Value)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func (b *Bundles) file(key string) string {
	id := sha256.Sum256([]byte(key))
	return filepath.Join(b.Dir, "bundle-"+hex.EncodeToString(id[:6])+".frozen")
}

// Keep freezes in the directory what is not there yet, with all that was evaluated
// until now. The servers must have started.
func (b *Bundles) Keep() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for key, k := range b.made { // order-independent: a file for each
		if k.frozen || k.bundle == nil {
			continue
		}
		k.frozen = true
		if _, err := os.Stat(b.file(key)); err != nil {
			errs = append(errs, k.bundle.Freeze(b.file(key)))
		}
	}
	return errors.Join(errs...)
}
