package assets

import (
	"regexp"
	"strings"
)

// ignorePattern is one line of .assetsignore, which has gitignore's syntax.
type ignorePattern struct {
	match  *regexp.Regexp
	negate bool
}

// ignoreMatcher returns a function that reports whether a slash-separated name
// relative to the assets directory is excluded. As with git, the last pattern
// that matches decides, and nothing below an excluded folder comes back.
func ignoreMatcher(lines []string) func(name string) bool {
	var patterns []ignorePattern
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " \t")
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rest, negate := strings.CutPrefix(line, "!")
		if re, err := regexp.Compile(ignoreExpression(rest)); err == nil { // as git does, a malformed pattern matches nothing
			patterns = append(patterns, ignorePattern{re, negate})
		}
	}
	excluded := func(name string) bool {
		out := false
		for _, p := range patterns {
			if p.match.MatchString(name) {
				out = !p.negate
			}
		}
		return out
	}
	return func(name string) bool {
		for i := range len(name) {
			if name[i] == '/' && excluded(name[:i+1]) {
				return true
			}
		}
		return excluded(name)
	}
}

// ignoreExpression translates a pattern. Folders are matched with their slash.
func ignoreExpression(p string) string {
	folder := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	anchored := strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	var b strings.Builder
	b.WriteString("^")
	if !anchored {
		b.WriteString("(?:.*/)?")
	}
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case strings.HasPrefix(p[i:], "**/") && (i == 0 || p[i-1] == '/'):
			b.WriteString("(?:.*/)?")
			i += 2
		case p[i:] == "**" && (i == 0 || p[i-1] == '/'):
			b.WriteString(".+")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(p[i+1:], ']')
			if end < 1 {
				b.WriteString(`\[`)
				continue
			}
			class := p[i+1 : i+1+end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `[`, `\[`) + "]")
			i += end + 1
		case c == '\\' && i+1 < len(p):
			i++
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	if folder {
		return b.String() + "/$"
	}
	return b.String() + "/?$"
}
