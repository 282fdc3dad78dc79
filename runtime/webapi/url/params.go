package url

import (
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// SearchParams is a URLSearchParams object (WHATWG URL, section 6.2).
// Loop-confined.
type SearchParams struct {
	list []formField
	url  *webURL // the URL that it belongs to, nil for none
}

type formField struct{ Name, Value string }

// Encoded is the list as application/x-www-form-urlencoded (section 5.2).
func (s *SearchParams) Encoded() string { return serializeQuery(s.list) }

// changed has the list written back into the URL when somebody looks at that.
func (s *SearchParams) changed() {
	if s.url != nil {
		s.url.behind = true
	}
}

// ParseQuery is the application/x-www-form-urlencoded parser (section 5.1).
func ParseQuery(text string) []formField { return parseQuery(text, decodeForm) }

// ParseForm is ParseQuery for the body of a form, where escapes that are none are
// read as workerd's FormData reads them: the percent sign goes, and what follows
// counts with the one hexadecimal digit that it has.
func ParseForm(text string) []formField { return parseQuery(text, decodeLax) }

func parseQuery(text string, decode func(string) string) []formField {
	var out []formField
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		out = append(out, formField{decode(name), decode(value)})
	}
	return out
}

func decodeLax(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] != '%':
			b = append(b, s[i])
		case i+1 < len(s) && unhex(s[i+1]) >= 0:
			i++
			v := unhex(s[i])
			if i+1 < len(s) && unhex(s[i+1]) >= 0 {
				i++
				v = v<<4 | unhex(s[i])
			}
			b = append(b, byte(v))
		}
	}
	return webidl.ValidUTF8(b)
}

func decodeForm(s string) string {
	if !strings.ContainsAny(s, "+%") {
		return webidl.ValidUTF8([]byte(s))
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s) && unhex(s[i+1]) >= 0 && unhex(s[i+2]) >= 0:
			b = append(b, byte(unhex(s[i+1])<<4|unhex(s[i+2])))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return webidl.ValidUTF8(b)
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// serializeQuery is the application/x-www-form-urlencoded serializer (section 5.2).
func serializeQuery(list []formField) string {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteByte('&')
		}
		encodeForm(&b, f.Name)
		b.WriteByte('=')
		encodeForm(&b, f.Value)
	}
	return b.String()
}

func encodeForm(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ':
			b.WriteByte('+')
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '*', c == '-', c == '.', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
}

func (p *Classes) defineSearchParams() *engine.Class[*SearchParams] {
	vm := p.VM
	method := func(name string, args int, fn func(s *SearchParams, call goja.FunctionCall) goja.Value) engine.Method[*SearchParams] {
		return engine.Method[*SearchParams]{Name: name, Fn: func(s *SearchParams, call goja.FunctionCall) goja.Value {
			for n := 1; n <= args && name != "forEach" && len(call.Arguments) < args; n++ { // in order, up to the one that is missing
				p.Need(call, n, "URLSearchParams", name, "USVString")
				p.USV(call.Arguments[n-1])
			}
			return fn(s, call)
		}}
	}
	matches := func(call goja.FunctionCall) func(f formField) bool {
		name, second := p.USV(call.Argument(0)), call.Argument(1)
		if webidl.IsUndefined(second) {
			return func(f formField) bool { return f.Name == name }
		}
		value := p.USV(second)
		return func(f formField) bool { return f.Name == name && f.Value == value }
	}
	class := engine.DefineClass(p.Engine, engine.ClassDef[*SearchParams]{
		Name: "URLSearchParams",
		New: func(call goja.ConstructorCall) *SearchParams {
			return &SearchParams{list: p.searchInit(call.Argument(0))}
		},
		Accessors: []engine.Accessor[*SearchParams]{{Name: "size", Get: func(s *SearchParams, _ *goja.Object) goja.Value {
			return vm.ToValue(len(s.list))
		}}},
		Methods: []engine.Method[*SearchParams]{
			method("append", 2, func(s *SearchParams, call goja.FunctionCall) goja.Value {
				s.list = append(s.list, formField{p.USV(call.Argument(0)), p.USV(call.Argument(1))})
				s.changed()
				return goja.Undefined()
			}),
			method("delete", 1, func(s *SearchParams, call goja.FunctionCall) goja.Value {
				match := matches(call)
				var kept []formField
				for _, f := range s.list {
					if !match(f) {
						kept = append(kept, f)
					}
				}
				s.list = kept
				s.changed()
				return goja.Undefined()
			}),
			method("get", 1, func(s *SearchParams, call goja.FunctionCall) goja.Value {
				name := p.USV(call.Argument(0))
				for _, f := range s.list {
					if f.Name == name {
						return vm.ToValue(f.Value)
					}
				}
				return goja.Null()
			}),
			method("getAll", 1, func(s *SearchParams, call goja.FunctionCall) goja.Value {
				name, all := p.USV(call.Argument(0)), []any{}
				for _, f := range s.list {
					if f.Name == name {
						all = append(all, f.Value)
					}
				}
				return vm.NewArray(all...)
			}),
			method("has", 1, func(s *SearchParams, call goja.FunctionCall) goja.Value {
				match := matches(call)
				for _, f := range s.list {
					if match(f) {
						return vm.ToValue(true)
					}
				}
				return vm.ToValue(false)
			}),
			method("set", 2, func(s *SearchParams, call goja.FunctionCall) goja.Value {
				s.set(p.USV(call.Argument(0)), p.USV(call.Argument(1)))
				return goja.Undefined()
			}),
			method("sort", 0, func(s *SearchParams, _ goja.FunctionCall) goja.Value {
				sort.SliceStable(s.list, func(i, j int) bool { return lessUTF16(s.list[i].Name, s.list[j].Name) })
				s.changed()
				return goja.Undefined()
			}),
			method("toString", 0, func(s *SearchParams, _ goja.FunctionCall) goja.Value {
				length := int64(0)
				for _, f := range s.list {
					length += int64(len(f.Name) + len(f.Value))
				}
				p.Engine.Memory.Allocate(length, "Invalid string length")
				return vm.ToValue(serializeQuery(s.list))
			}),
			method("forEach", 1, func(s *SearchParams, call goja.FunctionCall) goja.Value {
				fn, self, this := call.Argument(0), call.Argument(1), call.This
				if !engine.IsCallable(fn) {
					p.BadArgument("URLSearchParams", "forEach", 1, "function")
				}
				for i := 0; i < len(s.list); i++ {
					f := s.list[i]
					p.Engine.Call(fn, self, vm.ToValue(f.Value), vm.ToValue(f.Name), this)
				}
				return goja.Undefined()
			}),
			method("keys", 0, func(s *SearchParams, _ goja.FunctionCall) goja.Value {
				return p.fieldIterator(s, "KeyIterator", func(f formField) goja.Value { return vm.ToValue(f.Name) })
			}),
			method("values", 0, func(s *SearchParams, _ goja.FunctionCall) goja.Value {
				return p.fieldIterator(s, "ValueIterator", func(f formField) goja.Value { return vm.ToValue(f.Value) })
			}),
			method("entries", 0, func(s *SearchParams, _ goja.FunctionCall) goja.Value {
				return p.fieldIterator(s, "EntryIterator", func(f formField) goja.Value { return vm.NewArray(f.Name, f.Value) })
			}),
		},
	})
	class.Alias(goja.SymIterator, "entries")
	return class
}

func (s *SearchParams) set(name, value string) {
	var out []formField
	found := false
	for _, f := range s.list {
		switch {
		case f.Name != name:
			out = append(out, f)
		case !found:
			found = true
			out = append(out, formField{name, value})
		}
	}
	if !found {
		out = append(out, formField{name, value})
	}
	s.list = out
	s.changed()
}

// lessUTF16 compares by UTF-16 code units, as the standard sorts.
func lessUTF16(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

// searchInit is the constructor's argument: a string, a sequence of pairs, or
// a record.
func (p *Classes) searchInit(v goja.Value) []formField {
	if webidl.IsUndefined(v) {
		return nil
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		return ParseQuery(trimQuery(p.USV(v)))
	}
	if s, ok := p.Engine.Attached(obj).(*SearchParams); ok {
		return append([]formField(nil), s.list...)
	}
	var out []formField
	if it := obj.GetSymbol(goja.SymIterator); it != nil && engine.IsCallable(it) {
		p.ForOf(obj, func(pair goja.Value) {
			var parts []string
			if _, isObj := pair.(*goja.Object); !isObj {
				p.Engine.Throw("TypeError", "Incorrect type: the provided value is not of type 'Sequence'.")
			}
			p.ForOf(pair, func(x goja.Value) { parts = append(parts, p.USV(x)) })
			if len(parts) != 2 {
				p.Engine.Throw("TypeError", "Invalid URL search params sequence.")
			}
			out = append(out, formField{parts[0], parts[1]})
		})
		return out
	}
	record := &SearchParams{}
	p.ForRecord(obj, func(key string, v goja.Value) { record.set(key, p.USV(v)) })
	return record.list
}

// fieldIterator walks over the live list.
func (p *Classes) fieldIterator(s *SearchParams, tag string, show func(f formField) goja.Value) *goja.Object {
	i := 0
	return p.Iterator("URLSearchParams", tag, func() (goja.Value, bool) {
		if i >= len(s.list) {
			return nil, false
		}
		i++
		return show(s.list[i-1]), true
	})
}
