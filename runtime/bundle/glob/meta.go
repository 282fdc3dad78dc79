package glob

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"minido.dev/minido/internal/lazyregexp"
)

// import.meta.glob of vite (https://vite.dev/guide/features#glob-import), where vitest's
// modules are bundled: a call becomes an object of imports before the file is lowered.

var metaGlobCall = lazyregexp.New(`\bimport\.meta\.glob\s*(?:<|\()`)

// metaGlob is one call.
type metaGlob struct {
	patterns []string
	// Its options: exhaustive also looks into node_modules and at names that begin with a
	// dot; name is that of import.
	eager, exhaustive bool
	name, query, base string
}

// Expand replaces the calls of import.meta.glob in the text of a file by what they
// stand for: /x in patterns is root/x, alias replaces the beginnings of patterns. dirs are the
// directories that the result depends on. Lines stay where they are.
func Expand(file, text, root string, alias map[string]string) (expanded string, dirs []string, err error) {
	if !strings.Contains(text, "import.meta.glob") {
		return text, nil, nil
	}
	var sb strings.Builder
	var imports []string
	at := 0
	for _, found := range metaGlobCall.FindAllStringIndex(text, -1) {
		if found[0] < at || commented(text, found[0]) {
			continue
		}
		from, to, ok := argumentsOf(text, found[1]-1)
		fail := func(err error) (string, []string, error) {
			return "", nil, fmt.Errorf("line %d: import.meta.glob: %w", 1+strings.Count(text[:found[0]], "\n"), err)
		}
		if !ok {
			return fail(errors.New("its closing parenthesis was not found"))
		}
		g, err := parseMetaGlob(text[from:to])
		if err != nil {
			return fail(err)
		}
		names, more, err := g.find(file, root, alias)
		if err != nil {
			return fail(err)
		}
		dirs = append(dirs, more...)
		sb.WriteString(text[at:found[0]])
		sb.WriteString("Object.assign({")
		for _, n := range names {
			spec := quoted(n.spec + g.query)
			value := fmt.Sprintf("() => import(%s)", spec)
			switch {
			case g.eager:
				value = fmt.Sprintf("__minido_glob_%d", len(imports))
				what := "* as " + value
				if g.name != "" {
					what = fmt.Sprintf("{ %s as %s }", g.name, value)
				}
				imports = append(imports, fmt.Sprintf("import %s from %s;", what, spec))
			case g.name != "":
				value += fmt.Sprintf(".then((m) => m[%s])", quoted(g.name))
			}
			fmt.Fprintf(&sb, "%s: %s, ", quoted(n.key), value)
		}
		sb.WriteString("}" + strings.Repeat("\n", strings.Count(text[found[0]:to+1], "\n")) + ")")
		at = to + 1
	}
	sb.WriteString(text[at:])
	if len(imports) > 0 {
		sb.WriteString("\n" + strings.Join(imports, " ") + "\n")
	}
	return sb.String(), dirs, nil
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return string(text)
}

// commented reports whether a place lies in a comment, as far as its line shows it.
func commented(text string, at int) bool {
	line := strings.TrimSpace(text[strings.LastIndexByte(text[:at], '\n')+1 : at])
	return strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*") && !strings.Contains(line, "*/") || strings.Contains(line, "//") && !strings.Contains(line, "://")
}

// argumentsOf are where the arguments of a call begin and end. At at is its parenthesis, or
// the bracket of its type arguments.
func argumentsOf(text string, at int) (from, to int, ok bool) {
	depth, angles := 0, 0
	for i := at; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'', '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			end := ""
			if strings.HasPrefix(text[i:], "//") {
				end = "\n"
			} else if strings.HasPrefix(text[i:], "/*") {
				end = "*/"
			} else {
				continue
			}
			n := strings.Index(text[i+2:], end)
			if n < 0 {
				return 0, 0, false
			}
			i += n + 1 + len(end)
		case '<':
			if from == 0 {
				angles++
			}
		case '>':
			if from == 0 && text[i-1] != '=' {
				angles--
			}
		case '(', '[', '{':
			if angles > 0 {
				continue
			}
			if depth++; depth == 1 {
				from = i + 1
			}
		case ')', ']', '}':
			if angles > 0 {
				continue
			}
			if depth--; depth == 0 {
				return from, i, true
			}
		}
	}
	return 0, 0, false
}

// parseMetaGlob reads the arguments, which are literals.
func parseMetaGlob(arguments string) (*metaGlob, error) {
	program, err := goja.Parse("", "["+arguments+"]")
	if err != nil {
		return nil, err
	}
	literals := errors.New("its arguments are literals: a pattern or several, and an object of options")
	if len(program.Body) != 1 {
		return nil, literals
	}
	statement, ok := program.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil, literals
	}
	list, ok := statement.Expression.(*ast.ArrayLiteral)
	if !ok || len(list.Value) == 0 || len(list.Value) > 2 {
		return nil, literals
	}
	g := &metaGlob{}
	patterns := []ast.Expression{list.Value[0]}
	if several, ok := list.Value[0].(*ast.ArrayLiteral); ok {
		patterns = several.Value
	}
	for _, p := range patterns {
		text, ok := literal(p).(string)
		if !ok {
			return nil, literals
		}
		g.patterns = append(g.patterns, text)
	}
	if len(list.Value) == 1 {
		return g, nil
	}
	options, ok := literal(list.Value[1]).(map[string]any)
	if !ok {
		return nil, literals
	}
	for key, value := range options { // order-independent: each is set by itself
		if err := g.option(key, value); err != nil {
			return nil, err
		}
	}
	if g.query != "" && g.query != "?raw" {
		return nil, fmt.Errorf("minido test reads files as modules and with the query ?raw, not %s", g.query)
	}
	if options["as"] != nil && g.name == "" {
		g.name = "default"
	}
	if g.name == "*" {
		g.name = ""
	}
	return g, nil
}

func (g *metaGlob) option(key string, value any) error {
	text, isText := value.(string)
	flag, isFlag := value.(bool)
	switch {
	case key == "eager" && isFlag:
		g.eager = flag
	case key == "exhaustive" && isFlag:
		g.exhaustive = flag
	case key == "import" && isText:
		g.name = text
	case key == "base" && isText && (strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "/")):
		g.base = text
	case (key == "query" || key == "as") && isText:
		g.query = "?" + strings.TrimPrefix(text, "?")
	case key == "query":
		parts, ok := value.(map[string]any)
		if _, raw := parts["raw"]; !ok || !raw || len(parts) != 1 {
			return errors.New("minido test reads files as modules and with the query ?raw, not with others")
		}
		g.query = "?raw"
	default:
		return fmt.Errorf("the option %s has a value that minido test does not read", key)
	}
	return nil
}

// literal is the value of a literal: a string, bool or map; nil for others.
func literal(e ast.Expression) any {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String()
	case *ast.TemplateLiteral:
		if len(e.Expressions) == 0 && len(e.Elements) == 1 && e.Tag == nil {
			return e.Elements[0].Parsed.String()
		}
	case *ast.BooleanLiteral:
		return e.Value
	case *ast.ObjectLiteral:
		all := map[string]any{}
		for _, p := range e.Value {
			keyed, ok := p.(*ast.PropertyKeyed)
			if !ok {
				return nil
			}
			key, ok := keyed.Key.(*ast.StringLiteral)
			if !ok {
				return nil
			}
			all[key.Value.String()] = literal(keyed.Value)
		}
		return all
	}
	return nil
}

// globbed is a file that matches: its key, and how the importer names it.
type globbed struct{ key, spec string }

// Aliased is a specifier, or a pattern, with the alias that it begins with replaced: the
// longest, as esbuild has it. It is pure.
func Aliased(alias map[string]string, spec string) string {
	longest, behind := "", ""
	for from := range alias { // order-independent: no two that fit are of one length
		rest, ok := strings.CutPrefix(spec, strings.TrimSuffix(from, "/"))
		if ok && len(from) > len(longest) && (rest == "" || rest[0] == '/') {
			longest, behind = from, rest
		}
	}
	if longest == "" {
		return spec
	}
	return strings.TrimSuffix(alias[longest], "/") + behind
}

// find lists the files that match, sorted, and the directories that were looked into.
func (g *metaGlob) find(file, root string, alias map[string]string) (names []globbed, dirs []string, err error) {
	file, root = filepath.ToSlash(file), filepath.ToSlash(root)
	dir := path.Dir(file)
	base := dir
	switch {
	case strings.HasPrefix(g.base, "/"):
		base = path.Join(root, g.base)
	case g.base != "":
		base = path.Join(dir, g.base)
	}
	var with, without []string
	relative := true
	for _, p := range g.patterns {
		rest, not := strings.CutPrefix(p, "!")
		relative = relative && (not || strings.HasPrefix(p, "."))
		switch {
		case strings.HasPrefix(rest, "./"), strings.HasPrefix(rest, "../"):
			rest = path.Join(base, rest)
		case strings.HasPrefix(rest, "/"):
			rest = path.Join(root, rest)
		case strings.HasPrefix(rest, "**"):
			rest = path.Join(root, rest)
		default:
			if rest = path.Clean(filepath.ToSlash(Aliased(alias, rest))); !path.IsAbs(rest) {
				return nil, nil, fmt.Errorf("the pattern %q begins with neither / nor ./", p)
			}
		}
		if not {
			without = append(without, rest)
			continue
		}
		with = append(with, rest)
		fixed := rest
		if i := strings.IndexAny(rest, "*?{["); i >= 0 {
			fixed = rest[:i] + "x"
		}
		dirs = append(dirs, filepath.FromSlash(path.Dir(fixed)))
	}
	matches := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
	}
	found := map[string]bool{}
	for _, d := range dirs {
		err := filepath.WalkDir(d, func(at string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if at != d && !g.exhaustive && (e.Name() == "node_modules" || strings.HasPrefix(e.Name(), ".")) {
				if e.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			name := filepath.ToSlash(at)
			if !e.IsDir() && name != file && matches(with, name) && !matches(without, name) {
				found[name] = true
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	from := func(dir, name string) string {
		rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(name))
		if err != nil {
			return name // on another drive
		}
		if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, "../") {
			rel = "./" + rel
		}
		return rel
	}
	for name := range found { // order-independent: sorted below
		n := globbed{spec: from(dir, name)}
		switch {
		case g.base != "":
			n.key = from(base, name)
		case relative:
			n.key = n.spec
		default:
			n.key = from(root, name)
			if after, ok := strings.CutPrefix(n.key, "./"); ok {
				n.key = "/" + after
			}
		}
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b globbed) int { return strings.Compare(path.Join(dir, a.spec), path.Join(dir, b.spec)) })
	return names, dirs, nil
}
