package toplevel

import (
	"slices"
	"strings"
)

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

// Package is the package of a region's file, and the path inside it; ok is false for a file of
// no package. It is pure.
func Package(path string) (name, file string, ok bool) {
	const dir = "node_modules/"
	i := strings.LastIndex(path, dir)
	if i < 0 {
		return "", "", false
	}
	rest := path[i+len(dir):]
	parts := strings.SplitN(rest, "/", 3)
	name = parts[0]
	if strings.HasPrefix(name, "@") && len(parts) == 3 {
		name += "/" + parts[1]
	}
	return name, strings.TrimPrefix(rest, name+"/"), len(rest) > len(name)+1
}

// Suspect reports whether code reads a property of variable that names lack; a comment or a
// text that looks like one counts. It is pure, and takes time in proportion to the code.
func Suspect(code, variable string, names []string) bool {
	mark := variable + "."
	for {
		i := strings.Index(code, mark)
		if i < 0 {
			return false
		}
		inside := i > 0 && IsIdent(code[i-1])
		code = code[i+len(mark):]
		end := 0
		for end < len(code) && IsIdent(code[end]) {
			end++
		}
		if !inside && !slices.Contains(names, code[:end]) {
			return true
		}
	}
}
