package event

import "sync"

// Canceler hands a cancellation on to an exchange that may not have begun yet, or that begins
// again elsewhere. The zero Canceler is ready. Safe for concurrent use.
type Canceler struct {
	mu       sync.Mutex // guards the fields below
	begun    func(error)
	canceled bool
	reason   error
}

// Set says that the exchange has begun, and what cancels it: at once, if it is canceled
// already.
func (c *Canceler) Set(begun func(error)) {
	c.mu.Lock()
	c.begun = begun
	canceled, reason := c.canceled, c.reason
	c.mu.Unlock()
	if canceled {
		begun(reason)
	}
}

// Cancel cancels the exchange; reason may be nil.
func (c *Canceler) Cancel(reason error) {
	c.mu.Lock()
	begun := c.begun
	c.canceled, c.reason = true, reason
	c.mu.Unlock()
	if begun != nil {
		begun(reason)
	}
}
