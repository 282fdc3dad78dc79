package inspect

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"minido.dev/minido/internal/insides"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webidl"
)

// arrayShape shows items, and a run of holes as one.
func (in *inspector) arrayShape(obj *goja.Object, class, tag string) shape {
	n := int(webidl.Get(obj, "length").ToInteger())
	s := shape{open: "[", end: "]", list: true, filled: n > 0, keys: in.keys(obj, true)}
	if class != "Array" || tag != "" {
		s.open = prefix(class, tag, "Array", fmt.Sprintf("(%d)", n)) + "["
	}
	s.parts = func() []string {
		var parts []string
		level, i := len(in.seen)-1, 0
		var indices []int // those that there are; read at the first hole
		for i < n && len(parts) < in.o.maxArray {
			key := in.p.VM.ToValue(strconv.Itoa(i))
			if d := in.descriptor(obj, key); d != nil {
				parts = append(parts, in.described(obj, d, level))
				i++
				continue
			}
			if indices == nil {
				indices = append(indexKeys(obj), n)
			}
			at, _ := slices.BinarySearch(indices, i)
			holes := indices[at] - i
			parts = append(parts, in.style(fmt.Sprintf("<%d empty item%s>", holes, plural(holes)), "undefined"))
			i += holes
		}
		if i < n {
			parts = append(parts, moreItems(n-i))
		}
		return parts
	}
	return s
}

// indexKeys are the enumerable own keys that are array indices, ascending.
func indexKeys(obj *goja.Object) []int {
	var indices []int
	for _, name := range obj.Keys() {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 {
			indices = append(indices, i)
		}
	}
	slices.Sort(indices)
	return indices
}

func (in *inspector) typedShape(obj *goja.Object, class, tag, usual string) shape {
	n := 0
	if in.has("TypedArrayPrototypeGetLength", obj) {
		n = int(in.ask("TypedArrayPrototypeGetLength", obj).ToInteger())
	}
	s := shape{open: prefix(class, tag, usual, fmt.Sprintf("(%d)", n)) + "[", end: "]", list: true, filled: n > 0 || in.o.showHidden, keys: in.keys(obj, true)}
	s.parts = func() []string {
		var parts []string
		for i := range min(n, in.o.maxArray) {
			parts = append(parts, in.primitive(obj.Get(strconv.Itoa(i))))
		}
		if n > in.o.maxArray {
			parts = append(parts, moreItems(n-in.o.maxArray))
		}
		if in.o.showHidden {
			for _, name := range []string{"BYTES_PER_ELEMENT", "length", "byteLength", "byteOffset"} {
				parts = append(parts, "["+name+"]: "+in.primitive(obj.Get(name)))
			}
			text := "undefined"
			if buffer, ok := obj.Get("buffer").(*goja.Object); ok {
				text = prefix(in.constructorName(buffer, 0), in.tag(buffer), "ArrayBuffer", "") + "{ byteLength: " + in.primitive(buffer.Get("byteLength")) + " }"
			}
			parts = append(parts, "[buffer]: "+text)
		}
		return parts
	}
	return s
}

func (in *inspector) bufferShape(obj *goja.Object, class, tag string) shape {
	s := shape{open: prefix(class, tag, "ArrayBuffer", "") + "{", end: "}", filled: true, keys: in.keys(obj, false)}
	s.parts = func() []string {
		buffer := obj.Export().(goja.ArrayBuffer)
		if buffer.Detached() {
			return []string{"(detached)", "byteLength: 0"}
		}
		data := buffer.Bytes()
		text := fmt.Sprintf("% x", data[:min(len(data), in.o.maxArray)])
		if more := len(data) - in.o.maxArray; more > 0 {
			text += fmt.Sprintf(" ... %d more byte%s", more, plural(more))
		}
		return []string{in.style("[Uint8Contents]", "special") + ": <" + text + ">", "byteLength: " + in.style(strconv.Itoa(len(data)), "number")}
	}
	return s
}

func (in *inspector) viewShape(obj *goja.Object, class, tag string) shape {
	s := shape{open: prefix(class, tag, "DataView", "") + "{", end: "}", filled: true, keys: in.keys(obj, false)}
	s.parts = func() []string {
		var parts []string
		for _, name := range []string{"byteLength", "byteOffset", "buffer"} {
			v := in.ask("DataViewPrototypeGet"+strings.ToUpper(name[:1])+name[1:], obj)
			parts = append(parts, name+": "+in.nested(v, len(in.seen)-1))
		}
		return parts
	}
	return s
}

// collectionShape shows a Map or a Set.
func (in *inspector) collectionShape(obj *goja.Object, kind, class, tag string) shape {
	n := int(in.ask(kind+"PrototypeGetSize", obj).ToInteger())
	s := shape{open: prefix(class, tag, kind, fmt.Sprintf("(%d)", n)) + "{", end: "}", filled: n > 0, keys: in.keys(obj, false)}
	s.parts = func() []string {
		var parts []string
		level := len(in.seen) - 1
		in.ask(kind+"PrototypeForEach", obj, in.p.VM.ToValue(func(call goja.FunctionCall) goja.Value {
			value, key := call.Argument(0), call.Argument(1)
			switch {
			case len(parts) == in.o.maxArray:
			case kind == "Set":
				parts = append(parts, in.nested(value, level))
			default:
				parts = append(parts, in.nested(key, level)+" => "+in.nested(value, level))
			}
			return goja.Undefined()
		}))
		if n > in.o.maxArray {
			parts = append(parts, moreItems(n-in.o.maxArray))
		}
		return parts
	}
	return s
}

// iteratorShape shows what an iterator of a Map or Set has yet to give.
func (in *inspector) iteratorShape(obj *goja.Object, kind, tag string) shape {
	s := shape{open: "[" + tag + "] {", end: "}", keys: in.keys(obj, false)}
	next := in.p.Engine.Primordial("SetIteratorPrototypeNext")
	if kind == "Map Iterator" {
		next = in.p.Engine.Primordial("MapIteratorPrototypeNext")
	}
	var items []goja.Value
	paired := false
	s.filled = insides.Peek(obj, func(inPairs bool) {
		if paired = inPairs; paired {
			s.open = "[" + strings.Replace(tag, " Iterator", " Entries", 1) + "] {"
		}
		for {
			step := in.p.Engine.Call(next, goja.Undefined(), obj)
			if webidl.Get(step, "done").ToBoolean() {
				return
			}
			items = append(items, webidl.Get(step, "value"))
		}
	})
	s.parts = func() (parts []string) {
		level := len(in.seen) - 1
		for _, item := range items[:min(len(items), in.o.maxArray)] {
			if !paired {
				parts = append(parts, in.nested(item, level))
				continue
			}
			in.indent += 2
			pair := []string{in.value(webidl.Get(item, "0"), level+1), in.value(webidl.Get(item, "1"), level+1)}
			parts = append(parts, in.join(shape{open: "[", end: "]", list: true}, pair, obj, level))
			in.indent -= 2
		}
		if more := len(items) - in.o.maxArray; more > 0 {
			parts = append(parts, moreItems(more))
		}
		return parts
	}
	return s
}

// join puts parts between braces: on one line if they fit and few levels lie
// below, in columns if they are a long array's, else on lines of their own.
func (in *inspector) join(s shape, parts []string, obj *goja.Object, level int) string {
	pad := "\n" + strings.Repeat(" ", in.indent)
	if in.o.compact == compactAlways {
		base := s.base
		if base != "" {
			base = " " + base
		}
		if in.fit(parts, 0, s.base) {
			return s.open + base + " " + strings.Join(parts, ", ") + " " + s.end
		}
		line := " "
		if s.base != "" || len(s.open) != 1 {
			line = base + pad + "  "
		}
		return s.open + line + strings.Join(parts, ","+pad+"  ") + " " + s.end
	}
	start := len(parts) + in.indent + utf8.RuneCountInString(s.open) + utf8.RuneCountInString(s.base)
	if s.base != "" {
		s.open = s.base + " " + s.open
	}
	lines := parts
	if s.list && in.o.compact > 0 && len(parts) > 6 {
		lines = in.columns(parts, obj)
	}
	if in.current-level < in.o.compact && len(lines) == len(parts) {
		const reserve = 10
		if in.fit(parts, start+reserve, s.base) {
			if line := strings.Join(parts, ", "); !strings.Contains(line, "\n") {
				return s.open + " " + line + " " + s.end
			}
		}
	}
	return s.open + pad + "  " + strings.Join(lines, ","+pad+"  ") + pad + s.end
}

// fit reports whether parts have room on a line of which start is taken.
func (in *inspector) fit(parts []string, start int, base string) bool {
	total := start + len(parts)
	for _, part := range parts {
		if !in.o.colors && len(part) > utf8.UTFMax*in.o.breakLength {
			return false // whatever it holds
		}
		total += in.width(part)
	}
	return total <= in.o.breakLength && !strings.Contains(base, "\n")
}

// width is the number of characters shown, without colours.
func (in *inspector) width(s string) int {
	if in.o.colors {
		s = ansi.ReplaceAllString(s, "")
	}
	return utf8.RuneCountInString(s)
}

// columns arranges many short items as a table, about as wide as it is high.
func (in *inspector) columns(parts []string, obj *goja.Object) []string {
	n := len(parts)
	if n > in.o.maxArray {
		n-- // the last part tells how many more there are
	}
	const gap = 2 // ", "
	widths, total, widest := make([]int, n), 0, 0
	for i := range n {
		widths[i] = in.width(parts[i])
		total += widths[i] + gap
		widest = max(widest, widths[i])
	}
	cell := widest + gap
	if cell*3+in.indent >= in.o.breakLength || float64(total)/float64(cell) <= 5 && widest > 6 {
		return parts
	}
	const heightOfCharacter, mostColumns = 2.5, 15
	bias := math.Sqrt(float64(cell) - float64(total)/float64(len(parts)))
	width := math.Max(float64(cell)-3-bias, 1)
	square := int(math.Round(math.Sqrt(heightOfCharacter*width*float64(n)) / width))
	count := min(square, (in.o.breakLength-in.indent)/cell, in.o.compact*4, mostColumns)
	if count <= 1 {
		return parts
	}
	wide := make([]int, count)
	for i := range n {
		wide[i%count] = max(wide[i%count], widths[i])
	}
	right := allNumbers(obj, n)
	var lines []string
	for i := 0; i < n; i += count {
		var b strings.Builder
		last := min(i+count, n) - 1
		for j := i; j <= last; j++ {
			fill := strings.Repeat(" ", wide[j-i]-widths[j])
			if right {
				b.WriteString(fill)
			}
			b.WriteString(parts[j])
			if j < last {
				b.WriteString(", ")
				if !right {
					b.WriteString(fill)
				}
			}
		}
		lines = append(lines, b.String())
	}
	return append(lines, parts[n:]...)
}

// allNumbers tells items that are aligned to the right.
func allNumbers(obj *goja.Object, n int) bool {
	for i := range n {
		v := obj.Get(strconv.Itoa(i))
		if _, isObject := v.(*goja.Object); isObject || v == nil {
			return false
		}
		switch v.Export().(type) {
		case int64, float64, *big.Int:
		default:
			return false
		}
	}
	return true
}
