package secretsstore

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/engine"
)

// adminAPI is the method of a secret that gives its administration, which wrangler and
// the vitest plugin use (miniflare: workers/secrets-store/secret.worker.ts).
const adminAPI = "SecretsStoreSecret::admin_api"

var errNotFound = errors.New("Secret not found") //lint:ignore ST1005 the reference's text

// listed is how many secrets of a store are looked at, as KV lists them.
const listed = 1000

// metadata is what a store keeps of a secret beside its value.
type metadata struct {
	UUID string `json:"uuid"`
}

// admin is the administration of the store of a secret.
type admin struct {
	*stores
	api         *cfapi.API
	store, name string
}

func (d admin) object() goja.Value {
	vm, o := d.api.Engine.VM(), d.api.Engine.VM().NewObject()
	for _, f := range []engine.Func{
		{Name: "create", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return d.do("create", d.put(d.name, call.Argument(0).String(), strings.ReplaceAll(driver.UUID(d.api), "-", "")))
		}},
		{Name: "update", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			value, id := call.Argument(0).String(), call.Argument(1).String()
			return d.do("update", d.with(id, func(n *kv.Namespace, e kv.Entry) (any, error) { return d.put(e.Key, value, id)(n) }))
		}},
		{Name: "duplicate", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			name, id := call.Argument(1).String(), driver.UUID(d.api)
			return d.do("duplicate", d.with(call.Argument(0).String(), func(n *kv.Namespace, e kv.Entry) (any, error) {
				v, err := n.Get(e.Key)
				if err == nil && (v == nil || len(v.Data) == 0) {
					err = errNotFound
				}
				if err != nil {
					return nil, err
				}
				return d.put(name, string(v.Data), id)(n)
			}))
		}},
		{Name: "delete", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return d.do("delete", d.with(call.Argument(0).String(), func(n *kv.Namespace, e kv.Entry) (any, error) { return nil, n.Delete(e.Key) }))
		}},
		{Name: "list", Fn: func(goja.FunctionCall) goja.Value { return d.do("list", d.list) }},
		{Name: "get", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return d.do("get", d.with(call.Argument(0).String(), func(_ *kv.Namespace, e kv.Entry) (any, error) { return e.Key, nil }))
		}},
	} {
		d.api.Engine.DefineFunc(o, f)
	}
	return vm.ToValue(o)
}

// operation is what is done with a store, off the loop; nil is undefined.
type operation func(*kv.Namespace) (any, error)

func (d admin) do(name string, run operation) goja.Value {
	return driver.Async(d.api, "Secrets Store", name, func(settle func(func() goja.Value)) {
		d.session.Scheduler.Go("secret", func() {
			n, err := d.open(d.store)
			var result any
			if err == nil {
				result, err = run(n)
			}
			settle(func() goja.Value {
				if err != nil {
					d.api.Engine.Throw("Error", "%s", err)
				}
				if result == nil {
					return goja.Undefined()
				}
				text, err := json.Marshal(result)
				if err != nil {
					d.api.Engine.Throw("Error", "%s", err)
				}
				return d.api.ParseJSON(string(text))
			})
		})
	})
}

func (d admin) put(name, value, id string) operation {
	return func(n *kv.Namespace) (any, error) {
		text, err := json.Marshal(metadata{id})
		if err != nil {
			return nil, err
		}
		return id, n.Put(kv.Entry{Key: name, Metadata: string(text)}, []byte(value))
	}
}

// with does something with the secret of an id.
func (d admin) with(id string, do func(*kv.Namespace, kv.Entry) (any, error)) operation {
	return func(n *kv.Namespace) (any, error) {
		page, err := n.List("", "", listed)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Entries {
			var m metadata
			if e.Metadata != "" && json.Unmarshal([]byte(e.Metadata), &m) == nil && m.UUID == id {
				return do(n, e)
			}
		}
		return nil, errNotFound
	}
}

func (d admin) list(n *kv.Namespace) (any, error) {
	page, err := n.List("", "", listed)
	if err != nil {
		return nil, err
	}
	type key struct {
		Name     string          `json:"name"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	keys := []key{}
	for _, e := range page.Entries {
		keys = append(keys, key{e.Key, json.RawMessage(e.Metadata)})
	}
	return keys, nil
}
