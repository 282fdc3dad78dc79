// Package glob matches paths with patterns, and expands vite's import.meta.glob.
package glob

import (
	"regexp"
	"strings"
	"sync"
)

// globs caches compiled patterns; guarded by itself.
var globs sync.Map // string → *regexp.Regexp

// Match reports whether the slash-separated path matches the pattern:
// `*` and `?` stay inside a segment, `**` crosses them, `{a,b}` alternates. A
// pattern without a slash is compared with the last segment.
func Match(pattern, path string) bool {
	if !strings.Contains(pattern, "/") {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	pattern = strings.TrimPrefix(pattern, "./") // anchored: it has a slash
	if re, ok := globs.Load(pattern); ok {
		return re.(*regexp.Regexp).MatchString(path)
	}
	re, err := regexp.Compile(globRegexp(pattern))
	if err != nil {
		re = regexp.MustCompile("^" + regexp.QuoteMeta(pattern) + "$")
	}
	globs.Store(pattern, re)
	return re.MatchString(path)
}

func globRegexp(pattern string) string {
	var sb strings.Builder
	sb.WriteString("^")
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			sb.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			sb.WriteString(".*")
			i++
		case c == '*':
			sb.WriteString("[^/]*")
		case c == '?':
			sb.WriteString("[^/]")
		case c == '{':
			sb.WriteString("(?:")
			depth++
		case c == '}' && depth > 0:
			sb.WriteString(")")
			depth--
		case c == ',' && depth > 0:
			sb.WriteString("|")
		default:
			sb.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	sb.WriteString("$")
	return sb.String()
}
