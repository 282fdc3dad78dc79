package durableobject

import (
	"fmt"
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// FacetFiles manages the databases of one object's facets on disk. It is used
// on the object's loop only.
type FacetFiles interface {
	// Child gives a facet its file, durably, and the files of its own facets.
	Child(name string) (open StoreOpener, files FacetFiles, err error)
	// Delete removes a facet's database and those below it.
	Delete(name string) error
	// DeleteAll removes all facets' databases.
	DeleteAll() error
	// Any reports whether there are facets on disk.
	Any() bool
	// Close gives up the files that the object itself holds open.
	Close() error
}

// facetsAPI is ctx.facets (workerd: server/facets).
type facetsAPI struct{ o *Object }

func (f *facetsAPI) object() *Object { return f.o }

// facet is one child of an object: it starts at its first use and lives inside
// the parent's life. It is the Target of its stubs. Loop-confined but for the
// methods of cfapi.Target.
type facet struct {
	parent   *Object
	name     string
	callback goja.Value // makes {class, id}
	object   *Object
	starting bool
	waiting  []facetUse
	broken   *event.Error
}

type facetUse struct {
	use    func(o *Object)
	failed func(error)
}

func (r *Realm) defineFacets() {
	r.facets = engine.DefineClass(r.eng, engine.ClassDef[*facetsAPI]{
		Name: "DurableObjectFacets",
		Methods: []engine.Method[*facetsAPI]{
			method("get", 2, func(f *facetsAPI, c goja.FunctionCall) goja.Value {
				return f.o.getFacet(c.Argument(0).String(), c.Argument(1))
			}),
			method("abort", 2, func(f *facetsAPI, c goja.FunctionCall) goja.Value {
				f.o.abortFacet(c.Argument(0).String(), r.iso.CF.Failure(c.Argument(1)))
				return goja.Undefined()
			}),
			method("delete", 1, func(f *facetsAPI, c goja.FunctionCall) goja.Value {
				f.o.deleteFacet(c.Argument(0).String())
				return goja.Undefined()
			}),
		},
	})
}

func (o *Object) getFacet(name string, callback goja.Value) goja.Value {
	r := o.realm
	if !engine.IsCallable(callback) {
		r.eng.Throw("TypeError", "ctx.facets.get(%q): the second argument must be a function that returns {class, id}.", name)
	}
	if o.opts.Facets == nil {
		r.eng.Throw("Error", "ctx.facets is not available for this object: its storage is not on disk.")
	}
	f := o.facets[name]
	if f == nil || f.broken != nil {
		f = &facet{parent: o, name: name, callback: callback}
		if o.facets == nil {
			o.facets = map[string]*facet{}
		}
		o.facets[name] = f
	}
	return r.iso.CF.Service(f)
}

func (o *Object) sortedFacets() []*facet {
	all := make([]*facet, 0, len(o.facets))
	for _, f := range o.facets {
		all = append(all, f)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all
}

func (o *Object) abortFacet(name string, reason *event.Error) {
	f := o.facets[name]
	if f == nil {
		return
	}
	delete(o.facets, name)
	reason.Remote = false
	f.stop(reason)
}

func (o *Object) deleteFacet(name string) {
	o.abortFacet(name, &event.Error{Message: "Facet was deleted."})
	if err := o.opts.Facets.Delete(name); err != nil {
		o.realm.eng.Throw("Error", "ctx.facets.delete(%q): %s", name, err)
	}
}

// deleteAllFacets follows a deleteAll() whose commit has noted that the facets'
// files are to go.
func (o *Object) deleteAllFacets() {
	for _, f := range o.sortedFacets() {
		o.abortFacet(f.name, &event.Error{Message: "Facet was deleted."})
	}
	if err := o.opts.Facets.DeleteAll(); err != nil {
		o.realm.storageError(err)
	}
	if err := o.store.FacetsDeleted(); err != nil {
		o.realm.storageError(err)
	}
}

// stop ends the facet; its stubs fail with ev from now on, or, after a graceful
// eviction (nil), with ErrEvicted.
func (f *facet) stop(ev *event.Error) {
	f.broken = ev
	if ev == nil {
		f.broken = &event.Error{Message: ErrEvicted.Error()}
	}
	waiting := f.waiting
	f.waiting = nil
	for _, w := range waiting {
		w.failed(f.broken)
	}
	if f.object != nil {
		f.object.end(ev)
	}
}

// Dup implements event.Capability; facets live as long as their parent.
func (f *facet) Dup() event.Capability { return f }

// Release implements event.Capability.
func (f *facet) Release() {}

// Fetch implements cfapi.Target.
func (f *facet) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	f.with(func(o *Object) { o.Fetch(req, done) }, func(err error) { done(nil, err) })
	return func(error) {}
}

// Call implements event.Capability.
func (f *facet) Call(c *event.Call, done func(*event.Payload, error)) {
	f.with(func(o *Object) { o.Call(c, done) }, func(err error) { done(nil, err) })
}

// with calls use with the running object, started first if it is not.
func (f *facet) with(use func(o *Object), failed func(error)) {
	eng := f.parent.realm.eng
	err := eng.PostLoop(func() {
		switch {
		case f.broken != nil:
			failed(f.broken)
		case f.object != nil:
			use(f.object)
		default:
			f.waiting = append(f.waiting, facetUse{use, failed})
			f.start()
		}
	})
	if err != nil {
		failed(ErrEvicted)
	}
}

// start asks the callback for the class, as an event of the parent.
func (f *facet) start() {
	if f.starting {
		return
	}
	f.starting = true
	p := f.parent
	eng := p.realm.eng
	failed := func(reason goja.Value) {
		f.starting = false
		ev := p.realm.iso.CF.Failure(reason)
		waiting := f.waiting
		f.waiting = nil
		for _, w := range waiting {
			w.failed(ev)
		}
	}
	p.deliver("facet", func() {
		thrown := eng.Try(func() {
			eng.Await(eng.Call(f.callback, goja.Undefined()), func(v goja.Value) {
				if p.ended {
					return
				}
				if thrown := eng.Try(func() { f.run(v) }); thrown != nil {
					failed(thrown)
				}
				p.done()
			}, func(reason goja.Value) { failed(reason); p.done() })
		})
		if thrown != nil {
			failed(thrown)
			p.done()
		}
	}, func(err error) {
		waiting := f.waiting
		f.waiting = nil
		for _, w := range waiting {
			w.failed(err)
		}
	})
}

// run starts the object of the facet; options is {class, id}.
func (f *facet) run(options goja.Value) {
	p := f.parent
	r := p.realm
	opts, ok := options.(*goja.Object)
	if !ok {
		r.eng.Throw("TypeError", "ctx.facets.get(%q): the callback must return {class, id}.", f.name)
	}
	ref, ok := r.iso.ClassOf(opts.Get("class"))
	if !ok {
		r.eng.Throw("TypeError", "ctx.facets.get(%q): `class` must be a Durable Object class from ctx.exports.", f.name)
	}
	p.mayUseStorage()
	open, files, err := p.opts.Facets.Child(f.name)
	if err != nil {
		r.eng.Throw("Error", "ctx.facets.get(%q): %s", f.name, err)
	}
	o := Options{
		Class: ref.Name, ID: f.id(opts.Get("id")), Label: fmt.Sprintf("%s/%s", p.opts.Label, f.name),
		Open: open, Facets: files, Parent: p, Sockets: NewSocketSet(),
		Ended: func(_ *Object, ev *event.Error) {
			if f.broken == nil { // it failed by itself: the next get() starts anew
				f.stop(ev)
			}
		},
	}
	// The object starts outside this turn: its constructor is a turn of its own.
	r.eng.AfterTurn(func() {
		f.starting = false
		if f.broken != nil {
			return
		}
		f.object = r.Start(o, func(err error) {})
		waiting := f.waiting
		f.waiting = nil
		for _, w := range waiting {
			if f.object.failure != nil {
				w.failed(f.object.failure)
				continue
			}
			w.use(f.object)
		}
	})
}

// id is the facet's ctx.id: the given one, or the parent's.
func (f *facet) id(v goja.Value) objectid.ID {
	p := f.parent
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return p.opts.ID
	}
	if id, ok := p.realm.iso.CF.IDOf(v); ok {
		return id
	}
	return objectid.NewNamespace("facet").FromName(v.String())
}
