package fault

import (
	"maps"
	"time"

	"minido.dev/minido/internal/killpoint"
)

// skewed is what a kill is called that Fault.Skew follows.
const skewed = "skew"

// Skews are how far the clocks of the machines are ahead of all others, that objects run on,
// by their labels "Class/name", and with "" the worker; of all that are not in it 0. Immutable.
type Skews map[string]time.Duration

// After is s for the lives that follow a death by f, which came at the point of that label.
//
// # Errors
//
// That the label is none.
func (s Skews) After(f Fault, label string) (Skews, error) {
	if f.Skew == 0 {
		return s, nil
	}
	at, err := killpoint.ParseLabel(label)
	if err != nil {
		return s, err
	}
	object := at.Object
	if at.Kind == killpoint.Store { // what its label has there is a bucket or a cache
		object = ""
	}
	out := maps.Clone(s)
	if out == nil {
		out = Skews{}
	}
	out[object] += f.Skew
	return out, nil
}

// Shifts is by how much the plan has something come earlier or later than it would, against
// what clients do, and loses nothing: alarms by a skewed clock, frames by a delay.
func (p Plan) Shifts() (apart time.Duration) {
	for _, f := range p {
		apart += f.Skew.Abs()
		if f.DelaysFrame() {
			apart += f.HoldsUp()
		}
	}
	return apart
}
