package crypto

import (
	"bytes"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webcrypto"
	"minido.dev/minido/runtime/webidl"
)

// cryptoKeys is the class CryptoKey. As in workerd, each read of algorithm and
// usages makes a new object; a script that changes one changes nothing of the
// key.
func (p *Crypto) cryptoKeys() *engine.Class[*webcrypto.Key] {
	if p.keys != nil {
		return p.keys
	}
	p.keys = engine.DefineClass(p.Engine, engine.ClassDef[*webcrypto.Key]{
		Name: "CryptoKey",
		Own: []engine.Accessor[*webcrypto.Key]{
			webidl.Reader("usages", func(k *webcrypto.Key) goja.Value { return p.StringArray(k.Usages.Names()) }),
			webidl.Reader("algorithm", func(k *webcrypto.Key) goja.Value { return p.keyAlgorithm(k.Algorithm) }),
			webidl.Reader("extractable", func(k *webcrypto.Key) goja.Value { return p.VM.ToValue(k.Extractable) }),
			webidl.Reader("type", func(k *webcrypto.Key) goja.Value { return p.VM.ToValue(string(k.Type)) }),
		},
	})
	return p.keys
}

// KeyOf is the key of a CryptoKey. Loop-confined.
func (p *Crypto) KeyOf(v goja.Value) (*webcrypto.Key, bool) {
	return p.cryptoKeys().Of(v)
}

// NewKey is a CryptoKey of a key (W3C Web Cryptography, section 13).
// Loop-confined.
func (p *Crypto) NewKey(k *webcrypto.Key) *goja.Object {
	return p.cryptoKeys().Wrap(k)
}

// keyAlgorithm is the KeyAlgorithm dictionary of a key.
func (p *Crypto) keyAlgorithm(a webcrypto.Algorithm) *goja.Object {
	obj := p.VM.NewObject()
	p.DefinePlain(obj, "name", a.Name)
	if a.ModulusLength != 0 {
		p.DefinePlain(obj, "modulusLength", a.ModulusLength)
		p.DefinePlain(obj, "publicExponent", p.NewUint8Array(bytes.Clone(a.PublicExponent)))
	}
	if a.Hash != "" {
		hash := p.VM.NewObject()
		p.DefinePlain(hash, "name", a.Hash)
		p.DefinePlain(obj, "hash", hash)
	}
	if a.Length != 0 {
		p.DefinePlain(obj, "length", a.Length)
	}
	if a.NamedCurve != "" {
		p.DefinePlain(obj, "namedCurve", a.NamedCurve)
	}
	return obj
}
