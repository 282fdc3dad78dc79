package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// store keeps lowered files on disk, in two packs per entry: installed
// packages, which rarely change, and the project's own files, which do. A pack
// is read whole at the first build and replaced whole when a file was lowered
// that it lacks. A damaged pack counts as empty.
//
// The fields after mu are guarded by it; the packs are read before the first
// use and only replaced by save.
type store struct {
	paths    [2]string // "" without a cache directory
	usesPath string    // "" without a cache directory

	mu    sync.Mutex
	packs [2]map[[sha256.Size]byte]*lowered
	soft  map[softKey]bool // imports known to be allowed to fail
	dirty bool             // soft has entries that the packs lack
	uses  map[useKey]bool  // what earlier processes evaluated
}

// useKey is a file's content, or a part of it.
type useKey struct {
	file [sha256.Size]byte
	part string
}

func useOf(u *unit) useKey {
	k := useKey{file: u.low.key}
	if u.whole != nil {
		_, k.part, _ = strings.Cut(u.name, "#")
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
	s := &store{soft: map[softKey]bool{}, uses: map[useKey]bool{}}
	for i := range s.packs {
		s.packs[i] = map[[sha256.Size]byte]*lowered{}
	}
	if dir == "" {
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
	s.usesPath = filepath.Join(dir, fmt.Sprintf("bundle-%s.uses", hex.EncodeToString(id[:6])))
	if data, err := os.ReadFile(s.usesPath); err == nil {
		s.uses = decodeUses(data)
	}
	return s
}

// expects reports whether an earlier process evaluated the unit.
func (s *store) expects(u *unit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uses) > 0 && u.low != nil && s.uses[useOf(u)]
}

// remember replaces what is said to be used, if it differs.
func (s *store) remember(uses map[useKey]bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.usesPath == "" || maps.Equal(uses, s.uses) {
		return nil
	}
	s.uses = uses
	return writeFile(s.usesPath, encodeUses(uses))
}

// A file of uses is the version, their number, each one's key and part, and a CRC-32C
// like that of a pack.
func encodeUses(uses map[useKey]bool) []byte {
	w := packWriter{}
	w.text(cacheVersion)
	w.number(len(uses))
	for _, k := range slices.SortedFunc(maps.Keys(uses), func(a, b useKey) int {
		return cmp.Or(slices.Compare(a.file[:], b.file[:]), strings.Compare(a.part, b.part))
	}) {
		w.buf = append(w.buf, k.file[:]...)
		w.text(k.part)
	}
	return binary.LittleEndian.AppendUint32(w.buf, crc32.Checksum(w.buf, castagnoli))
}

// decodeUses is empty for a file that is damaged or of another version: it only costs time.
func decodeUses(data []byte) map[useKey]bool {
	uses := map[useKey]bool{}
	body, ok := checked(data)
	r := packReader{data: body}
	if !ok || r.text() != cacheVersion {
		return uses
	}
	for n := r.number(); n > 0 && !r.bad; n-- {
		k := useKey{}
		copy(k.file[:], r.take(len(k.file)))
		k.part = r.text()
		uses[k] = true
	}
	if r.bad {
		clear(uses)
	}
	return uses
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
		if err := writeFile(s.paths[i], s.encodePack(list)); err != nil {
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

// writeFile replaces path in one step, so that no reader meets half a file.
func writeFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create cache directory: %w", err)
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	defer func() {
		if err != nil {
			if rerr := os.Remove(f.Name()); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, rerr)
			}
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(fmt.Errorf("write cache: %w", err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	return nil
}

// A pack is the version, the number of files, the files, and a CRC-32C of all
// that. Numbers are unsigned varints, texts are length and bytes.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *store) encodePack(list []*lowered) []byte {
	w := packWriter{}
	w.text(cacheVersion)
	w.number(len(list))
	for _, l := range list {
		w.buf = append(w.buf, l.key[:]...)
		w.lowered(l)
		var soft []importRef
		for _, ref := range l.imports {
			if s.soft[softKey{l.key, ref}] {
				soft = append(soft, ref)
			}
		}
		w.refs(soft)
	}
	return binary.LittleEndian.AppendUint32(w.buf, crc32.Checksum(w.buf, castagnoli))
}

func decodePack(data []byte) ([]*lowered, bool) {
	body, ok := checked(data)
	r := packReader{data: body}
	if !ok || r.text() != cacheVersion {
		return nil, false
	}
	var list []*lowered
	for n := r.number(); n > 0 && !r.bad; n-- {
		l := &lowered{}
		copy(l.key[:], r.take(len(l.key)))
		r.lowered(l)
		l.soft = r.refs()
		list = append(list, l)
	}
	return list, !r.bad
}

// checked is a pack without its check sum, if that is right.
func checked(data []byte) (body string, ok bool) {
	end := len(data) - crc32.Size
	if end < 0 || crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return "", false
	}
	return string(data[:end]), true
}

func (w *packWriter) lowered(l *lowered) {
	w.number(int(l.format))
	w.flag(l.async)
	w.text(l.code)
	w.number(l.cut)
	w.texts(l.helpers)
	w.refs(l.imports)
	w.texts(l.exports)
	w.texts(l.stars)
	w.texts(l.mocked)
	w.flag(l.mocking)
	w.number(len(l.hoisted))
	for _, line := range l.hoisted {
		w.number(line)
	}
	w.number(len(l.parts))
	for _, p := range l.parts {
		w.text(p.path)
		w.lowered(p.low)
	}
}

func (r *packReader) lowered(l *lowered) {
	l.format = format(r.number())
	l.async = r.flag()
	l.code = r.text()
	l.cut = r.number()
	l.helpers = r.texts()
	l.imports = r.refs()
	l.exports = r.texts()
	l.stars = r.texts()
	l.mocked = r.texts()
	l.mocking = r.flag()
	for n := r.number(); n > 0 && !r.bad; n-- {
		l.hoisted = append(l.hoisted, r.number())
	}
	for n := r.number(); n > 0 && !r.bad; n-- {
		p := part{path: r.text(), low: &lowered{key: l.key}}
		r.lowered(p.low)
		l.parts = append(l.parts, p)
	}
}

type packWriter struct{ buf []byte }

func (w *packWriter) number(n int) { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }

func (w *packWriter) flag(b bool) {
	if b {
		w.number(1)
	} else {
		w.number(0)
	}
}

func (w *packWriter) text(s string) {
	w.number(len(s))
	w.buf = append(w.buf, s...)
}

func (w *packWriter) texts(list []string) {
	w.number(len(list))
	for _, s := range list {
		w.text(s)
	}
}

func (w *packWriter) refs(list []importRef) {
	w.number(len(list))
	for _, ref := range list {
		w.text(ref.tagged())
	}
}

// packReader reads what packWriter wrote; texts share data's memory. bad is
// set once the data ends early.
type packReader struct {
	data string
	bad  bool
}

func (r *packReader) take(n int) string {
	if n < 0 || n > len(r.data) {
		r.bad, n = true, 0
	}
	s := r.data[:n]
	r.data = r.data[n:]
	return s
}

func (r *packReader) number() int {
	head := r.data[:min(len(r.data), binary.MaxVarintLen64)]
	n, size := binary.Uvarint([]byte(head))
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.data = r.data[size:]
	return int(n)
}

func (r *packReader) text() string { return r.take(r.number()) }

func (r *packReader) texts() []string {
	var list []string
	for n := r.number(); n > 0 && !r.bad; n-- {
		list = append(list, r.text())
	}
	return list
}

func (r *packReader) refs() []importRef {
	var list []importRef
	for n := r.number(); n > 0 && !r.bad; n-- {
		ref, ok := parseTagged(r.text())
		r.bad = r.bad || !ok
		list = append(list, ref)
	}
	return list
}
