package webcrypto

import (
	"crypto/ed25519"
	"crypto/hmac"
	"io"
)

// importInput is what an import gets beside the algorithm. data is the
// import's own.
type importInput struct {
	format      string
	data        []byte // raw, spki, pkcs8
	jwk         *JWK   // jwk
	extractable bool
	usages      Usages
}

// Exported is what exportKey gives: bytes, or a JWK.
type Exported struct {
	Bytes []byte
	JWK   *JWK
}

func errNoUsages() error {
	return fail(syntaxError, "Secret/private CryptoKeys must have at least one usage.")
}

func errNoPrivateUsages() error {
	return fail(syntaxError, "Attempt to generate asymmetric keys with no valid private key usages.")
}

func badImportFormat(format string) error {
	return fail(notSupportedError, "Unrecognized key import format %q.", format)
}

// Generate is SubtleCrypto.generateKey (section 14.3.6) after normalization for
// OpGenerateKey. It may compute for long: RSA.
func Generate(p *Params, extractable bool, usages Usages, src io.Reader) (Generated, error) {
	var g Generated
	var err error
	switch {
	case isAES(p.Name):
		g.Secret, err = generateAES(p, usages, src)
	case p.Name == "HMAC":
		g.Secret, err = generateHMAC(p, usages, src)
	case isRSA(p.Name):
		g.Public, g.Private, err = generateRSA(p, usages, src)
	case p.Name == "ECDSA" || p.Name == "ECDH":
		g.Public, g.Private, err = generateEC(p, usages, src)
	default:
		g.Public, g.Private, err = generateOKP(p, usages, src)
	}
	if err != nil {
		return Generated{}, err
	}
	if g.Secret != nil {
		g.Secret.Type, g.Secret.Usages, g.Secret.Extractable = Secret, usages, extractable
		return g, nil
	}
	g.Public.Type, g.Public.Usages, g.Public.Extractable = Public, usages&publicUsages, true
	g.Private.Type, g.Private.Usages, g.Private.Extractable = Private, usages&privateUsages, extractable
	return g, nil
}

// rawFormat takes the formats that tell kinds of raw keys apart (Modern
// Algorithms in the Web Cryptography API) for "raw" where they fit.
func rawFormat(format, name string) string {
	secret := isAES(name) || name == "HMAC" || name == "HKDF" || name == "PBKDF2"
	if format == "raw-secret" && secret || format == "raw-public" && !secret && !isRSA(name) {
		return "raw"
	}
	return format
}

// Import is SubtleCrypto.importKey (section 14.3.9) after normalization for
// OpImportKey. data is taken over; jwk is used instead with format "jwk".
func Import(format string, data []byte, jwk *JWK, p *Params, extractable bool, usages Usages) (*Key, error) {
	switch format {
	case "raw", "spki", "pkcs8", "jwk", "raw-public", "raw-private", "raw-seed", "raw-secret":
	default:
		return nil, fail(notSupportedError, "Unrecognized key import format %q.", format)
	}
	in := &importInput{rawFormat(format, p.Name), data, jwk, extractable, usages}
	var k *Key
	var err error
	switch {
	case isAES(p.Name):
		k, err = importAES(p, in)
	case p.Name == "HMAC":
		k, err = importHMAC(p, in)
	case p.Name == "HKDF" || p.Name == "PBKDF2":
		k, err = importKDF(p, in)
	case isRSA(p.Name):
		k, err = importRSA(p, in)
	case p.Name == "ECDSA" || p.Name == "ECDH":
		k, err = importEC(p, in)
	default:
		k, err = importOKP(p, in)
	}
	if err != nil {
		return nil, err
	}
	if usages == 0 && k.Type != Public {
		return nil, errNoUsages()
	}
	k.Extractable, k.Usages = extractable, usages
	return k, nil
}

// Export is SubtleCrypto.exportKey (section 14.3.10).
func Export(format string, k *Key) (*Exported, error) {
	name := k.Algorithm.Name
	if name == "HKDF" || name == "PBKDF2" {
		return nil, fail(notSupportedError, "Unrecognized or unsupported export of %q requested.", name)
	}
	if !k.Extractable {
		return nil, fail(invalidAccessError, "Attempt to export non-extractable %s key.", name)
	}
	format = rawFormat(format, name)
	switch {
	case isAES(name):
		return k.exportAES(format)
	case name == "HMAC":
		return k.exportHMAC(format)
	}
	switch format {
	case "pkcs8":
		if k.Type != Private {
			return nil, fail(invalidAccessError, "Asymmetric pkcs8 export requires private key (not %q).", k.Type)
		}
	case "spki":
		if k.Type != Public {
			return nil, fail(invalidAccessError, "Asymmetric spki export requires public key (not %q).", k.Type)
		}
	}
	switch {
	case isRSA(name):
		return k.exportRSA(format)
	case k.ec != nil:
		return k.exportEC(format)
	}
	return k.exportOKP(format)
}

// EncryptWith is SubtleCrypto.encrypt (section 14.3.1) after normalization, and the
// encryption of wrapKey (14.3.11): usage is Encrypt or WrapKey. src serves RSA-OAEP.
func EncryptWith(p *Params, k *Key, usage Usages, data []byte, src io.Reader) ([]byte, error) {
	if err := k.check(p, usage); err != nil {
		return nil, err
	}
	if p.Name == "RSA-OAEP" {
		return k.encryptOAEP(p, data, src)
	}
	return k.cipherAES(p, data, true)
}

// DecryptWith is SubtleCrypto.decrypt (section 14.3.2), and the decryption of
// unwrapKey (14.3.12): usage is Decrypt or UnwrapKey.
func DecryptWith(p *Params, k *Key, usage Usages, data []byte) ([]byte, error) {
	if err := k.check(p, usage); err != nil {
		return nil, err
	}
	if p.Name == "RSA-OAEP" {
		return k.decryptOAEP(p, data)
	}
	return k.cipherAES(p, data, false)
}

// CheckWrap is what wrapKey tests before it exports the key (section 14.3.11,
// steps 9 and 10).
func CheckWrap(p *Params, wrapping *Key) error { return wrapping.check(p, WrapKey) }

// errMD5 says that ECDSA has no MD5: workerd refuses it too, from below.
var errMD5 = fail(notSupportedError, "ECDSA does not support the digest MD5; use SHA-256, SHA-384 or SHA-512.")

// SignWith is SubtleCrypto.sign (section 14.3.3). src serves RSA-PSS.
func SignWith(p *Params, k *Key, data []byte, src io.Reader) ([]byte, error) {
	if err := k.check(p, Sign); err != nil {
		return nil, err
	}
	if p.Name == "HMAC" {
		return k.mac(data), nil
	}
	if k.Type != Private {
		return nil, fail(invalidAccessError, "Asymmetric signing requires a private key.")
	}
	switch p.Name {
	case "RSASSA-PKCS1-v1_5":
		return k.rsa.signPKCS1(k.Algorithm.Hash, data)
	case "RSA-PSS":
		return k.rsa.signPSS(k.Algorithm.Hash, p.SaltLength, data, src)
	case "ECDSA":
		if p.Hash == "MD5" {
			return nil, errMD5
		}
		return k.ec.sign(p.Hash, data)
	}
	return k.okp.sign(data), nil
}

// VerifyWith is SubtleCrypto.verify (section 14.3.4).
func VerifyWith(p *Params, k *Key, signature, data []byte) (bool, error) {
	if err := k.check(p, Verify); err != nil {
		return false, err
	}
	if p.Name == "HMAC" {
		return hmac.Equal(signature, k.mac(data)), nil
	}
	if k.Type != Public {
		return false, fail(invalidAccessError, "Asymmetric verification requires a public key.")
	}
	switch p.Name {
	case "RSASSA-PKCS1-v1_5":
		return k.rsa.verifyPKCS1(k.Algorithm.Hash, signature, data), nil
	case "RSA-PSS":
		return k.rsa.verifyPSS(k.Algorithm.Hash, p.SaltLength, signature, data), nil
	case "ECDSA":
		if p.Hash == "MD5" {
			return false, errMD5
		}
		return k.ec.verify(p.Hash, signature, data), nil
	}
	if len(signature) != ed25519.SignatureSize {
		return false, fail(operationError, "Invalid %s signature length %d", p.Name, len(signature))
	}
	return k.okp.verify(signature, data), nil
}

// Derive is SubtleCrypto.deriveBits (section 14.3.8), and the derivation of
// deriveKey (14.3.7): usage is DeriveBits or DeriveKey. length is in bits, nil
// for null. It may compute for long: PBKDF2.
func Derive(p *Params, k *Key, usage Usages, length *int) ([]byte, error) {
	if err := k.check(p, usage); err != nil {
		return nil, err
	}
	if p.Name == "HKDF" || p.Name == "PBKDF2" {
		return k.deriveKDF(p, length)
	}
	if err := k.checkPeer(p.Public); err != nil {
		return nil, err
	}
	var secret []byte
	var err error
	if k.ec != nil {
		secret, err = k.ec.shared(p.Public.ec)
	} else {
		secret, err = k.okp.shared(p.Public.okp)
	}
	if err != nil || length == nil {
		return secret, err
	}
	if *length > len(secret)*8 {
		return nil, fail(operationError, "Derived key length (%d bits) is too long (should be at most %d bits).", *length, len(secret)*8)
	}
	secret = secret[:(*length+7)/8]
	clearBits(secret, *length)
	return secret, nil
}

// checkPeer checks the keys of a Diffie-Hellman exchange (for ECDH: section
// 24.4.2, steps 1 to 5).
func (k *Key) checkPeer(peer *Key) error {
	name := k.Algorithm.Name
	switch {
	case k.Type != Private:
		return fail(invalidAccessError, "The deriveBits operation is only valid for a private key, not %q.", k.Type)
	case peer.Type != Public:
		return fail(invalidAccessError, "The provided key has type %q, not \"public\"", peer.Type)
	case name != peer.Algorithm.Name && peer.Algorithm.Name == "ECDSA":
		return fail(invalidAccessError, "Private key for derivation is using %q while public key is using %q.", name, peer.Algorithm.Name)
	case name != peer.Algorithm.Name:
		return fail(invalidAccessError, "Base %s private key cannot be used to derive a key from a peer %s public key", name, peer.Algorithm.Name)
	case k.Algorithm.NamedCurve != peer.Algorithm.NamedCurve:
		return fail(invalidAccessError, "Private key for derivation is using curve %q while public key is using %q.", k.Algorithm.NamedCurve, peer.Algorithm.NamedCurve)
	}
	return nil
}

// KeyLength is the "get key length" operation of a derived key's algorithm, in
// bits; nil for those whose length is free.
func KeyLength(p *Params) (*int, error) {
	switch {
	case isAES(p.Name):
		if !validAESLength(*p.Length) {
			return nil, fail(operationError, "Derived AES key must be 128, 192, or 256 bits in length but provided %d.", *p.Length)
		}
		return p.Length, nil
	case p.Name == "HMAC":
		bits := hmacLength(p)
		if bits == 0 {
			return nil, &Error{Name: "TypeError", Message: "HMAC key length must be a non-zero unsigned long integer."}
		}
		return &bits, nil
	}
	return nil, nil
}

// DeriveKeyWith is SubtleCrypto.deriveKey (section 14.3.7): lengths and imports
// are the derived key's algorithm, normalized for OpGetKeyLength and OpImportKey.
func DeriveKeyWith(p *Params, base *Key, lengths, imports *Params, extractable bool, usages Usages) (*Key, error) {
	if err := base.check(p, DeriveKey); err != nil {
		return nil, err
	}
	length, err := KeyLength(lengths)
	if err != nil {
		return nil, err
	}
	secret, err := Derive(p, base, DeriveKey, length)
	if err != nil {
		return nil, err
	}
	return Import("raw", secret, nil, imports, extractable, usages)
}
