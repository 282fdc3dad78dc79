package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Copy is what the files of a directory held at one moment. Used by one goroutine.
type Copy struct {
	disk  *Disk // nil: the system's
	root  string
	in    func(path string) bool
	files map[string]copied // by path
}

type copied struct {
	data     []byte
	recorded bool
}

// CopyOf takes what the files below root hold for which in reports true; nobody may
// write to them meanwhile. A root that does not exist has none. d may be nil.
func (d *Disk) CopyOf(root string, in func(path string) bool) (*Copy, error) {
	c := &Copy{disk: d, root: root, in: in, files: map[string]copied{}}
	err := c.each(func(path string) error {
		data, err := os.ReadFile(path)
		c.files[path] = copied{data, d.records(path)}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("disk: copy: %w", err)
	}
	return c, nil
}

func (d *Disk) records(path string) bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[path] != nil
}

// each visits the files.
func (c *Copy) each(visit func(path string) error) error {
	err := filepath.WalkDir(c.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !c.in(path) {
			return err
		}
		return visit(path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// PutBack makes the files hold that again, durably; those made since are removed.
// Nobody may have one of them open. Directories stay.
func (c *Copy) PutBack() error {
	err := c.each(func(path string) error {
		if _, known := c.files[path]; known {
			return nil
		}
		return os.Remove(path)
	})
	for path, f := range c.files { // order-independent: each is a file of its own
		err = errors.Join(err, os.WriteFile(path, f.data, 0o600))
	}
	if c.disk != nil {
		c.disk.forget(c)
	}
	if err != nil {
		return fmt.Errorf("disk: put back: %w", err)
	}
	return nil
}

// forget has the files that were put back count as synced.
func (d *Disk) forget(c *Copy) {
	d.mu.Lock()
	defer d.mu.Unlock()
	within := func(path string) bool {
		rel, err := filepath.Rel(c.root, path)
		return err == nil && filepath.IsLocal(rel) && c.in(path)
	}
	d.drop(within)
	for path, f := range c.files { // order-independent: each is a file of its own
		if f.recorded {
			n := &node{durable: f.data}
			d.names[path], d.kept[path] = n, n
		}
	}
}
