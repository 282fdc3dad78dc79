package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
)

// A prebuilt bundle is one file in one scope, so nothing in it could wait, and
// all of it would have to be compiled. esbuild (and wrangler) leave a comment
// with the path of each original file, and that is enough to take the modules
// of packages that may be deferred out again: their top-level statements
// become parts, units of their own. The rest, the trunk, stays one function
// whose statements keep their order. Trunk and parts import each other's
// top-level names; esbuild rewrites the uses, so scopes are its business.

// splitMin is the size from which taking a bundle apart pays.
const splitMin = 256 << 10

// splitPrefix begins the specifiers by which trunk and parts import each other.
const splitPrefix = "minido-split:"

// splitTrunk is the specifier of the trunk's own top-level names.
const splitTrunk = splitPrefix + "trunk"

// part is a module taken out of a prebuilt bundle. Immutable.
type part struct {
	path string // the original file, as the bundle's comment gives it
	low  *lowered
}

// splitter takes one bundle apart. Owner 0 is the trunk, the others are parts.
// Confined to one call of split.
type splitter struct {
	o        *Options
	s        source
	l        *lowered          // the bundle in one piece
	lines    []string          // of esbuild's output; a line's index is its number there
	declared map[string]int    // top-level name → owner
	names    []string          // the keys of declared, sorted
	uses     map[string]int    // word → how many owners' texts hold it
	spans    [][]span          // by owner: its lines
	words    []map[string]bool // by owner: every word of its text
	paths    []string          // by owner; the trunk has none
}

// span is a run of lines, without the end.
type span struct{ from, to int }

const trunk = 0

// split returns l as trunk and parts, or l itself where there is nothing to
// gain, or the bundle is not of the shape that esbuild prints.
func (o *Options) split(l *lowered, s source, mapText []byte) *lowered {
	sp := o.newSplitter(l, s, mapText)
	if sp == nil {
		return l
	}
	units, ok := sp.lower()
	if !ok {
		return l
	}
	out := *l
	main := units[trunk]
	out.code, out.cut, out.helpers = main.code, main.cut, main.helpers
	out.imports = compactRefs(slices.Concat(l.imports, main.imports))
	for i, u := range units[1:] {
		out.parts = append(out.parts, part{sp.paths[i+1], u})
	}
	return &out
}

func compactRefs(list []importRef) []importRef {
	var out []importRef
	for _, ref := range list {
		if !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// newSplitter divides the lowered bundle l; mapText is its source map. It
// returns nil for code of an unexpected shape.
func (o *Options) newSplitter(l *lowered, s source, mapText []byte) *splitter {
	if len(s.split) == 0 || l.async || l.format != formatESM || l.cut < 1 || !slices.Contains(l.helpers, "__export") {
		return nil
	}
	sm, ok := newSourceMap(mapText)
	fn := functionOf(l.code)
	if !ok || fn == nil {
		return nil
	}
	head, body, _ := strings.Cut(strings.TrimSuffix(l.code, "\n})"), "\n")
	_, kept, _ := strings.Cut(head, `{"use strict";`)
	sp := &splitter{o: o, s: s, l: l, declared: map[string]int{}, uses: map[string]int{}}
	// Program line p is line p-2+cut of esbuild's output; keeping those numbers
	// keeps the source map valid. The lines before are free.
	sp.lines = append(make([]string, l.cut), strings.Split(body, "\n")...)
	sp.lines[0] = kept
	sp.assign(fn, sm)
	return sp
}

// functionOf parses a unit's code.
func functionOf(code string) *ast.FunctionLiteral {
	tree, err := goja.Parse("", code, parser.WithDisableSourceMaps)
	if err != nil || len(tree.Body) != 1 {
		return nil
	}
	stmt, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	fn, _ := stmt.Expression.(*ast.FunctionLiteral)
	return fn
}

// assign gives every top-level statement, with the lines it occupies and the
// names it declares, to its owner.
func (sp *splitter) assign(fn *ast.FunctionLiteral, sm *sourceMap) {
	owners := map[string]int{}
	sp.paths = []string{""}
	for _, p := range sp.s.split {
		owners[p] = len(sp.paths)
		sp.paths = append(sp.paths, p)
	}
	regs, starts := regions(sp.s.text), lineStarts(sp.l.code)
	lineOf := func(at file.Idx) int {
		p, _ := slices.BinarySearch(starts, int(at))
		return max(0, p-2+sp.l.cut)
	}
	sp.spans = make([][]span, len(sp.paths))
	var begins, owner []int // of each statement
	now, from := trunk, 0
	for _, st := range fn.Body.List {
		line := lineOf(begin(st))
		if line < sp.l.cut {
			line = 0 // a helper on the head line, the trunk's
		} else if _, srcLine, _, ok := sm.lookup(line, 0); ok {
			sp.spans[now] = append(sp.spans[now], span{from, line})
			now, from = owners[regionAt(regs, srcLine)], line
		}
		begins, owner = append(begins, line), append(owner, now)
		for _, n := range declared(st) {
			sp.declared[n] = now
		}
	}
	sp.spans[now] = append(sp.spans[now], span{from, len(sp.lines)})
	// `var` inside loops and blocks declares at the top level too.
	for _, d := range fn.DeclarationList {
		for _, b := range d.List {
			for _, n := range bindingNames(nil, b.Target) {
				if _, ok := sp.declared[n]; !ok {
					i, found := slices.BinarySearch(begins, lineOf(b.Target.Idx0()))
					if !found {
						i--
					}
					sp.declared[n] = owner[max(0, i)]
				}
			}
		}
	}
	sp.names = slices.Sorted(maps.Keys(sp.declared))
	sp.countWords()
}

// begin is where a statement starts; goja does not record it for `if`.
func begin(st ast.Statement) file.Idx {
	if s, ok := st.(*ast.IfStatement); ok {
		return s.Test.Idx0()
	}
	return st.Idx0()
}

func (sp *splitter) countWords() {
	for i := range sp.spans {
		words := map[string]bool{}
		for _, s := range sp.spans[i] {
			for _, line := range sp.lines[s.from:s.to] {
				addWords(words, line)
			}
		}
		for w := range words {
			sp.uses[w]++
		}
		sp.words = append(sp.words, words)
	}
}

// lineStarts are the zero-based offsets at which lines begin. goja's positions
// count from 1, so a binary search for one gives the line's 1-based number.
func lineStarts(code string) []int {
	starts := []int{0}
	for i := 0; i < len(code); i++ {
		if code[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// declared are the names a statement declares at its own level.
func declared(st ast.Statement) []string {
	var names []string
	switch st := st.(type) {
	case *ast.VariableStatement:
		for _, b := range st.List {
			names = bindingNames(names, b.Target)
		}
	case *ast.LexicalDeclaration:
		for _, b := range st.List {
			names = bindingNames(names, b.Target)
		}
	case *ast.FunctionDeclaration:
		names = append(names, st.Function.Name.Name.String())
	case *ast.ClassDeclaration:
		names = append(names, st.Class.Name.Name.String())
	}
	return names
}

func bindingNames(names []string, target ast.Node) []string {
	switch t := target.(type) {
	case *ast.Identifier:
		names = append(names, t.Name.String())
	case *ast.AssignExpression:
		names = bindingNames(names, t.Left)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			names = bindingNames(names, e)
		}
		names = bindingNames(names, t.Rest)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				names = append(names, p.Name.Name.String())
			case *ast.PropertyKeyed:
				names = bindingNames(names, p.Value)
			}
		}
		names = bindingNames(names, t.Rest)
	}
	return names
}

// addWords collects every word of the text: a superset of the names it uses.
func addWords(set map[string]bool, text string) {
	for i := 0; i < len(text); {
		if !isIdent(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && isIdent(text[i]) {
			i++
		}
		set[text[start:i]] = true
	}
}

// textOf is an owner's text. padded keeps its lines at their numbers.
func (sp *splitter) textOf(owner int, padded bool) string {
	var sb strings.Builder
	line := 1 // the first line is the caller's
	for _, s := range sp.spans[owner] {
		for padded && line < s.from {
			sb.WriteByte('\n')
			line++
		}
		for _, l := range sp.lines[max(1, s.from):max(1, s.to)] {
			sb.WriteString(l)
			sb.WriteByte('\n')
			line++
		}
	}
	return sb.String()
}

// specifier is how the others import owner.
func specifier(owner int) string {
	if owner == trunk {
		return splitTrunk
	}
	return splitPrefix + strconv.Itoa(owner-1)
}

// lower makes the units of all owners in one build, which runs in parallel.
// It fails for code that esbuild's output would not hold, such as an
// assignment across owners.
func (sp *splitter) lower() ([]*lowered, bool) {
	owners := make([]int, len(sp.spans))
	for i := range owners {
		owners[i] = i
	}
	r := api.Build(sp.build(owners, nil))
	var meta metafile
	if len(r.Errors) > 0 || json.Unmarshal([]byte(r.Metafile), &meta) != nil {
		return nil, false
	}
	units := make([]*lowered, len(owners))
	for _, f := range r.OutputFiles {
		owner, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(f.Path), ".js"))
		if err != nil || owner >= len(units) {
			return nil, false
		}
		l := &lowered{key: sp.l.key, format: formatESM}
		input := splitNamespace + ":" + strconv.Itoa(owner)
		for _, imp := range meta.Inputs[input].Imports {
			if ref, ok := parseTagged(imp.Path); ok {
				l.imports = append(l.imports, ref)
			}
		}
		l.imports = compactRefs(l.imports)
		l.wrap(string(f.Contents), input)
		l.borrow(append(slices.Clone(sp.l.helpers), splitSelf))
		units[owner] = l
	}
	return units, !slices.Contains(units, nil)
}

// borrow adds those helpers to the function's parameters that its code uses:
// an earlier lowering took them as parameters.
func (l *lowered) borrow(helpers []string) {
	used := map[string]bool{}
	addWords(used, l.code)
	for _, h := range helpers {
		if used[h] && !slices.Contains(l.helpers, h) {
			head, rest, _ := strings.Cut(l.code, "){")
			l.code = head + "," + h + "){" + rest
			l.helpers = append(l.helpers, h)
		}
	}
}

// build is the build of some owners' texts. With inMap, the source map of the
// bundle's first lowering, it makes source maps too.
func (sp *splitter) build(owners []int, inMap []byte) api.BuildOptions {
	opts := sp.o.inner(source{path: sp.s.path, tsconfig: "{}"})
	opts.Stdin = nil
	opts.KeepNames, opts.Define = false, nil // done by the first lowering
	for _, owner := range owners {
		n := strconv.Itoa(owner)
		opts.EntryPointsAdvanced = append(opts.EntryPointsAdvanced, api.EntryPoint{InputPath: n, OutputPath: n})
	}
	suffix := ""
	if inMap != nil {
		opts.Sourcemap, opts.SourcesContent = api.SourceMapExternal, api.SourcesContentExclude
		suffix = "\n//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString(inMap)
	}
	opts.Plugins = []api.Plugin{{Name: "minido-split", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{Path: a.Path, Namespace: splitNamespace}, nil
			}
			path := a.Path
			if _, ok := parseTagged(path); !ok { // else an earlier lowering did it
				path = importRef{kindOf(a.Kind), path}.tagged()
			}
			return api.OnResolveResult{Path: path, External: true}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: splitNamespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			owner, err := strconv.Atoi(a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			text := sp.module(owner, inMap != nil) + suffix
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
	}}}
	return opts
}

const splitNamespace = "split"

// splitSelf is the parameter through which the trunk publishes its own names.
const splitSelf = "$self"

// module is one owner's text as a module, with its imports and, for the trunk,
// its exports on the first line; the exports of a part come last. It only
// reads sp, and may run in parallel. padded keeps lines at their numbers.
func (sp *splitter) module(owner int, padded bool) string {
	imports := make([][]string, len(sp.spans))
	var exports []string
	words := sp.words[owner]
	for _, name := range sp.names {
		switch from := sp.declared[name]; {
		case from == owner && sp.uses[name] > 1:
			exports = append(exports, name)
		case from != owner && words[name]:
			imports[from] = append(imports[from], name)
		}
	}
	var head, tail strings.Builder
	for from, names := range imports {
		if len(names) > 0 {
			fmt.Fprintf(&head, "import{%s}from%q;", strings.Join(names, ","), specifier(from))
		}
	}
	if owner == trunk {
		head.WriteString("__export(" + splitSelf + ",{")
		for _, n := range exports {
			head.WriteString(n + ":()=>" + n + ",")
		}
		head.WriteString("});" + sp.lines[0])
	} else {
		tail.WriteString("export{" + strings.Join(exports, ",") + "};")
	}
	return head.String() + "\n" + sp.textOf(owner, padded) + tail.String()
}
