package crypto

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
	"minido.dev/minido/runtime/webcrypto"
)

// asymmetricKey is the material of a PublicKeyObject or a PrivateKeyObject:
// RSA, EC, Ed25519 or X25519. Immutable.
type asymmetricKey struct {
	public  any // *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey, *ecdh.PublicKey
	private any // the private key that belongs to it, nil for a public one
}

// errKeyFormat is what no known encoding fits.
var errKeyFormat = errors.New("unsupported key encoding: PEM or DER as pkcs1, pkcs8, spki or sec1, and JWK are known")

// errEncryptedKey is a private key that needs a passphrase.
var errEncryptedKey = errors.New("the key is encrypted")

// publicOf is the public half of a private key.
func publicOf(private any) any {
	switch k := private.(type) {
	case *rsa.PrivateKey:
		return &k.PublicKey
	case *ecdsa.PrivateKey:
		return &k.PublicKey
	case ed25519.PrivateKey:
		return k.Public().(ed25519.PublicKey)
	case *ecdh.PrivateKey:
		return k.PublicKey()
	}
	return nil
}

// parsePrivate reads DER in the encodings of private keys that the reference reads:
// SEC1 is none of them.
func parsePrivate(der []byte, kind string) (*asymmetricKey, error) {
	parsers := map[string]func([]byte) (any, error){
		"pkcs8": x509.ParsePKCS8PrivateKey,
		"pkcs1": func(b []byte) (any, error) { return x509.ParsePKCS1PrivateKey(b) },
	}
	for _, name := range []string{"pkcs8", "pkcs1"} {
		if kind != "" && kind != name {
			continue
		}
		if k, err := parsers[name](der); err == nil {
			if p := publicOf(k); p != nil {
				return &asymmetricKey{public: p, private: k}, nil
			}
		}
	}
	return nil, errKeyFormat
}

// parsePublic reads DER in any of the encodings of public keys; a private key
// or a certificate gives its public key.
func parsePublic(der []byte, kind string) (*asymmetricKey, error) {
	if kind == "" || kind == "spki" {
		if k, err := x509.ParsePKIXPublicKey(der); err == nil {
			return &asymmetricKey{public: k}, nil
		}
	}
	if kind == "" || kind == "pkcs1" {
		if k, err := x509.ParsePKCS1PublicKey(der); err == nil {
			return &asymmetricKey{public: k}, nil
		}
	}
	if c, err := x509.ParseCertificate(der); err == nil && kind == "" {
		return &asymmetricKey{public: c.PublicKey}, nil
	}
	k, err := parsePrivate(der, kind)
	if err != nil {
		return nil, err
	}
	return &asymmetricKey{public: k.public}, nil
}

// parseKeyText reads PEM, or DER where data is none. passphrase is nil where
// none was given.
func parseKeyText(data []byte, kind string, private bool, passphrase []byte) (*asymmetricKey, error) {
	parse, wanted := parsePublic, ""
	if private {
		parse, wanted = parsePrivate, "PRIVATE KEY"
	}
	encrypted := func(der []byte) (*asymmetricKey, error) {
		if passphrase == nil {
			return nil, errEncryptedKey
		}
		der, err := decryptKey(der, passphrase)
		if err != nil {
			return nil, err
		}
		return parse(der, "")
	}
	if !bytes.Contains(data, []byte("-----BEGIN")) {
		if k, err := parse(data, kind); err == nil || passphrase == nil {
			return k, err
		}
		return encrypted(data)
	}
	block := pemBlock(data, wanted)
	if block == nil {
		return nil, errKeyFormat
	}
	if block.Headers["DEK-Info"] != "" {
		return nil, fmt.Errorf("%w: of encrypted keys, PKCS#8 is known", errKeyFormat)
	}
	if block.Type == "ENCRYPTED PRIVATE KEY" {
		return encrypted(block.Bytes)
	}
	return parse(block.Bytes, "")
}

// pemBlock is the first block whose type ends with suffix, or else the first:
// as in OpenSSL, text may hold others before the one that is asked for.
func pemBlock(data []byte, suffix string) *pem.Block {
	first, rest := pem.Decode(data)
	for block := first; block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, suffix) {
			return block
		}
	}
	return first
}

// curveNames are OpenSSL's names of the curves.
var curveNames = map[string]string{"P-224": "secp224r1", "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1"}

// web is the algorithm under which webcrypto takes a key: any that its type has.
func (k *asymmetricKey) web() *webcrypto.Params {
	switch kind, curve, _, _ := k.kind(); kind {
	case "rsa":
		return &webcrypto.Params{Name: "RSASSA-PKCS1-v1_5", Hash: "SHA-256"}
	case "ec":
		return &webcrypto.Params{Name: "ECDSA", NamedCurve: curveOf(curve).Params().Name}
	case "ed25519":
		return &webcrypto.Params{Name: "Ed25519"}
	}
	return &webcrypto.Params{Name: "X25519"}
}

// webKey is the key as webcrypto has it.
func (k *asymmetricKey) webKey(p *webcrypto.Params, extractable bool, usages webcrypto.Usages) (*webcrypto.Key, error) {
	format := "spki"
	if k.private != nil {
		format = "pkcs8"
	}
	der, _, err := k.der("")
	if err != nil {
		return nil, err
	}
	return webcrypto.Import(format, der, nil, p, extractable, usages)
}

// fromWeb is a key of webcrypto, extractable or not.
func fromWeb(k *webcrypto.Key) (*asymmetricKey, error) {
	open := *k
	open.Extractable = true
	format, parse := "spki", parsePublic
	if k.Type == webcrypto.Private {
		format, parse = "pkcs8", parsePrivate
	}
	out, err := webcrypto.Export(format, &open)
	if err != nil {
		return nil, err
	}
	return parse(out.Bytes, format)
}

// usagesFor are usages that a key of this kind may have.
func usagesFor(name string, private bool) webcrypto.Usages {
	switch {
	case name == "X25519" && private:
		return webcrypto.DeriveBits
	case name == "X25519":
		return 0
	case private:
		return webcrypto.Sign
	}
	return webcrypto.Verify
}

// parseJWK reads a JSON Web Key. What it says of its use does not matter here.
func parseJWK(fields map[string]string, private bool) (*asymmetricKey, error) {
	j := &webcrypto.JWK{Fields: map[string]string{}}
	for name, value := range fields {
		if name != "alg" && name != "use" && (private || name != "d") {
			j.Fields[name] = value
		}
	}
	p := &webcrypto.Params{}
	switch fields["kty"] {
	case "RSA":
		p.Name, p.Hash = "RSASSA-PKCS1-v1_5", "SHA-256"
	case "EC":
		p.Name, p.NamedCurve = "ECDSA", fields["crv"]
	case "OKP":
		p.Name = fields["crv"]
	}
	if p.Name == "" {
		return nil, errKeyFormat
	}
	k, err := webcrypto.Import("jwk", nil, j, p, true, usagesFor(p.Name, private))
	if err != nil {
		return nil, err
	}
	return fromWeb(k)
}

// kind is KeyObject.asymmetricKeyType; details are its curve or modulus.
func (k *asymmetricKey) kind() (kind, curve string, modulus int, exponent int) {
	switch p := k.public.(type) {
	case *rsa.PublicKey:
		return "rsa", "", p.N.BitLen(), p.E
	case *ecdsa.PublicKey:
		return "ec", curveNames[p.Curve.Params().Name], 0, 0
	case ed25519.PublicKey:
		return "ed25519", "", 0, 0
	}
	return "x25519", "", 0, 0
}

// der encodes the key as kind, and names the PEM block.
func (k *asymmetricKey) der(kind string) (der []byte, label string, err error) {
	if k.private != nil {
		switch kind {
		case "pkcs1":
			if r, ok := k.private.(*rsa.PrivateKey); ok {
				return x509.MarshalPKCS1PrivateKey(r), "RSA PRIVATE KEY", nil
			}
		case "sec1":
			if e, ok := k.private.(*ecdsa.PrivateKey); ok {
				der, err = x509.MarshalECPrivateKey(e)
				return der, "EC PRIVATE KEY", err
			}
		case "pkcs8", "":
			der, err = x509.MarshalPKCS8PrivateKey(k.private)
			return der, "PRIVATE KEY", err
		}
		return nil, "", fmt.Errorf("the key cannot be exported as %q", kind)
	}
	switch kind {
	case "pkcs1":
		if r, ok := k.public.(*rsa.PublicKey); ok {
			return x509.MarshalPKCS1PublicKey(r), "RSA PUBLIC KEY", nil
		}
	case "spki", "":
		der, err = x509.MarshalPKIXPublicKey(k.public)
		return der, "PUBLIC KEY", err
	}
	return nil, "", fmt.Errorf("the key cannot be exported as %q", kind)
}

// jwk are the members of the key as a JSON Web Key.
func (k *asymmetricKey) jwk() (map[string]string, error) {
	p := k.web()
	key, err := k.webKey(p, true, usagesFor(p.Name, k.private != nil))
	if err != nil {
		return nil, err
	}
	out, err := webcrypto.Export("jwk", key)
	if err != nil {
		return nil, err
	}
	delete(out.JWK.Fields, "alg")
	return out.JWK.Fields, nil
}

// curveOf is the curve of any of its names, nil for others.
func curveOf(name string) elliptic.Curve {
	switch name {
	case "secp224r1", "P-224":
		return elliptic.P224()
	case "prime256v1", "secp256r1", "P-256":
		return elliptic.P256()
	case "secp384r1", "P-384":
		return elliptic.P384()
	case "secp521r1", "P-521":
		return elliptic.P521()
	}
	return nil
}

// keysModule are the natives of js/crypto_keys.js.
func keysModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return slices.Concat(m.hashNatives(), m.signNatives(), m.agreementNatives(), []engine.Func{
		{Name: "fill", Length: 1, Fn: m.randomFill},
		{Name: "timingSafeEqual", Length: 2, Fn: m.timingSafeEqual},
		{Name: "secret", Length: 2, Fn: m.makeSecret},
		{Name: "secretBytes", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			k, ok := m.Engine.Attached(c.Argument(0)).(*secretKey)
			if !ok {
				m.Throw("TypeError", "ERR_INVALID_THIS", "Value of \"this\" must be of type SecretKeyObject")
			}
			return m.NewBuffer(bytes.Clone(k.data))
		}},
		{Name: "keyParse", Length: 4, Fn: m.keyParse},
		{Name: "keyPublic", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			m.Engine.Attach(c.Argument(0).(*goja.Object), &asymmetricKey{public: m.asymmetric(c.Argument(1)).public})
			return c.Argument(0)
		}},
		{Name: "keyInfo", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			kind, curve, modulus, exponent := m.asymmetric(c.Argument(0)).kind()
			return m.VM.NewArray(kind, curve, modulus, big.NewInt(int64(exponent)))
		}},
		{Name: "keyExport", Length: 3, Fn: m.keyExport},
		{Name: "keyGenerate", Length: 5, Fn: m.keyGenerate},
		{Name: "keyFrom", Length: 2, Fn: m.keyFrom},
		{Name: "keyToCrypto", Length: 7, Fn: m.keyToCrypto},
	})
}

// makeSecret is (object, bytes): object becomes a secret key.
func (m *module) makeSecret(c goja.FunctionCall) goja.Value {
	b, ok := m.keyBytes(c.Argument(1))
	if !ok {
		m.ThrowArgType("key", "of type string or an instance of ArrayBuffer, TypedArray, or DataView", c.Argument(1))
	}
	m.Engine.Attach(c.Argument(0).(*goja.Object), &secretKey{bytes.Clone(b)})
	return c.Argument(0)
}

func optionalText(v goja.Value) string {
	if node.Absent(v) || goja.IsNull(v) {
		return ""
	}
	return v.String()
}

// attachKey hangs a key on an object; what failed is told in workerd's words.
func (m *module) attachKey(object goja.Value, k *asymmetricKey, err error, what string) goja.Value {
	if err != nil { // why is not said, whether the bytes are damaged or the passphrase is missing or wrong
		m.Throw("Error", "", "Failed to parse %s key", what)
	}
	m.Engine.Attach(object.(*goja.Object), k)
	return object
}

// keyParse is (object, data, encoding, private, passphrase): it reads bytes, or the members
// of a JWK, into object.
func (m *module) keyParse(c goja.FunctionCall) goja.Value {
	private, what := c.Argument(3).ToBoolean(), "public"
	if private {
		what = "private"
	}
	if data, ok := m.Bytes(c.Argument(1)); ok {
		k, err := parseKeyText(data, optionalText(c.Argument(2)), private, m.passphrase(c.Argument(4)))
		return m.attachKey(c.Argument(0), k, err, what)
	}
	members, isObject := c.Argument(1).(*goja.Object)
	if !isObject {
		m.ThrowArgType("key", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, or Object", c.Argument(1))
	}
	fields := map[string]string{}
	for _, name := range webcrypto.JWKFields {
		if v := members.Get(name); node.IsString(v) {
			fields[name] = v.String()
		}
	}
	k, err := parseJWK(fields, private)
	return m.attachKey(c.Argument(0), k, err, what)
}

func (m *module) asymmetric(v goja.Value) *asymmetricKey {
	k, ok := m.Engine.Attached(v).(*asymmetricKey)
	if !ok {
		m.Throw("Error", "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", "Invalid key object type, expected an asymmetric key.")
	}
	return k
}

// passphrase is a string or bytes; nil stands for none.
func (m *module) passphrase(v goja.Value) []byte {
	if node.Absent(v) || goja.IsNull(v) {
		return nil
	}
	if node.IsString(v) {
		return append([]byte{}, v.String()...)
	}
	b, ok := m.Bytes(v)
	if !ok {
		m.ThrowArgType("passphrase", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView", v)
	}
	return append([]byte{}, b...)
}

// keyExport is (key, format, kind, cipher, passphrase): a Buffer, PEM text, or
// a JWK.
func (m *module) keyExport(c goja.FunctionCall) goja.Value {
	k := m.asymmetric(c.Argument(0))
	if c.Argument(1).String() == "jwk" {
		fields, err := k.jwk()
		if err != nil {
			m.Throw("Error", "ERR_CRYPTO_JWK_UNSUPPORTED_CURVE", "%v", err)
		}
		out := m.VM.NewObject()
		for _, name := range webcrypto.JWKExported {
			if v, ok := fields[name]; ok {
				m.Define(out, name, m.VM.ToValue(v))
			}
		}
		return out
	}
	der, label, err := k.der(optionalText(c.Argument(2)))
	if err != nil {
		m.Throw("Error", "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS", "%v", err)
	}
	if name := c.Argument(3); !node.Absent(name) && !goja.IsNull(name) {
		random := make([]byte, 32) // half for the salt
		m.Random(random)
		if der, err = encryptKey(der, m.passphrase(c.Argument(4)), name.String(), random[:16], random[16:]); err != nil {
			m.Throw("Error", "", "%v", err)
		}
		label = "ENCRYPTED PRIVATE KEY"
	}
	if c.Argument(1).String() == "der" {
		return m.NewBuffer(der)
	}
	return m.VM.ToValue(string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der})))
}

// keyGenerate is (public, private, kind, bits or curve, exponent). Pairs come
// from the isolate's entropy alone.
func (m *module) keyGenerate(c goja.FunctionCall) goja.Value {
	m.Engine.IO("random values")
	made, err := m.generate(c.Argument(2).String(), c.Argument(3), c.Argument(4))
	if err != nil {
		m.Throw("Error", "", "Key generation failed: %v", err)
	}
	m.Engine.Attach(c.Argument(1).(*goja.Object), made)
	m.Engine.Attach(c.Argument(0).(*goja.Object), &asymmetricKey{public: made.public})
	return goja.Undefined()
}

// interruptible is the isolate's randomness for a search that goes on in a turn.
type interruptible struct {
	io.Reader
	engine *engine.Engine
}

// Stopped implements webcrypto.Stopper: it ends an interrupted turn by itself.
func (i interruptible) Stopped() error {
	i.engine.Natives.Pause()
	return nil
}

func (m *module) generate(kind string, size, exponent goja.Value) (*asymmetricKey, error) {
	switch kind {
	case "rsa":
		p := webcrypto.Params{Name: "RSASSA-PKCS1-v1_5", Hash: "SHA-256", ModulusLength: int(size.ToInteger()), PublicExponent: big.NewInt(exponent.ToInteger()).Bytes()}
		made, err := webcrypto.Generate(&p, true, webcrypto.Sign, interruptible{m.Engine.Entropy(), m.Engine})
		if err != nil {
			return nil, err
		}
		return fromWeb(made.Private)
	case "ec":
		curve := curveOf(size.String())
		if curve == nil {
			m.Throw("Error", "", "Invalid or unsupported curve")
		}
		k := m.scalar(curve)
		return &asymmetricKey{public: &k.PublicKey, private: k}, nil
	}
	seed := make([]byte, 32)
	m.Random(seed)
	if kind == "ed25519" {
		k := ed25519.NewKeyFromSeed(seed)
		return &asymmetricKey{public: publicOf(k), private: k}, nil
	}
	k, err := ecdh.X25519().NewPrivateKey(seed)
	return &asymmetricKey{public: k.PublicKey(), private: k}, err
}

// scalar is a private key of a curve.
func (m *module) scalar(curve elliptic.Curve) *ecdsa.PrivateKey {
	bits := curve.Params().N.BitLen()
	for {
		b := make([]byte, (bits+7)/8)
		m.Random(b)
		b[0] &= 0xff >> (8*len(b) - bits)
		if k, err := ecdsa.ParseRawPrivateKey(curve, b); err == nil {
			return k // not zero, and below the order
		}
	}
}

// keyFrom is (CryptoKey, object): object gets its material; the type is told.
func (m *module) keyFrom(c goja.FunctionCall) goja.Value {
	k, ok := m.Platform.Crypto.KeyOf(c.Argument(0))
	if !ok {
		m.ThrowArgType("key", "an instance of CryptoKey", c.Argument(0))
	}
	if k.Type == webcrypto.Secret {
		data, err := rawKey(k)
		if err != nil {
			m.Throw("Error", "ERR_CRYPTO_OPERATION_FAILED", "%v", err)
		}
		m.Engine.Attach(c.Argument(1).(*goja.Object), &secretKey{data})
	} else {
		key, err := fromWeb(k)
		m.attachKey(c.Argument(1), key, err, string(k.Type))
	}
	return m.VM.ToValue(string(k.Type))
}

// keyToCrypto is (key, algorithm, hash, curve, length, extractable, usages).
func (m *module) keyToCrypto(c goja.FunctionCall) goja.Value {
	p := webcrypto.Params{NamedCurve: optionalText(c.Argument(3))}
	name, _, err := webcrypto.Lookup(webcrypto.OpImportKey, c.Argument(1).String())
	p.Name = name
	if hash := optionalText(c.Argument(2)); err == nil && hash != "" {
		p.Hash, _, err = webcrypto.Lookup(webcrypto.OpDigest, hash)
	}
	if v := c.Argument(4); !node.Absent(v) {
		n := int(v.ToInteger())
		p.Length = &n
	}
	var usages webcrypto.Usages
	m.VM.ForOf(c.Argument(6), func(v goja.Value) bool {
		usages |= webcrypto.UsageNamed(v.String())
		return true
	})
	var k *webcrypto.Key
	if err == nil {
		if s, ok := m.Engine.Attached(c.Argument(0)).(*secretKey); ok {
			k, err = webcrypto.Import("raw", bytes.Clone(s.data), nil, &p, c.Argument(5).ToBoolean(), usages)
		} else {
			k, err = m.asymmetric(c.Argument(0)).webKey(&p, c.Argument(5).ToBoolean(), usages)
		}
	}
	if failure := (*webcrypto.Error)(nil); errors.As(err, &failure) {
		if failure.Name == "TypeError" {
			m.Engine.Throw(failure.Name, "%s", failure.Message)
		}
		panic(m.Platform.NewDOMException(failure.Name, failure.Message))
	} else if err != nil {
		m.Throw("Error", "ERR_CRYPTO_OPERATION_FAILED", "%v", err)
	}
	return m.Platform.Crypto.NewKey(k)
}
