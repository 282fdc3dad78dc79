package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/pool"
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
	b, err := s.bundling.make(p)
	if err != nil {
		return nil, err
	}
	for _, w := range b.Warnings {
		s.event(EventWarning, strings.TrimRight(bundle.RenderWarnings([]bundle.Message{w}, false), "\n"))
	}
	return s.load(ctx, p, b)
}

// load evaluates a bundle in a new isolate and checks that the configured
// classes exist.
func (s *Server) load(ctx context.Context, p *config.Project, b *bundle.Bundle) (*worker, error) {
	w := &worker{project: p, bundle: b}
	namespaces := map[string]cfapi.Namespace{}
	for _, c := range p.Classes {
		namespaces[c.ClassName] = s.space(c.UniqueKey)
	}
	platform := map[string]func(*isolate.Isolate) *goja.Object{}
	for _, c := range s.session.platform(s, p) {
		platform[c.Name] = func(i *isolate.Isolate) *goja.Object { return c.Make(i.CF, hosting{i, host{s, p, w}}) }
	}
	loading := func(error) {}
	w.iso = isolate.New(isolate.Options{
		Name: p.Name, Scheduler: s.opts.Scheduler, Entropy: s.chance(), Bundle: b,
		Points: s.opts.Points, Log: consoleOf(s), Compat: p.Compat, Fetch: s.opts.Dialer.Do,
		Caches:   caches.NewStore(filepath.Join(s.opts.PersistDir, "v3", "minido-caches"), s.opts.Points),
		Tail:     tailsOf(s, p),
		Bindings: s.bindings(p, w), Environ: environ(p), Namespaces: namespaces, Platform: platform, TurnLimit: s.opts.turnLimit(p), Subrequests: s.opts.subrequests(p), Watch: s.opts.machine(), Heap: s.opts.Heap, Turns: s.opts.Turns,
		RunsTests: s.opts.RunsTests,
		Condemned: func(i *isolate.Isolate, reason error) {
			loading(reason) // what is condemned before it is loaded never says that it is
			s.condemned(w, reason)
		},
	})
	w.main = w.iso.Entrypoint(defaultEntrypoint, nil)
	err := s.opts.await(ctx, "load the worker", w.iso.Engine.Done(), func(done func(error)) {
		loading = done
		w.iso.Start(func(err error) {
			if err != nil {
				done(&LoadError{err.Error()})
				return
			}
			w.realm = durableobject.NewRealm(w.iso, s.opts.Points, p.Compat)
			w.classes = w.iso.Classes()
			done(s.checkClasses(p, w.iso))
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
func (s *Server) chance() entropy.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isolates++
	return s.opts.Entropy.Fork(fmt.Sprintf("isolate %d", s.isolates))
}

// checkClasses reports bindings to classes that the worker does not export: its
// own, and those of the other workers of the session that name it.
func (s *Server) checkClasses(p *config.Project, iso *isolate.Isolate) error {
	var bad []config.Diagnostic
	main := p.Relative(p.Main)
	for _, m := range s.session.members {
		bindings, where, there := p.DurableObjects, main, ""
		if m != s {
			bindings, where, there = m.Project().DurableObjects, fmt.Sprintf("%s of the worker %q", main, p.Name), " there"
		}
		for _, b := range bindings {
			if _, ok := iso.Class(b.ClassName); b.ScriptName == p.Name && !ok {
				bad = append(bad, noSuchClass(b, where, there, iso.ExportNames()))
			}
		}
	}
	return asError(bad)
}

// bindOthers prepares what a changed configuration binds to in other workers of
// the session, and reports classes that they do not export.
func (s *Server) bindOthers(p *config.Project) error {
	var bad []config.Diagnostic
	for _, b := range p.DurableObjects {
		m := s.session.find(b.ScriptName)
		if m == nil || m == s {
			continue
		}
		classes, running := m.exported()
		switch other := m.Project(); {
		case !running: // it checks itself when it starts
		case slices.Contains(classes, b.ClassName):
			if err := m.openNamespace(place{pool.Folder, b.ClassName, b.UniqueKey}); err != nil {
				return err
			}
		case other.Main == "":
			bad = append(bad, config.NewDiagnostic(config.SeverityError, b.ClassWhere, []byte(readText(b.ClassWhere.File)),
				fmt.Sprintf("the binding %s names the class %q of the worker %q, which has only assets", b.Name, b.ClassName, other.Name),
				"name a worker that exports the class in script_name"))
		default:
			bad = append(bad, noSuchClass(b, fmt.Sprintf("%s of the worker %q", other.Relative(other.Main), other.Name), " there", classes))
		}
	}
	return asError(bad)
}

// exported are the classes of the worker that runs now.
func (s *Server) exported() (classes []string, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil, false
	}
	return s.current.classes, true
}

func asError(bad []config.Diagnostic) error {
	if bad == nil {
		return nil
	}
	return &config.ConfigError{Diagnostics: bad}
}

func noSuchClass(b config.DurableObjectBinding, where, there string, exports []string) config.Diagnostic {
	return config.NewDiagnostic(config.SeverityError, b.ClassWhere, []byte(readText(b.ClassWhere.File)),
		fmt.Sprintf("the binding %s names the class %q, which %s does not export", b.Name, b.ClassName, where),
		fmt.Sprintf("it exports %s; export the class%s, or correct class_name", strings.Join(exports, ", "), there))
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

func readText(path string) string {
	b, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return "" // the diagnostic then has no code frame
	}
	return string(b)
}
