package fault

import (
	"time"

	"minido.dev/minido/internal/killpoint"
)

// The verbs of faults of time.
const (
	Slow Verb = "slow"
	Jump Verb = "jump"
)

// HoldsUp is how long a fault holds up what comes to rest without it; 0 for one that does not.
func (f Fault) HoldsUp() time.Duration {
	if f.Verb != Slow && f.Verb != Delay {
		return 0
	}
	d, err := time.ParseDuration(f.Arg)
	if err != nil {
		return 0 // Kind.Takes checks it
	}
	return d
}

var slow = Kind{
	Verb:  Slow,
	Forms: []string{"slow(200ms)"},
	Does:  "the disk, and every effect with it, is blocked for this time",
	Draws: []string{"slow(20ms)", "slow(300ms)"}, Weight: 1,
	Takes: func(arg string) bool {
		d, err := time.ParseDuration(arg)
		return err == nil && d > 0
	},
	Happens: anywhere, EndsObjects: never,
	Do: func(m Machine, arg string, _ killpoint.Point, done func(error)) error {
		d, err := time.ParseDuration(arg)
		if err == nil {
			err = m.Pause(d)
		}
		done(err)
		return nil
	},
}

var jump = Kind{
	Verb:  Jump,
	Forms: []string{"jump(5m)", "jump(-20s)"},
	Does:  "the machine's clock is set forward or back, for this life and those after it; running timers do not move",
	Draws: []string{"jump(-1s)", "jump(1s)", "jump(10m)"}, Weight: 1,
	Takes: func(arg string) bool {
		d, err := time.ParseDuration(arg)
		return err == nil && d != 0
	},
	Happens: anywhere, EndsObjects: never,
	Do: func(m Machine, arg string, _ killpoint.Point, done func(error)) error {
		d, err := time.ParseDuration(arg)
		if err == nil {
			m.Jump(d)
		}
		done(err)
		return nil
	},
}
