package analyticsengine

import (
	"cmp"
	_ "embed"
	"fmt"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

const kind = "analytics_engine"

//go:embed analyticsengine.js
var source string

var prelude = engine.NewPrelude("analyticsengine.js", source)

// datasets writes to the datasets of a session. Safe for concurrent use.
type datasets struct {
	driver.Stateless
	session *driver.Session

	mu    sync.Mutex // guards the rest
	store *miniflare.Store
	queue *miniflare.Queue
}

// New makes the driver of Analytics Engine datasets.
func New(s *driver.Session) driver.Driver { return &datasets{session: s} }

// Make implements driver.Driver.
func (d *datasets) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	dataset := cmp.Or(b.Param("dataset"), b.Name)
	create := a.Engine.Load(prelude, a.Engine.Native(engine.Func{Name: "write", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
		var p Point
		if thrown := a.Engine.Try(func() { p = point(a, call.Argument(0)) }); thrown != nil {
			a.Engine.Log(engine.Error, fmt.Sprintf("Failed to write data point to Analytics Engine dataset %q: %s", dataset, a.Engine.Text(thrown)))
			return goja.Undefined()
		}
		return d.write(a, dataset, p)
	}}))
	return a.Engine.Call(create, goja.Undefined(), a.Engine.String(dataset))
}

// point reads what a worker gave; what is of another type is left out.
func point(a *cfapi.API, v goja.Value) (p Point) {
	list := func(name string, take func(goja.Value)) {
		if items, ok := webidl.Get(v, name).(*goja.Object); ok && items.ClassName() == "Array" {
			a.Platform.ForOf(items, take)
		}
	}
	first := true
	list("indexes", func(v goja.Value) {
		if first && !webidl.IsMissing(v) {
			p.Index = a.Platform.USV(v)
		}
		first = false
	})
	list("blobs", func(v goja.Value) {
		switch data, isBytes := a.Platform.BytesOf(v); {
		case webidl.IsMissing(v):
			p.Blobs = append(p.Blobs, nil)
		case isBytes:
			p.Blobs = append(p.Blobs, webidl.ValidUTF8(data))
		default:
			p.Blobs = append(p.Blobs, a.Platform.USV(v))
		}
	})
	list("doubles", func(v goja.Value) { p.Doubles = append(p.Doubles, v.ToFloat()) })
	return p
}

// write starts to write a point. One that cannot be written is told, and fails
// nothing: nobody waits for it.
func (d *datasets) write(a *cfapi.API, dataset string, p Point) goja.Value {
	driver.Async(a, "Analytics Engine", "writeDataPoint", func(settle func(func() goja.Value)) {
		ended := func(err error) {
			settle(func() goja.Value {
				if err != nil {
					a.Engine.Log(engine.Error, fmt.Sprintf("Failed to write data point to Analytics Engine dataset %q: %s", dataset, err))
				}
				return goja.Undefined()
			})
		}
		store, queue, err := d.open()
		if err != nil {
			ended(err)
			return
		}
		queue.Add("analytics write", func() { ended(write(store, dataset, p)) })
	})
	return goja.Undefined()
}

func (d *datasets) open() (*miniflare.Store, *miniflare.Queue, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store != nil {
		return d.store, d.queue, nil
	}
	dir, err := d.session.Dir(kind)
	if err != nil {
		return nil, nil, err
	}
	s := d.session
	d.store, err = miniflare.New(miniflare.Options{Dir: dir, Product: "analytics", Noun: "database", Class: class, Name: name,
		Clock: s.Scheduler.Clock(), Entropy: s.Entropy.Fork("analytics"), Points: s.Points})
	d.queue = miniflare.NewQueue(s.Scheduler)
	return d.store, d.queue, err
}

// Close implements driver.Driver.
func (d *datasets) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store == nil {
		return nil
	}
	return d.store.Close()
}
