package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/builtins"
	"minido.dev/minido/runtime/bundle/manifest"
	"minido.dev/minido/runtime/bundle/tsconfig"
	"minido.dev/minido/runtime/bundle/uses"
)

// Bundler builds one worker, again and again. It keeps esbuild's incremental
// state and every lowered and compiled file between builds. Its methods are
// safe for concurrent use; builds run one at a time.
type Bundler struct {
	opts  Options
	slots chan struct{} // bounds the inner builds that run at once

	build sync.Mutex // held during Build and Close
	ctx   api.BuildContext
	store *store

	mu     sync.Mutex       // guards what follows
	units  map[string]*unit // by name in the metafile
	stamps map[string]stamp // by name: what the unit was read from
	scan   *scan            // the running build
	order  uses.Order       // in which modules were evaluated
	early  []expected       // to be compiled while it runs, those to be evaluated last first
	busy   bool             // somebody compiles them
	inputs []string
}

// stamp detects that a file of an installed package is unchanged.
type stamp struct {
	mtime int64
	size  int64
}

// scan is the state of one build. Guarded by Bundler.mu.
type scan struct {
	pkgs     *manifest.Reader
	ts       *tsconfig.Files
	seen     map[string]*unit
	messages []Message // errors
	warnings []Message
	broken   map[string]bool // files with errors of their own
	extra    []string        // files that may be imported by a computed name
	dirs     []string        // where they were looked for
	early    map[string]bool // names and paths of what literals import, if this scan is of more: see reach

	onlyMocked map[string]bool // absentKey of what this scan did not find, and files mock
	absent     map[string]bool // that of the scan before: nobody looks for them
}

// New prepares a bundler; it reads nothing yet. opts.Dir must be absolute.
func New(opts Options) *Bundler {
	b := &Bundler{
		opts: opts.normalized(), slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		units: map[string]*unit{}, stamps: map[string]stamp{},
	}
	b.store = openStore(b.opts.CacheDir, b.opts.Entry)
	return b
}

// Close releases esbuild's state and waits for a running build. Bundles
// already built stay usable.
func (b *Bundler) Close() {
	b.build.Lock()
	defer b.build.Unlock()
	if b.ctx != nil {
		b.ctx.Dispose()
		b.ctx = nil
	}
}

// Inputs are the files and directories on which the last build depended,
// sorted, also after a failed build: sources, package.json and tsconfig files,
// and the directories in which a missing import might appear.
func (b *Bundler) Inputs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.inputs)
}

// Build reads the project and returns what an isolate loads. The error is a
// *BuildError when the project is at fault. Unchanged files are neither lowered
// nor compiled again.
func (b *Bundler) Build() (*Bundle, error) {
	b.build.Lock()
	defer b.build.Unlock()
	s := b.begin(nil)
	out, err := b.run(s)
	if err != nil && len(s.onlyMocked) > 0 {
		s = b.begin(s.onlyMocked)
		out, err = b.run(s)
	}
	if err == nil && b.opts.Mocks && s.isComputed() {
		s, out = b.reach(s, out)
	}
	b.mu.Lock()
	b.inputs = b.collectInputs(s, err)
	b.mu.Unlock()
	if err == nil {
		b.forget(s)
		// A cache that cannot be written costs time at the next start, no more.
		if werr := b.store.save(s.seen); werr != nil {
			out.Warnings = append(out.Warnings, Message{Text: fmt.Sprintf("bundle cache: %v", werr)})
		}
	}
	return out, err
}

// begin makes the state of a build, in which nobody looks for what is absent.
func (b *Bundler) begin(absent map[string]bool) *scan {
	s := &scan{pkgs: manifest.New(), ts: tsconfig.New(b.opts.TSConfig), seen: map[string]*unit{}, broken: map[string]bool{}, absent: absent}
	b.mu.Lock()
	b.scan = s
	b.mu.Unlock()
	return s
}

// forget drops the units of files that are no longer part of the graph.
func (b *Bundler) forget(s *scan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.units {
		if s.seen[name] == nil {
			delete(b.units, name)
			delete(b.stamps, name)
		}
	}
}

func (b *Bundler) run(s *scan) (*Bundle, error) {
	if st, err := os.Stat(b.opts.Entry); err != nil || st.IsDir() {
		return nil, &BuildError{[]Message{{
			Text: fmt.Sprintf("The main file %s does not exist.", relSlash(b.opts.Dir, b.opts.Entry)),
			Hint: `set "main" in the configuration to the worker's entry file`,
		}}}
	}
	extra, err := b.additional()
	if err != nil {
		return nil, err
	}
	var dirs []string
	if s.early != nil {
		if extra, dirs, err = b.reachable(); err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
	}
	b.mu.Lock()
	s.extra, s.dirs = extra, dirs
	b.mu.Unlock()
	if b.ctx == nil {
		ctx, err := api.Context(b.outer())
		if err != nil {
			return nil, &BuildError{convertAll(err.Errors, "")}
		}
		b.ctx = ctx
	}
	r := b.ctx.Rebuild()
	if errs := b.scanErrors(s, r); len(errs) > 0 {
		if s.absent == nil {
			s.onlyMocked = b.onlyMocked(s, r)
		}
		return nil, &BuildError{sortMessages(errs)}
	}
	var meta metafile
	if err := json.Unmarshal([]byte(r.Metafile), &meta); err != nil {
		return nil, fmt.Errorf("bundle: metafile: %w", err)
	}
	return b.link(s, &meta)
}

// outer is the build that finds the graph. Its output is thrown away.
func (b *Bundler) outer() api.BuildOptions {
	opts := b.resolution()
	opts.EntryPoints = []string{b.opts.Entry}
	opts.Metafile = true
	opts.Plugins = []api.Plugin{{Name: "minido-graph", Setup: func(p api.PluginBuild) {
		p.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) { return b.onResolve(p, a) })
		p.OnLoad(api.OnLoadOptions{Filter: ".*"}, b.onLoad)
	}}}
	return opts
}

// resolution are the options that decide what a specifier means.
func (b *Bundler) resolution() api.BuildOptions {
	return api.BuildOptions{
		Bundle: true, Outdir: "/", AbsWorkingDir: b.opts.Dir, Format: api.FormatESModule,
		Platform: api.PlatformBrowser, Target: api.ESNext, LogLevel: api.LogLevelSilent, LogOverride: quiet,
		MainFields: []string{"browser", "module", "main"}, Conditions: b.opts.Conditions,
		Alias: b.opts.Alias, Tsconfig: b.opts.TSConfig, LegalComments: api.LegalCommentsNone,
	}
}

const virtualNamespace = "virtual"

// onResolve keeps specifiers of the host out of esbuild's resolver.
func (b *Bundler) onResolve(p api.PluginBuild, a api.OnResolveArgs) (api.OnResolveResult, error) {
	if a.PluginData == (resolvesItself{}) {
		return api.OnResolveResult{}, nil
	}
	if b.opts.Named != nil && a.Kind != api.ResolveEntryPoint {
		return b.resolvesNamed(a)
	}
	if _, ok := b.opts.Alias[a.Path]; ok || a.Kind == api.ResolveEntryPoint {
		return api.OnResolveResult{}, nil
	}
	if found, ok := b.rewritten(p, a); ok {
		return found, nil
	}
	if _, ok := b.opts.Virtual[a.Path]; ok {
		return api.OnResolveResult{Path: a.Path, Namespace: virtualNamespace}, nil
	}
	name, certain, ok := builtins.Spec(a.Path)
	if ok && (certain || b.opts.Builtins(name)) {
		return api.OnResolveResult{Path: a.Path, External: true}, nil
	}
	if b.opts.NoBundle && !strings.HasPrefix(a.Path, ".") && !strings.HasPrefix(a.Path, "/") {
		return api.OnResolveResult{Path: a.Path, External: true}, nil
	}
	if b.scan.absent[absentKey(a.ResolveDir, a.Path)] {
		return api.OnResolveResult{Path: a.Path, External: true}, nil
	}
	if found, ok := b.resolvesLate(p, a); ok {
		return found, nil
	}
	if path := b.pastExports(p, a); path != "" {
		return api.OnResolveResult{Path: path}, nil
	}
	if path := b.fallback(p, a); path != "" {
		return api.OnResolveResult{Path: path}, nil
	}
	return api.OnResolveResult{}, nil
}

// rewritten resolves a specifier that Options.Rewrites change.
func (b *Bundler) rewritten(p api.PluginBuild, a api.OnResolveArgs) (found api.OnResolveResult, ok bool) {
	to, ok := b.opts.rewrite(a.Path)
	if !ok {
		return api.OnResolveResult{}, false
	}
	got := p.Resolve(to, api.ResolveOptions{Importer: a.Importer, ResolveDir: cmp.Or(a.ResolveDir, b.opts.Dir), Kind: a.Kind, PluginData: resolvesItself{}})
	return api.OnResolveResult{Path: got.Path, External: got.External, Namespace: got.Namespace, Suffix: got.Suffix}, len(got.Errors) == 0
}

// rewrite is what the first of Rewrites that changes a specifier makes of it.
func (o *Options) rewrite(spec string) (to string, ok bool) {
	for _, r := range o.Rewrites {
		if to := r.Pattern.ReplaceAllString(spec, r.To); to != spec {
			return to, true
		}
	}
	return spec, false
}

// isPackage reports whether a specifier names a package or a part of one.
func isPackage(spec string) bool {
	return !strings.HasPrefix(spec, ".") && !filepath.IsAbs(spec) && !strings.HasPrefix(spec, "#")
}

// fallback is what a package exports under the conditions of Options.Fallback where it
// exports nothing under the usual ones. It is "" for everything else.
func (b *Bundler) fallback(p api.PluginBuild, a api.OnResolveArgs) (path string) {
	if len(b.opts.Fallback) == 0 || !isPackage(a.Path) || a.ResolveDir == "" {
		return ""
	}
	found := p.Resolve(a.Path, api.ResolveOptions{Importer: a.Importer, ResolveDir: a.ResolveDir, Kind: a.Kind, PluginData: resolvesItself{}})
	if len(found.Errors) == 0 {
		return ""
	}
	opts := b.resolution()
	opts.Conditions, opts.Platform = b.opts.Fallback, api.PlatformNode
	opts.Stdin = &api.StdinOptions{Contents: "import " + strconv.Quote(a.Path), ResolveDir: a.ResolveDir}
	opts.Plugins = []api.Plugin{{Name: "minido-fallback", Setup: func(inner api.PluginBuild) {
		inner.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			path = a.Path
			empty := ""
			return api.OnLoadResult{Contents: &empty}, nil
		})
	}}}
	if r := api.Build(opts); len(r.Errors) > 0 {
		return ""
	}
	return path
}

// resolvesItself marks what onResolve asks esbuild's resolver.
type resolvesItself struct{}

// pastExports finds a file of a package that a module rule matches and that the
// package's "exports" leave out, as wrangler does (deployment-bundle,
// module-collection.ts). It is "" for everything else.
func (b *Bundler) pastExports(p api.PluginBuild, a api.OnResolveArgs) string {
	if !isPackage(a.Path) || a.ResolveDir == "" {
		return ""
	}
	spec, _, _ := strings.Cut(a.Path, "?")
	if _, ok := b.opts.moduleType(filepath.Join(b.opts.Dir, filepath.FromSlash(spec))); !ok {
		return ""
	}
	found := p.Resolve(a.Path, api.ResolveOptions{Importer: a.Importer, ResolveDir: a.ResolveDir, Kind: a.Kind, PluginData: resolvesItself{}})
	if len(found.Errors) == 0 {
		return ""
	}
	for dir := a.ResolveDir; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "node_modules", filepath.FromSlash(spec))
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			return path
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

// onLoad lowers a file and hands esbuild the stub with its imports. esbuild
// calls it on many goroutines.
func (b *Bundler) onLoad(a api.OnLoadArgs) (api.OnLoadResult, error) {
	b.slots <- struct{}{}
	defer func() { <-b.slots }()
	b.mu.Lock()
	s := b.scan
	b.mu.Unlock()
	name := relSlash(b.opts.Dir, a.Path) + a.Suffix
	if a.Namespace == virtualNamespace {
		name = virtualNamespace + ":" + a.Path
	} else if a.Namespace != "file" {
		return api.OnLoadResult{}, nil
	}
	u, msgs := b.load(s, a, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if u == nil && (slices.Contains(s.extra, a.Path) && b.opts.Named == nil || s.isLate(name)) {
		u, msgs = &unit{path: a.Path, name: name, refuse: &msgs[0]}, nil // whoever imports it gets the error
	}
	if u == nil {
		s.broken[name] = true
		s.messages = append(s.messages, msgs...)
		empty := ""
		return api.OnLoadResult{Contents: &empty, Loader: api.LoaderJS}, nil
	}
	if !inNodeModules(a.Path) && !s.isLate(name) {
		s.warnings = append(s.warnings, msgs...)
	}
	s.seen[name] = u
	stub := stubOf(u)
	if a.Path == b.opts.Entry {
		stub += additionalStub(s.extra)
	}
	r := api.OnLoadResult{Contents: &stub, Loader: api.LoaderJS}
	if a.Namespace == virtualNamespace {
		r.ResolveDir = b.opts.Dir
	}
	return r, nil
}

// stubOf is a file that imports what u imports, one import per line.
func stubOf(u *unit) string {
	if u.low == nil {
		return ""
	}
	var sb strings.Builder
	for i, ref := range u.low.imports {
		spec, err := json.Marshal(ref.Spec)
		if err != nil {
			panic("bundle: stub: " + err.Error()) // strings always marshal
		}
		switch {
		case strings.HasPrefix(ref.Spec, splitPrefix):
			sb.WriteString("\n")
		case ref.Kind == importStatement:
			fmt.Fprintf(&sb, "import * as _%d from %s\n", i, spec)
		case ref.Kind == requireCall:
			fmt.Fprintf(&sb, "try{require(%s)}catch{}\n", spec)
		case ref.Kind == dynamicImport:
			fmt.Fprintf(&sb, "import(%s).catch(()=>{})\n", spec)
		default:
			sb.WriteString("\n") // require.resolve is refused when it runs
		}
	}
	return sb.String()
}

// scanErrors turns the outer build's errors into messages about real lines.
func (b *Bundler) scanErrors(s *scan, r api.BuildResult) []Message {
	out := slices.Clone(s.messages)
	for _, e := range r.Errors {
		if e.Location == nil {
			out = append(out, fromEsbuild(e, ""))
			continue
		}
		u := s.seen[e.Location.File]
		line := e.Location.Line - 1
		if u == nil || u.low == nil || line < 0 || line >= len(u.low.imports) {
			out = append(out, fromEsbuild(e, e.Location.File))
			continue
		}
		ref := u.low.imports[line]
		if name, _, ok := builtins.Spec(ref.Spec); ok {
			out = append(out, b.unknownBuiltin(u, ref, name))
			continue
		}
		found := b.diagnose(u, ref)
		if len(found) == 0 {
			found = []Message{b.locate(u, ref, e.Text)}
		}
		out = append(out, found...)
	}
	return out
}

func (b *Bundler) collectInputs(s *scan, err error) []string {
	set := map[string]bool{b.opts.Entry: true}
	for _, u := range s.seen {
		if filepath.IsAbs(u.path) {
			set[u.path] = true
		}
		if u.low != nil {
			for _, dir := range u.low.globs {
				set[dir] = true
			}
		}
	}
	for name := range s.broken {
		if !strings.HasPrefix(name, virtualNamespace+":") {
			set[filepath.Join(b.opts.Dir, filepath.FromSlash(name))] = true
		}
	}
	for _, f := range s.pkgs.Read() {
		set[f] = true
	}
	for _, f := range s.ts.Read() {
		set[f] = true
	}
	set[filepath.Join(b.opts.Dir, "package.json")] = true
	for _, dir := range s.dirs {
		set[dir] = true
	}
	if b.opts.Additional != "" {
		set[b.opts.Additional] = true
	}
	if err != nil {
		set[b.opts.Dir] = true
		set[filepath.Join(b.opts.Dir, "node_modules")] = true
		for _, name := range slices.Sorted(maps.Keys(s.seen)) {
			if u := s.seen[name]; filepath.IsAbs(u.path) && !inNodeModules(u.path) {
				set[filepath.Dir(u.path)] = true
			}
		}
	}
	list := make([]string, 0, len(set))
	for f := range set {
		list = append(list, f)
	}
	slices.Sort(list)
	return list
}
