package check

import (
	"fmt"

	"minido.dev/minido/chaos/history"
)

// effectChecker judges what an effect sink received (package upstream): events
// of the kind Effect, whose Text is the name of what was to be done once and
// whose Op is the idempotency key, "" for none.
//
//   - effect-once: without a key, a name arrives at most once;
//   - effect-one-key: with keys, all arrivals of a name carry the same one, so
//     that the other side can tell that they are one.
type effectChecker struct{}

func (effectChecker) Name() string { return "effects" }

func (effectChecker) Doc() Doc {
	return Doc{"what arrives at the effect sink (`--effects VAR`)", []Invariant{
		{"effect-once", "a name without an idempotency key arrives once"},
		{"effect-one-key", "all arrivals of a name carry the same idempotency key"},
	}}
}

func (effectChecker) Applies(e Evidence) bool {
	for _, ev := range e.Events {
		if ev.Kind == history.Effect {
			return true
		}
	}
	return false
}

func (c effectChecker) Check(e Evidence) []Violation {
	type seen struct {
		first history.Event
		count int
		keys  []string
	}
	byName := map[string]*seen{}
	var names []string
	for _, ev := range e.Events {
		if ev.Kind != history.Effect {
			continue
		}
		s := byName[ev.Text]
		if s == nil {
			s = &seen{first: ev}
			byName[ev.Text] = s
			names = append(names, ev.Text)
		}
		s.count++
		known := false
		for _, k := range s.keys {
			known = known || k == ev.Op
		}
		if !known {
			s.keys = append(s.keys, ev.Op)
		}
	}
	var out []Violation
	for _, name := range names {
		s := byName[name]
		switch {
		case len(s.keys) > 1:
			out = append(out, Violation{c.Name(), "effect-one-key", fmt.Sprintf("%s arrived %d times under %d idempotency keys %q: it happened more than once", name, s.count, len(s.keys), s.keys)})
		case s.keys[0] == "" && s.count > 1:
			out = append(out, Violation{c.Name(), "effect-once", fmt.Sprintf("%s happened %d times, first at %.0f ms, and has no idempotency key", name, s.count, s.first.AtMs)})
		}
	}
	return out
}
