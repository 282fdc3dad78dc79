// Package driver is the interface that a kind of binding implements: it makes the
// property of env. The kinds are data (runtime/binding); the drivers are listed in
// runtime/binding/drivers, and runtime/server runs them.
package driver

import (
	"errors"
	"path/filepath"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/sqlstore"
)

// Driver offers one kind of binding to the workers of a session. Safe for
// concurrent use, but for Make.
type Driver interface {
	// Offered reports whether the binding works. Where it does not, its first use
	// throws the kind's advice, unless Make makes something better.
	Offered(w Worker, b config.Binding) bool
	// Make makes the property of env, before user code runs: it may take what it
	// needs from the platform's globals. It is called on the loop of a's engine.
	Make(a *cfapi.API, w Worker, b config.Binding) goja.Value
	// Close ends what the driver has opened.
	Close() error
}

// Stub is a service stub of an object of the platform's own, which the binding is where the
// reference has a worker behind it (miniflare: plugins with an entrypoint). It is called
// within Make.
func Stub(a *cfapi.API, w Worker, object goja.Value) goja.Value {
	return a.Service(w.Inner(object.(*goja.Object)))
}

// Uncloned is a binding, of which clones are refused with a text.
func Uncloned(a *cfapi.API, object goja.Value, text string) goja.Value {
	cfapi.RefuseClone(a, object.(*goja.Object), text)
	return object
}

// Session is what the drivers of the workers that run together share.
type Session struct {
	Scheduler sched.Scheduler
	Entropy   entropy.Source
	Points    *killpoint.Points
	// PersistDir is the state directory. It is "" until a standby is put to work,
	// before which no event can arrive.
	PersistDir func() string
	// Limits, Sync and Files are those of Durable Objects' databases, for the
	// bindings that have such databases. Files may be nil: the system's.
	Limits sqlstore.LimitsProfile
	Sync   sqlite.Sync
	Files  *disk.Disk
	// Report is told of what a user should know of the files.
	Report func(error)
	// Load runs a worker in an isolate of its own. done is called once, from any
	// goroutine.
	Load func(code Code, done func(Loaded, error))
	// URL is where clients reach the first worker; "" if nothing listens.
	URL func() string
	// Environ is the environment that the session was started in, as os.Environ.
	Environ []string
	// AI is the URL of a provider that answers for Workers AI; "" is none.
	AI string
}

// Dir is where bindings of the kind have their state, in miniflare's layout. The
// driver makes it when there is something to keep.
func (s *Session) Dir(kind binding.ID) (string, error) {
	dir := s.PersistDir()
	if dir == "" {
		return "", errors.New("there is no persist directory yet")
	}
	return filepath.Join(dir, "v3", binding.Lookup(kind).State), nil
}

// Worker is the worker that env belongs to. Safe for concurrent use.
type Worker interface {
	Project() *config.Project
	// Running reports whether a worker of that name is this one or runs beside it.
	Running(script string) bool
	// Reachable reports whether a worker of that name is this one, runs beside it, or in
	// another dev session that this one can call.
	Reachable(script string) bool
	// Service is an entrypoint of a worker, "" for the default one. A worker that
	// does not run is a target that says so.
	Service(script, entrypoint string, props *event.Payload) cfapi.Target
	// Namespace is what a Durable Object binding names.
	Namespace(b config.Binding) cfapi.Namespace
	// Assets is the project's assets; it has them.
	Assets() cfapi.Target
	// Inner is an object of the platform's own as the entrypoint of another worker: its
	// methods are called over RPC, its fetch() gets requests. It is called within Make.
	Inner(object *goja.Object) cfapi.Target
	// Objects are the objects of the platform's class with that unique key,
	// wherever in the session they live. A class that no worker hosts is a
	// namespace whose stubs say so.
	Objects(uniqueKey string) cfapi.Namespace
}

// Web is a driver that answers clients at paths of its own, before the worker, where a
// worker of the session has a binding of its kind.
type Web interface {
	Driver
	// Serves reports whether the driver answers at a path.
	Serves(path string) bool
	// Serve answers a request, whose body has been read. done is called once, from any
	// goroutine. It must not block.
	Serve(req *event.Request, body []byte, done func(*event.Response))
}

// Hosting is a driver whose state is in Durable Objects of the platform's own: a
// queue's broker, a Workflow's instances. They live in the isolate of a worker,
// and so have gates, alarms, effect points and recovery like any object.
type Hosting interface {
	Driver
	// Classes are those that the workers of a session need, at most one for each
	// unique key. It depends on nothing but the projects.
	Classes(projects []*config.Project) []Class
}

// Class is a class of Durable Objects of the platform's own. Immutable.
type Class struct {
	// Name is the class in labels and commands: no identifier, so that no class of
	// a worker has it.
	Name string
	// UniqueKey names the folder of the objects, below v3 and the kind's own.
	UniqueKey string
	Folder    string
	// Script is the worker whose isolate they live in.
	Script string
	// Make makes the class, on the loop, before user code runs.
	Make func(a *cfapi.API, h Handlers) *goja.Object
}

// Handlers are what a hosted class can call of its worker. Safe for concurrent
// use.
type Handlers interface {
	// Queue delivers a batch to the queue handler of the default export. done is
	// called once; its error says that the event did not reach the handler or did
	// not end.
	Queue(b *event.QueueBatch, done func(*event.QueueResult, error))
	// Entrypoint is an exported class or handler.
	Entrypoint(name string, props *event.Payload) cfapi.Target
	// Objects is Worker.Objects.
	Objects(uniqueKey string) cfapi.Namespace
}

// Stateless is embedded by drivers that open nothing and always work.
type Stateless struct{}

// Offered implements Driver.
func (Stateless) Offered(Worker, config.Binding) bool { return true }

// Close implements Driver.
func (Stateless) Close() error { return nil }
