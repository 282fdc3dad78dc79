package coverage

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"minido.dev/minido/runtime/bundle/counting"
)

// kinds are what is counted, in the order in which thresholds are checked.
var kinds = []string{"lines", "functions", "statements", "branches"}

// metric counts how many of the things of a kind there are, and how many ran.
type metric struct{ total, covered int }

// percent is istanbul's: rounded down to hundredths, 100 of nothing.
func (m metric) percent() float64 {
	if m.total == 0 {
		return 100
	}
	return math.Floor(1000*100*float64(m.covered)/float64(m.total)/10) / 100
}

func (m metric) text() string { return number(m.percent()) }

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// summary has a metric of each of the kinds.
type summary map[string]metric

func (s summary) empty() bool { return s["lines"].total == 0 }

func (s summary) full() bool {
	return !slices.ContainsFunc(kinds, func(kind string) bool { return s[kind].percent() < 100 })
}

// percent is that of a table: nothing of nothing.
func (s summary) percent(kind string) float64 {
	if s.empty() {
		return 0
	}
	return s[kind].percent()
}

func (m *metric) add(counts ...uint64) {
	for _, n := range counts {
		m.total++
		if n > 0 {
			m.covered++
		}
	}
}

func summarize(f *counting.File) summary {
	var lines, functions, statements, branches metric
	for _, s := range f.Statements {
		statements.add(s.Count)
	}
	for _, fn := range f.Functions {
		functions.add(fn.Count)
	}
	for _, b := range f.Branches {
		branches.add(b.Counts...)
	}
	for _, l := range linesOf(f) {
		lines.add(l.count)
	}
	return summary{"lines": lines, "functions": functions, "statements": statements, "branches": branches}
}

func sum(files []*counting.File) summary {
	all := summary{}
	for _, f := range files {
		one := summarize(f)
		for _, kind := range kinds {
			all[kind] = metric{all[kind].total + one[kind].total, all[kind].covered + one[kind].covered}
		}
	}
	return all
}

// line is a line on which statements begin, and how often the most frequent one ran.
type line struct {
	number int
	count  uint64
}

func linesOf(f *counting.File) (all []line) {
	counts := map[int]uint64{}
	for _, s := range f.Statements {
		counts[s.At.Start.Line] = max(counts[s.At.Start.Line], s.Count)
	}
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, line{n, counts[n]})
	}
	return all
}

// branchLine is a line on which branches begin, with all of their paths.
type branchLine struct {
	number int
	metric
}

func branchLinesOf(f *counting.File) (all []branchLine) {
	found := map[int]metric{}
	for _, b := range f.Branches {
		m := found[b.At.Start.Line]
		m.add(b.Counts...)
		found[b.At.Start.Line] = m
	}
	for _, n := range slices.Sorted(maps.Keys(found)) {
		all = append(all, branchLine{n, found[n]})
	}
	return all
}

// uncovered are the lines that did not run, as ranges; where all ran, those with branches
// of which a path was not taken.
func uncovered(f *counting.File) string {
	type state struct {
		number int
		ran    bool
	}
	var all []state
	if s := summarize(f); !s.empty() && s["lines"].percent() == 100 {
		for _, l := range branchLinesOf(f) {
			all = append(all, state{l.number, l.covered == l.total})
		}
	} else {
		for _, l := range linesOf(f) {
			all = append(all, state{l.number, l.count > 0})
		}
	}
	text, open, last := "", false, 0
	end := func(first int) string {
		if last == first {
			return ""
		}
		return "-" + strconv.Itoa(last)
	}
	first := 0
	for _, s := range all {
		switch {
		case s.ran:
			if open {
				text += end(first)
			}
			open = false
			continue
		case !open:
			if text != "" {
				text += ","
			}
			text += strconv.Itoa(s.number)
			open, first = true, s.number
		}
		last = s.number
	}
	if open {
		text += end(first)
	}
	return text
}
