package webapi

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// arrayShape shows items, and a run of holes as one.
func (in *inspector) arrayShape(obj *goja.Object, class, tag string) shape {
	n := int(get(obj, "length").ToInteger())
	s := shape{open: "[", end: "]", list: true, filled: n > 0, keys: in.keys(obj, true)}
	if class != "Array" || tag != "" {
		s.open = prefix(class, tag, "Array", fmt.Sprintf("(%d)", n)) + "["
	}
	s.parts = func() []string {
		var parts []string
		level, i := len(in.seen)-1, 0
		var indices []int // those that there are; read at the first hole
		for i < n && len(parts) < inspectItems {
			key := in.p.vm.ToValue(strconv.Itoa(i))
			if in.descriptor(obj, key) != nil {
				_, text, _ := strings.Cut(in.property(obj, key, level), ": ")
				parts = append(parts, text)
				i++
				continue
			}
			if indices == nil {
				indices = append(indexKeys(obj), n)
			}
			at, _ := slices.BinarySearch(indices, i)
			holes := indices[at] - i
			parts = append(parts, fmt.Sprintf("<%d empty item%s>", holes, plural(holes)))
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
	s := shape{open: prefix(class, tag, usual, fmt.Sprintf("(%d)", n)) + "[", end: "]", list: true, filled: n > 0, keys: in.keys(obj, true)}
	s.parts = func() []string {
		var parts []string
		for i := range min(n, inspectItems) {
			parts = append(parts, in.primitive(obj.Get(strconv.Itoa(i))))
		}
		if n > inspectItems {
			parts = append(parts, moreItems(n-inspectItems))
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
		text := fmt.Sprintf("% x", data[:min(len(data), inspectBytes)])
		if more := len(data) - inspectBytes; more > 0 {
			text += fmt.Sprintf(" ... %d more byte%s", more, plural(more))
		}
		return []string{"[Uint8Contents]: <" + text + ">", "byteLength: " + strconv.Itoa(len(data))}
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
		in.ask(kind+"PrototypeForEach", obj, in.p.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			value, key := call.Argument(0), call.Argument(1)
			switch {
			case len(parts) == inspectItems:
			case kind == "Set":
				parts = append(parts, in.nested(value, level))
			default:
				parts = append(parts, in.nested(key, level)+" => "+in.nested(value, level))
			}
			return goja.Undefined()
		}))
		if n > inspectItems {
			parts = append(parts, moreItems(n-inspectItems))
		}
		return parts
	}
	return s
}

// join puts parts between braces: on one line if they fit and few levels lie
// below, in columns if they are a long array's, else on lines of their own.
func (in *inspector) join(s shape, parts []string, obj *goja.Object, level int) string {
	if s.base != "" {
		s.open = s.base + " " + s.open
	}
	columns := parts
	if s.list && len(parts) > 6 {
		columns = in.columns(parts, obj)
	}
	if in.current-level < inspectCompact && len(columns) == len(parts) {
		const reserve = 10
		total := 2*len(parts) + in.indent + len(s.open) + reserve
		several := strings.Contains(s.base, "\n")
		for _, part := range parts {
			total += utf8.RuneCountInString(part)
			several = several || strings.Contains(part, "\n")
		}
		if total <= inspectWidth && !several {
			return s.open + " " + strings.Join(parts, ", ") + " " + s.end
		}
	}
	pad := "\n" + strings.Repeat(" ", in.indent)
	return s.open + pad + "  " + strings.Join(columns, ","+pad+"  ") + pad + s.end
}

// columns arranges many short items as a table, about as wide as it is high.
func (in *inspector) columns(parts []string, obj *goja.Object) []string {
	n := len(parts)
	if n > inspectItems {
		n-- // the last part tells how many more there are
	}
	const gap = 2 // ", "
	widths, total, widest := make([]int, n), 0, 0
	for i := range n {
		widths[i] = utf8.RuneCountInString(parts[i])
		total += widths[i] + gap
		widest = max(widest, widths[i])
	}
	cell := widest + gap
	if cell*3+in.indent >= inspectWidth || float64(total)/float64(cell) <= 5 && widest > 6 {
		return parts
	}
	const heightOfCharacter, mostColumns = 2.5, 15
	bias := math.Sqrt(float64(cell) - float64(total)/float64(len(parts)))
	width := math.Max(float64(cell)-3-bias, 1)
	square := int(math.Round(math.Sqrt(heightOfCharacter*width*float64(n)) / width))
	count := min(square, (inspectWidth-in.indent)/cell, inspectCompact*4, mostColumns)
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
