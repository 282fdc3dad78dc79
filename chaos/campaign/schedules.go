package campaign

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/internal/killpoint"
)

// node is an order of messages to be run: the delays that make it, and those that need
// not be added to them, because what they lead to is explored elsewhere (Godefroid, sleep
// sets).
type node struct {
	plan  fault.Plan
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

// schedules runs up to so many orders of messages, each of which differs from all
// others in the order of what happens to some object. c is the run without a fault.
func (c *campaign) schedules(ctx context.Context, clean Case) error {
	seen := map[string]bool{order(clean.trace): true}
	next := expand(node{}, clean.trace)
	done := 0
	for len(next) > 0 && !c.over() {
		var nodes []node
		nodes, next = next[:min(len(next), c.Schedules-done)], next[min(len(next), c.Schedules-done):]
		if len(nodes) == 0 {
			c.report.Skipped += len(next)
			return nil
		}
		done += len(nodes)
		c.tell(c.runs()+len(nodes), "%d orders of messages to run", len(nodes))
		plans := make([]fault.Plan, len(nodes))
		for i, n := range nodes {
			plans[i] = n.plan
		}
		results, err := c.visit(ctx, alone(plans))
		if err != nil {
			return err
		}
		for i, r := range results {
			if r.result.Outcome != Passed || len(r.result.Missed) > 0 {
				continue // what is wrong needs no further disorder
			}
			if key := order(r.result.trace); !seen[key] {
				seen[key] = true
				next = append(next, expand(nodes[i], r.result.trace)...)
			}
		}
	}
	return nil
}

// order is the order of what has happened to each object: two runs that have the same
// differ in nothing that matters.
func order(trace []sim.Passed) string {
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

// expand are the orders that follow from n, whose run passed trace: each has one more
// message arrive behind another one of its object.
func expand(n node, trace []sim.Passed) (out []node) {
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
		if slices.ContainsFunc(n.plan, func(f fault.Fault) bool { return f.Point == p.Label() }) {
			continue
		}
		for _, by := range delays(p, trace[i+1:]) {
			m := move{label: p.Label(), to: p.To, by: by}
			if slices.Contains(sleep, m) {
				continue
			}
			// It comes behind what was delayed before it, too.
			f := fault.Fault{Verb: fault.Delay, Arg: (by + time.Duration(len(n.plan))*behind).String(), Point: m.label}
			child := node{plan: append(slices.Clone(n.plan), f)}
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

// spaced is how far apart what would happen at once is in a run that does one thing
// after the other: by then its fetches and timers are over.
const spaced = 10 * time.Second

// maxOrders bounds the orders of one turn's calls, and twice as many in all: with more of
// them orders are not compared.
const maxOrders = 24

// serial are runs in which what was done at once is done one after the other, in each
// order: the requests that clients send at once, and the calls that one turn sends. A
// result of another order of messages must be one of theirs. not says why there is
// nothing to compare with.
func (r *caseRun) serial(ctx context.Context, start *reference) (out []*reference, not string, err error) {
	for _, ranks := range turnsOf(start.atOnce) {
		base := terms{seed: start.seed, start: start.start, horizon: start.horizon, pace: r.pace, ranks: ranks}
		f := r.refer(ctx, base)
		if f.err != nil || f.state == nil {
			return nil, unordered, f.err
		}
		out = append(out, f)
		plans := siblings(f.trace)
		if len(out)+len(plans) > 2*maxOrders {
			return nil, tooMany, nil
		}
		for _, plan := range plans {
			with := base
			with.delays = plan
			g := r.refer(ctx, with)
			if g.err != nil {
				return nil, "", g.err
			}
			if g.state != nil { // one delay may take another's point away
				out = append(out, g)
			}
		}
	}
	return out, "", nil
}

// turnsOf are the orders of requests of which some are sent at once, as how long each
// waits: those wait for each other, the others for the end of what the one before has
// left behind.
func turnsOf(atOnce []bool) (out [][]int) {
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

// siblings are the other orders of calls that a turn has sent at once: plans of delays.
// Of turns that send many, each call comes first once, and last.
func siblings(trace []sim.Passed) []fault.Plan {
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
					plan = append(plan, fault.Fault{Verb: fault.Delay, Arg: (time.Duration(ranks[i]) * spaced / maxOrders).String(), Point: label})
				}
			}
			plans = append(plans, plan)
		}
	}
	return plans
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
