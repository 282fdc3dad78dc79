package event

import "sync"

// Abort carries the abort of a signal to another context, in an RPC message. It
// fires at most once. Safe for concurrent use.
type Abort struct {
	mu     sync.Mutex // guards the fields below
	fired  bool
	reason []byte
	heard  func(reason []byte)
}

// Fire tells the other side; reason is a structured clone without capabilities.
func (a *Abort) Fire(reason []byte) {
	a.mu.Lock()
	heard := a.heard
	if a.fired {
		heard = nil
	}
	a.fired, a.reason = true, reason
	a.mu.Unlock()
	if heard != nil {
		heard(reason)
	}
}

// Listen gives the reason if it has fired; else heard is called when it does,
// from any goroutine.
func (a *Abort) Listen(heard func(reason []byte)) (reason []byte, fired bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = heard
	return a.reason, a.fired
}
