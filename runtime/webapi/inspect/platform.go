package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// costly are attributes that make something when they are read: an inspection
// does not read them, lest it change what the object does next.
var costly = map[string]bool{"body": true, "readable": true, "writable": true, "signal": true, "ready": true, "closed": true, "finished": true}

// platformShape shows an object of the platform with its attributes, as workerd
// does (src/node/internal/internal_inspect.ts); lists of names and values, such
// as Headers, are shown as a Map is.
func (in *inspector) platformShape(obj *goja.Object, class, tag string) shape {
	if class == "Headers" || class == "URLSearchParams" || class == "FormData" {
		if entries := in.entries(obj); entries != nil {
			s := shape{open: prefix(class, tag, tag, fmt.Sprintf("(%d)", len(entries))) + "{", end: "}", filled: len(entries) > 0, keys: in.keys(obj, false)}
			s.parts = func() []string {
				var parts []string
				level := len(in.seen) - 1
				for _, pair := range entries[:min(len(entries), in.o.maxArray)] {
					parts = append(parts, in.nested(pair[0], level)+" => "+in.nested(pair[1], level))
				}
				if more := len(entries) - in.o.maxArray; more > 0 {
					parts = append(parts, moreItems(more))
				}
				return parts
			}
			return s
		}
	}
	names, getters := in.attributes(obj)
	if strings.HasPrefix(tag, "WebAssembly.") { // V8's own, which Node shows without
		names = nil
	}
	s := shape{open: prefix(class, tag, "Object", "") + "{", end: "}", filled: len(names) > 0, keys: in.keys(obj, false)}
	s.parts = func() []string {
		var parts []string
		level := len(in.seen) - 1
		for i, name := range names {
			text := in.style("[Getter]", "special")
			if !costly[name] || class == "AbortController" { // which has its signal from the start
				var v goja.Value
				if thrown := in.p.Engine.Try(func() { v = in.p.Engine.Call(getters[i], obj) }); thrown == nil {
					text = in.nested(v, level)
				}
			}
			parts = append(parts, in.key(in.p.VM.ToValue(name), true)+": "+text)
		}
		return parts
	}
	return s
}

// entries are the names and values of a list-like platform object.
func (in *inspector) entries(obj *goja.Object) (pairs [][2]goja.Value) {
	pairs = [][2]goja.Value{}
	thrown := in.p.Engine.Try(func() {
		forEach, ok := obj.Prototype().Get("forEach").(*goja.Object)
		if !ok || !engine.IsCallable(forEach) {
			pairs = nil
			return
		}
		in.p.Engine.Call(forEach, obj, in.p.VM.ToValue(func(call goja.FunctionCall) goja.Value {
			pairs = append(pairs, [2]goja.Value{call.Argument(1), call.Argument(0)})
			return goja.Undefined()
		}))
	})
	if thrown != nil {
		return nil
	}
	return pairs
}

// attributes are the getters that the classes of a platform object define; a
// subclass of the user's has none that are enumerable.
func (in *inspector) attributes(obj *goja.Object) (names []string, getters []goja.Value) {
	seen := map[string]bool{}
	for p := obj.Prototype(); p != nil && p.ExportType() != webidl.ProxyType; p = p.Prototype() {
		for _, name := range p.Keys() {
			d := in.descriptor(p, in.p.VM.ToValue(name))
			if d == nil || webidl.IsMissing(d.Get("get")) || seen[name] {
				continue
			}
			if _, err := strconv.Atoi(name); err == nil {
				continue
			}
			seen[name] = true
			names, getters = append(names, name), append(getters, d.Get("get"))
		}
	}
	return names, getters
}
