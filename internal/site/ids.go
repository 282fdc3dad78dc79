package main

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"

	"minido.dev/minido/internal/lazyregexp"
)

var notInAnchor = lazyregexp.New(`[^\p{L}\p{N}_\- ]`)

// headingIDs makes the anchors that GitHub makes, so that a link works in both. It
// implements parser.IDs for one document.
type headingIDs struct{ seen map[string]bool }

// Generate implements parser.IDs.
func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	base := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(string(value)), ""), " ", "-")
	id := base
	for n := 1; h.seen[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	h.seen[id] = true
	return []byte(id)
}

// Put implements parser.IDs.
func (h *headingIDs) Put(value []byte) { h.seen[string(value)] = true }
