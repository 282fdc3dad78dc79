package array

import (
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Which pairs a sort compares, and in which order, is left to the implementation
// (ECMA-262, section 23.1.3.30.1); a comparison function of a program's sees it,
// and one that contradicts itself decides by it what comes out. These are V8's
// choices: insertion by binary search below 16 elements, and Tim Peters's
// algorithm, a merge sort that finds runs and gallops, from there.

// sortValues is SortIndexedProperties with SortCompare: undefined values come
// last, and are not shown to compare; without compare texts decide. It is stable.
func sortValues(e *engine.Engine, values []goja.Value, compare goja.Value) {
	defined := values[:0:0]
	for _, v := range values {
		if !goja.IsUndefined(v) {
			defined = append(defined, v)
		}
	}
	s := sorter{list: defined, compare: comparison(e, compare), gallop: minGallop}
	s.sort()
	n := copy(values, s.list)
	for ; n < len(values); n++ {
		values[n] = goja.Undefined()
	}
}

// comparison is less than 0 where a comes before b.
func comparison(e *engine.Engine, compare goja.Value) func(a, b goja.Value) float64 {
	if compare == nil || goja.IsUndefined(compare) {
		return func(a, b goja.Value) float64 { return float64(builtin.TextOf(a).CompareTo(builtin.TextOf(b))) }
	}
	call, _ := goja.AssertFunction(compare)
	return func(a, b goja.Value) float64 {
		v, err := call(goja.Undefined(), a, b)
		if err != nil {
			e.Rethrow(err)
		}
		return v.ToFloat()
	}
}

const (
	insertionBelow = 16
	minGallop      = 7
)

// sorter sorts one list. Loop-confined.
type sorter struct {
	list    []goja.Value
	compare func(a, b goja.Value) float64
	runs    []run
	gallop  int
	share   int // of the length that the runs so far have left over
}

// run is a sorted part of the list; depth is how deep the border behind it lies in
// a balanced tree of merges.
type run struct{ at, length, depth int }

func (s *sorter) less(a, b goja.Value) bool { return s.compare(a, b) < 0 }

func (s *sorter) sort() {
	n := len(s.list)
	if n < insertionBelow {
		s.insert(0, n, 1)
		return
	}
	for low := 0; low < n; {
		length := s.count(low, n)
		if least := s.leastRun(); length < least {
			forced := min(least, n-low)
			s.insert(low, low+forced, low+length)
			length = forced
		}
		s.collapse(length)
		s.runs = append(s.runs, run{low, length, 0})
		low += length
	}
	for len(s.runs) > 1 {
		i := len(s.runs) - 2
		if i > 0 && s.runs[i-1].length < s.runs[i+1].length {
			i--
		}
		s.mergeAt(i)
	}
}

// leastRun is how long the next run has to be: 32 to 64, such that the runs of a
// list in disorder are as equal in length as they can be.
func (s *sorter) leastRun() int {
	n, shift := len(s.list), 0
	for n>>shift >= 64 {
		shift++
	}
	s.share += n
	least := s.share >> shift
	s.share &= 1<<shift - 1
	return least
}

// insert puts the elements from start on in their places among those from low.
func (s *sorter) insert(low, high, start int) {
	for ; start < high; start++ {
		pivot := s.list[start]
		left, right := low, start
		for left < right {
			if middle := left + (right-left)/2; s.less(pivot, s.list[middle]) {
				right = middle
			} else {
				left = middle + 1
			}
		}
		copy(s.list[left+1:start+1], s.list[left:start])
		s.list[left] = pivot
	}
}

// count is the length of the run that begins at low; one that falls is turned.
func (s *sorter) count(low, high int) int {
	if low+1 == high {
		return 1
	}
	falls := s.less(s.list[low+1], s.list[low])
	end := low + 2
	for ; end < high && s.less(s.list[end], s.list[end-1]) == falls; end++ {
	}
	if falls {
		slices.Reverse(s.list[low:end])
	}
	return end - low
}

// collapse merges the runs that belong together before the next one, which is next
// elements long (J. I. Munro and S. Wild: Nearly-Optimal Mergesorts, "powersort").
func (s *sorter) collapse(next int) {
	if len(s.runs) == 0 {
		return
	}
	r := s.runs[len(s.runs)-1]
	depth, n := 0, len(s.list)
	for a, b := 2*r.at+r.length, 2*r.at+2*r.length+next; ; a, b = a<<1, b<<1 {
		depth++
		if a >= n {
			a, b = a-n, b-n
		} else if b >= n {
			break
		}
	}
	for len(s.runs) > 1 && s.runs[len(s.runs)-2].depth > depth {
		s.mergeAt(len(s.runs) - 2)
	}
	s.runs[len(s.runs)-1].depth = depth
}

// mergeAt merges two neighbours.
func (s *sorter) mergeAt(i int) {
	a, b := s.runs[i], s.runs[i+1]
	s.runs[i].length += b.length
	s.runs = slices.Delete(s.runs, i+1, i+2)
	k := s.rightOf(s.list[b.at], s.list[a.at:a.at+a.length], 0)
	if a.at, a.length = a.at+k, a.length-k; a.length == 0 {
		return
	}
	b.length = s.leftOf(s.list[a.at+a.length-1], s.list[b.at:b.at+b.length], b.length-1)
	switch {
	case b.length == 0:
	case a.length <= b.length:
		s.mergeLow(a, b)
	default:
		s.mergeHigh(a, b)
	}
}

// leftOf is where key belongs in a sorted list, before what equals it; the search
// begins at hint and takes ever longer strides.
func (s *sorter) leftOf(key goja.Value, list []goja.Value, hint int) int {
	last, offset := 0, 1
	if s.less(list[hint], key) {
		most := len(list) - hint
		for offset < most && s.less(list[hint+offset], key) {
			last, offset = offset, offset*2+1
		}
		last, offset = last+hint, min(offset, most)+hint
	} else {
		most := hint + 1
		for offset < most && !s.less(list[hint-offset], key) {
			last, offset = offset, offset*2+1
		}
		last, offset = hint-min(offset, most), hint-last
	}
	for last++; last < offset; {
		if middle := last + (offset-last)/2; s.less(list[middle], key) {
			last = middle + 1
		} else {
			offset = middle
		}
	}
	return offset
}

// rightOf is the place behind what equals key.
func (s *sorter) rightOf(key goja.Value, list []goja.Value, hint int) int {
	last, offset := 0, 1
	if s.less(key, list[hint]) {
		most := hint + 1
		for offset < most && s.less(key, list[hint-offset]) {
			last, offset = offset, offset*2+1
		}
		last, offset = hint-min(offset, most), hint-last
	} else {
		most := len(list) - hint
		for offset < most && !s.less(key, list[hint+offset]) {
			last, offset = offset, offset*2+1
		}
		last, offset = last+hint, min(offset, most)+hint
	}
	for last++; last < offset; {
		if middle := last + (offset-last)/2; s.less(key, list[middle]) {
			offset = middle
		} else {
			last = middle + 1
		}
	}
	return offset
}

// mergeLow merges from the front: a, the shorter one, is kept aside.
func (s *sorter) mergeLow(a, b run) {
	left, at, right, end := slices.Clone(s.list[a.at:a.at+a.length]), a.at, b.at, b.at+b.length
	put := func(v goja.Value) { s.list[at] = v; at++ }
	put(s.list[right])
	right++
merging:
	for right < end && len(left) > 1 {
		fromLeft, fromRight := 0, 0
		for right < end && len(left) > 1 && fromLeft < s.gallop && fromRight < s.gallop {
			if s.less(s.list[right], left[0]) {
				put(s.list[right])
				right++
				fromLeft, fromRight = 0, fromRight+1
			} else {
				put(left[0])
				left = left[1:]
				fromLeft, fromRight = fromLeft+1, 0
			}
		}
		if right >= end || len(left) <= 1 {
			break
		}
		for s.gallop++; ; {
			s.gallop = max(1, s.gallop-1)
			fromLeft = s.rightOf(s.list[right], left, 0)
			at += copy(s.list[at:], left[:fromLeft])
			if left = left[fromLeft:]; len(left) <= 1 {
				break merging
			}
			put(s.list[right])
			if right++; right >= end {
				break merging
			}
			fromRight = s.leftOf(left[0], s.list[right:end], 0)
			copy(s.list[at:], s.list[right:right+fromRight])
			at, right = at+fromRight, right+fromRight
			if right >= end {
				break merging
			}
			put(left[0])
			if left = left[1:]; len(left) <= 1 {
				break merging
			}
			if fromLeft < minGallop && fromRight < minGallop {
				break
			}
		}
		s.gallop++
	}
	if right < end { // at most one is left of the left, which belongs behind all
		at += copy(s.list[at:], s.list[right:end])
	}
	copy(s.list[at:], left)
}

// mergeHigh merges from the back: b, the shorter one, is kept aside.
func (s *sorter) mergeHigh(a, b run) {
	right, left, at := slices.Clone(s.list[b.at:b.at+b.length]), s.list[a.at:a.at+a.length], b.at+b.length
	put := func(v goja.Value) { at--; s.list[at] = v }
	last := func(list []goja.Value) goja.Value { return list[len(list)-1] }
	put(last(left))
	left = left[:len(left)-1]
merging:
	for len(left) > 0 && len(right) > 1 {
		fromLeft, fromRight := 0, 0
		for len(left) > 0 && len(right) > 1 && fromLeft < s.gallop && fromRight < s.gallop {
			if s.less(last(right), last(left)) {
				put(last(left))
				left = left[:len(left)-1]
				fromLeft, fromRight = fromLeft+1, 0
			} else {
				put(last(right))
				right = right[:len(right)-1]
				fromLeft, fromRight = 0, fromRight+1
			}
		}
		if len(left) == 0 || len(right) <= 1 {
			break
		}
		for s.gallop++; ; {
			s.gallop = max(1, s.gallop-1)
			k := s.rightOf(last(right), left, len(left)-1)
			fromLeft = len(left) - k
			at -= fromLeft
			copy(s.list[at:], left[k:])
			if left = left[:k]; len(left) == 0 {
				break merging
			}
			put(last(right))
			if right = right[:len(right)-1]; len(right) <= 1 {
				break merging
			}
			k = s.leftOf(last(left), right, len(right)-1)
			fromRight = len(right) - k
			at -= fromRight
			copy(s.list[at:], right[k:])
			if right = right[:k]; len(right) <= 1 {
				break merging
			}
			put(last(left))
			if left = left[:len(left)-1]; len(left) == 0 {
				break merging
			}
			if fromLeft < minGallop && fromRight < minGallop {
				break
			}
		}
		s.gallop++
	}
	if len(right) == 1 && len(left) > 0 { // it belongs before all of the left
		at -= len(left)
		copy(s.list[at:], left)
	}
	copy(s.list[at-len(right):], right)
}

// InstallTypedSorts has the typed arrays' sort and toSorted (23.2.3.29) ask a
// comparison function as V8 does: a merge sort that halves.
func InstallTypedSorts(e *engine.Engine) {
	proto := e.Primordial("TypedArray").Get("prototype").(*goja.Object)
	for _, name := range []string{"sort", "toSorted"} {
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			array, ok := c.This.(*goja.Object)
			if compare := c.Argument(0); ok && engine.IsCallable(compare) && insides.TheViews().Known && buffers.LiveTyped(e, array) {
				into := array
				if name == "toSorted" {
					into = method(goja.FunctionCall{This: array}).(*goja.Object)
				}
				n := int(e.Call(e.Primordial("TypedArrayPrototypeGetLength"), goja.Undefined(), array).ToInteger())
				values := make([]goja.Value, n)
				for i := range values {
					values[i] = array.Get(strconv.Itoa(i))
				}
				mergeHalves(values, make([]goja.Value, n), comparison(e, compare))
				for i, v := range values {
					if err := into.Set(strconv.Itoa(i), v); err != nil {
						e.Rethrow(err)
					}
				}
				return into
			}
			return method(c)
		})
	}
}

// mergeHalves sorts list with room as long as it.
func mergeHalves(list, room []goja.Value, compare func(a, b goja.Value) float64) {
	if len(list) < 2 {
		return
	}
	middle := len(list) / 2
	mergeHalves(list[:middle], room[:middle], compare)
	mergeHalves(list[middle:], room[middle:], compare)
	copy(room, list)
	left, right := room[:middle], room[middle:]
	for i := range list {
		if len(right) == 0 || len(left) > 0 && !(compare(left[0], right[0]) > 0) {
			list[i], left = left[0], left[1:]
		} else {
			list[i], right = right[0], right[1:]
		}
	}
}
