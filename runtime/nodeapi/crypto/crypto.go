package crypto

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/big"

	"github.com/dop251/goja"
	"golang.org/x/crypto/scrypt"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
	"minido.dev/minido/runtime/webcrypto"
)

// cryptoModule are the natives of js/crypto.js (nodejs.org/api/crypto.html).
func cryptoModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	funcs := append(m.hashNatives(), m.cipherNatives()...)
	return append(funcs,
		engine.Func{Name: "fill", Length: 1, Fn: m.randomFill},
		engine.Func{Name: "randomUUID", Fn: m.randomUUID},
		engine.Func{Name: "randomInt", Length: 2, Fn: m.randomInt},
		engine.Func{Name: "randomPrime", Length: 1, Fn: m.randomPrime},
		engine.Func{Name: "isPrime", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			n, ok := node.BigOf(c.Argument(0))
			return m.VM.ToValue(ok && m.isPrime(n))
		}},
		engine.Func{Name: "bigOf", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(new(big.Int).SetBytes(m.AnyBytes(c.Argument(0), "number")))
		}},
		engine.Func{Name: "timingSafeEqual", Length: 2, Fn: m.timingSafeEqual},
		engine.Func{Name: "pbkdf2", Length: 5, Fn: m.pbkdf2},
		engine.Func{Name: "scrypt", Length: 6, Fn: m.scrypt},
		engine.Func{Name: "hkdf", Length: 5, Fn: m.hkdf},
	)
}

// timingSafeEqual is (a, b), of equal length.
func (m *module) timingSafeEqual(c goja.FunctionCall) goja.Value {
	a, okA := m.Bytes(c.Argument(0))
	b, okB := m.Bytes(c.Argument(1))
	for i, ok := range []bool{okA, okB} {
		if !ok {
			m.Throw("TypeError", "", "Failed to execute 'timingSafeEqual' on 'SubtleCrypto': parameter %d is not of type 'BufferSource'.", i+1)
		}
	}
	if len(a) != len(b) {
		m.Throw("TypeError", "", "Input buffers must have the same byte length.")
	}
	return m.VM.ToValue(subtle.ConstantTimeCompare(a, b) == 1)
}

// randomFill is (buffer), which it returns.
func (m *module) randomFill(c goja.FunctionCall) goja.Value {
	m.Random(m.AnyBytes(c.Argument(0), "buf"))
	return c.Argument(0)
}

func (m *module) randomUUID(goja.FunctionCall) goja.Value {
	var b [16]byte
	m.Random(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return m.VM.ToValue(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// randomInt is (min, max), both checked: min <= n < max, without bias.
func (m *module) randomInt(c goja.FunctionCall) goja.Value {
	low, high := c.Argument(0).ToFloat(), c.Argument(1).ToFloat()
	span := uint64(high - low)
	limit := math.MaxUint64 - math.MaxUint64%span
	for {
		var b [8]byte
		m.Random(b[:])
		if n := binary.LittleEndian.Uint64(b[:]); n < limit {
			return m.VM.ToValue(low + float64(n%span))
		}
	}
}

// maxPrimeBits keeps the search for a prime to seconds.
const maxPrimeBits = 8192

// randomPrime is (bits, safe, add, rem): a probable prime of that size that is
// rem modulo add (nodejs.org/api/crypto.html, generatePrime).
func (m *module) randomPrime(c goja.FunctionCall) goja.Value {
	bits := int(m.Integer(c.Argument(0), "size", 1, maxPrimeBits))
	if bits == 1 {
		m.Throw("Error", "ERR_CRYPTO_OPERATION_FAILED", "Error while generating prime")
	}
	return m.VM.ToValue(m.drawPrime(bits, c.Argument(1).ToBoolean(), nil, nil))
}

// drawPrime is a random prime of a length, at least two bits, that leaves rest when it
// is divided by step, if there is a step. If it is safe, half of it is a prime too.
func (m *module) drawPrime(bits int, safe bool, step, rest *big.Int) *big.Int {
	n, half := new(big.Int), new(big.Int)
	for {
		b := make([]byte, (bits+7)/8)
		m.Random(b)
		n.SetBytes(b)
		n.SetBit(n, bits-1, 1)
		for i := n.BitLen() - 1; i >= bits; i-- {
			n.SetBit(n, i, 0)
		}
		if bits > 2 {
			n.SetBit(n, 0, 1)
		}
		if step != nil {
			n.Sub(n, half.Mod(n, step))
			n.Add(n, rest)
		}
		if n.BitLen() == bits && (!safe || m.isPrime(half.Rsh(n, 1))) && m.isPrime(n) {
			return n
		}
	}
}

// isPrime ends the turn if it has been interrupted: a search is many calls. Each
// takes seconds at most, since long numbers need few rounds (FIPS 186-5, table B.1).
func (m *module) isPrime(n *big.Int) bool {
	m.Engine.Natives.Pause()
	if n.BitLen() <= 1024 {
		return n.ProbablyPrime(20)
	}
	return !dividedBySmall(n) && n.ProbablyPrime(5)
}

// dividedBySmall reports whether a number of more than 64 bits has a small divisor,
// far faster than a test of its primality does.
func dividedBySmall(n *big.Int) bool {
	var word, rest big.Int
	for d := int64(3); d < 1<<12; d += 2 {
		if rest.Mod(n, word.SetInt64(d)).Sign() == 0 {
			return true
		}
	}
	return n.Bit(0) == 0
}

// arrayOf is an ArrayBuffer over data, which it takes over.
func (m *module) arrayOf(data []byte) goja.Value { return m.VM.ToValue(m.VM.NewArrayBuffer(data)) }

func (m *module) keyLength(v goja.Value, name string) int {
	return int(m.Integer(v, name, 0, node.MaxBufferLength))
}

// secretInput is a string or bytes; types are those of the refusal, in its order.
func (m *module) secretInput(v goja.Value, name, types string) []byte {
	if s, ok := v.(goja.String); ok {
		return []byte(s.String())
	}
	b, ok := m.Bytes(v)
	if !ok {
		m.ThrowArgType(name, "of type string or an instance of "+types, v)
	}
	return b
}

const (
	secretTypes = "ArrayBuffer, Buffer, TypedArray, or DataView"
	hkdfTypes   = "ArrayBuffer, TypedArray, DataView, or Buffer"
)

// pbkdf2 is (password, salt, iterations, keylen, digest).
func (m *module) pbkdf2(c goja.FunctionCall) goja.Value {
	digest := m.Text(c.Argument(4), "digest")
	password, salt := m.secretInput(c.Argument(0), "password", secretTypes), m.secretInput(c.Argument(1), "salt", secretTypes)
	iterations := int(m.Integer(c.Argument(2), "iterations", 1, math.MaxInt32))
	length := m.keyLength(c.Argument(3), "keylen")
	make, ok := hashByName(digest)
	if !ok {
		m.Throw("TypeError", "", "Invalid Pbkdf2 digest: %s.", digest)
	}
	if length == 0 {
		return m.NewBuffer(nil)
	}
	m.Engine.Memory.Allocate(int64(length), "Array buffer allocation failed")
	return m.NewBuffer(m.stretch(hmac.New(make, password), salt, iterations, length))
}

// stretch is PBKDF2. It ends the turn if that has been interrupted.
func (m *module) stretch(mac hash.Hash, salt []byte, iterations, length int) []byte {
	key, _ := webcrypto.Stretch(mac, salt, iterations, length, func() error { // which never fails: it panics
		m.Engine.Natives.Pause()
		return nil
	})
	return key
}

// maxScryptMemory is Node's default of `maxmem`.
const maxScryptMemory = 32 << 20

// maxScryptCost is the largest product of N, r and p, as in workerd.
const maxScryptCost = 1 << 20

// scrypt is (password, salt, keylen, N, r, p, maxmem).
func (m *module) scrypt(c goja.FunctionCall) goja.Value {
	password, salt := m.secretInput(c.Argument(0), "password", secretTypes), m.secretInput(c.Argument(1), "salt", secretTypes)
	length := m.keyLength(c.Argument(2), "keylen")
	n, r, p := c.Argument(3).ToInteger(), c.Argument(4).ToInteger(), c.Argument(5).ToInteger()
	limit := float64(maxScryptMemory)
	if v := c.Argument(6); !node.Absent(v) {
		limit = v.ToFloat()
	}
	if limit > math.MaxUint32 {
		m.Throw("TypeError", "", "Value out of range. Must be less than or equal to 4294967295.")
	}
	if float64(n)*float64(r)*float64(p) > maxScryptCost {
		m.Throw("RangeError", "", "Scrypt failed: cost exceeds maximum (%d).", maxScryptCost)
	}
	if 128*float64(n)*float64(r) > limit {
		m.Throw("Error", "", "Scrypt failed")
	}
	m.Engine.Memory.Allocate(128*n*r, "Array buffer allocation failed")
	m.Engine.Memory.Allocate(int64(length), "Array buffer allocation failed")
	if length == 0 {
		return m.NewBuffer(nil)
	}
	key, err := scrypt.Key(password, salt, int(n), int(r), int(p), length)
	if err != nil {
		m.Throw("Error", "", "Scrypt failed")
	}
	return m.NewBuffer(key)
}

// hkdf is (digest, key, salt, info, length).
func (m *module) hkdf(c goja.FunctionCall) goja.Value {
	digest := m.Text(c.Argument(0), "digest")
	key, ok := m.keyBytes(c.Argument(1))
	if !ok {
		m.ThrowArgType("ikm", "of type string or an instance of SecretKeyObject, ArrayBuffer, TypedArray, DataView, or Buffer", c.Argument(1))
	}
	salt, info := m.secretInput(c.Argument(2), "salt", hkdfTypes), m.secretInput(c.Argument(3), "info", hkdfTypes)
	length := m.keyLength(c.Argument(4), "length")
	make, found := hashByName(digest)
	if !found {
		m.Throw("TypeError", "", "Invalid Hkdf digest: %s", digest)
	}
	if len(info) > 1024 {
		m.Throw("RangeError", "ERR_OUT_OF_RANGE", "The value of \"info\" is out of range. It must be must not contain more than 1024 bytes. Received %d", len(info))
	}
	if length > 255*make().Size() {
		m.Throw("RangeError", "", "Invalid Hkdf key length")
	}
	out, err := hkdf.Key[hash.Hash](make, key, salt, string(info), length)
	if err != nil {
		m.Throw("Error", "", "HKDF failed: %v", err)
	}
	return m.arrayOf(out)
}
