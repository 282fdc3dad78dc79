package oracle

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An object may reserve numbers in blocks: it stores how far they are reserved, and gives them out
// from memory. A death leaves the rest of a block behind, and the numbers that follow begin with the
// next one. That gap means nothing.

// leastBlock is how many numbers a block has at least. A number of a few that was taken and not
// used is no block.
const leastBlock = 4

// mark is a number that is stored once: how far numbers are reserved, or how many blocks are.
type mark struct {
	at     place
	column string
}

// given are the numbers that stand in one column, or in the keys of entries that have the same key
// otherwise, each with the one that stands there without the fault, in order.
type given struct {
	at        place  // of keys, with # for the number
	column    string // "" for keys
	got, want []int64
}

// renumbering is how numbers of reserved blocks are others than without the fault.
type renumbering struct {
	given []given
	marks map[mark]bool
	by    map[string][]string // a number, and those without the fault
}

// reserved looks for it in the tables of a state and in those without the fault; nil without any.
func reserved(a, b map[place]table) *renumbering {
	r := renumbering{marks: map[mark]bool{}, by: map[string][]string{}}
	marks := ahead(a, b)
	for _, g := range append(inColumns(a, b), inKeys(a, b)...) {
		is := false
		for m, n := range marks { // order-independent: a set
			if g.led(n[0], n[1]) {
				is, r.marks[m] = true, true
			}
		}
		if !is {
			continue
		}
		r.given = append(r.given, g)
		for i, n := range g.got {
			from := strconv.FormatInt(n, 10)
			r.by[from] = append(r.by[from], strconv.FormatInt(g.want[i], 10))
		}
	}
	if r.given == nil {
		return nil
	}
	return &r
}

// ahead are the numbers that are stored once in both, and no lower in a: that of a and that of b.
func ahead(a, b map[place]table) map[mark][2]int64 {
	out := map[mark][2]int64{}
	for at, t := range a { // order-independent: a map of the same keys
		other := b[at]
		if at.isTold() || at.name == effects || len(t.rows) != 1 || len(other.rows) != 1 {
			continue
		}
		for i, column := range t.columns {
			j := slices.Index(other.columns, column)
			if j < 0 {
				continue
			}
			x, is := whole(t.rows[0][i])
			if y, also := whole(other.rows[0][j]); is && also && x >= y {
				out[mark{at, column}] = [2]int64{x, y}
			}
		}
	}
	return out
}

// whole is the whole number that a cell is.
func whole(cell string) (n int64, ok bool) {
	n, err := strconv.ParseInt(cell, 10, 64)
	return n, err == nil && n >= 0
}

// numbersOf are the numbers that cells are, in order; none if one is no number, or is there twice.
func numbersOf(cells []string) (out []int64) {
	for _, cell := range cells {
		n, is := whole(cell)
		if !is {
			return nil
		}
		out = append(out, n)
	}
	slices.Sort(out)
	if len(slices.Compact(slices.Clone(out))) < len(out) {
		return nil
	}
	return out
}

// inColumns are the numbers in columns that are others than without the fault.
func inColumns(a, b map[place]table) (out []given) {
	for at, t := range a { // order-independent: sorted below
		other := b[at]
		if at.isTold() || len(t.rows) < 2 || len(t.rows) != len(other.rows) {
			continue
		}
		for i, column := range t.columns {
			j := slices.Index(other.columns, column)
			if j < 0 {
				continue
			}
			got, want := numbersOf(t.column(i)), numbersOf(other.column(j))
			if got != nil && want != nil && !slices.Equal(got, want) {
				out = append(out, given{at, column, got, want})
			}
		}
	}
	slices.SortFunc(out, func(x, y given) int {
		return cmp.Or(comparePlaces(x.at, y.at), strings.Compare(x.column, y.column))
	})
	return out
}

// inKeys are those in the keys of KV entries that have one number.
func inKeys(a, b map[place]table) (out []given) {
	group := func(tables map[place]table) map[place][]string {
		all := map[place][]string{}
		for at := range tables { // order-independent: sorted by numbersOf
			if numbers := digits.FindAllString(at.name, -1); strings.HasPrefix(at.name, kvPrefix) && len(numbers) == 1 {
				of := at
				of.name = digits.ReplaceAllString(at.name, "#")
				all[of] = append(all[of], numbers[0])
			}
		}
		return all
	}
	theirs := group(b)
	mine := group(a)
	for _, at := range slices.SortedFunc(maps.Keys(mine), comparePlaces) {
		got, want := numbersOf(mine[at]), numbersOf(theirs[at])
		if len(got) > 1 && len(got) == len(want) && !slices.Equal(got, want) {
			out = append(out, given{at, "", got, want})
		}
	}
	return out
}

// led reports whether the numbers are given out of blocks that a mark leads, which is at got, and at
// want without the fault: they follow each other as without the fault, but that some begin with the
// next block. The mark says how far numbers are reserved, and is ahead of them, or how many blocks are.
func (g given) led(got, want int64) bool {
	var begins []int64 // the first numbers of blocks behind a gap
	last, widest := int64(0), int64(0)
	for i, n := range g.got {
		switch shift := n - g.want[i]; {
		case shift < last:
			return false
		case shift > last:
			begins = append(begins, n)
			widest = max(widest, shift-last)
			last = shift
		}
	}
	blocks := int64(len(begins))
	if blocks == 0 {
		return false
	}
	are := func(size, from int64) bool { // blocks of a size, of which one begins at from
		return size >= leastBlock && widest <= size && !slices.ContainsFunc(begins, func(n int64) bool { return (n-from)%size != 0 })
	}
	first, end, usual := g.want[0], g.got[len(g.got)-1], g.want[len(g.want)-1]
	if got >= end && want >= usual && (got > end+1 || want > usual+1) {
		if size := (got - want) / blocks; (got-want)%blocks == 0 && (are(size, want) || are(size, want+1)) {
			return true
		}
		// Where numbers go on with the next block without the fault, too, the mark may be as high. Then the
		// last number of both is in the last block.
		size := begins[0] - first
		if (are(size, want) || are(size, want+1)) && (got-want)%size == 0 && got-want < blocks*size && end >= got-size && usual >= want-size {
			return true
		}
	}
	size := begins[0] - first
	if got-want != blocks || !are(size, first) || usual >= first+size-1 {
		return false // no number was left in its block
	}
	counts := func(block int64) bool { return first == block*size || first == block*size+1 }
	return counts(want) || counts(want-1)
}

// undo gives a the numbers that it has without the fault: in rows that are the same then.
func (r *renumbering) undo(a, b map[place]table) map[place]table {
	out := map[place]table{}
	for at, t := range a { // order-independent: places differ
		if name := r.named(at, a, b); name != at.name {
			at.name = name
		}
		if out[at].rows == nil {
			out[at] = t
		}
	}
	for at, t := range out { // order-independent: each for itself
		out[at] = t.like(b[at], func(column, cell, other string) bool {
			if own := slices.IndexFunc(r.given, func(g given) bool { return g.at == at && g.column == column }); own >= 0 {
				n, _ := whole(cell)
				i, is := slices.BinarySearch(r.given[own].got, n)
				return is && strconv.FormatInt(r.given[own].want[i], 10) == other
			}
			return cell == other || r.marks[mark{at, column}] && more(cell, other) || r.says(cell, other)
		})
	}
	return out
}

// named is the name of a place without the fault.
func (r *renumbering) named(at place, a, b map[place]table) string {
	of := at
	of.name = digits.ReplaceAllString(at.name, "#")
	if own := slices.IndexFunc(r.given, func(g given) bool { return g.at == of && g.column == "" }); own >= 0 {
		n, _ := whole(digits.FindString(at.name))
		if i, is := slices.BinarySearch(r.given[own].got, n); is {
			return strings.Replace(of.name, "#", strconv.FormatInt(r.given[own].want[i], 10), 1)
		}
	}
	if _, both := b[at]; both || of.name == at.name {
		return at.name
	}
	for other := range b { // order-independent: of several that are like it, none is without the fault alone
		if _, has := a[other]; !has && other.namespace == at.namespace && other.object == at.object && r.says(at.name, other.name) {
			return other.name
		}
	}
	return at.name
}

// says reports whether two texts are the same but for such numbers.
func (r *renumbering) says(text, other string) bool {
	got, want := digits.FindAllString(text, -1), digits.FindAllString(other, -1)
	if len(got) == 0 || len(got) != len(want) || digits.ReplaceAllString(text, "#") != digits.ReplaceAllString(other, "#") {
		return false
	}
	for i, n := range got {
		if n != want[i] && !slices.Contains(r.by[n], want[i]) {
			return false
		}
	}
	return true
}
