// Package clone turns goja values into bytes and back in the format of V8's
// value serializer (src/objects/value-serializer.cc, wire format version 15),
// with the host objects that workerd adds to it (src/workerd/jsg/ser.c++).
//
// The same bytes serve every place where a value leaves its context: the
// key-value rows of a Durable Object's storage (workerd reads what this package
// wrote, and the other way round), RPC arguments and results, WebSocket
// attachments and structuredClone().
//
// A [Codec] belongs to one goja runtime. It captures the builtins it needs when
// it is made, so that user code which patches prototypes changes nothing; make
// it after the prelude and before user code. Which host objects exist, and how
// each is written, comes from a [Registry].
//
// # Fidelity
//
// For equal values the bytes equal workerd's, with the exceptions that a value
// cannot show: V8 also lets an object's history decide (an array that once had
// a hole is written in its sparse form; a string that is Latin-1 but stored in
// two bytes is written in two bytes). Both forms read the same. The golden
// files under testdata were written by workerd itself; testdata/generate makes
// them again.
//
// goja has no resizable ArrayBuffer: in a runtime that is not an engine's one is
// read with a fixed length, and a Float16Array fails with an error that names
// it. A SharedArrayBuffer is shared by structuredClone() and leaves the runtime
// in no other way; one that can grow cannot be cloned at all.
package clone
