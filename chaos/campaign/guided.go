package campaign

import (
	"errors"
	"fmt"

	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/oracle"
)

// maxFaults bounds the faults of a plan that is made of another.
const maxFaults = 3

// pairsOf are those of a run: of each death, and of what it left at rest under its last
// fault.
func (r *caseRun) pairsOf(end string) (pairs []uint64, err error) {
	add := func(place, dir string) error {
		s, err := oracle.Read(dir, nil)
		if err == nil {
			pairs = append(pairs, corpus.Pair(place, s))
		}
		return err
	}
	for i, c := range r.copies {
		err = errors.Join(err, add(corpus.Place(r.result.Kills[i].Point), c.dir))
	}
	last := ""
	if n := len(r.plan); n > 0 {
		last = string(r.plan[n-1].Verb) + "@" + corpus.Place(r.plan[n-1].Point)
	}
	if err = errors.Join(err, add("rest "+last, end)); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	return pairs, nil
}

// guided is the next plan: every second is made of one of the corpus, if it has any.
func (d *drawing) guided(c *corpus.Corpus) fault.Plan {
	known := c.Entries()
	if len(known) == 0 || d.number(2) == 0 {
		return d.plans(1)[0]
	}
	e := known[d.number(len(known))]
	p, err := fault.ParsePlan(e.Plan)
	if err != nil {
		return d.plans(1)[0] // the run of no plan
	}
	full := len(p) >= maxFaults
	switch n := d.number(4); {
	case n == 0 || len(p) == 0: // in another order of events
	case n == 1 && !full && len(e.Points) > 0: // a death in its last life
		p = append(p, fault.Fault{Point: e.Points[d.number(len(e.Points))]})
	case n == 2 && !full:
		p = append(p, d.fault())
	default:
		p[len(p)-1] = d.fault()
	}
	if len(p) == 0 {
		return d.plans(1)[0]
	}
	return p
}

// batchEnd is the number of cases at which what they reached is learnt, after n: soon at
// first, later seldom, so that all processors have something to do.
func batchEnd(n int) int {
	const first, most = 16, 256
	for end := first; end < most; end *= 2 {
		if n < end {
			return end
		}
	}
	return (n/most + 1) * most
}
