package event

// Trace is what one event of a worker did, as tail workers get it (workerd:
// api/trace.h, TraceItem).
type Trace struct {
	ScriptName string     `json:"scriptName"`
	Entrypoint string     `json:"entrypoint,omitempty"` // "" is the default one
	Model      string     `json:"executionModel"`       // "stateless" or "durableObject"
	ObjectID   string     `json:"durableObjectId,omitempty"`
	Outcome    string     `json:"outcome"`
	AtMs       int64      `json:"eventTimestamp"`
	Truncated  bool       `json:"truncated"`
	Event      TraceEvent `json:"event"`
	Logs       []TraceLog `json:"logs"`
	// Exceptions are those that no code has caught.
	Exceptions []TraceException `json:"exceptions"`
	// Published are messages of channels of node:diagnostics_channel.
	Published []TraceMessage `json:"diagnosticsChannelEvents,omitempty"`
}

// Span is where an event belongs that another one has caused: identifiers in hexadecimal.
// Immutable.
type Span struct {
	TraceID string
	SpanID  string // of the event that called
}

// TraceEvent says what event it was. Type is that of a streaming tail worker's
// onset; the other fields are of one type each.
type TraceEvent struct {
	Type string `json:"type"`

	Request *TraceRequest `json:"request,omitempty"` // fetch
	// Status is the response's; 0 if there was none.
	Status int `json:"status,omitempty"`

	Method      string        `json:"rpcMethod,omitempty"`   // jsrpc
	ScheduledMs int64         `json:"scheduledMs,omitempty"` // scheduled, alarm
	Cron        string        `json:"cron,omitempty"`        // scheduled
	Queue       string        `json:"queue,omitempty"`
	BatchSize   int           `json:"batchSize,omitempty"` // queue
	Mail        *TraceMail    `json:"mail,omitempty"`      // email
	Socket      *TraceSocket  `json:"socket,omitempty"`    // hibernatableWebSocket
	Consumed    []TraceSource `json:"consumed,omitempty"`  // trace
}

// TraceRequest is a request as it came, nothing redacted.
type TraceRequest struct {
	URL     string      `json:"url"`
	Method  string      `json:"method"`
	Headers [][2]string `json:"headers"`
	CF      RawJSON     `json:"cf,omitempty"`
}

// RawJSON is JSON text.
type RawJSON []byte

// MarshalJSON implements json.Marshaler.
func (r RawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// UnmarshalJSON implements json.Unmarshaler.
func (r *RawJSON) UnmarshalJSON(text []byte) error {
	*r = append(RawJSON(nil), text...)
	return nil
}

// TraceMail is an incoming message.
type TraceMail struct {
	From  string `json:"mailFrom"`
	To    string `json:"rcptTo"`
	Bytes int    `json:"rawSize"`
}

// TraceSocket is an event of a hibernatable WebSocket: "message", "close" or
// "error".
type TraceSocket struct {
	Type  string `json:"webSocketEventType"`
	Code  int    `json:"code,omitempty"`     // of a close
	Clean bool   `json:"wasClean,omitempty"` // of a close
}

// TraceSource names the worker whose events a tail worker was given.
type TraceSource struct {
	ScriptName string `json:"scriptName"`
}

// TraceLog is one call of a console method. Message is the JSON of its arguments,
// Errors that of the errors among them (null elsewhere), empty if there are none.
type TraceLog struct {
	Level   string  `json:"level"`
	Message RawJSON `json:"message"`
	Errors  RawJSON `json:"errorInfo,omitempty"`
	AtMs    int64   `json:"timestamp"`
}

// TraceException is an exception.
type TraceException struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
	AtMs    int64  `json:"timestamp"`
}

// TraceMessage is a message of a diagnostics channel.
type TraceMessage struct {
	Channel string `json:"channel"`
	Message []byte `json:"message,omitempty"` // V8's serialization; nil: undefined
	AtMs    int64  `json:"timestamp"`
}

// TailEvent is what a streaming tail worker is told, one after the other of one
// invocation (workerd: io/trace.h, TailEvent). One of the pointers is set.
type TailEvent struct {
	TraceID    string `json:"traceId"`
	SpanID     string `json:"spanId"`
	Invocation string `json:"invocationId"`
	// Parent is the span of the event that called, "" if none did; of an onset.
	Parent   string `json:"parentSpanId,omitempty"`
	Sequence int    `json:"sequence"`
	AtMs     int64  `json:"timestamp"`
	// Type is "onset", "log", "exception", "diagnosticChannel", "return" or "outcome".
	Type      string          `json:"type"`
	Trace     *Trace          `json:"trace,omitempty"` // of onset and outcome
	Log       *TraceLog       `json:"log,omitempty"`
	Exception *TraceException `json:"exception,omitempty"`
	Published *TraceMessage   `json:"published,omitempty"`
	Status    int             `json:"status,omitempty"` // of the return of a fetch handler
}
