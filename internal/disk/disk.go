// Package disk is the file system for files that must survive: the data that reaches
// them, and what a power loss leaves of it. A nil *Disk is the system's files and
// nothing else. A *Disk from New also keeps in memory, for each file and directory,
// what is durable and what has been written since the last sync, so that Fall can
// write the files as a loss of power at that moment might leave them.
//
// The model is that of POSIX, which promises less than most file systems keep:
//   - a write is durable once the file was synced after it; before, each sector
//     of 512 bytes of it may be there or not, in any order;
//   - a file's name, its removal and its renaming are durable once its directory
//     was synced; before, they take effect in order, up to some point.
//
// SQLite's files are observed through sqlite.Options.Files.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Disk records what happens to files. The zero value is not ready: use New.
// Safe for concurrent use, as are the methods of a nil *Disk.
type Disk struct {
	// After, if set, is called after each operation that was recorded, without a
	// lock. Set it before the first one.
	After func(Operation)

	mu    sync.Mutex
	names map[string]*node    // as the system shows them, by path
	kept  map[string]*node    // as they would be after a loss of power, before pending
	dirs  map[string][]rename // by directory: what happened to names since its last sync
	count int
}

// Operation is one thing that happened to a file.
type Operation struct {
	Number int    // from 1
	Kind   string // "create", "write", "truncate", "sync", "remove", "rename", "mkdir", "syncdir"
	Path   string
}

// node is a file or a directory, whatever its names.
type node struct {
	dir     bool
	durable []byte
	pending []change // since the last sync
}

// change is a write, or a truncation if data is nil.
type change struct {
	at   int64 // offset, or the new size
	data []byte
}

// rename is a name that came to mean another node; nil: it was removed. What it
// replaces under another name (a rename) takes effect with it.
type rename struct {
	path, from string
	to         *node
}

// New returns a recording disk. What is on the disk before an operation touches
// it counts as durable.
func New() *Disk {
	return &Disk{names: map[string]*node{}, kept: map[string]*node{}, dirs: map[string][]rename{}}
}

// note counts an operation; it unlocks mu, which the caller holds.
func (d *Disk) note(kind, path string) {
	d.count++
	op := Operation{d.count, kind, path}
	d.mu.Unlock()
	if d.After != nil {
		d.After(op)
	}
}

// Opened implements sqlite.FileObserver: a file was opened; created says that it
// was not there before. A file that was counts as durable, as it is.
func (d *Disk) Opened(path string, created bool) {
	if d == nil {
		return
	}
	path = filepath.Clean(path)
	d.mu.Lock()
	if d.names[path] != nil {
		d.mu.Unlock()
		return
	}
	n := &node{}
	d.names[path] = n
	if created {
		d.name(rename{path: path, to: n})
		d.note("create", path)
		return
	}
	if b, err := os.ReadFile(path); err == nil {
		n.durable = b
	}
	d.kept[path] = n
	d.mu.Unlock()
}

// name adds what happened to a name to its directory's pending changes.
func (d *Disk) name(r rename) {
	dir := filepath.Dir(r.path)
	d.dirs[dir] = append(d.dirs[dir], r)
}

// Wrote implements sqlite.FileObserver: data was written at an offset.
func (d *Disk) Wrote(path string, at int64, data []byte) {
	d.change("write", path, change{at, append([]byte{}, data...)})
}

// Truncated implements sqlite.FileObserver: the file has a new size.
func (d *Disk) Truncated(path string, size int64) { d.change("truncate", path, change{at: size}) }

func (d *Disk) change(kind, path string, c change) {
	if d == nil {
		return
	}
	path = filepath.Clean(path)
	d.mu.Lock()
	n := d.names[path]
	if n == nil { // removed: what it holds can no longer be found
		d.mu.Unlock()
		return
	}
	n.pending = append(n.pending, c)
	d.note(kind, path)
}

// Sync makes durable what was written to the file at path. sync syncs the real
// file; a recording disk needs no such thing, and only remembers.
func (d *Disk) Sync(path string, sync func() error) error {
	if d == nil {
		return sync()
	}
	path = filepath.Clean(path)
	d.mu.Lock()
	if n := d.names[path]; n != nil {
		for _, c := range n.pending {
			n.durable = c.apply(n.durable)
		}
		n.pending = nil
	}
	d.note("sync", path)
	return nil
}

// Synced implements sqlite.FileObserver: the file was synced.
func (d *Disk) Synced(path string) {
	_ = d.Sync(path, func() error { return nil }) // it fails only if the function does
}

// Removed implements sqlite.FileObserver: the file's name is gone.
func (d *Disk) Removed(path string) {
	if d == nil {
		return
	}
	path = filepath.Clean(path)
	d.mu.Lock()
	if n := d.names[path]; n == nil && d.kept[path] == nil {
		d.kept[path] = &node{} // it was there, and nobody had opened it
	}
	delete(d.names, path)
	d.name(rename{path: path})
	d.note("remove", path)
}

// SyncedDir implements sqlite.FileObserver: the directory was synced, and with it
// the names of its files.
func (d *Disk) SyncedDir(dir string) {
	if d == nil {
		return
	}
	dir = filepath.Clean(dir)
	d.mu.Lock()
	for _, r := range d.dirs[dir] {
		r.apply(d.kept)
	}
	delete(d.dirs, dir)
	d.note("syncdir", dir)
}

// apply makes the change to what a file holds.
func (c change) apply(b []byte) []byte {
	end := c.at + int64(len(c.data))
	if grow := end - int64(len(b)); grow > 0 {
		b = append(b, make([]byte, grow)...)
	}
	if c.data == nil {
		return b[:c.at]
	}
	copy(b[c.at:], c.data)
	return b
}

// apply makes the change to a set of names.
func (r rename) apply(names map[string]*node) {
	if r.from != "" {
		delete(names, r.from)
	}
	if r.to == nil {
		delete(names, r.path)
	} else {
		names[r.path] = r.to
	}
}

// File is an open file whose writes are recorded. As safe as an *os.File.
type File struct {
	*os.File
	disk *Disk
}

// OpenFile is os.OpenFile.
func (d *Disk) OpenFile(path string, flag int, perm fs.FileMode) (*File, error) {
	if d == nil {
		f, err := os.OpenFile(path, flag, perm)
		return &File{File: f}, err
	}
	_, err := os.Stat(path)
	created := errors.Is(err, fs.ErrNotExist)
	if !created {
		d.Opened(path, false) // as it is before it is truncated
	}
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	if created {
		d.Opened(path, true)
	} else if flag&os.O_TRUNC != 0 {
		d.Truncated(path, 0)
	}
	return &File{f, d}, nil
}

// Write is (*os.File).Write, of files that are written from the beginning on.
func (f *File) Write(b []byte) (int, error) {
	at, err := f.Seek(0, 1)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Write(b)
	f.disk.Wrote(f.Name(), at, b[:n])
	return n, err
}

// WriteAt is (*os.File).WriteAt.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	f.disk.Wrote(f.Name(), at, b[:n])
	return n, err
}

// Truncate is (*os.File).Truncate.
func (f *File) Truncate(size int64) error {
	err := f.File.Truncate(size)
	if err == nil {
		f.disk.Truncated(f.Name(), size)
	}
	return err
}

// Sync is (*os.File).Sync.
func (f *File) Sync() error { return f.disk.Sync(f.Name(), f.File.Sync) }

// Remove is os.Remove.
func (d *Disk) Remove(path string) error {
	if d != nil {
		if _, err := os.Stat(path); err == nil {
			d.Opened(path, false)
		}
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	d.Removed(path)
	return nil
}

// Rename is os.Rename, within one directory.
func (d *Disk) Rename(from, to string) error {
	if d != nil {
		d.Opened(from, false)
		if _, err := os.Stat(to); err == nil {
			d.Opened(to, false)
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if d == nil {
		return nil
	}
	from, to = filepath.Clean(from), filepath.Clean(to)
	d.mu.Lock()
	n := d.names[from]
	delete(d.names, from)
	d.names[to] = n
	d.name(rename{path: to, from: from, to: n})
	d.note("rename", to)
	return nil
}

// SyncDir makes the names in a directory durable. Some systems cannot sync a
// directory; there a name is as durable as the system makes it.
func (d *Disk) SyncDir(dir string) error {
	if d != nil {
		d.SyncedDir(dir)
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// MkdirAll is os.MkdirAll with a sync of each directory that gets a new name.
func (d *Disk) MkdirAll(dir string, perm fs.FileMode) error {
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("it is a file")}
		}
		return nil
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrNotExist}
	}
	if err := d.MkdirAll(parent, perm); err != nil {
		return err
	}
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if d != nil {
		d.mu.Lock()
		n := &node{dir: true}
		d.names[dir] = n
		d.name(rename{path: dir, to: n})
		d.note("mkdir", dir)
	}
	return d.SyncDir(parent)
}
