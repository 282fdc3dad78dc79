package server

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/workflow"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/explorer"
	"minido.dev/minido/runtime/gateway"
)

// logged leaves the explorer's requests out of the log, as wrangler does: they are
// those of who looks at it.
func logged(to func(gateway.RequestLog)) func(gateway.RequestLog) {
	if to == nil {
		return nil
	}
	return func(r gateway.RequestLog) {
		if r.Path != explorer.Path && !strings.HasPrefix(r.Path, explorer.Path+"/") {
			to(r)
		}
	}
}

// maxExplorerBytes bounds what is put through the explorer: more than a value of KV may
// have.
const maxExplorerBytes = 100 << 20

// explore answers a request to the explorer of the session's workers.
func explore(s *Server, req *event.Request, done func(*event.Response, error)) {
	x := explorer.New(explorer.Options{
		Projects: func() (all []*config.Project) {
			for _, m := range s.session.members {
				all = append(all, m.Project())
			}
			return all
		},
		Driver: func(kind binding.ID) driver.Driver { return s.session.drivers.Of(kind) },
		Read:   func(file, sql string) ([][]any, error) { return readOnly(s, file, sql) },
		Execute: func(class, object string, statements []durableobject.Statement, done func([]durableobject.Result, error)) {
			ref, err := s.Address(class, object)
			if err != nil {
				done(nil, err)
				return
			}
			ref.Execute(statements, done)
		},
		Workflow: func(name, instance string, ask workflow.Ask, done func([]byte, error)) {
			workflow.Control(s.session.space, name, instance, ask, done)
		},
		Scheduled: func(worker, cron string, at time.Time, done func(noRetry bool, err error)) {
			for _, m := range s.session.members {
				if m.Project().Name == worker {
					fire(m, cron, at, done)
					return
				}
			}
			done(false, fmt.Errorf("explorer: no worker %q runs", worker)) // it went meanwhile
		},
		Traces:  s.session.traces,
		Entropy: s.opts.Entropy,
		Now:     s.opts.Scheduler.Clock().Now,
	})
	answer := func(objects map[string][]explorer.Stored) {
		event.ReadAll(req.Body, maxExplorerBytes, func(body []byte, err error) {
			if err != nil {
				done(plain(413, "explorer: "+err.Error()), nil)
				return
			}
			s.opts.Scheduler.Go("explorer", func() { x.Fetch(req, body, objects, func(resp *event.Response) { done(resp, nil) }) })
		})
	}
	if !explorer.NeedsObjects(req) {
		answer(nil)
		return
	}
	s.Objects(func(all []WorkerObjects, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		stored := map[string][]explorer.Stored{}
		for _, w := range all {
			for _, o := range w.Objects {
				ref, err := s.Find(o.Class, o.ID)
				if err != nil {
					continue // it went meanwhile
				}
				stored[o.Class] = append(stored[o.Class], explorer.Stored{ID: o.ID, Name: o.Name, File: ref.File()})
			}
		}
		answer(stored)
	})
}

// readOnly runs one statement on a connection of its own, which sees what is committed.
func readOnly(s *Server, file, sql string) (rows [][]any, err error) {
	conn, err := sqlite.Open(sqlite.Options{Path: file, ReadOnly: true, Now: s.opts.Scheduler.Clock().Now, Rand: s.opts.Entropy})
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	st, _, err := conn.Prepare(sql, false)
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	defer st.Finalize()
	for {
		more, err := st.Step()
		if err != nil || !more {
			return rows, err
		}
		row := make([]any, st.Columns())
		for i := range row {
			row[i] = st.Column(i)
		}
		rows = append(rows, row)
	}
}
