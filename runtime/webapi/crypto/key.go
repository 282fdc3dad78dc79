package crypto

import (
	"bytes"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webcrypto"
	"minido.dev/minido/runtime/webidl"
)

// cryptoKey is a CryptoKey with its cached objects (section 13.4); operations
// use the key, so that a script which changes the objects changes nothing.
type cryptoKey struct {
	key               *webcrypto.Key
	algorithm, usages *goja.Object // made at their first use
}

func (p *Crypto) cryptoKeys() *engine.Class[*cryptoKey] {
	if p.keys != nil {
		return p.keys
	}
	p.keys = engine.DefineClass(p.Engine, engine.ClassDef[*cryptoKey]{
		Name: "CryptoKey",
		Own: []engine.Accessor[*cryptoKey]{
			webidl.Reader("usages", func(k *cryptoKey) goja.Value { return p.StringArray(k.key.Usages.Names()) }),
			webidl.Reader("algorithm", func(k *cryptoKey) goja.Value { return p.keyAlgorithm(k.key.Algorithm) }),
			webidl.Reader("extractable", func(k *cryptoKey) goja.Value { return p.VM.ToValue(k.key.Extractable) }),
			webidl.Reader("type", func(k *cryptoKey) goja.Value { return p.VM.ToValue(string(k.key.Type)) }),
		},
	})
	return p.keys
}

// KeyOf is the key of a CryptoKey. Loop-confined.
func (p *Crypto) KeyOf(v goja.Value) (*webcrypto.Key, bool) {
	k, ok := p.cryptoKeys().Of(v)
	if !ok {
		return nil, false
	}
	return k.key, true
}

// NewKey is a CryptoKey of a key (W3C Web Cryptography, section 13).
// Loop-confined.
func (p *Crypto) NewKey(k *webcrypto.Key) *goja.Object {
	return p.cryptoKeys().Wrap(&cryptoKey{key: k})
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
