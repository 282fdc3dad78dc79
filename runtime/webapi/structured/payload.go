package structured

import (
	"errors"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/event"
)

// Payload is the RPC message that a stream or a signal travels in.
func Payload(external any, class string) (*event.Payload, error) {
	payload, ok := external.(*event.Payload)
	if !ok {
		return nil, &clone.DataCloneError{Message: class + " can only be serialized for RPC."}
	}
	return payload, nil
}

// Capability reads the index of something that a message carries.
func Capability[T any](r *clone.Reader, class string) (T, error) {
	var none T
	payload, err := Payload(r.External(), class)
	if err != nil {
		return none, err
	}
	i, err := r.ReadUint32()
	if err != nil {
		return none, err
	}
	if int(i) >= len(payload.Caps) {
		return none, errors.New("an RPC message names a thing that it does not carry")
	}
	got, ok := payload.Caps[i].(T)
	if !ok {
		return none, errors.New("an RPC message names a thing of another kind")
	}
	return got, nil
}
