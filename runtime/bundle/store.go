package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"minido.dev/minido/runtime/bundle/pack"
	"minido.dev/minido/runtime/bundle/programs"
	"minido.dev/minido/runtime/bundle/uses"
)

// store keeps lowered files on disk, in two packs per entry: installed
// packages, which rarely change, and the project's own files, which do. A pack
// is read whole at the first build and replaced whole when a file was lowered
// that it lacks. A damaged pack counts as empty.
//
// The fields after mu are guarded by it; the packs are read before the first
// use and only replaced by save.
type store struct {
	paths    [2]string  // "" without a cache directory
	uses     *uses.List // what earlier processes evaluated
	programs *programs.Store

	mu    sync.Mutex
	packs [2]map[[sha256.Size]byte]*lowered
	soft  map[softKey]bool // imports known to be allowed to fail
	dirty bool             // soft has entries that the packs lack
}

// useOf is what is kept of the unit by.
func useOf(u *unit) uses.Key {
	k := uses.Key{File: u.low.key}
	if u.whole != nil {
		_, k.Part, _ = strings.Cut(u.name, "#")
	}
	return k
}

type softKey struct {
	file [sha256.Size]byte
	ref  importRef
}

const (
	packDeps = iota
	packOwn
)

func packOf(u *unit) int {
	if inNodeModules(u.path) {
		return packDeps
	}
	return packOwn
}

func openStore(dir, entry string) *store {
	s := &store{soft: map[softKey]bool{}}
	for i := range s.packs {
		s.packs[i] = map[[sha256.Size]byte]*lowered{}
	}
	if dir == "" {
		s.uses = uses.Read("", cacheVersion)
		s.programs = programs.Open("")
		return s
	}
	id := sha256.Sum256([]byte(entry))
	for i, kind := range []string{"deps", "own"} {
		s.paths[i] = filepath.Join(dir, fmt.Sprintf("bundle-%s.%s", hex.EncodeToString(id[:6]), kind))
		data, err := os.ReadFile(s.paths[i])
		if err != nil {
			continue // no cache yet, or none that can be read: both only cost time
		}
		if list, ok := decodePack(data); ok {
			for _, l := range list {
				s.packs[i][l.key] = l
				for _, ref := range l.soft {
					s.soft[softKey{l.key, ref}] = true
				}
			}
		}
	}
	s.uses = uses.Read(filepath.Join(dir, fmt.Sprintf("bundle-%s.uses", hex.EncodeToString(id[:6]))), cacheVersion)
	s.programs = programs.Open(filepath.Join(dir, fmt.Sprintf("bundle-%s.programs", hex.EncodeToString(id[:6]))))
	return s
}

// expects reports whether an earlier process evaluated the unit.
func (s *store) expects(u *unit) bool { return s.turn(u) >= 0 }

// turn is how many others that process evaluated before; -1 if it did not.
func (s *store) turn(u *unit) int {
	if u.low == nil {
		return -1
	}
	return s.uses.Turn(useOf(u))
}

func (s *store) get(key [sha256.Size]byte) *lowered {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		if l := p[key]; l != nil {
			return l
		}
	}
	return nil
}

// maySoft reports, and setSoft remembers, that the import may fail to resolve.
func (s *store) maySoft(l *lowered, ref importRef) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.soft[softKey{l.key, ref}]
}

func (s *store) setSoft(l *lowered, ref importRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.soft[softKey{l.key, ref}] = true
	s.dirty = true
}

// save writes the packs that lack one of the units.
func (s *store) save(units map[string]*unit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lists [2][]*lowered
	var stale [2]bool
	for _, name := range slices.Sorted(maps.Keys(units)) {
		u := units[name]
		if u.low == nil || u.low.format == formatText || u.low.format == formatData || u.low.format == formatWasm || u.low.globs != nil {
			continue
		}
		i := packOf(u)
		if s.packs[i][u.low.key] == nil {
			stale[i] = true
		}
		lists[i] = append(lists[i], u.low)
	}
	var errs []error
	for i, list := range lists {
		if s.paths[i] == "" || !stale[i] && !s.dirty {
			continue
		}
		slices.SortFunc(list, func(a, b *lowered) int { return slices.Compare(a.key[:], b.key[:]) })
		list = slices.CompactFunc(list, func(a, b *lowered) bool { return a.key == b.key })
		if err := pack.WriteFile(s.paths[i], s.encodePack(list)); err != nil {
			errs = append(errs, err)
			continue
		}
		s.packs[i] = map[[sha256.Size]byte]*lowered{}
		for _, l := range list {
			s.packs[i][l.key] = l
		}
	}
	s.dirty = false
	return errors.Join(errs...)
}

// A pack is the version, the number of files, the files, and a CRC-32C of all
// that. Numbers are unsigned varints, texts are length and bytes.

func (s *store) encodePack(list []*lowered) []byte {
	w := packWriter{}
	w.Text(cacheVersion)
	w.Number(len(list))
	for _, l := range list {
		w.Bytes(l.key[:])
		w.lowered(l)
		var soft []importRef
		for _, ref := range l.imports {
			if s.soft[softKey{l.key, ref}] {
				soft = append(soft, ref)
			}
		}
		w.refs(soft)
	}
	return w.Sealed()
}

func decodePack(data []byte) ([]*lowered, bool) {
	body, ok := pack.Open(data)
	r := packReader{body}
	if !ok || r.Text() != cacheVersion {
		return nil, false
	}
	var list []*lowered
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		l := &lowered{}
		copy(l.key[:], r.Take(len(l.key)))
		r.lowered(l)
		l.soft = r.refs()
		list = append(list, l)
	}
	return list, !r.Bad
}

func (w *packWriter) lowered(l *lowered) {
	w.Number(int(l.format))
	w.Flag(l.async)
	w.Text(l.code)
	w.Number(l.cut)
	w.Texts(l.helpers)
	w.refs(l.imports)
	w.Texts(l.exports)
	w.Texts(l.stars)
	w.Texts(l.mocked)
	w.Flag(l.mocking)
	w.Numbers(l.hoisted)
	w.Number(len(l.parts))
	for _, p := range l.parts {
		w.Text(p.path)
		w.lowered(p.low)
	}
}

func (r *packReader) lowered(l *lowered) {
	l.format = format(r.Number())
	l.async = r.Flag()
	l.code = r.Text()
	l.cut = r.Number()
	l.helpers = r.Texts()
	l.imports = r.refs()
	l.exports = r.Texts()
	l.stars = r.Texts()
	l.mocked = r.Texts()
	l.mocking = r.Flag()
	l.hoisted = r.Numbers()
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		p := part{path: r.Text(), low: &lowered{key: l.key}}
		r.lowered(p.low)
		l.parts = append(l.parts, p)
	}
}

type packWriter struct{ pack.Writer }

func (w *packWriter) refs(list []importRef) {
	w.Number(len(list))
	for _, ref := range list {
		w.Text(ref.tagged())
	}
}

// packReader reads what packWriter wrote.
type packReader struct{ pack.Reader }

func (r *packReader) refs() []importRef {
	var list []importRef
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		ref, ok := parseTagged(r.Text())
		r.Bad = r.Bad || !ok
		list = append(list, ref)
	}
	return list
}
