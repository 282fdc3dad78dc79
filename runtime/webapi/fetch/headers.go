package fetch

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/mime"
)

// headers is the Go side of a Headers object (Fetch, section 5.1; workerd's
// api/headers.c++): the lines in order of insertion, names as given. The
// object is made only when JavaScript asks for it. Loop-confined.
type headers struct {
	list      event.Header
	shared    bool // list is also held by an event: copy it before a change
	immutable bool
	obj       *goja.Object
}

// get joins the values of name, as Headers.get does.
func (h *headers) get(name string) (value string, ok bool) {
	for _, f := range h.list {
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		if ok {
			value += ", " + f.Value
		} else {
			value, ok = f.Value, true
		}
	}
	return value, ok
}

func (h *headers) own() {
	if h.shared {
		h.list, h.shared = slices.Clone(h.list), false
	}
}

// append adds a line; a name keeps the spelling of its first line.
func (h *headers) append(name, value string) {
	h.own()
	for _, f := range h.list {
		if strings.EqualFold(f.Name, name) {
			name = f.Name
			break
		}
	}
	h.list = append(h.list, event.Field{Name: name, Value: value})
}

func (h *headers) set(name, value string) {
	h.own()
	for i, f := range h.list {
		if strings.EqualFold(f.Name, name) {
			h.list[i].Value = value
			rest := slices.DeleteFunc(h.list[i+1:], func(f event.Field) bool { return strings.EqualFold(f.Name, name) })
			h.list = h.list[:i+1+len(rest)]
			return
		}
	}
	h.list = append(h.list, event.Field{Name: name, Value: value})
}

func (h *headers) delete(name string) {
	h.own()
	h.list = slices.DeleteFunc(h.list, func(f event.Field) bool { return strings.EqualFold(f.Name, name) })
}

// share gives the list to an event, which treats it as immutable. A field
// without a name cannot be sent.
func (h *headers) share() event.Header {
	if h.list.Has("") {
		named := copyOf(h)
		named.delete("")
		return named.list
	}
	h.shared = true
	return h.list
}

// copyOf is a mutable copy with the same lines.
func copyOf(h *headers) headers {
	h.shared = true
	return headers{list: h.list, shared: true}
}

// sorted is what iteration shows: names in lower case and sorted, the values
// of one name joined, except Set-Cookie's.
func (h *headers) sorted() event.Header {
	out := make(event.Header, 0, len(h.list))
	for _, f := range h.list {
		out = append(out, event.Field{Name: strings.ToLower(f.Name), Value: f.Value})
	}
	slices.SortStableFunc(out, func(a, b event.Field) int { return strings.Compare(a.Name, b.Name) })
	n := 0
	for _, f := range out {
		if n > 0 && out[n-1].Name == f.Name && f.Name != "set-cookie" {
			out[n-1].Value += ", " + f.Value
			continue
		}
		out[n] = f
		n++
	}
	return out[:n]
}

func (h *headers) cookies() []any {
	out := []any{}
	for _, f := range h.list {
		if strings.EqualFold(f.Name, "set-cookie") {
			out = append(out, f.Value)
		}
	}
	return out
}

// headersObject is the Headers object of h.
func (p *Fetch) headersObject(h *headers) *goja.Object {
	if h.obj == nil {
		h.obj = p.headersClass().Wrap(h)
	}
	return h.obj
}

func (p *Fetch) defineHeaders() *engine.Class[*headers] {
	vm := p.VM
	method := func(name string, length int, fn func(h *headers, args []string) goja.Value) engine.Method[*headers] {
		return engine.Method[*headers]{Name: name, Fn: func(h *headers, call goja.FunctionCall) goja.Value {
			return fn(h, p.StringArgs(call, length, name, "Headers"))
		}}
	}
	cls := engine.DefineClass(p.Engine, engine.ClassDef[*headers]{
		Name: "Headers",
		Shown: []engine.Accessor[*headers]{
			{Name: "immutable", Get: func(h *headers, _ *goja.Object) goja.Value { return p.VM.ToValue(h.immutable) }},
		},
		New: func(call goja.ConstructorCall) *headers {
			h := &headers{obj: call.This}
			if v := call.Argument(0); !goja.IsUndefined(v) {
				p.fillHeaders(h, v, "Failed to construct 'Headers': constructor parameter 1 is not of type 'Headers or Sequence or object'.")
			}
			return h
		},
		Methods: []engine.Method[*headers]{
			method("get", 1, func(h *headers, args []string) goja.Value {
				if v, ok := h.get(p.nameAsked(args[0])); ok {
					return vm.ToValue(v)
				}
				return goja.Null()
			}),
			method("getAll", 1, func(h *headers, args []string) goja.Value {
				if !strings.EqualFold(args[0], "set-cookie") {
					p.Engine.Throw("TypeError", `getAll() can only be used with the header name "Set-Cookie".`)
				}
				return vm.NewArray(h.cookies()...)
			}),
			method("getSetCookie", 0, func(h *headers, _ []string) goja.Value { return vm.NewArray(h.cookies()...) }),
			method("has", 1, func(h *headers, args []string) goja.Value {
				return vm.ToValue(h.list.Has(p.nameAsked(args[0])))
			}),
			method("set", 2, func(h *headers, args []string) goja.Value {
				p.checkMutable(h)
				value := p.headerValue(args[0], args[1])
				h.set(p.headerName(args[0]), value)
				return goja.Undefined()
			}),
			method("append", 2, func(h *headers, args []string) goja.Value {
				p.checkMutable(h)
				value := p.headerValue(args[0], args[1])
				h.append(p.headerName(args[0]), value)
				return goja.Undefined()
			}),
			method("delete", 1, func(h *headers, args []string) goja.Value {
				p.checkMutable(h)
				h.delete(p.headerName(args[0]))
				return goja.Undefined()
			}),
			{Name: "forEach", Fn: p.headersForEach},
			{Name: "entries", Fn: p.headersList("EntryIterator", func(f event.Field) any { return vm.NewArray(f.Name, f.Value) })},
			{Name: "keys", Fn: p.headersList("KeyIterator", func(f event.Field) any { return f.Name })},
			{Name: "values", Fn: p.headersList("ValueIterator", func(f event.Field) any { return f.Value })},
		},
	})
	cls.Alias(goja.SymIterator, "entries")
	return cls
}

func (p *Fetch) headersForEach(h *headers, call goja.FunctionCall) goja.Value {
	fn, this, obj := call.Argument(0), call.Argument(1), p.headersObject(h)
	if _, ok := goja.AssertFunction(fn); !ok {
		p.Engine.Throw("TypeError", "Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'function'.")
	}
	for _, f := range h.sorted() {
		p.Engine.Call(fn, this, p.VM.ToValue(f.Value), p.VM.ToValue(f.Name), obj)
	}
	return goja.Undefined()
}

// headersList makes an iterator over the sorted list as it is now: changes do not
// show, as in workerd.
func (p *Fetch) headersList(tag string, item func(event.Field) any) func(*headers, goja.FunctionCall) goja.Value {
	return func(h *headers, _ goja.FunctionCall) goja.Value {
		i, list := 0, h.sorted()
		return p.Iterator("Headers", tag, func() (goja.Value, bool) {
			if i >= len(list) {
				return nil, false
			}
			i++
			return p.VM.ToValue(item(list[i-1])), true
		})
	}
}

func (p *Fetch) checkMutable(h *headers) {
	if h.immutable {
		p.Engine.Throw("TypeError", "Can't modify immutable headers.")
	}
}

// fillHeaders appends what a HeadersInit holds; wrongType is thrown for
// anything else.
func (p *Fetch) fillHeaders(h *headers, init goja.Value, wrongType string) {
	obj, ok := init.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "%s", wrongType)
	}
	if other, ok := p.Engine.Attached(obj).(*headers); ok {
		other.shared = true
		h.list, h.shared = other.list, true
		return
	}
	if it := obj.GetSymbol(goja.SymIterator); it != nil && !goja.IsUndefined(it) && !goja.IsNull(it) {
		p.fillPairs(h, obj)
		return
	}
	p.ForRecord(obj, func(key string, v goja.Value) {
		value := p.headerValue(key, p.ToString(v).String())
		h.append(p.headerName(key), value)
	})
}

func (p *Fetch) fillPairs(h *headers, pairs *goja.Object) {
	p.VM.ForOf(pairs, func(pair goja.Value) bool {
		var items []string
		if o, ok := pair.(*goja.Object); !ok || !engine.IsCallable(o.GetSymbol(goja.SymIterator)) {
			p.Engine.Throw("TypeError", "Incorrect type: the provided value is not of type 'Sequence'.")
		}
		p.VM.ForOf(pair, func(item goja.Value) bool {
			items = append(items, p.ToString(item).String())
			return len(items) < 3
		})
		if len(items) != 2 {
			p.Engine.Throw("TypeError", "To initialize a Headers object from a sequence, each inner sequence must have exactly two elements.")
		}
		value := p.headerValue(items[0], items[1])
		h.append(p.headerName(items[0]), value)
		return true
	})
}

// nameAsked is a header's name to look for. The empty one is no error here, as in
// workerd: no header has it.
func (p *Fetch) nameAsked(name string) string {
	if name == "" {
		return name
	}
	return p.headerName(name)
}

// headerName checks an HTTP token (RFC 9110, section 5.6.2), or nothing: as in
// workerd a header may have the empty name, and one with characters beyond ASCII.
func (p *Fetch) headerName(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] < utf8.RuneSelf && !mime.IsToken(name[i]) {
			p.Engine.Throw("TypeError", "Invalid header name.")
		}
	}
	return name
}

// headerValue trims HTTP whitespace. Values are UTF-8, as workerd has them, which warns
// of it.
func (p *Fetch) headerValue(name, value string) string {
	if !texts.IsASCII(value) && p.Engine.Frame().Context != nil && !strings.Contains(value, "\x00") {
		var raw strings.Builder
		for i := range len(value) {
			fmt.Fprintf(&raw, `\x%x`, value[i])
		}
		p.Engine.Log(engine.Warn, fmt.Sprintf(`A header value for "%s" contains non-ASCII characters: "%s" (raw bytes: "%s"). As a quirk to support Unicode, we are encoding `+
			`values as UTF-8 in the header, but in a browser this would likely result in a TypeError exception. Consider encoding this string in ASCII for compatibility with `+
			`browser implementations of the Fetch specification.`, name, value, raw.String()))
	}
	value = strings.Trim(value, " \t\r\n")
	if strings.ContainsAny(value, "\r\n\x00") {
		p.Engine.Throw("TypeError", "Invalid header value.")
	}
	return value
}
