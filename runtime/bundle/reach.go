package bundle

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/bundle/glob"
)

// import() of what a variable holds, in tests: vite looks for the file when the code runs.
// Here all of the project's files that it could mean are in the graph, as soon as one of the
// project's files imports so; each is evaluated when something imports it. What is wrong with
// those files alone, whoever imports them is told.

// maxReachable bounds the files that import() of a variable can mean.
const maxReachable = 2000

// extensions are those that vite tries where a specifier has none, in its order.
var extensions = []string{"", ".mjs", ".js", ".mts", ".ts", ".jsx", ".tsx", ".json"}

// notReached are declarations, and configurations of tools, which import the tools.
var notReached = lazyregexp.New(`\.d\.[cm]?ts$|\.config\.[cm]?[jt]s$`)

// isComputed reports whether a file of the project imports what a variable holds.
func (s *scan) isComputed() bool {
	for _, u := range s.seen { // order-independent: one is enough
		if u.low != nil && filepath.IsAbs(u.path) && !inNodeModules(u.path) && slices.Contains(u.low.helpers, computedImport) {
			return true
		}
	}
	return false
}

// reach adds to a build the files that computed specifiers can mean. If they do not build, it
// is what it was, and says why.
func (b *Bundler) reach(s *scan, out *Bundle) (*scan, *Bundle) {
	wide := b.begin(s.absent)
	wide.early = map[string]bool{b.opts.Entry: true}
	for name, u := range s.seen { // order-independent: a set
		wide.early[name], wide.early[u.path] = true, true
	}
	more, err := b.run(wide)
	if err != nil {
		out.unreached = strings.TrimPrefix(err.Error(), "bundle: ")
		return s, out
	}
	return wide, more
}

// reachable lists the project's files below Options.Root: sources, JSON, and what a rule
// matches, and the directories.
func (b *Bundler) reachable() (list, dirs []string, err error) {
	err = filepath.WalkDir(b.root(), func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if file != b.root() && (name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			dirs = append(dirs, file)
			return nil
		}
		_, ruled := b.opts.moduleType(file)
		if _, source := loaders[filepath.Ext(file)]; d.Type().IsRegular() && (source || ruled) && file != b.opts.Entry && !notReached.MatchString(file) {
			list = append(list, file)
		}
		if len(list) > maxReachable {
			return fmt.Errorf("%s has more than %d files that import() of a variable could mean", relSlash(b.opts.Dir, b.root()), maxReachable)
		}
		return nil
	})
	return list, dirs, err
}

// isLate reports whether only the second scan knows the file of this name or path: nothing
// imports it by a literal.
func (s *scan) isLate(name string) bool {
	return s.early != nil && !s.early[name]
}

// resolvesLate keeps a specifier that nobody has from failing the build, in a file that
// nothing imports by a literal.
func (b *Bundler) resolvesLate(p api.PluginBuild, a api.OnResolveArgs) (found api.OnResolveResult, ok bool) {
	if !b.scan.isLate(a.Importer) {
		return api.OnResolveResult{}, false
	}
	r := p.Resolve(a.Path, api.ResolveOptions{Importer: a.Importer, ResolveDir: a.ResolveDir, Kind: a.Kind, PluginData: resolvesItself{}})
	return api.OnResolveResult{Path: a.Path, External: true}, len(r.Errors) > 0
}

// meant finds the module that a computed specifier means in tests: a path relative to from, to
// the root or of the file system, a file: URL, an alias, or a package that the project's files
// name in a literal, too.
func (in *instance) meant(from *record, spec string) (target, bool) {
	b := in.b.bundler
	if u, err := url.Parse(spec); err == nil && u.Scheme == "file" {
		spec = filepath.FromSlash(u.Path)
	}
	spec, _ = b.opts.rewrite(glob.Aliased(b.opts.Alias, spec))
	paths := []string{filepath.Join(filepath.Dir(from.path), spec)}
	switch {
	case filepath.IsAbs(spec):
		paths = []string{spec, filepath.Join(b.root(), spec)}
	case !strings.HasPrefix(spec, "."):
		return in.named(spec)
	}
	for _, at := range paths {
		name := relSlash(b.opts.Dir, at)
		for _, stem := range []string{name, path.Join(name, "index")} {
			for _, ext := range extensions {
				if id, ok := in.b.byName[stem+ext]; ok {
					return target{module: id}, true
				}
			}
		}
	}
	return target{}, false
}

// named finds a package as some file of the project imports it by a literal.
func (in *instance) named(spec string) (target, bool) {
	for _, m := range in.b.modules {
		if !filepath.IsAbs(m.path) || inNodeModules(m.path) {
			continue
		}
		for _, kind := range []importKind{importStatement, dynamicImport} {
			if t, ok := m.deps[importRef{kind, spec}.tagged()]; ok && (t.module >= 0 || t.builtin != "") {
				return t, true
			}
		}
	}
	return target{}, false
}
