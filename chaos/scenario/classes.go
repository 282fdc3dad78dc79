package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// Class is what a project's source says about one of its Durable Object classes,
// as far as a first scenario needs it.
type Class struct {
	Name string
	// Chat says that it is a chat agent: it inherits from AIChatAgent, or has an
	// onChatMessage of its own.
	Chat bool
	// Callable are the methods that clients of an agent may call.
	Callable []Method
}

// Method is a method with a value for each argument that it has to be given, as
// source text.
type Method struct {
	Name string
	Args []string
}

const (
	maxSources = 2000    // files that Classes reads
	maxSource  = 1 << 20 // bytes; a longer file was not written by hand
)

var (
	classHead = lazyregexp.New(`(?m)^[ \t]*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+([\w$]+)(?:<[^\n]*?>)?(?:\s+extends\s+([\w$.]+)|\s+implements\s|\s*\{)`)
	callable  = lazyregexp.New(`@(?:unstable_)?callable\((?:[^()"'` + "`" + `]|"[^"]*"|'[^']*'|` + "`[^`]*`" + `)*\)\s*(?:public\s+)?(?:async\s+)?([\w$]+)\s*(?:<[^(]*>)?\(([^()]*)\)`)
	literal   = lazyregexp.New(`^(?:"[^"\\\n]*"|'[^'\\\n]*')`)
	renamed   = lazyregexp.New(`([\w$]+)[ \t]+as[ \t]+([\w$]+)`)
)

// Classes looks for the named classes in the sources below dir, packages left
// out. It reads them as a person who skims them does, without a parser: what it
// does not find is left out. The result has the order of names.
func Classes(dir string, names []string) ([]Class, error) {
	found := map[string][]source{}
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission) && path != dir:
			return nil // not the worker's, then
		case err != nil:
			return err
		case entry.IsDir():
			if name := entry.Name(); path != dir && (name == "node_modules" || name == "dist" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || !slices.Contains([]string{".ts", ".tsx", ".js", ".mjs"}, filepath.Ext(path)) || strings.HasSuffix(path, ".d.ts"):
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Size() > maxSource {
			return nil
		}
		if files++; files > maxSources {
			return fs.SkipAll
		}
		text, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist):
			return nil // it is not the worker's, or gone already
		case err != nil:
			return err
		}
		readClasses(string(text), found)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("scenario: look at the sources: %w", err)
	}
	list := make([]Class, len(names))
	for i, name := range names {
		list[i] = skim(name, found)
	}
	return list, nil
}

// source is a class as it stands in a file.
type source struct{ base, body string }

// readClasses adds the classes of a file.
func readClasses(text string, found map[string][]source) {
	imported := map[string]string{} // by its name here
	for _, m := range renamed.FindAllStringSubmatch(text, -1) {
		imported[m[2]] = m[1]
	}
	heads := classHead.FindAllStringSubmatchIndex(text, -1)
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		name, base := text[h[2]:h[3]], ""
		if h[4] >= 0 {
			base = text[h[4]:h[5]]
		}
		if original, ok := imported[base]; ok {
			base = original
		}
		found[name] = append(found[name], source{base: base, body: text[h[1]:end]})
	}
}

// skim follows a class up to where the packages' begin.
func skim(name string, found map[string][]source) Class {
	c := Class{Name: name}
	at, nth := name, 0
	for range len(found) + 1 { // a class is no base of its own, but the text may say so
		if nth >= len(found[at]) {
			break
		}
		s := found[at][nth]
		c.Chat = c.Chat || strings.HasSuffix(s.base, "AIChatAgent") || strings.Contains(s.body, "onChatMessage(")
		for _, m := range callable.FindAllStringSubmatch(s.body, -1) {
			if !slices.ContainsFunc(c.Callable, func(has Method) bool { return has.Name == m[1] }) {
				c.Callable = append(c.Callable, Method{Name: m[1], Args: arguments(m[2])})
			}
		}
		if s.base == at {
			nth++ // of the same name, imported under another
		} else {
			at, nth = s.base, 0
		}
	}
	return c
}

// arguments makes up a value for each parameter that needs one.
func arguments(parameters string) []string {
	var list []string
	for _, p := range splitTop(parameters) {
		name, kind, typed := strings.Cut(strings.TrimSpace(p), ":")
		name, kind = strings.TrimSpace(name), strings.TrimSpace(kind)
		if name == "" || strings.HasPrefix(name, "...") || strings.HasSuffix(name, "?") || strings.Contains(p, "=") && !strings.Contains(p, "=>") {
			break // what follows can be left out, too
		}
		list = append(list, sample(name, kind, typed))
	}
	return list
}

// splitTop splits at the commas that are in no brackets and no literal.
func splitTop(list string) []string {
	var parts []string
	depth, start, quote := 0, 0, rune(0)
	for i, c := range list {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.ContainsRune("<[{", c):
			depth++
		case strings.ContainsRune(">]}", c):
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, list[start:i]), i+1
		}
	}
	return append(parts, list[start:])
}

// sample is a value of the type, as source text.
func sample(name, kind string, typed bool) string {
	switch {
	case strings.HasSuffix(kind, "[]") || strings.HasPrefix(kind, "Array<") || strings.HasPrefix(kind, "["):
		return "[]"
	case kind == "number":
		return "1"
	case kind == "boolean":
		return "true"
	case literal.MatchString(kind):
		return literal.FindString(kind)
	case kind == "string" || !typed && !strings.HasPrefix(name, "{"):
		return fmt.Sprintf("%q", name)
	}
	return "{}"
}
