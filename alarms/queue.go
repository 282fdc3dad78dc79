package alarms

// status is where an alarm stands. The zero value is waiting.
type status int

const (
	waiting  status = iota // for its time
	running                // its handler was called and has not answered
	retrying               // the handler failed; it is called again at due
)

// key names an object across namespaces.
type key struct{ namespace, id string }

// entry is one object's alarm. Guarded by the scheduler's mu.
type entry struct {
	key
	name        string
	scheduledNs int64 // the time the object asked for; what the handler gets
	dueNs       int64 // when the handler is to be called: later, if it is a retry
	status      status
	queued      bool  // an alarm was set while this one runs ...
	queuedNs    int64 // ... for this time
	counted     int   // failures that count against the limit
	backoff     int   // exponent of the next delay
	lastCounted bool  // the last failure counted
	slot        int   // place in the queue, 0 outside
}

// Before orders what waits for its due time: by that, then by namespace and id.
func (e *entry) Before(o *entry) bool {
	switch {
	case e.dueNs != o.dueNs:
		return e.dueNs < o.dueNs
	case e.namespace != o.namespace:
		return e.namespace < o.namespace
	}
	return e.id < o.id
}

// Place is where the queue keeps the entry's place.
func (e *entry) Place() *int { return &e.slot }
