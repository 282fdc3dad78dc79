package webcrypto

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"io"
)

// hmacLength is the length of a generated or derived HMAC key, in bits: the
// block of its hash, if no other is asked for.
func hmacLength(p *Params) int {
	if p.Length != nil {
		return *p.Length
	}
	return hashOf(p.Hash).New().BlockSize() * 8
}

// maxHMACBits bounds what one generateKey may allocate.
const maxHMACBits = 1 << 26

func generateHMAC(p *Params, usages Usages, src io.Reader) (*Key, error) {
	if err := allow("generate", p.Name, usages, Sign|Verify); err != nil {
		return nil, err
	}
	bits := hmacLength(p)
	if bits == 0 || bits > maxHMACBits {
		return nil, fail(operationError, "HMAC key length must be a non-zero unsigned long integer (requested %d).", bits)
	}
	if usages == 0 {
		return nil, errNoUsages()
	}
	secret, err := random(src, (bits+7)/8)
	if err != nil {
		return nil, err
	}
	clearBits(secret, bits)
	return &Key{Algorithm: Algorithm{Name: p.Name, Hash: p.Hash, Length: bits}, secret: secret}, nil
}

// clearBits zeroes what of the last byte is past the first bits.
func clearBits(b []byte, bits int) {
	if rest := bits % 8; rest != 0 {
		b[len(b)-1] &= 0xff << (8 - rest)
	}
}

func importHMAC(p *Params, in *importInput) (*Key, error) {
	if err := importing(Secret, p.Name, in.usages, Sign|Verify); err != nil {
		return nil, err
	}
	var secret []byte
	switch in.format {
	case "raw":
		secret = in.data
	case "jwk":
		k, err := hmacFromJWK(p, in)
		if err != nil {
			return nil, err
		}
		secret = k
	default:
		return nil, badImportFormat(in.format)
	}
	bits := len(secret) * 8
	length := bits
	if p.Length != nil {
		length = *p.Length
	}
	if length == 0 || length > bits || length <= bits-8 {
		return nil, fail(dataError, "Imported HMAC key length (%d) must be a non-zero value up to 7 bits less than, and no greater than, the bit length of the raw key data (%d).", length, bits)
	}
	clearBits(secret, length)
	return &Key{Type: Secret, Algorithm: Algorithm{Name: p.Name, Hash: p.Hash, Length: length}, secret: secret}, nil
}

func hmacFromJWK(p *Params, in *importInput) ([]byte, error) {
	if kty := in.jwk.Fields["kty"]; kty != "oct" {
		return nil, fail(dataError, "HMAC \"jwk\" key import requires a JSON Web Key with Key Type parameter (\"kty\") equal to \"oct\" (encountered %q).", kty)
	}
	secret, ok := in.jwk.bytes("k")
	if !ok {
		return nil, fail(dataError, "HMAC \"jwk\" key import requires a base64Url encoding of the key")
	}
	if alg, ok := in.jwk.Fields["alg"]; ok {
		bits, named := hashBits(p.Hash)
		if !named {
			return nil, fail(notSupportedError, "Unrecognized or unimplemented hash algorithm requested %q", alg) // reference's text
		}
		if alg != "HS"+bits {
			return nil, fail(dataError, "HMAC \"jwk\" key import specifies \"alg\" that is incompatible with the hash name (encountered %q, expected %q).", alg, "HS"+bits)
		}
	}
	return secret, in.jwk.extractable(in, p.Name) // like the reference without use and key_ops
}

func (k *Key) exportHMAC(format string) (*Exported, error) {
	switch format {
	case "raw":
		return &Exported{Bytes: bytes.Clone(k.secret)}, nil
	case "jwk":
		bits, ok := hashBits(k.Algorithm.Hash)
		if !ok {
			return nil, fail(notSupportedError, "Unimplemented JWK key export format for key algorithm %q.", k.Algorithm.Hash) // reference's text
		}
		return &Exported{JWK: k.exported(map[string]string{"kty": "oct", "k": encode64(k.secret), "alg": "HS" + bits})}, nil
	}
	return nil, fail(notSupportedError, "Unimplemented key export format %q.", format) // reference's text
}

func (k *Key) mac(data []byte) []byte {
	h := hmac.New(hashOf(k.Algorithm.Hash).New, k.secret)
	h.Write(data)
	return h.Sum(nil)
}

// importKDF imports the base of a derivation: HKDF and PBKDF2.
func importKDF(p *Params, in *importInput) (*Key, error) {
	if err := importing(Secret, p.Name, in.usages, DeriveKey|DeriveBits); err != nil {
		return nil, err
	}
	if in.extractable {
		return nil, fail(syntaxError, "%s key cannot be extractable.", p.Name)
	}
	if in.format != "raw" {
		return nil, fail(notSupportedError, "%s key must be imported in \"raw\" format (requested %q)", p.Name, in.format)
	}
	return &Key{Type: Secret, Algorithm: Algorithm{Name: p.Name}, secret: in.data}, nil
}

// maxIterations is what production takes of PBKDF2; workerd on its own has no
// limit (checkPbkdfIterations in src/workerd/io/limit-enforcer.h).
const maxIterations = 100_000

// deriveKDF derives the whole bytes that HKDF (RFC 5869) or PBKDF2 (RFC 8018,
// section 5.2) gives for length bits.
func (k *Key) deriveKDF(p *Params, length *int) ([]byte, error) {
	if length == nil {
		return nil, fail(operationError, "%s cannot derive a key with null length.", p.Name)
	}
	if *length%8 != 0 {
		return nil, fail(operationError, "%s requires a derived key length that is a multiple of eight (requested %d).", p.Name, *length)
	}
	size, newHash := *length/8, func() hash.Hash { return hashOf(p.Hash).New() }
	if p.Name == "HKDF" {
		if size > 255*newHash().Size() {
			return nil, fail(operationError, "HKDF deriveBits failed.")
		}
		out, err := hkdf.Key(newHash, k.secret, p.Salt, string(p.Info), size)
		if err != nil {
			return nil, fail(operationError, "HKDF deriveBits failed.")
		}
		return out, nil
	}
	if p.Iterations == 0 {
		return nil, fail(operationError, "PBKDF2 requires a positive iteration count (requested 0).")
	}
	if p.Iterations > maxIterations {
		return nil, fail(notSupportedError, "Pbkdf2 failed: iteration counts above %d are not supported (requested %d).", maxIterations, p.Iterations)
	}
	if size == 0 {
		return []byte{}, nil
	}
	return Stretch(hmac.New(newHash, k.secret), p.Salt, p.Iterations, size, p.Stopped)
}

// stopIterations is after how many rounds of a hash Stretch asks whether it is to stop.
const stopIterations = 1 << 12

// Stretch is PBKDF2 (RFC 8018, section 5.2) with a keyed hash. It asks stopped, unless that
// is nil, now and then, and ends with its error.
func Stretch(mac hash.Hash, salt []byte, iterations, length int, stopped func() error) ([]byte, error) {
	if stopped == nil {
		stopped = func() error { return nil }
	}
	key := make([]byte, 0, length+mac.Size())
	var block, u []byte
	for index, rounds := uint32(1), 0; len(key) < length; index++ {
		mac.Reset()
		mac.Write(salt)
		mac.Write(binary.BigEndian.AppendUint32(nil, index))
		u = mac.Sum(u[:0])
		block = append(block[:0], u...)
		for i := 1; i < iterations; i++ {
			if rounds++; rounds%stopIterations == 0 {
				if err := stopped(); err != nil {
					return nil, err
				}
			}
			mac.Reset()
			mac.Write(u)
			u = mac.Sum(u[:0])
			subtle.XORBytes(block, block, u)
		}
		if rounds++; rounds%stopIterations == 0 {
			if err := stopped(); err != nil {
				return nil, err
			}
		}
		key = append(key, block...)
	}
	return key[:length], nil
}
