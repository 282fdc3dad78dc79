package regexp

import (
	"errors"
	"strings"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/insides/texts"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/regex"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// native is what a function of goja's does.
type native = func(goja.FunctionCall) goja.Value

// regexpMethods has the methods of RegExp.prototype match foreign patterns, and
// remember what RegExp.$1 and the like ask for.
func (p *Class) regexpMethods() {
	p.exec = p.amend("exec", func(c goja.FunctionCall, method native) goja.Value {
		if f := p.ForeignOf(c.This); f != nil && f.pattern != nil {
			return p.execForeign(c.This.(*goja.Object), f, stringOf(c.Argument(0)))
		}
		re, text := c.This, c.Argument(0)
		result := method(c)
		if found, ok := result.(*goja.Object); ok {
			insides.OrderMatch(found)
			p.last = lastMatch{regexp: re, text: text, result: found}
		}
		return result
	})
	p.amend("test", func(c goja.FunctionCall, method native) goja.Value {
		if !insides.StandardRegExp(c.This) {
			return p.testByExec(c, method)
		}
		re, text := c.This, c.Argument(0)
		result := method(c)
		if result.ToBoolean() {
			p.last = lastMatch{regexp: re, text: text}
		}
		return result
	})
	p.amend("compile", p.recompile)
	insides.Amend(p.Proto.GetSymbol(goja.SymSplit).(*goja.Object), func(c goja.FunctionCall, method native) goja.Value {
		if !insides.StandardRegExp(c.This) && !p.untouched(c.This) {
			return p.stepwise("split", c)
		}
		if result := p.splitLong(&c); result != nil {
			return result
		}
		return p.step(c, method)
	})
	every := p.Engine.Call(p.Proto.GetSymbol(goja.SymMatchAll), p.constructRegExp(p.Engine.String("a"), goja.Undefined()), p.Engine.String(""))
	insides.Amend(every.(*goja.Object).Prototype().Get("next").(*goja.Object), func(c goja.FunctionCall, method native) goja.Value {
		result := p.step(c, method)
		if found, ok := result.(*goja.Object); ok {
			insides.OrderMatch(webidl.Get(found, "value"))
		}
		return result
	})
	names := map[*goja.Symbol]string{goja.SymMatch: "match", goja.SymReplace: "replace", goja.SymSearch: "search"}
	for symbol, matched := range map[*goja.Symbol]func(result, text goja.Value) bool{ // order-independent: each is its own method
		goja.SymMatch:   func(result, _ goja.Value) bool { return !goja.IsNull(result) },
		goja.SymReplace: func(result, text goja.Value) bool { return !result.StrictEquals(text) },
		goja.SymSearch:  func(result, _ goja.Value) bool { return result.ToInteger() >= 0 },
	} {
		long := map[*goja.Symbol]func(*goja.FunctionCall) goja.Value{goja.SymMatch: p.matchLong, goja.SymReplace: p.replaceLong}[symbol]
		if long == nil {
			long = func(*goja.FunctionCall) goja.Value { return nil }
		}
		if method, ok := p.Proto.GetSymbol(symbol).(*goja.Object); ok {
			insides.Amend(method, func(c goja.FunctionCall, method native) goja.Value {
				re, text := c.This, c.Argument(0)
				if !insides.StandardRegExp(re) {
					if !p.untouched(re) {
						return p.stepwise(names[symbol], c)
					}
					if result := long(&c); result != nil {
						return result
					}
					return p.step(c, method)
				}
				result := long(&c)
				if result == nil {
					result = method(c)
				}
				if insides.OrderMatch(result); matched(result, text) {
					p.last = lastMatch{regexp: re, text: text, all: true}
				}
				return result
			})
		}
	}
}

func (p *Class) amend(name string, fn func(c goja.FunctionCall, method native) goja.Value) *goja.Object {
	method, ok := p.Proto.Get(name).(*goja.Object)
	if ok {
		insides.Amend(method, fn)
	}
	return method
}

// step runs a method of goja's that moves through a text by code units where the
// pattern has the flag v (find).
func (p *Class) step(c goja.FunctionCall, method native) goja.Value {
	p.stepping++
	defer func() { p.stepping-- }()
	return method(c)
}

// testByExec is RegExp.prototype.test (22.2.6.16) for what goja would match by
// itself, whatever exec is.
func (p *Class) testByExec(c goja.FunctionCall, method native) goja.Value {
	obj, ok := c.This.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "Method RegExp.prototype.test called on incompatible receiver %s", p.Engine.Text(c.This))
	}
	text := stringOf(c.Argument(0))
	exec := webidl.Get(obj, "exec")
	if exec == goja.Value(p.exec) || !engine.IsCallable(exec) {
		if f := p.ForeignOf(obj); f != nil && f.pattern != nil {
			return p.VM.ToValue(p.matchForeign(obj, f, text) != nil)
		}
		return method(goja.FunctionCall{This: obj, Arguments: []goja.Value{text}})
	}
	result := p.Engine.Call(exec, obj, text)
	if _, isObject := result.(*goja.Object); !isObject && !goja.IsNull(result) {
		p.Engine.Throw("TypeError", "RegExp exec method returned something other than an Object or null")
	}
	return p.VM.ToValue(!goja.IsNull(result))
}

// recompile is RegExp.prototype.compile (B.2.4.1): the object becomes as one that
// is made of the same arguments.
func (p *Class) recompile(c goja.FunctionCall, method native) goja.Value {
	obj, ok := c.This.(*goja.Object)
	if !ok || obj.ClassName() != "RegExp" {
		return method(c) // which says so
	}
	pattern, flags := c.Argument(0), c.Argument(1)
	if from, ok := pattern.(*goja.Object); ok && from.ClassName() == "RegExp" {
		if !goja.IsUndefined(flags) {
			p.Engine.Throw("TypeError", "Invalid flags supplied to RegExp constructor '%s'", p.Engine.Text(flags))
		}
		source, shown := p.Written(from)
		pattern, flags = source, p.VM.ToValue(shown)
	}
	made := p.makeRegExp(textUnless(pattern), textUnless(flags).String())
	now := p.ForeignOf(made)
	switch was := p.ForeignOf(obj); {
	case was != nil && now != nil:
		*was = *now
	case was != nil:
		source, shown := p.Written(made)
		*was = foreign{source: source, flags: shown}
	case now != nil:
		p.Engine.Attach(obj, now)
		obj.SetPrototype(obj.Prototype())
	}
	return method(goja.FunctionCall{This: obj, Arguments: []goja.Value{made}})
}

// matchForeign is what RegExpBuiltinExec (22.2.7.2) does before it makes an
// array: it finds the bounds of the groups, nil without a match.
func (p *Class) matchForeign(obj *goja.Object, f *foreign, text goja.String) (groups []int) {
	at := int(min(max(webidl.Get(obj, "lastIndex").ToInteger(), 0), 1<<53-1))
	moves := f.has("g") || f.has("y")
	if !moves {
		at = 0
	}
	if at <= text.Length() {
		groups = p.find(f.pattern, text, at, f.has("y"), f.has("v") && p.stepping > 0)
	}
	if groups != nil {
		p.last = lastMatch{regexp: obj, text: text, groups: groups}
	}
	if moves {
		end := 0
		if groups != nil {
			end = groups[1]
		}
		if err := obj.Set("lastIndex", end); err != nil {
			p.Engine.Rethrow(err)
		}
	}
	return groups
}

// find matches a pattern. A method of goja's that is stepping by code units through
// a text of characters is led from within one to the next.
func (p *Class) find(pattern *regex.Pattern, text goja.String, at int, sticky, stepping bool) []int {
	m := &p.matcher
	ascii, units := texts.Text(text)
	var groups []int
	var err error
	if units == nil {
		groups, err = regex.Match(m, pattern, ascii, at, sticky)
	} else {
		if stepping && at > 0 && at < len(units) && units[at-1]&0xFC00 == 0xD800 && units[at]&0xFC00 == 0xDC00 {
			if sticky {
				return nil
			}
			at++
		}
		groups, err = regex.Match(m, pattern, units, at, sticky)
	}
	if errors.Is(err, regex.ErrTooDeep) {
		p.Engine.Throw("RangeError", "Maximum call stack size exceeded")
	}
	return groups
}

// execForeign is RegExpBuiltinExec (22.2.7.2).
func (p *Class) execForeign(obj *goja.Object, f *foreign, text goja.String) goja.Value {
	groups := p.matchForeign(obj, f, text)
	if groups == nil {
		return goja.Null()
	}
	n := len(groups) / 2
	parts, bounds := make([]any, n), make([]any, n)
	for i := range n {
		parts[i], bounds[i] = goja.Undefined(), goja.Undefined()
		if from, to := groups[2*i], groups[2*i+1]; from >= 0 {
			parts[i] = text.Substring(from, to)
			if f.has("d") {
				bounds[i] = p.VM.NewArray(from, to)
			}
		}
	}
	result := p.VM.NewArray(parts...)
	put := func(o *goja.Object, name string, v any) {
		o.DefineDataProperty(name, p.VM.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	put(result, "index", groups[0])
	put(result, "input", text)
	put(result, "groups", p.named(f.pattern, parts))
	if f.has("d") {
		indices := p.VM.NewArray(bounds...)
		put(indices, "groups", p.named(f.pattern, bounds))
		put(result, "indices", indices)
	}
	return result
}

// named is the object of a match's named groups, undefined without any.
func (p *Class) named(pattern *regex.Pattern, parts []any) goja.Value {
	values := map[string]goja.Value{}
	var order []string
	for i, name := range pattern.Names {
		if name == "" {
			continue
		}
		old, again := values[name]
		if !again {
			order = append(order, name)
		}
		if !again || goja.IsUndefined(old) {
			values[name] = p.VM.ToValue(parts[i])
		}
	}
	if order == nil {
		return goja.Undefined()
	}
	out := p.VM.CreateObject(nil)
	for _, name := range order {
		out.DefineDataProperty(name, values[name], goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	return out
}

// lastMatch is what RegExp.$1 and the like are about: a regular expression and a
// text that it has matched. What was matched is found when it is asked for.
type lastMatch struct {
	regexp goja.Value
	text   goja.Value
	result *goja.Object // of exec
	all    bool         // every match was asked for
	groups []int        // once they are known
	input  goja.Value   // what code has set RegExp.input to
}

// settle finds the last match's groups; ok is false if there was none yet.
func (p *Class) settle() (text goja.String, groups []int, ok bool) {
	l := &p.last
	if l.regexp == nil {
		return nil, nil, false
	}
	text = stringOf(l.text)
	if l.groups != nil {
		return text, l.groups, true
	}
	re := l.regexp.(*goja.Object)
	source, flags := p.Written(re)
	pattern, err := regex.Parse(codeUnits(textUnless(source)), flags)
	if err != nil {
		return nil, nil, false
	}
	at, end := 0, -1
	switch {
	case l.result != nil:
		at = int(webidl.Get(l.result, "index").ToInteger())
	case !l.all: // test leaves lastIndex at the end of the match
		end = int(webidl.Get(re, "lastIndex").ToInteger())
	}
	for more := true; more && at <= text.Length(); {
		found := p.find(pattern, text, at, false, false)
		if found == nil {
			break
		}
		l.groups, at = found, max(found[1], at+1)
		more = strings.Contains(flags, "g") && l.result == nil && (l.all || found[1] < end)
	}
	return text, l.groups, l.groups != nil
}

// legacyStatics gives RegExp its properties of the last match (V8's, and the
// proposal's of legacy static properties).
func (p *Class) legacyStatics() {
	part := func(bounds func(text goja.String, groups []int) (from, to int)) func() goja.Value {
		return func() goja.Value {
			if text, groups, ok := p.settle(); ok {
				if from, to := bounds(text, groups); from >= 0 {
					return text.Substring(from, to)
				}
			}
			return p.Engine.String("")
		}
	}
	group := func(n int) func() goja.Value {
		return part(func(_ goja.String, groups []int) (int, int) {
			if 2*n >= len(groups) {
				return -1, -1
			}
			return groups[2*n], groups[2*n+1]
		})
	}
	input := func() goja.Value {
		if set := p.last.input; set != nil {
			return set
		}
		return part(func(text goja.String, _ []int) (int, int) { return 0, text.Length() })()
	}
	set := func(goja.Value) {}
	p.static(input, func(v goja.Value) { p.last.input = stringOf(v) }, "input", "$_")
	p.static(group(0), set, "lastMatch", "$&")
	p.static(part(func(_ goja.String, groups []int) (int, int) {
		if len(groups) == 2 {
			return -1, -1
		}
		return groups[len(groups)-2], groups[len(groups)-1]
	}), set, "lastParen", "$+")
	p.static(part(func(_ goja.String, groups []int) (int, int) { return 0, groups[0] }), set, "leftContext", "$`")
	p.static(part(func(text goja.String, groups []int) (int, int) { return groups[1], text.Length() }), set, "rightContext", "$'")
	for n := 1; n <= 9; n++ {
		p.static(group(n), set, "$"+string(rune('0'+n)))
	}
}

// static defines an accessor of RegExp under each of the names.
func (p *Class) static(get func() goja.Value, set func(goja.Value), names ...string) {
	for _, name := range names {
		p.Ctor.DefineAccessorProperty(name,
			p.Engine.Func("get "+name, 0, func(goja.FunctionCall) goja.Value { return get() }),
			p.Engine.Func("set "+name, 1, func(c goja.FunctionCall) goja.Value {
				set(c.Argument(0))
				return goja.Undefined()
			}), goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}
