package d1

import (
	"cmp"
	_ "embed"

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
	*driver.Stores[*shared]
	session *driver.Session
}

// shared is a database and the queue of its calls.
type shared struct {
	*Database
	*miniflare.Queue
}

// New makes the driver of D1 databases.
func New(s *driver.Session) driver.Driver {
	return &databases{Stores: driver.NewStores[*shared](s, kind), session: s}
}

// ID is the database that a binding names, as wrangler dev chooses it.
func ID(b config.Binding) string {
	return cmp.Or(b.Param("preview_database_id"), b.Param("database_id"), b.Name)
}

// Make implements driver.Driver.
func (d *databases) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	p := &api{API: a, open: func() (*shared, error) { return d.get(ID(b)) }}
	create := a.Engine.Load(prelude, a.Engine.Native(engine.Func{Name: "query", Length: 3, Fn: p.query}))
	return driver.Uncloned(a, a.Engine.Call(create, goja.Undefined()), cfapi.StubsRefused)
}

// Database is the database of an id, for who looks at it from outside of a worker.
func (d *databases) Database(id string) (*Database, error) {
	database, err := d.get(id)
	if err != nil {
		return nil, err
	}
	return database.Database, nil
}

// get is the database of an id.
func (d *databases) get(id string) (*shared, error) {
	return d.Get(id, func(dir string) (*shared, error) {
		s := d.session
		database := Open(Options{Dir: dir, ID: id, Clock: s.Scheduler.Clock(), Entropy: s.Entropy.Fork("d1 " + id),
			Limits: s.Limits, Sync: s.Sync, Files: s.Files, Report: s.Report, Points: s.Points})
		return &shared{database, miniflare.NewQueue(s.Scheduler)}, nil
	})
}
