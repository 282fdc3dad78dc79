package errortext

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// V8 names a method in a stack by the class of its receiver ("Foo.bar"), a
// construction by "new", what waits by "async", and shows the built-ins that
// called the program back. goja knows the names of functions. When an error is
// made its frames are given V8's names, by a look at the calls that are active
// then: what is on goja's stack for each of them.

// names gives frames their names. Loop-confined.
type names struct {
	engine *engine.Engine
	m      insides.Machine
	ways   *insides.Waiters
	known  map[frameKey]unistring.String
	active []insides.Call // calls' memory
	naming bool           // names are being given
	class  *goja.Object   // Error

	getter, setter goja.Value // of the stack of an error that nobody has read
	format         func(*goja.Object, []goja.StackFrame) goja.Value
}

// frameKey is what a name depends on; receivers of one class differ in nothing
// that is worth the time to look.
type frameKey struct {
	code        unsafe.Pointer // the program, or the function if it is native
	proto       *goja.Object
	constructed bool
	async       bool
}

// state is nil inside if goja cannot be looked into.
type state struct{ names *names }

var stacks = engine.NewLocal(func(*engine.Engine) *state { return &state{} })

// maxStackNames bounds the names that are kept.
const maxStackNames = 4096

// name gives frames, which were captured now, their names.
func (s *names) name(frames []goja.StackFrame) {
	if s == nil || len(frames) == 0 {
		return
	}
	s.active = s.m.Calls(s.active, len(frames)+1)
	calls := s.active
	stack := *s.m.Stack()
	for i := range frames {
		name, program := insides.FrameName(&frames[i]), insides.FrameProgram(&frames[i])
		key := frameKey{code: program}
		var fn *goja.Object
		var this goja.Value
		switch {
		case i >= len(calls):
			key.async = true
		case calls[i].Program != program:
			return // not the calls of this stack
		default:
			c := calls[i]
			if c.Sb < 1 || c.Sb > len(stack) {
				continue
			}
			callee, ok := stack[c.Sb-1].(*goja.Object)
			if !ok || callee == nil {
				continue
			}
			if fn = callee; program == nil {
				if c.Sb >= 2 {
					this = stack[c.Sb-2]
				}
				key.code = unsafe.Pointer(fn)
			} else {
				if c.Sb == len(stack) || !s.m.In.Runs(fn, program) {
					continue
				}
				var caller insides.Call
				if i+1 < len(calls) {
					caller = calls[i+1]
				}
				this, key.constructed = stack[c.Sb], s.m.In.Constructs(fn, c, caller)
			}
			key.proto = s.classOf(this)
		}
		*name = s.kept(key, name.String(), fn, this)
	}
}

// kept is nameOf, which is asked once for each key.
func (s *names) kept(key frameKey, gojas string, fn *goja.Object, this goja.Value) unistring.String {
	known, ok := s.known[key]
	if !ok {
		if len(s.known) >= maxStackNames {
			clear(s.known)
		}
		known = unistring.NewFromString(s.nameOf(key, gojas, fn, this))
		s.known[key] = known
	}
	return known
}

// awaited puts the async functions that wait for what runs now, as V8 finds them, in the place
// of those that goja has found, up to most frames in all. The frames were captured now, and name
// has seen them.
func (s *names) awaited(frames []goja.StackFrame, most int) []goja.StackFrame {
	if s == nil || !s.ways.Known {
		return frames
	}
	var promise *goja.Promise
	if settling := s.engine.Settling(); settling != nil {
		promise = insides.ThePromises().Of(settling)
	} else {
		promise = s.ways.Current(s.m)
	}
	if promise == nil {
		return frames
	}
	s.active = s.m.Calls(s.active, len(frames)+1)
	frames = slices.Clip(frames[:min(len(frames), len(s.active))])
	for _, w := range s.ways.Of(promise, most-len(frames)) {
		name := insides.FrameName(&w.Frame)
		if fn, ok := w.Fn.(*goja.Object); ok {
			*name = s.kept(frameKey{code: insides.FrameProgram(&w.Frame), proto: s.classOf(w.This), async: true}, name.String(), fn, w.This)
		} else {
			*name += engine.BuiltinFrame
		}
		frames = append(frames, w.Frame)
	}
	return frames
}

// classOf is an object that stands for the class of a receiver; nil for none.
func (s *names) classOf(this goja.Value) *goja.Object {
	switch v := this.(type) {
	case nil:
		return nil
	case *goja.Object:
		if v == nil || v == s.engine.VM().GlobalObject() {
			return nil
		}
		if base := s.engine.Maker().Plain.Object(v); base != nil && base.Prototype() != nil {
			return base.Prototype()
		}
		if v.ExportType() == builtin.ProxyType || engine.IsCallable(v) {
			return v
		}
		if p := v.Prototype(); p != nil {
			return p
		}
		return v
	}
	if goja.IsUndefined(this) || goja.IsNull(this) {
		return nil
	}
	class := builtin.TypeOf(s.engine, this)
	return builtin.Prototype(s.engine, strings.ToUpper(class[:1])+strings.Replace(class[1:], "igint", "igInt", 1))
}

func (s *names) nameOf(key frameKey, gojas string, fn *goja.Object, this goja.Value) string {
	name := gojas
	if name == "<anonymous>" {
		name = ""
	}
	if key.async {
		if key.async = false; fn != nil {
			name = s.nameOf(key, gojas, fn, this)
		}
		return strings.TrimRight("async "+name, " ")
	}
	class := ""
	if key.proto != nil {
		class = s.typeName(this)
	}
	if own, ok := ownText(s.engine, fn, "name"); ok && !strings.HasPrefix(name, "new ") && own != "" {
		name = own
	}
	if class == "" && key.constructed && !strings.HasPrefix(name, "new ") {
		class = "Object"
	}
	switch {
	case key.code == unsafe.Pointer(fn):
		if class == "" || !shownBuiltins[class+"."+name] && !shownClasses[class] {
			return gojas
		}
		return class + "." + name + engine.BuiltinFrame
	case key.constructed:
		if name == "" {
			name = "<anonymous>"
		}
		return "new " + strings.TrimPrefix(name, "new ")
	case class == "" || strings.HasPrefix(name, "new ") || strings.HasPrefix(name, "<"):
		return name
	case name == "":
		if method := s.methodName(fn, this); method != "" {
			return class + "." + method
		}
		return class + ".<anonymous>"
	}
	shown := name
	if isIdentifier(name) {
		shown = class + "." + name
	}
	if method := s.methodName(fn, this); method != "" && method != name && !strings.HasSuffix(name, " "+method) && !strings.HasSuffix(name, "."+method) {
		shown += " [as " + method + "]"
	}
	return shown
}

// shownClasses are the classes whose built-in methods V8 shows in stacks.
var shownClasses = map[string]bool{"Array": true, "String": true, "Number": true, "JSON": true, "Map": true, "Set": true, "RegExp": true, "BigInt": true,
	"Date": true, "Uint8Array": true, "Int8Array": true, "Uint16Array": true, "Int16Array": true, "Uint32Array": true, "Int32Array": true, "Float32Array": true,
	"Float64Array": true, "Uint8ClampedArray": true, "BigInt64Array": true, "BigUint64Array": true, "ArrayBuffer": true, "DataView": true}

// shownBuiltins are further ones.
var shownBuiltins = map[string]bool{"Object.defineProperty": true, "Object.defineProperties": true, "Object.fromEntries": true, "Object.assign": true,
	"Object.entries": true, "Object.groupBy": true, "Object.setPrototypeOf": true, "Object.create": true}

// typeName is V8's word for the class of a receiver.
func (s *names) typeName(this goja.Value) string {
	o, ok := this.(*goja.Object)
	if !ok {
		o = s.classOf(this)
	}
	switch {
	case o.ExportType() == builtin.ProxyType:
		return "Proxy"
	case engine.IsCallable(o):
		if name, ok := ownText(s.engine, o, "name"); ok && name != "" && strings.HasPrefix(builtin.SourceOf(s.engine, o), "class") || s.m.In.FunctionOf(o) != nil {
			return name
		}
		return "Function"
	}
	name := builtin.ClassName(s.engine, o)
	if name == "Object" {
		for p := o; p != nil && p.ExportType() != builtin.ProxyType; p = p.Prototype() {
			tag, ok := s.engine.Call(s.engine.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), p, goja.SymToStringTag).(*goja.Object)
			if ok {
				if text, isText := tag.Get("value").(goja.String); isText {
					return text.String()
				}
				break
			}
		}
	}
	return name
}

// ownText is the text of an object's own property, if it is a text.
func ownText(e *engine.Engine, o *goja.Object, name string) (string, bool) {
	d, ok := e.Call(e.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), o, e.VM().ToValue(name)).(*goja.Object)
	if !ok {
		return "", false
	}
	text, ok := d.Get("value").(goja.String)
	if !ok {
		return "", false
	}
	return text.String(), true
}

// methodName is under which name a receiver has a function, "" if under none, or
// under several that are not the function's.
func (s *names) methodName(fn *goja.Object, this goja.Value) string {
	o, isObject := this.(*goja.Object)
	if !isObject {
		o = s.classOf(this)
	}
	own, _ := ownText(s.engine, fn, "name")
	describe := s.engine.Primordial("ObjectGetOwnPropertyDescriptor")
	found := ""
	for level := 0; o != nil && o.ExportType() != builtin.ProxyType && level < 8; o, level = o.Prototype(), level+1 {
		names := o.GetOwnPropertyNames()
		if len(names) > 200 {
			return found
		}
		for _, name := range names {
			d, ok := s.engine.Call(describe, goja.Undefined(), o, s.engine.VM().ToValue(name)).(*goja.Object)
			if !ok {
				continue
			}
			for _, part := range []string{"value", "get", "set"} {
				if d.Get(part) != goja.Value(fn) {
					continue
				}
				if name == own {
					return name
				}
				if found != "" {
					return ""
				}
				found = name
			}
		}
	}
	return found
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		if !isWord(name[i]) || i == 0 && name[0] >= '0' && name[0] <= '9' {
			return false
		}
	}
	return name != ""
}

// FormatStacks has format make the text of an error's stack when code first asks for
// it, in whatever way. Loop-confined.
func FormatStacks(e *engine.Engine, format func(*goja.Object, []goja.StackFrame) goja.Value) {
	if s := stacks.Of(e).names; s != nil {
		s.format = format
	}
}

// accessors makes what errors have as `stack`: V8's is an own accessor too
// (src/builtins/accessors.cc, ErrorStackGetter). The first use keeps the value.
func (s *names) accessors() {
	vm := s.engine.VM()
	keep := func(o *goja.Object, v goja.Value) {
		get := func(goja.FunctionCall) goja.Value { return v }
		set := func(call goja.FunctionCall) goja.Value {
			v = call.Argument(0)
			return goja.Undefined()
		}
		// A frozen error keeps its accessor, and is formatted each time.
		_ = o.DefineAccessorProperty("stack", anonymous(vm, get), anonymous(vm, set), goja.FLAG_NOT_SET, goja.FLAG_NOT_SET)
	}
	s.getter = anonymous(vm, func(call goja.FunctionCall) goja.Value {
		o, ok := call.This.(*goja.Object)
		if !ok {
			return goja.Undefined()
		}
		frames, ok := insides.StackOf(o)
		if !ok || s.format == nil {
			return goja.Undefined()
		}
		v := s.format(o, frames)
		keep(o, v)
		return v
	})
	s.setter = anonymous(vm, func(call goja.FunctionCall) goja.Value {
		if o, ok := call.This.(*goja.Object); ok {
			if _, ok := insides.StackOf(o); ok {
				keep(o, call.Argument(0))
			}
		}
		return goja.Undefined()
	})
}

// anonymous makes a function whose name is empty.
func anonymous(vm *goja.Runtime, fn func(goja.FunctionCall) goja.Value) goja.Value {
	o := vm.ToValue(fn).(*goja.Object)
	o.DefineDataProperty("name", vm.ToValue(""), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return o
}

// InstallStacks has errors take their names when they are made.
func InstallStacks(e *engine.Engine) {
	in := insides.TheGoja()
	if !in.Known || !insides.ThePlainLayout().Known || !insides.FramesKnown() {
		return
	}
	s := &names{engine: e, m: in.MachineOf(e.VM()), ways: insides.TheWaiters(), known: map[frameKey]unistring.String{}, class: e.Primordial("Error")}
	stacks.Of(e).names = s
	s.accessors()
	for _, class := range []string{"Error", "TypeError", "ReferenceError", "SyntaxError", "RangeError", "URIError", "EvalError", "AggregateError"} {
		own := e.Primordial(class)
		slot := in.ConstructorOf(own)
		if slot == nil {
			continue
		}
		original := *slot
		*slot = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			made := original(args, newTarget)
			if frames, ok := insides.UnreadStack(made); ok && !s.naming {
				s.naming = true
				skip := 0
				if newTarget != nil && newTarget != own {
					skip = s.through(newTarget, len(frames))
				}
				most := skip + s.shownFrames()
				s.name(frames[:min(len(frames), most)])
				insides.SetFrames(made, s.awaited(frames, most)[skip:])
				s.naming = false
				if s.format != nil {
					insides.ReplaceStack(made, s.getter, s.setter)
				}
			}
			return made
		}
	}
}

// through is how many of the innermost n calls end with the innermost of a function: V8
// leaves them out of the stack of an error whose class it is (src/execution/messages.cc,
// ErrorUtils::Construct).
func (s *names) through(fn *goja.Object, n int) int {
	stack := *s.m.Stack()
	s.active = s.m.Calls(s.active, n)
	for i, c := range s.active {
		if c.Sb > 0 && c.Sb <= len(stack) && stack[c.Sb-1] == goja.Value(fn) {
			return i + 1
		}
	}
	return 0
}

// shownFrames is how many frames a stack is going to show.
func (s *names) shownFrames() int {
	const usual = 10
	if v := s.class.Get("stackTraceLimit"); v != nil {
		return int(max(v.ToInteger(), usual))
	}
	return usual
}

// FormatFrames writes frames as goja does in the stack of an Error, but with the
// names that they were given.
func FormatFrames(frames []goja.StackFrame) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, f := range frames {
		name, at := insides.FrameName(&f).String(), f.Position()
		place := "native"
		if f.SrcName() != "<native>" {
			place = fmt.Sprintf("%s:%d:%d(0)", cmp.Or(at.Filename, "<eval>"), at.Line, at.Column)
		}
		if name == "" {
			fmt.Fprintf(&b, "\tat %s\n", place)
		} else {
			fmt.Fprintf(&b, "\tat %s (%s)\n", name, place)
		}
	}
	return b.String()
}

// NamedStack is the stack of the calls that are active, with V8's names, without
// what is above the call of above; nil for all. Loop-confined.
func NamedStack(e *engine.Engine, above *goja.Object) []goja.StackFrame {
	frames := e.VM().CaptureCallStack(0, nil)
	s := stacks.Of(e).names
	if s == nil {
		return frames
	}
	skip := 0
	if above != nil {
		skip = s.through(above, len(frames))
	}
	s.name(frames)
	return s.awaited(frames, skip+s.shownFrames())[skip:]
}
