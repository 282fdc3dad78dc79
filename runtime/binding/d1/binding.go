package d1

import (
	"cmp"
	_ "embed"
	"errors"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const kind = "d1"

//go:embed d1.js
var source string

var prelude = engine.NewPrelude("d1.js", source)

// databases are those that the workers of a session have asked for: each has one
// owner. Safe for concurrent use.
type databases struct {
	driver.Stateless
	session *driver.Session

	mu   sync.Mutex // guards open
	open map[string]*shared
}

// shared is a database and the queue of its calls.
type shared struct {
	*Database
	*miniflare.Queue
}

// New makes the driver of D1 databases.
func New(s *driver.Session) driver.Driver {
	return &databases{session: s, open: map[string]*shared{}}
}

// ID is the database that a binding names, as wrangler dev chooses it.
func ID(b config.Binding) string {
	return cmp.Or(b.Param("preview_database_id"), b.Param("database_id"), b.Name)
}

// Make implements driver.Driver.
func (d *databases) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	p := &api{API: a, open: func() (*shared, error) { return d.get(ID(b)) }}
	create := a.Engine.Load(prelude, a.Engine.Native(engine.Func{Name: "query", Length: 3, Fn: p.query}))
	database := a.Engine.Call(create, goja.Undefined())
	a.Engine.Attach(database.(*goja.Object), p) // a platform object, which cannot be cloned
	return database
}

// get is the database of an id. It is made when it is used first: a standby learns
// its persist directory only when it is put to work.
func (d *databases) get(id string) (*shared, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.open[id]; known != nil {
		return known, nil
	}
	dir, err := d.session.Dir(kind)
	if err != nil {
		return nil, err
	}
	s := d.session
	database := Open(Options{Dir: dir, ID: id, Clock: s.Scheduler.Clock(), Entropy: s.Entropy.Fork("d1 " + id),
		Limits: s.Limits, Sync: s.Sync, Files: s.Files, Report: s.Report, Points: s.Points})
	d.open[id] = &shared{database, miniflare.NewQueue(s.Scheduler)}
	return d.open[id], nil
}

// Close implements driver.Driver.
func (d *databases) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, one := range d.open { // order-independent: each has a file of its own
		errs = append(errs, one.Close())
	}
	d.open = map[string]*shared{}
	return errors.Join(errs...)
}
