package pool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/sqlstore"
)

// open opens the object's own database, <id>.sqlite.
func (e *entry) open() durableobject.StoreOpener {
	return e.opener(filepath.Join(e.ns.dir, e.id.String()+".sqlite"))
}

// chanceOf is the randomness of a database that is opened: its own each time, or
// one that is opened again would go through the same numbers again.
func (p *Pool) chanceOf(file string) entropy.Source {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opens++
	return p.opts.Entropy.Fork(fmt.Sprintf("%s %d", file, p.opens))
}

// warn is what a store is given to tell what it found wrong with its files.
func (p *Pool) warn(label string) func(error) {
	return func(err error) { p.opts.Report(fmt.Errorf("%s: %w", label, err)) }
}

// clock is that of the machine which the object runs on.
func (e *entry) clock() clock.Clock {
	c := e.ns.pool.opts.Clock
	if skew := e.ns.pool.opts.Skew; skew != nil {
		if d := skew(e.label()); d != 0 {
			shifted := &clock.Shifted{Clock: c}
			shifted.Jump(d)
			return shifted
		}
	}
	return c
}

// opener opens a database file; its creation is an effect.
func (e *entry) opener(path string) durableobject.StoreOpener {
	p := e.ns.pool
	return func(thread *sqlstore.Thread) (*sqlstore.Store, error) {
		var store *sqlstore.Store
		open := func() (err error) {
			store, err = sqlstore.Open(sqlstore.Options{
				Path: path, Thread: thread, Clock: e.clock(), Entropy: p.chanceOf(filepath.Base(path)),
				Sync: p.opts.Sync, SyncLater: true, Limits: p.opts.Limits, HistoryBytes: sqlstore.DefaultHistoryBytes, BeforeWrite: p.opts.Disk, Disk: p.opts.Files, Warn: p.warn(e.label()),
				OnRestore: func(restore func() error) error {
					return p.opts.Points.Effect(killpoint.File, e.label(), "restore", restore)
				},
			})
			if err == nil {
				p.opened.add(store)
			}
			return err
		}
		if sqlstore.Deleting(path) {
			finish := func() error { return sqlstore.FinishDelete(p.opts.Files, path, p.opts.Sync == sqlite.Full) }
			if err := p.opts.Points.Effect(killpoint.File, e.label(), "start", finish); err != nil {
				return nil, err
			}
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			err := open()
			return store, err
		}
		if err := p.alarms.Make(e.ns.key); err != nil {
			return nil, err
		}
		err := p.opts.Points.Effect(killpoint.File, e.label(), "start", open)
		if err != nil && store != nil { // it was opened, and the object died right after
			if cerr := store.Close(); cerr != nil {
				err = errors.Join(err, cerr)
			}
			return nil, err
		}
		return store, err
	}
}

// facetFiles are the databases of the object's facets, in workerd's layout:
// the index <id>.facets, and <id>.<number>.sqlite for each.
func (e *entry) facetFiles() durableobject.FacetFiles {
	return &facetFiles{root: &facetRoot{entry: e, base: filepath.Join(e.ns.dir, e.id.String())}}
}

// facetRoot is shared by the facets of one object. Loop-confined.
type facetRoot struct {
	entry *entry
	base  string
	index *sqlstore.FacetIndex
}

// facetFiles is one level of the tree; parent 0 is the object itself.
type facetFiles struct {
	root   *facetRoot
	parent int
}

func (r *facetRoot) open() (*sqlstore.FacetIndex, error) {
	if r.index != nil {
		return r.index, nil
	}
	x, err := sqlstore.OpenFacetIndex(r.entry.ns.pool.opts.Files, r.base+".facets")
	if err != nil {
		return nil, r.told(err)
	}
	r.index = x
	return x, nil
}

// list reads the index.
func (r *facetRoot) list() ([]sqlstore.Facet, error) {
	list, err := sqlstore.ReadFacets(r.base + ".facets")
	return list, r.told(err)
}

// told reports an index that is damaged: code may keep the error to itself.
func (r *facetRoot) told(err error) error {
	var damaged *sqlstore.CorruptError
	if errors.As(err, &damaged) {
		r.entry.ns.pool.opts.Report(fmt.Errorf("%s: %w", r.entry.label(), err))
	}
	return err
}

func (r *facetRoot) path(number int) string { return fmt.Sprintf("%s.%d.sqlite", r.base, number) }

// Any implements durableobject.FacetFiles.
func (f *facetFiles) Any() bool {
	list, err := f.root.list()
	return err != nil || len(list) > 0 // an index that cannot be read is looked at again when it matters
}

// Child implements durableobject.FacetFiles.
func (f *facetFiles) Child(name string) (durableobject.StoreOpener, durableobject.FacetFiles, error) {
	r := f.root
	var number int
	add := func() error {
		x, err := r.open()
		if err != nil {
			return err
		}
		number, err = x.ID(f.parent, name)
		return err
	}
	if err := r.entry.ns.pool.opts.Points.Effect(killpoint.File, r.entry.label(), "facet", add); err != nil {
		return nil, nil, err
	}
	return r.entry.opener(r.path(number)), &facetFiles{root: r, parent: number}, nil
}

// Delete implements durableobject.FacetFiles.
func (f *facetFiles) Delete(name string) error {
	list, err := f.root.list()
	if err != nil {
		return err
	}
	for _, facet := range list {
		if facet.Parent == f.parent && facet.Name == name {
			return f.remove(list, facet.ID)
		}
	}
	return nil
}

// remove deletes a facet's files, children first.
func (f *facetFiles) remove(list []sqlstore.Facet, number int) error {
	for _, child := range list {
		if child.Parent == number {
			if err := f.remove(list, child.ID); err != nil {
				return err
			}
		}
	}
	r := f.root
	return r.entry.ns.pool.opts.Points.Effect(killpoint.File, r.entry.label(), "facet", func() error {
		o := r.entry.ns.pool.opts
		return sqlstore.Delete(o.Files, r.path(number), o.Sync == sqlite.Full)
	})
}

// DeleteAll implements durableobject.FacetFiles.
func (f *facetFiles) DeleteAll() error {
	list, err := f.root.list()
	if err != nil {
		return err
	}
	for _, facet := range list {
		if facet.Parent == f.parent {
			if err := f.remove(list, facet.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close implements durableobject.FacetFiles.
func (f *facetFiles) Close() error {
	x := f.root.index
	f.root.index = nil
	if x == nil {
		return nil
	}
	return x.Close()
}
