package webcrypto

import (
	"crypto"
	_ "crypto/md5" // the hashes of crypto.Hash
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"hash"
	"strings"
)

// Params are a normalized algorithm (section 18.4.4): the members of its
// dictionary, converted, and their bytes copied. Immutable.
type Params struct {
	Name           string // as registered
	Hash           string // as registered
	Length         *int   // HMAC and AES: the key's, AES-CTR: the counter's; in bits
	NamedCurve     string
	ModulusLength  int // bits
	PublicExponent []byte
	IV             []byte
	AdditionalData []byte
	Counter        []byte
	TagLength      *int // bits
	Label          []byte
	Salt           []byte
	Info           []byte
	SaltLength     int // bytes
	Iterations     int
	Public         *Key
	Problem        error // of an operation with a key: told after the key is checked
	// Stopped is asked now and then by what takes long, which ends with its error; nil:
	// never.
	Stopped func() error
}

// Kind says how a member of an algorithm's dictionary is converted (Web IDL).
type Kind int

// The kinds of members.
const (
	HashMember      Kind = iota // HashAlgorithmIdentifier
	BytesMember                 // BufferSource
	IntegerMember               // BigInteger: a Uint8Array
	StringMember                // DOMString
	OctetMember                 // [EnforceRange] octet
	ShortMember                 // [EnforceRange] unsigned short
	LongMember                  // [EnforceRange] unsigned long
	CryptoKeyMember             // CryptoKey
)

// Member is one member of an algorithm's dictionary.
type Member struct {
	Name     string
	Kind     Kind
	Required bool
}

// Operation names what an algorithm is normalized for (section 18.4.3).
type Operation string

// The operations that algorithms register for.
const (
	OpEncrypt      Operation = "encrypt"
	OpDecrypt      Operation = "decrypt"
	OpSign         Operation = "sign"
	OpVerify       Operation = "verify"
	OpDigest       Operation = "digest"
	OpDeriveBits   Operation = "deriveBits"
	OpWrapKey      Operation = "wrapKey"
	OpUnwrapKey    Operation = "unwrapKey"
	OpGenerateKey  Operation = "generateKey"
	OpImportKey    Operation = "importKey"
	OpGetKeyLength Operation = "get key length"
)

// registration is an algorithm with the dictionaries of its operations, in the
// order in which Web IDL converts their members.
type registration struct {
	name string
	ops  map[Operation][]Member
}

var (
	none        = []Member{}
	hashOnly    = []Member{{"hash", HashMember, true}}
	hashLength  = []Member{{"hash", HashMember, true}, {"length", LongMember, false}}
	aesLength   = []Member{{"length", ShortMember, true}}
	ivOnly      = []Member{{"iv", BytesMember, true}}
	ctrParams   = []Member{{"counter", BytesMember, true}, {"length", OctetMember, true}}
	gcmParams   = []Member{{"additionalData", BytesMember, false}, {"iv", BytesMember, true}, {"tagLength", OctetMember, false}}
	labelOnly   = []Member{{"label", BytesMember, false}}
	saltLength  = []Member{{"saltLength", LongMember, true}}
	curveOnly   = []Member{{"namedCurve", StringMember, true}}
	publicOnly  = []Member{{"public", CryptoKeyMember, true}}
	rsaGenerate = []Member{{"modulusLength", LongMember, true}, {"publicExponent", IntegerMember, true}, {"hash", HashMember, true}}
	hkdfParams  = []Member{{"hash", HashMember, true}, {"info", BytesMember, true}, {"salt", BytesMember, true}}
	pbkdfParams = []Member{{"hash", HashMember, true}, {"iterations", LongMember, true}, {"salt", BytesMember, true}}
)

// aes registers an AES mode with the dictionary of its encryption.
func aes(name string, params []Member) registration {
	return registration{name, map[Operation][]Member{OpEncrypt: params, OpDecrypt: params,
		OpGenerateKey: aesLength, OpImportKey: none, OpGetKeyLength: aesLength}}
}

func signer(name string, params, generate, imports []Member) registration {
	return registration{name, map[Operation][]Member{OpSign: params, OpVerify: params, OpGenerateKey: generate, OpImportKey: imports}}
}

// registered are the algorithms with keys (section 19), and NODE-ED25519 of
// workerd.
var registered = []registration{
	aes("AES-CTR", ctrParams), aes("AES-CBC", ivOnly), aes("AES-GCM", gcmParams),
	{"AES-KW", map[Operation][]Member{OpWrapKey: none, OpUnwrapKey: none,
		OpGenerateKey: aesLength, OpImportKey: none, OpGetKeyLength: aesLength}},
	{"HMAC", map[Operation][]Member{OpSign: none, OpVerify: none, OpGenerateKey: hashLength,
		OpImportKey: hashLength, OpGetKeyLength: hashLength}},
	signer("RSASSA-PKCS1-v1_5", none, rsaGenerate, hashOnly),
	signer("RSA-PSS", saltLength, rsaGenerate, hashOnly),
	{"RSA-OAEP", map[Operation][]Member{OpEncrypt: labelOnly, OpDecrypt: labelOnly, OpGenerateKey: rsaGenerate, OpImportKey: hashOnly}},
	signer("ECDSA", hashOnly, curveOnly, curveOnly),
	{"ECDH", map[Operation][]Member{OpDeriveBits: publicOnly, OpGenerateKey: curveOnly, OpImportKey: curveOnly}},
	signer("Ed25519", none, none, none),
	signer("NODE-ED25519", none, curveOnly, curveOnly),
	{"X25519", map[Operation][]Member{OpDeriveBits: publicOnly, OpGenerateKey: none, OpImportKey: none}},
	{"HKDF", map[Operation][]Member{OpDeriveBits: hkdfParams, OpImportKey: none, OpGetKeyLength: none}},
	{"PBKDF2", map[Operation][]Member{OpDeriveBits: pbkdfParams, OpImportKey: none, OpGetKeyLength: none}},
	{"SHA-1", map[Operation][]Member{OpDigest: none}}, {"SHA-256", map[Operation][]Member{OpDigest: none}},
	{"SHA-384", map[Operation][]Member{OpDigest: none}}, {"SHA-512", map[Operation][]Member{OpDigest: none}},
	{"MD5", map[Operation][]Member{OpDigest: none}},
}

// Lookup finds an algorithm by its name, in any case, for an operation: the
// name as registered and the members of its dictionary. The error is a
// NotSupportedError; the name is told with it for an operation with a key.
func Lookup(op Operation, name string) (canonical string, members []Member, err error) {
	for _, r := range registered {
		if asciiEqualFold(r.name, name) {
			if members, ok := r.ops[op]; ok {
				return r.name, members, nil
			}
		}
	}
	switch op {
	case OpDigest:
		return "", nil, fail(notSupportedError, "Unrecognized or unimplemented digest algorithm requested.") // reference's text
	case OpGenerateKey:
		return "", nil, fail(notSupportedError, "Unrecognized key generation algorithm %q requested.", name)
	case OpImportKey:
		return "", nil, fail(notSupportedError, "Unrecognized key import algorithm %q requested.", name)
	case OpGetKeyLength:
		return "", nil, fail(notSupportedError, "Unrecognized derived key type %q requested.", name)
	}
	return canonicalName(name), nil, fail(notSupportedError, "The %s operation is not implemented for %q.", op, name) // reference's text
}

// canonicalName is a name as registered, or as given if nothing has it.
func canonicalName(name string) string {
	for _, r := range registered {
		if asciiEqualFold(r.name, name) {
			return r.name
		}
	}
	return name
}

// WithKey reports whether the operation has a key whose own algorithm is
// compared before anything else is said of the parameters.
func (op Operation) WithKey() bool {
	switch op {
	case OpEncrypt, OpDecrypt, OpSign, OpVerify, OpDeriveBits, OpWrapKey, OpUnwrapKey:
		return true
	}
	return false
}

// MissingMember says that an algorithm lacks a required member, in the
// reference's words.
func MissingMember(op Operation, algorithm, member string) error {
	switch {
	case algorithm == "ECDSA" && member == "hash" && op.WithKey():
		return &Error{Name: "TypeError", Message: "Missing \"hash\" in AlgorithmIdentifier. (ECDSA requires that the hash algorithm be specified at call time rather than on the key. This differs from other WebCrypto algorithms for historical reasons.)"}
	case algorithm == "RSA-PSS" && member == "saltLength":
		return fail(dataError, "Failed to provide salt for RSA-PSS key operation which requires a salt")
	case member == "public":
		return &Error{Name: "TypeError", Message: "Missing field \"public\" in \"derivedKeyParams\"."}
	}
	return &Error{Name: "TypeError", Message: "Missing field \"" + member + "\" in \"algorithm\"."}
}

// asciiEqualFold compares as the specification does: only ASCII letters fold.
func asciiEqualFold(a, b string) bool {
	lower := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}, s)
	}
	return len(a) == len(b) && lower(a) == lower(b)
}

// hashOf is the hash function of a registered name.
func hashOf(name string) crypto.Hash {
	switch name {
	case "SHA-1":
		return crypto.SHA1
	case "SHA-256":
		return crypto.SHA256
	case "SHA-384":
		return crypto.SHA384
	case "SHA-512":
		return crypto.SHA512
	}
	return crypto.MD5
}

// hashBits is the part of a hash's name that the names of JWK algorithms hold;
// ok is false for MD5, which has none.
func hashBits(hash string) (bits string, ok bool) { return strings.CutPrefix(hash, "SHA-") }

func digest(name string, data ...[]byte) []byte {
	h := hashOf(name).New()
	for _, d := range data {
		h.Write(d)
	}
	return h.Sum(nil)
}

// NewDigest starts the digest of a registered hash.
func NewDigest(name string) hash.Hash { return hashOf(name).New() }

// Digest is the digest of data under a registered hash.
func Digest(name string, data []byte) []byte { return digest(name, data) }
