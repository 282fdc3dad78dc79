package kv

import (
	"cmp"
	"io"

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
	*driver.Stores[*shared]
	session *driver.Session
}

// backend is what keeps the values: a namespace, or the folder of a site.
type backend interface {
	Now() int64
	Get(key string) (*Value, error)
	GetCached(key string) (found *Value, known bool, err error)
	GetAll(keys []string) ([]*Value, error)
	List(prefix, cursor string, limit int) (Page, error)
	Put(e Entry, data []byte) error
	Delete(key string) error
}

// shared is a namespace and the queue of its operations.
type shared struct {
	backend
	*miniflare.Queue
}

// Close closes a namespace.
func (s *shared) Close() error {
	if c, ok := s.backend.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// New makes the driver of KV namespaces.
func New(s *driver.Session) driver.Driver {
	return &namespaces{Stores: driver.NewStores[*shared](s, kind), session: s}
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

// Namespace is the namespace of an id, for who looks at it from outside of a worker.
func (d *namespaces) Namespace(id string) (*Namespace, error) {
	n, err := d.get(id)
	if err != nil {
		return nil, err
	}
	return n.backend.(*Namespace), nil
}

// get is the namespace of an id.
func (d *namespaces) get(id string) (*shared, error) {
	return d.Get(id, func(dir string) (*shared, error) {
		n, err := Open(Options{Dir: dir, ID: id,
			Clock: d.session.Scheduler.Clock(), Entropy: d.session.Entropy.Fork("kv " + id), Points: d.session.Points})
		if err != nil {
			return nil, err
		}
		return &shared{n, miniflare.NewQueue(d.session.Scheduler)}, nil
	})
}
