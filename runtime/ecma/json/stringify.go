package json

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"weak"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/insides/scalars"
	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// JSON.stringify (ECMA-262, section 25.5.2): several times faster than goja's,
// bounded in depth and size, interruptible, and with V8's text for a circle.

// stringifier is one call of JSON.stringify, and afterwards room for the next one.
type stringifier struct {
	e        *engine.Engine
	busy     bool
	out      writer
	gap      writer
	replacer goja.Callable
	allowed  []unistring.String // a list of properties; nil if there is none
	members  []insides.Property // of the objects that are being written
	path     []step             // these objects, outermost first
	values   int
	ran      int     // how often code of the user's may have run
	bare     [2]bare // of arrays and of objects, the last one
}

// bare is a prototype that was found to have no toJSON: that stands until code of
// the user's runs.
type bare struct {
	proto *goja.Object
	ran   int // how often it had run, and 1 more: 0 is for none
}

// step is an object on the way to a value, and how it is reached.
type step struct {
	object *goja.Object
	name   unistring.String
	index  int // in an array; -1 for a property
}

var (
	bigIntType = reflect.TypeFor[*big.Int]()
	floatType  = reflect.TypeFor[float64]()
)

func stringify(e *engine.Engine, call goja.FunctionCall) goja.Value {
	s := states.Of(e).spare.Value()
	if s == nil || s.busy {
		s = &stringifier{e: e}
		states.Of(e).spare = weak.Make(s)
	}
	s.busy = true
	if replacer, ok := call.Argument(1).(*goja.Object); ok {
		if s.replacer, ok = goja.AssertFunction(replacer); !ok && builtin.IsArray(e, replacer) {
			s.list(replacer)
		}
	}
	s.gap = gap(e, call.Argument(2))
	value := call.Argument(0)
	var holder *goja.Object
	if s.replacer != nil {
		holder = e.VM().NewObject()
		holder.DefineDataProperty("", value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	at := step{index: -1}
	if value = s.prepare(holder, at, value); value == nil {
		value = goja.Undefined()
	} else {
		s.write(value, at)
		value = s.out.value(e)
	}
	*s = stringifier{e: e, out: writer{bytes: s.out.bytes[:0]}, members: s.members[:0], path: s.path[:0]}
	return value
}

// list takes the names out of a list of properties (step 5.b).
func (s *stringifier) list(list *goja.Object) {
	n := builtin.LengthOf(s.e, list)
	if n > builtin.MaxElements {
		s.e.Throw("RangeError", builtin.BadArrayLength)
	}
	seen := map[unistring.String]bool{}
	s.allowed = []unistring.String{}
	for i := range int(n) {
		item := builtin.Element(s.e, list, i)
		if item == nil || !isName(item) {
			continue
		}
		if name := insides.NameOf(builtin.ToString(s.e, item)); !seen[name] {
			seen[name] = true
			s.allowed = append(s.allowed, name)
		}
	}
}

// isName reports whether an item of a list of properties counts.
func isName(item goja.Value) bool {
	switch item := item.(type) {
	case goja.String:
		return true
	case *goja.Symbol:
		return false
	case *goja.Object:
		return item.ClassName() == "Number" || item.ClassName() == "String"
	}
	return builtin.IsNumber(item)
}

// gap is what a level is indented by (steps 6 to 8).
func gap(e *engine.Engine, space goja.Value) (gap writer) {
	if o, ok := space.(*goja.Object); ok {
		switch o.ClassName() {
		case "Number":
			space = o.ToNumber()
		case "String":
			space = builtin.ToString(e, o)
		}
	}
	switch s := space.(type) {
	case goja.String:
		for i := range min(s.Length(), 10) {
			gap.unit(s.CharAt(i))
		}
	case *goja.Object, *goja.Symbol:
	default:
		if builtin.IsNumber(space) {
			gap.ascii(strings.Repeat(" ", int(max(0, min(space.ToInteger(), 10)))))
		}
	}
	return gap
}

// count is called before each item and each property: it bounds the text, and looks
// from time to time whether the turn may go on.
func (s *stringifier) count() {
	if s.out.length() > engine.MaxValueBytes {
		s.e.Throw("RangeError", builtin.BadStringLength)
	}
	if s.values++; s.values%1024 == 0 {
		s.e.Natives.Pause()
	}
}

// lacksToJSON reports whether an object has no toJSON, as far as a look shows.
func (s *stringifier) lacksToJSON(o *goja.Object) bool {
	const name = "toJSON"
	l := s.e.Maker().Plain
	base, known := l.Object(o), &s.bare[1]
	if base == nil {
		list := l.Array(o)
		if list == nil {
			return false
		}
		base, known = list.Base(), &s.bare[0]
	}
	if base.Has(name) {
		return false
	}
	if now := (bare{base.Prototype(), s.ran + 1}); *known != now {
		if !s.e.Maker().Lacks(base.Prototype(), name) {
			return false
		}
		*known = now
	}
	return true
}

// prepare is what stands for a value (25.5.2.2, steps 1 to 4); nil if it is left
// out. The holder is needed for a replacer alone.
func (s *stringifier) prepare(holder *goja.Object, at step, v goja.Value) goja.Value {
	o, isObject := v.(*goja.Object)
	isBigInt := !isObject && v != nil && v.ExportType() == bigIntType
	if isObject && !s.lacksToJSON(o) || isBigInt {
		s.ran++
		receiver := o
		if isBigInt {
			receiver = v.ToObject(s.e.VM())
		}
		if toJSON, ok := goja.AssertFunction(receiver.Get("toJSON")); ok {
			v = s.call(toJSON, v, at)
		}
	}
	if s.replacer != nil {
		if v == nil {
			v = goja.Undefined()
		}
		v = s.call(s.replacer, holder, at, v)
	}
	switch v := v.(type) {
	case nil, *goja.Symbol:
		return nil
	case *goja.Object:
		return s.unwrap(v)
	}
	if goja.IsUndefined(v) {
		return nil
	}
	return v
}

// unwrap is the primitive of a wrapper object (step 4); nil stands for a function.
func (s *stringifier) unwrap(o *goja.Object) goja.Value {
	if s.e.Maker().Plain.Object(o) != nil || s.e.Maker().Plain.Array(o) != nil {
		return o
	}
	s.ran++
	switch o.ClassName() {
	case "Number":
		return o.ToNumber()
	case "String":
		return builtin.ToString(s.e, o)
	case "Boolean":
		return s.e.VM().ToValue(o.Export())
	case "Function", "AsyncFunction", "GeneratorFunction":
		return nil
	}
	switch {
	case o.ExportType() == bigIntType:
		return s.e.VM().ToValue(o.Export())
	case engine.IsCallable(o):
		return nil
	}
	return o
}

func (s *stringifier) call(fn goja.Callable, this goja.Value, at step, args ...goja.Value) goja.Value {
	s.ran++
	v, err := fn(this, append([]goja.Value{s.key(at)}, args...)...)
	if err != nil {
		s.e.Rethrow(err)
	}
	return v
}

func (s *stringifier) key(at step) goja.Value {
	if at.index >= 0 {
		return s.e.VM().ToValue(strconv.Itoa(at.index))
	}
	return s.e.Maker().TextOf(at.name)
}

// write writes a prepared value.
func (s *stringifier) write(v goja.Value, at step) {
	if o, ok := v.(*goja.Object); ok {
		s.nested(o, at)
		return
	}
	if s.scalar(s.e.Maker().Plain.Scalar(v)) {
		return
	}
	if text, ok := v.(goja.String); ok {
		s.room(text)
		s.out.quote(text)
		return
	}
	switch v.ExportType() {
	case bigIntType:
		s.e.Throw("TypeError", "Do not know how to serialize a BigInt")
	case floatType:
		if f := v.ToFloat(); math.IsNaN(f) || math.IsInf(f, 0) {
			s.out.ascii("null")
			return
		}
	}
	s.out.ascii(v.String()) // a number, a boolean or null
}

// nested writes an object or an array, or a text that is JSON already.
func (s *stringifier) nested(o *goja.Object, at step) {
	base := s.e.Maker().Plain.Object(o)
	ordinary := base != nil && base.Class() == "Object"
	if !ordinary && o.ClassName() == "RawJSON" {
		s.out.text(builtin.ToString(s.e, o.Get("rawJSON")))
		return
	}
	s.enter(o, at)
	if !ordinary && builtin.IsArray(s.e, o) {
		s.array(o)
	} else {
		s.object(o)
	}
	s.path = s.path[:len(s.path)-1]
}

// longText is from how many code units on a text's room is looked at before it is
// written: shorter ones are bounded by count.
const longText = 1 << 16

// scalar writes a value for which a look is enough; false for any other.
func (s *stringifier) scalar(v scalars.Scalar) bool {
	switch v.Kind {
	case scalars.ASCII:
		if text := v.ASCII(); len(text) >= longText {
			s.fit(quotedASCII(text))
		}
	case scalars.Wide:
		if units := v.Units(); len(units) >= longText {
			s.fit(quotedUnits(units))
		}
	}
	return s.out.scalar(v)
}

// room looks whether a text may be written.
func (s *stringifier) room(text goja.String) {
	if text.Length() < longText {
		return
	}
	if a, ok := texts.AsciiOf(text); ok {
		s.fit(quotedASCII(a))
		return
	}
	s.fit(quotedUnits(texts.UnitsOf(text)))
}

// fit makes room for code units that are to be written, and their bytes.
func (s *stringifier) fit(units, bytes int) {
	s.e.Memory.Allocate(int64(s.out.length()+units), builtin.BadStringLength)
	s.out.bytes = slices.Grow(s.out.bytes, bytes)
}

// scalar writes a value for which a look is enough; false for any other.
func (t *writer) scalar(v scalars.Scalar) bool {
	switch v.Kind {
	case scalars.ASCII:
		t.quoteASCII(v.ASCII())
	case scalars.Wide:
		t.quoteUnits(v.Units())
	case scalars.Integer:
		t.bytes = strconv.AppendInt(t.bytes, v.Integer(), 10)
	case scalars.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.ascii("null")
		} else {
			t.number(f)
		}
	case scalars.Boolean:
		t.bytes = strconv.AppendBool(t.bytes, v.Boolean())
	case scalars.Null:
		t.ascii("null")
	default:
		return false
	}
	return true
}

func (s *stringifier) enter(o *goja.Object, at step) {
	for i, outer := range s.path {
		if outer.object == o {
			s.e.Throw("TypeError", "%s", s.circle(s.path[i:], at))
		}
	}
	if len(s.path) > builtin.MaxNesting {
		s.e.Throw("RangeError", engine.StackExceeded)
	}
	at.object = o
	s.path = append(s.path, at)
}

func (s *stringifier) array(array *goja.Object) {
	n := s.length(array)
	if n > builtin.MaxElements {
		s.e.Throw("RangeError", builtin.BadStringLength)
	}
	s.out.byte('[')
	for i := range int(n) {
		if i > 0 {
			s.out.byte(',')
		}
		s.line(0)
		s.count()
		at := step{index: i}
		item := s.e.Maker().Plain.Element(array, i)
		if item == nil {
			s.ran++
			item = builtin.Element(s.e, array, i)
		}
		if s.replacer == nil && item != nil && s.scalar(s.e.Maker().Plain.Scalar(item)) {
			continue
		}
		v := s.prepare(array, at, item)
		if v == nil {
			v = goja.Null()
		}
		s.write(v, at)
	}
	if n > 0 {
		s.line(-1)
	}
	s.out.byte(']')
}

func (s *stringifier) length(array *goja.Object) int64 {
	if list := s.e.Maker().Plain.Array(array); list != nil {
		return int64(list.Length())
	}
	s.ran++
	return builtin.LengthOf(s.e, array)
}

func (s *stringifier) object(object *goja.Object) {
	from := len(s.members)
	if s.allowed != nil {
		for _, name := range s.allowed {
			s.members = append(s.members, insides.Property{Name: name})
		}
	} else {
		var ran bool
		if s.members, ran = appendMembers(s.e, s.members, object); ran {
			s.ran++
		}
	}
	seen, to := s.ran, len(s.members)
	s.out.byte('{')
	empty := true
	for i := from; i < to; i++ {
		m := s.members[i]
		if m.Value == nil || s.ran != seen {
			if m.Value = s.e.Maker().Plain.Own(object, m.Name); m.Value == nil {
				s.ran++
				m.Value = get(s.e, object, m.Name)
			}
		}
		s.count()
		if scalar := s.e.Maker().Plain.Scalar(m.Value); s.replacer == nil && scalar.Kind != scalars.None {
			s.begin(m.Name, empty)
			s.scalar(scalar)
			empty = false
			continue
		}
		at := step{name: m.Name, index: -1}
		if v := s.prepare(object, at, m.Value); v != nil {
			s.begin(m.Name, empty)
			s.write(v, at)
			empty = false
		}
	}
	s.members = s.members[:from]
	if !empty {
		s.line(-1)
	}
	s.out.byte('}')
}

// begin writes what stands before a property's value.
func (s *stringifier) begin(name unistring.String, first bool) {
	if !first {
		s.out.byte(',')
	}
	s.line(0)
	if units := name.AsUtf16(); units != nil {
		s.out.quoteUnits(units[1:])
	} else {
		s.out.quoteASCII(string(name))
	}
	if s.out.byte(':'); s.gap.bytes != nil {
		s.out.byte(' ')
	}
}

// line begins a line, if there are any; less is -1 before a closing bracket.
func (s *stringifier) line(less int) {
	if s.gap.bytes == nil {
		return
	}
	s.out.byte('\n')
	for range len(s.path) + less {
		s.out.add(&s.gap)
	}
}

// circle is V8's message about a way that leads from the first of its steps back
// to it. V8 shows its first two steps and its last.
func (s *stringifier) circle(way []step, closing step) string {
	var b strings.Builder
	b.WriteString("Converting circular structure to JSON\n    --> starting at object with constructor " + constructorName(way[0].object))
	between := way[1:]
	for i, step := range between {
		if len(between) > 3 && i == 2 {
			b.WriteString("\n    |     ...")
		}
		if len(between) > 3 && i >= 2 && i < len(between)-1 {
			continue
		}
		b.WriteString("\n    |     " + step.String() + " -> object with constructor " + constructorName(step.object))
	}
	b.WriteString("\n    --- " + closing.String() + " closes the circle")
	return b.String()
}

func (s step) String() string {
	switch {
	case s.index >= 0:
		return "index " + strconv.Itoa(s.index)
	case s.name == "":
		return "<anonymous>"
	}
	return "property '" + s.name.String() + "'"
}

func constructorName(object *goja.Object) string {
	name := "Object"
	if c, ok := object.Get("constructor").(*goja.Object); ok {
		if n := c.Get("name"); n != nil {
			name = n.String()
		}
	}
	return "'" + name + "'"
}
