package config

import (
	"fmt"
	"strings"
)

// nearest returns the candidate that name most likely stands for, or "" when
// none is near. Case, dashes and camelCase do not count as differences.
func nearest(name string, candidates []string) string {
	flat := flatten(name)
	best, bestDistance := "", 1+max(1, len(flat)/3)
	for _, c := range candidates {
		if c == name {
			continue
		}
		d := editDistance(flat, flatten(c), bestDistance)
		if d < bestDistance || (d == bestDistance && best != "" && c < best) {
			best, bestDistance = c, d
		}
	}
	return best
}

// didYouMean renders nearest as a hint, "" when nothing is near.
func didYouMean(name string, candidates []string) string {
	if near := nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

func flatten(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours (optimal string alignment); it gives up at limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, previous := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(previous[j]+1, row[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}
