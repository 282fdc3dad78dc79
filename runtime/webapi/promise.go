package webapi

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// promise calls fn and gives a promise for what it returns or throws.
func (p *Platform) promise(fn func() goja.Value) goja.Value {
	var v goja.Value
	if ex := p.vm.Try(func() { v = fn() }); ex != nil {
		return p.rejected(ex.Value())
	}
	if promiseOf(v) != nil {
		return v
	}
	promise, resolve, _ := p.Engine.NewPromise()
	resolve(v)
	return p.vm.ToValue(promise)
}

// rejected is a promise rejected with reason.
func (p *Platform) rejected(reason goja.Value) goja.Value {
	promise, _, reject := p.Engine.NewPromise()
	reject(reason)
	return p.vm.ToValue(promise)
}

func (p *Platform) parseJSON(text goja.Value) goja.Value {
	return p.Engine.Call(p.Engine.Primordial("JSONParse"), goja.Undefined(), text)
}

func (p *Platform) newArrayBuffer(data []byte) goja.Value {
	return p.vm.ToValue(p.vm.NewArrayBuffer(data))
}

func (p *Platform) newUint8Array(data []byte) *goja.Object {
	obj, err := p.vm.New(p.Engine.Primordial("Uint8Array"), p.newArrayBuffer(data))
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return obj
}

// decodeText is the Encoding standard's "UTF-8 decode": a byte order mark is
// dropped, what is not UTF-8 becomes U+FFFD.
func (p *Platform) decodeText(data []byte) goja.Value {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return p.Engine.String(validUTF8(data))
}

// validUTF8 replaces each maximal subpart of an ill-formed sequence by U+FFFD.
func validUTF8(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var out strings.Builder
	out.Grow(len(data) + 16)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r != utf8.RuneError || n > 1 {
			out.Write(data[:n])
			data = data[n:]
			continue
		}
		out.WriteRune(utf8.RuneError)
		data = data[illFormed(data):]
	}
	return out.String()
}

// illFormed is the length of the maximal subpart that data begins with.
func illFormed(data []byte) int {
	low, high, more := byte(0x80), byte(0xBF), 0
	switch c := data[0]; {
	case c >= 0xC2 && c <= 0xDF:
		more = 1
	case c >= 0xE0 && c <= 0xEF:
		more = 2
		if c == 0xE0 {
			low = 0xA0
		} else if c == 0xED {
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		more = 3
		if c == 0xF0 {
			low = 0x90
		} else if c == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for ; n <= more && n < len(data) && data[n] >= low && data[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}
