package crypto

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"errors"
	"fmt"
	"hash"
	"minido.dev/minido/runtime/nodeapi/node"
	"strings"
)

// Private keys under a passphrase: PKCS#8's EncryptedPrivateKeyInfo with the
// scheme PBES2 of RFC 8018, PBKDF2 and AES in CBC mode.

type algorithmIdentifier struct {
	Algorithm  asn1.ObjectIdentifier
	Parameters asn1.RawValue `asn1:"optional"`
}

type encryptedKey struct {
	Scheme struct {
		Algorithm  asn1.ObjectIdentifier
		Parameters struct{ KDF, Cipher algorithmIdentifier }
	}
	Data []byte
}

type pbkdf2Parameters struct {
	Salt       []byte
	Iterations int
	Length     int                 `asn1:"optional"`
	PRF        algorithmIdentifier `asn1:"optional"`
}

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
)

// keyCiphers are the ciphers of keys: OpenSSL's names.
var keyCiphers = []struct {
	name string
	oid  asn1.ObjectIdentifier
	size int // bytes of a key
}{
	{"aes-128-cbc", asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2}, 16},
	{"aes-192-cbc", asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 22}, 24},
	{"aes-256-cbc", asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}, 32},
}

// keyPRFs are the hashes of HMAC in PBKDF2; the first is the default.
var keyPRFs = []struct {
	oid  asn1.ObjectIdentifier
	hash func() hash.Hash
}{
	{asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 7}, sha1.New},
	{oidSHA256, sha256.New},
	{asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 10}, sha512.New384},
	{asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 11}, sha512.New},
}

// maxKeyIterations bounds what a key may ask of PBKDF2.
const maxKeyIterations = 10_000_000

// errBadDecrypt is a passphrase that does not fit.
var errBadDecrypt = errors.New("bad decrypt")

// keyCipherMode is the block mode of PBES2's parameters.
func keyCipherMode(e *encryptedKey, passphrase []byte, encrypt bool) (cipher.BlockMode, error) {
	var p pbkdf2Parameters
	if !e.Scheme.Algorithm.Equal(oidPBES2) || !e.Scheme.Parameters.KDF.Algorithm.Equal(oidPBKDF2) {
		return nil, fmt.Errorf("%w: of encrypted keys, those under PBES2 with PBKDF2 are known", errKeyFormat)
	}
	if rest, err := asn1.Unmarshal(e.Scheme.Parameters.KDF.Parameters.FullBytes, &p); err != nil || len(rest) > 0 || p.Iterations < 1 || p.Iterations > maxKeyIterations {
		return nil, errKeyFormat
	}
	var iv []byte
	if _, err := asn1.Unmarshal(e.Scheme.Parameters.Cipher.Parameters.FullBytes, &iv); err != nil || len(iv) != aes.BlockSize {
		return nil, errKeyFormat
	}
	prf := keyPRFs[0].hash
	for _, x := range keyPRFs {
		if x.oid.Equal(p.PRF.Algorithm) {
			prf = x.hash
		}
	}
	for _, c := range keyCiphers {
		if !c.oid.Equal(e.Scheme.Parameters.Cipher.Algorithm) {
			continue
		}
		key, err := pbkdf2.Key(prf, string(passphrase), p.Salt, p.Iterations, c.size)
		if err != nil {
			return nil, fmt.Errorf("derive: %w", err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("cipher: %w", err)
		}
		if encrypt {
			return cipher.NewCBCEncrypter(block, iv), nil
		}
		return cipher.NewCBCDecrypter(block, iv), nil
	}
	return nil, fmt.Errorf("%w: of ciphers, AES in CBC mode is known", errKeyFormat)
}

// decryptKey is the PKCS#8 key in an EncryptedPrivateKeyInfo.
func decryptKey(der, passphrase []byte) ([]byte, error) {
	var e encryptedKey
	if _, err := asn1.Unmarshal(der, &e); err != nil || len(e.Data) == 0 || len(e.Data)%aes.BlockSize != 0 {
		return nil, errKeyFormat
	}
	mode, err := keyCipherMode(&e, passphrase, false)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(e.Data))
	mode.CryptBlocks(out, e.Data)
	pad := int(out[len(out)-1])
	if pad < 1 || pad > aes.BlockSize || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errBadDecrypt
	}
	return out[:len(out)-pad], nil
}

// encryptKey puts a PKCS#8 key under a passphrase; salt and iv are random.
func encryptKey(der, passphrase []byte, name string, salt, iv []byte) ([]byte, error) {
	const iterations = 2048 // OpenSSL's
	var e encryptedKey
	for _, c := range keyCiphers {
		if c.name == strings.ToLower(name) {
			e.Scheme.Parameters.Cipher.Algorithm = c.oid
		}
	}
	if e.Scheme.Parameters.Cipher.Algorithm == nil {
		return nil, node.TextError("Unknown cipher: " + name)
	}
	e.Scheme.Algorithm, e.Scheme.Parameters.KDF.Algorithm = oidPBES2, oidPBKDF2
	params, err := asn1.Marshal(pbkdf2Parameters{Salt: salt, Iterations: iterations, PRF: algorithmIdentifier{Algorithm: oidSHA256, Parameters: asn1.NullRawValue}})
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	vector, err := asn1.Marshal(iv)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	e.Scheme.Parameters.KDF.Parameters.FullBytes, e.Scheme.Parameters.Cipher.Parameters.FullBytes = params, vector
	mode, err := keyCipherMode(&e, passphrase, true)
	if err != nil {
		return nil, err
	}
	pad := aes.BlockSize - len(der)%aes.BlockSize
	e.Data = append(bytes.Clone(der), bytes.Repeat([]byte{byte(pad)}, pad)...)
	mode.CryptBlocks(e.Data, e.Data)
	return asn1.Marshal(e)
}
