package killpoint

import (
	"errors"
	"fmt"
)

// ErrCrashed is what an effect of an object reports that was armed to crash at
// one of its points.
var ErrCrashed = errors.New("the object crashed at an effect point")

// armed is one crash that waits for its point.
type armed struct {
	text   string
	object string
	target func(Point) bool
	crash  func(Point)
}

// Arm lets one object crash, once, at a point: a label as ParseTarget reads it,
// without a number of its own and without an object or with this one's.
// Occurrences count from now. crash is told of the point, under the lock of all
// effects: it must cause no effect and not wait. Points that are off are on
// while something is armed. Safe for concurrent use.
func (p *Points) Arm(object, at string, crash func(Point)) error {
	if p == nil {
		return errors.New("arm a crash: effect points are switched off in this process")
	}
	want, occurrence, err := parseLabel(at)
	if err != nil {
		return err
	}
	if want.Object == "" {
		want.Object = object
	}
	if want.Object != object {
		return fmt.Errorf("kill point %q: it names another object than %s", at, object)
	}
	want.Occurrence = occurrence
	target, err := ParseTarget(want.Label())
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = append(p.armed, &armed{want.Label(), object, target, crash})
	p.turnOn()
	return nil
}

// Armed lists the crashes that have not happened yet, in the order of Arm. Safe
// for concurrent use.
func (p *Points) Armed() []string {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, a := range p.armed {
		out = append(out, a.text)
	}
	return out
}

// Disarm forgets the crashes that have not happened yet. Safe for concurrent
// use.
func (p *Points) Disarm() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = nil
	p.turnOn()
}

// crashes says whether the object was armed to crash at this point, and takes
// that back. Call it with mu held.
func (p *Points) crashes(pt Point) bool {
	var left []*armed
	var hit *armed
	for _, a := range p.armed {
		if a.object == pt.Object && a.target(pt) && hit == nil {
			hit = a
			continue
		}
		left = append(left, a)
	}
	if hit == nil {
		return false
	}
	p.armed = left
	p.turnOn()
	hit.crash(pt)
	return true
}
