// Package compat has workerd's compatibility flags: their names, the dates from which
// they are on, and their effect in minido. Code that depends on a flag names its
// constant, so that a test can hold the table against the code.
package compat

import (
	"slices"
	"sync"
)

// LatestDate is the newest compatibility date whose behaviour the table knows: the
// "supportedCompatibilityDate" of workerd 1.20261117. A worker that asks for a
// later one gets this one, with a warning, as under miniflare.
const LatestDate = "2026-11-24"

// Flag is a compatibility flag; 0 is none.
type Flag int

// Row is what is known of a flag. Immutable.
type Row struct {
	// Name switches the flag on, Disable off; Disable may be "".
	Name, Disable string
	// Date is the compatibility date from which the flag is on; "" for never.
	Date string
	// ImpliedBy has flags of which one that is on switches this one on, from
	// ImpliedDate.
	ImpliedBy   []Flag
	ImpliedDate string
	// Experimental flags can change without notice; production refuses them.
	Experimental bool
	// Needs is a flag without which this one changes nothing; 0 is none.
	Needs Flag
	State State
	// Note says why there is no difference.
	Note string
}

// State says what minido makes of a flag.
type State uint8

// The states.
const (
	// Implemented flags are acted on.
	Implemented State = iota
	// NoDifference is for flags that nothing depends on here; the row says why.
	NoDifference
	// AlwaysOn and NeverOn are for flags that minido does not act on: it behaves
	// as if they were on, or off.
	AlwaysOn
	NeverOn
)

// Row is what is known of the flag.
func (f Flag) Row() Row { return table[f] }

// String is the name that switches the flag on.
func (f Flag) String() string { return table[f].Name }

// Flags are all flags, in the table's order.
func Flags() []Flag {
	out := make([]Flag, count-1)
	for i := range out {
		out[i] = Flag(i + 1)
	}
	return out
}

// names finds flags by either name.
var names = sync.OnceValue(func() map[string]Flag {
	index := make(map[string]Flag, 2*count)
	for _, f := range Flags() {
		index[table[f].Name] = f
		if d := table[f].Disable; d != "" {
			index[d] = f
		}
	}
	return index
})

// Lookup finds a flag by either of its names; enables is false for the one that
// switches it off.
func Lookup(name string) (flag Flag, enables, found bool) {
	f, found := names()[name]
	return f, found && table[f].Name == name, found
}

// Set is the flags of a worker.
type Set struct {
	Date  string
	Asked []string // compatibility_flags
}

// Reason says what decided a flag.
type Reason string

// The reasons.
const (
	ByFlag    Reason = "flag"
	ByDate    Reason = "date"
	Implied   Reason = "implied"
	ByDefault Reason = "default"
)

// On reports whether a flag is on: named in compatibility_flags, on by default at
// the compatibility date, or implied by another flag that is on (workerd:
// compileCompatibilityFlags). Safe for concurrent use.
func (s Set) On(f Flag) bool {
	on, _ := s.Decide(f)
	return on
}

// Decide is On with the reason.
func (s Set) Decide(f Flag) (on bool, why Reason) {
	row := &table[f]
	switch {
	case row.Disable != "" && slices.Contains(s.Asked, row.Disable):
		return false, ByFlag
	case slices.Contains(s.Asked, row.Name):
		return true, ByFlag
	case row.Date != "" && s.Date >= row.Date:
		return true, ByDate
	}
	if row.ImpliedBy != nil && s.Date >= row.ImpliedDate && slices.ContainsFunc(row.ImpliedBy, s.On) {
		return true, Implied
	}
	return false, ByDefault
}

// Named answers for a flag by either of its names; the disabling one gives the
// opposite answer. A flag that the table does not know is on if compatibility_flags
// names it.
func (s Set) Named(name string) bool {
	f, enables, found := Lookup(name)
	if !found {
		return slices.Contains(s.Asked, name)
	}
	return s.On(f) == enables
}

// Unheeded are the flags that the worker has otherwise than minido behaves, those
// that it names itself first. Experimental flags count only if they are named.
func (s Set) Unheeded() (named, byDate []Flag) {
	for _, f := range Flags() {
		on, why := s.Decide(f)
		state := table[f].State
		switch needs := table[f].Needs; {
		case needs != 0 && !s.On(needs):
		case !(state == AlwaysOn && !on || state == NeverOn && on):
		case why == ByFlag:
			named = append(named, f)
		default:
			byDate = append(byDate, f)
		}
	}
	return named, byDate
}
