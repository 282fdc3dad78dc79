package webapi

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"fmt"
	"hash"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// installCrypto defines crypto (Web Cryptography API): random values, digests,
// and comparison in constant time. The other operations of subtle throw by name.
func (p *Platform) installCrypto() {
	p.Engine.LazyGlobal("crypto", p.makeCrypto)
}

// maxRandomBytes is the quota of one getRandomValues (section 10.1.1).
const maxRandomBytes = 65536

func (p *Platform) makeCrypto() goja.Value {
	crypto := p.Engine.Native(
		engine.Func{Name: "getRandomValues", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			p.Engine.IO("crypto.getRandomValues()")
			view, ok := call.Argument(0).(*goja.Object)
			data, isBytes := p.bytesOf(call.Argument(0))
			if !ok || !isBytes {
				p.Engine.Throw("TypeError", "Failed to execute 'getRandomValues' on 'Crypto': parameter 1 is not of type 'ArrayBufferView'.")
			}
			tag := p.Engine.Call(p.Engine.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), view).String()
			if !strings.Contains(tag, "int") && !strings.Contains(tag, "Int") && tag != "Uint8ClampedArray" {
				panic(p.NewDOMException("TypeMismatchError", "The data argument to getRandomValues() must be an integer-typed ArrayBufferView."))
			}
			if len(data) > maxRandomBytes {
				panic(p.NewDOMException("QuotaExceededError", fmt.Sprintf("getRandomValues() only accepts buffers of size <= 64K but provided %d bytes.", len(data))))
			}
			p.Engine.Entropy().Read(data)
			return view
		}},
		engine.Func{Name: "randomUUID", Fn: func(goja.FunctionCall) goja.Value {
			p.Engine.IO("crypto.randomUUID()")
			var b [16]byte
			p.Engine.Entropy().Read(b[:])
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
			return p.vm.ToValue(fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:]))
		}},
	)
	methods := []engine.Func{
		{Name: "digest", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			algorithm, data := call.Argument(0), call.Argument(1)
			return p.promise(func() goja.Value { return p.digest(algorithm, data) })
		}},
		{Name: "timingSafeEqual", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			a, okA := p.bytesOf(call.Argument(0))
			b, okB := p.bytesOf(call.Argument(1))
			if !okA || !okB || len(a) != len(b) {
				p.Engine.Throw("TypeError", "Input buffers must have the same byte length.")
			}
			return p.vm.ToValue(subtle.ConstantTimeCompare(a, b) == 1)
		}},
	}
	for _, name := range []string{"encrypt", "decrypt", "sign", "verify", "generateKey", "deriveKey", "deriveBits", "importKey", "exportKey", "wrapKey", "unwrapKey"} {
		methods = append(methods, engine.Func{Name: name, Fn: func(goja.FunctionCall) goja.Value {
			return p.promise(func() goja.Value {
				panic(p.NewDOMException("NotSupportedError", "crypto.subtle."+name+"() is not built into minido yet; node:crypto offers hashes, HMAC and ciphers."))
			})
		}})
	}
	crypto.Set("subtle", p.Engine.Native(methods...))
	return crypto
}

var digests = map[string]func() hash.Hash{
	"SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New, "MD5": md5.New,
}

func (p *Platform) digest(algorithm, v goja.Value) goja.Value {
	name := ""
	if obj, ok := algorithm.(*goja.Object); ok {
		name = get(obj, "name").String()
	} else {
		name = algorithm.String()
	}
	make := digests[strings.ToUpper(name)]
	if make == nil {
		panic(p.NewDOMException("NotSupportedError", fmt.Sprintf("Unrecognized or unimplemented digest algorithm requested: %q.", name))) // reference's text
	}
	data, ok := p.bytesOf(v)
	if !ok {
		p.Engine.Throw("TypeError", "Failed to execute 'digest' on 'SubtleCrypto': parameter 2 is not of type 'ArrayBuffer or ArrayBufferView'.")
	}
	h := make()
	h.Write(data)
	return p.newArrayBuffer(h.Sum(nil))
}
