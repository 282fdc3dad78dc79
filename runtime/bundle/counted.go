package bundle

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/bundle/counting"
	"minido.dev/minido/runtime/bundle/sourcemap"
)

// Counting counts how often the statements, functions and branches of files run, in all
// runtimes that load a bundle with it. The counters are memory of this process: what a
// runtime has counted stays when it ends, however that happens. Safe for concurrent use,
// but for Fold and Files: nothing may run then.
type Counting struct {
	// Wants says which files are counted, by their absolute paths. It must be pure.
	Wants func(path string) bool

	mu     sync.Mutex
	open   []counters         // of runtimes
	totals map[*unit][]uint64 // of runtimes that were folded
	homes  map[*unit]*Bundler
}

// counters are those of one unit in one runtime: 32 bits each, as its machine has them.
type counters struct {
	unit *unit
	data []byte
}

// counterSize is that of a counter, in bytes.
const counterSize = 4

// countersName is the parameter of a unit that has its counters.
const countersName = "$counters"

func (c *Counting) wants(path string) bool {
	return c != nil && filepath.IsAbs(path) && !inNodeModules(path) && c.Wants(path)
}

// counters are new ones for a module, as JavaScript sees them.
func (in *instance) counters(r *record) (goja.Value, error) {
	data := make([]byte, counterSize*r.plan.Counters)
	array, err := in.vm.New(in.vm.Get("Uint32Array"), in.vm.ToValue(in.vm.NewArrayBuffer(data)))
	if err != nil {
		return nil, fmt.Errorf("bundle: counters: %w", err)
	}
	b := in.b.bundler
	b.opts.Counting.add(counters{r.unit, data}, b)
	return array, nil
}

func (c *Counting) add(n counters, b *Bundler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.homes == nil {
		c.homes, c.totals = map[*unit]*Bundler{}, map[*unit][]uint64{}
	}
	c.open = append(c.open, n)
	c.homes[n.unit] = b
}

// Reset forgets what was counted.
func (c *Counting) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open, c.totals, c.homes = nil, nil, nil
}

// Fold adds up what was counted so far, so that the memory of runtimes that have ended
// is free again.
func (c *Counting) Fold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.open {
		sum := c.totals[n.unit]
		if sum == nil {
			sum = make([]uint64, len(n.data)/counterSize)
			c.totals[n.unit] = sum
		}
		for i := range sum {
			sum[i] += uint64(binary.NativeEndian.Uint32(n.data[counterSize*i:]))
		}
	}
	c.open = nil
}

// Files is what was counted, by path. It folds.
//
// # Errors
//
// A file that has changed since it was read: what was counted has no place in it.
func (c *Counting) Files() ([]*counting.File, error) {
	c.Fold()
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]*counting.File{}
	units := slices.SortedFunc(maps.Keys(c.totals), func(a, b *unit) int { return cmp.Compare(a.path, b.path) })
	for _, u := range units {
		f, err := c.homes[u].countedOf(u, c.totals[u])
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if have := found[f.Path]; have == nil {
			found[f.Path] = f
		} else if !have.Add(f) {
			return nil, changed(u)
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *counting.File) int { return cmp.Compare(a.Path, b.Path) }), nil
}

func changed(u *unit) error {
	return fmt.Errorf("%s has changed while it was measured", u.path)
}

// countedOf is what was counted of a unit, nil if there is nothing to count.
func (b *Bundler) countedOf(u *unit, counts []uint64) (*counting.File, error) {
	sm := b.sourceMap(u)
	src, ok := b.source(u)
	if sm == nil || !ok {
		return nil, changed(u)
	}
	return u.plan.Locate(u.path, src.text, counts, newPlaces(u, sm)), nil
}

// Uncounted is a file of which nothing ran, as Counting.Files has it; nil for one
// in which there is nothing to count.
//
// # Errors
//
// *BuildError for a file that cannot be read or lowered.
func Uncounted(o Options, path string) (*counting.File, error) {
	o.Entry, o.CacheDir, o.Spawn = "", "", nil
	b := New(o)
	defer b.Close()
	src, ok := b.source(&unit{path: path})
	if !ok {
		return nil, &BuildError{[]Message{{File: path, Text: "Could not read the file."}}}
	}
	u, msgs := b.lowered(src, relSlash(b.opts.Dir, path))
	if u == nil {
		return nil, &BuildError{msgs}
	}
	u.counted = true
	if _, err := u.program(); err != nil {
		return nil, err
	}
	return b.countedOf(u, nil)
}

// places are those of a unit's code in its source (counting.Places). Confined to the
// goroutine that made it.
type places struct {
	u       *unit
	sm      *sourcemap.Map
	lines   []int // where each line of the code begins
	sources []sourcePlace
}

type sourcePlace struct {
	source    string
	line, col int
}

func (p sourcePlace) compare(q sourcePlace) int {
	return cmp.Or(strings.Compare(p.source, q.source), cmp.Compare(p.line, q.line), cmp.Compare(p.col, q.col))
}

func newPlaces(u *unit, sm *sourcemap.Map) *places {
	p := &places{u: u, sm: sm, lines: []int{0}}
	for i := range len(u.low.code) {
		if u.low.code[i] == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	sm.Segments(func(_, _ int, source string, line, col int) {
		p.sources = append(p.sources, sourcePlace{source, line, col})
	})
	slices.SortFunc(p.sources, sourcePlace.compare)
	return p
}

func (p *places) lookup(offset int) (at sourcePlace, ok bool) {
	line, exact := slices.BinarySearch(p.lines, offset)
	if !exact {
		line--
	}
	if line < 1 || offset > len(p.u.low.code) {
		return at, false
	}
	col := len(utf16.Encode([]rune(p.u.low.code[p.lines[line]:offset])))
	at.source, at.line, at.col, ok = p.sm.Lookup(p.u.low.outputLine(line+1), col)
	return at, ok
}

// Begin implements counting.Places.
func (p *places) Begin(offset int) (counting.Position, bool) {
	at, ok := p.lookup(offset)
	return counting.Position{Line: at.line + 1, Column: at.col}, ok
}

// End implements counting.Places: where the next thing of the same line of the source
// begins, as istanbul-lib-source-maps has it.
func (p *places) End(offset int) (counting.Position, bool) {
	last, ok := p.lookup(offset - 1)
	if !ok {
		return counting.Position{}, false
	}
	after := last
	after.col++
	if i, _ := slices.BinarySearchFunc(p.sources, after, sourcePlace.compare); i < len(p.sources) && p.sources[i].source == last.source && p.sources[i].line == last.line {
		return counting.Position{Line: last.line + 1, Column: p.sources[i].col}, true
	}
	return counting.Position{Line: last.line + 1, Column: counting.Unknown}, true
}
