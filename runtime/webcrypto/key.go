// Package webcrypto is the algorithms of the Web Cryptography API (W3C, Web
// Cryptography Level 2, with the algorithms that workerd adds) over Go values:
// keys, their import and export, and every operation, each with the checks of
// its specification in the specification's order. It knows no JavaScript; the
// conversions of Web IDL are runtime/webapi's.
//
// # Determinism
//
// Everything random is read from the io.Reader that the caller hands in, and in
// an order that depends on nothing else. Go's own key generation does not have
// that property (it draws a varying number of bytes on purpose, or ignores the
// reader), so scalars and primes are found here; ECDSA signs with the nonces of
// RFC 6979. RSA is computed with math/big for the same reason: the standard
// library refuses the small keys and the empty salts that the specification
// allows. math/big is not constant-time, which a development server may be.
//
// # Errors
//
// Every failure is an *Error that names the class a script sees. Where workerd
// has a text for it (src/workerd/api/crypto), the text is workerd's.
//
// All functions are safe for concurrent use: keys are immutable.
package webcrypto

import (
	"fmt"
	"io"
)

// Error is a failure as JavaScript sees it: the name of a DOMException, or
// "TypeError". Immutable.
type Error struct{ Name, Message string }

// Error implements error.
func (e *Error) Error() string { return e.Name + ": " + e.Message }

// The names of DOMExceptions that operations fail with.
const (
	syntaxError        = "SyntaxError"
	dataError          = "DataError"
	operationError     = "OperationError"
	invalidAccessError = "InvalidAccessError"
	notSupportedError  = "NotSupportedError"
)

func fail(name, format string, args ...any) error {
	return &Error{Name: name, Message: fmt.Sprintf(format, args...)}
}

// Usages is a set of key usages (section 13.2).
type Usages uint16

// The key usages.
const (
	Encrypt Usages = 1 << iota
	Decrypt
	Sign
	Verify
	DeriveKey
	DeriveBits
	WrapKey
	UnwrapKey
)

const (
	publicUsages  = Encrypt | Verify | WrapKey
	privateUsages = Decrypt | Sign | DeriveKey | DeriveBits | UnwrapKey
)

var usageNames = [...]string{"encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"}

// UsageNamed is the usage of a name, 0 if there is none.
func UsageNamed(name string) Usages {
	for i, n := range usageNames {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// Names lists the set in the order that CryptoKey.usages has.
func (u Usages) Names() []string {
	names := []string{}
	for i, n := range usageNames {
		if u&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// KeyType is what CryptoKey.type says.
type KeyType string

// The types of keys.
const (
	Secret  KeyType = "secret"
	Public  KeyType = "public"
	Private KeyType = "private"
)

// Algorithm describes a key (section 13: KeyAlgorithm and what derives from
// it). Members that its algorithm does not have are zero.
type Algorithm struct {
	Name           string
	Hash           string // HMAC, RSA
	Length         int    // HMAC, AES; in bits
	NamedCurve     string // ECDSA, ECDH, NODE-ED25519
	ModulusLength  int    // RSA; in bits
	PublicExponent []byte // RSA; big endian
}

// Key is a CryptoKey. Immutable.
type Key struct {
	Type        KeyType
	Extractable bool
	Algorithm   Algorithm
	Usages      Usages

	secret []byte  // secret keys
	rsa    *rsaKey // RSA-*
	ec     *ecKey  // ECDSA, ECDH
	okp    *okpKey // Ed25519, X25519
}

// Generated is what Generate makes: a secret key, or a pair.
type Generated struct{ Secret, Public, Private *Key }

// check is the preamble of operations with a key: its algorithm must be the
// requested one, and it must have the usage (e.g. section 14.3.1, steps 8 and 9).
func (k *Key) check(p *Params, usage Usages) error {
	if k.Algorithm.Name != p.Name {
		return fail(invalidAccessError, "Requested algorithm %q does not match this CryptoKey's algorithm %q.", p.Name, k.Algorithm.Name)
	}
	if k.Usages&usage == 0 {
		return fail(invalidAccessError, "Requested key usage %q does not match any usage listed in this CryptoKey.", usage.Names()[0])
	}
	return p.Problem
}

// allow fails if usages holds one that a key of this kind cannot have.
func allow(what, name string, usages, allowed Usages) error {
	if bad := usages &^ allowed; bad != 0 {
		return fail(syntaxError, "Attempt to %s %s key with invalid usage %q.", what, name, bad.Names()[0])
	}
	return nil
}

// half says which key of a pair is imported, and what it may be used for: pub or
// priv.
func (in *importInput) half(pub, priv Usages) (t KeyType, allowed Usages, err error) {
	switch {
	case in.format == "raw", in.format == "spki", in.format == "jwk" && !in.jwk.has("d"):
		return Public, pub, nil
	case in.format == "pkcs8", in.format == "jwk":
		return Private, priv, nil
	}
	return "", 0, badImportFormat(in.format)
}

// importing is allow for an import of a key of type t.
func importing(t KeyType, name string, usages, allowed Usages) error {
	return allow("import "+string(t), name, usages, allowed)
}

// random reads n bytes.
func random(src io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(src, b); err != nil {
		return nil, fmt.Errorf("webcrypto: entropy: %w", err)
	}
	return b, nil
}
