package sched

import "sync"

// Waiter is a Scheduler whose background functions share one goroutine and may
// nevertheless wait for each other: those of a simulation's clients.
type Waiter interface {
	Scheduler
	// Wait lets others run until ready reports true, or until the scheduler ends.
	Wait(ready func() bool)
}

// Wait comes before a background function of s blocks: where it has a goroutine
// of its own, it returns at once and the caller blocks; otherwise it returns when
// ready reports true, and then what the caller does must not block.
func Wait(s Scheduler, ready func() bool) {
	if w, ok := s.(Waiter); ok {
		w.Wait(ready)
	}
}

// Lock locks mu from a background function of s, which may wait while it holds it.
func Lock(s Scheduler, mu *sync.Mutex) {
	if _, ok := s.(Waiter); !ok {
		mu.Lock()
		return
	}
	for !mu.TryLock() {
		Wait(s, func() bool {
			free := mu.TryLock()
			if free {
				mu.Unlock()
			}
			return free
		})
	}
}
