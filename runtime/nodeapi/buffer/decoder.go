package buffer

import (
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// decoderModule are the natives of js/string_decoder.js.
func decoderModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "whole", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			b, _ := m.Bytes(c.Argument(0))
			return m.VM.ToValue(wholeCharacters(b, node.EncodingByName(c.Argument(1).String()), int(node.ToInt64(c.Argument(2)))))
		}},
		{Name: "need", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			b, _ := m.Bytes(c.Argument(0))
			return m.VM.ToValue(missingBytes(b, node.EncodingByName(c.Argument(1).String())))
		}},
	}
}

// wholeCharacters is how many bytes make whole characters: what follows may be
// completed by the next piece. The first held bytes were left by the last one.
func wholeCharacters(b []byte, e node.Encoding, held int) int {
	n := len(b)
	switch e {
	case node.EncUTF8:
		for i := 1; i <= 3 && i <= n; i++ {
			if c := b[n-i]; utf8.RuneStart(c) {
				if leadLength(c) > i {
					return n - i
				}
				return n
			}
		}
	case node.EncUTF16:
		if n%2 != 0 {
			return n - 1 // the byte that is left over counts, not a surrogate before it
		}
		if n >= 2 && b[n-1] >= 0xd8 && b[n-1] <= 0xdb {
			n -= 2
		}
	case node.EncBase64, node.EncBase64URL:
		n -= n % 3
	}
	return n
}

// leadLength is the length of the sequence that a lead byte begins, whether or
// not there are such sequences: what they stand for is the codec's affair.
func leadLength(c byte) int {
	switch {
	case c >= 0xc0 && c <= 0xdf:
		return 2
	case c >= 0xe0 && c <= 0xef:
		return 3
	case c >= 0xf0 && c <= 0xf7:
		return 4
	}
	return 1
}

// missingBytes is how many bytes an incomplete rest lacks.
func missingBytes(rest []byte, e node.Encoding) int {
	switch e {
	case node.EncUTF8:
		return leadLength(rest[0]) - len(rest)
	case node.EncUTF16:
		if len(rest) >= 2 {
			return 4 - len(rest)
		}
		return 1
	}
	return 3 - len(rest)
}
