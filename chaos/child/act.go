package child

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
)

// actor is what an order's faults are done to.
type actor struct {
	child *child
	out   *os.File // written with one call a line
}

var _ fault.Machine = (*actor)(nil)

// agenda is what an order has done beside its kill.
func (c *child) agenda(o process.Order) (*fault.Agenda, error) {
	var faults []fault.Fault
	for _, text := range o.Acts {
		f, err := fault.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("child: %w", err)
		}
		faults = append(faults, f)
	}
	out, err := os.OpenFile(o.Acted, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("child: acts: %w", err)
	}
	a := &actor{child: c, out: out}
	return fault.NewAgenda(faults, a, func(n int) { c.acting.Add(int32(n)) }, a.note)
}

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

// Later implements fault.Machine.
func (a *actor) Later(d time.Duration, fn func()) {
	a.child.acting.Add(1)
	clock.Real{}.AfterFunc(d, func() {
		fn()
		a.child.acting.Add(-1)
	})
}

// Jump implements fault.Machine.
func (a *actor) Jump(d time.Duration) { a.child.clock.Jump(d) }

// note writes how a fault has ended.
func (a *actor) note(f fault.Fault, err error) {
	line := process.NewActed(f.String(), clock.Real{}.Now(), err)
	text, err := json.Marshal(line)
	if err == nil {
		_, err = a.out.Write(append(text, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("child: acts: %v", err)) // a gap in the record would be a lie
	}
}
