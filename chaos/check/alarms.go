package check

import (
	"fmt"
	"slices"
	"time"
)

// alarmChecker holds each object's alarm row against the namespace's index.
type alarmChecker struct{}

// Horizon is how far off an alarm may be for a system to count as at rest: one
// that is due sooner is work that is left.
const Horizon = time.Minute

// slack is what a clock and a reading of files may differ by.
const slack = 5 * time.Second

func (alarmChecker) Name() string { return "alarms" }

func (alarmChecker) Doc() Doc {
	return Doc{"each object's alarm, and the namespace's alarm index", []Invariant{
		{"index-not-later", "at each death, the alarm in the index is no later than the one in the object's row"},
		{"fires", "at rest, no alarm is due within a minute"},
		{"index-agrees", "at rest, the index and the object's row have the same time, but for an earlier one in the index that a death has left there"},
	}}
}

func (alarmChecker) Applies(e Evidence) bool {
	for _, s := range append(append([]Snapshot{}, e.Deaths...), e.Rest) {
		for _, o := range s.Objects {
			if o.Row.Set || o.Index.Set {
				return true
			}
		}
	}
	return false
}

// leftByDeath reports whether the index has the time that a death left in it, earlier than
// the row's: the index goes first, and the death came before the commit. Until that time
// nobody may have a reason to wake the object; then it is woken, and the index follows.
func leftByDeath(deaths []Snapshot, o Object) bool {
	if !o.Index.Set || o.Row.Set && !o.Index.At.Before(o.Row.At) {
		return false
	}
	return slices.ContainsFunc(deaths, func(d Snapshot) bool {
		return slices.ContainsFunc(d.Objects, func(was Object) bool {
			return was.Namespace == o.Namespace && was.ID == o.ID && was.Index == o.Index && was.Row == o.Row
		})
	})
}

func (c alarmChecker) Check(e Evidence) []Violation {
	var out []Violation
	add := func(invariant, format string, args ...any) {
		out = append(out, Violation{c.Name(), invariant, fmt.Sprintf(format, args...)})
	}
	for n, d := range e.Deaths {
		for _, o := range d.Objects {
			if o.Row.Set && (!o.Index.Set || o.Index.At.After(o.Row.At)) {
				add("index-not-later", "%s at death %d: its alarm is set for %s, the index says %s: it would fire late or never", o.Label(), n+1, o.Row, o.Index)
			}
		}
	}
	if e.Restless {
		return out // an alarm may have been about to fire
	}
	horizon := Horizon - slack
	if e.Bounded {
		horizon = -slack // what is to come may come
	}
	for _, o := range e.Rest.Objects {
		switch {
		case o.Row.Set && o.Row.At.Before(e.Rest.At.Add(horizon)):
			add("fires", "%s: its alarm is set for %s, and at %s the server says that nothing is left to do: it will not fire", o.Label(), o.Row, Alarm{e.Rest.At, true})
		case o.Row.Set == o.Index.Set && (!o.Row.Set || o.Row.At.Equal(o.Index.At)):
		case leftByDeath(e.Deaths, o) && !o.Index.At.Before(e.Rest.At.Add(horizon)):
		default:
			add("index-agrees", "%s at rest: its alarm is %s, the index says %s", o.Label(), o.Row, o.Index)
		}
	}
	return out
}
