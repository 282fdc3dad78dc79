package webcrypto

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"encoding/asn1"
	"io"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

// okpKey is a key of Ed25519 or X25519 (RFC 8032, RFC 7748). Immutable.
type okpKey struct {
	public []byte
	seed   []byte // nil in a public key
}

// okpSize is the length of every part of these keys, in bytes.
const okpSize = 32

// okpCurve is the curve of an algorithm, as JWK names it, with its identifier.
func okpCurve(name string) (crv string, oid asn1.ObjectIdentifier) {
	if name == "X25519" {
		return "X25519", oidX25519
	}
	return "Ed25519", oidEd25519
}

func okpUsages(name string) (public, private Usages) {
	if name == "X25519" {
		return 0, DeriveKey | DeriveBits
	}
	return Verify, Sign
}

// checkNode checks the curve that NODE-ED25519 wants to be told.
func checkNode(p *Params) error {
	if p.Name == "NODE-ED25519" && p.NamedCurve != p.Name {
		return fail(notSupportedError, "EDDSA curve %q isn't supported.", p.NamedCurve)
	}
	return nil
}

func newOKP(name string, seed []byte) (*okpKey, error) {
	if name != "X25519" {
		return &okpKey{ed25519.NewKeyFromSeed(seed)[okpSize:], seed}, nil
	}
	key, err := ecdh.X25519().NewPrivateKey(seed)
	if err != nil {
		return nil, fail(operationError, "Failed to construct X25519 private key.")
	}
	return &okpKey{key.PublicKey().Bytes(), seed}, nil
}

func generateOKP(p *Params, usages Usages, src io.Reader) (public, private *Key, err error) {
	pub, priv := okpUsages(p.Name)
	if err := allow("generate", p.Name, usages, pub|priv); err != nil {
		return nil, nil, err
	}
	if err := checkNode(p); err != nil {
		return nil, nil, err
	}
	if usages&privateUsages == 0 {
		return nil, nil, errNoPrivateUsages()
	}
	seed, err := random(src, okpSize)
	if err != nil {
		return nil, nil, err
	}
	k, err := newOKP(p.Name, seed)
	if err != nil {
		return nil, nil, err
	}
	algorithm := Algorithm{Name: p.Name, NamedCurve: p.NamedCurve}
	return &Key{Algorithm: algorithm, okp: &okpKey{public: k.public}}, &Key{Algorithm: algorithm, okp: k}, nil
}

func importOKP(p *Params, in *importInput) (*Key, error) {
	if err := checkNode(p); err != nil {
		return nil, err
	}
	pub, priv := okpUsages(p.Name)
	t, allowed, err := in.half(pub, priv)
	if err != nil {
		return nil, err
	}
	if err := importing(t, p.Name, in.usages, allowed); err != nil {
		return nil, err
	}
	k, err := okpFrom(p, in)
	if err != nil {
		return nil, err
	}
	return &Key{Type: t, Algorithm: Algorithm{Name: p.Name, NamedCurve: p.NamedCurve}, okp: k}, nil
}

func okpFrom(p *Params, in *importInput) (*okpKey, error) {
	crv, oid := okpCurve(p.Name)
	switch in.format {
	case "raw":
		if len(in.data) != okpSize {
			return nil, fail(dataError, "%s raw keys must be exactly 32-bytes (provided %d).", crv, len(in.data))
		}
		return &okpKey{public: in.data}, nil
	case "spki":
		id, key, err := parseSPKI(in.data)
		if err != nil {
			return nil, err
		}
		if !id.oid.Equal(oid) || !id.absent || len(key) != okpSize {
			return nil, fail(dataError, "Invalid SPKI input.")
		}
		return &okpKey{public: key}, nil
	case "pkcs8":
		id, octets, err := parsePKCS8(in.data)
		if err != nil {
			return nil, err
		}
		s := cryptobyte.String(octets)
		var seed []byte
		if !id.oid.Equal(oid) || !id.absent || !s.ReadASN1Bytes(&seed, der.OCTET_STRING) || !s.Empty() || len(seed) != okpSize {
			return nil, fail(dataError, "Invalid PKCS8 input.")
		}
		return newOKP(p.Name, bytes.Clone(seed))
	}
	return okpFromJWK(p, in, crv)
}

// okpFromJWK reads RFC 8037, section 2.
func okpFromJWK(p *Params, in *importInput, crv string) (*okpKey, error) {
	j := in.jwk
	if err := j.purpose(in, p.Name); err != nil {
		return nil, err
	}
	if err := j.kty("OKP", crv); err != nil {
		return nil, err
	}
	if j.Fields["crv"] != crv {
		return nil, fail(notSupportedError, "Only %s is supported but %q was requested.", crv, j.Fields["crv"])
	}
	if alg, ok := j.Fields["alg"]; p.Name != "X25519" && ok && alg != "EdDSA" && alg != "Ed25519" {
		return nil, fail(dataError, "JSON Web Key Algorithm parameter \"alg\" (%q) does not match requested Ed25519 curve.", alg)
	}
	x, ok := j.bytes("x")
	if !ok {
		return nil, fail(dataError, "Invalid %s key in JSON WebKey; missing or invalid public key component (\"x\").", crv)
	}
	if len(x) != okpSize {
		return nil, fail(dataError, "Invalid length %d for public key", len(x))
	}
	if !j.has("d") {
		return &okpKey{public: x}, nil
	}
	d, ok := j.bytes("d")
	if !ok {
		return nil, fail(dataError, "Invalid %s key in JSON Web Key; missing or invalid private key component (\"d\").", crv)
	}
	if len(d) != okpSize {
		return nil, fail(dataError, "Invalid length %d for private key", len(d))
	}
	return newOKP(p.Name, d) // like the reference without a look at x
}

func (k *Key) exportOKP(format string) (*Exported, error) {
	crv, oid := okpCurve(k.Algorithm.Name)
	switch format {
	case "raw":
		if k.Type != Public {
			return nil, fail(invalidAccessError, "Raw export of %s keys is only allowed for public keys.", k.Algorithm.Name)
		}
		return &Exported{Bytes: bytes.Clone(k.okp.public)}, nil
	case "spki":
		return &Exported{Bytes: buildSPKI(oid, nil, k.okp.public)}, nil
	case "pkcs8":
		var b cryptobyte.Builder
		b.AddASN1OctetString(k.okp.seed)
		return &Exported{Bytes: buildPKCS8(oid, nil, b.BytesOrPanic())}, nil
	case "jwk":
		fields := map[string]string{"kty": "OKP", "crv": crv, "x": encode64(k.okp.public)}
		if k.Algorithm.Name == "Ed25519" {
			fields["alg"] = "EdDSA"
		}
		if k.okp.seed != nil {
			fields["d"] = encode64(k.okp.seed)
		}
		return &Exported{JWK: k.exported(fields)}, nil
	}
	return nil, fail(invalidAccessError, "Cannot export %q in %q format.", k.Algorithm.Name, format)
}

func (k *okpKey) sign(data []byte) []byte {
	return ed25519.Sign(ed25519.NewKeyFromSeed(k.seed), data)
}

// verify is RFC 8032, section 5.1.7, with the checks that Secure Curves in the
// Web Cryptography API asks for: no small order for the key and for R.
func (k *okpKey) verify(signature, data []byte) bool {
	if len(signature) != ed25519.SignatureSize || smallOrder(k.public) || smallOrder(signature[:okpSize]) {
		return false
	}
	return ed25519.Verify(k.public, data, signature)
}

// smallOrders are the y coordinates, little endian and without their sign, of
// the points of edwards25519 whose order divides 8, with those that stand for
// the same number modulo 2^255-19.
var smallOrders = [...]string{
	"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	"\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
	"\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a",
	"\xec\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
	"\xed\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
	"\xee\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
}

func smallOrder(point []byte) bool {
	y := bytes.Clone(point)
	y[okpSize-1] &= 0x7f
	for _, s := range smallOrders {
		if string(y) == s {
			return true
		}
	}
	return false
}

// shared is X25519 (RFC 7748, section 6.1); a secret of zeros is refused.
func (k *okpKey) shared(peer *okpKey) ([]byte, error) {
	private, err := ecdh.X25519().NewPrivateKey(k.seed)
	if err != nil {
		return nil, fail(operationError, "Failed to derive EDDH key.")
	}
	public, err := ecdh.X25519().NewPublicKey(peer.public)
	if err != nil {
		return nil, fail(operationError, "Failed to derive EDDH key.")
	}
	secret, err := private.ECDH(public)
	if err != nil {
		return nil, fail(operationError, "Failed to derive EDDH key: public key routines INVALID_PEER_KEY.")
	}
	return secret, nil
}
