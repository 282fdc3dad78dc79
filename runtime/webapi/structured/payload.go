package structured

import (
	"errors"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/event"
)

// Payload is the RPC message that a stream or a signal is written into.
func Payload(external any, class string) (*event.Payload, error) {
	payload, ok := external.(*event.Payload)
	if !ok {
		return nil, &clone.DataCloneError{Message: class + " can only be serialized for RPC."}
	}
	return payload, nil
}

// Incoming is an RPC message that is being read. As in workerd, the clone does not
// number what the message carries: the host objects come in the same order.
// Loop-confined.
type Incoming struct {
	payload *event.Payload
	next    int
}

// Read begins to read a message, which may be read again from its start.
func Read(p *event.Payload) *Incoming { return &Incoming{payload: p} }

// Capability is the next thing that the message which r reads carries.
func Capability[T any](r *clone.Reader, class string) (T, error) {
	var none T
	in, ok := r.External().(*Incoming)
	if !ok {
		return none, errors.New(class + " outside an RPC message")
	}
	if in.next >= len(in.payload.Caps) {
		return none, errors.New("an RPC message names a thing that it does not carry")
	}
	got, ok := in.payload.Caps[in.next].(T)
	if !ok {
		return none, errors.New("an RPC message names a thing of another kind")
	}
	in.next++
	return got, nil
}
