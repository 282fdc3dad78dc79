package webapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webcrypto"
)

// cryptoError is the JavaScript value of an error from package webcrypto.
func (p *Platform) cryptoError(err error) goja.Value {
	var known *webcrypto.Error
	switch {
	case !errors.As(err, &known):
		return p.Engine.FromGo(err)
	case known.Name == "TypeError":
		return p.Engine.NewError("TypeError", known.Message)
	}
	return p.NewDOMException(known.Name, known.Message)
}

// tried throws err, if it is one.
func (p *Platform) tried(err error) {
	if err != nil {
		panic(p.cryptoError(err))
	}
}

// algorithmIdentifier converts to (object or DOMString).
func (p *Platform) algorithmIdentifier(v goja.Value) goja.Value {
	if obj, ok := v.(*goja.Object); ok {
		return obj
	}
	return p.toString(v)
}

// normalize is "normalize an algorithm" (section 18.4.4). It throws.
func (p *Platform) normalize(op webcrypto.Operation, v goja.Value) *webcrypto.Params {
	params, err := p.tryNormalize(op, v)
	p.tried(err)
	return params
}

// tryNormalize is normalize that returns the NotSupportedError of an algorithm
// that is not registered for the operation.
func (p *Platform) tryNormalize(op webcrypto.Operation, v goja.Value) (*webcrypto.Params, error) {
	v = p.algorithmIdentifier(v)
	name := v
	if _, ok := v.(*goja.Object); ok {
		if name = get(v, "name"); isUndefined(name) {
			p.Engine.Throw("TypeError", "Missing field \"name\" in \"algorithm\".")
		}
		name = p.toString(name)
	}
	canonical, members, err := webcrypto.Lookup(op, name.String())
	if err != nil {
		return nil, err
	}
	params := &webcrypto.Params{Name: canonical}
	for _, m := range members {
		value := get(v, m.Name)
		if isUndefined(value) {
			if m.Required {
				p.Engine.Throw("TypeError", "Missing field %q in \"algorithm\".", m.Name)
			}
			continue
		}
		p.setMember(params, m, value)
	}
	return params, nil
}

// setMember converts a member of an algorithm's dictionary.
func (p *Platform) setMember(params *webcrypto.Params, m webcrypto.Member, v goja.Value) {
	bad := func(typ string) {
		p.Engine.Throw("TypeError", "The field %q in \"algorithm\" is not of type '%s'.", m.Name, typ)
	}
	switch m.Kind {
	case webcrypto.HashMember:
		params.Hash = p.normalize(webcrypto.OpDigest, v).Name
	case webcrypto.StringMember:
		params.NamedCurve = p.toString(v).String()
	case webcrypto.CryptoKeyMember:
		k, ok := p.cryptoKeys().Of(v)
		if !ok {
			bad("CryptoKey")
		}
		params.Public = k.key
	case webcrypto.IntegerMember:
		data, ok := p.bytesOf(v)
		if !ok || isArrayBuffer(v) || p.Engine.Call(p.Engine.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), v).String() != "Uint8Array" {
			bad("Uint8Array")
		}
		params.PublicExponent = bytes.Clone(data)
	case webcrypto.BytesMember:
		data, ok := p.bytesOf(v)
		if !ok {
			bad("BufferSource")
		}
		setBytes(params, m.Name, append([]byte{}, data...))
	case webcrypto.OctetMember:
		setNumber(params, m.Name, p.enforceRange(v, m.Name, math.MaxUint8))
	case webcrypto.ShortMember:
		setNumber(params, m.Name, p.enforceRange(v, m.Name, math.MaxUint16))
	case webcrypto.LongMember:
		setNumber(params, m.Name, p.enforceRange(v, m.Name, math.MaxUint32))
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

// enforceRange converts to an unsigned integer with [EnforceRange] (Web IDL,
// section 3.2.4.9).
func (p *Platform) enforceRange(v goja.Value, name string, limit float64) int {
	n := math.Trunc(v.ToNumber().ToFloat())
	if math.IsNaN(n) || n < 0 || n > limit {
		p.Engine.Throw("TypeError", "The value of %q must be an integer between 0 and %.0f.", name, limit)
	}
	return int(n)
}

// jsonWebKey converts to a JsonWebKey dictionary (section 15).
func (p *Platform) jsonWebKey(v goja.Value) *webcrypto.JWK {
	j := &webcrypto.JWK{Fields: map[string]string{}}
	for _, name := range webcrypto.JWKFields {
		value := get(v, name)
		switch {
		case isUndefined(value):
		case name == "ext":
			ext := value.ToBoolean()
			j.Ext = &ext
		case name == "key_ops":
			j.HasKeyOps = true
			p.sequence(value, name, "JsonWebKey", func(op goja.Value) { j.KeyOps = append(j.KeyOps, p.toString(op).String()) })
		case name == "oth":
			j.HasOth = true
			p.sequence(value, name, "JsonWebKey", func(goja.Value) {})
		default:
			j.Fields[name] = p.toString(value).String()
		}
	}
	return j
}

// exportedKey is what exportKey resolves with.
func (p *Platform) exportedKey(x *webcrypto.Exported) goja.Value {
	if x.JWK == nil {
		return p.newArrayBuffer(x.Bytes)
	}
	obj := p.vm.NewObject()
	for _, name := range webcrypto.JWKExported {
		switch text, ok := x.JWK.Fields[name]; {
		case name == "key_ops":
			p.plain(obj, name, p.strings(x.JWK.KeyOps))
		case name == "ext":
			p.plain(obj, name, *x.JWK.Ext)
		case ok:
			p.plain(obj, name, text)
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
func (p *Platform) parseJWK(data []byte) *webcrypto.JWK {
	var members map[string]json.RawMessage
	bad := func() { p.throwDOM("DataError", "Missing \"kty\" field or corrupt JSON unwrapping key?") }
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
