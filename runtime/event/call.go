package event

// Error is a failure that crosses contexts. What JavaScript threw travels in
// Thrown where it could be cloned; the flags are those of production.
type Error struct {
	Name    string // class name, e.g. "TypeError"; "" is "Error"
	Message string
	Stack   string
	Thrown  *Payload // the thrown value as a clone, nil if it could not be cloned

	Remote      bool // thrown by the other side's code
	Retryable   bool // the platform failed before the call had an effect
	Overloaded  bool
	ObjectReset bool // durableObjectReset: the instance is gone, get a new stub
	NoOutbound  bool // the worker may use nothing but its bindings
	// ObjectID is the id of the object whose method threw, in hexadecimal
	// (durableObjectId); "" if no object is known.
	ObjectID string
	// Shown is what a client is shown of a thrown value that is no Error, "" of an Error.
	Shown string
	// Told, if not nil, is all that callers see of it but for the flags: the code that
	// threw it runs without the flag enhanced_error_serialization.
	Told *Told
}

// Told is what a caller is told of an error: the name of a class of ECMAScript, and a text.
type Told struct{ Name, Message string }

// Error implements error.
func (e *Error) Error() string {
	if e.Name == "" || e.Name == "Error" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// Payload is a structured clone with the things that bytes cannot carry:
// capabilities (stubs for functions and RpcTargets), bodies, sockets, in the order in which
// the clone has them. It has one reader.
type Payload struct {
	Bytes []byte
	Caps  []any // Capability, Body, *Socket
	// Safe, if not nil, tells when what the answer says is safe from a loss of power; see
	// Call.Early.
	Safe *Safe
}

// Capability is something on the other side that can be called: a function, an
// RpcTarget, an entrypoint. Safe for concurrent use.
type Capability interface {
	// Call invokes the method (or reads the property) at Path; done is called
	// exactly once, from any goroutine.
	Call(c *Call, done func(*Payload, error))
	// Dup returns another reference; each is released once.
	Dup() Capability
	// Release gives this reference up; the target is disposed of after the last.
	Release()
}

// Call is one JS RPC call.
type Call struct {
	Path []string // property path from the target to the method; empty: the target itself is a function
	Get  bool     // read the property instead of calling it
	Args *Payload // an array of arguments; nil with Get
	// Cause is that of Request.
	Cause string
	// From is the label of the object that calls, "" for a stateless worker.
	From string
	// Parent is the event that calls, for tail workers; nil: nobody wants to know.
	Parent *Span
	// Early lets the answer come as soon as it is committed: its Payload.Safe tells when that
	// is on disk, and the caller shows nobody anything before.
	Early bool
}

// Alarm is the argument of an alarm handler.
type Alarm struct {
	ScheduledMs int64 // milliseconds since the epoch
	RetryCount  int
}
