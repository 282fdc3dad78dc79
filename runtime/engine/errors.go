package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/event"
)

// errorClasses are the built-in error classes that may cross contexts by name.
var errorClasses = map[string]bool{"Error": true, "TypeError": true, "RangeError": true, "SyntaxError": true,
	"ReferenceError": true, "EvalError": true, "URIError": true, "AggregateError": true}

// Errors are JavaScript's errors, to Go and from it, and their stacks in the
// user's source. Loop-confined.
type Errors struct {
	engine *Engine
	mapper SourceMapper
	maker  func(class, message string) *goja.Object // of classes that are the platform's
}

// New makes an error of a built-in class; other class names become the
// name of a plain Error.
func (x *Errors) New(class, message string) *goja.Object {
	if x.maker != nil && !errorClasses[class] {
		if obj := x.maker(class, message); obj != nil {
			return obj
		}
	}
	name := class
	if !errorClasses[class] || class == "AggregateError" {
		class = "Error"
	}
	obj, err := x.engine.vm.New(x.engine.Primordial(class), x.engine.vm.ToValue(message))
	if err != nil {
		panic(err)
	}
	if name != class && name != "" {
		obj.DefineDataProperty("name", x.engine.vm.ToValue(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return obj
}

// SetMaker lets the web platform make the errors of classes that are not
// JavaScript's own (DOMException). maker returns nil for names it does not know.
func (x *Errors) SetMaker(maker func(class, message string) *goja.Object) { x.maker = maker }

// Throw raises a JavaScript error from a native; it does not return.
func (e *Engine) Throw(class, format string, args ...any) {
	panic(e.Errors.New(class, fmt.Sprintf(format, args...)))
}

// FromGo makes the JavaScript value of a Go error: the value that was thrown,
// if the error came from JavaScript; an Error with its class and flags, if it
// is an *event.Error; else an Error with the text.
func (x *Errors) FromGo(err error) goja.Value {
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return ex.Value()
	}
	var ev *event.Error
	if !errors.As(err, &ev) {
		return x.New("Error", err.Error())
	}
	obj := x.New(ev.Name, ev.Message)
	if ev.Stack != "" {
		obj.DefineDataProperty("stack", x.engine.vm.ToValue(ev.Stack), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	x.SetFlags(obj, ev)
	return obj
}

// SetFlags puts the flags of a failure that crossed contexts on obj.
func (x *Errors) SetFlags(obj *goja.Object, ev *event.Error) {
	for _, f := range []struct {
		name string
		on   bool
	}{{"remote", ev.Remote}, {"retryable", ev.Retryable}, {"overloaded", ev.Overloaded}, {"durableObjectReset", ev.ObjectReset}} {
		if f.on {
			obj.Set(f.name, true)
		}
	}
}

// ToEvent describes a thrown value for other contexts, without the value itself.
func (x *Errors) ToEvent(v goja.Value) *event.Error {
	out := &event.Error{Name: "Error"}
	ex := x.engine.vm.Try(func() {
		obj, ok := v.(*goja.Object)
		if !ok || !x.Is(v) {
			out.Message = x.engine.Text(v)
			return
		}
		if name := obj.Get("name"); name != nil {
			out.Name = name.String()
		}
		if m := obj.Get("message"); m != nil {
			out.Message = m.String()
		}
		out.Stack = x.Stack(v)
		flag := func(name string) bool { f := obj.Get(name); return f != nil && f.ToBoolean() }
		out.Remote, out.Retryable = flag("remote"), flag("retryable")
		out.Overloaded, out.ObjectReset = flag("overloaded"), flag("durableObjectReset")
	})
	if ex != nil {
		out.Message = "an error whose properties throw"
	}
	return out
}

// Is reports whether v is an instance of the built-in Error.
func (x *Errors) Is(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok && x.engine.vm.InstanceOf(v, x.engine.Primordial("Error"))
}

// Text is String(v) that never throws.
func (e *Engine) Text(v goja.Value) (text string) {
	if v == nil {
		return "undefined"
	}
	if ex := e.vm.Try(func() { text = v.String() }); ex != nil {
		return "a value that cannot be shown"
	}
	return text
}

// Stack is the source-mapped stack of an error value, beginning with its name
// and message; for other values their text.
func (x *Errors) Stack(v goja.Value) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		return x.engine.Text(v)
	}
	var stack string
	x.engine.vm.Try(func() {
		if s := obj.Get("stack"); s != nil && !goja.IsUndefined(s) {
			stack = s.String()
		}
	})
	if stack == "" {
		return x.engine.Text(v)
	}
	return x.MapStack(stack)
}

// maxLogged bounds what a log says of one exception, in bytes: production keeps 256 KB of
// all that a request logs.
const maxLogged = 256 << 10

// maxCauses bounds how many causes of one exception a log shows.
const maxCauses = 10

// named is Stack under the name and the message that an error has by now, as wrangler
// logs it: what code made of its stack counts for the calls alone.
func (x *Errors) named(v goja.Value) string {
	stack := x.Stack(v)
	obj, ok := v.(*goja.Object)
	if !ok || !x.Is(v) {
		return stack
	}
	head := ""
	x.engine.vm.Try(func() { // getters may throw
		name, isText := obj.Get("name").(goja.String)
		message, isToo := obj.Get("message").(goja.String)
		switch {
		case !isText || !isToo:
		case message.Length() == 0:
			head = name.String()
		default:
			head = name.String() + ": " + message.String()
		}
	})
	if strings.HasPrefix(stack, head) {
		return stack
	}
	if _, calls, ok := strings.Cut(stack, "\n    at "); ok {
		head += "\n    at " + calls
	}
	return head
}

// Logged is Stack for a line of a log, followed by the errors that caused it. Of a text that is longer than maxLogged it has the
// beginning and the end, where the places are: a line of megabytes helps nobody, and
// writing it holds up who shares the process.
func (x *Errors) Logged(v goja.Value) string {
	text := x.named(v)
	for n := 0; n < maxCauses && len(text) <= maxLogged; n++ {
		if v = x.cause(v); v == nil {
			break
		}
		if x.Is(v) {
			text += "\nCaused by: " + x.named(v)
		} else {
			text += "\nCaused by: " + x.LikeError(v)
		}
	}
	out := len(text) - maxLogged
	if out <= 0 {
		return text
	}
	const end = maxLogged / 4
	return strings.ToValidUTF8(text[:maxLogged-end], "") + fmt.Sprintf("\n... %d bytes left out ...\n", out) + strings.ToValidUTF8(text[len(text)-end:], "")
}

// cause is what an error's property `cause` has (ECMA-262, section 20.5.8.1), nil if
// there is none.
func (x *Errors) cause(v goja.Value) (cause goja.Value) {
	x.engine.vm.Try(func() {
		if x.Is(v) {
			if c := v.(*goja.Object).Get("cause"); c != nil && !goja.IsUndefined(c) {
				cause = c
			}
		}
	})
	return cause
}

// LikeError shows a value that is no error as wrangler does: as one with its name and
// message, if it has these, else with its text.
func (x *Errors) LikeError(v goja.Value) string {
	name, message := "Error", x.engine.Text(v)
	if obj, ok := v.(*goja.Object); ok {
		read := func(property, otherwise string) string {
			if text, is := obj.Get(property).(goja.String); is {
				return text.String()
			}
			return otherwise
		}
		x.engine.vm.Try(func() { // getters may throw
			name = read("name", name)
			message = read("message", message)
		})
	}
	if message == "" {
		return name
	}
	return name + ": " + message
}

// gojaFrame is a stack line as goja prints it: "at f (file:line:column(pc))"
// or "at file:line:column(pc)".
var gojaFrame = lazyregexp.New(`^\s*at (?:(.*) \()?(.*?):(\d+):(\d+)\(\d+\)\)?$`)

// MapStack rewrites the stack text of goja into V8's form with positions of
// the user's source. Frames of our own code are left out. Text in another form
// passes unchanged, so mapping twice does no harm.
func (x *Errors) MapStack(stack string) string {
	if !strings.Contains(stack, "\n") {
		return stack
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(stack, "\n"), "\n") {
		mapped, keep := x.mapLine(line)
		if !keep {
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(mapped)
	}
	return b.String()
}

func (x *Errors) mapLine(line string) (string, bool) {
	if native, ok := strings.CutSuffix(line, " (native)"); ok && strings.HasPrefix(strings.TrimSpace(line), "at ") {
		if name, shown := strings.CutSuffix(strings.TrimSpace(native), BuiltinFrame); shown {
			if strings.HasPrefix(name, "at async ") { // Promise.all
				return "    " + name, true
			}
			return "    " + name + " (<anonymous>)", true
		}
		return "", false
	}
	m := gojaFrame.FindStringSubmatch(line)
	if m == nil {
		return line, true
	}
	file, fn := m[2], m[1]
	if strings.HasPrefix(file, "minido:") {
		return "", false
	}
	ln, _ := strconv.Atoi(m[3])
	col, _ := strconv.Atoi(m[4])
	if x.mapper != nil {
		if s, l, c, ok := x.mapper.MapPosition(file, ln, col); ok {
			file, ln, col = s, l, c
		}
	}
	if fn == "" || fn == "async" {
		return fmt.Sprintf("    at %s%s:%d:%d", strings.TrimPrefix(fn+" ", " "), file, ln, col), true
	}
	return fmt.Sprintf("    at %s (%s:%d:%d)", fn, file, ln, col), true
}

// where shows the innermost frame of the user's code in a captured stack.
func (x *Errors) where(stack []goja.StackFrame) string {
	for _, f := range stack {
		p := f.Position()
		if p.Filename == "" || strings.HasPrefix(p.Filename, "minido:") {
			continue
		}
		file, line, col := p.Filename, p.Line, p.Column
		if x.mapper != nil {
			if s, l, c, ok := x.mapper.MapPosition(file, line, col); ok {
				file, line, col = s, l, c
			}
		}
		return fmt.Sprintf("\n    at %s (%s:%d:%d)", f.FuncName(), file, line, col)
	}
	return ""
}

// FunctionText is the text that a function of the program has in its file, if files are
// run as they are; ok is false otherwise. The mapper may know.
func (x *Errors) FunctionText(text string) (original string, ok bool) {
	if m, knows := x.mapper.(interface {
		FunctionText(text string) (string, bool)
	}); knows {
		return m.FunctionText(text)
	}
	return "", false
}

// Rethrow raises, from a native, an error that a goja call returned, or an
// *event.Error.
func (e *Engine) Rethrow(err error) {
	var ev *event.Error
	if errors.As(err, &ev) {
		panic(e.Errors.FromGo(ev))
	}
	var ex *goja.Exception
	if errors.As(err, &ex) {
		var overflow *goja.StackOverflowError
		var interrupted *goja.InterruptedError
		if !errors.As(err, &overflow) && !errors.As(err, &interrupted) {
			panic(ex.Value())
		}
	}
	panic(err)
}

// BuiltinFrame ends the name of a frame of a built-in that V8 shows.
const BuiltinFrame = "\x01"
