// Package crypto is crypto, crypto.subtle and CryptoKey (Web Cryptography API)
// over the algorithms of package webcrypto, and workerd's DigestStream.
package crypto

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webcrypto"
	"minido.dev/minido/runtime/webidl"
)

// cryptoObject and subtleObject are the instances behind crypto and crypto.subtle.
type (
	cryptoObject struct{}
	subtleObject struct{}
)

// Crypto is crypto in one isolate. Loop-confined.
type Crypto struct {
	*webidl.Realm

	keys           *engine.Class[*webcrypto.Key]
	writableStream func() *goja.Object
}

// New makes the part; Install defines its globals. writableStream is the class
// that DigestStream extends.
func New(r *webidl.Realm, writableStream func() *goja.Object) *Crypto {
	return &Crypto{Realm: r, writableStream: writableStream}
}

// installCrypto defines crypto and its classes (Web Cryptography API; workerd:
// src/workerd/api/crypto/crypto.h).
func (p *Crypto) Install() {
	e := p.Engine
	subtles := webidl.Lazily(e, p.defineSubtle)
	cryptos := webidl.Lazily(e, func() *engine.Class[cryptoObject] { return p.defineCrypto(subtles) })
	e.Lazies.Global("crypto", func() goja.Value { return cryptos().Wrap(cryptoObject{}) })
	e.Lazies.Interface("Crypto", func() goja.Value { return cryptos().Ctor })
	e.Lazies.Interface("SubtleCrypto", func() goja.Value { return subtles().Ctor })
	e.Lazies.Interface("CryptoKey", func() goja.Value { return p.cryptoKeys().Ctor })
}

// maxRandomBytes is the quota of one getRandomValues (section 10.1.1).
const maxRandomBytes = 65536

func (p *Crypto) defineCrypto(subtles func() *engine.Class[subtleObject]) *engine.Class[cryptoObject] {
	subtle := webidl.Lazily(p.Engine, func() *goja.Object { return subtles().Wrap(subtleObject{}) })
	class := engine.DefineClass(p.Engine, engine.ClassDef[cryptoObject]{
		Name: "Crypto",
		Accessors: []engine.Accessor[cryptoObject]{
			{Name: "subtle", Get: func(cryptoObject, *goja.Object) goja.Value { return subtle() }},
		},
		Methods: []engine.Method[cryptoObject]{
			{Name: "getRandomValues", Fn: func(_ cryptoObject, call goja.FunctionCall) goja.Value {
				return p.getRandomValues(call.Argument(0))
			}},
			{Name: "randomUUID", Fn: func(cryptoObject, goja.FunctionCall) goja.Value {
				p.Engine.IO("crypto.randomUUID()")
				var b [16]byte
				p.Engine.Entropy().Read(b[:])
				b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
				return p.VM.ToValue(fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:]))
			}},
		},
	})
	p.Engine.Lazies.Property(class.Proto, "DigestStream", goja.FLAG_TRUE, p.makeDigestStream)
	return class
}

// getRandomValues is section 10.1.1.
func (p *Crypto) getRandomValues(v goja.Value) goja.Value {
	data, isBytes := p.BytesOf(v)
	if !isBytes || webidl.IsArrayBuffer(v) {
		p.BadArgument("Crypto", "getRandomValues", 1, "ArrayBufferView")
	}
	// A DataView has no tag.
	tag := p.Engine.Call(p.Engine.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), v).String()
	if !strings.Contains(tag, "Int") && !strings.Contains(tag, "Uint") {
		p.ThrowDOM("TypeMismatchError", "ArrayBufferView argument to getRandomValues() must be an integer-typed view.")
	}
	if len(data) > maxRandomBytes {
		p.ThrowDOM("QuotaExceededError", "getRandomValues() only accepts buffers of size <= 64K but provided %d bytes.", len(data))
	}
	p.Engine.IO("crypto.getRandomValues()")
	p.Engine.Entropy().Read(data)
	return v
}
