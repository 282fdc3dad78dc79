package mend

import "strings"

// shared are esbuild's interop helpers that load.go provides itself: they know
// about deferred namespaces, and need not be evaluated once per file.
var shared = map[string]bool{
	"__export": true, "__toESM": true, "__toCommonJS": true, "__reExport": true, "__name": true, "__copyProps": true, "__pow": true,
	"__using": true, DisposeHelper: true, "__await": true, "__asyncGenerator": true, "__yieldStar": true, "__forAwait": true,
}

// plain are the aliases that esbuild's helpers stand on; kept only if a helper
// that stays in the file mentions them.
var plain = map[string]bool{
	"__create": true, "__defProp": true, "__defProps": true, "__getOwnPropDesc": true, "__getOwnPropDescs": true,
	"__getOwnPropNames": true, "__getOwnPropSymbols": true, "__getProtoOf": true, "__hasOwnProp": true, "__propIsEnum": true,
}

// SplitOutput takes esbuild's output for one file apart: the helpers it
// prepends, and the file's own code after the comment with its name.
func SplitOutput(out, sourcefile string) (prologue, body string) {
	marker := "// " + sourcefile + "\n"
	if strings.HasPrefix(out, marker) {
		return "", out[len(marker):]
	}
	if i := strings.Index(out, "\n"+marker); i >= 0 {
		return out[:i+1], out[i+1+len(marker):]
	}
	return "", out
}

// OwnHelpers divides the prologue into the helpers that the host passes in
// (their names) and the text that must stay.
func OwnHelpers(prologue string) (names []string, kept string) {
	type decl struct{ name, text string }
	var decls []decl
	for _, line := range strings.SplitAfter(prologue, "\n") {
		rest, ok := strings.CutPrefix(line, "var ")
		name, _, found := strings.Cut(rest, " = ")
		if !found {
			name, found = strings.CutSuffix(rest, ";\n")
		}
		if ok && found {
			decls = append(decls, decl{name, line})
			continue
		}
		if strings.HasPrefix(line, "// ") { // names a region: what is kept becomes one line
			continue
		}
		if len(decls) > 0 { // else: a hashbang or a directive
			decls[len(decls)-1].text += line
		}
	}
	var sb strings.Builder
	for _, d := range decls {
		switch {
		case shared[Name(d.name)]:
			if Name(d.name) != "__copyProps" {
				names = append(names, d.name)
			}
		case !plain[Name(d.name)]:
			sb.WriteString(d.text)
		}
	}
	kept = sb.String()
	var low strings.Builder
	for _, d := range decls {
		if plain[Name(d.name)] && strings.Contains(kept, d.name) {
			low.WriteString(d.text)
		}
	}
	return names, low.String() + kept
}

// JoinLines puts helper text on one line. esbuild ends its statements with
// semicolons; only line comments have to go.
func JoinLines(text string) string {
	var sb strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "//") {
			sb.WriteString(line)
			sb.WriteByte(' ')
		}
	}
	return sb.String()
}
