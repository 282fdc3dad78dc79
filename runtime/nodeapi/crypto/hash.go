package crypto

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	marshal "encoding"
	"hash"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
	"minido.dev/minido/runtime/webcrypto"
)

// hashes are the digests that BoringSSL, and so Workers, offer through
// crypto.createHash, by lower-case name.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New,
	"md5-sha1": newMD5SHA1, "sha384": sha512.New384, "sha512": sha512.New, "sha512-256": sha512.New512_256,
}

// hashNames is what crypto.getHashes lists.
const hashNames = "md5 md5-sha1 sha1 sha224 sha256 sha384 sha512 RSA-MD5 RSA-SHA1 RSA-SHA224 RSA-SHA256 RSA-SHA384 RSA-SHA512"

// hashByName finds a digest by any of its names.
func hashByName(name string) (func() hash.Hash, bool) {
	fn, ok := hashes[digestName(name)]
	return fn, ok
}

// digestName is the name in hashes of a digest that has several.
func digestName(name string) string {
	n := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(name), "rsa-"), "withrsaencryption")
	if strings.HasPrefix(n, "sha-") {
		n = "sha" + n[4:]
	}
	return strings.Replace(n, "sha512/256", "sha512-256", 1)
}

// md5sha1 is MD5 and SHA-1, one behind the other, as TLS 1.0 signs them.
type md5sha1 struct{ md5, sha1 hash.Hash }

func newMD5SHA1() hash.Hash { return &md5sha1{md5.New(), sha1.New()} }

func (h *md5sha1) Write(b []byte) (int, error) {
	h.md5.Write(b)
	return h.sha1.Write(b)
}
func (h *md5sha1) Sum(b []byte) []byte { return h.sha1.Sum(h.md5.Sum(b)) }
func (h *md5sha1) Reset()              { h.md5.Reset(); h.sha1.Reset() }
func (h *md5sha1) Size() int           { return md5.Size + sha1.Size }
func (h *md5sha1) BlockSize() int      { return md5.BlockSize }

// MarshalBinary is the state of both; UnmarshalBinary takes it.
func (h *md5sha1) MarshalBinary() ([]byte, error) {
	a, err := h.md5.(marshal.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	b, err := h.sha1.(marshal.BinaryMarshaler).MarshalBinary()
	return append(append([]byte{byte(len(a))}, a...), b...), err
}

func (h *md5sha1) UnmarshalBinary(state []byte) error {
	n := int(state[0]) + 1
	if err := h.md5.(marshal.BinaryUnmarshaler).UnmarshalBinary(state[1:n]); err != nil {
		return err
	}
	return h.sha1.(marshal.BinaryUnmarshaler).UnmarshalBinary(state[n:])
}

// digester is a Hash or an Hmac in progress. Loop-confined.
type digester struct {
	h    hash.Hash
	mac  bool
	done bool
	name string
}

// hashNatives are what js/crypto.js builds Hash and Hmac of.
func (m *module) hashNatives() []engine.Func {
	return []engine.Func{
		{Name: "hashState", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			name := m.Text(c.Argument(1), "algorithm")
			make, ok := hashByName(name)
			if !ok {
				m.Throw("Error", "", "Digest method not supported")
			}
			m.Engine.Attach(c.Argument(0).(*goja.Object), &digester{h: make(), name: name})
			return goja.Undefined()
		}},
		{Name: "hmacState", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			name := m.Text(c.Argument(1), "hmac")
			if _, ok := m.Engine.Attached(c.Argument(2)).(*asymmetricKey); ok {
				m.Throw("Error", "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", "Invalid key object type %s, expected secret.", c.Argument(2).(*goja.Object).Get("type"))
			}
			key, ok := m.keyBytes(c.Argument(2))
			if !ok {
				m.ThrowArgType("key", "of type string or an instance of ArrayBuffer, Buffer, ArrayBufferView, KeyObject, or CryptoKey", c.Argument(2))
			}
			make, found := hashByName(name)
			if !found {
				m.Throw("Error", "", "Digest method not supported")
			}
			m.Engine.Attach(c.Argument(0).(*goja.Object), &digester{h: hmac.New(make, key), mac: true, name: name})
			return goja.Undefined()
		}},
		{Name: "hashUpdate", Length: 2, Fn: m.hashUpdate},
		{Name: "hashDigest", Length: 1, Fn: m.hashDigest},
		{Name: "hashCopy", Length: 2, Fn: m.hashCopy},
		{Name: "hashOnce", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			make, ok := hashByName(m.Text(c.Argument(0), "algorithm"))
			if !ok {
				m.Throw("Error", "", "Digest method not supported")
			}
			h := make()
			m.feed(h, m.dataBytes(c.Argument(1), "data", nil))
			return m.encoded(h.Sum(nil), c.Argument(2))
		}},
		{Name: "hashSize", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(m.digesterOf(c.Argument(0)).h.Size())
		}},
		{Name: "getHashes", Fn: func(goja.FunctionCall) goja.Value {
			return m.List(strings.Fields(hashNames))
		}},
	}
}

func (m *module) digesterOf(v goja.Value) *digester {
	d, ok := m.Engine.Attached(v).(*digester)
	if !ok {
		m.Throw("TypeError", "ERR_INVALID_THIS", "Value of \"this\" must be of type Hash or Hmac")
	}
	return d
}

// dataBytes is data for a digest or a cipher: a string in an encoding, or bytes.
func (m *module) dataBytes(v goja.Value, name string, enc goja.Value) []byte {
	if s, ok := v.(goja.String); ok {
		e := node.EncUTF8
		if node.IsString(enc) {
			if e = node.EncodingByName(enc.String()); e == node.EncUnknown {
				e = node.EncUTF8
			}
		}
		return node.Encode(s, e)
	}
	if k := m.KindOf(v); k != node.NotBytes && k != node.IsArrayBuffer {
		b, _ := m.Bytes(v)
		return b
	}
	m.ThrowArgType(name, "of type string or an instance of Buffer, TypedArray, or DataView", v)
	return nil
}

// hashUpdate is (state, data, encoding).
func (m *module) hashUpdate(c goja.FunctionCall) goja.Value {
	d := m.digesterOf(c.Argument(0))
	data := m.dataBytes(c.Argument(1), "data", c.Argument(2))
	if d.done {
		m.Throw("Error", "ERR_CRYPTO_HASH_FINALIZED", "Digest already called")
	}
	m.feed(d.h, data)
	return c.Argument(0)
}

// hashDigest is (state, encoding).
func (m *module) hashDigest(c goja.FunctionCall) goja.Value {
	d := m.digesterOf(c.Argument(0))
	if d.done {
		if d.mac {
			return m.encoded(nil, c.Argument(1))
		}
		m.Throw("Error", "ERR_CRYPTO_HASH_FINALIZED", "Digest already called")
	}
	d.done = true
	return m.encoded(d.h.Sum(nil), c.Argument(1))
}

// hashCopy is (from, to): to gets a state of its own.
func (m *module) hashCopy(c goja.FunctionCall) goja.Value {
	d := m.digesterOf(c.Argument(0))
	if d.done {
		m.Throw("Error", "ERR_CRYPTO_HASH_FINALIZED", "Digest already called")
	}
	clone := cloneHash(d.h, d.name)
	if clone == nil {
		m.Throw("Error", "", "The digest %s cannot be copied", d.name)
	}
	m.Engine.Attach(c.Argument(1).(*goja.Object), &digester{h: clone, name: d.name})
	return goja.Undefined()
}

func cloneHash(h hash.Hash, name string) hash.Hash {
	state, ok := h.(marshal.BinaryMarshaler)
	if !ok {
		return nil
	}
	data, err := state.MarshalBinary()
	if err != nil {
		return nil
	}
	make, _ := hashByName(name)
	clone := make()
	if clone.(marshal.BinaryUnmarshaler).UnmarshalBinary(data) != nil {
		return nil
	}
	return clone
}

// encoded is bytes as an output encoding asks: a Buffer without one.
func (m *module) encoded(b []byte, enc goja.Value) goja.Value {
	if !node.IsString(enc) || enc.String() == "buffer" {
		return m.NewBuffer(b)
	}
	e := node.EncodingByName(enc.String())
	if e == node.EncUnknown {
		return m.NewBuffer(b)
	}
	return m.Decode(b, e)
}

// keyBytes are the bytes of a secret key: a string, bytes or a SecretKeyObject.
func (m *module) keyBytes(v goja.Value) ([]byte, bool) {
	if s, ok := v.(goja.String); ok {
		return []byte(s.String()), true
	}
	if k, ok := m.Engine.Attached(v).(*secretKey); ok {
		return k.data, true
	}
	if k, ok := m.Platform.Crypto.KeyOf(v); ok && k.Type == webcrypto.Secret {
		data, err := rawKey(k)
		return data, err == nil
	}
	return m.Bytes(v)
}

// rawKey are the bytes of a secret CryptoKey, which node:crypto may use whether
// or not they may be exported.
func rawKey(k *webcrypto.Key) ([]byte, error) {
	open := *k
	open.Extractable = true
	out, err := webcrypto.Export("raw", &open)
	if err != nil {
		return nil, err
	}
	return out.Bytes, nil
}

// secretKey is the material of a SecretKeyObject. Immutable.
type secretKey struct{ data []byte }

// feedBytes is how much is hashed between two looks for an interrupt. A longer call
// could not be preempted either, and the collector, with every other isolate, would
// wait for it.
const feedBytes = 1 << 20

// feed hashes data. It ends the turn if that has been interrupted.
func (m *module) feed(h hash.Hash, data []byte) {
	for len(data) > feedBytes {
		h.Write(data[:feedBytes])
		data = data[feedBytes:]
		m.Engine.Natives.Pause()
	}
	h.Write(data)
}
