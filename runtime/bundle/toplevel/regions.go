package toplevel

import "strings"

// regionPath reads a comment at the start of a line: in esbuild's output those
// are paths, or annotations that begin with @ and two underscores.
func regionPath(line string) (string, bool) {
	path, ok := strings.CutPrefix(line, "// ")
	return path, ok && path != "" && !strings.HasPrefix(path, "@__")
}

// Region is where a module begins in the bundle.
type Region struct {
	Line int // zero-based
	Path string
}

// Regions lists the modules of a bundle; each ends where the next begins.
func Regions(text string) []Region {
	var list []Region
	line := 0
	for text := range strings.SplitSeq(text, "\n") {
		if path, ok := regionPath(text); ok {
			list = append(list, Region{line, path})
		}
		line++
	}
	return list
}
