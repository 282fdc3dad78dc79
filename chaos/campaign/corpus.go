package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/oracle"
	"minido.dev/minido/internal/killpoint"
)

// Bounds of a corpus: how many plans it has, how many points of each, how many pairs it
// knows, and how many faults a plan that is made of another has.
const (
	maxCorpus       = 2000
	maxCorpusPoints = 200
	maxPairs        = 1 << 20
	maxFaults       = 3
)

// corpus is the plans that came where none before had: each has passed a pair of a place
// (a label without its numbers) and a state (oracle.State.Shape). Random makes further plans
// out of them. It changes only between two batches of cases.
type corpus struct {
	dir     string // "" for none
	seen    map[uint64]bool
	entries []reached
}

// reached is a plan, the pairs that it reached, and the points of its last life.
type reached struct {
	Plan   string   `json:"plan"`
	Pairs  []uint64 `json:"pairs"`
	Points []string `json:"points,omitempty"`
}

// pairOf is a pair of a place and a state.
func pairOf(place string, s oracle.State) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, place+" "+strconv.FormatUint(s.Shape(), 16)) // a hash takes everything
	return h.Sum64()
}

// placeOf is a label without its object's name and its number.
func placeOf(label string) string {
	p, err := killpoint.ParseLabel(label)
	if err != nil {
		return label
	}
	class, _, _ := strings.Cut(p.Object, "/")
	return string(p.Kind) + ":" + string(p.Side) + "(" + class + ")/" + p.Cause
}

// pairsOf are those of a run: of each death, and of what it left at rest under its last
// fault.
func (r *caseRun) pairsOf(end string) (pairs []uint64, err error) {
	add := func(place, dir string) error {
		s, err := oracle.Read(dir, nil)
		if err == nil {
			pairs = append(pairs, pairOf(place, s))
		}
		return err
	}
	for i, c := range r.copies {
		err = errors.Join(err, add(placeOf(r.result.Kills[i].Point), c.dir))
	}
	last := ""
	if n := len(r.plan); n > 0 {
		last = string(r.plan[n-1].Verb) + "@" + placeOf(r.plan[n-1].Point)
	}
	if err = errors.Join(err, add("rest "+last, end)); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	return pairs, nil
}

// openCorpus reads a corpus; one that is not there is empty.
func openCorpus(dir string) (*corpus, error) {
	c := &corpus{dir: dir, seen: map[uint64]bool{}}
	if dir == "" {
		return c, nil
	}
	files, err := os.ReadDir(dir) // by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("campaign: corpus: %w", err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		var e reached
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err == nil {
			_, err = fault.ParsePlan(e.Plan)
		}
		if err != nil {
			return nil, fmt.Errorf("campaign: corpus: %s: %w; delete it to go on without", f.Name(), err)
		}
		c.learn(e)
	}
	return c, nil
}

// news reports whether a run has reached a pair that is not known.
func (c *corpus) news(pairs []uint64) bool {
	return len(c.seen) < maxPairs && slices.ContainsFunc(pairs, func(p uint64) bool { return !c.seen[p] })
}

// learn takes a plan if it is news, and reports whether it was.
func (c *corpus) learn(e reached) bool {
	if !c.news(e.Pairs) {
		return false
	}
	for _, p := range e.Pairs {
		c.seen[p] = true
	}
	e.Points = e.Points[:min(len(e.Points), maxCorpusPoints)]
	if len(c.entries) == maxCorpus {
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, e)
	return true
}

// keep writes a plan that was learnt to the corpus's directory.
func (c *corpus) keep(e reached) error {
	if c.dir == "" {
		return nil
	}
	data, err := json.Marshal(e)
	if err == nil {
		err = os.MkdirAll(c.dir, 0o755)
	}
	if err == nil {
		h := fnv.New64a()
		_, _ = h.Write(data) // a hash takes everything
		err = os.WriteFile(filepath.Join(c.dir, fmt.Sprintf("%016x.json", h.Sum64())), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("campaign: corpus: %w", err)
	}
	return nil
}

// guided is the next plan: every second is made of one of the corpus, if it has any.
func (d *drawing) guided(c *corpus) fault.Plan {
	if len(c.entries) == 0 || d.number(2) == 0 {
		return d.plans(1)[0]
	}
	e := c.entries[d.number(len(c.entries))]
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
