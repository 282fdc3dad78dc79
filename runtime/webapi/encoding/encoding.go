// Package encoding is TextEncoder and TextDecoder with the encodings of the
// Encoding standard, and atob and btoa (HTML, section 8.3).
package encoding

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Classes are the classes of one isolate. Loop-confined.
type Classes struct {
	*webidl.Realm

	encoder *engine.Class[textEncoder]
	decoder *engine.Class[*TextDecoder]
}

// New makes the part; Install defines its globals.
func New(r *webidl.Realm) *Classes { return &Classes{Realm: r} }

// Texts of workerd's src/workerd/api/global-scope.c++.
const (
	textNotBase64 = "atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are allowed.)"
	textNotLatin1 = "btoa() can only operate on characters in the Latin1 (ISO/IEC 8859-1) range."
)

// installEncoding defines TextEncoder, TextDecoder (Encoding standard), atob
// and btoa (HTML, section 8.3).
func (p *Classes) Install() {
	p.LazyClass("TextEncoder", func() *goja.Object { return p.textEncoders().Ctor })
	p.LazyClass("TextDecoder", func() *goja.Object { return p.textDecoders().Ctor })
	p.Engine.Interface("atob", p.GlobalFunc("atob", p.atob))
	p.Engine.Interface("btoa", p.GlobalFunc("btoa", p.btoa))
}

// atob is the forgiving base64 decode of the Infra standard, section 7.
func (p *Classes) atob(call goja.FunctionCall) goja.Value {
	p.Need(call, 1, "", "atob", "string")
	text := p.ToString(call.Arguments[0]).String()
	if strings.ContainsAny(text, "\t\n\f\r ") {
		text = strings.NewReplacer("\t", "", "\n", "", "\f", "", "\r", "", " ", "").Replace(text)
	}
	if len(text)%4 == 0 {
		for i := 0; i < 2; i++ {
			text = strings.TrimSuffix(text, "=")
		}
	}
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		p.ThrowDOM("InvalidCharacterError", "%s", textNotBase64)
	}
	return p.Latin1(data)
}

func (p *Classes) btoa(call goja.FunctionCall) goja.Value {
	p.Need(call, 1, "", "btoa", "String")
	s := p.ToString(call.Arguments[0])
	data := make([]byte, s.Length())
	for i := range data {
		c := s.CharAt(i)
		if c > 0xFF {
			p.ThrowDOM("InvalidCharacterError", "%s", textNotLatin1)
		}
		data[i] = byte(c)
	}
	return p.VM.ToValue(base64.StdEncoding.EncodeToString(data))
}

// textEncoder has no state: it always writes UTF-8.
type textEncoder struct{}

func (p *Classes) textEncoders() *engine.Class[textEncoder] {
	s := p
	if s.encoder == nil {
		s.encoder = engine.DefineClass(p.Engine, engine.ClassDef[textEncoder]{
			Name: "TextEncoder",
			New:  func(goja.ConstructorCall) textEncoder { return textEncoder{} },
			Accessors: []engine.Accessor[textEncoder]{
				webidl.Reader("encoding", func(textEncoder) goja.Value { return p.VM.ToValue("utf-8") }),
			},
			Methods: []engine.Method[textEncoder]{
				{Name: "encode", Fn: func(_ textEncoder, call goja.FunctionCall) goja.Value {
					v := call.Argument(0)
					if goja.IsUndefined(v) {
						return p.NewUint8Array(nil)
					}
					return p.NewUint8Array([]byte(webidl.UTF8Of(p.ToString(v))))
				}},
				{Name: "encodeInto", Fn: p.encodeInto},
			},
		})
	}
	return s.encoder
}

// encodeInto writes the characters that fit as a whole, and tells how many code
// units it read and how many bytes it wrote.
func (p *Classes) encodeInto(_ textEncoder, call goja.FunctionCall) goja.Value {
	p.Need(call, 1, "TextEncoder", "encodeInto", "string")
	text := webidl.UTF8Of(p.ToString(call.Arguments[0]))
	v := call.Argument(1)
	tag := p.Engine.Call(p.Engine.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), v)
	if tag.String() != "Uint8Array" {
		p.BadArgument("TextEncoder", "encodeInto", 2, "Uint8Array")
	}
	target, _ := p.BytesOf(v)
	read, end := 0, 0
	for i, r := range text {
		n := utf8.RuneLen(r)
		if i+n > len(target) {
			break
		}
		end = i + n
		if read++; n == 4 {
			read++ // a surrogate pair
		}
	}
	return p.Record("read", read, "written", copy(target, text[:end]))
}

// TextDecoder is a TextDecoder. Loop-confined.
type TextDecoder struct {
	Name             string
	fatal, ignoreBOM bool
	mark             bool // the encoding is one of Unicode: a byte order mark may lead
	began            bool // the place of the mark is past
	machine          decodeMachine
}

// decodeMachine decodes a sequence of chunks; flush ends it, and leaves the
// machine at the start of another.
type decodeMachine interface {
	decode(chunk []byte, flush bool) (text Text, ok bool)
	reset()
}

// Text is text in the form its machine makes: units if that is not nil.
// Malformed input is U+FFFD in it.
type Text struct {
	text  string
	ascii bool // text is known to be of ASCII
	units []uint16
}

var errNoEncoding = errors.New("not a valid encoding")

// NewDecoder finds an encoding by one of its labels (Encoding, section 4.2).
func NewDecoder(label string) (*TextDecoder, error) {
	label = strings.Trim(label, "\t\n\f\r ")
	for i := 0; i < len(label); i++ {
		if label[i] <= ' ' || label[i] >= utf8.RuneSelf {
			return nil, errNoEncoding
		}
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil, errNoEncoding
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return nil, errNoEncoding
	}
	d := &TextDecoder{Name: name}
	switch name {
	case "replacement":
		return nil, errNoEncoding
	case "x-user-defined":
		d.machine = userMachine{}
	case "utf-8":
		d.machine, d.mark = &utf8Machine{}, true
	case "utf-16le", "utf-16be":
		d.machine, d.mark = &utf16Machine{big: name == "utf-16be"}, true
	case "iso-8859-8-i":
		d.machine = byteMachine{charmap.ISO8859_8}
	default:
		if table, ok := enc.(*charmap.Charmap); ok {
			d.machine = byteMachine{table}
		} else if m := newMultibyteMachine(name); m != nil {
			d.machine = m
		} else {
			return nil, errNoEncoding
		}
	}
	return d, nil
}

func (p *Classes) textDecoders() *engine.Class[*TextDecoder] {
	s := p
	if s.decoder == nil {
		s.decoder = engine.DefineClass(p.Engine, engine.ClassDef[*TextDecoder]{
			Name: "TextDecoder", New: p.newTextDecoder,
			Accessors: []engine.Accessor[*TextDecoder]{
				webidl.Reader("encoding", func(d *TextDecoder) goja.Value { return p.VM.ToValue(d.Name) }),
				webidl.Reader("fatal", func(d *TextDecoder) goja.Value { return p.VM.ToValue(d.fatal) }),
				webidl.Reader("ignoreBOM", func(d *TextDecoder) goja.Value { return p.VM.ToValue(d.ignoreBOM) }),
			},
			Methods: []engine.Method[*TextDecoder]{{Name: "decode", Fn: p.textDecode}},
		})
	}
	return s.decoder
}

func (p *Classes) newTextDecoder(call goja.ConstructorCall) *TextDecoder {
	label := "utf-8"
	if v := call.Argument(0); !goja.IsUndefined(v) {
		label = p.ToString(v).String()
	}
	options := call.Argument(1)
	if goja.IsNull(options) { // the reference's text
		p.Engine.Throw("TypeError", "Cannot initialize N7workerd3api11TextDecoder18ConstructorOptionsE with required members from an undefined or null value.")
	}
	if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
		p.BadConstruct("TextDecoder", 2, "ConstructorOptions")
	}
	d, err := NewDecoder(label)
	if err != nil {
		p.Engine.Throw("RangeError", "\"%s\" is %s.", label, err)
	}
	switch m := d.machine.(type) {
	case *utf16Machine:
		m.lone = !m.big && !p.Enabled(compat.TextDecoderReplaceSurrogates)
	case *multibyteMachine:
		if !p.Enabled(compat.TextDecoderCjkDecoder) {
			m.icu = icu[d.Name]
		}
	}
	d.fatal, d.ignoreBOM = webidl.Get(options, "fatal").ToBoolean(), webidl.Get(options, "ignoreBOM").ToBoolean()
	return d
}

func (p *Classes) textDecode(d *TextDecoder, call goja.FunctionCall) goja.Value {
	var data []byte
	if v := call.Argument(0); !goja.IsUndefined(v) {
		var ok bool
		if data, ok = p.MemoryOf(v); !ok {
			p.BadArgument("TextDecoder", "decode", 1, "Array") // reference's text
		}
	}
	options := call.Argument(1)
	if goja.IsNull(options) { // the reference's text
		p.Engine.Throw("TypeError", "Cannot initialize N7workerd3api11TextDecoder18ConstructorOptionsE with required members from an undefined or null value.")
	}
	if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
		p.BadArgument("TextDecoder", "decode", 2, "DecodeOptions")
	}
	flush := !webidl.Get(options, "stream").ToBoolean()
	text, ok := d.Decode(data, flush)
	if !ok {
		p.Engine.Throw("TypeError", "Failed to decode input.")
	}
	return p.Value(text)
}

// Value is decoded text as a JavaScript string.
func (p *Classes) Value(text Text) goja.Value {
	if text.units != nil {
		return goja.StringFromUTF16(text.units)
	}
	if text.ascii {
		return p.Engine.Maker().AsciiString(text.text)
	}
	return p.Engine.String(text.text)
}

// Decode decodes one chunk of a stream; ok is false if the decoder is fatal and
// the input malformed, which ends the stream too.
func (d *TextDecoder) Decode(chunk []byte, flush bool) (text Text, ok bool) {
	text, ok = d.machine.decode(chunk, flush)
	if !ok && d.fatal {
		d.machine.reset()
		d.began = false
		return Text{}, false
	}
	if d.mark && !d.began && (text.text != "" || len(text.units) > 0) {
		d.began = true
		if !d.ignoreBOM {
			text.text = strings.TrimPrefix(text.text, "\ufeff")
			if len(text.units) > 0 && text.units[0] == 0xFEFF {
				text.units = text.units[1:]
			}
		}
	}
	if flush {
		d.began = false
	}
	return text, true
}

// utf8Machine decodes UTF-8. Loop-confined.
type utf8Machine struct{ pending []byte }

func (m *utf8Machine) reset() { m.pending = nil }

func (m *utf8Machine) decode(chunk []byte, flush bool) (Text, bool) {
	if len(m.pending) > 0 {
		chunk = append(m.pending, chunk...)
		m.pending = nil
	}
	if !flush {
		whole := len(chunk) - Unfinished(chunk)
		m.pending = append(m.pending, chunk[whole:]...)
		chunk = chunk[:whole]
	}
	ascii := texts.ASCIIPrefix(chunk)
	if ascii == len(chunk) || utf8.Valid(chunk[ascii:]) {
		return Text{text: string(chunk), ascii: ascii == len(chunk)}, true
	}
	return Text{text: webidl.ValidUTF8(chunk)}, false
}

// Unfinished is the length of the character at the end of data of which more
// bytes may follow, 0 if there is none.
func Unfinished(data []byte) int {
	for n := 1; n <= 3 && n <= len(data); n++ {
		tail := data[len(data)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// utf16Machine decodes UTF-16. Loop-confined.
type utf16Machine struct {
	big     bool
	lone    bool   // lone surrogates stay
	pending []byte // an odd byte, or a leading surrogate and perhaps an odd byte
}

func (m *utf16Machine) reset() { m.pending = nil }

func (m *utf16Machine) decode(chunk []byte, flush bool) (Text, bool) {
	if len(m.pending) > 0 {
		chunk = append(m.pending, chunk...)
		m.pending = nil
	}
	whole := len(chunk) &^ 1
	units := make([]uint16, whole/2, whole/2+1)
	for i := range units {
		a, b := chunk[2*i], chunk[2*i+1]
		if m.big {
			a, b = b, a
		}
		units[i] = uint16(a) | uint16(b)<<8
	}
	ok := true
	if n := len(units); !flush {
		if n > 0 && units[n-1]&0xFC00 == 0xD800 {
			units, whole = units[:n-1], whole-2
		}
		m.pending = append(m.pending, chunk[whole:]...)
	} else if whole < len(chunk) {
		// An odd byte is an error, together with the surrogate that it follows.
		if n == 0 || units[n-1]&0xFC00 != 0xD800 {
			units = append(units, utf8.RuneError)
		} else {
			units[n-1] = utf8.RuneError
		}
		ok = false
	}
	for i := range builtin.LoneSurrogates(units) {
		if m.lone {
			break
		}
		units[i], ok = utf8.RuneError, false
	}
	return Text{units: units}, ok
}

// byteMachine decodes the encodings of one byte per character. Immutable.
type byteMachine struct{ table *charmap.Charmap }

func (m byteMachine) reset() {}

func (m byteMachine) decode(chunk []byte, _ bool) (Text, bool) {
	units, ok := make([]uint16, len(chunk)), true
	for i, c := range chunk {
		r := m.table.DecodeByte(c)
		if r == utf8.RuneError {
			// The standard's tables have control characters where Unicode's
			// have holes.
			if c < 0xA0 {
				r = rune(c)
			} else {
				ok = false
			}
		}
		units[i] = uint16(r)
	}
	return Text{units: units}, ok
}

// userMachine decodes x-user-defined (Encoding, section 14.5.1). Immutable.
type userMachine struct{}

func (userMachine) reset() {}

func (userMachine) decode(chunk []byte, _ bool) (Text, bool) {
	units := make([]uint16, len(chunk))
	for i, c := range chunk {
		if units[i] = uint16(c); c >= 0x80 {
			units[i] += 0xF780 - 0x80
		}
	}
	return Text{units: units}, true
}
