package webcrypto

import (
	"bytes"
	"crypto"
	"crypto/subtle"
	"encoding/asn1"
	"encoding/binary"
	"io"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

// rsaKey is an RSA key (RFC 8017, section 3): d and what follows it are nil in
// a public one. Immutable.
type rsaKey struct {
	n, e, d, p, q, dp, dq, qi *big.Int
}

var one = big.NewInt(1)

func (k *rsaKey) size() int { return (k.n.BitLen() + 7) / 8 }

// public is RSAEP and RSAVP1; ok is false if the input is not below the modulus.
func (k *rsaKey) public(in []byte) (out []byte, ok bool) {
	m := new(big.Int).SetBytes(in)
	if m.Cmp(k.n) >= 0 {
		return nil, false
	}
	return m.Exp(m, k.e, k.n).FillBytes(make([]byte, k.size())), true
}

// private is RSADP and RSASP1, by the Chinese remainder theorem.
func (k *rsaKey) private(in []byte) (out []byte, ok bool) {
	c := new(big.Int).SetBytes(in)
	if c.Cmp(k.n) >= 0 {
		return nil, false
	}
	m1, m2 := new(big.Int).Exp(c, k.dp, k.p), new(big.Int).Exp(c, k.dq, k.q)
	h := new(big.Int).Sub(m1, m2)
	h.Mul(h, k.qi).Mod(h, k.p)
	m := h.Mul(h, k.q).Add(h, m2)
	return m.FillBytes(make([]byte, k.size())), true
}

var digestOIDs = map[string]asn1.ObjectIdentifier{
	"SHA-1": {1, 3, 14, 3, 2, 26}, "SHA-256": {2, 16, 840, 1, 101, 3, 4, 2, 1},
	"SHA-384": {2, 16, 840, 1, 101, 3, 4, 2, 2}, "SHA-512": {2, 16, 840, 1, 101, 3, 4, 2, 3},
	"MD5": {1, 2, 840, 113549, 2, 5},
}

// encodePKCS1 is EMSA-PKCS1-v1_5 (RFC 8017, section 9.2), nil if the key is too small.
func (k *rsaKey) encodePKCS1(hash string, data []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(digestOIDs[hash])
			b.AddASN1NULL()
		})
		b.AddASN1OctetString(digest(hash, data))
	})
	info := b.BytesOrPanic() // of constant shape
	if k.size() < len(info)+11 {
		return nil
	}
	em := append([]byte{0, 1}, bytes.Repeat([]byte{0xff}, k.size()-len(info)-3)...)
	return append(append(em, 0), info...)
}

func (k *rsaKey) signPKCS1(hash string, data []byte) ([]byte, error) {
	em := k.encodePKCS1(hash, data)
	if em == nil {
		return nil, fail(operationError, "key too small for signing with given digest, need at least %dbits.", 8*(hashOf(hash).Size()+32))
	}
	out, _ := k.private(em) // the encoding is below the modulus
	return out, nil
}

func (k *rsaKey) verifyPKCS1(hash string, signature, data []byte) bool {
	em := k.encodePKCS1(hash, data)
	if em == nil || len(signature) != k.size() {
		return false
	}
	got, ok := k.public(signature)
	return ok && subtle.ConstantTimeCompare(got, em) == 1
}

// mgf1 XORs out with the mask that MGF1 makes of seed (RFC 8017, appendix B.2.1).
func mgf1(hash crypto.Hash, seed, out []byte) {
	for counter := uint32(0); len(out) > 0; counter++ {
		h := hash.New()
		h.Write(seed)
		h.Write(binary.BigEndian.AppendUint32(nil, counter))
		mask := h.Sum(nil)
		out = out[subtle.XORBytes(out, out, mask):]
	}
}

// pssShape is the length of an encoded message, and how many bits of its first
// byte are not used.
func (k *rsaKey) pssShape() (length int, unused uint) {
	bits := k.n.BitLen() - 1
	length = (bits + 7) / 8
	return length, uint(8*length - bits)
}

// signPSS encodes by EMSA-PSS (RFC 8017, section 9.1.1) with MGF1 of the same hash.
func (k *rsaKey) signPSS(hash string, saltLength int, data []byte, src io.Reader) ([]byte, error) {
	length, _ := k.pssShape()
	size := hashOf(hash).Size()
	if length < size+2 {
		return nil, fail(operationError, "key too small for signing with given digest")
	}
	if saltLength > length-size-2 {
		return nil, fail(operationError, "key too small for signing with given digest and salt length")
	}
	salt, err := random(src, saltLength)
	if err != nil {
		return nil, err
	}
	em := EncodePSS(hashOf(hash), digest(hash, data), salt, k.n.BitLen()-1)
	out, _ := k.private(em) // the encoding is below the modulus
	return out, nil
}

// EncodePSS is EMSA-PSS-ENCODE (RFC 8017, section 9.1.1) of a digest, with MGF1 of
// the same hash: bits bits, nil if they are too few for the digest and the salt.
func EncodePSS(hash crypto.Hash, sum, salt []byte, bits int) []byte {
	length, size := (bits+7)/8, hash.Size()
	if length < size+len(salt)+2 {
		return nil
	}
	h := hash.New()
	for _, part := range [][]byte{make([]byte, 8), sum, salt} {
		h.Write(part)
	}
	em := make([]byte, length)
	db := em[:length-size-1]
	db[len(db)-len(salt)-1] = 1
	copy(db[len(db)-len(salt):], salt)
	digested := h.Sum(nil)
	mgf1(hash, digested, db)
	db[0] &= 0xff >> (8*length - bits)
	copy(em[len(db):], digested)
	em[length-1] = 0xbc
	return em
}

// verifyPSS is EMSA-PSS-VERIFY (RFC 8017, section 9.1.2) for one length of salt.
func (k *rsaKey) verifyPSS(hash string, saltLength int, signature, data []byte) bool {
	length, unused := k.pssShape()
	size := hashOf(hash).Size()
	if len(signature) != k.size() || saltLength > length-size-2 {
		return false
	}
	em, ok := k.public(signature)
	if !ok {
		return false
	}
	for ; len(em) > length; em = em[1:] {
		if em[0] != 0 {
			return false
		}
	}
	db, h := em[:length-size-1], em[length-size-1:length-1]
	if em[length-1] != 0xbc || db[0]&^(0xff>>unused) != 0 {
		return false
	}
	mgf1(hashOf(hash), h, db)
	db[0] &= 0xff >> unused
	split := len(db) - saltLength - 1
	if len(bytes.TrimLeft(db[:split], "\x00")) != 0 || db[split] != 1 {
		return false
	}
	return subtle.ConstantTimeCompare(h, digest(hash, make([]byte, 8), digest(hash, data), db[split+1:])) == 1
}

func errOAEP() error { return fail(operationError, "RSA-OAEP failed encrypt/decrypt.") }

// encryptOAEP is RSAES-OAEP-ENCRYPT (RFC 8017, section 7.1.1).
func (k *Key) encryptOAEP(p *Params, data []byte, src io.Reader) ([]byte, error) {
	if k.Type != Public {
		return nil, fail(invalidAccessError, "Encryption/key wrapping only works with public keys, not %q.", k.Type)
	}
	hash := k.Algorithm.Hash
	size, length := hashOf(hash).Size(), k.rsa.size()
	if len(data) > length-2*size-2 {
		return nil, errOAEP()
	}
	seed, err := random(src, size)
	if err != nil {
		return nil, err
	}
	em := make([]byte, length)
	copy(em[1:], seed)
	db := em[1+size:]
	copy(db, digest(hash, p.Label))
	db[len(db)-len(data)-1] = 1
	copy(db[len(db)-len(data):], data)
	mgf1(hashOf(hash), seed, db)
	mgf1(hashOf(hash), db, em[1:1+size])
	out, _ := k.rsa.public(em) // the encoding is below the modulus
	return out, nil
}

// decryptOAEP is RSAES-OAEP-DECRYPT (RFC 8017, section 7.1.2).
func (k *Key) decryptOAEP(p *Params, data []byte) ([]byte, error) {
	if k.Type != Private {
		return nil, fail(invalidAccessError, "Decryption/key unwrapping only works with private keys, not %q.", k.Type)
	}
	hash := k.Algorithm.Hash
	size := hashOf(hash).Size()
	if len(data) != k.rsa.size() || len(data) < 2*size+2 {
		return nil, errOAEP()
	}
	em, ok := k.rsa.private(data)
	if !ok {
		return nil, errOAEP()
	}
	seed, db := em[1:1+size], em[1+size:]
	mgf1(hashOf(hash), db, seed)
	mgf1(hashOf(hash), seed, db)
	rest := bytes.TrimLeft(db[size:], "\x00")
	if em[0] != 0 || subtle.ConstantTimeCompare(db[:size], digest(hash, p.Label)) != 1 || len(rest) == 0 || rest[0] != 1 {
		return nil, errOAEP()
	}
	return rest[1:], nil
}
