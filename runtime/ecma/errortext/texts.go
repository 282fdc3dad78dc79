// Package errortext gives errors V8's texts and stacks V8's names, which programs
// match on. Everything is loop-confined.
package errortext

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Programs match on the texts of V8's errors. goja makes its own errors by
// calling the built-in constructors, so the constructors are where its texts
// become V8's (messages of V8: src/common/message-template.h). What user code
// constructs passes unchanged.

// InstallTexts wraps the built-in error constructors.
func InstallTexts(e *engine.Engine) {
	in := insides.TheGoja()
	if !in.Known {
		return
	}
	m := in.MachineOf(e.VM())
	for _, class := range []string{"TypeError", "ReferenceError", "SyntaxError", "RangeError", "URIError", "AggregateError"} {
		object := e.Primordial(class)
		slot := in.ConstructorOf(object)
		if slot == nil {
			continue
		}
		original := *slot
		*slot = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			// goja itself names the class as the new target; `new` names none.
			if newTarget == object && class == "AggregateError" && len(args) < 2 { // of Promise.any
				errors := goja.Value(e.VM().NewArray())
				if len(args) == 1 {
					errors = args[0]
				}
				return original([]goja.Value{errors, e.VM().ToValue("All promises were rejected")}, newTarget)
			}
			if newTarget == object && len(args) == 1 {
				if text, ok := args[0].(goja.String); ok {
					s := site{engine: e, machine: m}
					if better := s.text(class, text.String()); better != "" {
						return original([]goja.Value{e.VM().ToValue(better)}, newTarget)
					}
				}
			}
			return original(args, newTarget)
		}
	}
}

var stringType = reflect.TypeFor[string]()

// site is where an error is thrown. It is valid only then.
type site struct {
	engine  *engine.Engine
	machine insides.Machine
}

// op is the name of goja's instruction, "" in a native function.
func (s site) op() string {
	i := s.machine.Instruction()
	if !i.IsValid() {
		return ""
	}
	name := i.Type().String()
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "*"), "goja."), "_")
}

// count is the number of arguments of a call or construction.
func (s site) count() int {
	if i := s.machine.Instruction(); i.IsValid() && i.CanUint() {
		return int(i.Uint())
	}
	return 0
}

// key is the name of a property that an instruction has built in.
func (s site) key() string {
	if i := s.machine.Instruction(); i.IsValid() && i.CanConvert(stringType) {
		return i.Convert(stringType).String()
	}
	return ""
}

// position is the source and the offset in it, ok false in a native function.
func (s site) position() (src string, offset int, ok bool) {
	f := s.machine.Source()
	if f == nil {
		return "", 0, false
	}
	frames := s.engine.VM().CaptureCallStack(1, nil)
	if len(frames) == 0 {
		return "", 0, false
	}
	at := frames[0].Position()
	src = f.Source()
	for line := 1; line < at.Line; line++ {
		n := strings.IndexByte(src[offset:], '\n')
		if n < 0 {
			return "", 0, false
		}
		offset += n + 1
	}
	offset += max(at.Column-1, 0)
	if rest, awaited := strings.CutPrefix(src[min(offset, len(src)):], "await "); awaited { // what is awaited has its place in stacks (mend.AwaitGuard)
		offset = len(src) - len(strings.TrimLeft(rest, " \n("))
	}
	return src, offset, true
}

func (s site) function() string {
	if frames := s.engine.VM().CaptureCallStack(1, nil); len(frames) > 0 {
		return frames[0].FuncName()
	}
	return ""
}

// text is V8's text for goja's, "" to keep it.
func (s site) text(class, text string) string {
	if class == "TypeError" {
		if text == "" { // of goja's arrays
			return s.readOnlyElement()
		}
		for _, r := range rules {
			if rest, ok := strings.CutPrefix(text, r.prefix); ok {
				return r.text(s, rest)
			}
		}
		if op := s.op(); strings.HasSuffix(text, " is not a method") && (s.iterating() || strings.HasPrefix(op, "iterate") || strings.HasPrefix(op, "push")) {
			return s.notIterable()
		}
		if strings.HasSuffix(text, " is not a symbol") && s.native().name == "keyFor" {
			return builtin.Show(s.engine, s.first()) + " is not a symbol"
		}
		if shown, ok := strings.CutSuffix(text, " is not a method"); ok && (strings.HasPrefix(s.op(), "getProp") || strings.HasPrefix(s.op(), "getElem")) { // the trap of a proxy
			return fmt.Sprintf("'%s' returned for property '%s' of object '#<Object>' is not a function", asObject(shown), s.trap())
		}
		return ""
	}
	if better, ok := fixedTexts[text]; ok {
		return better
	}
	switch {
	case class == "ReferenceError" && strings.HasPrefix(text, "Cannot access a variable"):
		if src, offset, ok := s.position(); ok {
			if name := wordAt(src, offset); name != "" {
				return "Cannot access '" + name + "' before initialization"
			}
		}
	case class == "RangeError":
		return s.rangeText(text)
	case class == "SyntaxError" && s.op() == "":
		return base64Texts(text)
	case class == "SyntaxError" && strings.HasPrefix(text, "Invalid regular expression: /"):
		return patternText(text)
	}
	return ""
}

const superFirst = "Must call super constructor in derived class before accessing 'this' or returning from derived constructor"

// fixedTexts are texts that need no context.
var fixedTexts = map[string]string{
	"Malformed URI": "URI malformed",
	"The iterator does not provide a 'throw' method":                                         "The iterator does not provide a 'throw' method.",
	"radix must be an integer between 2 and 36":                                              "toString() radix argument must be between 2 and 36",
	"exponent must be positive":                                                              "Exponent must be positive",
	"toFixed() precision must be between 0 and 100":                                          "toFixed() digits argument must be between 0 and 100",
	"toExponential() precision must be between 0 and 100":                                    "toExponential() argument must be between 0 and 100",
	"toPrecision() precision must be between 1 and 100":                                      "toPrecision() argument must be between 1 and 100",
	"The normalization form should be one of NFC, NFD, NFKC, NFKD":                           "The normalization form should be one of NFC, NFD, NFKC, NFKD.",
	"Must call super constructor in derived class before returning from derived constructor": superFirst,
	"Must call super constructor in derived class before accessing 'this'":                   superFirst,
}

// patternFaults are V8's words for what the parsers of goja's regular
// expressions object to.
var patternFaults = []struct{ theirs, ours string }{
	{"missing argument to repetition operator", "Nothing to repeat"},
	{"invalid nested repetition operator", "Nothing to repeat"},
	{"trailing backslash at end of expression", `\ at end of pattern`},
	{"illegal \\ at end of pattern", `\ at end of pattern`},
	{"invalid character class range", "Range out of order in character class"},
	{"reverse", "Range out of order in character class"},
	{"invalid repeat count", "numbers out of order in {} quantifier"},
	{"reference to undefined group name", "Invalid named capture referenced"},
	{"invalid capture group name", "Invalid capture group name"},
	{"unexpected )", "Unmatched ')'"},
	{"missing closing )", "Unterminated group"},
	{"missing closing ]", "Unterminated character class"},
}

// patternText is the text for a pattern that goja's parsers refuse.
func patternText(text string) string {
	head, fault, found := strings.Cut(text, ": Invalid regular expression (re")
	if !found {
		return ""
	}
	for _, f := range patternFaults {
		if strings.Contains(fault, f.theirs) {
			return head + ": " + f.ours
		}
	}
	return ""
}

func (s site) rangeText(text string) string {
	switch {
	case text == "Source is too large", text == "offset should be >= 0": // of %TypedArray%.prototype.set
		return "offset is out of bounds"
	case strings.HasPrefix(text, "Invalid size: "): // of the methods of Set
		return "'" + strings.TrimPrefix(text, "Invalid size: ") + "' is an invalid size"
	case text == "Invalid count value":
		return "Invalid count value: " + builtin.Show(s.engine, s.machine.Peek(1))
	case strings.HasPrefix(text, "Byte length of "), strings.HasPrefix(text, "Start offset of "):
		return strings.ToLower(text[:1]) + text[1:]
	case strings.HasPrefix(text, "Index ") && strings.HasSuffix(text, " is out of bounds"):
		return "Offset is outside the bounds of the DataView"
	case strings.HasPrefix(text, "Cannot convert ") && strings.HasSuffix(text, " to a BigInt"):
		n := strings.TrimSuffix(strings.TrimPrefix(text, "Cannot convert "), " to a BigInt")
		return "The number " + n + " cannot be converted to a BigInt because it is not an integer"
	case strings.HasPrefix(text, "Invalid index "):
		callee, _ := s.machine.Peek(s.count() + 1).(*goja.Object)
		if callee != nil && s.op() == "new" {
			if name := callee.Get("name"); name != nil && strings.HasPrefix(name.String(), "ArrayBuffer") {
				return "Invalid array buffer length"
			}
		}
		if s.function() == "with" {
			return "Invalid index : " + strings.TrimPrefix(text, "Invalid index ")
		}
		if view, ok := s.native().this.(*goja.Object); ok && s.op() == "" && view.ClassName() == "DataView" {
			return "Offset is outside the bounds of the DataView"
		}
		return "Invalid typed array length: " + strings.Replace(strings.TrimPrefix(text, "Invalid index "), "+Inf", "Infinity", 1)
	}
	return ""
}

type rule struct {
	prefix string
	text   func(s site, rest string) string
}

// rules are asked in this order, by the start of goja's text.
var rules = []rule{
	{"Cannot read property '", site.read},
	{"Object has no member '", func(s site, rest string) string { return s.called(strings.TrimSuffix(rest, "'")) }},
	{"Value is not an object: ", site.notObject},
	{"Not a function: ", func(s site, _ string) string { return s.object() }},
	{"Value is not callable: ", site.notCallable},
	{"object is not a function", func(s site, _ string) string { // Map.prototype.forEach, Set.prototype.forEach
		return builtin.CallSite(s.engine, s.first()) + " is not a function"
	}},
	{"Cannot convert undefined or null to object", func(s site, _ string) string { return s.nullish() }},
	{"Value is not object coercible", func(s site, _ string) string { return s.destructured() }},
	{"object is not iterable", func(s site, _ string) string { return s.notIterable() }},
	{"iterator.next is missing or not a function", func(s site, _ string) string {
		switch {
		case strings.HasPrefix(s.op(), "iter"): // which has put it there
			return builtin.CallSite(s.engine, s.machine.Peek(1)) + " is not a function"
		case s.iterating():
			return "undefined is not a function" // which is what is missing, nearly always
		}
		return s.notIterable()
	}},
	{"value is not an Object", func(s site, _ string) string { // of the methods of Set
		return "Set.prototype." + s.native().name + " argument must be an object"
	}},
	{"size is NaN", func(site, string) string { return "The .size property is NaN" }},
	{"Object does not have a valid '", func(_ site, rest string) string { // of the methods of Set
		name, _, _ := strings.Cut(rest, "'")
		return `string "` + name + `" is not a function`
	}},
	{"Value is not a constructor", func(s site, _ string) string { return s.constructed() }},
	{"Super constructor is not a constructor", func(site, string) string { return "Super constructor is not a constructor" }},
	{"Class constructor cannot be invoked", func(s site, _ string) string {
		name := ""
		if callee, ok := s.machine.Peek(s.count() + 1).(*goja.Object); ok && s.op() == "call" {
			name = s.nameOf(callee) + " "
			if s.isGlobal(callee, "DisposableStack") || s.isGlobal(callee, "AsyncDisposableStack") {
				return "Constructor " + name + "requires 'new'"
			}
		} else if n := s.native(); s.op() == "" && n.fn != nil {
			name = n.name + " "
		}
		return "Class constructor " + name + "cannot be invoked without 'new'"
	}},
	{"Class extends value is not a constructor", func(s site, _ string) string {
		return "Class extends value " + builtin.Show(s.engine, s.machine.Peek(1)) + " is not a constructor or null"
	}},
	{"Class extends value does not have", func(s site, _ string) string {
		if c, ok := s.machine.Peek(1).(*goja.Object); ok {
			return "Class extends value does not have valid prototype property " + builtin.Show(s.engine, c.Get("prototype"))
		}
		return ""
	}},
	{"Cannot write private member ", func(_ site, rest string) string {
		return "Cannot write private member " + strings.Replace(rest, " from an object", " to an object", 1)
	}},
	{"Cannot assign to read only property '", site.readOnly},
	{"Cannot delete property '", func(s site, rest string) string {
		name, _, _ := strings.Cut(rest, "' of ")
		of := s.machine.Peek(1)
		switch op := s.op(); {
		case op == "":
			of = s.native().this
		case strings.Contains(strings.ToLower(op), "elem"):
			of = s.machine.Peek(2)
		}
		return "Cannot delete property '" + name + "' of " + builtin.Show(s.engine, of)
	}},
	{"length is not writable", func(site, string) string {
		return "Cannot assign to read only property 'length' of object '[object Array]'"
	}},
	{"Receiver must be a Uint8Array", func(s site, _ string) string {
		n := s.native()
		if strings.HasPrefix(n.name, "set") {
			return "this is not a typed array."
		}
		return "Method Uint8Array.prototype." + n.name + " called on incompatible receiver " + builtin.Show(s.engine, n.this)
	}},
	{"Uint8Array.", func(_ site, rest string) string { // fromBase64, fromHex, prototype.setFromBase64, prototype.setFromHex
		if strings.HasSuffix(rest, " requires a string") {
			return "input argument must be a string"
		}
		return ""
	}},
	{"Options is not an object", func(site, string) string { return "invalid_argument" }},
	{"alphabet must be ", func(s site, _ string) string { return s.badOption("alphabet") }},
	{"lastChunkHandling must be ", func(s site, _ string) string { return s.badOption("lastChunkHandling") }},
	{"Receiver is not an object: ", func(s site, rest string) string {
		base, key := s.target()
		return fmt.Sprintf("Cannot create property '%s' on %s", key, s.primitive(base, rest))
	}},
	{"Could not convert ", func(site, string) string { return "Cannot convert object to primitive value" }},
	{"No initial value", func(site, string) string { return "Reduce of empty array with no initial value" }},
	{"The comparison function must be either a function or undefined", func(s site, _ string) string {
		return "The comparison function must be either a function or undefined: " + builtin.Show(s.engine, s.native().first)
	}},
	{"Method ", func(s site, rest string) string {
		if before, _, ok := strings.Cut(rest, " called on incompatible receiver"); ok && s.op() == "" {
			return s.receiver(before)
		}
		return ""
	}},
	{"Object is not ArrayBuffer", func(s site, _ string) string {
		n, getter := s.native(), ""
		name, isGetter := strings.CutPrefix(n.name, "get ")
		if isGetter {
			getter = "get "
		}
		return "Method " + getter + "ArrayBuffer.prototype." + name + " called on incompatible receiver " + builtin.Show(s.engine, n.this)
	}},
	{"Constructor Promise requires", func(site, string) string { return "Promise constructor cannot be invoked without 'new'" }},
	{"[object Object] is not extensible", func(site, string) string { return "#<Object> is not extensible" }},
	{"Expecting a function in instanceof check", func(site, string) string { return "Right-hand side of 'instanceof' is not callable" }},
	{"prototype is not an object", func(s site, _ string) string {
		class, ok := s.machine.Peek(1).(*goja.Object)
		if !ok {
			return ""
		}
		return fmt.Sprintf("Function has non-object prototype '%s' in instanceof check", s.engine.Text(class.Get("prototype")))
	}},
	{"Proxy already revoked", func(s site, _ string) string {
		return "Cannot perform '" + s.trap() + "' on a proxy that has been revoked"
	}},
	{"'defineProperty' on proxy: trap returned falsish", func(s site, rest string) string {
		if key := s.machine.Argument(1); rest == "" && s.native().name == "defineProperty" && key != nil {
			return "'defineProperty' on proxy: trap returned falsish for property '" + builtin.Show(s.engine, key) + "'"
		}
		return ""
	}},
	{"getter must be a function", func(s site, _ string) string { return s.accessor() }},
	{"setter must be a function", func(s site, _ string) string { return s.accessor() }},
	{"RegExp doesn't have global flag set", func(site, string) string {
		return "String.prototype.matchAll called with a non-global RegExp argument"
	}},
	{"Illegal generator state", func(site, string) string { return "Generator is already running" }},
	{"Invalid property descriptor. Cannot both", func(_ site, rest string) string {
		return "Invalid property descriptor. Cannot both" + rest + ", #<Object>"
	}},
}

// read: property `rest` of a base that is null or undefined.
func (s site) read(rest string) string {
	end := strings.LastIndex(rest, "' of ")
	if end < 0 {
		return ""
	}
	key, depth := rest[:end], 1
	if op := s.op(); strings.HasPrefix(op, "getElem") || op == "getKey" {
		depth = 2
		if symbol, ok := s.machine.Peek(1).(*goja.Symbol); ok {
			if symbol == goja.SymIterator {
				return builtin.CallSite(s.engine, s.machine.Peek(2)) + notIterableValue
			}
			key = "Symbol(" + symbol.String() + ")"
		}
		if op == "getElemRecv" {
			depth = 1
		}
	}
	base := "undefined"
	if v := s.machine.Peek(depth); v != nil && goja.IsNull(v) {
		base = "null"
	}
	return "Cannot read properties of " + base + " (reading '" + key + "')"
}

// called: a call of something that is no function, whose last name is member.
func (s site) called(member string) string {
	if src, offset, ok := s.position(); ok && strings.HasPrefix(s.op(), "call") {
		if v := s.machine.Peek(s.count() + 2); member == "Symbol.asyncIterator" {
			return builtin.Show(s.engine, v) + " is not async iterable"
		} else if member == "Symbol.iterator" && strings.HasSuffix(strings.TrimRight(src[:offset], " "), `[__knownSymbol("iterator")]`) {
			return builtin.Show(s.engine, v) + " is not async iterable"
		}
		if callee := calleeBefore(src, offset); callee != intermediate || member == "" {
			return callee + " is not a function"
		}
	}
	if member == "Symbol.iterator" || member == "Symbol.asyncIterator" {
		return s.notIterable()
	}
	return intermediate + "." + member + " is not a function"
}

// object: a call of an object that is no function.
func (s site) object() string {
	if src, offset, ok := s.position(); ok && strings.HasPrefix(s.op(), "call") {
		return calleeBefore(src, offset) + " is not a function"
	}
	return "object is not a function"
}

func (s site) notObject(shown string) string {
	switch op := s.op(); {
	case op == "":
		return s.nativeNotObject(shown)
	case op == "new":
		callee, isObject := s.machine.Peek(s.count() + 1).(*goja.Object)
		if !isObject {
			return s.constructed()
		}
		return s.inConstructor(s.nameOf(callee), shown)
	case strings.HasPrefix(op, "call"):
		return s.called("")
	case op == "op_instanceof":
		return "Right-hand side of 'instanceof' is not an object"
	case op == "op_in", op == "inOp":
		return fmt.Sprintf("Cannot use 'in' operator to search for '%s' in %s", s.searched(s.machine.Peek(2)), shown)
	case strings.HasPrefix(op, "privateIn"):
		if src, offset, ok := s.position(); ok {
			before := strings.TrimRight(src[:offset], " ")
			before = strings.TrimRight(strings.TrimSuffix(before, "in"), " ")
			return fmt.Sprintf("Cannot use 'in' operator to search for '%s' in %s", before[operandStart(before, len(before)):], shown)
		}
	case strings.HasPrefix(op, "iterate"), strings.HasPrefix(op, "push"):
		return "Result of the Symbol.iterator method is not an object"
	case strings.HasPrefix(op, "iterNext"):
		return "Iterator result " + shown + " is not an object"
	}
	return shown + " is not an object"
}

// inConstructor: an argument of a built-in class that must be an object.
func (s site) inConstructor(name, shown string) string {
	switch name {
	case "Promise":
		return "Promise resolver " + builtin.Show(s.engine, s.first()) + " is not a function"
	case "Map", "WeakMap":
		return "Iterator value " + shown + " is not an entry object"
	case "WeakSet":
		return "Invalid value used in weak set"
	}
	return s.argument(shown) + " is not an object"
}

// argument is the argument of a construction that goja shows as shown.
func (s site) argument(shown string) string {
	for n := s.count(); n > 0; n-- {
		if v := s.machine.Peek(n); v != nil && s.engine.Text(v) == shown {
			return builtin.Show(s.engine, v)
		}
	}
	return shown
}

// searched shows the left side of `in`.
func (s site) searched(v goja.Value) string {
	switch v := v.(type) {
	case *goja.Symbol:
		return "Symbol(" + v.String() + ")"
	case *goja.Object:
		if !engine.IsCallable(v) {
			return builtin.Show(s.engine, v)
		}
	}
	return s.engine.Text(v)
}

// target is what an assignment writes to, and the key.
func (s site) target() (base goja.Value, key string) {
	op := s.op()
	if strings.HasPrefix(op, "setElem") {
		if v := s.machine.Peek(2); v != nil {
			key = s.engine.Text(v)
		}
		return s.machine.Peek(3), key
	}
	return s.machine.Peek(2), s.key()
}

// nullish: null or undefined where an object is needed.
func (s site) nullish() string {
	op := s.op()
	switch {
	case strings.HasPrefix(op, "setProp"), strings.HasPrefix(op, "setElem"):
		base, key := s.target()
		return fmt.Sprintf("Cannot set properties of %s (setting '%s')", builtin.Show(s.engine, base), key)
	case strings.HasPrefix(op, "iterate"), strings.HasPrefix(op, "push"):
		return s.notIterable()
	case s.iterating():
		return builtin.CallSite(s.engine, s.first()) + notIterableValue
	}
	return ""
}

// readOnlyElement: an element of a frozen array was assigned to.
func (s site) readOnlyElement() string {
	key, of := "0", s.native().this // V8's methods begin there
	if op := s.op(); strings.HasPrefix(op, "setElem") {
		of, key = s.target()
	} else if op != "" {
		return ""
	}
	return fmt.Sprintf("Cannot assign to read only property '%s' of object '%s'", key, builtin.Show(s.engine, of))
}

func (s site) readOnly(rest string) string {
	key := strings.TrimSuffix(rest, "'")
	if strings.HasPrefix(key, "#") {
		return "'" + key + "' was defined without a setter"
	}
	if key, isString := strings.CutSuffix(rest, "' of a String"); isString {
		base, _ := s.target()
		return fmt.Sprintf("Cannot assign to read only property '%s' of string '%s'", key, s.engine.Text(base))
	}
	if op := s.op(); !strings.HasPrefix(op, "setProp") && !strings.HasPrefix(op, "setElem") {
		if of, ok := s.machine.Argument(0).(*goja.Object); ok && op == "" && (of.ClassName() == "RegExp" || of.ClassName() == "Array") {
			return fmt.Sprintf("Cannot assign to read only property '%s' of object '[object %s]'", key, of.ClassName())
		}
		return fmt.Sprintf("Cannot assign to read only property '%s' of object", key)
	}
	base, _ := s.target()
	object, ok := base.(*goja.Object)
	if !ok {
		return fmt.Sprintf("Cannot assign to read only property '%s' of %s", key, s.primitive(base, s.engine.Text(base)))
	}
	kind := "object"
	if engine.IsCallable(object) {
		kind = "function"
	}
	if s.hasGetter(object, key) && s.engine.Attached(object) == nil { // workerd: attributes of its own classes are read only
		return fmt.Sprintf("Cannot set property %s of %s which has only a getter", key, builtin.Show(s.engine, object))
	}
	return fmt.Sprintf("Cannot assign to read only property '%s' of %s '%s'", key, kind, builtin.Show(s.engine, object))
}

// hasGetter reports whether a property is an accessor, on o or its prototypes.
func (s site) hasGetter(o *goja.Object, key string) bool {
	found := false
	s.engine.VM().Try(func() {
		for ; o != nil && !found; o = o.Prototype() {
			describe := s.engine.Primordial("ObjectGetOwnPropertyDescriptor")
			d, ok := s.engine.Call(describe, goja.Undefined(), o, s.engine.VM().ToValue(key)).(*goja.Object)
			if ok {
				found = d.Get("get") != nil
				return
			}
		}
	})
	return found
}

// primitive shows a base of an assignment, as in "string 'abc'".
func (s site) primitive(v goja.Value, text string) string {
	if v == nil {
		return "'" + text + "'"
	}
	kind, _, _ := strings.Cut(builtin.CallSite(s.engine, v), " ")
	return kind + " '" + builtin.Show(s.engine, v) + "'"
}

// constructed: `new` on something that is no constructor.
func (s site) constructed() string {
	if src, offset, ok := s.position(); ok && s.op() == "new" {
		return operandAfter(src, offset, true) + " is not a constructor"
	}
	return s.nativeArgument(intermediate) + " is not a constructor"
}

// destructured: an object pattern met null or undefined.
func (s site) destructured() string {
	if op := s.op(); op != "checkObjectCoercible" && op != "createDestructSrc" {
		switch name := s.native().name; name {
		case "":
		case "fromEntries":
			return builtin.Show(s.engine, s.first()) + " is not iterable"
		case "setPrototypeOf":
			return "Object." + name + " called on null or undefined"
		default:
			return "String.prototype." + name + " called on null or undefined"
		}
		return ""
	}
	value := builtin.Show(s.engine, s.machine.Peek(1))
	src, offset, ok := s.position()
	if !ok {
		return "Cannot destructure '" + value + "' as it is " + value + "."
	}
	parameter := src[offset] == '{' || src[offset] == '('
	name := intermediate
	if !parameter {
		var end int
		offset, end = operandAround(src, offset)
		name = printed(src[offset:end])
		if strings.HasSuffix(src[:offset], " of ") {
			name, offset = ".for", offset-len(" of ")
		}
	}
	if parameter || name == intermediate || name == "" || keywords[name] {
		name = value
	}
	if before, awaited := strings.CutSuffix(src[:offset], "await "); awaited {
		offset, name = len(before), intermediate
	}
	key, plain := firstKey(src, offset)
	if key != "" && parameter && value == "null" {
		name = "object null" // what V8 calls a value that no expression stands for
	}
	if key != "" && (!plain || (name == value || name == key) && !parameter) {
		return "Cannot read properties of " + value + " (reading '" + key + "')"
	}
	if key != "" {
		return "Cannot destructure property '" + key + "' of '" + name + "' as it is " + value + "."
	}
	return "Cannot destructure '" + name + "' as it is " + value + "."
}

// firstKey is the first name of the object pattern before offset
// ("{ a, b } = value") or at it (a parameter), "" if it is computed. It is plain
// if what takes the value has no default.
func firstKey(src string, offset int) (key string, plain bool) {
	before := strings.TrimRight(src[:offset], " ")
	rest, ok := strings.CutSuffix(before, "=")
	if inLoop := strings.HasPrefix(src[offset:], " of "); ok || inLoop {
		rest = strings.TrimRight(rest, " ")
		if strings.HasSuffix(rest, "}") {
			if open := opening(rest); open >= 0 {
				return keyOf(rest[open+1:])
			}
		}
		return "", false
	}
	if at := strings.IndexByte(src[offset:min(len(src), offset+80)], '{'); at >= 0 && strings.Trim(src[offset:offset+at], "( ") == "" {
		return keyOf(src[offset+at+1:])
	}
	return "", false
}

// keyOf is the first name of the pattern whose inside begins text.
func keyOf(text string) (key string, plain bool) {
	text = strings.TrimLeft(text, " \n")
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		n := strings.IndexByte(text[1:], text[0])
		if n < 0 {
			return "", false
		}
		key, text = text[1:1+n], text[n+2:]
	} else {
		key = wordAt(text, 0)
		text = text[len(key):]
	}
	text = strings.TrimLeft(text, " \n")
	if rest, ok := strings.CutPrefix(text, ":"); ok {
		rest = strings.TrimLeft(rest, " \n")
		end := len(wordAt(rest, 0))
		if end == 0 { // a pattern
			end = closing(rest) + 1
		}
		text = strings.TrimLeft(rest[end:], " \n")
	}
	return key, !strings.HasPrefix(text, "=")
}
