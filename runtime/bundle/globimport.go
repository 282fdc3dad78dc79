package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/manifest"
)

// import(`./lang/${name}.js`) stands for every file that the pattern matches:
// esbuild, and with it wrangler, looks for them when it bundles. The files are
// imports like any other here, under the names that the pattern gives them.

// buildGlobs is the inner build of a file that imports by patterns. Its result
// depends on what the directories hold.
func (o *Options) buildGlobs(s source, maps bool) api.BuildResult {
	dir := filepath.Dir(s.path)
	opts := o.inner(s)
	if maps {
		opts.Sourcemap, opts.SourcesContent = api.SourceMapExternal, api.SourcesContentExclude
	}
	opts.Stdin.ResolveDir, opts.AbsWorkingDir = dir, dir
	opts.Outdir = dir // so that the source map calls the file by its base name, as that of others
	externals := opts.Plugins[0]
	opts.Plugins = []api.Plugin{{Name: "minido-globs", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Importer == s.path {
				return api.OnResolveResult{}, nil // an import of the file's own: see externals
			}
			return api.OnResolveResult{Path: importRef{dynamicImport, a.Path}.tagged(), External: true}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			rel, err := filepath.Rel(dir, a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, "../") {
				rel = "./" + rel
			}
			text, err := globStub(a.Path, rel)
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
		})
	}}, externals}
	return api.Build(opts)
}

// globStub hands on what the file at path has, which is imported as rel. A file whose name
// or package.json says that it is an ECMAScript module has no module.exports.
func globStub(path, rel string) (string, error) {
	loaders := map[string]api.Loader{".mjs": api.LoaderJS, ".mts": api.LoaderTS}
	if manifest.New().ForFile(path).Module {
		maps.Copy(loaders, map[string]api.Loader{".js": api.LoaderJS, ".jsx": api.LoaderJSX, ".ts": api.LoaderTS, ".tsx": api.LoaderTSX})
	}
	loader, module := loaders[filepath.Ext(path)]
	if !module {
		return fmt.Sprintf("module.exports = require(%q)", rel), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	stub := fmt.Sprintf("export * from %q;", rel)
	r := api.Build(api.BuildOptions{Stdin: &api.StdinOptions{Contents: string(text), Loader: loader}, Format: api.FormatESModule, Metafile: true,
		Outfile: "names.js", LogLevel: api.LogLevelSilent})
	var meta struct {
		Outputs map[string]struct{ Exports []string }
	}
	if len(r.Errors) > 0 {
		return stub, nil // whoever lowers the file tells of them
	}
	if err := json.Unmarshal([]byte(r.Metafile), &meta); err != nil {
		return "", err
	}
	for _, out := range meta.Outputs { // order-independent: there is one
		if slices.Contains(out.Exports, "default") {
			stub += fmt.Sprintf("export { default } from %q;", rel)
		}
	}
	return stub, nil
}

func (o *Options) lowerGlobs(l *lowered, s source, name string, dirs []string) (*lowered, []Message) {
	dir := filepath.Dir(s.path)
	r := o.buildGlobs(s, false)
	if slices.ContainsFunc(r.Errors, isTopLevelAwait) {
		return nil, []Message{{File: name, Text: "A file with a top-level await cannot import by a pattern.",
			Hint: "move the import() whose path is computed to a file of its own"}}
	}
	if len(r.Errors) > 0 {
		return nil, convertAll(r.Errors, name)
	}
	if err := l.fill(r, s, o.mocks(s)); err != nil {
		return nil, []Message{{File: name, Text: err.Error()}}
	}
	for _, d := range dirs {
		l.globs = append(l.globs, filepath.Join(dir, filepath.FromSlash(d)))
	}
	return l, convertAll(r.Warnings, name)
}
