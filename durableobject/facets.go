package durableobject

import (
	"errors"
	"fmt"
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
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

// facet is one running child of an object, from its start-up until it ends; it
// lives inside the parent's life. Loop-confined.
type facet struct {
	parent   *Object
	name     string
	callback goja.Value    // makes {class, id}
	frame    *engine.Frame // of the call of get(): the callback runs in its critical section
	object   *Object
	starting bool
	unusable bool // the callback failed: only abort() and delete() free the name
	waiting  []facetUse
	broken   *event.Error
	sockets  *SocketSet
}

type facetUse struct {
	use    func(o *Object)
	failed func(error)
}

// facetStub is the Target of one stub that facets.get() returned. At its first
// use it finds the running facet of its name, or starts one; from then on it
// stays with that one, and fails when that one has ended. Loop-confined but for
// the methods of cfapi.Target.
type facetStub struct {
	parent   *Object
	name     string
	callback goja.Value
	frame    *engine.Frame
	bound    *facet
}

// maxFacetName bounds a facet's name, in UTF-8 bytes (workerd: api/actor-state.c++).
const maxFacetName = 256

func (r *Realm) defineFacets() {
	r.facets = engine.DefineClass(r.eng, engine.ClassDef[*facetsAPI]{
		Name: "DurableObjectFacets",
		Methods: []engine.Method[*facetsAPI]{
			method("get", 2, func(f *facetsAPI, c goja.FunctionCall) goja.Value {
				name := r.facetName(c, "get")
				if !engine.IsCallable(c.Argument(1)) {
					r.eng.Throw("TypeError", "Failed to execute 'get' on 'DurableObjectFacets': parameter 2 is not of type 'function'.")
				}
				if f.o.opts.Facets == nil {
					r.eng.Throw("Error", "ctx.facets is not available for this object: its storage is not on disk.")
				}
				return r.iso.CF.Service(&facetStub{parent: f.o, name: name, callback: c.Argument(1), frame: r.eng.Frame()})
			}),
			method("abort", 2, func(f *facetsAPI, c goja.FunctionCall) goja.Value {
				name := r.facetName(c, "abort")
				r.need(c, 2, "DurableObjectFacets", "abort", "Value")
				f.o.facets.abortFacet(name, r.iso.CF.Failure(c.Argument(1)))
				return goja.Undefined()
			}),
			method("delete", 1, func(f *facetsAPI, c goja.FunctionCall) goja.Value {
				f.o.facets.deleteFacet(r.facetName(c, "delete"))
				return goja.Undefined()
			}),
		},
	})
}

// facetName is the first argument of a method of ctx.facets.
func (r *Realm) facetName(c goja.FunctionCall, method string) string {
	r.need(c, 1, "DurableObjectFacets", method, "string")
	name := r.text(c.Argument(0))
	switch {
	case name == "" && method != "abort":
		r.eng.Throw("TypeError", "Facet name cannot be empty.")
	case len(name) > maxFacetName:
		r.eng.Throw("TypeError", "Facet name is too long (max %d characters).", maxFacetName)
	}
	return name
}

// facet finds the running facet of a name, or makes one.
func (o *facetTree) facet(name string, callback goja.Value, frame *engine.Frame) *facet {
	f := o.byName[name]
	if f != nil && (f.broken == nil || f.unusable) {
		return f
	}
	f = &facet{parent: o.Object, name: name, callback: callback, frame: frame}
	f.sockets = o.opts.Sockets.sibling(f.wake)
	if o.byName == nil {
		o.byName = map[string]*facet{}
	}
	o.byName[name] = f
	return f
}

func (o *facetTree) sortedFacets() []*facet {
	all := make([]*facet, 0, len(o.byName))
	for _, f := range o.byName {
		all = append(all, f)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all
}

func (o *facetTree) abortFacet(name string, reason *event.Error) {
	f := o.byName[name]
	if f == nil {
		return
	}
	delete(o.byName, name)
	reason.Remote = false
	f.stop(reason)
}

func (o *facetTree) deleteFacet(name string) {
	o.abortFacet(name, &event.Error{Message: "Facet was deleted."})
	if err := o.opts.Facets.Delete(name); err != nil {
		o.realm.eng.Throw("Error", "ctx.facets.delete(%q): %s", name, err)
	}
}

// deleteAllFacets follows a deleteAll() whose commit has noted that the facets'
// files are to go.
func (o *facetTree) deleteAllFacets() {
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
	f.refuse(f.broken)
	if f.object != nil {
		f.object.end(ev)
		if there := f.object.realm; there != f.parent.realm {
			_ = there.eng.PostLoop(func() {}) // what the end leaves to do follows no turn of its engine
		}
	}
	f.sockets.DropAll(1006, f.broken.Message)
}

// refuse answers what waits for the facet to start.
func (f *facet) refuse(err error) {
	waiting := f.waiting
	f.waiting = nil
	for _, w := range waiting {
		w.failed(err)
	}
}

// wake delivers an event of a hibernatable socket of the facet.
func (f *facet) wake(ev SocketEvent) {
	_ = f.parent.realm.eng.PostLoop(func() { // a closed loop has no facets
		if f.object != nil {
			f.object.Socket(ev, func(error) {}) // a facet that has ended has dropped its sockets
		}
	})
}

// Dup implements event.Capability; facets live as long as their parent.
func (s *facetStub) Dup() event.Capability { return s }

// Release implements event.Capability.
func (s *facetStub) Release() {}

// Unsendable implements cfapi.Unsendable: facets are their parent's alone.
func (s *facetStub) Unsendable() string {
	return "Stubs pointing to Durable Object facets are not serializable."
}

// Facet implements cfapi.Facet.
func (s *facetStub) Facet() {}

// Fetch implements cfapi.Target.
func (s *facetStub) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	s.with(func(o *Object) { o.Fetch(req, done) }, func(err error) { done(nil, err) })
	return func(error) {}
}

// Call implements event.Capability.
func (s *facetStub) Call(c *event.Call, done func(*event.Payload, error)) {
	s.with(func(o *Object) { o.Call(c, done) }, func(err error) { done(nil, err) })
}

// with calls use with the running facet, started first if it is not.
func (s *facetStub) with(use func(o *Object), failed func(error)) {
	err := s.parent.realm.eng.PostLoop(func() {
		if s.parent.ended {
			failed(s.parent.refusal())
			return
		}
		if s.bound == nil {
			s.bound = s.parent.facets.facet(s.name, s.callback, s.frame)
		}
		f := s.bound
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
		if f.broken != nil {
			return
		}
		ev := p.realm.iso.CF.Failure(reason)
		ev.Remote = false
		f.starting, f.unusable, f.broken = false, true, ev
		f.refuse(ev)
	}
	p.deliverIn(f.frame, "facet", func() {
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
	}, f.refuse)
}

// run starts the object of the facet; options is {class, id}.
func (f *facet) run(options goja.Value) {
	p := f.parent
	r := p.realm
	opts, ok := options.(*goja.Object)
	switch {
	case goja.IsUndefined(options) || goja.IsNull(options):
		r.eng.Throw("TypeError", "Cannot initialize N7workerd3api19DurableObjectFacets14StartupOptionsE with required members from an undefined or null value.")
	case !ok:
		r.eng.Throw("TypeError", "Callback returned incorrect type; expected 'Promise'")
	}
	ref, ok := r.iso.CF.ClassOf(opts.Get("class"))
	if !ok {
		r.eng.Throw("TypeError", "Incorrect type for the 'class' field on 'StartupOptions': the provided value is not of type 'DurableObjectClass or LoopbackDurableObjectNamespace or LoopbackColoLocalActorNamespace'.")
	}
	p.mayUseStorage()
	id, text := f.id(opts.Get("id"))
	open, files, err := p.opts.Facets.Child(f.name)
	if err != nil {
		r.eng.Throw("Error", "ctx.facets.get(%q): %s", f.name, err)
	}
	o := Options{
		Class: ref.Name, ID: id, TextID: text, Label: fmt.Sprintf("%s/%s", p.opts.Label, f.name),
		Open: open, Facets: files, Parent: p, Sockets: f.sockets, Alarms: facetAlarms{}, Props: ref.Props,
		Ended: func(_ *Object, ev *event.Error) {
			if f.broken == nil { // it failed by itself: the next get() starts anew
				f.stop(ev)
			}
		},
	}
	// The object starts outside this turn: its constructor is a turn of its own.
	r.eng.Turns.After(func() {
		if ref.Home == nil {
			f.begin(r, o)
			return
		}
		ref.Home(func(home any, err error) {
			_ = r.eng.PostLoop(func() { // a loop that has ended has ended the facet
				if err != nil {
					f.starting = false
					if f.broken == nil {
						f.stop(asEvent(err))
					}
					return
				}
				there := home.(*Realm)
				if there.eng.PostLoop(func() { f.begin(there, o) }) != nil {
					f.starting = false
					f.stop(Lost())
				}
			})
		})
	})
}

// begin makes the object in its realm, which is that of the parent or another one on
// the parent's loop, and hands over what has waited for it. Call it outside any turn.
func (f *facet) begin(home *Realm, o Options) {
	f.starting = false
	if f.broken != nil {
		return
	}
	if home != f.parent.realm {
		if class, ok := home.iso.Class(o.Class); !ok || isolate.IsEntrypoint(home.iso, class) {
			f.stop(&event.Error{Message: "Worker has no such actor class: " + o.Class})
			return
		}
	}
	f.object = home.Start(o, func(err error) {})
	waiting := f.waiting
	f.waiting = nil
	for _, w := range waiting {
		if f.object.failure != nil {
			w.failed(f.object.failure)
			continue
		}
		w.use(f.object)
	}
}

// asEvent is an error as callers get it.
func asEvent(err error) *event.Error {
	var ev *event.Error
	if !errors.As(err, &ev) {
		ev = &event.Error{Message: err.Error()}
	}
	return ev
}

// id is the facet's ctx.id: the given id, or the parent's; anything else that is
// given becomes a text.
func (f *facet) id(v goja.Value) (id objectid.ID, text *string) {
	p := f.parent
	if v == nil || goja.IsUndefined(v) {
		return p.opts.ID, nil
	}
	if id, ok := p.realm.iso.CF.IDOf(v); ok {
		return id, nil
	}
	t := p.realm.text(v)
	return p.opts.ID, &t
}

// facetAlarms is the alarm index of facets, which have no alarm: a commit that
// sets one fails, as in the reference.
type facetAlarms struct{}

var errFacetAlarm error = &event.Error{Name: "Error", Message: "Facets currently cannot set alarms."} // the reference's text

// Set implements AlarmIndex.
func (facetAlarms) Set(int64, string) error { return errFacetAlarm }

// Clear implements AlarmIndex.
func (facetAlarms) Clear(string) error { return nil }

// Reconcile implements AlarmIndex.
func (facetAlarms) Reconcile(*int64, string) error { return nil }
