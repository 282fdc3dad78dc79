package coverage

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// glob is a pattern as picomatch has them, with dots.
type glob = *regexp.Regexp

func compileAll(patterns []string, anywhere bool) (all []glob, err error) {
	for _, p := range patterns {
		g, err := compile(p, anywhere)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

func matches(all []glob, path string) bool {
	return slices.ContainsFunc(all, func(g glob) bool { return g.MatchString(path) })
}

// compile makes a regular expression of a glob. Anywhere has it match a part of a path
// (picomatch's contains).
func compile(pattern string, anywhere bool) (glob, error) {
	if strings.HasPrefix(pattern, "!") {
		return nil, fmt.Errorf("the glob %q: patterns that begin with ! are not understood", pattern)
	}
	c := &compiler{rest: strings.TrimPrefix(pattern, "./")}
	c.sequence("")
	text := c.out.String()
	if !anywhere {
		text = "^(?:" + text + ")$"
	}
	g, err := regexp.Compile(text)
	if err != nil || c.bad || c.rest != "" {
		return nil, fmt.Errorf("the glob %q is not understood", pattern)
	}
	return g, nil
}

// compiler is one call of compile.
type compiler struct {
	rest string
	out  strings.Builder
	bad  bool // something has no end
}

// take removes a prefix, if the rest has it.
func (c *compiler) take(prefix string) bool {
	rest, ok := strings.CutPrefix(c.rest, prefix)
	c.rest = rest
	return ok
}

// sequence reads up to one of the bytes of ends.
func (c *compiler) sequence(ends string) {
	for c.rest != "" && strings.IndexByte(ends, c.rest[0]) < 0 {
		switch {
		case c.take("**/"):
			c.out.WriteString("(?:.*/)?")
		case c.rest == "/**":
			c.rest = ""
			c.out.WriteString("(?:/.*)?")
		case c.take("**"):
			c.out.WriteString(".*")
		case c.take("?("):
			c.group("|", ")", ")?")
		case c.take("*("):
			c.group("|", ")", ")*")
		case c.take("+("):
			c.group("|", ")", ")+")
		case c.take("@("):
			c.group("|", ")", ")")
		case c.take("{"):
			c.group(",", "}", ")")
		case c.take("*"):
			c.out.WriteString("[^/]*")
		case c.take("?"):
			c.out.WriteString("[^/]")
		case c.take("["):
			c.class()
		default:
			c.take(`\`)
			if c.rest == "" {
				return
			}
			r := []rune(c.rest)[0]
			c.rest = c.rest[len(string(r)):]
			c.out.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
}

// group reads alternatives.
func (c *compiler) group(between, end, closing string) {
	c.out.WriteString("(?:")
	for {
		c.sequence(between + end)
		if !c.take(between) {
			break
		}
		c.out.WriteString("|")
	}
	if !c.take(end) {
		c.bad = true
		return
	}
	c.out.WriteString(closing)
}

// class reads a set of characters.
func (c *compiler) class() {
	set, rest, ok := strings.Cut(c.rest, "]")
	if !ok {
		c.bad = true
		return
	}
	c.rest = rest
	c.out.WriteString("[" + strings.ReplaceAll(set, `\`, `\\`) + "]")
}

// sources are the names of files that can be measured.
var sources = lazyregexp.New(`\.[cm]?[jt]sx?$`)

// Untested lists the files that coverage.include names, which no test need reach, but for
// those in tested. Absolute, sorted.
func (s *Scope) Untested(tested map[string]bool) (all []string, err error) {
	if len(s.files) == 0 {
		return nil, nil
	}
	err = filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(s.root, path)
		if err == nil && sources.MatchString(path) && !tested[path] && matches(s.files, filepath.ToSlash(rel)) && s.Wants(path) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("coverage: %w", err)
	}
	return all, nil
}
