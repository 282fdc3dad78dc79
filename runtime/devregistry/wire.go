package devregistry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/event"
)

// Headers and paths between sessions.
const (
	secretHeader = "MF-Minido-Secret"
	headHeader   = "MF-Minido-Head" // base64 of JSON: requestHead, responseHead

	fetchPath   = "/fetch"
	callPath    = "/call"
	tailPath    = "/tail"
	bodyPath    = "/body/"
	releasePath = "/release/"
	alivePath   = "/alive"
)

// place is what is called: an entrypoint, an object, or something that was exported.
type place struct {
	Worker     string `json:"worker,omitempty"`
	Entrypoint string `json:"entrypoint,omitempty"`
	Props      []byte `json:"props,omitempty"`
	Class      string `json:"class,omitempty"`
	Object     string `json:"object,omitempty"`
	Name       string `json:"name,omitempty"`
	Export     string `json:"export,omitempty"`
}

// requestHead is a request without its body.
type requestHead struct {
	Place   place        `json:"place"`
	Method  string       `json:"method"`
	URL     string       `json:"url"`
	Header  event.Header `json:"header"`
	HasBody bool         `json:"hasBody"`
	CF      []byte       `json:"cf,omitempty"`
	Upgrade bool         `json:"upgrade,omitempty"`
	Raw     bool         `json:"raw,omitempty"`
	Cause   string       `json:"cause,omitempty"`
}

// responseHead is a response without its body, or why there is none.
type responseHead struct {
	Status     int          `json:"status,omitempty"`
	StatusText string       `json:"statusText,omitempty"`
	Header     event.Header `json:"header,omitempty"`
	HasBody    bool         `json:"hasBody,omitempty"`
	CF         []byte       `json:"cf,omitempty"`
	EncodeBody string       `json:"encodeBody,omitempty"`
	Error      *failure     `json:"error,omitempty"`
}

// call is one RPC call.
type call struct {
	From  session  `json:"from"`
	Place place    `json:"place"`
	Path  []string `json:"path"`
	Get   bool     `json:"get,omitempty"`
	Args  *message `json:"args,omitempty"`
	Cause string   `json:"cause,omitempty"`
}

// result is what a call came to.
type result struct {
	Value *message `json:"value,omitempty"`
	Error *failure `json:"error,omitempty"`
}

// message is an event.Payload.
type message struct {
	Bytes []byte    `json:"bytes"`
	Caps  []carried `json:"caps,omitempty"`
}

// carried is a capability or a body of a message, which stays with its session.
type carried struct {
	Kind   string  `json:"kind"` // kindTarget, kindCall or kindBody
	Owner  session `json:"owner"`
	ID     string  `json:"id"`
	Length int64   `json:"length,omitempty"` // of a body
}

const (
	kindTarget = "target" // answers fetch too
	kindCall   = "call"
	kindBody   = "body"
)

// failure is an event.Error.
type failure struct {
	Name        string      `json:"name,omitempty"`
	Message     string      `json:"message"`
	Stack       string      `json:"stack,omitempty"`
	Thrown      *message    `json:"thrown,omitempty"`
	Remote      bool        `json:"remote,omitempty"`
	Retryable   bool        `json:"retryable,omitempty"`
	Overloaded  bool        `json:"overloaded,omitempty"`
	ObjectReset bool        `json:"durableObjectReset,omitempty"`
	ObjectID    string      `json:"durableObjectId,omitempty"`
	Told        *event.Told `json:"told,omitempty"`
}

// failed describes an error for another session.
func failed(err error) *failure {
	var e *event.Error
	if !errors.As(err, &e) {
		return &failure{Message: err.Error(), Remote: true}
	}
	f := &failure{e.Name, e.Message, e.Stack, nil, e.Remote, e.Retryable, e.Overloaded, e.ObjectReset, e.ObjectID, e.Told}
	if e.Thrown != nil && len(e.Thrown.Caps) == 0 {
		f.Thrown = &message{Bytes: e.Thrown.Bytes}
	}
	return f
}

func (f *failure) error() error {
	e := &event.Error{Name: f.Name, Message: f.Message, Stack: f.Stack, Remote: f.Remote, Retryable: f.Retryable, Overloaded: f.Overloaded, ObjectReset: f.ObjectReset, ObjectID: f.ObjectID, Told: f.Told}
	if f.Thrown != nil {
		e.Thrown = &event.Payload{Bytes: f.Thrown.Bytes}
	}
	return e
}

// pack makes a message for the session holder; the payload's capabilities are the
// message's then.
func (r *Registry) pack(p *event.Payload, holder session) (*message, error) {
	if p == nil {
		return nil, nil
	}
	for _, c := range p.Caps {
		if what := uncrossable(c); what != "" {
			for _, c := range p.Caps {
				(&export{held: c}).drop()
			}
			return nil, &event.Error{Name: "DataCloneError", Message: fmt.Sprintf("%s cannot be sent to a worker of another dev session; "+
				"run both workers in one session: minido dev -c wrangler.jsonc -c ../other/wrangler.jsonc", what)}
		}
	}
	m := &message{Bytes: p.Bytes}
	for _, c := range p.Caps {
		carried := carried{Owner: r.self, ID: r.random()}
		switch c := c.(type) {
		case cfapi.Target:
			carried.Kind = kindTarget
		case event.Capability:
			carried.Kind = kindCall
		case event.Body:
			carried.Kind, carried.Length = kindBody, c.Length()
		}
		r.mu.Lock()
		r.exports[carried.ID] = &export{held: c, holder: holder}
		r.mu.Unlock()
		m.Caps = append(m.Caps, carried)
	}
	return m, nil
}

// copied is a payload with references of its own.
func copied(p *event.Payload) *event.Payload {
	if p == nil {
		return nil
	}
	caps := slices.Clone(p.Caps)
	for i, c := range caps {
		if c, ok := c.(event.Capability); ok {
			caps[i] = c.Dup()
		}
	}
	return &event.Payload{Bytes: p.Bytes, Caps: caps}
}

// uncrossable names what cannot be sent, "" if it can.
func uncrossable(c any) string {
	switch c.(type) {
	case *event.Pipe:
		return "A WritableStream"
	case *event.Socket:
		return "A WebSocket"
	case *event.Abort:
		return "An AbortSignal"
	case event.Capability, event.Body:
		return ""
	}
	return fmt.Sprintf("A %T", c)
}

// unpack makes the payload of a message from another session.
func (r *Registry) unpack(m *message) *event.Payload {
	if m == nil {
		return nil
	}
	p := &event.Payload{Bytes: m.Bytes}
	for _, c := range m.Caps {
		switch c.Kind {
		case kindBody:
			p.Caps = append(p.Caps, &remoteBody{r: r, owner: c.Owner, id: c.ID, length: c.Length})
		case kindTarget:
			p.Caps = append(p.Caps, target{r.imported(c)})
		default:
			p.Caps = append(p.Caps, r.imported(c))
		}
	}
	return p
}

// header is a value as one header line.
func header(v any) (event.Field, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return event.Field{}, fmt.Errorf("dev registry: %w", err)
	}
	return event.Field{Name: headHeader, Value: base64.StdEncoding.EncodeToString(text)}, nil
}

// head reads what header wrote.
func head(h event.Header, v any) error {
	text, err := base64.StdEncoding.DecodeString(h.Get(headHeader))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("dev registry: the other session does not speak as this one does (is it another version of minido?): %w", err)
	}
	return nil
}
