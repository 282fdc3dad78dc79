package sqlstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/internal/disk"
)

// facetMagic begins every index file (workerd's server/facet-tree-index.h).
const facetMagic uint64 = 0xc4cdce5bc5b0ef57

const (
	maxFacetID   = 1<<16 - 1
	maxFacetName = 1<<16 - 1 // bytes
	facetHeader  = 4         // bytes: parent's id and length of the name
)

// Facet is one entry of an object's tree of facets. The root, which has no
// entry, has id 0; ids count from 1 in order of creation and are never reused.
type Facet struct {
	ID, Parent int
	Name       string
}

type facetKey struct {
	parent int
	name   string
}

// FacetIndex gives the facets of one object their numbers, durably, in the
// file <id>.facets. The format is workerd's: the magic number, then entries of
// parent id and name length, two bytes each, and the name; all little-endian.
// The file only grows. Loop-confined.
type FacetIndex struct {
	f      *disk.File
	disk   *disk.Disk
	path   string
	sum    []byte // the good part
	size   int64  // end of the last good entry
	facets []Facet
	byKey  map[facetKey]int
}

// OpenFacetIndex opens or creates an index on d, which may be nil. A tail that makes no sense is the
// trace of a crash while an entry was written, which nobody relied on; it is
// cut off. A file that begins with anything but the magic number is an error.
func OpenFacetIndex(d *disk.Disk, path string) (*FacetIndex, error) {
	f, err := d.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: facets: %w", err)
	}
	x := &FacetIndex{f: f, disk: d, path: path, byKey: make(map[facetKey]int)}
	if err := x.load(); err != nil {
		f.Close()
		return nil, fmt.Errorf("sqlstore: facets of %s: %w", path, err)
	}
	return x, nil
}

// ReadFacets lists the facets in an index file without changing it; a missing
// file has none.
func ReadFacets(path string) ([]Facet, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = checkSum(path, nil)
		if err == nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("sqlstore: facets: %w", err)
	}
	x := &FacetIndex{path: path, byKey: make(map[facetKey]int)}
	if err := errors.Join(checkSum(path, b), x.parse(b)); err != nil {
		return nil, fmt.Errorf("sqlstore: facets of %s: %w", path, err)
	}
	return x.facets, nil
}

func (x *FacetIndex) load() error {
	b, err := os.ReadFile(x.path)
	if err != nil {
		return err
	}
	if len(b) <= 8 {
		if err := errors.Join(checkSum(x.path, b), x.checkNumbers()); err != nil {
			return err
		}
		// New, or a crash while the magic number was written: no entry exists.
		var magic [8]byte
		binary.LittleEndian.PutUint64(magic[:], facetMagic)
		if err := x.append(magic[:]); err != nil {
			return err
		}
		return x.disk.SyncDir(filepath.Dir(x.path))
	}
	if err := errors.Join(checkSum(x.path, b), x.parse(b)); err != nil {
		return err
	}
	x.sum = append([]byte{}, b[:x.size]...)
	if err := x.checkNumbers(); err != nil {
		return err
	}
	if x.size < int64(len(b)) {
		return x.f.Truncate(x.size)
	}
	return nil
}

// parse reads entries up to the first that makes no sense.
func (x *FacetIndex) parse(b []byte) error {
	if len(b) <= 8 {
		return nil
	}
	if binary.LittleEndian.Uint64(b) != facetMagic {
		return errors.New("this is not an index of facets (unknown magic number)")
	}
	off := 8
	for off+facetHeader <= len(b) && len(x.facets) < maxFacetID {
		parent := int(binary.LittleEndian.Uint16(b[off:]))
		n := int(binary.LittleEndian.Uint16(b[off+2:]))
		if n == 0 || parent > len(x.facets) || off+facetHeader+n > len(b) {
			break
		}
		key := facetKey{parent, string(b[off+facetHeader : off+facetHeader+n])}
		if _, dup := x.byKey[key]; dup {
			break
		}
		x.add(key)
		off += facetHeader + n
	}
	x.size = int64(off)
	return nil
}

func (x *FacetIndex) add(k facetKey) int {
	id := len(x.facets) + 1
	x.facets = append(x.facets, Facet{ID: id, Parent: k.parent, Name: k.name})
	x.byKey[k] = id
	return id
}

// append writes at the end of the good part, syncs, and notes the checksum. After an
// error the file is as before, or its tail is ignored by the next load.
func (x *FacetIndex) append(b []byte) error {
	sum := append(x.sum, b...)
	_, err := x.f.WriteAt(b, x.size)
	if err == nil {
		err = x.f.Sync()
	}
	if err == nil {
		err = x.noteSum(sum)
	}
	if err != nil {
		return errors.Join(err, x.f.Truncate(x.size), x.forgetSum())
	}
	x.size += int64(len(b))
	x.sum = sum
	return nil
}

// Lookup gives the id of a facet that has one.
func (x *FacetIndex) Lookup(parent int, name string) (id int, ok bool) {
	id, ok = x.byKey[facetKey{parent, name}]
	return id, ok
}

// ID gives the id of the facet that parent (0 for the root) calls name. A facet
// seen for the first time gets the next number, which is on disk when ID
// returns. A name has 1 to 65,535 bytes, an object at most 65,535 facets in its
// life.
func (x *FacetIndex) ID(parent int, name string) (int, error) {
	k := facetKey{parent, name}
	if id, ok := x.byKey[k]; ok {
		return id, nil
	}
	switch {
	case name == "":
		return 0, errors.New("sqlstore: facets: a facet's name cannot be empty")
	case len(name) > maxFacetName:
		return 0, fmt.Errorf("sqlstore: facets: a facet's name may have %d bytes, not %d", maxFacetName, len(name))
	case parent < 0 || parent > len(x.facets):
		return 0, fmt.Errorf("sqlstore: facets: no facet has the id %d", parent)
	case len(x.facets) >= maxFacetID:
		return 0, fmt.Errorf("sqlstore: facets: an object may have %d facets in its life", maxFacetID)
	}
	b := make([]byte, facetHeader+len(name))
	binary.LittleEndian.PutUint16(b, uint16(parent))
	binary.LittleEndian.PutUint16(b[2:], uint16(len(name)))
	copy(b[facetHeader:], name)
	if err := x.append(b); err != nil {
		return 0, fmt.Errorf("sqlstore: facets of %s: %w", x.path, err)
	}
	return x.add(k), nil
}

// Children lists the facets directly below parent, by id.
func (x *FacetIndex) Children(parent int) []Facet {
	var out []Facet
	for _, f := range x.facets {
		if f.Parent == parent {
			out = append(out, f)
		}
	}
	return out
}

// All lists every facet, by id; the caller may keep the slice.
func (x *FacetIndex) All() []Facet { return append([]Facet(nil), x.facets...) }

// Close closes the file.
func (x *FacetIndex) Close() error {
	if err := x.f.Close(); err != nil {
		return fmt.Errorf("sqlstore: facets: %w", err)
	}
	return nil
}
