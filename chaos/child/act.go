package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
)

// actor does an order's faults, each once, when its point is passed. It is what they
// are done to.
type actor struct {
	child   *child
	faults  []fault.Fault
	hits    []func(killpoint.Point) bool // nil once it has hit; under the lock of Points
	failing error                        // of the effect whose point was just hit; under that lock
	out     *os.File                     // written with one call a line
}

var _ fault.Machine = (*actor)(nil)

func (c *child) newActor(o process.Order) (*actor, error) {
	a := &actor{child: c}
	for _, text := range o.Acts {
		f, err := fault.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("child: %w", err)
		}
		hits, err := killpoint.ParseTarget(f.Point)
		if err != nil {
			return nil, fmt.Errorf("child: %w", err)
		}
		a.faults, a.hits = append(a.faults, f), append(a.hits, hits)
	}
	var err error
	if a.out, err = os.OpenFile(o.Acted, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("child: acts: %w", err)
	}
	return a, nil
}

// pass is called at each point, under the lock of Points.
func (a *actor) pass(p killpoint.Point) {
	a.failing = nil
	for i, hits := range a.hits {
		if hits == nil || !hits(p) {
			continue
		}
		a.hits[i] = nil
		f := a.faults[i]
		a.child.acting.Add(1)
		err := f.Do(a, p, func(err error) {
			a.note(f, err)
			a.child.acting.Add(-1)
		})
		if err != nil {
			a.failing = err
		}
	}
}

// interfere fails the effect whose point was just passed, if a fault says so.
func (a *actor) interfere(killpoint.Point) error { return a.failing }

// whenServing calls fn at once, so that what it queues on the isolate's loop comes
// before everything that follows from the point; at a point of the server's start,
// where there is no loop yet, as soon as there is one.
func (a *actor) whenServing(fn func()) {
	select {
	case <-a.child.serving:
		fn()
	default:
		a.child.scheduler.Go("fault", func() {
			<-a.child.serving
			fn()
		})
	}
}

// Object implements fault.Machine.
func (a *actor) Object(label string, action pool.Action, done func(error)) {
	a.whenServing(func() {
		class, name, _ := strings.Cut(label, "/")
		ref, err := a.child.server.Find(class, name)
		if err != nil {
			done(err)
			return
		}
		ref.Act(action, done)
	})
}

// Isolate implements fault.Machine. Everything stands still until a new isolate is
// loaded, if one is needed, so that the moment of a reset does not depend on the
// machine's speed.
func (a *actor) Isolate(action pool.Action, done func(error)) {
	a.whenServing(func() {
		if action.Verb == pool.Reset {
			a.child.server.ResetIsolate(done)
			return
		}
		a.child.server.ActOnIsolate(action, done)
	})
}

// Pause implements fault.Machine.
func (a *actor) Pause(d time.Duration) error {
	return wait.Pause(context.Background(), clock.Real{}, d)
}

// Jump implements fault.Machine.
func (a *actor) Jump(d time.Duration) { a.child.clock.Jump(d) }

// note writes how a fault has ended.
func (a *actor) note(f fault.Fault, err error) {
	line := process.Acted{Fault: f.String(), AtNs: clock.Real{}.Now().UnixNano()}
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
