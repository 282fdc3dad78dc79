package crypto

import (
	"crypto/subtle"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webcrypto"
	"minido.dev/minido/runtime/webidl"
)

// subtleMethod is a method of SubtleCrypto that returns a promise: whatever it
// throws rejects it, but for a wrong receiver, which throws as in workerd.
type subtleMethod struct {
	name   string
	params []string // the types of the required arguments, for messages
	fn     func(a subtleArgs) goja.Value
}

// subtleArgs are the arguments of one call.
type subtleArgs struct {
	p    *Crypto
	name string
	call goja.FunctionCall
}

func (p *Crypto) defineSubtle() *engine.Class[subtleObject] {
	class := engine.DefineClass(p.Engine, engine.ClassDef[subtleObject]{Name: "SubtleCrypto"})
	const key, data, usages = "CryptoKey", "BufferSource", "Array"
	const cipher, signing, hash, generating, deriving, importing = "string or EncryptAlgorithm", "string or SignAlgorithm", "string or HashAlgorithm",
		"string or GenerateKeyAlgorithm", "string or DeriveKeyAlgorithm", "string or ImportKeyAlgorithm"
	for _, m := range []subtleMethod{
		{"encrypt", []string{cipher, key, data}, p.subtleEncrypt},
		{"decrypt", []string{cipher, key, data}, p.subtleDecrypt},
		{"sign", []string{signing, key, data}, p.subtleSign},
		{"verify", []string{signing, key, data, data}, p.subtleVerify},
		{"digest", []string{hash, data}, p.subtleDigest},
		{"generateKey", []string{generating, "boolean", usages}, p.subtleGenerate},
		{"deriveKey", []string{deriving, key, importing, "boolean", usages}, p.subtleDeriveKey},
		{"deriveBits", []string{deriving, key}, p.subtleDeriveBits},
		{"importKey", []string{"string", "BufferSource or JsonWebKey", importing, "boolean", usages}, p.subtleImport},
		{"exportKey", []string{"string", key}, p.subtleExport},
		{"wrapKey", []string{"string", key, key, cipher}, p.subtleWrap},
		{"unwrapKey", []string{"string", data, key, cipher, importing, "boolean", usages}, p.subtleUnwrap},
	} {
		p.Engine.DefineFunc(class.Proto, engine.Func{Name: m.name, Fn: func(call goja.FunctionCall) goja.Value {
			class.Self(call.This)
			return p.Promise(func() goja.Value {
				if n := len(call.Arguments); n < len(m.params) {
					subtleArgs{p, m.name, call}.check(m.params[:n])
					p.BadArgument("SubtleCrypto", m.name, n+1, m.params[n])
				}
				return m.fn(subtleArgs{p, m.name, call})
			})
		}})
	}
	p.Engine.DefineFunc(class.Proto, engine.Func{Name: "timingSafeEqual", Fn: func(call goja.FunctionCall) goja.Value {
		class.Self(call.This)
		a := subtleArgs{p, "timingSafeEqual", call}
		x, y := a.bytes(0)(), a.bytes(1)()
		if len(x) != len(y) {
			p.Engine.Throw("TypeError", "Input buffers must have the same byte length.")
		}
		return p.VM.ToValue(subtle.ConstantTimeCompare(x, y) == 1)
	}})
	return class
}

func (a subtleArgs) bad(n int, typ string) { a.p.BadArgument("SubtleCrypto", a.name, n+1, typ) }

// check converts the arguments that are there, in order, where one is missing.
func (a subtleArgs) check(params []string) {
	for n, typ := range params {
		_, isObject := a.call.Argument(n).(*goja.Object)
		switch {
		case typ == "CryptoKey":
			a.key(n)
		case typ == "BufferSource":
			a.bytes(n)
		case typ == "string", strings.HasPrefix(typ, "string or ") && !isObject:
			a.p.ToString(a.call.Argument(n))
		}
	}
}

func (a subtleArgs) algorithm(n int) goja.Value { return a.p.algorithmIdentifier(a.call.Argument(n)) }

func (a subtleArgs) key(n int) *webcrypto.Key {
	k, ok := a.p.cryptoKeys().Of(a.call.Argument(n))
	if !ok {
		a.bad(n, "CryptoKey")
	}
	return k
}

// bytes converts to BufferSource; the result copies what it holds then: the
// specification copies after the algorithm is normalized.
func (a subtleArgs) bytes(n int) func() []byte {
	v := a.call.Argument(n)
	if _, ok := a.p.BytesOf(v); !ok {
		a.bad(n, "BufferSource")
	}
	return func() []byte {
		data, _ := a.p.BytesOf(v)
		return append([]byte{}, data...)
	}
}

func (a subtleArgs) boolean(n int) bool { return a.call.Argument(n).ToBoolean() }

// format takes any text: the import, or the key that is exported, refuses what it
// does not know.
func (a subtleArgs) format(n int) string {
	format := a.p.ToString(a.call.Argument(n)).String()
	if modernFormat(format) && !a.p.Enabled(compat.WebcryptoModernAlgorithms) {
		a.p.ThrowDOM("NotSupportedError", "Key format %q requires the webcrypto_modern_algorithms flag.", format)
	}
	return format
}

// modernFormat reports whether the Modern Algorithms in the Web Cryptography API
// have added a format.
func modernFormat(format string) bool {
	switch format {
	case "raw-public", "raw-private", "raw-seed", "raw-secret":
		return true
	}
	return false
}

func (a subtleArgs) usages(n int) webcrypto.Usages {
	var usages webcrypto.Usages
	v := a.call.Argument(n)
	if _, ok := v.(*goja.Object); !ok {
		a.bad(n, "Array")
	}
	a.p.ForOf(v, func(v goja.Value) {
		name := a.p.ToString(v).String()
		usage := webcrypto.UsageNamed(name)
		if usage == 0 {
			a.p.Engine.Throw("TypeError", "%q is not a key usage.", name)
		}
		usages |= usage
	})
	return usages
}

// costlyIterations are those of PBKDF2 that take milliseconds.
const costlyIterations = 1000

// compute runs work, which touches nothing of the isolate, and resolves with
// what done makes of its result. Costly work of a stateless request leaves the
// loop, so that other requests go on. In an object it stays in the turn: there,
// as in workerd, an await of crypto lets no other event in.
// Either way the CPU limit holds: what takes long asks stopped, and ends with its error.
func compute[T any](p *Crypto, name string, costly bool, work func(stopped func() error) (T, error), done func(T) goja.Value) goja.Value {
	c := p.Engine.Current()
	if !costly || p.Go == nil || c == nil || c.Kind != engine.RequestContext {
		v, err := work(func() error { p.Engine.Natives.Pause(); return nil }) // which panics where the turn ends
		p.tried(err)
		return done(v)
	}
	op := p.Engine.StartOp(name)
	promise := op.Promise()
	over := p.Engine.Watchdog.Elsewhere()
	p.Go(name, func() {
		v, err := work(func() error {
			if over() {
				return errTooLong
			}
			return nil
		})
		op.Resolve("crypto", func() goja.Value {
			if errors.Is(err, errTooLong) {
				p.Engine.Watchdog.Exceeded()
			}
			p.tried(err)
			return done(v)
		})
	})
	return promise
}

// errTooLong ends what has computed for as long as a turn may.
var errTooLong = errors.New("the CPU time limit was exceeded")

// searching is the isolate's randomness for a search for primes that can be stopped.
type searching struct {
	io.Reader
	stopped func() error
}

// Stopped implements webcrypto.Stopper.
func (s searching) Stopped() error { return s.stopped() }

// buffer resolves with bytes.
func (p *Crypto) buffer(data []byte, err error) goja.Value {
	p.tried(err)
	return p.NewArrayBuffer(data)
}

func (p *Crypto) subtleEncrypt(a subtleArgs) goja.Value {
	algorithm, key, data := a.algorithm(0), a.key(1), a.bytes(2)
	params := p.normalize(webcrypto.OpEncrypt, algorithm)
	return p.buffer(webcrypto.EncryptWith(params, key, webcrypto.Encrypt, data(), p.Engine.Entropy()))
}

func (p *Crypto) subtleDecrypt(a subtleArgs) goja.Value {
	algorithm, key, data := a.algorithm(0), a.key(1), a.bytes(2)
	params := p.normalize(webcrypto.OpDecrypt, algorithm)
	return p.buffer(webcrypto.DecryptWith(params, key, webcrypto.Decrypt, data()))
}

func (p *Crypto) subtleSign(a subtleArgs) goja.Value {
	algorithm, key, data := a.algorithm(0), a.key(1), a.bytes(2)
	params := p.normalize(webcrypto.OpSign, algorithm)
	return p.buffer(webcrypto.SignWith(params, key, data(), p.Engine.Entropy()))
}

func (p *Crypto) subtleVerify(a subtleArgs) goja.Value {
	algorithm, key, signature, data := a.algorithm(0), a.key(1), a.bytes(2), a.bytes(3)
	params := p.normalize(webcrypto.OpVerify, algorithm)
	ok, err := webcrypto.VerifyWith(params, key, signature(), data())
	p.tried(err)
	return p.VM.ToValue(ok)
}

func (p *Crypto) subtleDigest(a subtleArgs) goja.Value {
	algorithm, data := a.algorithm(0), a.bytes(1)
	params := p.normalize(webcrypto.OpDigest, algorithm)
	return p.NewArrayBuffer(webcrypto.Digest(params.Name, data()))
}

func (p *Crypto) subtleGenerate(a subtleArgs) goja.Value {
	algorithm, extractable, usages := a.algorithm(0), a.boolean(1), a.usages(2)
	params := p.normalize(webcrypto.OpGenerateKey, algorithm)
	if params.Name == "HMAC" || strings.HasPrefix(params.Name, "AES-") {
		p.Engine.IO("crypto.subtle.generateKey()") // in workerd, pairs need no request
	}
	work := func(stopped func() error) (webcrypto.Generated, error) {
		return webcrypto.Generate(params, extractable, usages, searching{p.Engine.Entropy(), stopped})
	}
	return compute(p, "crypto.subtle.generateKey()", params.ModulusLength > 0, work, func(g webcrypto.Generated) goja.Value {
		if g.Secret != nil {
			return p.NewKey(g.Secret)
		}
		pair := p.VM.NewObject()
		p.DefinePlain(pair, "publicKey", p.NewKey(g.Public))
		p.DefinePlain(pair, "privateKey", p.NewKey(g.Private))
		return pair
	})
}

func (p *Crypto) subtleDeriveKey(a subtleArgs) goja.Value {
	algorithm, base, derived := a.algorithm(0), a.key(1), a.algorithm(2)
	extractable, usages := a.boolean(3), a.usages(4)
	params := p.normalize(webcrypto.OpDeriveBits, algorithm)
	imports := p.normalize(webcrypto.OpImportKey, derived)
	lengths := p.normalize(webcrypto.OpGetKeyLength, derived)
	return compute(p, "crypto.subtle.deriveKey()", params.Iterations > costlyIterations, func(stopped func() error) (*webcrypto.Key, error) {
		params.Stopped = stopped
		return webcrypto.DeriveKeyWith(params, base, lengths, imports, extractable, usages)
	}, func(k *webcrypto.Key) goja.Value { return p.NewKey(k) })
}

func (p *Crypto) subtleDeriveBits(a subtleArgs) goja.Value {
	algorithm, key := a.algorithm(0), a.key(1)
	var length *int
	if v := a.call.Argument(2); !webidl.IsMissing(v) {
		// unsigned long without [EnforceRange] wraps; workerd refuses what is negative.
		n := v.ToNumber().ToFloat()
		if n < 0 {
			p.Engine.Throw("TypeError", "deriveBits length must be an unsigned long integer.")
		}
		bits := 0
		if !math.IsNaN(n) && !math.IsInf(n, 0) {
			bits = int(math.Mod(math.Trunc(n), 1<<32))
		}
		length = &bits
	}
	params := p.normalize(webcrypto.OpDeriveBits, algorithm)
	return compute(p, "crypto.subtle.deriveBits()", params.Iterations > costlyIterations, func(stopped func() error) ([]byte, error) {
		params.Stopped = stopped
		return webcrypto.Derive(params, key, webcrypto.DeriveBits, length)
	}, p.NewArrayBuffer)
}

func (p *Crypto) subtleImport(a subtleArgs) goja.Value {
	format := a.format(0)
	v := a.call.Argument(1)
	_, isObject := v.(*goja.Object)
	_, isBytes := p.BytesOf(v)
	var jwk *webcrypto.JWK
	var data func() []byte
	switch {
	case isBytes:
		data = a.bytes(1)
	case isObject || webidl.IsMissing(v):
		jwk = p.jsonWebKey(v)
	default:
		a.bad(1, "BufferSource or JsonWebKey")
	}
	algorithm, extractable, usages := a.algorithm(2), a.boolean(3), a.usages(4)
	if format == "jwk" && isBytes {
		p.Engine.Throw("TypeError", "Import data provided for \"jwk\" import format must be a JsonWebKey.")
	}
	if format != "jwk" && !isBytes {
		p.Engine.Throw("TypeError", "Import data provided for buffer-based import formats must be a buffer source.")
	}
	params := p.normalize(webcrypto.OpImportKey, algorithm)
	var copied []byte
	if isBytes {
		copied = data()
	}
	key, err := webcrypto.Import(format, copied, jwk, params, extractable, usages)
	p.tried(err)
	return p.NewKey(key)
}

func (p *Crypto) subtleExport(a subtleArgs) goja.Value {
	format, key := a.format(0), a.key(1)
	exported, err := webcrypto.Export(format, key)
	p.tried(err)
	return p.exportedKey(exported)
}

// normalizeEither normalizes for one operation, and for another if the
// algorithm is not registered for the first.
func (p *Crypto) normalizeEither(first, second webcrypto.Operation, v goja.Value) *webcrypto.Params {
	params, err := p.tryNormalize(first, v)
	if err != nil {
		return p.normalize(second, v)
	}
	return params
}

func (p *Crypto) subtleWrap(a subtleArgs) goja.Value {
	format, key, wrapping, algorithm := a.format(0), a.key(1), a.key(2), a.algorithm(3)
	params := p.normalizeEither(webcrypto.OpWrapKey, webcrypto.OpEncrypt, algorithm)
	p.tried(webcrypto.CheckWrap(params, wrapping))
	exported, err := webcrypto.Export(format, key)
	p.tried(err)
	data := exported.Bytes
	if exported.JWK != nil {
		data = jwkJSON(exported.JWK)
	}
	return p.buffer(webcrypto.EncryptWith(params, wrapping, webcrypto.WrapKey, data, p.Engine.Entropy()))
}

func (p *Crypto) subtleUnwrap(a subtleArgs) goja.Value {
	format, wrapped, unwrapping := a.format(0), a.bytes(1), a.key(2)
	algorithm, unwrappedAlgorithm := a.algorithm(3), a.algorithm(4)
	extractable, usages := a.boolean(5), a.usages(6)
	params := p.normalizeEither(webcrypto.OpUnwrapKey, webcrypto.OpDecrypt, algorithm)
	imports := p.normalize(webcrypto.OpImportKey, unwrappedAlgorithm)
	data, err := webcrypto.DecryptWith(params, unwrapping, webcrypto.UnwrapKey, wrapped())
	p.tried(err)
	var jwk *webcrypto.JWK
	if format == "jwk" {
		jwk = p.parseJWK(data)
	}
	key, err := webcrypto.Import(format, data, jwk, imports, extractable, usages)
	p.tried(err)
	return p.NewKey(key)
}
