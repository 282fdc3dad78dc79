package coverage

import (
	"fmt"
	"path/filepath"
	"strings"

	"minido.dev/minido/runtime/bundle/counting"
)

// lcov is the report lcovonly.
func (w *writing) lcov() (string, error) {
	root := w.result.Root
	if w.options.ProjectRoot != "" {
		root = w.options.ProjectRoot
	}
	var sb strings.Builder
	for _, f := range w.files() {
		name, err := filepath.Rel(root, f.Path)
		if err != nil {
			return "", fmt.Errorf("coverage: %w", err)
		}
		fmt.Fprintf(&sb, "TN:\nSF:%s\n", name)
		for i, fn := range f.Functions {
			fmt.Fprintf(&sb, "FN:%d,%s\n", fn.Decl.Start.Line, nameOf(f, i))
		}
		s := summarize(f)
		fmt.Fprintf(&sb, "FNF:%d\nFNH:%d\n", s["functions"].total, s["functions"].covered)
		for i, fn := range f.Functions {
			fmt.Fprintf(&sb, "FNDA:%d,%s\n", fn.Count, nameOf(f, i))
		}
		for _, l := range linesOf(f) {
			fmt.Fprintf(&sb, "DA:%d,%d\n", l.number, l.count)
		}
		fmt.Fprintf(&sb, "LF:%d\nLH:%d\n", s["lines"].total, s["lines"].covered)
		for i, b := range f.Branches {
			for j, n := range b.Counts {
				fmt.Fprintf(&sb, "BRDA:%d,%d,%d,%d\n", b.At.Start.Line, i, j, n)
			}
		}
		fmt.Fprintf(&sb, "BRF:%d\nBRH:%d\nend_of_record\n", s["branches"].total, s["branches"].covered)
	}
	return sb.String(), nil
}

// nameOf is the name of a file's ith function.
func nameOf(f *counting.File, i int) string {
	if name := f.Functions[i].Name; name != "" {
		return name
	}
	return fmt.Sprintf("(anonymous_%d)", i)
}
