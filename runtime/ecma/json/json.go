// Package json is JSON.parse and JSON.stringify (ECMA-262, section 25.5). Everything is
// loop-confined.
package json

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unsafe"
	"weak"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// JSON.parse (ECMA-262, section 25.5.1): several times faster than goja's,
// with V8's error texts, with lone surrogates kept, and with the source text
// for revivers.

// Install replaces JSON.parse and JSON.stringify.
func Install(e *engine.Engine) {
	json := e.VM().Get("JSON").(*goja.Object)
	json.DefineDataProperty("parse", e.Func("parse", 2, func(call goja.FunctionCall) goja.Value {
		text := builtin.ToString(e, call.Argument(0))
		reviver, revives := goja.AssertFunction(call.Argument(1))
		v, records := parseText(e, text, revives)
		if !revives {
			return v
		}
		root := e.VM().NewObject()
		root.DefineDataProperty("", v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return revive(e, root, e.VM().ToValue(""), reviver, &record{value: v, source: records.source, items: records.items, members: records.members})
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	json.DefineDataProperty("stringify", e.Func("stringify", 3, func(c goja.FunctionCall) goja.Value { return stringify(e, c) }), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func parseText(e *engine.Engine, text goja.String, records bool) (goja.Value, *record) {
	if s, ok := texts.AsciiOf(text); ok && s != "" {
		p := parser[byte]{e: e, boxes: e.Maker().Boxes(), known: states.Of(e), text: unsafe.Slice(unsafe.StringData(s), len(s)), whole: s, records: records}
		return p.parse()
	}
	units := texts.UnitsOf(text)
	p := parser[uint16]{e: e, boxes: e.Maker().Boxes(), known: states.Of(e), text: units, wide: units, records: records}
	return p.parse()
}

// state is what JSON keeps of an isolate.
type state struct {
	names map[string]*insides.Name  // of properties that texts had
	spare weak.Pointer[stringifier] // the last one

	yes, no goja.Value
}

var states = engine.NewLocal(func(e *engine.Engine) *state {
	return &state{names: map[string]*insides.Name{}, yes: e.VM().ToValue(true), no: e.VM().ToValue(false)}
})

// record is what a reviver may ask about a value: the source of a primitive.
type record struct {
	value   goja.Value
	source  string
	items   []*record
	members map[string]*record
}

// pauseValues is after how many values an interrupt is looked for.
const pauseValues = 1 << 10

// parser is one parse of ASCII bytes or of UTF-16 code units.
type parser[U byte | uint16] struct {
	e       *engine.Engine
	text    []U
	whole   string           // the text, if it is ASCII
	wide    []uint16         // the text, if it is not
	block   []byte           // with room for strings, see own
	items   []goja.Value     // of the arrays that are being read
	members []insides.Member // of the objects that are being read
	boxes   insides.Boxes    // of its strings and numbers
	known   *state           // of the isolate
	last    *insides.Name    // that was read
	values  uint             // so far
	at      int
	depth   int
	records bool
}

// maxJSONDepth bounds the recursion; V8's parser has no bound but memory.
const maxJSONDepth = 500_000

func (p *parser[U]) parse() (goja.Value, *record) {
	v, r := p.value()
	p.space()
	if p.at < len(p.text) {
		p.failAt("Unexpected non-whitespace character after JSON", p.at)
	}
	return v, r
}

func (p *parser[U]) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\n', '\r', '\t':
			p.at++
		default:
			return
		}
	}
}

// value parses any value; r is nil unless records are asked for.
func (p *parser[U]) value() (v goja.Value, r *record) {
	if p.values++; p.values%pauseValues == 0 {
		p.e.Natives.Pause()
	}
	p.space()
	if p.at >= len(p.text) {
		p.unexpected(p.at)
	}
	start := p.at
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		v = p.string()
	case c == '-' || c >= '0' && c <= '9':
		v = p.number()
	case c == 't':
		p.literal("true")
		v = p.known.yes
	case c == 'f':
		p.literal("false")
		v = p.known.no
	case c == 'n':
		p.literal("null")
		v = goja.Null()
	default:
		p.unexpected(p.at)
	}
	if p.records {
		r = &record{value: v, source: p.slice(start, p.at)}
	}
	return v, r
}

func (p *parser[U]) literal(word string) {
	for i := 0; i < len(word); i++ {
		if p.at+i >= len(p.text) || p.text[p.at+i] != U(word[i]) {
			p.unexpected(min(p.at+i, len(p.text)))
		}
	}
	p.at += len(word)
}

func (p *parser[U]) enter() {
	if p.depth++; p.depth > maxJSONDepth {
		p.e.Throw("RangeError", "Maximum call stack size exceeded")
	}
	p.at++
	p.space()
}

func (p *parser[U]) peek() U {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser[U]) object() (goja.Value, *record) {
	p.enter()
	from := len(p.members)
	var r *record
	if p.records {
		r = &record{members: map[string]*record{}}
	}
	missing := "Expected property name or '}'"
	if p.peek() == '}' {
		p.at++
	} else {
		for done := false; !done; {
			if p.peek() != '"' {
				p.fail(missing, p.at)
			}
			missing = "Expected double-quoted property name"
			key := p.name()
			p.space()
			if p.peek() != ':' {
				p.fail("Expected ':' after property name", p.at)
			}
			p.at++
			v, m := p.value()
			p.members = append(p.members, insides.Member{Name: key, Value: v})
			if r != nil {
				r.members[key.Text.String()] = m
			}
			p.space()
			switch p.peek() {
			case ',':
				p.at++
				p.space()
			case '}':
				p.at++
				done = true
			default:
				p.fail("Expected ',' or '}' after property value", p.at)
			}
		}
	}
	p.depth--
	object := objectOf(p.e, p.members[from:])
	p.members = p.members[:from]
	if r != nil {
		r.value = object
	}
	return object, r
}

// maxKnownName and maxKnownNames bound what an isolate knows of its names.
const maxKnownName, maxKnownNames = 64, 4096

// name reads a property's name. Those of one text repeat, mostly in one order, and
// so do those of one isolate's texts: each is made once, and keeps no text alive.
func (p *parser[U]) name() *insides.Name {
	if p.last != nil && p.last.Next != nil && p.skip(p.last.Next.Text) {
		p.last = p.last.Next
		return p.last
	}
	name, kept := p.anyName()
	if kept && p.last != nil {
		p.last.Next = name
	}
	p.last = name
	return name
}

// skip reads a name if it is this one, which is kept: in ASCII, without escapes.
func (p *parser[U]) skip(name unistring.String) bool {
	end := p.at + 1 + len(name)
	if end >= len(p.text) || p.text[end] != '"' {
		return false
	}
	if p.whole != "" {
		if p.whole[p.at+1:end] != string(name) {
			return false
		}
	} else {
		for i, c := range p.wide[p.at+1 : end] {
			if c != uint16(name[i]) {
				return false
			}
		}
	}
	p.at = end + 1
	return true
}

// anyName reads a name, and says whether the isolate keeps it.
func (p *parser[U]) anyName() (name *insides.Name, kept bool) {
	var buffer [maxKnownName]byte
	text, start := buffer[:0], p.at+1
	if p.whole != "" {
		n := plainRun(p.whole[start:])
		if start+n == len(p.whole) || p.whole[start+n] != '"' || n > maxKnownName {
			return p.strangeName(), false
		}
		text = unsafe.Slice(unsafe.StringData(p.whole), len(p.whole))[start : start+n]
	} else {
		for _, c := range p.wide[start:] {
			if c == '"' {
				break
			}
			if c < ' ' || c >= 0x80 || c == '\\' || len(text) == maxKnownName {
				return p.strangeName(), false
			}
			text = append(text, byte(c))
		}
		if start+len(text) == len(p.wide) {
			return p.strangeName(), false
		}
	}
	p.at = start + len(text) + 1
	if name, kept = p.known.names[string(text)]; !kept {
		made := p.e.Maker().Know(unistring.String(text))
		name = &made
		if kept = len(p.known.names) < maxKnownNames; kept {
			p.known.names[string(name.Text)] = name
		}
	}
	return name, kept
}

// strangeName reads a name that is not kept: long, escaped or not in ASCII.
func (p *parser[U]) strangeName() *insides.Name {
	name := p.e.Maker().Know(insides.NameOf(p.string()))
	return &name
}

func (p *parser[U]) array() (goja.Value, *record) {
	p.enter()
	from := len(p.items)
	var r *record
	if p.records {
		r = &record{}
	}
	if p.peek() == ']' {
		p.at++
	} else {
		for done := false; !done; {
			v, item := p.value()
			p.items = append(p.items, v)
			if r != nil {
				r.items = append(r.items, item)
			}
			p.space()
			switch p.peek() {
			case ',':
			case ']':
				done = true
			default:
				p.fail("Expected ',' or ']' after array element", p.at)
			}
			p.at++
		}
	}
	p.depth--
	array := p.e.Maker().ArrayOf(p.items[from:])
	p.items = p.items[:from]
	if r != nil {
		r.value = array
	}
	return array, r
}

func (p *parser[U]) number() goja.Value {
	start := p.at
	digits := func() int {
		from := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		return p.at - from
	}
	if p.peek() == '-' {
		p.at++
		if c := p.peek(); c < '0' || c > '9' {
			p.fail("No number after minus sign", p.at)
		}
	}
	if p.peek() == '0' {
		p.at++
		if c := p.peek(); c >= '0' && c <= '9' {
			p.unexpected(p.at)
		}
	} else {
		digits()
	}
	integer := true
	if p.peek() == '.' {
		integer = false
		p.at++
		if digits() == 0 {
			p.fail("Unterminated fractional number", p.at)
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		integer = false
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		if digits() == 0 {
			p.fail("Exponent part is missing a number", p.at)
		}
	}
	if text := p.text[start:p.at]; integer && len(text) < 16 && !(len(text) == 2 && text[0] == '-' && text[1] == '0') {
		return p.boxes.Integer(integerIn(text))
	}
	var buffer [32]byte
	text := buffer[:0]
	for _, c := range p.text[start:p.at] {
		text = append(text, byte(c))
	}
	// The grammar has been checked; out of range is an infinity.
	f, _ := strconv.ParseFloat(string(text), 64)
	return p.boxes.Number(f)
}

// integerIn is the integer that at most 15 digits write, after a minus or not:
// exact.
func integerIn[U byte | uint16](text []U) (n int64) {
	negative := text[0] == '-'
	if negative {
		text = text[1:]
	}
	for _, c := range text {
		n = 10*n + int64(c-'0')
	}
	if negative {
		return -n
	}
	return n
}

func (p *parser[U]) string() goja.String {
	p.at++
	start, all := p.at, U(0)
	if p.whole != "" {
		p.at += plainRun(p.whole[start:])
	}
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			s := p.text[start:p.at]
			p.at++
			return p.stringOf(s, start, all < 0x80)
		case c == '\\':
			return p.escapedString(start)
		case c < ' ':
			p.fail("Bad control character in string literal", p.at)
		default:
			all |= c
		}
	}
	p.fail("Unterminated string", p.at)
	return nil
}

// stringOf is the string of units that begin at start in the text.
func (p *parser[U]) stringOf(s []U, start int, ascii bool) goja.String {
	switch {
	case len(s) == 1 && int(s[0]) < insides.Latin1 && p.e.Maker().Plain.Known:
		return p.e.Maker().Plain.Letter(uint16(s[0]))
	case p.whole != "":
		return p.boxes.ASCII(p.own(p.whole[start : start+len(s)]))
	case ascii && len(s) <= insides.ShortText:
		return p.boxes.Short(p.wide[start : start+len(s)])
	case ascii:
		bytes := make([]byte, len(s))
		for i, c := range s {
			bytes[i] = byte(c)
		}
		return p.boxes.ASCII(unsafe.String(unsafe.SliceData(bytes), len(bytes)))
	}
	return goja.StringFromUTF16(p.wide[start : start+len(s)])
}

// A string of a text of at most smallText bytes is a part of it. One of a longer
// text would keep all of it in memory, for as long as a program keeps the string: it
// is copied, with its neighbours to blocks of blockSize bytes unless it is long.
const (
	smallText = 4 << 10
	blockSize = 2 << 10
)

// own is a part of the text that does not keep a long text in memory.
func (p *parser[U]) own(s string) string {
	switch {
	case len(p.whole) <= smallText:
		return s
	case len(s) > blockSize/4:
		return strings.Clone(s)
	case len(s) > cap(p.block)-len(p.block):
		p.block = make([]byte, 0, blockSize)
	}
	start := len(p.block)
	p.block = append(p.block, s...)
	return unsafe.String(unsafe.SliceData(p.block[start:]), len(s))
}

func (p *parser[U]) escapedString(start int) goja.String {
	units := make([]uint16, 0, p.at-start+16)
	for _, c := range p.text[start:p.at] {
		units = append(units, uint16(c))
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return goja.StringFromUTF16(units)
		case c < ' ':
			p.fail("Bad control character in string literal", p.at)
		case c != '\\':
			units = append(units, uint16(c))
			p.at++
			continue
		}
		p.at++
		if p.at >= len(p.text) {
			break
		}
		if p.text[p.at] == 'u' {
			p.at++
			units = append(units, p.hex4())
			continue
		}
		i := -1
		if c := p.text[p.at]; c < 0x80 {
			i = strings.IndexByte(`"\/bfnrt`, byte(c))
		}
		if i < 0 {
			p.fail("Bad escaped character", p.at)
		}
		units = append(units, uint16("\"\\/\b\f\n\r\t"[i]))
		p.at++
	}
	p.fail("Unterminated string", p.at)
	return nil
}

func (p *parser[U]) hex4() uint16 {
	n := uint16(0)
	for range 4 {
		c := p.peek()
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint16(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | uint16(c|0x20-'a'+10)
		default:
			p.fail("Bad Unicode escape", p.at)
		}
		p.at++
	}
	return n
}

// slice is a part of the text as a Go string; it is ASCII but in messages.
func (p *parser[U]) slice(from, to int) string {
	if p.whole != "" {
		return p.whole[from:to]
	}
	return string(utf16.Decode(p.units(from, to)))
}

func (p *parser[U]) units(from, to int) []uint16 {
	out := make([]uint16, 0, to-from)
	for _, c := range p.text[from:to] {
		out = append(out, uint16(c))
	}
	return out
}

// fail throws the SyntaxError that something is so at a position.
func (p *parser[U]) fail(what string, at int) { p.failAt(what+" in JSON", at) }

func (p *parser[U]) failAt(what string, at int) {
	line, column := 1, 1
	for i := 0; i < at && i < len(p.text); i++ {
		column++
		if c := p.text[i]; c == '\n' || c == '\r' && (i+1 >= len(p.text) || p.text[i+1] != '\n') {
			line, column = line+1, 1
		}
	}
	p.e.Throw("SyntaxError", "%s at position %d (line %d column %d)", what, at, line, column)
}

// contextUnits is how much of the text V8 shows on each side of an error.
const contextUnits = 10

// unexpected throws the SyntaxError of a token that cannot be there.
func (p *parser[U]) unexpected(at int) {
	n := len(p.text)
	if at >= n {
		p.e.Throw("SyntaxError", "Unexpected end of JSON input")
	}
	switch c := p.text[at]; {
	case c == '-' || c >= '0' && c <= '9':
		p.fail("Unexpected number", at)
	case c == '"':
		p.fail("Unexpected string", at)
	}
	if whole := p.slice(0, min(n, 20)); n < 20 {
		switch whole {
		case "NaN", "Infinity", "undefined", "[object Object]":
			p.e.Throw("SyntaxError", "%s", strconv.Quote(whole)+" is not valid JSON")
		}
	}
	from, to, before, after := 0, n, "", ""
	if n > 2*contextUnits {
		if at >= contextUnits {
			from, before = at-contextUnits, "..."
		}
		if at < contextUnits || at < n-contextUnits {
			to, after = at+contextUnits, "..."
		}
	}
	units := append(utf16.Encode([]rune("Unexpected token '")), uint16(p.text[at]))
	units = append(units, utf16.Encode([]rune("', "+before+`"`))...)
	units = append(units, p.units(from, to)...)
	units = append(units, utf16.Encode([]rune(`"`+after+" is not valid JSON"))...)
	err, failure := p.e.VM().New(p.e.Primordial("SyntaxError"), goja.StringFromUTF16(units))
	if failure != nil {
		panic(failure)
	}
	panic(err)
}

// revive is InternalizeJSONProperty: r is what was parsed at holder[key].
func revive(e *engine.Engine, holder *goja.Object, key goja.Value, reviver goja.Callable, r *record) goja.Value {
	name := key.String()
	v := holder.Get(name)
	if v == nil {
		v = goja.Undefined()
	}
	context := e.VM().NewObject()
	same := r != nil && v.SameAs(r.value)
	object, isObject := v.(*goja.Object)
	switch {
	case !isObject && same:
		context.Set("source", r.source)
	case isObject && builtin.IsArray(e, object):
		length := int(object.Get("length").ToInteger())
		for i := range length {
			var item *record
			if same && i < len(r.items) {
				item = r.items[i]
			}
			reviveMember(e, object, strconv.Itoa(i), reviver, item)
		}
	case isObject:
		for _, k := range object.Keys() {
			var member *record
			if same {
				member = r.members[k]
			}
			reviveMember(e, object, k, reviver, member)
		}
	}
	v2, err := reviver(holder, key, v, context)
	if err != nil {
		e.Rethrow(err)
	}
	return v2
}

func reviveMember(e *engine.Engine, object *goja.Object, key string, reviver goja.Callable, r *record) {
	v := revive(e, object, e.VM().ToValue(key), reviver, r)
	// Failures of both are ignored (25.5.1.1, step 2.b.iii).
	if goja.IsUndefined(v) {
		_ = object.Delete(key)
		return
	}
	_ = object.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}
