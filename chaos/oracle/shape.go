package oracle

import (
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// maxShape is how much of a value counts in a shape, and manyRows how many equal rows are
// told apart.
const (
	maxShape = 64
	manyRows = 3
)

// large is a number of more than one digit: states are told apart by how far they have
// come, and do not become ever more with what they count.
var large = lazyregexp.New(`\d{2,}`)

// Shape is a digest of what kind of state it is: the tables of each class, and their rows
// without large numbers, ids and times. States that differ in nothing else have the same.
func (s State) Shape() uint64 {
	var lines []string
	for at, t := range s.tables { // order-independent: sorted below
		counts := map[string]int{}
		for _, row := range t.rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cell = large.ReplaceAllString(normal(cell), "#")
				cells[i] = cell[:min(len(cell), maxShape)]
			}
			counts[strings.Join(cells, "\x00")]++
		}
		var rows []string
		for row, n := range counts { // order-independent: sorted below
			rows = append(rows, strings.Repeat("+", min(n, manyRows))+row)
		}
		slices.Sort(rows)
		lines = append(lines, at.namespace+"\x01"+large.ReplaceAllString(normal(at.name), "#")+"\x01"+strings.Join(rows, "\x02"))
	}
	slices.Sort(lines)
	h := fnv.New64a()
	_, _ = io.WriteString(h, strings.Join(lines, "\x03")) // a hash takes everything
	return h.Sum64()
}
