package check

import (
	"math"
	"slices"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
)

// LostUntil is until when, in the history's milliseconds, a plan has something lost within a server that
// lives on: its connections at any time, the work of objects up to the last fault. Below 0 nothing is.
func LostUntil(plan fault.Plan, events []history.Event) float64 {
	if slices.ContainsFunc(plan, func(f fault.Fault) bool { return f.Verb == fault.Drop || f.Verb == fault.Partition }) {
		return math.Inf(1)
	}
	until := -1.0
	if slices.ContainsFunc(plan, fault.Fault.EndsObjects) {
		for _, b := range Blows(events) {
			until = max(until, b.AtMs)
		}
	}
	return until
}
