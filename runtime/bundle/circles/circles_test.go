package circles

import (
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	graph := [][]int{
		0: {1},
		1: {2, 3},
		2: {1},    // back to 1
		3: {4, 3}, // itself alone is no circle
		4: {5},
		5: {6},
		6: {4, 0}, // back to 4, and to the beginning
		7: {0},
		8: nil,
	}
	on := Of(len(graph), func(node int) []int { return graph[node] })
	if want := []bool{true, true, true, true, true, true, true, false, false}; !slices.Equal(on, want) {
		t.Errorf("on circles: %v", on)
	}
	graph[6] = []int{4}
	on = Of(len(graph), func(node int) []int { return graph[node] })
	if want := []bool{false, true, true, false, true, true, true, false, false}; !slices.Equal(on, want) {
		t.Errorf("on circles: %v", on)
	}
}
