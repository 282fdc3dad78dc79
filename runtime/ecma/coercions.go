package ecma

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
	"golang.org/x/text/unicode/norm"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/internal/stepwise"
	"minido.dev/minido/runtime/ecma/array"
	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Built-ins of goja that convert their arguments in another order than the
// specification says, not all of them, or that show in an error what they were
// given by way of its own toString.

// installCoercions puts the conversions right.
func installCoercions(e *engine.Engine) {
	coerceDates(e)
	coerceTexts(e)
	coerceCallbacks(e)
	coerceFunctions(e)
	coerceMore(e)
}

// coerceDates converts every argument of what sets a part of a date (21.4.4), also
// once the date is known to be none.
func coerceDates(e *engine.Engine) {
	numbers := func(c *goja.FunctionCall, most int) {
		args := slices.Clone(c.Arguments[:min(most, len(c.Arguments))])
		for i, v := range args {
			args[i] = builtin.ToNumber(e, v)
		}
		c.Arguments = args
	}
	proto := builtin.Prototype(e, "Date")
	for part, most := range map[string]int{"Milliseconds": 1, "Seconds": 2, "Minutes": 3, "Hours": 4, "Date": 1, "Month": 2, "FullYear": 3} { // order-independent: each is its own method
		for _, name := range []string{"set" + part, "setUTC" + part} {
			builtin.Guard(e, proto, name, func(c *goja.FunctionCall) {
				if date, ok := c.This.(*goja.Object); ok && date.ClassName() == "Date" {
					numbers(c, most)
				}
			})
		}
	}
	builtin.Guard(e, e.VM().Get("Date").(*goja.Object), "UTC", func(c *goja.FunctionCall) { numbers(c, 7) })
	if method, ok := proto.GetSymbol(goja.SymToPrimitive).(*goja.Object); ok {
		insides.Amend(method, func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
			if _, isText := c.Argument(0).(goja.String); !isText && builtin.IsObjectValue(c.This) {
				e.Throw("TypeError", "Invalid hint: %s", builtin.Show(e, c.Argument(0)))
			}
			return original(c)
		})
	}
}

// coerceTexts: trim keeps halves of characters, and match and search ask what they
// are given for its own method once.
func coerceTexts(e *engine.Engine) {
	proto := builtin.Prototype(e, "String")
	for name, ends := range map[string][2]bool{"trim": {true, true}, "trimStart": {true, false}, "trimEnd": {false, true}} { // order-independent: each is its own method
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			text, ok := c.This.(goja.String)
			if !ok {
				return method(c)
			}
			ascii, units := texts.Text(text)
			if units == nil || len(ascii) > 0 {
				return method(c)
			}
			from, to := 0, len(units)
			for ends[0] && from < to && builtin.IsWhiteSpace(rune(units[from])) {
				from++
			}
			for ends[1] && to > from && builtin.IsWhiteSpace(rune(units[to-1])) {
				to--
			}
			return text.Substring(from, to)
		})
	}
	for name, all := range map[string]bool{"replace": false, "replaceAll": true} { // order-independent: each is its own method
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value { return replaceText(e, c, method, all) })
	}
	for _, name := range []string{"toLowerCase", "toUpperCase", "toLocaleLowerCase", "toLocaleUpperCase", "normalize"} {
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			return betweenHalves(e, c, method, name == "normalize")
		})
	}
	for name, symbol := range map[string]*goja.Symbol{"match": goja.SymMatch, "search": goja.SymSearch} { // order-independent: each is its own method
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			pattern, ok := c.Argument(0).(*goja.Object)
			if !ok || pattern.ClassName() == "RegExp" || goja.IsUndefined(c.This) || goja.IsNull(c.This) {
				return method(c)
			}
			if own := pattern.GetSymbol(symbol); own != nil && !goja.IsUndefined(own) && !goja.IsNull(own) {
				return e.Call(own, pattern, c.This)
			}
			text := builtin.TextOf(c.This)
			return method(goja.FunctionCall{This: text, Arguments: []goja.Value{builtin.TextOf(pattern)}})
		})
	}
}

// betweenHalves has a method see a text without the halves of characters in it, which
// goja makes U+FFFD of: they stay as they are (22.1.3.28, 22.1.3.15). With inParts a long
// text is done in parts, between which the method can be stopped: of what changes case, each
// character may depend on others that are far away.
func betweenHalves(e *engine.Engine, c goja.FunctionCall, method insides.Function, inParts bool) goja.Value {
	text, ok := c.This.(goja.String)
	if !ok {
		return method(c)
	}
	_, units := texts.Text(text)
	var out []uint16
	from := 0
	part := func(to int) {
		for from < to && !e.Natives.Interrupted() {
			end := to
			if inParts {
				end = partEnd(units[:to], from, max(e.Natives.LongText, 1))
			}
			made := builtin.TextOf(method(goja.FunctionCall{This: text.Substring(from, end), Arguments: c.Arguments}))
			e.Memory.Fit(int64(2*(len(out)+made.Length())), "Invalid string length")
			out = append(stepwise.Grow(out, made.Length()), texts.UnitsOf(made)...)
			from = end
		}
	}
	for i := range builtin.LoneSurrogates(units) {
		part(i)
		out, from = append(out, units[i]), i+1
	}
	if from == 0 && (!inParts || len(units) < e.Natives.LongText) {
		return method(c)
	}
	part(len(units))
	return goja.StringFromUTF16(out)
}

// maxCombined is after how many units a part ends anywhere, but in a character.
const maxCombined = 4096

// partEnd is where the part of a text that begins at from ends, after about n units: before
// a character with which nothing that precedes it combines.
func partEnd(units []uint16, from, n int) int {
	end := min(from+n+maxCombined, len(units))
	for at := from + n; at < end; at++ {
		if r := rune(units[at]); !utf16.IsSurrogate(r) && norm.NFKC.PropertiesString(string(r)).BoundaryBefore() {
			return at
		}
	}
	if end < len(units) && utf16.IsSurrogate(rune(units[end])) {
		end++
	}
	return end
}

// replaceText is String.prototype.replace (22.1.3.19) or replaceAll (22.1.3.20) of a text
// in a text, where goja would take long or write too much. In goja a search for the empty
// string does not come to an end where a text is not ASCII.
func replaceText(e *engine.Engine, c goja.FunctionCall, method insides.Function, all bool) goja.Value {
	search := c.Argument(0)
	if insides.StandardRegExp(search) {
		return method(c) // which is the expression's
	}
	text, isText := c.This.(goja.String)
	object, isObject := c.This.(*goja.Object)
	if pattern, ok := search.(*goja.Object); ok && (isText || isObject) {
		if own := pattern.GetSymbol(goja.SymReplace); own != nil && !goja.IsUndefined(own) && !goja.IsNull(own) {
			return method(c)
		}
		if isObject {
			text, isText, isObject = builtin.TextOf(object), true, false
			c.This = text
		}
		search = builtin.TextOf(pattern)
		c.Arguments = append([]goja.Value{search}, c.Arguments[1:]...)
	}
	if isObject {
		text, isText = builtin.TextOf(object), true
		c.This = text
	}
	sought, ok := search.(goja.String)
	if !ok || !isText {
		return method(c)
	}
	by := c.Argument(1)
	if pattern, ok := by.(*goja.Object); ok && !engine.IsCallable(by) {
		by = builtin.TextOf(pattern)
		c.Arguments = []goja.Value{search, by}
	}
	if ascii, units := texts.Text(text); !(all && sought.Length() == 0 && units != nil && len(ascii) == 0) && !builtin.ReplacesLong(e, text, by) {
		return method(c)
	}
	return builtin.ReplaceText(e, text, sought, by, all)
}

// coerceCallbacks refuses what is no function before goja asks for its text.
func coerceCallbacks(e *engine.Engine) {
	typed := e.Primordial("TypedArray").Get("prototype").(*goja.Object)
	for _, name := range array.Methods.Calling {
		builtin.Guard(e, typed, name, func(c *goja.FunctionCall) {
			if fn := c.Argument(0); !engine.IsCallable(fn) && builtin.IsObjectValue(c.This) && insides.TheViews().Known && buffers.LiveTyped(e, c.This.(*goja.Object)) {
				if name == "map" { // as V8 has it, of this method alone
					e.Throw("TypeError", "%s is not a function", builtin.Show(e, fn))
				}
				e.Throw("TypeError", "%s is not a function", builtin.CallSite(e, fn))
			}
		})
	}
	for _, name := range array.Methods.Sorting {
		builtin.Guard(e, typed, name, func(c *goja.FunctionCall) {
			if fn := c.Argument(0); !goja.IsUndefined(fn) && !engine.IsCallable(fn) {
				e.Throw("TypeError", "The comparison function must be either a function or undefined: %s", builtin.Show(e, fn))
			}
		})
	}
	builtin.Guard(e, e.VM().Get("Array").(*goja.Object), "from", func(c *goja.FunctionCall) {
		if fn := c.Argument(1); !goja.IsUndefined(fn) && !engine.IsCallable(fn) {
			e.Throw("TypeError", "%s is not a function", builtin.CallSite(e, fn))
		}
	})
	builtin.Guard(e, e.Primordial("TypedArray"), "from", func(c *goja.FunctionCall) {
		_, makes := goja.AssertConstructor(c.This)
		if fn := c.Argument(1); makes && !goja.IsUndefined(fn) && !engine.IsCallable(fn) {
			e.Throw("TypeError", "%s is not a function", builtin.CallSite(e, fn))
		}
	})
}

func coerceFunctions(e *engine.Engine) {
	proto := builtin.Prototype(e, "Function")
	builtin.Guard(e, proto, "apply", func(c *goja.FunctionCall) {
		if !engine.IsCallable(c.This) {
			e.Throw("TypeError", "Function.prototype.apply was called on %s, which is %s and not a function", builtin.Show(e, c.This), builtin.KindOf(e, c.This))
		}
	})
	if method, ok := proto.GetSymbol(goja.SymHasInstance).(*goja.Object); ok {
		insides.Amend(method, func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
			class, ok := c.This.(*goja.Object)
			switch {
			case !ok || !engine.IsCallable(class):
				return e.VM().ToValue(false)
			case class.ExportType() != builtin.ProxyType:
				return original(c)
			}
			return e.VM().ToValue(ordinaryHasInstance(e, class, c.Argument(0)))
		})
	}
}

// ordinaryHasInstance is OrdinaryHasInstance (7.3.22) for what is no bound function.
func ordinaryHasInstance(e *engine.Engine, class *goja.Object, v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	proto, ok := class.Get("prototype").(*goja.Object)
	if !ok {
		e.Throw("TypeError", "Function has non-object prototype '%s' in instanceof check", e.Text(class.Get("prototype")))
	}
	for o = o.Prototype(); o != nil; o = o.Prototype() {
		if o == proto {
			return true
		}
	}
	return false
}

func coerceMore(e *engine.Engine) {
	// 25.1.6.7: a buffer that is gone has no slice.
	builtin.Guard(e, builtin.Prototype(e, "ArrayBuffer"), "slice", func(c *goja.FunctionCall) {
		if o, ok := c.This.(*goja.Object); ok && o.ExportType() == builtin.ArrayBufferType && o.Export().(goja.ArrayBuffer).Detached() {
			e.Throw("TypeError", "Cannot perform ArrayBuffer.prototype.slice on a detached ArrayBuffer")
		}
	})
	// 21.2.1.1: an object is a primitive first.
	builtin.Guard(e, e.VM().GlobalObject(), "BigInt", func(c *goja.FunctionCall) {
		v := c.Argument(0)
		if o, ok := v.(*goja.Object); ok {
			v = builtin.ToPrimitiveFor(e, o, "number")
		}
		if symbol, ok := v.(*goja.Symbol); ok {
			e.Throw("TypeError", "Cannot convert %s to a BigInt", builtin.Show(e, symbol))
		}
		c.Arguments = []goja.Value{v}
	})
	// 25.3.1.5: an index is converted once.
	data := builtin.Prototype(e, "DataView")
	for _, name := range data.GetOwnPropertyNames() {
		if !strings.HasPrefix(name, "get") && !strings.HasPrefix(name, "set") {
			continue
		}
		builtin.Guard(e, data, name, func(c *goja.FunctionCall) {
			if view, ok := c.This.(*goja.Object); ok && builtin.IsObjectValue(c.Argument(0)) && view.ClassName() == "DataView" {
				c.Arguments = slices.Clone(c.Arguments)
				c.Arguments[0] = e.VM().ToValue(builtin.ToIndex(e, builtin.ToNumber(e, c.Arguments[0]), "Offset is outside the bounds of the DataView"))
			}
		})
	}
	// 25.5.2 of the proposal JSON.parse source text access: the text of a primitive.
	if raw, ok := e.VM().Get("JSON").(*goja.Object).Get("rawJSON").(*goja.Object); ok {
		insides.Amend(raw, func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
			text := builtin.TextOf(c.Argument(0))
			s := text.String()
			if s == "" || strings.ContainsAny(s[:1]+s[len(s)-1:], "\t\n\r ") || s[0] == '{' || s[0] == '[' {
				e.Throw("SyntaxError", "Invalid value for JSON.rawJSON")
			}
			e.Call(e.Primordial("JSONParse"), goja.Undefined(), text)
			return original(goja.FunctionCall{This: c.This, Arguments: []goja.Value{text}})
		})
	}
}
