package event

import "sync"

// Safe is what an answer depends on that is committed and not yet on disk. It is settled
// once. Safe for concurrent use.
type Safe struct {
	mu      sync.Mutex
	settled bool
	err     error
	then    []func(error)
}

// Settle says that it is on disk, or why it is not going to be. Only the first call counts.
func (s *Safe) Settle(err error) {
	s.mu.Lock()
	if s.settled {
		s.mu.Unlock()
		return
	}
	then := s.then
	s.settled, s.err, s.then = true, err, nil
	s.mu.Unlock()
	for _, fn := range then {
		fn(err)
	}
}

// Then calls fn once it is settled, now if it is, else on the goroutine of Settle.
func (s *Safe) Then(fn func(error)) {
	s.mu.Lock()
	if !s.settled {
		s.then = append(s.then, fn)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	fn(s.err)
}
