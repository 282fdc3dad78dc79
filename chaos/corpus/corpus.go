// Package corpus stores the plans of a random campaign that reached something new.
package corpus

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

// MaxPoints bounds the points that are kept of a plan.
const MaxPoints = 200

// Bounds of a corpus: how many plans it has, and how many pairs it knows.
const (
	maxEntries = 2000
	maxPairs   = 1 << 20
)

// Corpus is the plans that came where none before had: each has passed a pair of a place
// (a label without its numbers) and a state (oracle.State.Shape). Random makes further plans
// out of them. It changes only between two batches of cases.
type Corpus struct {
	dir     string // "" for none
	seen    map[uint64]bool
	entries []Entry
}

// Entry is a plan, the pairs that it reached, and the points of its last life.
type Entry struct {
	Plan   string   `json:"plan"`
	Pairs  []uint64 `json:"pairs"`
	Points []string `json:"points,omitempty"`
}

// Pair is a pair of a place and a state.
func Pair(place string, s oracle.State) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, place+" "+strconv.FormatUint(s.Shape(), 16)) // a hash takes everything
	return h.Sum64()
}

// Place is a label without its object's name and its number.
func Place(label string) string {
	p, err := killpoint.ParseLabel(label)
	if err != nil {
		return label
	}
	class, _, _ := strings.Cut(p.Object, "/")
	return string(p.Kind) + ":" + string(p.Side) + "(" + class + ")/" + p.Cause
}

// Open reads a corpus; one that is not there is empty.
func Open(dir string) (*Corpus, error) {
	c := &Corpus{dir: dir, seen: map[uint64]bool{}}
	if dir == "" {
		return c, nil
	}
	files, err := os.ReadDir(dir) // by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		var e Entry
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err == nil {
			_, err = fault.ParsePlan(e.Plan)
		}
		if err != nil {
			return nil, fmt.Errorf("corpus: %s: %w; delete it to go on without", f.Name(), err)
		}
		c.Learn(e)
	}
	return c, nil
}

// News reports whether a run has reached a pair that is not known.
func (c *Corpus) News(pairs []uint64) bool {
	return len(c.seen) < maxPairs && slices.ContainsFunc(pairs, func(p uint64) bool { return !c.seen[p] })
}

// Learn takes a plan if it is news, and reports whether it was.
func (c *Corpus) Learn(e Entry) bool {
	if !c.News(e.Pairs) {
		return false
	}
	for _, p := range e.Pairs {
		c.seen[p] = true
	}
	e.Points = e.Points[:min(len(e.Points), MaxPoints)]
	if len(c.entries) == maxEntries {
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, e)
	return true
}

// Keep writes a plan that was learnt to the corpus's directory.
func (c *Corpus) Keep(e Entry) error {
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
		return fmt.Errorf("corpus: %w", err)
	}
	return nil
}

// Pairs is how many pairs are known.
func (c *Corpus) Pairs() int { return len(c.seen) }

// Entries are the plans, the oldest first.
func (c *Corpus) Entries() []Entry { return c.entries }
