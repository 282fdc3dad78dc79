package streams

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// defineTextEncoder is TextEncoderStream (Encoding, section 8): a surrogate at the
// end of a chunk waits for the next one.
func defineTextEncoder(p *Streams) *engine.Class[*mapping] {
	encoding := engine.Accessor[*mapping]{Name: "encoding", Get: func(*mapping, *goja.Object) goja.Value { return p.VM.ToValue("utf-8") }}
	return mappingClass(p, "TextEncoderStream", func(goja.ConstructorCall) *mapping {
		var high goja.String // nil, or the surrogate that waits
		return p.newMapping(mapped{
			chunk: func(chunk goja.Value, give func(goja.Value)) {
				text := p.ToString(chunk)
				if high != nil {
					text = high.Concat(text)
					high = nil
				}
				if n := text.Length(); n > 0 && utf16.IsSurrogate(rune(text.CharAt(n-1))) && text.CharAt(n-1) < 0xdc00 {
					high = text.Substring(n-1, n)
					text = text.Substring(0, n-1)
				}
				p.giveBytes([]byte(webidl.UTF8Of(text)), give)
			},
			end: func(give func(goja.Value)) {
				if high != nil {
					p.giveBytes(utf8.AppendRune(nil, utf8.RuneError), give)
				}
			},
		})
	}, encoding)
}

// defineTextDecoder is TextDecoderStream (Encoding, section 8): a TextDecoder at
// work.
func defineTextDecoder(p *Streams) *engine.Class[*mapping] {
	of := func(name string) engine.Accessor[*mapping] {
		return engine.Accessor[*mapping]{Name: name, Get: func(m *mapping, _ *goja.Object) goja.Value { return m.decoder.Get(name) }}
	}
	return mappingClass(p, "TextDecoderStream", func(call goja.ConstructorCall) *mapping {
		decoder := p.Construct("TextDecoder", call.Argument(0), call.Argument(1))
		decode, _ := goja.AssertFunction(decoder.Get("decode"))
		more, last := p.Record("stream", true), p.Record("stream", false)
		give := func(chunk goja.Value, how *goja.Object, give func(goja.Value)) {
			v, err := decode(decoder, chunk, how)
			if err != nil {
				p.Engine.Rethrow(err)
			}
			if text, ok := v.(goja.String); ok && text.Length() > 0 {
				give(text)
			}
		}
		m := p.newMapping(mapped{
			chunk: func(chunk goja.Value, to func(goja.Value)) {
				if _, ok := p.BytesOf(chunk); !ok {
					p.Engine.Throw("TypeError", "This TransformStream is being used as a byte stream, but received a value that is not a BufferSource.")
				}
				give(chunk, more, to)
			},
			end: func(to func(goja.Value)) { give(goja.Undefined(), last, to) },
		})
		m.decoder = decoder
		return m
	}, of("encoding"), of("fatal"), of("ignoreBOM"))
}
