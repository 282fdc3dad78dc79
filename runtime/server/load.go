package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/webapi/caches"
)

// build bundles the project and loads it into a new isolate. On the way it
// replaces the server's assets.
func (s *Server) build(ctx context.Context, p *config.Project) (*worker, error) {
	if p.Build.Command != "" {
		if err := s.opts.customBuild(ctx, p.Build); err != nil {
			return nil, err
		}
	}
	if p.Main != "" {
		if d, bad := p.CheckMain(); bad {
			return nil, &config.ConfigError{Diagnostics: []config.Diagnostic{d}}
		}
	}
	if err := s.openAssets(p); err != nil {
		return nil, err
	}
	if p.Main == "" {
		return &worker{}, nil // assets alone
	}
	made, discard := prepareBeside(s, p)
	b, err := s.bundling.make(p)
	if err != nil {
		if closing := discard(ctx); closing != nil {
			err = errors.Join(err, closing)
		}
		return nil, err
	}
	for _, w := range b.Warnings {
		s.event(EventWarning, strings.TrimRight(bundle.RenderWarnings([]bundle.Message{w}, false), "\n"))
	}
	w, err := made()
	if err != nil {
		return nil, err
	}
	return evaluate(ctx, s, w, b)
}

// prepareBeside has an isolate made beside what comes next, unless everything runs on one
// goroutine. made waits for it, or makes it; discard closes one that nobody needs.
func prepareBeside(s *Server, p *config.Project) (made func() (*worker, error), discard func(context.Context) error) {
	made = sync.OnceValues(func() (*worker, error) { return prepare(s, p) })
	if s.opts.Drive != nil || s.opts.Bundles != nil {
		return made, func(context.Context) error { return nil }
	}
	s.opts.Scheduler.Go("make isolate", func() { _, _ = made() }) // who waits for it gets the error
	return made, func(ctx context.Context) error {
		w, err := made()
		if err != nil {
			return nil // there is none
		}
		return w.iso.Close(ctx)
	}
}

// load evaluates a bundle in a new isolate and checks that the configured
// classes exist.
func (s *Server) load(ctx context.Context, p *config.Project, b *bundle.Bundle) (*worker, error) {
	w, err := prepare(s, p)
	if err != nil {
		return nil, err
	}
	return evaluate(ctx, s, w, b)
}

// prepare makes an isolate in which nothing has been evaluated.
func prepare(s *Server, p *config.Project) (*worker, error) {
	w := &worker{project: p}
	namespaces := map[string]cfapi.Namespace{}
	for _, c := range p.Classes {
		namespaces[c.ClassName] = s.space(c.UniqueKey)
	}
	platform := map[string]func(*isolate.Isolate) *goja.Object{}
	for _, c := range s.session.platform(s, p) {
		platform[c.Name] = func(i *isolate.Isolate) *goja.Object { return c.Make(i.CF, hosting{i, host{s, p, w}}) }
	}
	globals, err := globals(p)
	if err != nil {
		return nil, err
	}
	w.iso = isolate.New(isolate.Options{
		Name: p.Name, Scheduler: s.opts.Scheduler, Entropy: chance(s),
		Points: s.opts.Points, Log: consoleOf(s), Compat: p.Compat, Fetch: wayOut(s.opts.Dialer.Do, p),
		Caches:   caches.NewStore(caches.Folder(s.opts.PersistDir), s.opts.Points),
		Tail:     tailsOf(s, p),
		Bindings: s.bindings(p, w), Environ: environ(p), Globals: globals, Namespaces: namespaces, Platform: platform, TurnLimit: s.opts.turnLimit(p), Patience: s.opts.Patience, Subrequests: s.opts.subrequests(p), Watch: s.opts.machine(), Heap: s.opts.Heap, Turns: s.opts.Turns, Skew: s.opts.Skew, Logs: logsOf(s),
		RunsTests: s.opts.RunsTests && s == s.session.members[0], // tests run in the primary worker
		Condemned: func(i *isolate.Isolate, reason error) {
			if loading := w.loading.Load(); loading != nil { // what is condemned before it is loaded never says that it is
				(*loading)(reason)
			}
			s.condemned(w, reason)
		},
	})
	w.main = w.iso.Entrypoint(defaultEntrypoint, nil)
	return w, nil
}

// evaluate evaluates a bundle in the isolate of w.
func evaluate(ctx context.Context, s *Server, w *worker, b *bundle.Bundle) (*worker, error) {
	p := w.project
	w.bundle = b
	isolate.Use(w.iso, b)
	err := s.opts.await(ctx, "load the worker", w.iso.Engine.Done(), func(done func(error)) {
		w.loading.Store(&done)
		w.iso.Start(func(err error) {
			if err != nil {
				done(&LoadError{err.Error()})
				return
			}
			w.realm = durableobject.NewRealm(w.iso, s.opts.Points, p.Compat, func(class string) bool {
				c, ours := p.Class(class)
				return ours && !c.SQLite()
			})
			w.exports, w.classes = w.iso.ExportNames(), w.iso.Classes()
			done(s.checkExports(p, w))
		})
	})
	if err == nil {
		err = w.iso.Engine.Health.CondemnedBy()
	}
	if err != nil {
		return nil, errors.Join(err, w.iso.Close(context.WithoutCancel(ctx)))
	}
	return w, nil
}

// chance is the randomness of the next isolate. Each has its own: one that began
// again as its predecessor did would make the same ids.
func chance(s *Server) entropy.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isolates++
	return s.opts.Entropy.Fork(fmt.Sprintf("isolate %d", s.isolates))
}

// condemned replaces an isolate that must not be used any more. It runs on
// that isolate's loop.
func (s *Server) condemned(old *worker, reason error) {
	s.mu.Lock()
	active := s.current == old
	if active {
		s.current = nil
	}
	closed := s.closed
	s.mu.Unlock()
	if !active || closed {
		return
	}
	s.event(EventRestarted, "the worker was restarted: "+reason.Error())
	s.pool.ClearRealm()
	s.pool.EndAll(func(o *durableobject.Object) *event.Error { return old.iso.Condemnation(o.Context(), reason) })
	s.renew(old, func(error) {})
}

// renew closes an isolate whose objects and requests have ended and loads the
// same bundle again. done is called exactly once.
func (s *Server) renew(old *worker, done func(error)) {
	project, bundle := old.project, old.bundle
	s.opts.Scheduler.Go("replace isolate", func() {
		old.iso.Engine.Drain()
		w, err := s.load(context.Background(), project, bundle)
		if err != nil {
			err = fmt.Errorf("the worker could not be restarted: %w", err)
			s.event(EventFailure, err.Error())
			s.failQueued(err)
			done(err)
			return
		}
		s.mu.Lock()
		s.ahead = false // what ended the isolate may have been a module that nobody asks for
		s.mu.Unlock()
		s.install(w)
		done(nil)
	})
}

func (s *Server) failQueued(err error) {
	s.mu.Lock()
	queued := s.queued
	s.queued = nil
	s.mu.Unlock()
	for _, fn := range queued {
		fn(nil, err)
	}
	s.pool.FailWaiting(err)
}

// environ is process.env: the text variables, as nodejs_compat has it.
func environ(p *config.Project) func() map[string]string {
	return func() map[string]string {
		env := map[string]string{}
		if !p.Compat(compat.NodejsCompatPopulateProcessEnv) {
			return env
		}
		for _, v := range p.Vars {
			if text, ok := v.Text(); ok {
				env[v.Name] = text
			} else {
				env[v.Name] = string(v.Value)
			}
		}
		return env
	}
}
