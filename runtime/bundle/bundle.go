package bundle

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"minido.dev/minido/runtime/bundle/uses"
)

// Bundle is a linked worker: immutable to its users, safe for concurrent use, and loadable
// into any number of runtimes. It stays usable after its Bundler is closed.
type Bundle struct {
	// Warnings are esbuild's about the project's own files.
	Warnings []Message

	bundler *Bundler // for options and, after errors, source maps
	modules []*module
	byName  map[string]int
	entry   int
	// additional are the modules that may be imported by a computed name.
	additional     map[string]int
	unreached      string   // why import() of a variable finds no more files, "" if it does
	order          []int    // what loading evaluates, in order
	mockedBuiltins []string // modules of the host that some file mocks
	frozen         bool     // it came from a file: what is wanted is evaluated at once
	mapped         sync.Map // an original for each source that came out of a file's own source map, by name
	positions      sync.Map // a mappedPosition for each position that was asked for and found
	texts          sync.Map // the text of a function in its file, "" for none, by that in the program
}

// ExportNames are the names that the entry exports, sorted, `default` among
// them. A worker in service-worker format has none.
func (b *Bundle) ExportNames() []string { return slices.Clone(b.modules[b.entry].names) }

// Async reports whether evaluating the entry waits for a top-level await.
func (b *Bundle) Async() bool { return b.modules[b.entry].waits }

// Source is the text of a file as named in stacks and messages, for code
// frames; false if it can no longer be read.
func (b *Bundle) Source(file string) (string, bool) {
	id, ok := b.byName[file]
	if !ok {
		o, ok := b.mapped.Load(file)
		if !ok {
			return "", false
		}
		return o.(original).text()
	}
	m := b.modules[id]
	if m.text != "" {
		return m.text, true
	}
	if text, ok := b.bundler.opts.Virtual[m.path]; ok {
		return text, true
	}
	text, err := os.ReadFile(m.path)
	return string(text), err == nil
}

// Files are the worker's own modules as they were read, by their names in
// stacks and messages; files of packages are left out.
func (b *Bundle) Files() map[string][]byte {
	files := map[string][]byte{}
	for _, m := range b.modules {
		if m.whole != nil || inNodeModules(m.path) || !filepath.IsAbs(m.path) {
			continue
		}
		if text, ok := b.Source(m.name); ok {
			files[m.name] = []byte(text)
		}
	}
	return files
}

// Digest is a hash of all that was bundled: the names and texts of its modules, packages
// included, as the disk has them now.
//
// # Errors
//
// That a file can no longer be read.
func (b *Bundle) Digest() (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(b.byName)) {
		text, ok := b.Source(name)
		if !ok {
			return sum, fmt.Errorf("bundle: %s can no longer be read", name)
		}
		fmt.Fprintf(h, "%q %d\n%s\n", name, len(text), text)
	}
	copy(sum[:], h.Sum(nil))
	return sum, nil
}

// precompile starts compiling what loading will need, so that it overlaps with
// the rest of the start.
func (b *Bundle) precompile() {
	spawn := b.bundler.opts.Spawn
	if spawn == nil {
		return
	}
	spawn("bundle.compile", b.compile)
	for _, m := range b.modules {
		if m.low != nil && m.low.format == formatWasm {
			spawn("bundle.wasm", b.compileWasm)
			return
		}
	}
}

// expected is a unit that earlier processes evaluated, as number turn.
type expected struct {
	unit *unit
	turn int
}

// compileEarly compiles what earlier processes evaluated while other files are still looked
// for.
func (b *Bundler) compileEarly(u *unit) {
	if b.opts.Spawn == nil {
		return
	}
	begin := false
	for _, v := range append([]*unit{u}, u.parts...) {
		turn := b.store.turn(v)
		if v.low.code == "" || turn < 0 {
			continue
		}
		b.mu.Lock()
		at, _ := slices.BinarySearchFunc(b.early, turn, func(e expected, turn int) int { return cmp.Compare(turn, e.turn) })
		b.early = slices.Insert(b.early, at, expected{v, turn})
		begin = begin || !b.busy
		b.busy = true
		b.mu.Unlock()
	}
	if begin {
		b.opts.Spawn("bundle.early", b.compileNext)
	}
}

// compileNext compiles what is to be compiled early, until nothing is left.
func (b *Bundler) compileNext() {
	for {
		b.mu.Lock()
		if len(b.early) == 0 {
			b.busy = false
			b.mu.Unlock()
			return
		}
		last := len(b.early) - 1
		u := b.early[last].unit
		b.early = b.early[:last]
		b.mu.Unlock()
		_, _ = u.program() // an error is kept in the unit and met again at its use
	}
}

// compileWasm compiles the WebAssembly modules, one after the other.
func (b *Bundle) compileWasm() {
	for _, m := range b.modules {
		if m.low != nil && m.low.format == formatWasm {
			m.compileWasm()
		}
	}
}

// compile compiles what loading evaluates, and what is known to be used.
func (b *Bundle) compile() {
	compile := func(m *module) {
		if m.low != nil && m.low.code != "" {
			// An error is kept in the unit and met again at its use.
			_, _ = m.program()
		}
	}
	for _, id := range b.order {
		compile(b.modules[id])
	}
	for _, m := range b.inUse(true) {
		compile(m)
	}
}

// inUse lists the modules that were evaluated, in that order; behind them, with expected, those
// that earlier processes evaluated.
func (b *Bundle) inUse(expected bool) []*module {
	var used, more []*module
	for _, m := range b.modules {
		if m.low == nil || m.low.code == "" {
			continue
		}
		if m.used.Load() {
			used = append(used, m)
		} else if expected && b.bundler.store.expects(m.unit) {
			more = append(more, m)
		}
	}
	slices.SortFunc(used, func(x, y *module) int { return x.used.Compare(&y.used) })
	slices.SortFunc(more, func(x, y *module) int { return cmp.Compare(b.bundler.store.turn(x.unit), b.bundler.store.turn(y.unit)) })
	return append(used, more...)
}

// Remember writes to the cache directory which modules were evaluated until now, so that
// later builds compile them ahead (Options.Spawn), too, in the same order. With add, what
// earlier processes evaluated counts as well. Without a cache directory it does nothing. Safe
// for concurrent use.
func (b *Bundle) Remember(add bool) error {
	var keys []uses.Key
	for _, m := range b.inUse(add) {
		keys = append(keys, useOf(m.unit))
	}
	return b.bundler.store.uses.Replace(keys)
}

// KeepPrograms adds the programs of the modules that are compiled to those in the cache
// directory, so that later processes need not compile them. Without a cache directory it does
// nothing. Safe for concurrent use.
func (b *Bundle) KeepPrograms() error {
	var keys []uses.Key
	for _, m := range b.modules {
		if m.compiled.Load() {
			keys = append(keys, useOf(m.unit))
		}
	}
	kept := b.bundler.store.programs
	if !kept.Lacks(keys) {
		return nil
	}
	list := map[uses.Key]string{}
	for _, m := range b.modules {
		if m.low == nil || m.low.code == "" {
			continue
		}
		key := useOf(m.unit)
		// Writing a program costs as much as compiling it: what an earlier call or process has
		// written is taken.
		text, has := kept.Find(key)
		if m.compiled.Load() && (!has || m.unit.spoiled.Swap(false)) {
			text, has = m.unit.write(), true
		}
		if has {
			list[key] = text
		}
	}
	return kept.Save(list)
}
