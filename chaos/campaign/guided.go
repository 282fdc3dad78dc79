package campaign

import (
	"errors"
	"fmt"

	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/oracle"
)

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
