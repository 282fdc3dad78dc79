package clock

import (
	"sync/atomic"
	"time"
)

// Shifted is a clock that somebody sets: it goes as fast as the one beneath, and
// shows another time. As on a machine, setting it moves no timer: what is due in
// a second comes in a second. Safe for concurrent use.
type Shifted struct {
	Clock
	ahead atomic.Int64 // nanoseconds
}

// Now implements Clock.
func (s *Shifted) Now() time.Time { return s.Clock.Now().Add(time.Duration(s.ahead.Load())) }

// Jump sets the clock d forward, or back.
func (s *Shifted) Jump(d time.Duration) { s.ahead.Add(int64(d)) }

// IsVirtual is that of the clock beneath; see the function of that name.
func (s *Shifted) IsVirtual() bool { return IsVirtual(s.Clock) }

// Steady is c for what is due in a while, whatever the time of day is set to
// meanwhile: times that are compared with each other come from it.
func Steady(c Clock) Clock {
	if s, ok := c.(*Shifted); ok {
		return Steady(s.Clock)
	}
	return c
}
