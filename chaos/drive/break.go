package drive

import (
	"context"
	"time"

	"minido.dev/minido/chaos/wait"
)

// Breaks says when clients lose all their connections while the server lives, as if it
// had died. Operations are counted from 1: steps but questions, sockets that open, frames
// that are sent and received on them.
type Breaks struct {
	// After so many operations, in order, the next one finds every connection lost.
	After []int
	// Delivered is how many of a socket's frames the server gets, by the number of
	// the socket from 1; of others it gets all.
	Delivered map[int]int
}

// Break has clients lose their connections. It comes before Connect.
func (s *Session) Break(b Breaks) { s.breaks = b }

// lag is how long the server has for what it was sent before a connection is lost.
const lag = time.Second

// operate comes before each operation of a client's; begun says that it counts already,
// and not only when it succeeds.
func (s *Session) operate(ctx context.Context, begun bool) error {
	s.mu.Lock()
	lost := len(s.breaks.After) > 0 && s.operations >= s.breaks.After[0]
	if lost {
		s.breaks.After = s.breaks.After[1:]
	}
	if begun {
		s.operations++
	}
	s.mu.Unlock()
	if !lost {
		return nil
	}
	return s.breakOff(ctx)
}

// operated counts an operation that has succeeded.
func (s *Session) operated() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations++
}

// Breaking reports whether clients still have connections to lose.
func (s *Session) Breaking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.breaks.After) > 0
}

// BreakRest has clients lose the connections that they should have lost when they had done
// all that they do.
func (s *Session) BreakRest(ctx context.Context) error {
	s.mu.Lock()
	rest := len(s.breaks.After) > 0
	s.breaks.After = nil
	s.mu.Unlock()
	if !rest {
		return nil
	}
	return s.breakOff(ctx)
}

func (s *Session) breakOff(ctx context.Context) error {
	s.Grant(lag)
	if err := wait.Pause(ctx, s.scheduler.Clock(), lag); err != nil {
		return err
	}
	s.hangUp()
	return nil
}

// swallows reports whether the nth frame of a socket is not delivered.
func (s *Session) swallows(socket, n int) bool {
	limit, limited := s.breaks.Delivered[socket]
	return limited && n > limit
}
