package fibers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/internal/killpoint"
)

// Checkpoints looks for the commit by which a fiber of a running server has stored
// so many snapshots since it was made. It reads the files where the server stands at
// an effect point, so that no checkpoint is missed however slow the machine is. Used
// under the lock of killpoint.Points.
type Checkpoints struct {
	root   string // of the namespaces' folders
	want   int
	stamps map[string]string // by path: the state of the file that was read last
	last   map[string]string // by fiber: its snapshot
	stored map[string]int    // by fiber: how many it has stored
}

// NewCheckpoints watches the server on a persist directory, from the checkpoints on
// that it has stored so far.
func NewCheckpoints(persist string, want int) (*Checkpoints, error) {
	c := &Checkpoints{root: filepath.Join(persist, "v3", "do"), want: want, stamps: map[string]string{}, last: map[string]string{}}
	err := c.read()
	c.stored = map[string]int{} // what an earlier life has stored does not count
	return c, err
}

// Hit reports whether p is the commit that was looked for.
func (c *Checkpoints) Hit(p killpoint.Point) (bool, error) {
	if p.Kind != killpoint.Commit || p.Side != killpoint.After {
		return false, nil
	}
	if err := c.read(); err != nil {
		return false, err
	}
	for _, n := range c.stored { // order-independent: any of them will do
		if n >= c.want {
			return true, nil
		}
	}
	return false, nil
}

// read reads the databases that have changed.
func (c *Checkpoints) read() error {
	spaces, err := os.ReadDir(c.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("fibers: checkpoints: %w", err)
	}
	for _, space := range spaces {
		files, err := filepath.Glob(filepath.Join(c.root, space.Name(), "*.sqlite"))
		if err != nil {
			return fmt.Errorf("fibers: checkpoints: %w", err)
		}
		for _, path := range files {
			stamp := evidence.Stamp([]string{path})
			if strings.HasPrefix(filepath.Base(path), "metadata.") || c.stamps[path] == stamp {
				continue
			}
			c.stamps[path] = stamp
			db, err := evidence.Open(path)
			if err != nil {
				return fmt.Errorf("fibers: checkpoints: %w", err)
			}
			d, err := readDatabase(db)
			if err = errors.Join(err, db.Close()); err != nil {
				return fmt.Errorf("fibers: checkpoints: %w", err)
			}
			c.count(d)
		}
	}
	return nil
}

func (c *Checkpoints) count(d Database) {
	for _, r := range d.Runs {
		if r.Snapshot != c.last[r.ID] {
			c.last[r.ID] = r.Snapshot
			if c.stored != nil {
				c.stored[r.ID]++
			}
		}
	}
}
