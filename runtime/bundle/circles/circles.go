// Package circles finds circular imports.
package circles

// Of are those of n nodes that lie on a circle of two or more: from each a path leads back
// to it. Edges are where a node leads to. It takes time linear in nodes and edges (Tarjan's
// strongly connected components).
func Of(n int, edges func(node int) []int) (on []bool) {
	s := search{edges: edges, on: make([]bool, n), seen: make([]int, n), low: make([]int, n), open: make([]bool, n)}
	for node := range n {
		s.visit(node)
	}
	return s.on
}

// search is Tarjan's. The numbers in seen begin at 1.
type search struct {
	edges     func(node int) []int
	on        []bool
	seen, low []int
	open      []bool // on the stack
	stack     []int
	count     int
}

func (s *search) visit(node int) {
	if s.seen[node] != 0 {
		return
	}
	s.stack = append(s.stack, node)
	s.count++
	s.seen[node], s.low[node], s.open[node] = s.count, s.count, true
	for _, to := range s.edges(node) {
		s.visit(to)
		if s.open[to] {
			s.low[node] = min(s.low[node], s.low[to])
		}
	}
	if s.low[node] != s.seen[node] {
		return
	}
	circular := s.stack[len(s.stack)-1] != node
	for {
		last := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.open[last], s.on[last] = false, circular
		if last == node {
			return
		}
	}
}
