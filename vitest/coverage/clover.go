package coverage

import (
	"fmt"
	"strings"

	"minido.dev/minido/runtime/bundle/counting"
)

// clover is the report clover.
func (w *writing) clover() (string, error) {
	x := &cloverText{}
	at := w.result.Time.UnixMilli()
	packages, files := 0, len(w.result.Files)
	w.tree.visit(func(n *node, _ int) {
		if len(n.children) > 0 && n.children[0].file != nil {
			packages++
		}
	})
	s := w.tree.summary
	sum := func(of func(metric) int) int { return of(s["lines"]) + of(s["branches"]) + of(s["functions"]) }
	total, covered := func(m metric) int { return m.total }, func(m metric) int { return m.covered }
	lines := s["lines"].total
	x.line(0, `<?xml version="1.0" encoding="UTF-8"?>`)
	x.line(0, `<coverage generated="%d" clover="3.2.0">`, at)
	x.line(1, `<project timestamp="%d" name="All files">`, at)
	x.line(2, `%s elements="%d" coveredelements="%d" complexity="0" loc="%d" ncloc="%d" packages="%d" files="%d" classes="%d"/>`,
		metrics(s), sum(total), sum(covered), lines, lines, packages, files, files)
	for _, n := range w.tree.children {
		x.node(n, 2)
	}
	x.line(1, `</project>`)
	x.line(0, `</coverage>`)
	return x.text.String(), nil
}

// cloverText is the text of the report, line by line.
type cloverText struct{ text strings.Builder }

func (x *cloverText) line(depth int, format string, args ...any) {
	fmt.Fprintf(&x.text, strings.Repeat("  ", depth)+format+"\n", args...)
}

// metrics are an element that has not ended.
func metrics(s summary) string {
	return fmt.Sprintf(`<metrics statements="%d" coveredstatements="%d" conditionals="%d" coveredconditionals="%d" methods="%d" coveredmethods="%d"`,
		s["lines"].total, s["lines"].covered, s["branches"].total, s["branches"].covered, s["functions"].total, s["functions"].covered)
}

func (x *cloverText) node(n *node, depth int) {
	if n.file != nil {
		x.file(n, depth)
		return
	}
	x.line(depth, `<package name="%s">`, escape(strings.ReplaceAll(n.name, "/", ".")))
	x.line(depth+1, `%s/>`, metrics(n.summary))
	for _, c := range n.children {
		x.node(c, depth+1)
	}
	x.line(depth, `</package>`)
}

func (x *cloverText) file(n *node, depth int) {
	x.line(depth, `<file name="%s" path="%s">`, escape(n.name), escape(n.file.Path))
	x.line(depth+1, `%s/>`, metrics(n.summary))
	branches := map[int]metric{}
	for _, b := range branchLinesOf(n.file) {
		branches[b.number] = b.metric
	}
	for _, l := range linesOf(n.file) {
		kind := `type="stmt"`
		if b, ok := branches[l.number]; ok {
			kind = fmt.Sprintf(`type="cond" truecount="%d" falsecount="%d"`, b.covered, b.total-b.covered)
		}
		x.line(depth+1, `<line num="%d" count="%d" %s/>`, l.number, l.count, kind)
	}
	x.line(depth, `</file>`)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// escape is text within XML and HTML.
func escape(text string) string { return escaper.Replace(text) }

// partial reports whether a path of a branch on the line was not taken.
func partial(f *counting.File) map[int]bool {
	lines := map[int]bool{}
	for _, b := range branchLinesOf(f) {
		lines[b.number] = b.covered < b.total
	}
	return lines
}
