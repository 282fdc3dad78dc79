package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/insides"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/assets"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/gateway"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/webapi/url"
)

// Server runs a worker project, and the further ones of its session. Safe for
// concurrent use.
type Server struct {
	opts     Options
	pool     *pool.Pool
	gateway  *gateway.Gateway
	listener net.Listener
	watcher  *watcher
	session  *session
	bundling bundling

	warnings []config.Diagnostic

	reloading sync.Mutex // held by the reload that is under way
	opening   sync.Mutex // held while a namespace is opened, lest it be opened twice
	// noScheduled: that the worker has no handler of scheduled events has been told.
	noScheduled sync.Once
	locks       map[string]*spaceLock // guarded by opening

	mu      sync.Mutex // guards everything below
	project *config.Project
	spaces  map[string]*pool.Namespace // by unique key
	current *worker                    // nil while the isolate is being replaced
	next    *worker                    // that takes over when the old one's loop lets it
	queued  []func(*worker, error)     // requests that came meanwhile
	// flushing: install is handing out queued; what comes now queues behind it.
	flushing bool
	// ahead: the start is over, and workers evaluate their deferred modules.
	ahead  bool
	assets *assets.Service
	closed bool

	isolates int                              // so far
	retiring map[*isolate.Isolate]clock.Timer // replaced, with work in flight
}

// worker is one loaded generation of the project; all nil if it has assets
// alone. Immutable once ready.
type worker struct {
	iso   *isolate.Isolate
	realm *durableobject.Realm
	main  cfapi.Target

	project *config.Project
	bundle  *bundle.Bundle
	loading atomic.Pointer[func(error)] // ends the wait for its evaluation; nil before that
	exports []string                    // all names; written before it is current, like classes
	classes []string                    // that it exports
}

func newServer(o Options) *Server {
	s := &Server{opts: o, spaces: map[string]*pool.Namespace{}}
	s.bundling.opts, s.bundling.closed = &s.opts, s.isClosed
	s.bundling.warn = func(text string) { s.event(EventWarning, text) }
	return s
}

// Start loads the project and answers on Options.Address. Errors are for
// people: *config.ConfigError, *bundle.BuildError, *LockedError,
// *AddressError, *LoadError, or an error of the system.
func Start(ctx context.Context, o Options) (s *Server, err error) {
	s = newServer(o)
	defer func() {
		if x := recover(); x != nil { // a simulated death; anything else ends the process
			s.Abandon()
			panic(x)
		}
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
			s = nil
		}
	}()
	project, warnings, err := config.Load(o.Config)
	s.warnings = warnings
	if err != nil {
		return s, err
	}
	s.project = project
	for _, line := range insides.Unknown() {
		s.event(EventWarning, line)
	}
	if err := s.join(); err != nil {
		return s, err
	}
	if err := s.preparePlaces(ctx, project); err != nil {
		return s, err
	}
	for _, m := range s.session.members {
		w, err := m.build(ctx, m.project)
		if err != nil {
			return s, err
		}
		m.install(w)
	}
	if o.Hold != nil {
		if err := s.afterHold(ctx, project); err != nil {
			return s, err
		}
	}
	for _, m := range s.session.members {
		m.pool.Start()
	}
	if s.listener != nil {
		s.serve()
	}
	openRegistry(s)
	for _, m := range s.session.members {
		if !o.Watch {
			break
		}
		if err := m.watch(); err != nil {
			m.event(EventWarning, fmt.Sprintf("changes of files are not noticed: %v", err))
		}
	}
	if o.Ahead {
		for _, m := range s.session.members {
			evaluateAhead(m)
		}
	}
	return s, nil
}

// evaluateAhead has the worker in service, and those that follow it, evaluate their
// deferred modules.
func evaluateAhead(s *Server) {
	s.mu.Lock()
	s.ahead = true
	w := s.current
	s.mu.Unlock()
	if w != nil && w.iso != nil { // a project of assets alone has no worker
		w.iso.EvaluateAhead()
	}
}

// openPool makes the place of the worker's objects and opens their namespaces.
func (s *Server) openPool() error {
	o := s.opts
	s.pool = pool.New(pool.Options{
		Clock: o.Scheduler.Clock(), Entropy: o.Entropy, Points: o.Points, Dir: s.opts.objectsDir(),
		Sync: o.Sync, Limits: o.Limits, Disk: o.Disk, Files: o.Files, Policy: o.Eviction, Opened: o.Opened, Skew: o.Skew, Report: func(err error) { s.event(EventFailure, err.Error()) },
	})
	return s.openNamespaces(s.project)
}

func (s *Server) event(kind EventKind, text string) {
	if s.opts.Events != nil {
		s.opts.Events(Event{Kind: kind, Text: text})
	}
}

// openNamespaces opens those of the project's classes that are not open yet.
func (s *Server) openNamespaces(p *config.Project) error {
	for _, place := range s.session.places(s, p) {
		if err := s.openNamespace(place); err != nil {
			return err
		}
	}
	return nil
}

// openNamespace opens that of a class, unless it is open.
func (s *Server) openNamespace(p place) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.space(p.uniqueKey) != nil {
		return nil
	}
	if err := own(context.Background(), s, p); err != nil {
		return err
	}
	n, err := s.pool.OpenIn(p.folder, p.class, p.uniqueKey)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spaces[p.uniqueKey] = n
	return nil
}

// serve starts the gateway on the listener.
func (s *Server) serve() {
	s.gateway = gateway.New(gateway.Options{
		Scheduler: s.opts.Scheduler, Machine: s.opts.machine(), Handler: s.incoming(), Points: s.opts.Points, AllowedHosts: s.opts.AllowedHosts, Origin: func() gateway.Origin { return originOf(s.Project()) }, Href: href,
		Around: gateway.Surroundings{Sources: func() map[string][]byte { return s.Sources().Files() }, Logs: s.opts.RecentLogs, Dashboard: s.opts.Dashboard}, Log: logged(s.opts.Requests), Warn: func(text string) { s.event(EventWarning, text) },
	})
	sched.Attend(s.opts.Scheduler, "gateway accept", func() {
		if err := s.gateway.Serve(s.listener); err != nil && !s.isClosed() {
			s.event(EventFailure, fmt.Sprintf("the listener failed: %v", err))
		}
	})
}

// href is a URL as the URL standard writes it.
func href(text string) (string, error) {
	u, err := url.Parse(text, "")
	if err != nil {
		return "", err
	}
	return u.Href(false), nil
}

// incoming answers what comes from the listener.
func (s *Server) incoming() netx.Handler {
	if s.opts.Incoming == nil {
		return s.Fetch
	}
	return s.opts.Incoming(s.Fetch)
}

// originOf is what requests from outside say that they were sent to.
func originOf(p *config.Project) gateway.Origin {
	dev := p.Dev
	return gateway.Origin{Scheme: cmp.Or(dev.UpstreamProtocol, "http"), Host: dev.Host}
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// URL is where the server answers, "" without a listener.
func (s *Server) URL() string {
	if s.listener == nil {
		return ""
	}
	addr := s.listener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	if _, plain := s.listener.(*net.TCPListener); !plain {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// Project is the configuration that runs now.
func (s *Server) Project() *config.Project {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.project
}

// Warnings are what config.Load had to say at the start.
func (s *Server) Warnings() []config.Diagnostic { return s.warnings }

// Sources are what the worker was made of; empty while it is being replaced.
func (s *Server) Sources() Sources {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return Sources{}
	}
	return Sources{s.current.bundle}
}

// Sources are the files that a worker was made of.
type Sources struct{ bundle *bundle.Bundle }

// Files are the worker's own modules, by their names in stacks and messages.
func (s Sources) Files() map[string][]byte {
	if s.bundle == nil {
		return nil
	}
	return s.bundle.Files()
}

// Text is a file as stacks and messages name it, packages' included; false if the worker
// has none of this name, or it can no longer be read.
func (s Sources) Text(file string) (string, bool) {
	if s.bundle == nil {
		return "", false
	}
	return s.bundle.Source(file)
}

// PersistDir is the state directory.
func (s *Server) PersistDir() string { return s.opts.PersistDir }

// Fetch answers a request as the listener does: assets first, where they come
// first, then the worker. done is called exactly once.
func (s *Server) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	if s.trigger(req, done) {
		return func(error) {}
	}
	s.mu.Lock()
	site := s.assets
	s.mu.Unlock()
	// Where tests run, nobody but their runner asks here, and it asks the worker.
	if site != nil && !s.opts.RunsTests && !site.WorkerFirst(pathOf(req.URL)) {
		if resp, found := site.Serve(req); found {
			done(resp, nil)
			return func(error) {}
		}
	}
	c := &event.Canceler{}
	s.fetchWorker(req, site, c, done)
	return c.Cancel
}

// fetchWorker asks the worker; one that is replaced before it has begun to
// answer passes the request on to its successor.
func (s *Server) fetchWorker(req *event.Request, site *assets.Service, c *event.Canceler, done func(*event.Response, error)) {
	s.withWorker(func(w *worker, err error) {
		switch {
		case err != nil:
			done(nil, err)
		case w.main == nil && site != nil:
			done(site.Fetch(req), nil)
		case w.main == nil:
			done(nil, errors.New("this project has neither a worker nor assets: set \"main\" in the wrangler file"))
		default:
			c.Set(w.main.Fetch(req, func(resp *event.Response, err error) {
				if errors.Is(err, isolate.ErrEnded) && !s.isClosed() {
					s.fetchWorker(req, site, c, done)
					return
				}
				done(resp, err)
			}))
		}
	})
}

// withWorker calls fn with the loaded worker, now or when it is.
func (s *Server) withWorker(fn func(*worker, error)) {
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		fn(nil, pool.ErrClosed)
	case s.current == nil || s.flushing:
		s.queued = append(s.queued, fn)
		s.mu.Unlock()
	default:
		w := s.current
		s.mu.Unlock()
		fn(w, nil)
	}
}

// install makes w the worker that answers. Requests that waited go first, so
// that calls keep their order.
func (s *Server) install(w *worker) {
	s.mu.Lock()
	s.current, s.flushing = w, true
	s.mu.Unlock()
	if w.realm != nil {
		s.pool.SetRealm(w.realm)
	}
	for {
		s.mu.Lock()
		queued := s.queued
		if s.current != w || len(queued) == 0 {
			s.flushing = false
			ahead := s.ahead
			s.mu.Unlock()
			if ahead {
				w.iso.EvaluateAhead()
			}
			return
		}
		s.queued = nil
		s.mu.Unlock()
		for _, fn := range queued {
			fn(w, nil)
		}
	}
}

// Scheduled delivers a cron event to the worker, as isolate.Isolate.Scheduled does.
func (s *Server) Scheduled(cron string, at time.Time, returned func(error), done func(noRetry bool, err error)) {
	s.withWorker(func(w *worker, err error) {
		if err == nil && w.iso == nil {
			err = errors.New("this project has no worker, only assets")
		}
		if err != nil {
			done(false, err)
			return
		}
		w.iso.Scheduled(cron, at.UnixMilli(), returned, done)
	})
}

// LiveObjects is the number of objects in memory.
func (s *Server) LiveObjects() int { return s.pool.Live() }

// Shrink has objects of all workers of the session that have been idle for so
// long give back memory; see durableobject.(*Realm).Shrink. Safe for concurrent
// use.
func (s *Server) Shrink(idle time.Duration) {
	for _, m := range s.session.members {
		m.mu.Lock()
		w := m.current
		m.mu.Unlock()
		if w != nil && w.iso != nil {
			// A loop that has ended has no objects.
			_ = w.iso.Engine.PostLoop(func() { w.realm.Shrink(idle) })
		}
	}
}

// Close stops the server: the listener first, then objects and alarms, then the
// isolate. What was acknowledged is on disk already. The scheduler is the
// caller's to close.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	w, next, queued := s.current, s.next, s.queued
	retired := s.retired()
	s.current, s.next, s.queued = nil, nil, nil
	s.mu.Unlock()
	for _, fn := range queued {
		fn(nil, pool.ErrClosed)
	}
	var errs []error
	if s.watcher != nil {
		errs = append(errs, s.watcher.close())
	}
	if s.session != nil && s.session.members[0] == s {
		errs = append(errs, s.session.closeRegistry(ctx))
	}
	if s.gateway != nil {
		errs = append(errs, s.gateway.Close(ctx))
	} else if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	errs = append(errs, s.closeOthers(ctx))
	if s.pool != nil {
		errs = append(errs, s.opts.await(ctx, "close the objects", nil, s.pool.Close))
	}
	for _, w := range []*worker{w, next} {
		if w != nil && w.iso != nil {
			errs = append(errs, w.iso.Close(ctx))
		}
	}
	for _, iso := range retired {
		errs = append(errs, iso.Close(ctx))
	}
	s.bundling.close()
	if s.session != nil && s.session.members[0] == s {
		errs = append(errs, s.session.drivers.Close())
	}
	return errors.Join(append(errs, disown(s))...)
}

// Abandon closes the files of a server whose simulated world has died, as they
// are; nothing else of it runs any more. It must run where the world ran.
func (s *Server) Abandon() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, m := range s.session.members {
		if m.pool != nil {
			m.pool.Abandon()
		}
		m.bundling.close()
		_ = disown(m) // closing files that nobody wrote to
	}
	_ = s.session.drivers.Close() // their world has died; what was committed is on disk
}

// processEnviron is the environment for custom builds.
func processEnviron() []string { return os.Environ() }
