// Package orders enumerates the orders in which the messages of a run may arrive:
// those that are worth a run, and the serial orders that they are compared with. Its
// functions are safe for concurrent use.
package orders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/internal/killpoint"
)

// Node is an order of messages to be run: the delays that make it, and those that need
// not be added to them, because what they lead to is explored elsewhere (Godefroid, sleep
// sets). Immutable.
type Node struct {
	Plan  fault.Plan
	sleep []move
}

// move is a message that is made to arrive later than others of its object.
type move struct {
	label string
	to    string // the object: moves of two objects commute
	by    time.Duration
}

// behind is how much later a message must arrive to come behind all that happens at
// the same time, for in a simulation what a processor does takes none.
const behind = time.Millisecond

// maxBehind is how late a message may be: callers of production wait about as long.
const maxBehind = 30 * time.Second

// Of is the order of what has happened to each object: two runs that have the same
// differ in nothing that matters.
func Of(trace []sim.Passed) string {
	of := map[string][]string{}
	for _, p := range trace {
		at := p.Object
		text := string(p.Kind) + ":" + string(p.Side) + "/" + p.Cause
		if p.To != "" && p.Side == killpoint.After {
			at, text = p.To, text+" "+departed(trace, p)
		}
		of[at] = append(of[at], text)
	}
	var lines []string
	for at, events := range of { // order-independent: sorted below
		if at != "" {
			lines = append(lines, at+": "+strings.Join(events, ", "))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// departed is the label of the point at which a message left that arrives at p.
func departed(trace []sim.Passed, p sim.Passed) string {
	for _, q := range trace {
		if q.Number == p.Departed {
			return q.Label()
		}
	}
	return ""
}

// Expand are the orders that follow from n, whose run passed trace: each has one more
// message arrive behind another one of its object.
func Expand(n Node, trace []sim.Passed) (out []Node) {
	writes := map[string]bool{}
	for _, p := range trace {
		if p.Kind == killpoint.Commit {
			writes[p.Object] = true
		}
	}
	sleep := slices.Clone(n.sleep)
	for i, p := range trace {
		if p.To == "" || p.Side != killpoint.Before || !writes[p.To] || p.Cause == killpoint.Question {
			continue
		}
		if slices.ContainsFunc(n.Plan, func(f fault.Fault) bool { return f.Point == p.Label() }) {
			continue
		}
		for _, by := range delays(p, trace[i+1:]) {
			m := move{label: p.Label(), to: p.To, by: by}
			if slices.Contains(sleep, m) {
				continue
			}
			// It comes behind what was delayed before it, too.
			f := fault.Fault{Verb: fault.Delay, Arg: (by + time.Duration(len(n.Plan))*behind).String(), Point: m.label}
			child := Node{Plan: append(slices.Clone(n.Plan), f)}
			for _, s := range sleep {
				if s.to != m.to {
					child.sleep = append(child.sleep, s)
				}
			}
			out = append(out, child)
			sleep = append(sleep, m)
		}
	}
	return out
}

// delays are how much later a message has to arrive to come behind another one of its
// object: one that arrives at the same time, and the first that arrives later.
func delays(p sim.Passed, later []sim.Passed) (out []time.Duration) {
	for _, q := range later {
		if q.Departed == p.Number || !arrives(q, p.To) {
			continue
		}
		d := q.Time.Sub(p.Time)
		if d == 0 && len(out) == 0 || d > 0 && d < maxBehind {
			out = append(out, d+behind)
		}
		if d > 0 {
			break
		}
	}
	return out
}

// arrives reports whether something comes to an object at q: a message, an alarm, or a
// timer of its own that made it write.
func arrives(q sim.Passed, object string) bool {
	switch {
	case q.To == object:
		return q.Side == killpoint.After || q.Kind == killpoint.Alarm
	case q.Object != object:
		return false
	}
	return q.Kind == killpoint.Commit && q.Side == killpoint.Before && q.Cause == "timer"
}

// Apart is how far apart what would happen at once is in a run that does one thing
// after the other: by then its fetches and timers are over.
const Apart = 10 * time.Second

// Max bounds the orders of one turn's calls, and twice as many in all: with more of
// them orders are not compared.
const Max = 24

// Turns are the orders of requests of which some are sent at once, as how long each
// waits: those wait for each other, the others for the end of what the one before has
// left behind.
func Turns(atOnce []bool) (out [][]int) {
	n := 0
	for _, overlaps := range atOnce {
		if overlaps {
			n++
		}
	}
	for _, permuted := range permutations(n) {
		ranks, next := make([]int, len(atOnce)), 0
		for i, overlaps := range atOnce {
			switch {
			case overlaps:
				ranks[i] = permuted[next]
				next++
			case i > 0:
				ranks[i] = 1
			}
		}
		out = append(out, ranks)
	}
	return out
}

// Siblings are the other orders of calls that a turn has sent at once: plans of delays.
// Of turns that send many, each call comes first once, and last.
func Siblings(trace []sim.Passed) []fault.Plan {
	turns := map[string][]string{}
	var names []string
	for _, p := range trace {
		if p.Kind != killpoint.RPC || p.Side != killpoint.Before || p.To == "" || p.Cause == killpoint.Question {
			continue
		}
		name := fmt.Sprint(p.Turn, p.Object)
		if turns[name] == nil {
			names = append(names, name)
		}
		turns[name] = append(turns[name], p.Label())
	}
	var plans []fault.Plan
	for _, name := range names {
		labels := turns[name]
		for _, ranks := range permutations(len(labels))[1:] {
			var plan fault.Plan
			for i, label := range labels {
				if ranks[i] > 0 {
					plan = append(plan, fault.Fault{Verb: fault.Delay, Arg: (time.Duration(ranks[i]) * Apart / Max).String(), Point: label})
				}
			}
			plans = append(plans, plan)
		}
	}
	return plans
}

// Late are the alarms that a plan delays, each so much later that what it would have come
// into the middle of is over; nil if it delays none. Delays of other plans are durations.
func Late(p fault.Plan) (out fault.Plan) {
	for _, f := range p {
		by, err := time.ParseDuration(f.Arg)
		if strings.HasPrefix(f.Point, string(killpoint.Alarm)+":") && err == nil {
			out = append(out, fault.Fault{Verb: fault.Delay, Arg: (by + Apart).String(), Point: f.Point})
		}
	}
	return out
}

// permutations are the orders of n things, as the rank of each: all of up to four, of
// more those in which one has gone first or last. The first is the given one.
func permutations(n int) [][]int {
	if n < 2 {
		return [][]int{nil}
	}
	given := make([]int, n)
	for i := range given {
		given[i] = i
	}
	if n <= 4 {
		return permute(given, 0)
	}
	out := [][]int{given}
	for i := range n {
		first, last := slices.Clone(given), slices.Clone(given)
		first[i], last[i] = -1, n
		out = append(out, ranked(first), ranked(last))
	}
	return out
}

// ranked makes numbers 0 to n-1 of their order.
func ranked(numbers []int) []int {
	out := make([]int, len(numbers))
	for i, x := range numbers {
		for _, y := range numbers {
			if cmp.Compare(y, x) < 0 {
				out[i]++
			}
		}
	}
	return out
}

func permute(given []int, from int) (out [][]int) {
	if from == len(given) {
		return [][]int{slices.Clone(given)}
	}
	for i := from; i < len(given); i++ {
		next := slices.Clone(given)
		next[from], next[i] = next[i], next[from]
		out = append(out, permute(next, from+1)...)
	}
	return out
}
