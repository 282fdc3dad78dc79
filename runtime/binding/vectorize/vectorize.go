// Package vectorize is Vectorize: an index of vectors in a SQLite file, searched
// exactly, from end to end. wrangler dev has no local form of it.
package vectorize

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const kind = "vectorize"

//go:embed vectorize.js
var source string

var prelude = engine.NewPrelude("vectorize.js", source)

// indexes are those of a session. Safe for concurrent use.
type indexes struct {
	*driver.Stores[*index]
	session *driver.Session
}

// New makes the driver of Vectorize indexes.
func New(s *driver.Session) driver.Driver {
	return &indexes{Stores: driver.NewStores[*index](s, kind), session: s}
}

// Make implements driver.Driver.
func (d *indexes) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	name := cmp.Or(b.Param("index_name"), b.Name)
	call := driver.Call(a, "Vectorize", func(op string, args, _ []byte, done func(reply, data []byte, err error)) {
		x, err := d.get(name)
		if err != nil {
			done(nil, nil, err)
			return
		}
		x.Add("vectorize "+op, func() {
			reply, err := x.run(op, args)
			done(reply, nil, err)
		})
	})
	create := a.Engine.Load(prelude, a.Engine.Native(call))
	return a.Engine.Call(create, goja.Undefined(), a.Engine.String(name), driver.Remote(a, b.Name))
}

func (d *indexes) get(name string) (*index, error) {
	return d.Get(name, func(dir string) (*index, error) {
		s := d.session
		random := s.Entropy.Fork("vectorize " + name)
		store, err := miniflare.New(miniflare.Options{Dir: dir, Product: "vectorize", Noun: "index", Class: "minido-VectorizeIndex", Name: name, Schema: schema, Table: "vectors",
			Clock: s.Scheduler.Clock(), Entropy: random, Points: s.Points})
		if err != nil {
			return nil, err
		}
		return &index{Store: store, Queue: miniflare.NewQueue(s.Scheduler), entropy: random.Fork("mutations")}, nil
	})
}

// run does one operation: its reply is what the method returns, or a refusal.
func (x *index) run(op string, args []byte) (reply []byte, err error) {
	var value any
	err = x.Do(func() error {
		var err error
		value, err = x.operate(op, args)
		return err
	})
	var no *refused
	if errors.As(err, &no) {
		value, err = no, nil
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func (x *index) operate(op string, args []byte) (any, error) {
	mutated := func(id string, err error) (any, error) {
		return map[string]string{"mutationId": id}, err
	}
	switch op {
	case "insert", "upsert":
		var list []vector
		if err := json.Unmarshal(args, &list); err != nil {
			return nil, refuse(40023, "failed to parse %s vectors request", op)
		}
		return mutated(x.write(op, list))
	case "query":
		var q query
		if err := json.Unmarshal(args, &q); err != nil {
			var mismatch *json.UnmarshalTypeError
			if errors.As(err, &mismatch) {
				return nil, refuse(40026, "Failed to parse the request body as JSON: %s: a %s is not expected", mismatch.Field, mismatch.Value)
			}
			return nil, refuse(40026, "Failed to parse the request body as JSON: %s", err)
		}
		return x.search(q)
	case "describe":
		return x.describe()
	}
	var ids []string
	if err := json.Unmarshal(args, &ids); err != nil {
		return nil, refuse(40026, "Failed to parse the request body as JSON: ids: expected strings")
	}
	if op == "delete" {
		return mutated(x.delete(ids))
	}
	if op != "get" {
		return nil, fmt.Errorf("vectorize: there is no operation %q", op)
	}
	return x.get(ids)
}
