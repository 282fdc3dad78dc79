package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/webidl"
)

// errorShape shows an error by its stack, in positions of the user's source,
// and what else hangs on it.
func (in *inspector) errorShape(obj *goja.Object, class, tag string) shape {
	stack := in.p.Engine.Errors.Stack(obj)
	name, message := in.inherited(obj, "name"), in.inherited(obj, "message")
	head, frames, traced := strings.Cut(stack, "\n    at ")
	if head == "" && !traced {
		head = webidl.StackHeader(name, message)
	}
	head = in.classed(head, traced, obj, class, tag)
	text := "[" + head + "]"
	if traced {
		text = in.withoutShared(obj, head+"\n    at "+frames)
	}
	text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", in.indent))
	var keys []goja.Value
	for _, key := range in.keys(obj, false) {
		if _, isSymbol := key.(*goja.Symbol); !isSymbol && !in.o.showHidden {
			if k := key.String(); k == "stack" || (k == "name" || k == "message") && strings.Contains(stack, in.ownText(obj, k)) {
				continue
			}
		}
		keys = append(keys, key)
	}
	for _, hidden := range []string{"cause", "errors"} {
		key := in.p.VM.ToValue(hidden)
		if d := in.descriptor(obj, key); d != nil && !in.o.showHidden && !d.Get("enumerable").ToBoolean() {
			keys = append(keys, key)
		}
	}
	return shape{base: text, brief: true, open: "{", end: "}", keys: keys}
}

// classed is the first line of an error's stack with the class that the error has, if it
// says less: MyError: m, or E [Error]: m (Node, lib/internal/util/inspect.js, improveStack).
func (in *inspector) classed(head string, traced bool, obj *goja.Object, class, tag string) string {
	name, isString := "Error", true
	in.p.Engine.Try(func() {
		if v := obj.Get("name"); !webidl.IsMissing(v) && !goja.IsNull(v) {
			name, isString = v.String(), isText(v)
		}
	})
	if !isString {
		return strings.Replace(head, name, name+" ["+strings.TrimSuffix(prefix(class, tag, "Error", ""), " ")+"]", 1)
	}
	rest, begins := strings.CutPrefix(head, name)
	if class != "" && !(strings.HasSuffix(name, "Error") && begins && (rest == "" || rest[0] == ':')) {
		return head
	}
	known, fallback := name, "Error"
	if class == "" { // what the stack calls it
		known = ""
		if m := calledIn.FindStringSubmatch(head); m != nil && (m[2] != "" || traced) {
			known = m[1]
		} else if m := errorAlone.FindStringSubmatch(head); m != nil {
			known = m[1]
		}
		if known != "" {
			fallback = known
		}
	}
	switch full := strings.TrimSuffix(prefix(class, tag, fallback, ""), " "); {
	case name == full:
		return head
	case !strings.Contains(full, name):
		return full + " [" + name + "]" + head[len(known):]
	case known == "":
		return full + ": " + head
	default:
		return full + head[len(known):]
	}
}

var (
	calledIn   = lazyregexp.New(`^([A-Z][a-z_ A-Z0-9[\]()-]+)(:|$)`)
	errorAlone = lazyregexp.New(`^([a-z_A-Z0-9-]*Error)$`)
)

// withoutShared leaves out of a stack the calls that its cause has, too, if these are
// more than three (Node, getStackFrames).
func (in *inspector) withoutShared(obj *goja.Object, stack string) string {
	var cause goja.Value
	in.p.Engine.Try(func() { cause = obj.Get("cause") })
	if cause == nil || !in.p.Engine.Errors.Is(cause) {
		return stack
	}
	below := in.p.Engine.Errors.Stack(cause)
	start := strings.Index(below, "\n    at")
	if start < 0 {
		return stack
	}
	lines, causes := strings.Split(stack, "\n"), strings.Split(below[start+1:], "\n")
	for i := 0; i < len(lines)-3; i++ {
		at := slices.Index(causes, lines[i])
		if at < 0 {
			continue
		}
		n := 1
		for i+n < len(lines) && at+n < len(causes) && lines[i+n] == causes[at+n] {
			n++
		}
		if n > 3 {
			note := in.style(fmt.Sprintf("    ... %d lines matching cause stack trace ...", n-2), "undefined")
			return strings.Join(slices.Replace(lines, i+1, i+n-1, note), "\n")
		}
	}
	return stack
}

// inherited is a property's text, "" if it has none.
func (in *inspector) inherited(obj *goja.Object, name string) (text string) {
	in.p.Engine.Try(func() {
		if v := obj.Get(name); !webidl.IsMissing(v) {
			text = v.String()
		}
	})
	return text
}
