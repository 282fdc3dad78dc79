package crypto

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/asn1"
	"errors"
	"math/big"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
	"minido.dev/minido/runtime/webcrypto"
)

// The paddings of RSA, as OpenSSL numbers them (crypto.constants).
const (
	rsaPKCS1     = 1
	rsaNoPadding = 3
	rsaOAEP      = 4
	rsaPSS       = 6
)

// cryptoHashes are the digests as signatures name them, by digestName.
var cryptoHashes = map[string]crypto.Hash{
	"md5": crypto.MD5, "sha1": crypto.SHA1, "sha224": crypto.SHA224, "sha256": crypto.SHA256,
	"sha384": crypto.SHA384, "sha512": crypto.SHA512, "sha512-256": crypto.SHA512_256,
}

// signNatives are what Sign, Verify and the encryption with RSA are built of.
func (m *module) signNatives() []engine.Func {
	return []engine.Func{
		{Name: "keySign", Length: 6, Fn: func(c goja.FunctionCall) goja.Value {
			s := m.signing(c)
			out, err := s.sign(m)
			if err != nil {
				if errors.Is(err, errContext) {
					m.Throw("Error", "", "%v", err)
				}
				m.Throw("Error", "", "Failed to sign: %v", err)
			}
			return m.NewBuffer(out)
		}},
		{Name: "keyVerify", Length: 7, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(m.signing(c).verify(m.AnyBytes(c.Argument(6), "signature")))
		}},
		{Name: "rsaCrypt", Length: 6, Fn: m.rsaCrypt},
	}
}

// signing is one signature to make or to check.
type signing struct {
	key     *asymmetricKey
	hash    crypto.Hash // 0 for keys that sign messages
	data    []byte      // the digest, or the message
	padding int64
	salt    int
	// unsalted says that PSS is without a salt: to Go's library 0 is PSSSaltLengthAuto.
	unsalted bool
	plain    bool // an ECDSA signature is r and s, not ASN.1
}

// signing reads (key, digest name, data, padding, saltLength, dsaEncoding).
func (m *module) signing(c goja.FunctionCall) *signing {
	s := &signing{key: m.asymmetric(c.Argument(0)), data: m.AnyBytes(c.Argument(2), "data"), padding: rsaPKCS1, salt: rsa.PSSSaltLengthAuto,
		plain: optionalText(c.Argument(5)) == "ieee-p1363"}
	if name := optionalText(c.Argument(1)); name != "" {
		s.hash = cryptoHashes[digestName(name)]
	}
	if v := c.Argument(3); !node.Absent(v) {
		s.padding = v.ToInteger()
	}
	if v := c.Argument(4); !node.Absent(v) {
		s.salt = int(v.ToInteger())
		s.unsalted = s.salt == 0
		if s.salt == -2 { // RSA_PSS_SALTLEN_MAX_SIGN and _AUTO
			s.salt = rsa.PSSSaltLengthAuto
		}
	}
	return s
}

var (
	errContext = node.TextError("Failed to initialize signing context")
	errPadding = node.TextError("Unsupported padding")
)

func (s *signing) sign(m *module) ([]byte, error) {
	switch k := s.key.private.(type) {
	case *rsa.PrivateKey:
		switch s.padding {
		case rsaPKCS1:
			return rsa.SignPKCS1v15(nil, k, s.hash, s.data)
		case rsaPSS:
			if s.unsalted {
				return s.signUnsalted(k)
			}
			m.Engine.IO("random values")
			return rsa.SignPSS(m.Engine.Entropy(), k, s.hash, s.data, &rsa.PSSOptions{SaltLength: s.salt})
		}
		return nil, errPadding
	case *ecdsa.PrivateKey:
		der, err := k.Sign(nil, s.data, s.hash) // without entropy the nonce is RFC 6979's
		if err != nil || !s.plain {
			return der, err
		}
		return rawSignature(der, (k.Curve.Params().BitSize+7)/8)
	case ed25519.PrivateKey:
		if s.hash != 0 {
			return nil, errContext
		}
		return ed25519.Sign(k, s.data), nil
	}
	return nil, errContext
}

// signUnsalted is RSASSA-PSS-SIGN (RFC 8017, section 8.1.1) without a salt.
func (s *signing) signUnsalted(k *rsa.PrivateKey) ([]byte, error) {
	em := webcrypto.EncodePSS(s.hash, s.data, nil, k.N.BitLen()-1)
	if em == nil {
		return nil, rsa.ErrMessageTooLong
	}
	n := new(big.Int).SetBytes(em)
	return n.Exp(n, k.D, k.N).FillBytes(make([]byte, k.Size())), nil
}

// verifyUnsalted is RSASSA-PSS-VERIFY (RFC 8017, section 8.1.2): without a salt there
// is one encoding only.
func (s *signing) verifyUnsalted(k *rsa.PublicKey, signature []byte) bool {
	n := new(big.Int).SetBytes(signature)
	if len(signature) != k.Size() || n.Cmp(k.N) >= 0 {
		return false
	}
	em := webcrypto.EncodePSS(s.hash, s.data, nil, k.N.BitLen()-1)
	return em != nil && n.Exp(n, big.NewInt(int64(k.E)), k.N).Cmp(new(big.Int).SetBytes(em)) == 0
}

func (s *signing) verify(signature []byte) bool {
	switch k := s.key.public.(type) {
	case *rsa.PublicKey:
		if s.padding == rsaPSS && s.unsalted {
			return s.verifyUnsalted(k, signature)
		}
		if s.padding == rsaPSS {
			return rsa.VerifyPSS(k, s.hash, s.data, signature, &rsa.PSSOptions{SaltLength: s.salt}) == nil
		}
		return rsa.VerifyPKCS1v15(k, s.hash, s.data, signature) == nil
	case *ecdsa.PublicKey:
		if s.plain {
			der, err := derSignature(signature)
			return err == nil && ecdsa.VerifyASN1(k, s.data, der)
		}
		return ecdsa.VerifyASN1(k, s.data, signature)
	case ed25519.PublicKey:
		return s.hash == 0 && ed25519.Verify(k, s.data, signature)
	}
	return false
}

// rawSignature and derSignature convert between the two forms of an ECDSA
// signature: r and s of a fixed size, and an ASN.1 sequence of both.
func rawSignature(der []byte, size int) ([]byte, error) {
	var s struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &s); err != nil || len(rest) > 0 {
		return nil, errors.New("malformed signature")
	}
	return append(s.R.FillBytes(make([]byte, size)), s.S.FillBytes(make([]byte, size))...), nil
}

func derSignature(raw []byte) ([]byte, error) {
	half := len(raw) / 2
	return asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:half]), new(big.Int).SetBytes(raw[half:])})
}

// rsaCrypt is (what, key, data, padding, oaepHash, oaepLabel); what is one of
// publicEncrypt, privateDecrypt, privateEncrypt and publicDecrypt.
func (m *module) rsaCrypt(c goja.FunctionCall) goja.Value {
	k := m.asymmetric(c.Argument(1))
	public, ok := k.public.(*rsa.PublicKey)
	if !ok {
		m.Throw("Error", "", "%s() currently only supports RSA keys", c.Argument(0))
	}
	private, _ := k.private.(*rsa.PrivateKey)
	data, label := m.AnyBytes(c.Argument(2), "buffer"), []byte(nil)
	if v := c.Argument(5); !node.Absent(v) {
		label = m.AnyBytes(v, "key.oaepLabel")
	}
	hash := crypto.SHA1
	if name := optionalText(c.Argument(4)); name != "" {
		if hash = cryptoHashes[digestName(name)]; hash == 0 {
			m.Throw("Error", "", "Unsupported hash digest")
		}
	}
	var out []byte
	var err error
	padding := c.Argument(3).ToInteger()
	switch what := c.Argument(0).String(); {
	case what == "publicEncrypt" && padding == rsaOAEP:
		m.Engine.IO("random values")
		out, err = rsa.EncryptOAEP(hash.New(), m.Engine.Entropy(), public, data, label)
	case what == "privateDecrypt" && padding == rsaOAEP:
		out, err = rsa.DecryptOAEP(hash.New(), nil, private, data, label)
	case what == "publicEncrypt" && padding == rsaPKCS1:
		out, err = m.encryptPKCS1(public, data)
	case what == "privateDecrypt" && padding == rsaPKCS1:
		out, err = unpadded(raw(public, private.D, data), 2)
	case what == "privateEncrypt" && padding == rsaPKCS1:
		out, err = rsa.SignPKCS1v15(nil, private, 0, data)
	case what == "publicDecrypt" && padding == rsaPKCS1:
		out, err = unpadded(raw(public, big.NewInt(int64(public.E)), data), 1)
	case padding == rsaNoPadding && len(data) == public.Size():
		exponent := big.NewInt(int64(public.E))
		if what == "privateDecrypt" || what == "privateEncrypt" {
			exponent = private.D
		}
		out = raw(public, exponent, data)
	default:
		err = errPadding
	}
	if errors.Is(err, errPadding) && padding != rsaPKCS1 && padding != rsaOAEP && padding != rsaNoPadding {
		m.Throw("Error", "", "Failed to set the padding")
	}
	if err != nil {
		m.Throw("Error", "", "Failed to cipher/decipher")
	}
	return m.NewBuffer(out)
}

// raw is RSA without padding.
func raw(k *rsa.PublicKey, exponent *big.Int, data []byte) []byte {
	return new(big.Int).Exp(new(big.Int).SetBytes(data), exponent, k.N).FillBytes(make([]byte, k.Size()))
}

// encryptPKCS1 pads with the isolate's entropy (RFC 8017, section 7.2.1).
func (m *module) encryptPKCS1(k *rsa.PublicKey, data []byte) ([]byte, error) {
	if len(data) > k.Size()-11 {
		return nil, rsa.ErrMessageTooLong
	}
	block := make([]byte, k.Size())
	block[1] = 2
	pad := block[2 : len(block)-len(data)-1]
	for i := range pad {
		for pad[i] == 0 {
			m.Random(pad[i : i+1])
		}
	}
	copy(block[len(block)-len(data):], data)
	return raw(k, big.NewInt(int64(k.E)), block), nil
}

// unpadded takes the padding of a signature (1) or of a secret (2) off (RFC
// 8017, sections 9.2 and 7.2.2).
func unpadded(block []byte, kind byte) ([]byte, error) {
	if len(block) > 11 && block[0] == 0 && block[1] == kind {
		for i, b := range block[2:] {
			if b == 0 && i >= 8 {
				return block[3+i:], nil
			}
			if b == 0 || kind == 1 && b != 0xff {
				break
			}
		}
	}
	return nil, errPadding
}
