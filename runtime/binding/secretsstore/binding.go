// Package secretsstore is Secrets Store: each store is a KV namespace in a folder
// of its own, as miniflare has it (miniflare: workers/secrets-store).
package secretsstore

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const kind = "secrets_store_secret"

// Class is miniflare's class of the stores.
const Class = "miniflare-secrets-store-KVNamespaceObject"

// stores are those that the workers of a session have asked for. Safe for
// concurrent use.
type stores struct {
	*driver.Stores[*kv.Namespace]
	session *driver.Session
}

// New makes the driver of secrets of stores.
func New(s *driver.Session) driver.Driver {
	return &stores{Stores: driver.NewStores[*kv.Namespace](s, kind), session: s}
}

// Make implements driver.Driver.
func (d *stores) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	type secret struct{}
	store, name := b.Param("store_id"), b.Param("secret_name")
	return driver.Stub(a, w, engine.DefineClass(a.Engine, engine.ClassDef[secret]{Name: "SecretsStoreSecret", Methods: []engine.Method[secret]{
		{Name: "get", Fn: func(secret, goja.FunctionCall) goja.Value { return d.get(a, store, name) }},
		{Name: adminAPI, Fn: func(secret, goja.FunctionCall) goja.Value { return admin{d, a, store, name}.object() }},
	}}).Wrap(secret{}))
}

func (d *stores) get(a *cfapi.API, store, name string) goja.Value {
	return driver.Async(a, "Secrets Store", "get", func(settle func(func() goja.Value)) {
		d.session.Scheduler.Go("secret", func() {
			value, err := d.value(store, name)
			settle(func() goja.Value {
				switch {
				case err != nil:
					a.Engine.Throw("Error", "%s", err)
				case value == nil:
					a.Engine.Throw("Error", "Secret \"%s\" not found", name)
				}
				return a.Engine.String(string(value.Data))
			})
		})
	})
}

func (d *stores) open(store string) (*kv.Namespace, error) {
	return d.Get(store, func(dir string) (*kv.Namespace, error) {
		s := d.session
		return kv.Open(kv.Options{Dir: dir, Class: Class, ID: store, Clock: s.Scheduler.Clock(), Entropy: s.Entropy.Fork("secrets " + store), Points: s.Points})
	})
}

func (d *stores) value(store, name string) (*kv.Value, error) {
	n, err := d.open(store)
	if err != nil {
		return nil, err
	}
	return n.Get(name)
}
