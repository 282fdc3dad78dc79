package kv

import (
	"cmp"
	"errors"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

const kind = "kv_namespace"

// namespaces are those that the workers of a session have asked for: each has one
// owner. Safe for concurrent use.
type namespaces struct {
	driver.Stateless
	session *driver.Session

	mu   sync.Mutex // guards open
	open map[string]*shared
}

// shared is a namespace and the queue of its operations.
type shared struct {
	*Namespace
	*miniflare.Queue
}

// New makes the driver of KV namespaces.
func New(s *driver.Session) driver.Driver {
	return &namespaces{session: s, open: map[string]*shared{}}
}

// Make implements driver.Driver.
func (d *namespaces) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	p := &api{API: a, open: func() (*shared, error) { return d.get(ID(b)) }}
	return p.define()
}

// ID is the namespace that a binding names, as wrangler dev chooses it.
func ID(b config.Binding) string {
	return cmp.Or(b.Param("preview_id"), b.Param("id"), b.Name)
}

// get is the namespace of an id. It is made when it is used first: a standby learns
// its persist directory only when it is put to work.
func (d *namespaces) get(id string) (*shared, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.open[id]; known != nil {
		return known, nil
	}
	dir, err := d.session.Dir(kind)
	if err != nil {
		return nil, err
	}
	n, err := Open(Options{Dir: dir, ID: id,
		Clock: d.session.Scheduler.Clock(), Entropy: d.session.Entropy.Fork("kv " + id), Points: d.session.Points})
	if err != nil {
		return nil, err
	}
	d.open[id] = &shared{n, miniflare.NewQueue(d.session.Scheduler)}
	return d.open[id], nil
}

// Close implements driver.Driver.
func (d *namespaces) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, n := range d.open { // order-independent: each has a file of its own
		errs = append(errs, n.Close())
	}
	d.open = map[string]*shared{}
	return errors.Join(errs...)
}
