package alarms

import (
	"fmt"
	"sort"
	"time"

	"minido.dev/minido/internal/killpoint"
)

// fire is the timer's function: it delivers what is due. generation tells a
// timer that was replaced while it was already running.
func (s *Scheduler) fire(generation uint64) {
	s.mu.Lock()
	if s.closed || generation != s.generation {
		s.mu.Unlock()
		return
	}
	s.timer = nil
	now := s.opts.Clock.Now().UnixNano()
	var due []Delivery
	var labels []string
	for s.queue.Len() > 0 && s.queue.First().dueNs <= now && s.busy < s.opts.MaxRunning {
		e := s.queue.Pop()
		e.status = running
		s.busy++
		due = append(due, s.delivery(e))
		labels = append(labels, s.label(e))
	}
	s.arm()
	s.mu.Unlock()
	for i, d := range due {
		deliver := func() { s.opts.Deliver(d) }
		s.opts.Points.Depart(killpoint.Message{Kind: killpoint.Alarm, Object: labels[i], Cause: "alarm", To: labels[i],
			Send: deliver, Crash: deliver, // who is armed to crash says what becomes of it
			Lose: func(error) { d.Done(Interrupted) }})
	}
}

// delivery describes one call of e's handler.
func (s *Scheduler) delivery(e *entry) Delivery {
	done := false // guarded by mu
	label := s.label(e)
	return Delivery{
		Object:      Object{Namespace: e.namespace, ID: e.id, Name: e.name},
		ScheduledMs: e.scheduledNs / int64(time.Millisecond),
		RetryCount:  e.counted,
		Done: func(o Outcome) {
			s.mu.Lock()
			again := done
			done = true
			s.mu.Unlock()
			if again {
				return
			}
			s.opts.Points.Hit(killpoint.Alarm, killpoint.After, label, "alarm")
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.closed {
				return
			}
			s.busy--
			s.finish(e, o)
			s.arm()
		},
	}
}

// finish decides what follows a delivery (AlarmScheduler::makeAlarmTask).
func (s *Scheduler) finish(e *entry, o Outcome) {
	switch {
	case e.queued:
		// The object asked for another time; its row says so too, so there is
		// nothing to retry.
		s.wait(e, e.queuedNs)
		s.slacken(e)
	case o == Finished:
		s.remove(e)
	case o == Early:
		e.status, e.dueNs = waiting, e.scheduledNs
		s.queue.Put(e)
	case e.counted >= MaxRetries:
		s.opts.Report(fmt.Errorf("alarms: %s: the alarm was dropped after %d retries", s.label(e), e.counted))
		s.remove(e)
	default:
		s.retry(e, o == Failed)
	}
}

// underway is how long it takes to ask for an alarm on another machine, and to deliver it.
const underway = 10 * time.Millisecond

// slacken has time pass before e is delivered again, if its handler has asked for a time that
// is over here and still to come where it runs: the clock there is behind. It asks until then.
func (s *Scheduler) slacken(e *entry) {
	if s.opts.Skew == nil || s.opts.Skew(s.label(e)) >= 0 {
		return
	}
	if least := s.opts.Clock.Now().Add(underway).UnixNano(); e.dueNs < least {
		s.queue.Remove(e)
		e.dueNs = least
		s.queue.Put(e)
	}
}

// remove takes e out of the index and of memory. If the write fails the row
// stays, which means one more delivery after the next start: that is what at
// least once allows.
func (s *Scheduler) remove(e *entry) {
	s.forget(e)
	if err := s.write(e, "alarm", func(x *index) error { return x.remove(e.id) }); err != nil {
		s.opts.Report(err)
	}
}

// retry lets e's handler be called again, later each time.
func (s *Scheduler) retry(e *entry, counts bool) {
	if counts {
		e.counted++
		if !e.lastCounted {
			// The failures before were the platform's: their backoff is not this
			// handler's.
			e.backoff = 0
		}
	}
	e.lastCounted = counts
	e.backoff = min(e.backoff, maxBackoff)
	delay := retryStart << e.backoff
	e.backoff++
	delay += time.Duration(s.opts.Entropy.Float64() * float64(delay) * jitterPercent / 100).Truncate(time.Millisecond)
	e.status = retrying
	e.dueNs = s.opts.Clock.Now().Add(delay).UnixNano()
	s.queue.Put(e)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
