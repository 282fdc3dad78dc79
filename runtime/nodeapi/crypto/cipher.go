package crypto

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/rc4"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/crypto/chacha20poly1305"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// cipherInfo is a row of crypto.getCipherInfo. Immutable.
type cipherInfo struct {
	name, mode                 string
	nid                        int // OpenSSL's number
	keyLength, ivLength, block int // bytes
}

// ciphers are those that createCipheriv takes, by lower-case name.
var ciphers = func() map[string]cipherInfo {
	out := map[string]cipherInfo{}
	nids := map[string][3]int{"ecb": {418, 422, 426}, "cbc": {419, 423, 427}, "ctr": {904, 905, 906}, "gcm": {895, 898, 901}, "ofb": {420, 424, 428}}
	for i, bits := range []int{128, 192, 256} {
		for _, mode := range []string{"ecb", "cbc", "ctr", "gcm", "ofb"} {
			c := cipherInfo{name: fmt.Sprintf("aes-%d-%s", bits, mode), mode: mode, nid: nids[mode][i], keyLength: bits / 8, ivLength: 16, block: 1}
			switch mode {
			case "ecb":
				c.ivLength, c.block = 0, 16
			case "cbc":
				c.block = 16
			case "gcm":
				c.ivLength = 12
			}
			out[c.name] = c
		}
	}
	for _, c := range []cipherInfo{
		{"chacha20-poly1305", "stream", 950, 32, 12, 1}, {"rc4", "stream", 5, 16, 0, 1},
		{"des-cbc", "cbc", 31, 8, 8, 8}, {"des-ecb", "ecb", 29, 8, 0, 8}, {"des-ede", "ecb", 32, 16, 0, 8},
		{"des-ede-cbc", "cbc", 43, 16, 8, 8}, {"des-ede3-cbc", "cbc", 44, 24, 8, 8},
		{"rc2-cbc", "cbc", 37, 16, 8, 8},
	} {
		out[c.name] = c
	}
	return out
}()

func cipherNames() []string {
	var names []string
	for n := range ciphers {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// cipherState is a Cipheriv or Decipheriv in progress. Loop-confined.
type cipherState struct {
	info    cipherInfo
	decrypt bool
	done    bool
	padding bool

	// Block modes: input that is not yet a whole block.
	rest  []byte
	block cipher.BlockMode
	// Stream modes.
	stream func(dst, src []byte)
	// Authenticated modes: the tag is computed at the end, over everything.
	aead     cipher.AEAD
	iv       []byte
	aad      []byte
	seen     []byte // what went in
	tag      []byte
	tagBytes int
}

// cipherNatives are what js/crypto.js builds Cipheriv and Decipheriv of.
func (m *module) cipherNatives() []engine.Func {
	return []engine.Func{
		{Name: "cipherState", Length: 6, Fn: m.newCipher},
		{Name: "cipherUpdate", Length: 4, Fn: m.cipherUpdate},
		{Name: "cipherFinal", Length: 2, Fn: m.cipherFinal},
		{Name: "cipherPadding", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			s := m.openCipher(c.Argument(0))
			s.padding = c.Argument(1).ToBoolean()
			return c.Argument(0)
		}},
		{Name: "cipherAAD", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			s := m.openCipher(c.Argument(0))
			switch {
			case s.aead == nil:
				m.Throw("Error", "", "Cipher does not support authenticated mode")
			case len(s.seen) > 0:
				m.Throw("Error", "", "Failed to set AAD")
			}
			s.aad = append(s.aad, m.AnyBytes(c.Argument(1), "buffer")...)
			return c.Argument(0)
		}},
		{Name: "cipherTag", Length: 2, Fn: m.cipherTag},
		{Name: "getCiphers", Fn: func(goja.FunctionCall) goja.Value { return m.List(cipherNames()) }},
		{Name: "cipherInfo", Length: 1, Fn: m.cipherInfo},
	}
}

// openCipher is a cipher whose final() has not been called.
func (m *module) openCipher(v goja.Value) *cipherState {
	s := m.cipherOf(v)
	if s.done {
		m.Throw("Error", "", "Cipher/decipher context has already been finalized")
	}
	return s
}

func (m *module) cipherOf(v goja.Value) *cipherState {
	s, ok := m.Engine.Attached(v).(*cipherState)
	if !ok {
		m.Throw("TypeError", "ERR_INVALID_THIS", "Value of \"this\" must be of type Cipheriv or Decipheriv")
	}
	return s
}

// cipherInfo is (nameOrNid): [name, nid, blockSize, ivLength, keyLength, mode].
func (m *module) cipherInfo(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	for _, name := range cipherNames() {
		i := ciphers[name]
		if node.IsString(v) && strings.ToLower(v.String()) == name || node.IsNumber(v) && v.ToInteger() == int64(i.nid) {
			shown := strings.ToUpper(i.name)
			switch {
			case strings.HasPrefix(i.name, "chacha"):
				shown = i.name
			case i.mode == "gcm":
				shown = fmt.Sprintf("id-aes%d-GCM", 8*i.keyLength)
			}
			return m.VM.NewArray(shown, i.nid, i.block, i.ivLength, i.keyLength, i.mode)
		}
	}
	return goja.Undefined()
}

// newCipher is (object, algorithm, key, iv, decrypt, authLengthTag).
func (m *module) newCipher(c goja.FunctionCall) goja.Value {
	name := m.Text(c.Argument(1), "algorithm")
	info, ok := ciphers[strings.ToLower(name)]
	if !ok {
		m.Throw("Error", "", "Unknown or unsupported cipher: %s", name)
	}
	key, ok := m.keyBytes(c.Argument(2))
	if !ok {
		m.ThrowArgType("key", "of type string or an instance of Buffer, TypedArray, DataView, KeyObject, or CryptoKey", c.Argument(2))
	}
	var iv []byte
	if v := c.Argument(3); !goja.IsNull(v) {
		if iv, ok = m.keyBytes(v); !ok {
			m.ThrowArgType("iv", "of type string or an instance of Buffer, TypedArray, or DataView or null", v)
		}
	}
	s := &cipherState{info: info, decrypt: c.Argument(4).ToBoolean(), padding: true, iv: append([]byte(nil), iv...), tagBytes: 16}
	if v := c.Argument(5); !node.Absent(v) {
		s.tagBytes = int(m.Integer(v, "options.authLengthTag", 0, math.MaxUint32))
	}
	if err := s.start(key); err != nil {
		m.Throw("Error", "", "%v", err)
	}
	m.Engine.Attach(c.Argument(0).(*goja.Object), s)
	return goja.Undefined()
}

const (
	errKeyLength = node.TextError("Invalid key length")
	errIVLength  = node.TextError("Invalid initialization vector")
)

func (s *cipherState) start(key []byte) error {
	if len(key) != s.info.keyLength && (s.info.name != "rc2-cbc" || len(key) == 0 || len(key) > 128) {
		return errKeyLength
	}
	if s.info.mode == "gcm" && len(s.iv) == 0 || s.info.mode != "gcm" && len(s.iv) != s.info.ivLength {
		return errIVLength
	}
	block, err := s.primitive(key)
	if err != nil || block == nil {
		return err
	}
	switch s.info.mode {
	case "ecb":
		s.block = ecb{block, s.decrypt}
	case "cbc":
		if s.block = cipher.NewCBCEncrypter(block, s.iv); s.decrypt {
			s.block = cipher.NewCBCDecrypter(block, s.iv)
		}
	case "ofb":
		s.stream = ofbStream(block, s.iv)
	case "ctr":
		s.stream = cipher.NewCTR(block, s.iv).XORKeyStream
	case "gcm":
		if s.aead, err = cipher.NewGCMWithNonceSize(block, len(s.iv)); err != nil {
			return err
		}
		s.stream = gcmStream(block, s.aead, s.iv)
	}
	return nil
}

// primitive is the block cipher under a mode; the ciphers that are streams
// themselves start here, and have none.
func (s *cipherState) primitive(key []byte) (cipher.Block, error) {
	switch {
	case s.info.name == "rc4":
		stream, err := rc4.NewCipher(key)
		if err == nil {
			s.stream = stream.XORKeyStream
		}
		return nil, err
	case s.info.mode == "stream":
		aead, err := chacha20poly1305.New(key)
		s.aead = aead
		return nil, err
	case strings.HasPrefix(s.info.name, "aes"):
		return aes.NewCipher(key)
	case s.info.name == "rc2-cbc":
		return newRC2(key), nil
	case len(key) == 8:
		return des.NewCipher(key)
	case len(key) == 16: // two keys: the first is also the third
		return des.NewTripleDESCipher(append(append([]byte(nil), key...), key[:8]...))
	}
	return des.NewTripleDESCipher(key)
}

// ofbStream is output feedback: each block of the key stream is the last one,
// encrypted (NIST SP 800-38A, 6.4).
func ofbStream(block cipher.Block, iv []byte) func(dst, src []byte) {
	key := append([]byte(nil), iv...)
	used := len(key)
	return func(dst, src []byte) {
		for len(src) > 0 {
			if used == len(key) {
				block.Encrypt(key, key)
				used = 0
			}
			n := subtle.XORBytes(dst, src, key[used:])
			dst, src, used = dst[n:], src[n:], used+n
		}
	}
}

// ecb is each block by itself.
type ecb struct {
	block   cipher.Block
	decrypt bool
}

func (e ecb) BlockSize() int { return e.block.BlockSize() }

func (e ecb) CryptBlocks(dst, src []byte) {
	for n := e.BlockSize(); len(src) > 0; dst, src = dst[n:], src[n:] {
		if e.decrypt {
			e.block.Decrypt(dst, src)
		} else {
			e.block.Encrypt(dst, src)
		}
	}
}

// gcmStream is the key stream of GCM, so that output can be given before the
// tag is known. Its first counter is found by sealing a zero block: the result
// is the counter, encrypted.
func gcmStream(block cipher.Block, aead cipher.AEAD, iv []byte) func(dst, src []byte) {
	var counter, key [16]byte
	block.Decrypt(counter[:], aead.Seal(nil, iv, make([]byte, 16), nil)[:16])
	used := 16
	return func(dst, src []byte) {
		for len(src) > 0 {
			if used == 16 {
				block.Encrypt(key[:], counter[:])
				binary.BigEndian.PutUint32(counter[12:], binary.BigEndian.Uint32(counter[12:])+1)
				used = 0
			}
			n := subtle.XORBytes(dst, src, key[used:])
			dst, src, used = dst[n:], src[n:], used+n
		}
	}
}

func (s *cipherState) update(data []byte) []byte {
	if s.aead != nil {
		s.seen = append(s.seen, data...)
	}
	if s.stream != nil {
		out := make([]byte, len(data))
		s.stream(out, data)
		return out
	}
	if s.aead != nil { // chacha20-poly1305: everything comes at the end
		return nil
	}
	s.rest = append(s.rest, data...)
	size := s.block.BlockSize()
	n := len(s.rest) / size * size
	if s.decrypt && s.padding && n == len(s.rest) && n > 0 {
		n -= size // the last block holds the padding
	}
	out := make([]byte, n)
	s.block.CryptBlocks(out, s.rest[:n])
	s.rest = append([]byte(nil), s.rest[n:]...)
	return out
}

func (s *cipherState) final() ([]byte, error) {
	switch {
	case s.aead != nil:
		return s.authenticate()
	case s.stream != nil:
		return nil, nil
	case s.decrypt:
		return s.unpad()
	}
	if !s.padding {
		if len(s.rest) > 0 {
			return nil, errAuthentication
		}
		return nil, nil
	}
	n := s.block.BlockSize() - len(s.rest)
	last := append(s.rest, bytes.Repeat([]byte{byte(n)}, n)...)
	s.block.CryptBlocks(last, last)
	return last, nil
}

func (s *cipherState) unpad() ([]byte, error) {
	size := s.block.BlockSize()
	if len(s.rest)%size != 0 || s.padding && len(s.rest) == 0 {
		return nil, errAuthentication
	}
	out := make([]byte, len(s.rest))
	s.block.CryptBlocks(out, s.rest)
	if !s.padding {
		return out, nil
	}
	n := int(out[len(out)-1])
	if n == 0 || n > size || !bytes.Equal(out[len(out)-n:], bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, errAuthentication
	}
	return out[:len(out)-n], nil
}

// authenticate computes or checks the tag. Only the first tagBytes of a tag
// count, so it is recomputed rather than opened.
func (s *cipherState) authenticate() ([]byte, error) {
	plain := s.seen
	var late []byte
	if s.decrypt {
		plain = make([]byte, len(s.seen))
		if s.stream != nil {
			block := s.keystream()
			block(plain, s.seen)
		} else {
			sealed := s.aead.Seal(nil, s.iv, make([]byte, len(s.seen)), s.aad) // the key stream
			subtle.XORBytes(plain, s.seen, sealed)
			late = plain
		}
	}
	sealed := s.aead.Seal(nil, s.iv, plain, s.aad)
	full := sealed[len(plain):]
	if !s.decrypt {
		s.tag = full[:min(s.tagBytes, len(full))]
		if s.stream == nil {
			return sealed[:len(plain)], nil
		}
		return nil, nil
	}
	if len(s.tag) == 0 || len(s.tag) > len(full) || subtle.ConstantTimeCompare(s.tag, full[:len(s.tag)]) != 1 {
		return nil, errAuthentication
	}
	return late, nil
}

// keystream is GCM's, from the beginning: encryption of zeros.
func (s *cipherState) keystream() func(dst, src []byte) {
	return func(dst, src []byte) {
		subtle.XORBytes(dst, src, s.aead.Seal(nil, s.iv, make([]byte, len(src)), nil))
	}
}

// errAuthentication is what workerd says of every ciphertext that does not fit
// (src/workerd/api/node/crypto.c++, CipherHandle).
const errAuthentication = node.TextError("Authentication failed")

// cipherUpdate is (state, data, inputEncoding, outputEncoding).
func (m *module) cipherUpdate(c goja.FunctionCall) goja.Value {
	s := m.cipherOf(c.Argument(0))
	if node.IsString(c.Argument(1)) && !node.IsString(c.Argument(2)) {
		m.Throw("TypeError", "ERR_INVALID_ARG_VALUE", "The argument 'inputEncoding' If inputEncoding is not provided then the data must be a Buffer. Received %s", m.Received(c.Argument(2)))
	}
	if node.IsString(c.Argument(1)) {
		m.NamedEncoding(c.Argument(2))
	}
	data := m.dataBytes(c.Argument(1), "data", c.Argument(2))
	m.openCipher(c.Argument(0))
	return m.encoded(s.update(data), c.Argument(3))
}

// cipherFinal is (state, outputEncoding).
func (m *module) cipherFinal(c goja.FunctionCall) goja.Value {
	s := m.openCipher(c.Argument(0))
	if v := c.Argument(1); node.IsString(v) && v.String() != "buffer" && node.EncodingByName(v.String()) == node.EncUnknown {
		m.Throw("TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: %s", v.String())
	}
	if s.aead != nil && s.decrypt && len(s.tag) == 0 {
		m.Throw("Error", "", "No auth tag provided")
	}
	out, err := s.final()
	if err != nil {
		m.Throw("Error", "", "%v", err)
	}
	s.done = true
	return m.encoded(out, c.Argument(1))
}

// cipherTag is (state[, tag]): it gives the tag, or takes the expected one.
func (m *module) cipherTag(c goja.FunctionCall) goja.Value {
	s := m.cipherOf(c.Argument(0))
	if len(c.Arguments) < 2 {
		if !s.done {
			m.Throw("Error", "", "Auth tag is only available once cipher context has been finalized")
		}
		tag := s.tag
		s.tag = nil // given once, as in the reference
		return m.NewBuffer(append([]byte(nil), tag...))
	}
	tag, ok := m.Bytes(c.Argument(1))
	if !ok {
		m.Throw("TypeError", "", "Failed to execute 'setAuthTag' on 'CipherHandle': parameter 1 is not of type 'BufferSource'.")
	}
	m.openCipher(c.Argument(0))
	switch n := len(tag); {
	case s.aead == nil:
		m.Throw("Error", "", "Cipher does not support authenticated mode")
	case s.tag != nil:
		m.Throw("Error", "", "Auth tag is already set")
	case n != 4 && n != 8 && (n < 12 || n > 16):
		m.Throw("Error", "", "Invalid authentication tag length")
	}
	s.tag = append([]byte(nil), tag...)
	return c.Argument(0)
}
