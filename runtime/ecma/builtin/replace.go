package builtin

import (
	"bytes"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/runtime/engine"
)

// ReplacesLong reports whether a replacement is Replaced's: the text is long, or the
// result can be larger than a value may be. by is a text or a function.
func ReplacesLong(e *engine.Engine, text goja.String, by goja.Value) bool {
	n := int64(text.Length())
	if n >= int64(e.Natives.LongText) {
		return true
	}
	template, ok := by.(goja.String)
	if !ok {
		return false
	}
	each := int64(template.Length())
	if Product(float64(n+1), each+each/2*n) <= engine.MaxValueBytes {
		return false
	}
	references := int64(strings.Count(template.String(), "$"))
	return Product(float64(n+1), each+references*n) > engine.MaxValueBytes
}

// Replaced is the result of String.prototype.replaceAll and the like, put together match
// by match: the turn can be stopped meanwhile, and the length is bounded. Loop-confined.
type Replaced struct {
	engine   *engine.Engine
	text     goja.String
	by       *goja.Object // the function, nil for a template
	template goja.String
	plain    bool // the template has no reference

	out    goja.StringBuilder
	taken  int   // up to where the text has been written
	length int64 // of out
	room   int64 // of out: it doubles, and the heap is asked before
}

// NewReplaced begins a replacement in a text; by is a function or is converted to a text.
func NewReplaced(e *engine.Engine, text goja.String, by goja.Value) *Replaced {
	r := &Replaced{engine: e, text: text}
	if engine.IsCallable(by) {
		r.by = by.(*goja.Object)
		return r
	}
	r.template = ToString(e, by)
	r.plain = !strings.Contains(r.template.String(), "$")
	return r
}

// Match replaces the next match, of which groups are the bounds: of the whole and of each
// group, -1 where a group has none. named has the named groups, or is undefined.
func (r *Replaced) Match(groups []int, named func(captures []goja.Value) goja.Value) {
	r.engine.Natives.Pause()
	r.write(r.text, r.taken, groups[0])
	r.taken = groups[1]
	if r.plain {
		r.write(r.template, 0, r.template.Length())
		return
	}
	captures := make([]goja.Value, len(groups)/2, len(groups)/2+3)
	for i := range captures {
		captures[i] = goja.Undefined()
		if from, to := groups[2*i], groups[2*i+1]; from >= 0 {
			captures[i] = r.text.Substring(from, to)
		}
	}
	names := goja.Undefined()
	if named != nil {
		names = named(captures)
	}
	if r.by == nil {
		r.substitute(groups, captures, names)
		return
	}
	args := append(captures, r.engine.VM().ToValue(groups[0]), r.text)
	if !goja.IsUndefined(names) {
		args = append(args, names)
	}
	put := ToString(r.engine, r.engine.Call(r.by, goja.Undefined(), args...))
	r.write(put, 0, put.Length())
}

// substitute is GetSubstitution (22.1.3.19.1).
func (r *Replaced) substitute(groups []int, captures []goja.Value, names goja.Value) {
	t, n := r.template, r.template.Length()
	digit := func(i int) int {
		if i < n && t.CharAt(i) >= '0' && t.CharAt(i) <= '9' {
			return int(t.CharAt(i) - '0')
		}
		return -1
	}
	for i := 0; i < n; {
		from := i
		for i < n && t.CharAt(i) != '$' {
			i++
		}
		r.write(t, from, i)
		if i+1 >= n {
			r.write(t, i, n)
			return
		}
		at := i
		i += 2
		switch c := t.CharAt(at + 1); {
		case c == '$':
			r.write(t, at, at+1)
		case c == '&':
			r.write(r.text, groups[0], groups[1])
		case c == '`':
			r.write(r.text, 0, groups[0])
		case c == '\'':
			r.write(r.text, groups[1], r.text.Length())
		case c == '<' && !goja.IsUndefined(names):
			end := i
			for end < n && t.CharAt(end) != '>' {
				end++
			}
			if end == n {
				r.write(t, at, i)
				continue
			}
			if v := names.(*goja.Object).Get(t.Substring(i, end).String()); v != nil && !goja.IsUndefined(v) {
				put := ToString(r.engine, v)
				r.write(put, 0, put.Length())
			}
			i = end + 1
		default:
			group := digit(at + 1)
			if two := digit(at + 2); group >= 0 && two >= 0 && group*10+two >= 1 && group*10+two < len(captures) {
				group, i = group*10+two, i+1
			}
			if group < 1 || group >= len(captures) {
				r.write(t, at, at+1)
				i = at + 1
				continue
			}
			if put, ok := captures[group].(goja.String); ok {
				r.write(put, 0, put.Length())
			}
		}
	}
}

// write adds a part of a text.
func (r *Replaced) write(s goja.String, from, to int) {
	if from == to {
		return
	}
	before := r.length
	if r.length += int64(to - from); r.length > engine.MaxValueBytes {
		r.engine.Throw("RangeError", BadStringLength)
	}
	if r.length > r.room {
		r.room = min(max(2*r.length, 1<<10), engine.MaxValueBytes)
		r.engine.Natives.Pause()
		r.engine.Memory.Allocate(r.room, BadStringLength)
		r.out.Grow(int(r.room - before))
	}
	r.out.WriteSubstring(s, from, to)
}

// End adds what follows the last match and gives the result.
func (r *Replaced) End() goja.Value {
	r.write(r.text, r.taken, r.text.Length())
	return r.out.String()
}

// ReplaceText is String.prototype.replace or replaceAll (22.1.3.19, 22.1.3.20) of a text.
func ReplaceText(e *engine.Engine, text, sought goja.String, by goja.Value, all bool) goja.Value {
	r := NewReplaced(e, text, by)
	length := sought.Length()
	for at := 0; at <= text.Length(); at += max(length, 1) {
		if at = indexFrom(e, text, sought, at); at < 0 {
			break
		}
		if r.Match([]int{at, at + length}, nil); !all {
			break
		}
	}
	return r.End()
}

// indexFrom is where a text has another one, from a place on, or -1.
func indexFrom(e *engine.Engine, text, sought goja.String, from int) int {
	if sought.Length() == 0 {
		return from
	}
	if ascii, units := texts.Text(text); units == nil {
		if of, other := texts.Text(sought); other == nil {
			if at := bytes.Index(ascii[from:], of); at >= 0 {
				return from + at
			}
			return -1
		}
	}
	return int(e.Call(e.Primordial("StringPrototypeIndexOf"), goja.Undefined(), text, sought, e.VM().ToValue(from)).ToInteger())
}
