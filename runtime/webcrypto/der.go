package webcrypto

import (
	"encoding/asn1"
	"errors"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

var (
	oidRSA     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	oidEC      = asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}
	oidEd25519 = asn1.ObjectIdentifier{1, 3, 101, 112}
	oidX25519  = asn1.ObjectIdentifier{1, 3, 101, 110}
)

// algorithmID is an AlgorithmIdentifier (RFC 5280, section 4.1.1.2).
type algorithmID struct {
	oid asn1.ObjectIdentifier
	// curve is the namedCurve of the parameters, nil if they are no object identifier.
	curve asn1.ObjectIdentifier
	// null says that the parameters are NULL, absent that there are none.
	null, absent bool
}

var errDER = errors.New("malformed DER")

func readAlgorithm(s *cryptobyte.String) (id algorithmID, err error) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, der.SEQUENCE) || !seq.ReadASN1ObjectIdentifier(&id.oid) {
		return id, errDER
	}
	switch {
	case seq.Empty():
		id.absent = true
	case seq.PeekASN1Tag(der.OBJECT_IDENTIFIER):
		if !seq.ReadASN1ObjectIdentifier(&id.curve) {
			return id, errDER
		}
	case seq.PeekASN1Tag(der.NULL):
		var null cryptobyte.String
		if !seq.ReadASN1(&null, der.NULL) || !null.Empty() {
			return id, errDER
		}
		id.null = true
	default:
		var skipped cryptobyte.String
		if !seq.ReadAnyASN1Element(&skipped, new(der.Tag)) {
			return id, errDER
		}
	}
	if !seq.Empty() {
		return id, errDER
	}
	return id, nil
}

// parseSPKI reads a SubjectPublicKeyInfo (RFC 5280, section 4.1).
func parseSPKI(data []byte) (id algorithmID, key []byte, err error) {
	s, seq := cryptobyte.String(data), cryptobyte.String(nil)
	if !s.ReadASN1(&seq, der.SEQUENCE) || !s.Empty() {
		return id, nil, fail(dataError, "Invalid SPKI input.")
	}
	id, err = readAlgorithm(&seq)
	if err != nil || !seq.ReadASN1BitStringAsBytes(&key) || !seq.Empty() {
		return id, nil, fail(dataError, "Invalid SPKI input.")
	}
	return id, key, nil
}

// parsePKCS8 reads a PrivateKeyInfo (RFC 5208, section 5, and RFC 5958).
func parsePKCS8(data []byte) (id algorithmID, key []byte, err error) {
	bad := fail(dataError, "Invalid PKCS8 input.")
	s, seq := cryptobyte.String(data), cryptobyte.String(nil)
	var version int64
	if !s.ReadASN1(&seq, der.SEQUENCE) || !s.Empty() || !seq.ReadASN1Integer(&version) || version < 0 || version > 1 {
		return id, nil, bad
	}
	id, err = readAlgorithm(&seq)
	if err != nil || !seq.ReadASN1((*cryptobyte.String)(&key), der.OCTET_STRING) {
		return id, nil, bad
	}
	for _, tag := range []der.Tag{der.Tag(0).ContextSpecific().Constructed(), der.Tag(1).ContextSpecific()} {
		if !seq.SkipOptionalASN1(tag) {
			return id, nil, bad
		}
	}
	if !seq.Empty() {
		return id, nil, bad
	}
	return id, key, nil
}

func addAlgorithm(b *cryptobyte.Builder, oid, curve asn1.ObjectIdentifier) {
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		switch {
		case curve != nil:
			b.AddASN1ObjectIdentifier(curve)
		case slices.Equal(oid, oidRSA):
			b.AddASN1NULL()
		}
	})
}

// buildSPKI writes a SubjectPublicKeyInfo.
func buildSPKI(oid, curve asn1.ObjectIdentifier, key []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		addAlgorithm(b, oid, curve)
		b.AddASN1BitString(key)
	})
	return b.BytesOrPanic() // identifiers and lengths are in range
}

// buildPKCS8 writes a PrivateKeyInfo of version 0.
func buildPKCS8(oid, curve asn1.ObjectIdentifier, key []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(0)
		addAlgorithm(b, oid, curve)
		b.AddASN1OctetString(key)
	})
	return b.BytesOrPanic() // identifiers and lengths are in range
}
