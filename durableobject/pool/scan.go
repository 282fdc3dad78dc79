package pool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/alarms"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/planted"
	"minido.dev/minido/sqlstore"
)

// leftOver is what the process before left in a namespace's directory.
type leftOver struct {
	unclean bool // it did not close the alarm index
	noIndex bool // there is no alarm index that can be trusted
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

// openAlarms opens the namespace's alarm index. One that is damaged is moved away,
// and one that somebody else has written is not relied on: then the alarms are
// those of the objects' rows, and a report says so.
func (n *Namespace) openAlarms(was *leftOver) error {
	space := alarms.Namespace{Key: n.key, Class: n.class, Dir: n.dir}
	changed, err := n.pool.alarms.Open(space)
	path := filepath.Join(n.dir, alarms.IndexFile)
	var damage *alarms.DamageError
	switch {
	case errors.As(err, &damage):
		was.noIndex = true
		objects, listErr := n.objects()
		if listErr != nil {
			return errors.Join(err, listErr)
		}
		to, moveErr := alarms.MoveAway(n.pool.opts.Files, n.dir)
		if moveErr != nil {
			return errors.Join(err, moveErr)
		}
		if len(objects) > 0 { // a process that died while it made the index had none
			n.pool.opts.Report(fmt.Errorf("%w; it is now %s, and the alarms of %s are read from its %d objects", err, to, n.class, len(objects)))
		}
		_, err = n.pool.alarms.Open(space)
	case changed:
		was.noIndex = true
		n.pool.opts.Report(fmt.Errorf("the alarm index %s is not as minido left it: another program has written it, or it was damaged; the alarms of %s are read from its objects", path, n.class))
	}
	return err
}

// objects lists the ids of the objects that have a database, in order.
func (n *Namespace) objects() (ids []string, err error) {
	files, err := os.ReadDir(n.dir) // in the order of names
	if err != nil {
		return nil, fmt.Errorf("pool: list %s: %w", n.class, err)
	}
	for _, f := range files {
		text, isObject := strings.CutSuffix(f.Name(), ".sqlite")
		if !isObject {
			continue
		}
		id, err := n.ids.Parse(text)
		if err != nil || id.String() != text { // a facet's database, the index, or nothing of ours
			continue
		}
		ids = append(ids, text)
	}
	return ids, nil
}

// lookAtAll is up to how many objects a start after an unclean stop looks for
// alarms in all of them, and not only in those that were open.
const lookAtAll = 500

// scan gives the index the alarms of objects that it lacks, or has for later
// than the object's own row says: after an unclean stop those of the objects
// that were open, and without an index those of all objects.
func (n *Namespace) scan(was leftOver) error {
	if !was.unclean && !was.noIndex || planted.ForgetAlarms {
		return nil
	}
	objects, err := n.objects()
	if err != nil {
		return err
	}
	for _, id := range objects {
		path := filepath.Join(n.dir, id+".sqlite")
		if !was.noIndex && len(objects) > lookAtAll {
			if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
				continue // it was not open
			}
		}
		if err := n.scanObject(id); err != nil {
			n.pool.opts.Report(fmt.Errorf("pool: look for the alarm of %s/%s: %w", n.class, id, err))
		}
	}
	if len(objects) == 0 || !was.noIndex {
		return nil
	}
	return n.pool.alarms.Make(n.key) // the next start finds it
}

// openResting opens the database of an object or a facet that is not in memory.
func (p *Pool) openResting(path, label string, chance entropy.Source) (*sqlstore.Store, error) {
	o := p.opts
	return sqlstore.Open(sqlstore.Options{
		Path: path, Clock: o.Clock, Entropy: chance, Sync: o.Sync, Limits: o.Limits, Disk: o.Files, Warn: p.warn(label),
		// Closing a database ends its log, which the history must have before.
		HistoryBytes: sqlstore.DefaultHistoryBytes,
		OnRestore: func(restore func() error) error {
			return o.Points.Effect(killpoint.File, label, "restore", restore)
		},
	})
}

func (n *Namespace) scanObject(id string) (err error) {
	store, err := n.pool.openResting(filepath.Join(n.dir, id+".sqlite"), n.class+"/"+id, n.pool.opts.Entropy.Fork(id))
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
