package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"minido.dev/minido/internal/entropy"
)

// sector is what a disk writes wholly or not at all.
const sector = 512

// Fall writes the files below root, as a loss of power at this moment might
// leave them, below to. chance chooses what survives of that which was not
// synced; nil: nothing does. Files that nobody recorded are copied as they are;
// skip names those that are no state (shared memory).
func (d *Disk) Fall(root, to string, chance entropy.Source, skip func(rel string) bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	root = filepath.Clean(root)
	s := d.surviving(chance)
	paths := make([]string, 0, len(s))
	for path := range s {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		rel, ok := strings.CutPrefix(path, root+string(filepath.Separator))
		if !ok || skip(rel) || !d.reachable(s, path) {
			continue
		}
		if err := write(filepath.Join(to, rel), s[path], chance); err != nil {
			return fmt.Errorf("disk: fall: %s: %w", rel, err)
		}
	}
	return d.unrecorded(root, to, s, skip)
}

// surviving is what each name means after the loss of power.
func (d *Disk) surviving(chance entropy.Source) map[string]*node {
	s := make(map[string]*node, len(d.kept))
	for path, n := range d.kept { // order-independent: a copy
		s[path] = n
	}
	dirs := make([]string, 0, len(d.dirs))
	for dir := range d.dirs {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		pending := d.dirs[dir]
		for _, r := range pending[:upTo(chance, len(pending))] {
			r.apply(s)
		}
	}
	return s
}

// upTo draws a number from 0 to n; without chance it is 0.
func upTo(chance entropy.Source, n int) int {
	if chance == nil {
		return 0
	}
	return int(chance.Uint64() % uint64(n+1))
}

// reachable says whether the recorded directories above a path survive.
func (d *Disk) reachable(s map[string]*node, path string) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if n := d.names[dir]; n != nil && n.dir && s[dir] == nil {
			return false
		}
	}
	return true
}

// write writes what survives of a node.
func write(path string, n *node, chance entropy.Source) error {
	if n.dir {
		return os.MkdirAll(path, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, n.surviving(chance), 0o600)
}

// surviving is what the file holds after the loss of power. Chance takes one of
// three courses: nothing survives; everything up to a sector in the middle of a
// write (a torn tail); each sector by itself.
func (n *node) surviving(chance entropy.Source) []byte {
	b := append([]byte{}, n.durable...)
	if chance == nil || len(n.pending) == 0 {
		return b
	}
	keep := func() bool { return chance.Uint64()&1 == 0 }
	switch chance.Uint64() % 3 {
	case 0:
		return b
	case 1:
		left := upTo(chance, n.sectors())
		keep = func() bool { left--; return left >= 0 }
	}
	for _, c := range n.pending {
		if c.data == nil {
			if keep() {
				b = c.apply(b)
			}
			continue
		}
		for at := int64(0); at < int64(len(c.data)); {
			end := min((c.at+at)/sector*sector+sector-c.at, int64(len(c.data)))
			if keep() {
				b = change{c.at + at, c.data[at:end]}.apply(b)
			}
			at = end
		}
	}
	return b
}

// sectors counts what surviving asks about.
func (n *node) sectors() (count int) {
	for _, c := range n.pending {
		if c.data == nil {
			count++
		} else {
			count += int((c.at+int64(len(c.data))-1)/sector - c.at/sector + 1)
		}
	}
	return count
}

// unrecorded copies the files that no operation was recorded of.
func (d *Disk) unrecorded(root, to string, s map[string]*node, skip func(string) bool) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.names[path] != nil || s[path] != nil {
			if e.IsDir() && !d.reachable(s, filepath.Join(path, "x")) {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if skip(rel) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
}

// Survivors is what a loss of power at one moment leaves of the files in some
// directories. One from Freeze is used by one goroutine.
type Survivors struct {
	disk  *Disk
	in    func(path string) bool
	files map[string][]byte // by path
}

// Freeze takes, of the files for which in reports true, what a loss of power now
// leaves: what was synced and nothing else.
func (d *Disk) Freeze(in func(path string) bool) *Survivors {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := &Survivors{disk: d, in: in, files: map[string][]byte{}}
	s := d.surviving(nil)
	for path, n := range s { // order-independent: a copy
		if !n.dir && in(path) && d.reachable(s, path) {
			v.files[path] = n.surviving(nil)
		}
	}
	return v
}

// Restore brings the files back to what they were frozen as: what has happened to
// them since, and what had not been synced before, is undone. Nobody may have one
// of them open. Directories stay.
func (v *Survivors) Restore() error {
	d := v.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for path, n := range d.names { // order-independent: each is a file of its own
		if _, survives := v.files[path]; !survives && !n.dir && v.in(path) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	d.drop(v.in)
	for path, b := range v.files { // order-independent: each is a file of its own
		if err := os.WriteFile(path, b, 0o600); err != nil {
			errs = append(errs, err)
		}
		n := &node{durable: b}
		d.names[path], d.kept[path] = n, n
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("disk: restore: %w", err)
	}
	return nil
}

// drop forgets the files for which in reports true, and what was done to their names.
func (d *Disk) drop(in func(path string) bool) {
	for dir, pending := range d.dirs { // order-independent: each keeps its own
		d.dirs[dir] = slices.DeleteFunc(pending, func(r rename) bool { return in(r.path) })
	}
	file := func(path string, n *node) bool { return !n.dir && in(path) }
	maps.DeleteFunc(d.names, file)
	maps.DeleteFunc(d.kept, file)
}
