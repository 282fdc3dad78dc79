package webcrypto

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/asn1"
	"io"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

// curve is a named curve of ECDSA and ECDH. Immutable.
type curve struct {
	name   string
	alg    string // of ECDSA, as JWK names it
	size   int    // of a coordinate and of a scalar, in bytes
	oid    asn1.ObjectIdentifier
	points elliptic.Curve
	keys   ecdh.Curve
}

func curveNamed(name string) (*curve, error) {
	switch name {
	case "P-256":
		return &curve{name, "ES256", 32, asn1.ObjectIdentifier{1, 2, 840, 10045, 3, 1, 7}, elliptic.P256(), ecdh.P256()}, nil
	case "P-384":
		return &curve{name, "ES384", 48, asn1.ObjectIdentifier{1, 3, 132, 0, 34}, elliptic.P384(), ecdh.P384()}, nil
	case "P-521":
		return &curve{name, "ES512", 66, asn1.ObjectIdentifier{1, 3, 132, 0, 35}, elliptic.P521(), ecdh.P521()}, nil
	}
	return nil, fail(notSupportedError, "Unrecognized or unimplemented EC curve %q requested.", name) // reference's text
}

// ecKey is a point, and in a private key its scalar. Immutable.
type ecKey struct {
	curve   *curve
	public  *ecdh.PublicKey
	private *ecdh.PrivateKey // nil in a public key
}

func ecUsages(name string) (public, private Usages) {
	if name == "ECDH" {
		return 0, DeriveKey | DeriveBits
	}
	return Verify, Sign
}

func generateEC(p *Params, usages Usages, src io.Reader) (public, private *Key, err error) {
	pub, priv := ecUsages(p.Name)
	if err := allow("generate", p.Name, usages, pub|priv); err != nil {
		return nil, nil, err
	}
	c, err := curveNamed(p.NamedCurve)
	if err != nil {
		return nil, nil, err
	}
	if usages&privateUsages == 0 {
		return nil, nil, errNoPrivateUsages()
	}
	algorithm := Algorithm{Name: p.Name, NamedCurve: c.name}
	for {
		scalar, err := random(src, c.size)
		if err != nil {
			return nil, nil, err
		}
		if c.name == "P-521" {
			scalar[0] &= 1
		}
		key, err := c.keys.NewPrivateKey(scalar)
		if err != nil {
			continue // zero, or not below the order
		}
		return &Key{Algorithm: algorithm, ec: &ecKey{curve: c, public: key.PublicKey()}},
			&Key{Algorithm: algorithm, ec: &ecKey{c, key.PublicKey(), key}}, nil
	}
}

func importEC(p *Params, in *importInput) (*Key, error) {
	pub, priv := ecUsages(p.Name)
	t, allowed, err := in.half(pub, priv)
	if err != nil {
		return nil, err
	}
	c, curveErr := curveNamed(p.NamedCurve)
	if in.format == "raw" && curveErr != nil {
		return nil, fail(dataError, "Unrecognized or unimplemented EC curve %q requested.", p.NamedCurve) // reference's text
	}
	if err := importing(t, p.Name, in.usages, allowed); err != nil {
		return nil, err
	}
	if curveErr != nil {
		return nil, curveErr
	}
	var k *ecKey
	switch in.format {
	case "raw":
		if k, err = c.point(in.data); err != nil {
			err = fail(dataError, "Failed to import raw EC key data: %s.", c.whyNot(in.data))
		}
	case "spki":
		k, err = c.fromSPKI(in.data)
	case "pkcs8":
		k, err = c.fromPKCS8(in.data)
	case "jwk":
		k, err = c.fromJWK(p, in)
	}
	if err != nil {
		return nil, err
	}
	return &Key{Type: t, Algorithm: Algorithm{Name: p.Name, NamedCurve: c.name}, ec: k}, nil
}

// point reads a point that is not at infinity (SEC 1, section 2.3.4),
// compressed or not.
func (c *curve) point(b []byte) (*ecKey, error) {
	if len(b) == 1+c.size && (b[0] == 2 || b[0] == 3) {
		x, y := elliptic.UnmarshalCompressed(c.points, b)
		if x == nil {
			return nil, errDER
		}
		b = c.uncompressed(x.FillBytes(make([]byte, c.size)), y.FillBytes(make([]byte, c.size)))
	}
	key, err := c.keys.NewPublicKey(b)
	if err != nil {
		return nil, err
	}
	return &ecKey{curve: c, public: key}, nil
}

func (c *curve) uncompressed(x, y []byte) []byte { return append(append([]byte{4}, x...), y...) }

func (c *curve) mismatch() error {
	return fail(dataError, "\"algorithm.namedCurve\" %q does not match the curve specified by the input key data.", c.name)
}

func (c *curve) fromSPKI(data []byte) (*ecKey, error) {
	id, bits, err := parseSPKI(data)
	if err != nil {
		return nil, err
	}
	if !id.oid.Equal(oidEC) {
		return nil, fail(dataError, "Input was not an EC key.")
	}
	if !id.curve.Equal(c.oid) {
		return nil, c.mismatch()
	}
	k, err := c.point(bits)
	if err != nil {
		return nil, fail(dataError, "Invalid SPKI input.")
	}
	return k, nil
}

// fromPKCS8 reads an ECPrivateKey (RFC 5915) in a PrivateKeyInfo. What it says
// twice must agree.
func (c *curve) fromPKCS8(data []byte) (*ecKey, error) {
	id, octets, err := parsePKCS8(data)
	if err != nil {
		return nil, err
	}
	if !id.oid.Equal(oidEC) {
		return nil, fail(dataError, "Input was not an EC key.")
	}
	if !id.curve.Equal(c.oid) {
		return nil, c.mismatch()
	}
	bad := fail(dataError, "Invalid PKCS8 input.")
	s, seq := cryptobyte.String(octets), cryptobyte.String(nil)
	var version int64
	var scalar, inner cryptobyte.String
	if !s.ReadASN1(&seq, der.SEQUENCE) || !s.Empty() || !seq.ReadASN1Integer(&version) || version != 1 ||
		!seq.ReadASN1(&scalar, der.OCTET_STRING) || len(scalar) > c.size {
		return nil, bad
	}
	var has bool
	if !seq.ReadOptionalASN1(&inner, &has, der.Tag(0).ContextSpecific().Constructed()) {
		return nil, bad
	}
	if has {
		var oid asn1.ObjectIdentifier
		if !inner.ReadASN1ObjectIdentifier(&oid) || !inner.Empty() {
			return nil, bad
		}
		if !oid.Equal(c.oid) {
			return nil, c.mismatch()
		}
	}
	if !seq.ReadOptionalASN1(&inner, &has, der.Tag(1).ContextSpecific().Constructed()) || !seq.Empty() {
		return nil, bad
	}
	key, err := c.keys.NewPrivateKey(append(make([]byte, c.size-len(scalar)), scalar...))
	if err != nil {
		return nil, bad
	}
	if has {
		var point []byte
		if !inner.ReadASN1BitStringAsBytes(&point) || !inner.Empty() {
			return nil, bad
		}
		stated, err := c.point(point)
		if err != nil || !stated.public.Equal(key.PublicKey()) {
			return nil, bad
		}
	}
	return &ecKey{c, key.PublicKey(), key}, nil
}

// fromJWK reads RFC 7518, sections 6.2.1 and 6.2.2.
func (c *curve) fromJWK(p *Params, in *importInput) (*ecKey, error) {
	j := in.jwk
	if err := j.purpose(in, p.Name); err != nil {
		return nil, err
	}
	if err := j.kty("EC", "Elliptic curve"); err != nil {
		return nil, err
	}
	if alg, ok := j.Fields["alg"]; ok && p.Name == "ECDSA" && alg != c.alg {
		return nil, fail(dataError, "JSON Web Key Algorithm parameter \"alg\" (%q) does not match requested curve.", alg)
	}
	k, err := c.coordinates(j)
	if err != nil {
		return nil, err
	}
	if !j.has("d") {
		return k, nil
	}
	bad := fail(dataError, "Invalid EC key in JSON Web Key; missing or invalid private key component (\"d\").")
	d, ok := j.bytes("d")
	if !ok || len(d) != c.size {
		return nil, bad
	}
	if k.private, err = c.keys.NewPrivateKey(d); err != nil {
		return nil, bad
	}
	if !k.private.PublicKey().Equal(k.public) {
		return nil, fail(dataError, "Invalid EC key in JSON Web Key.")
	}
	return k, nil
}

// coordinates reads the point of a JWK. Like the reference it goes by the
// algorithm's curve alone, not by "crv", and takes coordinates as numbers.
func (c *curve) coordinates(j *JWK) (*ecKey, error) {
	sides := [2][]byte{}
	for i, name := range []string{"x", "y"} {
		b, ok := j.bytes(name)
		if !ok {
			return nil, fail(dataError, "Invalid EC key in JSON Web Key; missing %q.", name)
		}
		n := new(big.Int).SetBytes(b)
		if n.Cmp(c.points.Params().P) >= 0 {
			return nil, fail(operationError, "Invalid EC key; public key coordinates \"x\" and \"y\" are invalid.")
		}
		sides[i] = n.FillBytes(make([]byte, c.size))
	}
	k, err := c.point(c.uncompressed(sides[0], sides[1]))
	if err != nil {
		return nil, fail(operationError, "Invalid EC key; public key coordinates \"x\" and \"y\" are invalid: Point is not on curve..")
	}
	return k, nil
}

// whyNot says why bytes are no point of the curve, in the words of BoringSSL.
func (c *curve) whyNot(b []byte) string {
	long, short := len(b) == 1+2*c.size && b[0] == 4, len(b) == 1+c.size && (b[0] == 2 || b[0] == 3)
	if !long && !short {
		return "Invalid point encoding."
	}
	return "Point is not on curve."
}

func (k *Key) exportEC(format string) (*Exported, error) {
	c, point := k.ec.curve, k.ec.public.Bytes()
	switch format {
	case "raw":
		if k.Type != Public {
			return nil, fail(invalidAccessError, "Raw export of elliptic curve keys is only allowed for public keys.")
		}
		return &Exported{Bytes: point}, nil
	case "spki":
		return &Exported{Bytes: buildSPKI(oidEC, c.oid, point)}, nil
	case "pkcs8":
		var b cryptobyte.Builder
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(1)
			b.AddASN1OctetString(k.ec.private.Bytes())
			b.AddASN1(der.Tag(1).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) { b.AddASN1BitString(point) })
		})
		return &Exported{Bytes: buildPKCS8(oidEC, c.oid, b.BytesOrPanic())}, nil
	case "jwk":
		fields := map[string]string{"kty": "EC", "crv": c.name, "x": encode64(point[1 : 1+c.size]), "y": encode64(point[1+c.size:])}
		if k.ec.private != nil {
			fields["d"] = encode64(k.ec.private.Bytes())
		}
		return &Exported{JWK: k.exported(fields)}, nil
	}
	return nil, fail(invalidAccessError, "Cannot export %q in %q format.", k.Algorithm.Name, format)
}

// sign signs with the nonce of RFC 6979; the signature is r and s, of fixed size.
func (k *ecKey) sign(hash string, data []byte) ([]byte, error) {
	key, err := ecdsa.ParseRawPrivateKey(k.curve.points, k.private.Bytes())
	if err != nil {
		return nil, fail(operationError, "ECDSA signing failed.")
	}
	signature, err := key.Sign(nil, digest(hash, data), hashOf(hash))
	if err != nil {
		return nil, fail(operationError, "ECDSA signing failed.")
	}
	r, s := new(big.Int), new(big.Int)
	rest, seq := cryptobyte.String(signature), cryptobyte.String(nil)
	if !rest.ReadASN1(&seq, der.SEQUENCE) || !seq.ReadASN1Integer(r) || !seq.ReadASN1Integer(s) {
		return nil, fail(operationError, "ECDSA signing failed.")
	}
	out := make([]byte, 2*k.curve.size)
	r.FillBytes(out[:k.curve.size])
	s.FillBytes(out[k.curve.size:])
	return out, nil
}

func (k *ecKey) verify(hash string, signature, data []byte) bool {
	if len(signature) != 2*k.curve.size {
		return false
	}
	key, err := ecdsa.ParseUncompressedPublicKey(k.curve.points, k.public.Bytes())
	if err != nil {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:k.curve.size]), new(big.Int).SetBytes(signature[k.curve.size:])
	return ecdsa.Verify(key, digest(hash, data), r, s)
}

// shared is the x coordinate of the product (SEC 1, section 3.3.1).
func (k *ecKey) shared(peer *ecKey) ([]byte, error) {
	secret, err := k.private.ECDH(peer.public)
	if err != nil {
		return nil, fail(operationError, "Failed to generate shared ECDH secret.")
	}
	return bytes.Clone(secret), nil
}
