package nodeapi

import (
	"fmt"
	"math"
	"regexp"
	"sort"
	"strings"

	"github.com/dop251/goja"
)

var (
	ansi       = regexp.MustCompile("\x1b\\[\\d+m")
	identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z_0-9]*$`)
)

// shape is how an object is shown: what stands before its parts, what goes
// around them, and how they are made.
type shape struct {
	base   string
	braces [2]string
	list   bool   // an array's items, which may stand in columns
	bare   string // the whole text, if there are no parts
	keys   []goja.Value
	parts  func() []string
}

// object formats an object that is not shown already.
func (in *inspection) object(obj *goja.Object, depth int) string {
	ctor, tag := in.constructorName(obj), in.tag(obj)
	s := in.shapeOf(obj, ctor, tag)
	if s.bare != "" && len(s.keys) == 0 {
		return s.bare
	}
	if float64(depth) > in.o.depth {
		return in.style("["+strings.TrimSuffix(prefix(ctor, tag, "Object", ""), " ")+"]", "special")
	}
	depth++
	in.seen = append(in.seen, obj)
	in.current = depth
	var parts []string
	if s.parts != nil {
		parts = s.parts()
	}
	for _, key := range s.keys {
		parts = append(parts, in.property(obj, key, false))
	}
	in.seen = in.seen[:len(in.seen)-1]
	if n, ok := in.circular[obj]; ok {
		ref := in.style("<ref *"+itoa(n)+">", "special")
		if s.base == "" {
			s.base = ref
		} else {
			s.base = ref + " " + s.base
		}
	}
	if in.o.sorted {
		in.sort(parts, s)
	}
	items := obj
	if !s.list {
		items = nil
	}
	return in.reduce(parts, s.base, s.braces, s.list, depth, items)
}

func (in *inspection) sort(parts []string, s shape) {
	from := 0
	if s.list {
		from = len(parts) - len(s.keys)
	}
	tail := parts[from:]
	if in.o.comparer == nil {
		sort.Strings(tail)
		return
	}
	m := in.m
	sort.SliceStable(tail, func(i, j int) bool {
		return m.engine.Call(in.o.comparer, goja.Undefined(), m.vm.ToValue(tail[i]), m.vm.ToValue(tail[j])).ToFloat() < 0
	})
}

// constructorName walks the prototypes to a constructor's name; "" means that
// there is none: a null prototype.
func (in *inspection) constructorName(obj *goja.Object) string {
	for p := obj; p != nil; p = p.Prototype() {
		d := in.descriptor(p, in.m.vm.ToValue("constructor"))
		if d == nil {
			continue
		}
		if fn, ok := d.Get("value").(*goja.Object); ok {
			if name := fn.Get("name"); name != nil && isString(name) && name.String() != "" && in.instanceOf(obj, fn) {
				return name.String()
			}
		}
	}
	return ""
}

func (in *inspection) instanceOf(obj, ctor *goja.Object) bool {
	proto, ok := ctor.Get("prototype").(*goja.Object)
	if !ok {
		return false
	}
	for p := obj.Prototype(); p != nil; p = p.Prototype() {
		if p == proto {
			return true
		}
	}
	return false
}

// tag is Symbol.toStringTag, unless the object shows it as a property.
func (in *inspection) tag(obj *goja.Object) string {
	v := obj.GetSymbol(goja.SymToStringTag)
	if !isString(v) || v.String() == "" {
		return ""
	}
	if d := in.descriptor(obj, goja.SymToStringTag); d != nil && (in.o.showHidden || d.Get("enumerable").ToBoolean()) {
		return ""
	}
	return v.String()
}

func (in *inspection) descriptor(obj *goja.Object, key goja.Value) *goja.Object {
	d, _ := in.m.engine.Call(in.m.engine.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), obj, key).(*goja.Object)
	return d
}

// prefix is what stands before an opening brace.
func prefix(ctor, tag, fallback, size string) string {
	if ctor == "" {
		text := "[" + fallback + size + ": null prototype] "
		if tag != "" && tag != fallback {
			text += "[" + tag + "] "
		}
		return text
	}
	if tag != "" && tag != ctor {
		return ctor + size + " [" + tag + "] "
	}
	return ctor + size + " "
}

// keys are an object's own keys that are shown; indexed says to leave out
// array indices.
func (in *inspection) keys(obj *goja.Object, indexed bool) []goja.Value {
	names := obj.Keys()
	if in.o.showHidden {
		names = obj.GetOwnPropertyNames()
	}
	var out []goja.Value
	for _, n := range names {
		if indexed && isIndex(n) {
			continue
		}
		out = append(out, in.m.vm.ToValue(n))
	}
	for _, s := range obj.Symbols() {
		if d := in.descriptor(obj, s); d != nil && (in.o.showHidden || d.Get("enumerable").ToBoolean()) {
			out = append(out, s)
		}
	}
	return out
}

func isIndex(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}

// shapeOf tells the kinds of objects apart.
func (in *inspection) shapeOf(obj *goja.Object, ctor, tag string) shape {
	m := in.m
	class := m.classOf(obj)
	if class == "Object" {
		class = in.brand(obj)
	}
	switch kind := m.kindOf(obj); {
	case class == "Array":
		return in.arrayShape(obj, ctor, tag)
	case class == "Map", class == "Set":
		return in.collectionShape(obj, class, ctor, tag)
	case kind == isUint8, kind == isTypedArray:
		return in.typedShape(obj, ctor, tag)
	case kind == isArrayBuffer:
		return in.bufferShape(obj, ctor, tag)
	case kind == isDataView:
		keys := []goja.Value{m.vm.ToValue("byteLength"), m.vm.ToValue("byteOffset"), m.vm.ToValue("buffer")}
		return shape{braces: [2]string{prefix(ctor, tag, "DataView", "") + "{", "}"}, keys: append(keys, in.keys(obj, false)...)}
	}
	braces := [2]string{"{", "}"}
	keys := in.keys(obj, false)
	based := func(base string) shape {
		return shape{base: base, bare: base, braces: braces, keys: keys}
	}
	if _, callable := goja.AssertFunction(obj); callable {
		return based(in.style(in.functionBase(obj, ctor, tag), "special"))
	}
	switch class {
	case "Arguments":
		braces[0] = "[Arguments] {"
		return shape{braces: braces, keys: keys, bare: "[Arguments] {}"}
	case "RegExp":
		return based(in.style(in.named(m.engine.Call(m.engine.Primordial("RegExpPrototypeToString"), goja.Undefined(), obj).String(), ctor, tag, "RegExp"), "regexp"))
	case "Date":
		return based(in.style(in.named(in.date(obj), ctor, tag, "Date"), "date"))
	case "Error":
		return in.errorShape(obj, ctor, keys)
	case "Promise":
		return shape{braces: [2]string{prefix(ctor, tag, "Promise", "") + "{", "}"}, keys: keys, parts: func() []string { return in.promise(obj) }}
	case "WeakMap", "WeakSet":
		return shape{braces: [2]string{prefix(ctor, tag, class, "") + "{", "}"}, keys: keys,
			parts: func() []string { return []string{in.style("<items unknown>", "special")} }}
	case "Map Iterator", "Set Iterator":
		return shape{braces: [2]string{"[" + tag + "] {", "}"}, keys: keys, bare: "[" + tag + "] {}"}
	case "Number", "String", "Boolean", "Symbol", "BigInt":
		return in.boxedShape(obj, class, ctor, tag, keys)
	}
	if ctor == "Object" && tag == "" {
		return shape{braces: braces, keys: keys, bare: "{}"}
	}
	head := prefix(ctor, tag, "Object", "") + "{"
	return shape{braces: [2]string{head, "}"}, keys: keys, bare: head + "}"}
}

// brand asks the built-ins about objects that the engine has no class for.
func (in *inspection) brand(obj *goja.Object) string {
	e := in.m.engine
	for _, b := range []struct{ class, ask string }{{"Map", "MapPrototypeGetSize"}, {"Set", "SetPrototypeGetSize"},
		{"Symbol", "SymbolPrototypeValueOf"}, {"BigInt", "BigIntPrototypeValueOf"}} {
		if in.m.vm.Try(func() { e.Call(e.Primordial(b.ask), goja.Undefined(), obj) }) == nil {
			return b.class
		}
	}
	for _, class := range []string{"WeakMap", "WeakSet"} {
		if in.m.vm.Try(func() { e.Call(e.Primordial(class+"PrototypeHas"), goja.Undefined(), obj, obj) }) == nil {
			return class
		}
	}
	switch tag := e.Call(e.Primordial("ObjectPrototypeToString"), goja.Undefined(), obj).String(); tag {
	case "[object Map Iterator]", "[object Set Iterator]":
		return tag[8 : len(tag)-1]
	}
	return "Object"
}

func (in *inspection) named(text, ctor, tag, class string) string {
	if p := prefix(ctor, tag, class, ""); p != class+" " {
		return p + text
	}
	return text
}

func (in *inspection) date(obj *goja.Object) string {
	e := in.m.engine
	if math.IsNaN(e.Call(e.Primordial("DatePrototypeGetTime"), goja.Undefined(), obj).ToFloat()) {
		return "Invalid Date"
	}
	return e.Call(e.Primordial("DatePrototypeToISOString"), goja.Undefined(), obj).String()
}

// functionBase is `[Function: name]`, `[class A extends B]` and the like.
func (in *inspection) functionBase(obj *goja.Object, ctor, tag string) string {
	e := in.m.engine
	source := e.Call(e.Primordial("FunctionPrototypeToString"), goja.Undefined(), obj).String()
	name := ""
	if v := obj.Get("name"); isString(v) {
		name = v.String()
	}
	if strings.HasPrefix(source, "class") && strings.HasSuffix(source, "}") {
		return in.classBase(obj, name, ctor, tag)
	}
	kind := "Function"
	switch t := e.Call(e.Primordial("ObjectPrototypeToString"), goja.Undefined(), obj).String(); t {
	case "[object AsyncFunction]", "[object GeneratorFunction]":
		kind = t[8 : len(t)-1]
	}
	text := "[" + kind
	if ctor == "" {
		text += " (null prototype)"
	}
	if name == "" {
		text += " (anonymous)"
	} else {
		text += ": " + name
	}
	text += "]"
	if ctor != kind && ctor != "" && ctor != "Function" {
		text += " " + ctor
	}
	if tag != "" && tag != kind && tag != ctor {
		text += " [" + tag + "]"
	}
	return text
}

func (in *inspection) classBase(obj *goja.Object, name, ctor, tag string) string {
	text := "[class "
	if name == "" {
		text += "(anonymous)"
	} else {
		text += name
	}
	if ctor != "Function" && ctor != "" {
		text += " [" + ctor + "]"
	}
	if tag != "" && tag != ctor {
		text += " [" + tag + "]"
	}
	if parent := obj.Prototype(); parent == nil {
		text += " extends null"
	} else if v := parent.Get("name"); isString(v) && v.String() != "" {
		text += " extends " + v.String()
	}
	return text + "]"
}

func (in *inspection) promise(obj *goja.Object) []string {
	p, ok := obj.Export().(*goja.Promise)
	if !ok {
		return nil
	}
	if p.State() == goja.PromiseStatePending {
		return []string{in.style("<pending>", "special")}
	}
	in.indent += 2
	text := in.value(p.Result(), len(in.seen))
	in.indent -= 2
	if p.State() == goja.PromiseStateRejected {
		text = in.style("<rejected>", "special") + " " + text
	}
	return []string{text}
}

// boxedShape shows a primitive in an object.
func (in *inspection) boxedShape(obj *goja.Object, class, ctor, tag string, keys []goja.Value) shape {
	e := in.m.engine
	v := e.Call(e.Primordial(class+"PrototypeValueOf"), goja.Undefined(), obj)
	text := "[" + class
	if class == "String" {
		keys = in.keys(obj, true)
	}
	if ctor != class {
		if ctor == "" {
			text += " (null prototype)"
		} else {
			text += " (" + ctor + ")"
		}
	}
	plain := in.m.newInspection(defaultInspect())
	text += ": " + plain.primitive(v) + "]"
	if tag != "" && tag != ctor {
		text += " [" + tag + "]"
	}
	base := in.style(text, strings.ToLower(class))
	return shape{base: base, bare: base, braces: [2]string{"{", "}"}, keys: keys}
}

// errorShape shows an error by its stack, whose frames are the user's.
func (in *inspection) errorShape(obj *goja.Object, ctor string, keys []goja.Value) shape {
	stack := in.m.engine.Stack(obj)
	name := in.text(obj, "name")
	var left []goja.Value
	for _, k := range keys {
		if s := k.String(); isString(k) && !in.o.showHidden {
			value := in.text(obj, s)
			if (s == "name" || s == "message" || s == "stack") && (value == "" || strings.Contains(stack, value) || s == "stack") {
				continue
			}
		}
		left = append(left, k)
	}
	for _, extra := range []string{"cause", "errors"} {
		if in.m.hasOwn(obj, extra) && !in.o.showHidden && !containsKey(left, extra) {
			left = append(left, in.m.vm.ToValue(extra))
		}
	}
	if ctor != "" && name == "Error" && strings.HasPrefix(stack, "Error") && !strings.Contains(stack, ctor) {
		head := ctor
		if !strings.Contains(ctor, "Error") {
			head += " [Error]"
		}
		stack = head + strings.TrimPrefix(stack, "Error")
	}
	if !strings.Contains(stack, "\n    at ") {
		stack = "[" + stack + "]"
	}
	if in.indent > 0 {
		stack = strings.ReplaceAll(stack, "\n", "\n"+strings.Repeat(" ", in.indent))
	}
	return shape{base: stack, bare: stack, braces: [2]string{"{", "}"}, keys: left}
}

func containsKey(keys []goja.Value, name string) bool {
	for _, k := range keys {
		if isString(k) && k.String() == name {
			return true
		}
	}
	return false
}

func (in *inspection) text(obj *goja.Object, name string) string {
	if v := obj.Get(name); !absent(v) {
		return in.m.engine.Text(v)
	}
	return ""
}

// property formats `key: value`, or the value alone for an item of an array.
func (in *inspection) property(obj *goja.Object, key goja.Value, item bool) string {
	d := in.descriptor(obj, key)
	var value goja.Value
	enumerable := true
	text := ""
	if d == nil {
		value = in.own(obj, key)
	} else {
		enumerable = d.Get("enumerable").ToBoolean()
		get, set := d.Get("get"), d.Get("set")
		switch {
		case !absent(get):
			text = in.accessor(obj, key, get, !absent(set))
		case !absent(set):
			text = in.style("[Setter]", "special")
		default:
			value = d.Get("value")
		}
	}
	if text == "" {
		in.indent += 2
		text = in.value(orUndefined(value), len(in.seen))
		in.indent -= 2
	}
	if item {
		return text
	}
	return in.keyText(key, enumerable) + ": " + text
}

func (in *inspection) own(obj *goja.Object, key goja.Value) goja.Value {
	if s, ok := key.(*goja.Symbol); ok {
		return obj.GetSymbol(s)
	}
	return obj.Get(key.String())
}

func (in *inspection) accessor(obj *goja.Object, key, get goja.Value, settable bool) string {
	label := "Getter"
	if settable {
		label = "Getter/Setter"
	}
	if !in.o.getters {
		return in.style("["+label+"]", "special")
	}
	var v goja.Value
	if thrown := in.m.engine.Try(func() { v = in.m.engine.Call(get, obj) }); thrown != nil {
		return in.style("["+label+": <Inspection threw ("+in.m.engine.Text(thrown)+")>]", "special")
	}
	if _, isObject := v.(*goja.Object); isObject {
		return in.style("["+label+"]", "special") + " " + in.value(v, len(in.seen))
	}
	return in.style("["+label+": ", "special") + in.primitive(v) + in.style("]", "special")
}

func (in *inspection) keyText(key goja.Value, enumerable bool) string {
	if s, ok := key.(*goja.Symbol); ok {
		text := in.style(symbolText(s), "symbol")
		if !enumerable {
			text = "[" + text + "]"
		}
		return text
	}
	name := key.String()
	switch {
	case name == "__proto__":
		return "['__proto__']"
	case !enumerable:
		return "[" + name + "]"
	case identifier.MatchString(name):
		return name
	}
	return in.style(quote(name), "string")
}

func more(n int) string { return fmt.Sprintf("... %d more item%s", n, plural(n)) }

// arrayShape shows items, and runs of holes as one.
func (in *inspection) arrayShape(obj *goja.Object, ctor, tag string) shape {
	n := int(obj.Get("length").ToInteger())
	head := ""
	if ctor != "Array" || tag != "" {
		head = prefix(ctor, tag, "Array", fmt.Sprintf("(%d)", n))
	}
	s := shape{braces: [2]string{head + "[", "]"}, list: true, keys: in.keys(obj, true)}
	if n == 0 {
		s.bare = head + "[]"
	}
	s.parts = func() []string {
		var parts []string
		i := 0
		for ; i < n && len(parts) < in.o.maxArray; i++ {
			if in.m.hasOwn(obj, itoa(i)) {
				parts = append(parts, in.property(obj, in.m.vm.ToValue(itoa(i)), true))
				continue
			}
			from := i
			for i+1 < n && !in.m.hasOwn(obj, itoa(i+1)) {
				i++
			}
			holes := i - from + 1
			parts = append(parts, in.style(fmt.Sprintf("<%d empty item%s>", holes, plural(holes)), "undefined"))
		}
		if i < n {
			parts = append(parts, more(n-i))
		}
		return parts
	}
	return s
}

func (in *inspection) collectionShape(obj *goja.Object, class, ctor, tag string) shape {
	e := in.m.engine
	n := int(e.Call(e.Primordial(class+"PrototypeGetSize"), goja.Undefined(), obj).ToInteger())
	head := prefix(ctor, tag, class, fmt.Sprintf("(%d)", n)) + "{"
	s := shape{braces: [2]string{head, "}"}, keys: in.keys(obj, false)}
	if n == 0 {
		s.bare = head + "}"
	}
	s.parts = func() []string {
		var parts []string
		in.indent += 2
		shown := 0
		e.Call(e.Primordial(class+"PrototypeForEach"), goja.Undefined(), obj, in.m.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			if shown++; shown > in.o.maxArray {
				return goja.Undefined()
			}
			value, key := c.Argument(0), c.Argument(1)
			if class == "Map" {
				k := in.value(key, len(in.seen))
				parts = append(parts, k+" => "+in.value(value, len(in.seen)))
			} else {
				parts = append(parts, in.value(value, len(in.seen)))
			}
			return goja.Undefined()
		}))
		if n > in.o.maxArray {
			parts = append(parts, more(n-in.o.maxArray))
		}
		in.indent -= 2
		return parts
	}
	return s
}

func (in *inspection) typedShape(obj *goja.Object, ctor, tag string) shape {
	e := in.m.engine
	class := e.Call(e.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), obj).String()
	n := int(e.Call(e.Primordial("TypedArrayPrototypeGetLength"), goja.Undefined(), obj).ToInteger())
	head := prefix(ctor, tag, class, fmt.Sprintf("(%d)", n)) + "["
	s := shape{braces: [2]string{head, "]"}, list: true, keys: in.keys(obj, true)}
	if n == 0 {
		s.bare = head + "]"
	}
	s.parts = func() []string {
		var parts []string
		for i := 0; i < n && i < in.o.maxArray; i++ {
			parts = append(parts, in.primitive(obj.Get(itoa(i))))
		}
		if n > in.o.maxArray {
			parts = append(parts, more(n-in.o.maxArray))
		}
		return parts
	}
	return s
}

func (in *inspection) bufferShape(obj *goja.Object, ctor, tag string) shape {
	data, _ := in.m.bytes(obj)
	s := shape{braces: [2]string{prefix(ctor, tag, "ArrayBuffer", "") + "{", "}"}}
	s.keys = append([]goja.Value{in.m.vm.ToValue("byteLength")}, in.keys(obj, false)...)
	s.parts = func() []string {
		text := fmt.Sprintf("% x", data[:min(len(data), in.o.maxArray)])
		if len(data) > in.o.maxArray {
			n := len(data) - in.o.maxArray
			text += fmt.Sprintf(" ... %d more byte%s", n, plural(n))
		}
		return []string{in.style("[Uint8Contents]", "special") + ": <" + text + ">"}
	}
	return s
}
