package webcrypto

import (
	"bytes"
	caes "crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"io"
	"math/big"
	"strconv"
)

func isAES(name string) bool { return name[:min(4, len(name))] == "AES-" }

func aesUsages(name string) Usages {
	if name == "AES-KW" {
		return WrapKey | UnwrapKey
	}
	return Encrypt | Decrypt | WrapKey | UnwrapKey
}

func validAESLength(bits int) bool { return bits == 128 || bits == 192 || bits == 256 }

func generateAES(p *Params, usages Usages, src io.Reader) (*Key, error) {
	if err := allow("generate", p.Name, usages, aesUsages(p.Name)); err != nil {
		return nil, err
	}
	if !validAESLength(*p.Length) {
		return nil, fail(operationError, "Generated AES key length must be 128, 192, or 256 bits but requested %d.", *p.Length)
	}
	if usages == 0 {
		return nil, errNoUsages()
	}
	secret, err := random(src, *p.Length/8)
	return &Key{Algorithm: Algorithm{Name: p.Name, Length: *p.Length}, secret: secret}, err
}

func importAES(p *Params, in *importInput) (*Key, error) {
	if err := importing(Secret, p.Name, in.usages, aesUsages(p.Name)); err != nil {
		return nil, err
	}
	var secret []byte
	switch in.format {
	case "raw":
		secret = in.data
	case "jwk":
		if kty := in.jwk.Fields["kty"]; kty != "oct" {
			return nil, fail(dataError, "Symmetric \"jwk\" key import requires a JSON Web Key with Key Type parameter \"kty\" equal to \"oct\" (encountered %q).", kty)
		}
		k, ok := in.jwk.bytes("k")
		if !ok {
			return nil, fail(dataError, "Symmetric \"jwk\" key import requires a base64Url encoding of the key.")
		}
		secret = k
	default:
		return nil, badImportFormat(in.format)
	}
	bits := len(secret) * 8
	if !validAESLength(bits) {
		return nil, fail(dataError, "Imported AES key length must be 128, 192, or 256 bits but provided %d.", bits)
	}
	if in.format == "jwk" {
		want := "A" + strconv.Itoa(bits) + p.Name[4:]
		if alg, ok := in.jwk.Fields["alg"]; ok && alg != want {
			return nil, fail(dataError, "Symmetric \"jwk\" key contains invalid \"alg\" value %q, expected %q.", alg, want)
		}
		if err := in.jwk.symmetric(in, p.Name); err != nil {
			return nil, err
		}
	}
	return &Key{Type: Secret, Algorithm: Algorithm{Name: p.Name, Length: bits}, secret: secret}, nil
}

func (k *Key) exportAES(format string) (*Exported, error) {
	switch format {
	case "raw":
		return &Exported{Bytes: bytes.Clone(k.secret)}, nil
	case "jwk":
		return &Exported{JWK: k.exported(map[string]string{"kty": "oct", "k": encode64(k.secret),
			"alg": "A" + strconv.Itoa(len(k.secret)*8) + k.Algorithm.Name[4:]})}, nil
	}
	return nil, fail(notSupportedError, "%s key only supports exporting \"raw\", \"raw-secret\" & \"jwk\", not %q.", k.Algorithm.Name, format)
}

// cipherAES encrypts or decrypts.
func (k *Key) cipherAES(p *Params, data []byte, encrypt bool) ([]byte, error) {
	block, err := caes.NewCipher(k.secret)
	if err != nil {
		return nil, fail(operationError, "%v", err)
	}
	switch p.Name {
	case "AES-CTR":
		return ctr(block, p.Counter, *p.Length, data)
	case "AES-CBC":
		if len(p.IV) != 16 {
			return nil, fail(operationError, "AES-CBC IV must be 16 bytes long (provided %d bytes).", len(p.IV))
		}
		if encrypt {
			return cbcEncrypt(block, p.IV, data), nil
		}
		return cbcDecrypt(block, p.IV, data)
	case "AES-GCM":
		return gcm(block, p, data, encrypt)
	}
	if encrypt {
		return wrap(block, data)
	}
	return unwrap(block, data)
}

func errDecrypt(name string, in, out int) error {
	return fail(operationError, "Decryption failed. This could be due to a ciphertext authentication failure, bad padding, incorrect CryptoKey, or another algorithm-specific reason. Input length was %d, output length expected to be %d for %s", in, out, name)
}

// cbcEncrypt pads by PKCS #7 (RFC 2315, section 10.3).
func cbcEncrypt(block cipher.Block, iv, data []byte) []byte {
	pad := caes.BlockSize - len(data)%caes.BlockSize
	out := append(bytes.Clone(data), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
	return out
}

func cbcDecrypt(block cipher.Block, iv, data []byte) ([]byte, error) {
	if len(data) == 0 || len(data)%caes.BlockSize != 0 {
		return nil, errDecrypt("AES-CBC", len(data), len(data)/caes.BlockSize*caes.BlockSize)
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > caes.BlockSize || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errDecrypt("AES-CBC", len(data), len(data)-caes.BlockSize)
	}
	return out[:len(out)-pad], nil
}

// ctr en- or decrypts; only the rightmost length bits of the counter count, and
// wrap to zero (section 25.4.1, NIST SP 800-38A).
func ctr(block cipher.Block, counter []byte, length int, data []byte) ([]byte, error) {
	if len(counter) != 16 {
		return nil, fail(operationError, "Counter must have length of 16 bytes (provided %d).", len(counter))
	}
	if length < 1 || length > 128 {
		return nil, fail(operationError, "Invalid counter of %d bits length provided.", length)
	}
	space := new(big.Int).Lsh(big.NewInt(1), uint(length))
	mask := new(big.Int).Sub(space, big.NewInt(1))
	start := new(big.Int).SetBytes(counter)
	blocks := big.NewInt(int64((len(data) + 15) / 16))
	if blocks.Cmp(space) > 0 {
		return nil, fail(operationError, "Counter block values will repeat.")
	}
	out := make([]byte, len(data))
	first := len(data)
	untilZero := new(big.Int).Sub(space, new(big.Int).And(start, mask))
	if untilZero.Cmp(blocks) < 0 {
		first = int(untilZero.Int64()) * 16
	}
	cipher.NewCTR(block, counter).XORKeyStream(out[:first], data[:first])
	if first < len(data) {
		zeroed := new(big.Int).AndNot(start, mask).FillBytes(make([]byte, 16))
		cipher.NewCTR(block, zeroed).XORKeyStream(out[first:], data[first:])
	}
	return out, nil
}

// maxGCM is the longest plaintext, in bytes (section 27.4.1).
const maxGCM = 1<<39 - 256

// gcm serves nonces of any length but zero, and every length of tag that the
// specification has: a shorter tag is the full one, cut off.
func gcm(block cipher.Block, p *Params, data []byte, encrypt bool) ([]byte, error) {
	if len(p.IV) == 0 {
		return nil, fail(operationError, "AES-GCM IV must not be empty.")
	}
	tag := 128
	if p.TagLength != nil {
		tag = *p.TagLength
	}
	switch tag {
	case 32, 64, 96, 104, 112, 120, 128:
	default:
		return nil, fail(operationError, "Invalid AES-GCM tag length %d.", tag)
	}
	aead, err := cipher.NewGCMWithNonceSize(block, len(p.IV))
	if err != nil {
		return nil, fail(operationError, "%v", err)
	}
	size := tag / 8
	if encrypt {
		if int64(len(data)) > maxGCM {
			return nil, fail(operationError, "AES-GCM can only encrypt up to 2^39 - 256 bytes of plaintext at a time, but requested %d bytes.", len(data))
		}
		sealed := aead.Seal(nil, p.IV, data, p.AdditionalData)
		return sealed[:len(data)+size], nil
	}
	if len(data) < size {
		return nil, fail(operationError, "Ciphertext length of %d bits must be greater than or equal to the size of the AES-GCM tag length of %d bits.", len(data)*8, tag)
	}
	n := len(data) - size
	if size == 16 {
		plain, err := aead.Open(nil, p.IV, data, p.AdditionalData)
		if err != nil {
			return nil, errDecrypt("AES-GCM", n, n)
		}
		return plain, nil
	}
	// Sealing XORs with the key stream: sealing the ciphertext opens it, and
	// sealing the result gives the tag that belongs to it.
	plain := aead.Seal(nil, p.IV, data[:n], nil)[:n:n]
	sealed := aead.Seal(nil, p.IV, plain, p.AdditionalData)
	if subtle.ConstantTimeCompare(sealed[n:n+size], data[n:]) != 1 {
		return nil, errDecrypt("AES-GCM", n, n)
	}
	return plain, nil
}

// wrapIV is the initial value of RFC 3394, section 2.2.3.1.
const wrapIV = 0xA6A6A6A6A6A6A6A6

// wrap is the AES Key Wrap algorithm (RFC 3394, section 2.2.1).
func wrap(block cipher.Block, key []byte) ([]byte, error) {
	if len(key)%8 != 0 {
		return nil, fail(operationError, "Unwrapped key bit length must be a multiple of 64 bits but unwrapped key has a length of %d bits.", len(key)*8)
	}
	if len(key) < 16 {
		return nil, fail(operationError, "Unwrapped key has length %d bytes but it should be greater than or equal to 16 and less than or equal to 18446744073709551607", len(key))
	}
	n := len(key) / 8
	out := append(binary.BigEndian.AppendUint64(nil, wrapIV), key...)
	var b [16]byte
	copy(b[:8], out)
	for t := 1; t <= 6*n; t++ {
		i := (t-1)%n + 1
		copy(b[8:], out[8*i:8*i+8])
		block.Encrypt(b[:], b[:])
		copy(out[8*i:], b[8:])
		binary.BigEndian.PutUint64(b[:8], binary.BigEndian.Uint64(b[:8])^uint64(t))
	}
	copy(out, b[:8])
	return out, nil
}

// unwrap is RFC 3394, section 2.2.2.
func unwrap(block cipher.Block, wrapped []byte) ([]byte, error) {
	if len(wrapped)%8 != 0 {
		return nil, fail(operationError, "Provided a wrapped key to unwrap that is %d bits which isn't a multiple of 64 bits.", len(wrapped)*8)
	}
	if len(wrapped) < 24 {
		return nil, fail(operationError, "Provided a wrapped key to unwrap this is %d bits that is less than the minimal length of 192 bits.", len(wrapped)*8)
	}
	n := len(wrapped)/8 - 1
	out := bytes.Clone(wrapped[8:])
	var b [16]byte
	copy(b[:8], wrapped)
	for t := 6 * n; t >= 1; t-- {
		i := (t - 1) % n
		binary.BigEndian.PutUint64(b[:8], binary.BigEndian.Uint64(b[:8])^uint64(t))
		copy(b[8:], out[8*i:8*i+8])
		block.Decrypt(b[:], b[:])
		copy(out[8*i:], b[8:])
	}
	if binary.BigEndian.Uint64(b[:8]) != wrapIV {
		return nil, fail(operationError, "AES-KW key unwrapping failed.")
	}
	return out, nil
}
