package crypto

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/webcrypto"
	"minido.dev/minido/runtime/webidl"
)

// cryptoError is the JavaScript value of an error from package webcrypto.
func (p *Crypto) cryptoError(err error) goja.Value {
	var known *webcrypto.Error
	switch {
	case !errors.As(err, &known):
		return p.Engine.Errors.FromGo(err)
	case known.Name == "TypeError":
		return p.Engine.Errors.New("TypeError", known.Message)
	}
	return p.NewDOMException(known.Name, known.Message)
}

// tried throws err, if it is one.
func (p *Crypto) tried(err error) {
	if err != nil {
		panic(p.cryptoError(err))
	}
}

// algorithmIdentifier converts to (object or DOMString).
func (p *Crypto) algorithmIdentifier(v goja.Value) goja.Value {
	if obj, ok := v.(*goja.Object); ok {
		return obj
	}
	return p.ToString(v)
}

// normalize is "normalize an algorithm" (section 18.4.4). It throws.
func (p *Crypto) normalize(op webcrypto.Operation, v goja.Value) *webcrypto.Params {
	params, err := p.tryNormalize(op, v)
	if !op.WithKey() {
		p.tried(err)
	}
	return params
}

// tryNormalize is normalize that returns the NotSupportedError of an algorithm
// that is not registered for the operation, too. What an operation with a key
// misses in its algorithm is the Problem of its parameters: workerd compares the
// key first (validateOperation in src/workerd/api/crypto/crypto.c++).
func (p *Crypto) tryNormalize(op webcrypto.Operation, v goja.Value) (*webcrypto.Params, error) {
	v = p.algorithmIdentifier(v)
	name := v
	if _, ok := v.(*goja.Object); ok {
		name = p.ToString(webidl.Get(v, "name")) // without one, workerd asks for "undefined"
	}
	canonical, members, err := webcrypto.Lookup(op, name.String())
	if err != nil {
		return &webcrypto.Params{Name: canonical, Problem: err}, err
	}
	params := &webcrypto.Params{Name: canonical}
	for _, m := range members {
		value := webidl.Get(v, m.Name)
		if webidl.IsUndefined(value) {
			if missing := webcrypto.MissingMember(op, canonical, m.Name); m.Required && !op.WithKey() {
				p.tried(missing)
			} else if m.Required && params.Problem == nil {
				params.Problem = missing
			}
			continue
		}
		p.setMember(params, m, value)
	}
	return params, nil
}

// setMember converts a member of an algorithm's dictionary.
func (p *Crypto) setMember(params *webcrypto.Params, m webcrypto.Member, v goja.Value) {
	bad := func(typ string) {
		p.Engine.Throw("TypeError", "The field %q in \"algorithm\" is not of type '%s'.", m.Name, typ)
	}
	switch m.Kind {
	case webcrypto.HashMember:
		params.Hash = p.normalize(webcrypto.OpDigest, v).Name
	case webcrypto.StringMember:
		params.NamedCurve = p.ToString(v).String()
	case webcrypto.CryptoKeyMember:
		k, ok := p.cryptoKeys().Of(v)
		if !ok {
			bad("CryptoKey")
		}
		params.Public = k
	case webcrypto.IntegerMember:
		data, ok := p.BytesOf(v)
		if !ok || webidl.IsArrayBuffer(v) || p.Engine.Call(p.Engine.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), v).String() != "Uint8Array" {
			bad("Uint8Array")
		}
		params.PublicExponent = bytes.Clone(data)
	case webcrypto.BytesMember:
		data, ok := p.BytesOf(v)
		if !ok {
			bad("BufferSource")
		}
		setBytes(params, m.Name, append([]byte{}, data...))
	case webcrypto.OctetMember:
		setNumber(params, m.Name, p.EnforceRange(v, m.Name, math.MaxUint8))
	case webcrypto.ShortMember:
		setNumber(params, m.Name, p.EnforceRange(v, m.Name, math.MaxUint16))
	case webcrypto.LongMember:
		setNumber(params, m.Name, p.EnforceRange(v, m.Name, math.MaxUint32))
	}
}

// setBytes sets the member of a name.
func setBytes(params *webcrypto.Params, name string, data []byte) {
	switch name {
	case "iv":
		params.IV = data
	case "additionalData":
		params.AdditionalData = data
	case "counter":
		params.Counter = data
	case "label":
		params.Label = data
	case "salt":
		params.Salt = data
	case "info":
		params.Info = data
	}
}

// setNumber sets the member of a name.
func setNumber(params *webcrypto.Params, name string, n int) {
	switch name {
	case "length":
		params.Length = &n
	case "tagLength":
		params.TagLength = &n
	case "modulusLength":
		params.ModulusLength = n
	case "saltLength":
		params.SaltLength = n
	case "iterations":
		params.Iterations = n
	}
}

// jsonWebKey converts to a JsonWebKey dictionary (section 15).
func (p *Crypto) jsonWebKey(v goja.Value) *webcrypto.JWK {
	j := &webcrypto.JWK{Fields: map[string]string{}}
	for _, name := range webcrypto.JWKFields {
		value := webidl.Get(v, name)
		switch {
		case webidl.IsUndefined(value):
		case name == "ext":
			ext := value.ToBoolean()
			j.Ext = &ext
		case name == "key_ops":
			j.HasKeyOps = true
			p.Sequence(value, name, "JsonWebKey", func(op goja.Value) { j.KeyOps = append(j.KeyOps, p.ToString(op).String()) })
		case name == "oth":
			j.HasOth = true
			p.Sequence(value, name, "JsonWebKey", func(goja.Value) {})
		default:
			j.Fields[name] = p.ToString(value).String()
		}
	}
	if _, given := j.Fields["kty"]; !given { // a required member, which workerd converts
		j.Fields["kty"] = "undefined"
	}
	return j
}

// exportedKey is what exportKey resolves with.
func (p *Crypto) exportedKey(x *webcrypto.Exported) goja.Value {
	if x.JWK == nil {
		return p.NewArrayBuffer(x.Bytes)
	}
	obj := p.VM.NewObject()
	whole := p.Enabled(compat.EnableFastJsgStruct) // then it has all members: undefined is what the key lacks
	for _, name := range webcrypto.JWKExported {
		switch text, ok := x.JWK.Fields[name]; {
		case name == "key_ops":
			p.DefinePlain(obj, name, p.StringArray(x.JWK.KeyOps))
		case name == "ext":
			p.DefinePlain(obj, name, *x.JWK.Ext)
		case ok:
			p.DefinePlain(obj, name, text)
		case whole:
			p.DefinePlain(obj, name, goja.Undefined())
		}
	}
	return obj
}

// jwkJSON is a JWK as wrapKey wraps it: what JSON.stringify gives in a global
// object that nobody has patched.
func jwkJSON(j *webcrypto.JWK) []byte {
	var b bytes.Buffer
	for i, name := range webcrypto.JWKExported {
		text, ok := j.Fields[name]
		switch {
		case name == "key_ops":
			list, _ := json.Marshal(j.KeyOps) // strings always encode
			text = string(list)
		case name == "ext":
			text = strconv.FormatBool(*j.Ext)
		case ok:
			text = strconv.Quote(text) // names and base64url: nothing to escape
		default:
			continue
		}
		separator := ","
		if i == 0 {
			separator = "{"
		}
		b.WriteString(separator + strconv.Quote(name) + ":" + text)
	}
	return append(b.Bytes(), '}')
}

// parseJWK is "parse a JWK" (section 14.3.12): JSON.parse and the conversion to a
// JsonWebKey in a global object that nobody has patched.
func (p *Crypto) parseJWK(data []byte) *webcrypto.JWK {
	var members map[string]json.RawMessage
	bad := func() { p.ThrowDOM("DataError", "Missing \"kty\" field or corrupt JSON unwrapping key?") }
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &members) != nil {
		bad()
	}
	j := &webcrypto.JWK{Fields: map[string]string{}}
	for _, name := range webcrypto.JWKFields {
		raw, ok := members[name]
		if !ok {
			continue
		}
		var text string
		switch {
		case name == "ext":
			ext := string(raw) != "false" && string(raw) != "null" && string(raw) != "0" && string(raw) != `""`
			j.Ext = &ext
		case name == "key_ops":
			j.HasKeyOps = true
			if json.Unmarshal(raw, &j.KeyOps) != nil {
				bad()
			}
		case name == "oth":
			j.HasOth = true
		case json.Unmarshal(raw, &text) == nil:
			j.Fields[name] = text
		default:
			bad()
		}
	}
	if _, ok := j.Fields["kty"]; !ok {
		bad()
	}
	return j
}
