package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/toplevel"
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
// Confined to one call of newSplitter, then immutable.
type splitter struct {
	o         *Options
	s         source
	lines     []string
	declared  map[string]int // top-level name → owner
	names     []string       // the keys of declared, sorted
	mentioned [][]string     // by owner: the names that occur in its text, sorted
	uses      map[string]int // name → how many owners mention it
	spans     [][]span       // by owner: its lines
	paths     []string       // by owner; the trunk has none
}

// span is a run of lines, without the end.
type span struct{ from, to int }

const trunk = 0

// split lowers a prebuilt bundle as trunk and parts. It returns nil where the
// bundle is not of the shape that esbuild prints, or there is nothing to gain:
// then it is lowered in one piece, which also finds the errors in it.
func (o *Options) split(s source) *lowered {
	sp := o.newSplitter(s)
	if sp == nil {
		return nil
	}
	units, ok := sp.lower()
	if !ok {
		return nil
	}
	out := *units[trunk]
	for i, u := range units[1:] {
		for _, ref := range u.imports {
			if !strings.HasPrefix(ref.Spec, splitPrefix) {
				out.imports = append(out.imports, ref)
			}
		}
		out.parts = append(out.parts, part{sp.paths[i+1], u})
	}
	out.imports = compactRefs(out.imports)
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

// newSplitter divides a bundle's text among the owners.
func (o *Options) newSplitter(s source) *splitter {
	if len(s.split) == 0 {
		return nil
	}
	top, ok := toplevel.Scan(s.text)
	if !ok || top.Exports < 0 {
		return nil
	}
	owners := map[string]int{}
	sp := &splitter{o: o, s: s, lines: strings.Split(s.text, "\n"), declared: map[string]int{}, uses: map[string]int{}, paths: []string{""}}
	for _, p := range s.split {
		owners[p] = len(sp.paths)
		sp.paths = append(sp.paths, p)
	}
	sp.spans = make([][]span, len(sp.paths))
	now, from := trunk, 0
	begin := func(line, owner int) {
		sp.spans[now] = append(sp.spans[now], span{from, line})
		now, from = owner, line
	}
	for i, r := range top.Regions {
		begin(r.Line, owners[r.Path])
		end := len(sp.lines)
		if i+1 < len(top.Regions) {
			end = top.Regions[i+1].Line
		}
		if top.Exports >= r.Line && top.Exports < end {
			begin(top.Exports, trunk)
		}
	}
	begin(len(sp.lines), trunk)
	sp.names = slices.Sorted(maps.Keys(top.Declared))
	for _, name := range sp.names {
		sp.declared[name] = trunk
		if i := top.Declared[name]; i >= 0 {
			sp.declared[name] = owners[top.Regions[i].Path]
		}
	}
	sp.countWords()
	return sp
}

// countWords finds which owners mention which names.
func (sp *splitter) countWords() {
	for i := range sp.spans {
		words := map[string]bool{}
		for _, s := range sp.spans[i] {
			for _, line := range sp.lines[s.from:s.to] {
				addWords(words, line)
			}
		}
		var names []string
		for _, name := range sp.names {
			if words[name] {
				names = append(names, name)
				sp.uses[name]++
			}
		}
		sp.mentioned = append(sp.mentioned, names)
	}
}

// addWords collects every word of the text: a superset of the names it uses.
func addWords(set map[string]bool, text string) {
	for i := 0; i < len(text); {
		if !toplevel.IsIdent(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && toplevel.IsIdent(text[i]) {
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
	r := api.Build(sp.build(owners, false))
	var meta metafile
	if len(r.Errors) > 0 || json.Unmarshal([]byte(r.Metafile), &meta) != nil {
		return nil, false
	}
	units, key := make([]*lowered, len(owners)), sp.o.hash(sp.s)
	for _, f := range r.OutputFiles {
		owner, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(f.Path), ".js"))
		if err != nil || owner >= len(units) {
			return nil, false
		}
		l := &lowered{key: key, format: formatESM}
		input := splitNamespace + ":" + strconv.Itoa(owner)
		for _, imp := range meta.Inputs[input].Imports {
			if ref, ok := parseTagged(imp.Path); ok {
				l.imports = append(l.imports, ref)
			}
		}
		l.imports = compactRefs(l.imports)
		l.wrap(string(f.Contents), source{path: input}, true, false)
		if owner == trunk {
			l.borrow(splitSelf)
		}
		units[owner] = l
	}
	return units, !slices.Contains(units, nil)
}

// borrow adds a parameter to the function.
func (l *lowered) borrow(name string) {
	head, rest, _ := strings.Cut(l.code, "){")
	l.code = head + "," + name + "){" + rest
	l.helpers = append(l.helpers, name)
}

// build is the build of some owners' texts, with source maps or without.
func (sp *splitter) build(owners []int, maps bool) api.BuildOptions {
	opts := sp.o.inner(sp.s)
	opts.Stdin = nil
	for _, owner := range owners {
		n := strconv.Itoa(owner)
		opts.EntryPointsAdvanced = append(opts.EntryPointsAdvanced, api.EntryPoint{InputPath: n, OutputPath: n})
	}
	if maps {
		opts.Sourcemap, opts.SourcesContent = api.SourceMapExternal, api.SourcesContentExclude
	}
	opts.Plugins = []api.Plugin{{Name: "minido-split", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{Path: a.Path, Namespace: splitNamespace}, nil
			}
			return api.OnResolveResult{Path: importRef{kindOf(a.Kind), a.Path}.tagged(), External: true}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: splitNamespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			owner, err := strconv.Atoi(a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			text := sp.module(owner, maps)
			return api.OnLoadResult{Contents: &text, Loader: sp.s.loader}, nil
		})
	}}}
	return opts
}

const splitNamespace = "split"

// splitSelf is the function by which the trunk publishes its own names.
const splitSelf = "$self"

// module is one owner's text as a module, with its imports and, for the trunk,
// its exports on the first line; the exports of a part come last. It only
// reads sp, and may run in parallel. padded keeps lines at their numbers.
func (sp *splitter) module(owner int, padded bool) string {
	imports := make([][]string, len(sp.spans))
	var exports []string
	for _, name := range sp.mentioned[owner] {
		if from := sp.declared[name]; from != owner {
			imports[from] = append(imports[from], name)
		} else if sp.uses[name] > 1 {
			exports = append(exports, name)
		}
	}
	var head, tail strings.Builder
	for from, names := range imports {
		if len(names) > 0 {
			fmt.Fprintf(&head, "import{%s}from%q;", strings.Join(names, ","), specifier(from))
		}
	}
	if owner == trunk {
		head.WriteString(splitSelf + "({")
		for _, n := range exports {
			head.WriteString(n + ":()=>" + n + ",")
		}
		head.WriteString("});" + sp.lines[0])
	} else {
		tail.WriteString("export{" + strings.Join(exports, ",") + "};")
	}
	return head.String() + "\n" + sp.textOf(owner, padded) + tail.String()
}
