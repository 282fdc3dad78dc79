package path

import (
	"errors"
	"fmt"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/nodeapi/node"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/regex"
	"minido.dev/minido/runtime/engine"
)

// glob is a pattern as path.matchesGlob and fs.glob have it: * ? [a-z] within a
// part, ** across parts, {a,b} and {1..3}, and @(a|b), ?(), *(), +() and !().
// Immutable.
type glob struct{ alternatives []*regex.Pattern }

// globKind is what a glob is for: in a folder's tree ** stands for the folder
// itself, too, and wildcards match names that begin with a dot, as in Workers.
type globKind bool

const (
	ofPath globKind = false
	ofTree globKind = true
)

// maxGlobs bounds what the braces of one pattern stand for, and maxGlob its length:
// braces that are not closed take time that grows with its square.
const (
	maxGlobs = 1000
	maxGlob  = 1 << 14
)

// globLimit is the error of a pattern that stands for too much.
type globLimit string

func (e globLimit) Error() string { return string(e) }

// newGlob reads a pattern. Its errors are a globLimit, and that of what is no
// pattern, which matches nothing. There is no way to escape a character but [x]: a
// backslash is a separator, as Node has it.
func newGlob(pattern string, kind globKind) (*glob, error) {
	g := &glob{}
	if len(pattern) > maxGlob {
		return nil, globLimit(fmt.Sprintf("pattern is too long: more than %d bytes", maxGlob))
	}
	for _, text := range braces(strings.ReplaceAll(pattern, `\`, "/")) {
		source := "^" + kind.parts(globParts(text, kind)) + "$"
		p, err := regex.Parse(utf16.Encode([]rune(source)), "us")
		if err != nil {
			return nil, fmt.Errorf("glob %q: %w", pattern, err)
		}
		if g.alternatives = append(g.alternatives, p); len(g.alternatives) > maxGlobs {
			return nil, globLimit(fmt.Sprintf("pattern %q stands for too many: more than %d", pattern, maxGlobs))
		}
	}
	return g, nil
}

// matches reports whether a path is one of the glob's.
func (g *glob) matches(m *regex.Matcher, path string) (bool, error) {
	units := utf16.Encode([]rune(path))
	for _, p := range g.alternatives {
		if found, err := regex.Match(m, p, units, 0, true); found != nil || err != nil {
			return found != nil, err
		}
	}
	return false, nil
}

// braces are the patterns that a pattern with braces stands for.
func braces(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	depth, from := 0, open+1
	var items []string
	for i := open; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			items, from = append(items, pattern[from:i]), i+1
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			items = append(items, pattern[from:i])
			before, after := pattern[:open], pattern[i+1:]
			if len(items) == 1 {
				if items = series(items[0]); items == nil {
					before, after, items = before+"[{]", "[}]"+after, []string{pattern[from:i]}
				}
			}
			return joined(before, items, braces(after))
		}
	}
	return joined(pattern[:open]+"[{]", []string{""}, braces(pattern[open+1:]))
}

// joined are the texts of before, what an item stands for and an end, maxGlobs+1 at
// most.
func joined(before string, items, ends []string) (out []string) {
	for _, item := range items {
		for _, text := range braces(item) {
			for _, end := range ends {
				if out = append(out, before+text+end); len(out) > maxGlobs {
					return out
				}
			}
		}
	}
	return out
}

// series is what 1..3 or a..c stands for, nil for anything else.
func series(text string) []string {
	first, last, ok := strings.Cut(text, "..")
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if ok && err1 == nil && err2 == nil && max(from-to, to-from) < maxGlobs {
		return counted(from, to, strconv.Itoa)
	}
	if ok && len(first) == 1 && len(last) == 1 && isLetter(first[0]) && isLetter(last[0]) {
		return counted(int(first[0]), int(last[0]), func(n int) string { return string(rune(n)) })
	}
	return nil
}

func counted(from, to int, text func(int) string) (out []string) {
	step := 1
	if to < from {
		step = -1
	}
	for n := from; ; n += step {
		if out = append(out, text(n)); n == to {
			return out
		}
	}
}

// globParts are the parts of a path pattern, without those that mean nothing.
func globParts(pattern string, kind globKind) (parts []string) {
	for _, part := range strings.Split(pattern, "/") {
		n := len(parts)
		switch {
		case kind == ofTree && (part == "." || part == "" && n > 0) || part == "**" && n > 0 && parts[n-1] == "**":
		case part == ".." && n > 0 && parts[n-1] != ".." && parts[n-1] != "**" && parts[n-1] != "":
			parts = parts[:n-1]
		default:
			parts = append(parts, part)
		}
	}
	return parts
}

// parts is the regular expression of a path's parts.
func (k globKind) parts(parts []string) string {
	name := "(?!\\.)[^/]+"
	if k == ofTree {
		name = "[^/]+"
	}
	var b strings.Builder
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part != "**":
			b.WriteString(k.part(part))
			if !last && !(k == ofTree && i == len(parts)-2 && parts[i+1] == "**") {
				b.WriteByte('/')
			}
		case !last:
			b.WriteString("(?:" + name + "/)*")
		case i == 0:
			b.WriteString(name + "(?:/" + name + ")*")
		case k == ofTree:
			b.WriteString("(?:/" + name + ")*")
		default:
			b.WriteString(name + "(?:/" + name + ")*")
		}
	}
	return b.String()
}

// part is the regular expression of one part.
func (k globKind) part(text string) string {
	out := k.within(text)
	if text == "" || !strings.ContainsAny(text[:1], "*?[+@!") {
		return out
	}
	if k == ofPath && !strings.HasPrefix(text, "[.]") {
		return "(?!\\.)(?=[^/])" + out
	}
	return "(?!\\.{1,2}(?:/|$))(?=[^/])" + out
}

func (k globKind) within(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		if end := groupEnd(text[i:]); end > 0 {
			var options []string
			for _, option := range topLevel(text[i+2 : i+end]) {
				options = append(options, k.within(option))
			}
			body := "(?:" + strings.Join(options, "|") + ")"
			if i += end + 1; c == '!' {
				rest := k.within(text[i:])
				return b.String() + "(?!" + body + rest + "(?:/|$))[^/]*?" + rest
			}
			b.WriteString(body + map[byte]string{'@': "", '?': "?", '*': "*", '+': "+"}[c])
			continue
		}
		if class, n := globClass(text[i:]); n > 0 {
			b.WriteString(class)
			i += n
			continue
		}
		switch c {
		case '*':
			b.WriteString("[^/]*?")
		case '?':
			b.WriteString("[^/]")
		default:
			if strings.IndexByte(`^$\.+()[]{}|`, c) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
		i++
	}
	return b.String()
}

// groupEnd is where the group that begins text, such as @(a|b), is closed; 0 if
// none does.
func groupEnd(text string) int {
	if len(text) < 3 || strings.IndexByte("@?*+!", text[0]) < 0 || text[1] != '(' {
		return 0
	}
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// topLevel splits at bars that are not in parentheses.
func topLevel(text string) (items []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			items, from = append(items, text[from:i]), i+1
		}
	}
	return append(items, text[from:])
}

var posixClass = lazyregexp.New(`\[:(\w+):\]`)

var posixClasses = map[string]string{"alpha": `\p{L}\p{Nl}`, "digit": `\p{Nd}`, "alnum": `\p{L}\p{Nl}\p{Nd}`, "lower": `\p{Ll}`, "upper": `\p{Lu}`,
	"space": `\s`, "blank": ` \t`, "punct": `\p{P}`, "xdigit": `A-Fa-f0-9`, "word": `\p{L}\p{Nl}\p{Nd}\p{Pc}`, "cntrl": `\p{Cc}`, "ascii": `\x00-\x7f`}

// globClass is the class that begins text, as a regular expression, and how long
// it is; 0 if none does.
func globClass(text string) (class string, n int) {
	if text[0] != '[' {
		return "", 0
	}
	start := 1
	if len(text) > 1 && (text[1] == '!' || text[1] == '^') {
		start = 2
	}
	body := posixClass.ReplaceAllStringFunc(text[start:], func(s string) string { return strings.Repeat("\x00", len(s)) })
	end := strings.IndexByte(body[min(1, len(body)):], ']')
	if end < 0 {
		return "", 0
	}
	end += start + 1
	inner := text[start:end]
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if m := posixClass.FindStringSubmatch(inner[i:]); m != nil && strings.HasPrefix(inner[i:], m[0]) && posixClasses[m[1]] != "" {
			b.WriteString(posixClasses[m[1]])
			i += len(m[0]) - 1
			continue
		}
		if strings.IndexByte(`\[]^`, inner[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(inner[i])
	}
	if start == 2 {
		return "[^/" + b.String() + "]", end + 1
	}
	return "[" + b.String() + "]", end + 1
}

// matcher is for one call into Go: it ends with the turn.
func (m *module) matcher() *regex.Matcher { return &regex.Matcher{Look: m.Engine.Natives.Pause} }

// glob is newGlob for programs: nil for what is no pattern, which matches nothing.
func (m *module) glob(pattern string, kind globKind) *glob {
	g, err := newGlob(pattern, kind)
	var limit globLimit
	if errors.As(err, &limit) {
		m.Engine.Throw("TypeError", "%s", limit)
	}
	return g
}

// globbed reports whether a path is one of g's. It throws where that takes too much.
func (m *module) globbed(matcher *regex.Matcher, g *glob, path string) bool {
	ok, err := g.matches(matcher, path)
	if err != nil {
		m.Engine.Throw("RangeError", "%s", err)
	}
	return ok
}

// matchesGlob is path.matchesGlob. A pattern that is none matches nothing.
func (m *module) matchesGlob(p, pattern string, f flavour) bool {
	if f.sep() == `\` {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	g := m.glob(pattern, ofPath)
	return g != nil && m.globbed(m.matcher(), g, p)
}

// Globs is native.globs(paths, patterns) of fs.js: whether each path is one of a
// pattern's.
func Globs(base *node.Modules) engine.Func {
	m := &module{base}
	return engine.Func{Name: "globs", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
		var paths, patterns []string
		for i, list := range []*[]string{&paths, &patterns} {
			m.VM.ForOf(c.Argument(i), func(v goja.Value) bool {
				*list = append(*list, v.String())
				return true
			})
		}
		var all []*glob
		for _, pattern := range patterns {
			if g := m.glob(pattern, ofTree); g != nil {
				all = append(all, g)
			}
		}
		found := make([]any, len(paths))
		matcher := m.matcher()
		for i, p := range paths {
			found[i] = slices.ContainsFunc(all, func(g *glob) bool { return m.globbed(matcher, g, p) })
		}
		return m.VM.NewArray(found...)
	}}
}
