package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
)

const (
	// prepareLimit bounds the start of a child, until its bundle is evaluated: a
	// first one transforms all npm packages.
	prepareLimit = 2 * time.Minute
	// quietLimit bounds how long preparations stand still for one recovery.
	quietLimit = 200 * time.Millisecond
)

// Nursery prepares children: as many at a time as there are processors, for a
// campaign waits for them more than for anything else. While a server recovers
// they stand still, as its recovery must not wait for them. Safe for concurrent
// use.
type Nursery struct {
	clock clock.Clock
	room  chan struct{} // has an element for each child that is being prepared

	mu    sync.Mutex // guards everything below
	young map[*Standby]struct{}
	holds int   // recoveries that they stand still for
	err   error // the first failure to stop one or to have it go on
}

// NewNursery is one that prepares so many children at a time, one at least.
func NewNursery(c clock.Clock, size int) *Nursery {
	return &Nursery{clock: c, room: make(chan struct{}, max(1, size)), young: map[*Standby]struct{}{}}
}

// Prepare starts a child and waits until its bundle is evaluated.
func (n *Nursery) Prepare(ctx context.Context, o Options) (*Standby, error) {
	select {
	case n.room <- struct{}{}:
		defer func() { <-n.room }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	child, err := StartStandby(o)
	if err != nil {
		return nil, fmt.Errorf("process: %w", err)
	}
	n.add(child)
	err = child.Prepared(ctx, prepareLimit)
	if err = errors.Join(err, n.remove(child)); err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return child, nil
}

func (n *Nursery) add(child *Standby) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.young[child] = struct{}{}
	if n.holds > 0 {
		n.note(child.Suspend())
	}
}

func (n *Nursery) remove(child *Standby) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.young, child)
	if n.holds > 0 {
		n.note(child.Resume())
	}
	return n.err
}

// note keeps the first error. Called with mu held.
func (n *Nursery) note(err error) {
	if n.err == nil {
		n.err = err
	}
}

// Quiet has all preparations stand still until end is called, for quietLimit at
// most. Calling end again is allowed.
func (n *Nursery) Quiet() (end func()) {
	n.hold(1)
	var once sync.Once
	release := func() { once.Do(func() { n.hold(-1) }) }
	timer := n.clock.AfterFunc(quietLimit, release)
	return func() { timer.Stop(); release() }
}

func (n *Nursery) hold(by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.holds > 0
	n.holds += by
	switch now := n.holds > 0; {
	case now == was:
	case now:
		for child := range n.young { // order-independent: all of them stop
			n.note(child.Suspend())
		}
	default:
		for child := range n.young { // order-independent: all of them go on
			n.note(child.Resume())
		}
	}
}
