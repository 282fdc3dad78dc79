package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
)

// actor does what an order's acts say, each once, when its point is passed.
type actor struct {
	child   *child
	acts    []process.Act
	hits    []func(killpoint.Point) bool // nil once it has hit; under the lock of Points
	failing error                        // of the effect whose point was just hit; under that lock
	out     *os.File                     // written with one call a line
}

func (c *child) newActor(o process.Order) (*actor, error) {
	a := &actor{child: c, acts: o.Acts}
	for _, act := range o.Acts {
		hits, err := killpoint.ParseTarget(act.Point)
		if err != nil {
			return nil, fmt.Errorf("child: %w", err)
		}
		a.hits = append(a.hits, hits)
	}
	var err error
	if a.out, err = os.OpenFile(o.Acted, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("child: acts: %w", err)
	}
	return a, nil
}

// pass is told each point, under the lock of Points.
func (a *actor) pass(p killpoint.Point) {
	a.failing = nil
	for i, hits := range a.hits {
		if hits == nil || !hits(p) {
			continue
		}
		a.hits[i] = nil
		act := a.acts[i]
		switch verb := fault.Verb(act.Verb); verb {
		case fault.Fail:
			a.failing = machineError(act.Arg, p)
			a.note(act, nil)
		case fault.Slow, fault.Jump:
			d, err := time.ParseDuration(act.Arg)
			if err == nil && verb == fault.Slow {
				err = wait.Pause(context.Background(), clock.Real{}, d)
			} else if err == nil {
				a.child.clock.Jump(d)
			}
			a.note(act, err)
		default:
			a.child.acting.Add(1)
			if a.child.isServing() {
				a.do(act, p.Object) // queued on the isolate's loop here: before everything that follows from this point
				continue
			}
			a.child.scheduler.Go("fault", func() { // a point of the server's start: there is no loop yet
				<-a.child.serving
				a.do(act, p.Object)
			})
		}
	}
}

// isServing reports whether the server has been made.
func (c *child) isServing() bool {
	select {
	case <-c.serving:
		return true
	default:
		return false
	}
}

// interfere fails the effect whose point was just passed, if an act says so.
func (a *actor) interfere(killpoint.Point) error { return a.failing }

// machineError is what a write meets on a disk that is full, breaks, or is locked
// by another process (SQLite's error where SQLite writes), what a sync meets, and
// what a name does that nobody resolves.
func machineError(why string, p killpoint.Point) error {
	switch why {
	case "sync":
		return fmt.Errorf("sync: %w", syscall.EIO)
	case "dns":
		return &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	e := map[string]struct {
		code  int
		text  string
		errno syscall.Errno
	}{
		"full": {sqlite.CodeFull, "database or disk is full", syscall.ENOSPC},
		"io":   {sqlite.CodeIOErr, "disk I/O error", syscall.EIO},
		"busy": {sqlite.CodeBusy, "database is locked", syscall.EBUSY},
	}[why]
	if p.Kind == killpoint.Store {
		return &fs.PathError{Op: "write", Path: p.Object, Err: e.errno}
	}
	return &sqlite.Error{Code: e.code, Extended: e.code, Message: e.text, Offset: -1}
}

// do queues an act on the loop of the isolate that it concerns. It may be called under
// the lock of Points: everything stands still until a new isolate is loaded, if one
// is needed, so that the moment of the act does not depend on the machine's speed.
func (a *actor) do(act process.Act, object string) {
	done := func(err error) {
		a.note(act, err)
		a.child.acting.Add(-1)
	}
	action := pool.Action{Verb: pool.Verb(act.Verb), Reason: "aborted by a fault"}
	if act.Arg == fault.Isolate && action.Verb == pool.Reset {
		a.child.server.ResetIsolate(done)
		return
	}
	if act.Arg == fault.Isolate {
		a.child.server.ActOnIsolate(action, done)
		return
	}
	class, name, named := strings.Cut(object, "/")
	if !named {
		done(&pool.RefusedError{Reason: "no object is at this point"})
		return
	}
	ref, err := a.child.server.Find(class, name)
	if err != nil {
		done(err)
		return
	}
	ref.Act(action, done)
}

// note writes how an act has ended.
func (a *actor) note(act process.Act, err error) {
	line := process.Acted{Fault: act.Fault, AtNs: clock.Real{}.Now().UnixNano()}
	var refused *pool.RefusedError
	switch {
	case errors.As(err, &refused), errors.Is(err, pool.ErrNotRunning), errors.Is(err, pool.ErrNoObject):
		line.Refused = err.Error()
	case err != nil:
		line.Error = err.Error()
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = a.out.Write(append(text, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("child: acts: %v", err)) // a gap in the record would be a lie
	}
}
