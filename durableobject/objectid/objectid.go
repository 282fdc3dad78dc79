// Package objectid derives and validates the ids of Durable Objects, byte for byte as
// workerd does (src/workerd/server/actor-id-impl.c++), so that a name leads to the
// same database file under either tool.
//
// An id is 32 bytes. The second half is a keyed hash of the first, under a key
// that belongs to the namespace: an id is therefore valid in one namespace
// only, and a made-up one is recognised without asking any storage.
package objectid

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
)

// Size is the length of an id in bytes; its text form has twice as many
// hexadecimal digits.
const Size = 32

// base is the length of the part that tells objects apart, in bytes; the rest
// of an id authenticates it.
const base = 16

// The errors of Parse and of jurisdictions. Their texts are what JavaScript
// sees: the first two as a TypeError, the last as an Error.
var (
	ErrInvalid      = errors.New("Invalid Durable Object ID: must be 64 hex digits")          //lint:ignore ST1005 the text is part of the contract
	ErrForeign      = errors.New("Durable Object ID is not valid for this namespace.")        //lint:ignore ST1005 the text is part of the contract
	ErrJurisdiction = errors.New("Jurisdiction restrictions are not implemented in workerd.") //lint:ignore ST1005 reference's text
)

// ID names one object. It is an immutable value. Use Equal to compare: two ids
// of the same object may differ in whether they remember its name.
type ID struct {
	raw   [Size]byte
	name  string
	named bool
}

// String is the id as 64 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id.raw[:]) }

// Bytes is the id's 32 bytes, which also serve as a map key.
func (id ID) Bytes() [Size]byte { return id.raw }

// Name is the name that the id was derived from, if it is known: it is not for
// unique ids and for ids that were parsed.
func (id ID) Name() (name string, ok bool) { return id.name, id.named }

// Equal reports whether both ids name the same object.
func (id ID) Equal(other ID) bool { return id.raw == other.raw }

// IsZero reports whether id is the zero value, which names no object.
func (id ID) IsZero() bool { return id.raw == [Size]byte{} }

// WithName returns the same id with the name that it was once derived from, as
// when an alarm wakes an object whose name the alarm's index remembers.
func (id ID) WithName(name string) ID {
	id.name, id.named = name, true
	return id
}

// WithoutName returns the same id as an id that was parsed: a key under which
// the object is found, whoever asks.
func (id ID) WithoutName() ID { return ID{raw: id.raw} }

// Namespace makes the ids of one namespace. It is immutable and safe for
// concurrent use.
type Namespace struct {
	uniqueKey string
	macs      sync.Pool // of hash.Hash, keyed
}

// NewNamespace returns the namespace of a unique key (see UniqueKey).
func NewNamespace(uniqueKey string) *Namespace {
	key := sha256.Sum256([]byte(uniqueKey))
	return &Namespace{uniqueKey: uniqueKey, macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key[:]) }}}
}

// UniqueKey is the key that the namespace was made with.
func (n *Namespace) UniqueKey() string { return n.uniqueKey }

// FromName is the id of the object with this name. Any string is a name, the
// empty one too. The name's bytes count as they are; a caller that converts a
// JavaScript string encodes a lone surrogate like any other code point of three
// bytes (U+D800 is ED A0 80), because that is what the reference hashes.
func (n *Namespace) FromName(name string) ID {
	var first [base]byte
	mac := n.mac([]byte(name))
	copy(first[:], mac[:])
	return n.complete(first).WithName(name)
}

// Unique is the id of an object that no name leads to. It takes 16 bytes from
// random and fails only if that does.
func (n *Namespace) Unique(random io.Reader) (ID, error) {
	var first [base]byte
	if _, err := io.ReadFull(random, first[:]); err != nil {
		return ID{}, fmt.Errorf("objectid: random bytes: %w", err)
	}
	return n.complete(first), nil
}

// Parse reads an id's text form; digits may be of either case. The id has no
// name.
//
// # Errors
//
// ErrInvalid if s is not 64 hexadecimal digits, ErrForeign if the id belongs to
// another namespace, or to none. They are returned as they are, not wrapped.
func (n *Namespace) Parse(s string) (ID, error) {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != Size {
		return ID{}, ErrInvalid
	}
	id := n.complete([base]byte(raw[:base]))
	if id.raw != [Size]byte(raw) {
		return ID{}, ErrForeign
	}
	return id, nil
}

// complete adds the authenticating half.
func (n *Namespace) complete(first [base]byte) ID {
	var id ID
	copy(id.raw[:base], first[:])
	mac := n.mac(first[:])
	copy(id.raw[base:], mac[:])
	return id
}

func (n *Namespace) mac(data []byte) (sum [sha256.Size]byte) {
	h := n.macs.Get().(hash.Hash)
	defer n.macs.Put(h)
	h.Reset()
	h.Write(data)
	h.Sum(sum[:0])
	return sum
}
