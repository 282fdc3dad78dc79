package pool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/alarms"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/planted"
	"minido.dev/minido/sqlstore"
)

// leftOver is what the process before left in a namespace's directory.
type leftOver struct {
	unclean bool // it did not close the alarm index
	noIndex bool // there is no alarm index
}

// look must come before the index is opened: SQLite removes the index's WAL
// when it is closed in good order.
func (n *Namespace) look() leftOver {
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(n.dir, name))
		return !errors.Is(err, fs.ErrNotExist) // one that cannot be looked at is there
	}
	return leftOver{unclean: exists(alarms.IndexFile + "-wal"), noIndex: !exists(alarms.IndexFile)}
}

// scan gives the index the alarms of objects that it lacks, or has for later
// than the object's own row says: after an unclean stop those of the objects
// that were open, and without an index those of all objects.
func (n *Namespace) scan(was leftOver) error {
	if !was.unclean && !was.noIndex || planted.ForgetAlarms {
		return nil
	}
	files, err := os.ReadDir(n.dir) // in the order of names
	if err != nil {
		return fmt.Errorf("pool: scan %s: %w", n.class, err)
	}
	open, objects := map[string]bool{}, 0
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".sqlite-wal"); ok {
			open[id] = true
		}
	}
	for _, f := range files {
		text, isObject := strings.CutSuffix(f.Name(), ".sqlite")
		if !isObject || !was.noIndex && !open[text] {
			continue
		}
		id, err := n.ids.Parse(text)
		if err != nil || id.String() != text { // a facet's database, the index, or nothing of ours
			continue
		}
		if err := n.scanObject(text); err != nil {
			n.pool.opts.Report(fmt.Errorf("pool: look for the alarm of %s/%s: %w", n.class, text, err))
		}
		objects++
	}
	if objects == 0 || !was.noIndex {
		return nil
	}
	return n.pool.alarms.Make(n.key) // the next start finds it
}

func (n *Namespace) scanObject(id string) (err error) {
	o := n.pool.opts
	store, err := sqlstore.Open(sqlstore.Options{
		Path: filepath.Join(n.dir, id+".sqlite"), Clock: o.Clock, Entropy: o.Entropy.Fork(id), Sync: o.Sync, Limits: o.Limits, Disk: o.Files, Warn: n.pool.warn(n.class + "/" + id),
		// Closing a database ends its log, which the history must have before.
		HistoryBytes: sqlstore.DefaultHistoryBytes,
		OnRestore: func(restore func() error) error {
			return o.Points.Effect(killpoint.File, n.class+"/"+id, "restore", restore)
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	row, ok, err := store.Alarm()
	if err != nil || !ok {
		return err
	}
	x := alarms.Object{Namespace: n.key, ID: id}
	if at, indexed := n.pool.alarms.Get(x); indexed && at <= row {
		return nil // an early wake-up finds the row's time
	}
	return n.pool.alarms.Set(x, row, "start")
}
