package clone

import (
	"errors"
	"fmt"
)

// DataCloneError says that a value cannot be cloned, in V8's or workerd's
// words. The caller turns it into the DOMException of that name.
type DataCloneError struct {
	Message string
}

// Error returns the message.
func (e *DataCloneError) Error() string { return e.Message }

// DeserializeError says that bytes are not a value: damaged, cut short, or with
// something in them that this runtime lacks. Offset counts bytes from the
// start, header included.
type DeserializeError struct {
	Offset int
	Reason string
}

// Error returns V8's message, then the reason and the offset.
func (e *DeserializeError) Error() string {
	return fmt.Sprintf("Unable to deserialize cloned data: %s (at byte %d)", e.Reason, e.Offset)
}

// ErrTooDeep says that a value is nested more deeply than V8's stack allows.
// JavaScript sees it as a RangeError with this text.
//
//lint:ignore ST1005 the text is V8's
var ErrTooDeep = errors.New("Maximum call stack size exceeded")

// ErrTooLarge says that the bytes would exceed Options.MaxBytes.
var ErrTooLarge = errors.New("clone: the serialized value is larger than allowed")

// errOutOfMemory says that there is no room for the copy, in V8's words
// (kDataCloneErrorOutOfMemory).
var errOutOfMemory = &DataCloneError{Message: "Data cannot be cloned, out of memory."}

// ErrNotTransferable says that an item of a transfer list is no ArrayBuffer.
// JavaScript sees it as a TypeError with this text.
//
//lint:ignore ST1005 the text is workerd's
var ErrNotTransferable = errors.New("Object is not transferable")

// notSerializable is workerd's message for an object of a class that has no
// serialized form (Serializer::throwDataCloneErrorForObject).
func notSerializable(className string) error {
	if className == "KvNamespace" {
		return &DataCloneError{Message: "A KV namespace binding cannot be serialized."}
	}
	return &DataCloneError{Message: fmt.Sprintf("Could not serialize object of type \"%s\". This type does not support serialization.", className)}
}
