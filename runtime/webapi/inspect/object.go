package inspect

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// shape is how an object is shown: a base (`[Function: f]`) and its parts
// between braces.
type shape struct {
	base, open, end string
	keys            []goja.Value
	list            bool // the parts are items of an array, which may stand in columns
	brief           bool // base alone says all, if there are no keys
	filled          bool // there are parts besides the keys
	parts           func() []string
}

// object shows an object that is not being shown already.
func (in *inspector) object(obj *goja.Object, level int) string {
	class, tag := in.constructorName(obj, level), in.tag(obj)
	return in.shaped(obj, in.shapeOf(obj, class, tag), class, tag, level)
}

// shaped shows an object as s says.
func (in *inspector) shaped(obj *goja.Object, s shape, class, tag string, level int) string {
	inherited := in.prototypeProperties(obj, level)
	if len(s.keys) == 0 && !s.filled && len(inherited) == 0 {
		if s.brief {
			return s.base
		}
		return s.open + s.end
	}
	if float64(level) > in.o.depth || level >= inspectLevels {
		text := strings.TrimSuffix(prefix(class, tag, "Object", ""), " ")
		if level >= inspectLevels {
			text += ": Inspection interrupted prematurely. Maximum call stack size exceeded."
		}
		return in.style("["+text+"]", "special")
	}
	in.current = level
	in.seen = append(in.seen, obj)
	var parts []string
	if s.filled {
		parts = s.parts()
	}
	for _, key := range s.keys {
		parts = append(parts, in.property(obj, key, level))
	}
	parts = append(parts, inherited...)
	in.seen = in.seen[:len(in.seen)-1]
	for i, c := range in.circular {
		if c == obj {
			s.base = strings.TrimSuffix(in.style("<ref *"+strconv.Itoa(i+1)+">", "special")+" "+s.base, " ")
		}
	}
	in.sort(parts, s)
	return in.join(s, parts, obj, level)
}

// sort puts the properties in order, and other parts but the items of a list.
func (in *inspector) sort(parts []string, s shape) {
	if !in.o.sorted {
		return
	}
	if s.list {
		parts = parts[len(parts)-len(s.keys):]
	}
	if in.o.comparer == nil {
		slices.Sort(parts)
		return
	}
	slices.SortStableFunc(parts, func(a, b string) int {
		order := in.p.Engine.Call(in.o.comparer, goja.Undefined(), in.p.VM.ToValue(a), in.p.VM.ToValue(b)).ToFloat()
		return cmp.Compare(order, 0)
	})
}

// nested shows a value that stands within another.
func (in *inspector) nested(v goja.Value, level int) string {
	in.indent += 2
	text := in.value(v, level+1)
	in.indent -= 2
	return text
}

// ask calls a captured method of a built-in class.
func (in *inspector) ask(method string, obj *goja.Object, args ...goja.Value) goja.Value {
	return in.p.Engine.Call(in.p.Engine.Primordial(method), goja.Undefined(), append([]goja.Value{obj}, args...)...)
}

// has reports whether obj is what a captured method works on.
func (in *inspector) has(method string, obj *goja.Object, args ...goja.Value) bool {
	return in.p.VM.Try(func() { in.ask(method, obj, args...) }) == nil
}

// descriptor is the descriptor of an own property, nil if there is none.
func (in *inspector) descriptor(obj *goja.Object, key goja.Value) *goja.Object {
	d, _ := in.ask("ReflectGetOwnPropertyDescriptor", obj, key).(*goja.Object)
	return d
}

// constructorName is the name of the nearest constructor in the prototype
// chain, "" if there is none.
func (in *inspector) constructorName(obj *goja.Object, level int) string {
	if name, _ := in.constructorOf(obj); name != "" {
		return name
	}
	proto := obj.Prototype()
	if proto == nil || obj.ExportType() == webidl.ProxyType || proto.ExportType() == webidl.ProxyType {
		return ""
	}
	const made = "Object" // what V8 says made it
	switch above := in.constructorName(proto, level+1); {
	case float64(level) > in.o.depth:
		return made + " <Complex prototype>"
	case above != "":
		return made + " <" + above + ">"
	}
	sub := &inspector{p: in.p, o: in.o, lenient: true}
	sub.o.custom, sub.o.depth = false, -1
	return made + " <" + sub.value(proto, 0) + ">"
}

// constructorOf is the nearest constructor's name, and which prototype has it, or obj.
func (in *inspector) constructorOf(obj *goja.Object) (name string, at *goja.Object) {
	for p := obj; p != nil && p.ExportType() != webidl.ProxyType; p = p.Prototype() {
		d := in.descriptor(p, in.p.VM.ToValue("constructor"))
		if d == nil {
			continue
		}
		if fn, ok := d.Get("value").(*goja.Object); ok {
			if name := in.ownText(fn, "name"); name != "" && in.inherits(obj, fn) {
				return name, p
			}
		}
	}
	return "", nil
}

// inheritedLayers is how many prototypes are looked through for what showHidden shows.
const inheritedLayers = 3

// prototypeProperties are what showHidden shows of the prototypes that classes of the
// user's have: all but functions.
func (in *inspector) prototypeProperties(obj *goja.Object, level int) (parts []string) {
	if !in.o.showHidden || float64(level) > in.o.depth || level >= inspectLevels {
		return nil
	}
	name, at := in.constructorOf(obj)
	first := obj.Prototype()
	if name == "" || first == nil || first == at && languages[name] {
		return nil
	}
	seen := map[goja.Value]bool{}
	for layer := range inheritedLayers {
		if layer > 0 {
			first = first.Prototype()
		}
		if first == nil || first.ExportType() == webidl.ProxyType || layer > 0 && in.isLanguages(first) {
			return parts
		}
		var keys []goja.Value
		for _, key := range in.ownKeys(first) {
			if key.String() == "constructor" || seen[key] || in.descriptor(obj, key) != nil {
				continue
			}
			keys = append(keys, key)
			if d := in.descriptor(first, key); d == nil || engine.IsCallable(d.Get("value")) {
				continue
			}
			in.seen = append(in.seen, obj)
			part := in.property(first, key, level)
			in.seen = in.seen[:len(in.seen)-1]
			if in.o.colors {
				part = "\x1b[2m" + part + "\x1b[22m"
			}
			parts = append(parts, part)
		}
		for _, key := range keys {
			seen[key] = true
		}
	}
	return parts
}

// ownText is an own data property that is a string, "" if there is none.
func (in *inspector) ownText(obj *goja.Object, key string) string {
	if d := in.descriptor(obj, in.p.VM.ToValue(key)); d != nil {
		if v := d.Get("value"); isText(v) {
			return v.String()
		}
	}
	return ""
}

// inherits is instanceof that runs none of the user's code.
func (in *inspector) inherits(obj, ctor *goja.Object) bool {
	d := in.descriptor(ctor, in.p.VM.ToValue("prototype"))
	if d == nil {
		return false
	}
	proto := d.Get("value")
	for p := obj.Prototype(); p != nil; p = p.Prototype() {
		if goja.Value(p) == proto {
			return true
		}
		if p.ExportType() == webidl.ProxyType {
			return false
		}
	}
	return false
}

// tag is Symbol.toStringTag, "" if obj shows it as a property anyway.
func (in *inspector) tag(obj *goja.Object) (tag string) {
	in.p.Engine.Try(func() {
		v := obj.GetSymbol(goja.SymToStringTag)
		if !isText(v) {
			return
		}
		if d := in.descriptor(obj, goja.SymToStringTag); d == nil || !in.o.showHidden && !d.Get("enumerable").ToBoolean() {
			tag = v.String()
		}
	})
	return tag
}

// prefix is what stands before an opening brace.
func prefix(class, tag, fallback, size string) string {
	text := class + size + " "
	if class == "" {
		text = "[" + fallback + size + ": null prototype] "
		class = fallback
	}
	if tag != "" && tag != class {
		text += "[" + tag + "] "
	}
	return text
}

// keys are the own keys that are shown; with named set, without array indices.
func (in *inspector) keys(obj *goja.Object, named bool) []goja.Value {
	var keys []goja.Value
	for _, name := range in.names(obj, named) {
		if !named || !isIndex(name) {
			keys = append(keys, in.p.VM.ToValue(name))
		}
	}
	if in.o.showHidden {
		symbols := in.ask("ObjectGetOwnPropertySymbols", obj).(*goja.Object)
		for i := range int(webidl.Get(symbols, "length").ToInteger()) {
			keys = append(keys, symbols.Get(strconv.Itoa(i)))
		}
		return keys
	}
	for _, symbol := range obj.Symbols() {
		keys = append(keys, symbol)
	}
	return keys
}

// names are those of the properties to show. Where indices are not wanted, a long
// array is not asked for them.
func (in *inspector) names(obj *goja.Object, named bool) (names []string) {
	all, known := insides.NamedProperties(obj)
	switch {
	case named && known:
		for _, name := range all {
			if in.o.showHidden || in.descriptor(obj, in.p.VM.ToValue(name)).Get("enumerable").ToBoolean() {
				names = append(names, name)
			}
		}
		return names
	case in.o.showHidden:
		return obj.GetOwnPropertyNames()
	}
	return obj.Keys()
}

func isIndex(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}

// property shows `key: value`.
func (in *inspector) property(obj *goja.Object, key goja.Value, level int) string {
	d := in.descriptor(obj, key)
	if d == nil {
		return in.key(key, true) + ": " + in.primitive(nil)
	}
	name := in.key(key, d.Get("enumerable").ToBoolean()) + ":"
	if in.o.compact != compactAlways {
		return name + " " + in.described(obj, d, level)
	}
	in.indent++
	defer func() { in.indent-- }()
	text := in.described(obj, d, level)
	if in.width(text) > in.o.breakLength {
		return name + "\n" + strings.Repeat(" ", in.indent+2) + text
	}
	return name + " " + text
}

// described shows what a property's descriptor says of its value.
func (in *inspector) described(obj, d *goja.Object, level int) string {
	get, set := d.Get("get"), d.Get("set")
	switch {
	case !webidl.IsMissing(get) && !webidl.IsMissing(set):
		return in.getter(obj, get, "Getter/Setter", in.o.pairs, level)
	case !webidl.IsMissing(get):
		return in.getter(obj, get, "Getter", in.o.getters, level)
	case !webidl.IsMissing(set):
		return in.style("[Setter]", "special")
	}
	return in.nested(d.Get("value"), level)
}

// threw is what a getter threw, of errors the message alone.
func (in *inspector) threw(thrown goja.Value) string {
	if obj, ok := thrown.(*goja.Object); ok && in.p.Engine.Errors.Is(thrown) {
		thrown = obj.Get("message")
	}
	return in.p.Engine.Text(thrown)
}

func (in *inspector) getter(obj *goja.Object, get goja.Value, label string, called bool, level int) string {
	if !called {
		return in.style("["+label+"]", "special")
	}
	var v goja.Value
	if thrown := in.p.Engine.Try(func() { v = in.p.Engine.Call(get, obj) }); thrown != nil {
		return in.style("["+label+": <Inspection threw ("+in.threw(thrown)+")>]", "special")
	}
	if _, isObject := v.(*goja.Object); isObject {
		return in.style("["+label+"]", "special") + " " + in.nested(v, level)
	}
	return in.style("["+label+": ", "special") + in.primitive(v) + in.style("]", "special")
}

// shapeOf tells the kinds of objects apart, by what they are and not by what
// they claim to be.
func (in *inspector) shapeOf(obj *goja.Object, class, tag string) shape {
	kind := obj.ClassName()
	if kind == "Array" {
		return in.arrayShape(obj, class, tag)
	}
	if t := in.ask("TypedArrayPrototypeGetTag", obj); !goja.IsUndefined(t) {
		return in.typedShape(obj, class, tag, t.String())
	}
	if webidl.IsArrayBuffer(obj) {
		return in.bufferShape(obj, class, tag)
	}
	if kind == "Object" && (class != "Object" || tag != "") {
		kind = in.brand(obj)
	}
	braced := func(fallback string, parts ...string) shape {
		return shape{open: prefix(class, tag, fallback, "") + "{", end: "}", keys: in.keys(obj, false), filled: len(parts) > 0,
			parts: func() []string { return parts }}
	}
	based := func(base string) shape {
		return shape{base: base, brief: true, open: "{", end: "}", keys: in.keys(obj, kind == "String")}
	}
	switch {
	case engine.IsCallable(obj):
		return based(in.style(in.functionBase(obj, class, tag), "special"))
	case kind == "DataView":
		return in.viewShape(obj, class, tag)
	case kind == "Map" || kind == "Set":
		return in.collectionShape(obj, kind, class, tag)
	case webidl.PromiseOf(obj) != nil:
		s := braced("Promise")
		s.filled, s.parts = true, func() []string { return in.promise(webidl.PromiseOf(obj)) }
		return s
	case kind == "WeakMap" || kind == "WeakSet":
		if in.o.showHidden { // which the reference has no way to list
			return braced(kind, "")
		}
		return braced(kind, in.style("<items unknown>", "special"))
	case kind == "Map Iterator" || kind == "Set Iterator":
		return in.iteratorShape(obj, kind, tag)
	case kind == "Error" || in.p.Engine.Errors.Is(obj):
		return in.errorShape(obj, class, tag)
	case kind == "Date":
		text := "Invalid Date"
		if !math.IsNaN(in.ask("DatePrototypeGetTime", obj).ToFloat()) {
			text = in.ask("DatePrototypeToISOString", obj).String()
		}
		return based(in.style(named(text, class, tag, kind), "date"))
	case kind == "RegExp":
		return based(in.style(named(in.regexpText(obj, class), class, tag, kind), "regexp"))
	case kind == "Number" || kind == "String" || kind == "Boolean" || kind == "Symbol" || kind == "BigInt":
		return based(in.boxed(obj, kind, class, tag))
	case kind == "Arguments":
		s := braced("Arguments")
		s.open = "[Arguments] {"
		return s
	}
	if class == "" && tag == "Module" {
		return braced("Module")
	}
	s := braced("Object")
	if class == "Object" && tag == "" {
		s.open = "{"
	}
	return s
}

// regexpText is a regular expression as a literal. Where no prototype has getters
// for its source and flags, a copy that has one is asked.
func (in *inspector) regexpText(obj *goja.Object, class string) string {
	if class != "" {
		return in.ask("RegExpPrototypeToString", obj).String()
	}
	if in.p.regexps.ForeignOf(obj) == nil {
		same, err := in.p.VM.New(in.p.Engine.Primordial("RegExp"), obj)
		if err == nil {
			err = same.SetPrototype(in.p.regexps.Proto)
		}
		if err != nil {
			panic(err)
		}
		obj = same
	}
	source, flags := in.p.regexps.Written(obj)
	return "/" + source.String() + "/" + flags
}

// brand asks the built-in classes that goja does not tell apart whether obj is
// one of theirs.
func (in *inspector) brand(obj *goja.Object) string {
	for _, b := range []struct{ kind, method string }{
		{"DataView", "DataViewPrototypeGetBuffer"}, {"Map", "MapPrototypeGetSize"}, {"Set", "SetPrototypeGetSize"},
		{"Symbol", "SymbolPrototypeValueOf"}, {"BigInt", "BigIntPrototypeValueOf"},
		{"WeakMap", "WeakMapPrototypeHas"}, {"WeakSet", "WeakSetPrototypeHas"},
	} {
		if in.has(b.method, obj, obj) {
			return b.kind
		}
	}
	switch tag := in.ask("ObjectPrototypeToString", obj).String(); tag {
	case "[object Map Iterator]", "[object Set Iterator]":
		if insides.Peek(obj, func(bool) {}) {
			return tag[len("[object ") : len(tag)-1]
		}
	}
	return "Object"
}

// named puts the class before a text that does not show it.
func named(text, class, tag, usual string) string {
	if p := prefix(class, tag, usual, ""); p != usual+" " {
		return p + text
	}
	return text
}

// boxed shows an object that holds a primitive.
func (in *inspector) boxed(obj *goja.Object, kind, class, tag string) string {
	text := "[" + kind
	switch {
	case class == "":
		text += " (null prototype)"
	case class != kind:
		text += " (" + class + ")"
	}
	plain := &inspector{p: in.p, o: defaultInspect()}
	text += ": " + plain.primitive(in.ask(kind+"PrototypeValueOf", obj)) + "]"
	if tag != "" && tag != class {
		text += " [" + tag + "]"
	}
	return in.style(text, strings.ToLower(kind))
}

// functionBase is `[Function: name]`, `[class A extends B]` and the like.
func (in *inspector) functionBase(obj *goja.Object, class, tag string) string {
	source := in.ask("FunctionPrototypeToString", obj).String()
	name := in.ownText(obj, "name")
	shown := ": " + name
	if name == "" {
		shown = " (anonymous)"
	}
	if strings.HasPrefix(source, "class") && strings.HasSuffix(source, "}") {
		text := "[class" + strings.TrimPrefix(shown, ":")
		if class != "Function" && class != "" {
			text += " [" + class + "]"
		}
		if tag != "" && tag != class {
			text += " [" + tag + "]"
		}
		if parent := obj.Prototype(); parent == nil {
			text += " extends [null prototype]"
		} else if name := in.ownText(parent, "name"); name != "" {
			text += " extends " + name
		}
		return text + "]"
	}
	kind := "Function"
	if strings.HasSuffix(tag, "Function") {
		kind = tag
	}
	text := "[" + kind
	if class == "" {
		text += " (null prototype)"
	}
	text += shown + "]"
	if class != kind && class != "" && class != "Function" {
		text += " " + class
	}
	if tag != "" && tag != class && tag != kind {
		text += " [" + tag + "]"
	}
	return text
}

func (in *inspector) promise(promise *goja.Promise) []string {
	level := len(in.seen) - 1
	switch promise.State() {
	case goja.PromiseStateFulfilled:
		return []string{in.nested(promise.Result(), level)}
	case goja.PromiseStateRejected:
		return []string{in.style("<rejected>", "special") + " " + in.nested(promise.Result(), level)}
	}
	return []string{in.style("<pending>", "special")}
}

func moreItems(n int) string { return fmt.Sprintf("... %d more item%s", n, plural(n)) }
