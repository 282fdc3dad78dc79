package regexp

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/regex"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Methods of RegExp.prototype for long texts (engine.Natives.LongText): they find one match after
// the other.

// matchBytes is what a match costs that becomes an element, in bytes.
const matchBytes = 64

// replaceLong is RegExp.prototype[Symbol.replace] (22.2.6.11) where goja would take long or
// write too much; nil where goja does it, with the arguments in their converted form.
func (p *Class) replaceLong(c *goja.FunctionCall) goja.Value {
	text, isText := c.Argument(0).(goja.String)
	by := c.Argument(1)
	if _, isObject := by.(*goja.Object); !isText || isObject && !engine.IsCallable(by) {
		if text = stringOf(c.Argument(0)); !engine.IsCallable(by) {
			by = builtin.ToString(p.Engine, by)
		}
		c.Arguments = []goja.Value{text, by}
	}
	if !builtin.ReplacesLong(p.Engine, text, by) {
		return nil
	}
	replaced := builtin.NewReplaced(p.Engine, text, by)
	known := p.matches(c.This.(*goja.Object), text, func(pattern *regex.Pattern, groups []int) {
		replaced.Match(groups, func(captures []goja.Value) goja.Value {
			parts := make([]any, len(captures))
			for i, v := range captures {
				parts[i] = v
			}
			return p.named(pattern, parts)
		})
	})
	if !known {
		return nil
	}
	return replaced.End()
}

// matchLong is RegExp.prototype[Symbol.match] (22.2.6.8) with the flag g in a long text;
// nil where goja does it.
func (p *Class) matchLong(c *goja.FunctionCall) goja.Value {
	text := firstText(c)
	re := c.This.(*goja.Object)
	if text.Length() < p.Engine.Natives.LongText || !webidl.Get(re, "global").ToBoolean() {
		return nil
	}
	var found []goja.Value
	known := p.matches(re, text, func(_ *regex.Pattern, groups []int) {
		p.element(&found, text, groups[0], groups[1])
	})
	switch {
	case !known:
		return nil
	case found == nil:
		return goja.Null()
	}
	return p.Engine.Maker().ArrayOf(found)
}

// splitLong is RegExp.prototype[Symbol.split] (22.2.6.14) of a long text; nil where goja
// does it.
func (p *Class) splitLong(c *goja.FunctionCall) goja.Value {
	text := firstText(c)
	most := int64(1<<32 - 1)
	if limit := c.Argument(1); !goja.IsUndefined(limit) {
		most = int64(uint32(limit.ToInteger()))
		c.Arguments = []goja.Value{text, p.VM.ToValue(most)} // of a negative one goja makes 0
	}
	if text.Length() < max(p.Engine.Natives.LongText, 1) {
		return nil
	}
	source, flags := p.Written(c.This.(*goja.Object))
	pattern, err := regex.Parse(codeUnits(textUnless(source)), flags)
	if err != nil {
		return nil
	}
	full := strings.ContainsAny(flags, "uv")
	var parts []goja.Value
	from := 0
	for at := 0; at < text.Length() && int64(len(parts)) < most; {
		groups := p.find(pattern, text, at, false, false)
		if groups == nil || groups[0] >= text.Length() {
			break
		}
		if groups[1] == from { // nothing, where the last part ended
			at = after(text, groups[0], full)
			continue
		}
		p.element(&parts, text, from, groups[0])
		from, at = groups[1], groups[1]
		for i := 2; i < len(groups); i += 2 {
			if groups[i] < 0 {
				parts = append(parts, goja.Undefined())
			} else {
				p.element(&parts, text, groups[i], groups[i+1])
			}
		}
	}
	if int64(len(parts)) < most {
		p.element(&parts, text, from, text.Length())
	} else {
		parts = parts[:most]
	}
	return p.Engine.Maker().ArrayOf(parts)
}

// firstText is the first argument as a text, converted in place.
func firstText(c *goja.FunctionCall) goja.String {
	if text, ok := c.Argument(0).(goja.String); ok {
		return text
	}
	text := stringOf(c.Argument(0))
	args := append([]goja.Value{text}, c.Arguments[min(1, len(c.Arguments)):]...)
	c.Arguments = args
	return text
}

// after is AdvanceStringIndex (22.2.7.3).
func after(text goja.String, at int, full bool) int {
	if full && at+1 < text.Length() && text.CharAt(at)&0xFC00 == 0xD800 && text.CharAt(at+1)&0xFC00 == 0xDC00 {
		return at + 2
	}
	return at + 1
}

// element adds a part of a text to a list that becomes an array.
func (p *Class) element(list *[]goja.Value, text goja.String, from, to int) {
	p.Engine.Natives.Pause()
	if len(*list) >= builtin.MaxElements {
		p.Engine.Throw("RangeError", builtin.BadArrayLength)
	}
	if len(*list) == cap(*list) {
		p.Engine.Memory.Fit(2*matchBytes*int64(len(*list)), builtin.BadArrayLength)
		*list = slices.Grow(*list, max(len(*list), 16))
	}
	*list = append(*list, text.Substring(from, to))
}

// matches finds the matches of a regular expression of goja's, all of them with the flag
// g and else the first, and sets its lastIndex; false if its pattern is not understood.
func (p *Class) matches(re *goja.Object, text goja.String, each func(pattern *regex.Pattern, groups []int)) bool {
	source, flags := p.Written(re)
	pattern, err := regex.Parse(codeUnits(textUnless(source)), flags)
	if err != nil {
		return false
	}
	global, sticky, full := strings.Contains(flags, "g"), strings.Contains(flags, "y"), strings.ContainsAny(flags, "uv")
	last := func(at int) {
		if global || sticky {
			if err := re.Set("lastIndex", at); err != nil {
				p.Engine.Rethrow(err)
			}
		}
	}
	at := 0
	if !global && sticky {
		at = int(min(max(webidl.Get(re, "lastIndex").ToInteger(), 0), 1<<53-1))
	}
	last(0)
	for at <= text.Length() {
		groups := p.find(pattern, text, at, sticky, false)
		if groups == nil {
			break
		}
		if at = groups[1]; groups[0] == at {
			at = after(text, at, full)
		}
		if !global {
			last(groups[1])
			each(pattern, groups)
			break
		}
		each(pattern, groups)
	}
	return true
}
