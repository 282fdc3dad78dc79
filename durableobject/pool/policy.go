package pool

import (
	"fmt"
	"time"
)

// Policy says when objects leave memory by themselves. Times count from the end
// of the last event; timers and running work are no events. The zero value
// never evicts objects.
type Policy struct {
	// Hibernate is how long an object must be idle that may hibernate (see
	// durableobject.(*Object).Hibernatable); 0: it never does.
	Hibernate time.Duration
	// EvictMin and EvictMax bound how long one may be idle that may not: each
	// incarnation draws a time between them. 0: it stays.
	EvictMin, EvictMax time.Duration
}

// LocalPolicy is that of local tools (workerd: server.c++): an object leaves
// after 10 s without events, unless timers or connections keep it.
func LocalPolicy() Policy { return Policy{Hibernate: 10 * time.Second} }

// ProdPolicy is production's, as its documentation has it: who may hibernate
// does so after 10 s; what keeps an object from it (timers, a fetch in flight,
// a WebSocket that cannot hibernate) keeps it for 70 to 140 s, or longer with
// the flag durable_object_io_tasks_prevent_eviction (Object.KeptUntil).
func ProdPolicy() Policy {
	return Policy{Hibernate: 10 * time.Second, EvictMin: 70 * time.Second, EvictMax: 140 * time.Second}
}

// ParsePolicy reads "local", "prod" or "off".
func ParsePolicy(name string) (Policy, error) {
	switch name {
	case "local", "":
		return LocalPolicy(), nil
	case "prod":
		return ProdPolicy(), nil
	case "off":
		return Policy{}, nil
	}
	return Policy{}, fmt.Errorf("eviction policy %q: it is local, prod or off", name)
}

// shortest is the earliest time at which the policy may act, 0 for never.
func (p Policy) shortest() time.Duration {
	if p.Hibernate <= 0 || p.EvictMax > 0 && p.EvictMin < p.Hibernate {
		return p.EvictMin
	}
	return p.Hibernate
}

// draw picks how long an incarnation may be idle that cannot hibernate.
func (p Policy) draw(chance func() float64) time.Duration {
	if p.EvictMax <= 0 {
		return 0
	}
	return p.EvictMin + time.Duration(chance()*float64(p.EvictMax-p.EvictMin))
}

// armIdle looks at the object again when it could have been idle long enough.
func (e *entry) armIdle(after time.Duration) {
	p := e.ns.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if after <= 0 || e.timer != nil || e.object == nil || p.closed {
		return
	}
	o := e.object
	e.timer = p.opts.Clock.AfterFunc(after, func() {
		// A closed loop has no object to evict.
		_ = o.Realm().Isolate().Engine.PostLoop(func() {
			p.mu.Lock()
			e.timer = nil
			current := e.object == o
			p.mu.Unlock()
			if current {
				e.checkIdle()
			} else {
				e.armIdle(p.opts.Policy.shortest()) // the incarnation that followed
			}
		})
	})
}

// checkIdle applies the policy to the incarnation in memory. On the loop.
func (e *entry) checkIdle() {
	p := e.ns.pool
	o := e.current()
	if o == nil {
		return
	}
	policy := p.opts.Policy
	idle := p.opts.Clock.Now().Sub(o.IdleSince())
	wait := policy.shortest() // busy objects are looked at again
	if o.Busy() == "" {
		limit := policy.Hibernate
		if o.Hibernatable() != "" || limit <= 0 {
			limit = e.patience
			if limit > 0 {
				limit = max(limit, o.KeptUntil().Sub(o.IdleSince()))
			}
		}
		if limit > 0 && idle >= limit {
			o.Evict()
			return
		}
		if limit > 0 {
			wait = min(wait, limit-idle)
		}
	}
	e.armIdle(max(wait, time.Millisecond))
}
