package result

import (
	"maps"
	"slices"
)

// What a report keeps of its cases, so that it does not grow with their number. The
// others are counted (Report.Folded), and stand in cases.ndjson.
const (
	// MaxKept is of how many cases that passed, and of how many that failed.
	MaxKept = 10_000
	// MaxExamples is how many cases of one cause.
	MaxExamples = 100
)

// Folded counts the cases of a report that are not among Report.Cases.
type Folded struct {
	Cases    int             `json:"cases"`
	Outcomes map[Outcome]int `json:"outcomes"`
	// Causes counts those that failed by Case.Cause; what came when MaxKept others were
	// known is under its outcome.
	Causes map[string]int `json:"causes,omitempty"`
	// Uncompared counts them by Case.Uncompared, Visits those that Case.Visits.
	Uncompared map[string]int `json:"uncompared,omitempty"`
	Visits     int            `json:"visits,omitempty"`
}

// Runs is how many cases were judged, also those that Cases does not have.
func (r Report) Runs() int {
	if r.Folded == nil {
		return len(r.Cases)
	}
	return len(r.Cases) + r.Folded.Cases
}

// Failures is how many cases Failed stands for.
func (r Report) Failures() int {
	n := len(r.Failed())
	if r.Folded != nil {
		for o, folded := range r.Folded.Outcomes { // order-independent: a sum
			if !o.OK() {
				n += folded
			}
		}
	}
	return n
}

// Shelf counts what a report keeps. Its owner's lock guards it.
type Shelf struct {
	passed, failed int
	causes         map[string]int
}

// Causes is how many different causes its cases have.
func (s *Shelf) Causes() int { return len(s.causes) }

// Room reports whether another case is kept, of which cause is the Cause.
func (s *Shelf) Room(cause string) bool {
	if cause == "" {
		return s.passed < MaxKept
	}
	return s.failed < MaxKept && s.causes[cause] < MaxExamples
}

// Put takes a case into the report, or counts it there.
func (s *Shelf) Put(r *Report, c Case) {
	cause := c.Cause()
	if s.Room(cause) {
		if cause == "" {
			s.passed++
		} else {
			if s.causes == nil {
				s.causes = map[string]int{}
			}
			s.failed++
			s.causes[cause]++
		}
		r.Cases = append(r.Cases, c)
		return
	}
	if r.Folded == nil {
		r.Folded = &Folded{Outcomes: map[Outcome]int{}}
	}
	f := r.Folded
	f.Cases++
	f.Outcomes[c.Outcome]++
	if c.Visits() {
		f.Visits++
	}
	if c.Uncompared != "" {
		f.Uncompared = more(f.Uncompared, c.Uncompared, 1)
	}
	if cause != "" {
		f.fail(cause, c.Outcome, 1)
	}
}

// fail counts failures of a cause.
func (f *Folded) fail(cause string, o Outcome, n int) {
	if _, known := f.Causes[cause]; !known && len(f.Causes) >= MaxKept {
		cause = string(o)
	}
	f.Causes = more(f.Causes, cause, n)
}

func more(m map[string]int, key string, n int) map[string]int {
	if m == nil {
		m = map[string]int{}
	}
	m[key] += n
	return m
}

// fold adds what another report has counted.
func (r *Report) fold(f *Folded) {
	if f == nil {
		return
	}
	if r.Folded == nil {
		r.Folded = &Folded{Outcomes: map[Outcome]int{}}
	}
	r.Folded.Cases += f.Cases
	r.Folded.Visits += f.Visits
	for o, n := range f.Outcomes { // order-independent: sums
		r.Folded.Outcomes[o] += n
	}
	for _, cause := range slices.Sorted(maps.Keys(f.Causes)) {
		r.Folded.fail(cause, Violated, f.Causes[cause])
	}
	for why, n := range f.Uncompared { // order-independent: sums
		r.Folded.Uncompared = more(r.Folded.Uncompared, why, n)
	}
}
