package bundle

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"minido.dev/minido/runtime/bundle/glob"
	"minido.dev/minido/runtime/bundle/mend"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// cacheVersion names the meaning of cached results; it changes whenever this
// package or esbuild would produce something else for the same input.
const cacheVersion = "minido-bundle-18 esbuild-0.28.2"

// supported are the features that goja has or lacks where the target alone
// says otherwise. The target is ES2022 and not lower: older targets would lower
// async functions, which goja has and which carry the async context.
var supported = map[string]bool{
	"async-generator": false, "for-await": false, "using": false, "decorators": false,
	"dynamic-import": false, "import-meta": false, "regexp-unicode-property-escapes": false,
	"regexp-set-notation": false, "regexp-match-indices": false, "exponent-operator": false,
}

// quiet silences warnings that cannot apply to how units run.
var quiet = map[string]api.LogLevel{
	"empty-import-meta": api.LogLevelSilent, "commonjs-variable-in-esm": api.LogLevelSilent,
	"require-resolve-not-external": api.LogLevelSilent, "direct-eval": api.LogLevelSilent,
}

// source is one file to lower.
type source struct {
	path     string // absolute, or the specifier of a virtual module
	text     string
	loader   api.Loader
	tsconfig string
	split    []string // regions of a prebuilt bundle that become parts
	globs    []string // directories that import.meta.glob looks into
	entry    bool     // it is a script, with sloppy code, if it exports nothing
}

// base is the file's name in esbuild's output; identifiers derive from it.
func (s source) base() string { return filepath.Base(filepath.FromSlash(s.path)) }

// hash identifies everything that the lowered result depends on.
func (o *Options) hash(s source) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range []string{cacheVersion, o.fingerprint(), s.base(), strconv.Itoa(int(s.loader)), s.tsconfig, strings.Join(s.split, "\n")} {
		_, _ = io.WriteString(h, part) // a hash never fails
		_, _ = h.Write([]byte{0})
	}
	if s.entry {
		_, _ = h.Write([]byte{1})
	}
	_, _ = io.WriteString(h, s.text)
	return [sha256.Size]byte(h.Sum(nil))
}

// fingerprint covers the options that reach the inner build.
func (o *Options) fingerprint() string {
	text, err := json.Marshal([]any{o.Define, o.JSXFactory, o.JSXFragment, o.Mocks})
	if err != nil {
		panic("bundle: fingerprint: " + err.Error()) // maps of strings always marshal
	}
	return string(text)
}

// inner is what every inner build has in common.
func (o *Options) inner(s source) api.BuildOptions {
	opts := api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: s.text, Sourcefile: s.base(), Loader: s.loader},
		Bundle: true, Outdir: "/", AbsWorkingDir: o.Dir, Metafile: true,
		Format: api.FormatCommonJS, Platform: api.PlatformBrowser, Target: api.ES2022,
		KeepNames: true, TreeShaking: api.TreeShakingFalse, Supported: supported,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelSilent, LogOverride: quiet,
		TsconfigRaw: s.tsconfig, Define: o.Define, JSXFactory: o.JSXFactory, JSXFragment: o.JSXFragment,
	}
	opts.Plugins = []api.Plugin{{Name: "minido-externals", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: importRef{kindOf(a.Kind), a.Path}.tagged(), External: true}, nil
		})
	}}}
	return opts
}

func kindOf(k api.ResolveKind) importKind {
	switch k {
	case api.ResolveJSRequireCall:
		return requireCall
	case api.ResolveJSDynamicImport:
		return dynamicImport
	case api.ResolveJSRequireResolve:
		return requireResolve
	default:
		return importStatement
	}
}

// lower runs the inner build on one file. Messages carry name as the file; a
// nil result means that some of them are errors.
func (o *Options) lower(s source, name string) (*lowered, []Message) {
	l := &lowered{key: o.hash(s)}
	if s.loader == api.LoaderJSON {
		return o.lowerJSON(l, s, name)
	}
	if l := o.split(s); l != nil {
		return l, nil
	}
	r := api.Build(o.inner(s))
	if slices.ContainsFunc(r.Errors, isTopLevelAwait) {
		return o.lowerAsync(l, s, name)
	}
	if dirs := glob.Dirs(r.Errors); len(dirs) > 0 && filepath.IsAbs(s.path) {
		return o.lowerGlobs(l, s, name, dirs)
	}
	if len(r.Errors) > 0 {
		return nil, convertAll(r.Errors, name)
	}
	if err := l.fill(r, s, o.mocks(s)); err != nil {
		return nil, []Message{{File: name, Text: err.Error()}}
	}
	return l, convertAll(r.Warnings, name)
}

// lowerJSON checks the syntax; the text is parsed when the module is used.
func (o *Options) lowerJSON(l *lowered, s source, name string) (*lowered, []Message) {
	l.format = formatJSON
	if json.Valid([]byte(s.text)) {
		return l, nil
	}
	r := api.Build(o.inner(s))
	if len(r.Errors) == 0 {
		return nil, []Message{{File: name, Text: "This file is not valid JSON."}}
	}
	return nil, convertAll(r.Errors, name)
}

func convertAll(ms []api.Message, name string) []Message {
	out := make([]Message, 0, len(ms))
	for _, m := range ms {
		out = append(out, fromEsbuild(m, name))
	}
	return out
}

// metafile is the part of esbuild's metafile that this package reads.
type metafile struct {
	Inputs map[string]struct {
		Format  string `json:"format"`
		Imports []struct {
			Path     string `json:"path"`
			Kind     string `json:"kind"`
			Original string `json:"original"`
			External bool   `json:"external"`
		} `json:"imports"`
	} `json:"inputs"`
}

// fill reads the result of an inner build.
func (l *lowered) fill(r api.BuildResult, s source, mocks bool) error {
	common, err := l.fillImports(r)
	if err != nil {
		return err
	}
	out, err := outputCode(r)
	if err != nil {
		return err
	}
	l.wrap(out, s, common, mocks)
	return nil
}

// fillImports takes the format and the imports from the metafile. common says that the
// file uses module or exports as CommonJS has them.
func (l *lowered) fillImports(r api.BuildResult) (common bool, err error) {
	var meta metafile
	if err := json.Unmarshal([]byte(r.Metafile), &meta); err != nil {
		return false, fmt.Errorf("metafile: %w", err)
	}
	l.format = formatCJS
	// One file; of an async one also its importer, without imports of its own.
	for _, name := range slices.Sorted(maps.Keys(meta.Inputs)) {
		in := meta.Inputs[name]
		if in.Format == "esm" {
			l.format = formatESM
		}
		common = common || in.Format == "cjs"
		for _, imp := range in.Imports {
			if ref, ok := parseTagged(imp.Path); ok && !slices.Contains(l.imports, ref) {
				l.imports = append(l.imports, ref)
			}
		}
	}
	return common, nil
}

func outputCode(r api.BuildResult) (string, error) {
	for _, f := range r.OutputFiles {
		if strings.HasSuffix(f.Path, ".js") {
			return string(f.Contents), nil
		}
	}
	return "", fmt.Errorf("esbuild returned no JavaScript")
}

func isTopLevelAwait(m api.Message) bool {
	return strings.HasPrefix(m.Text, "Top-level await is currently not supported")
}

// asyncStage wraps a file that awaits at the top level in an async function.
// esbuild does it itself when such a file is imported with import(): its body
// becomes `init_x`, its names live in `x_exports`. Only ESM output allows that,
// so the result is lowered a second time.
func (o *Options) asyncStage(s source, maps bool) api.BuildResult {
	opts := o.inner(s)
	opts.Stdin = &api.StdinOptions{Contents: `export default () => import("` + mend.AsyncUnit + `")`, Loader: api.LoaderJS}
	opts.Format = api.FormatESModule
	opts.Supported = map[string]bool{"dynamic-import": true, "import-meta": true, "top-level-await": true}
	for k, v := range supported {
		if _, set := opts.Supported[k]; !set {
			opts.Supported[k] = v
		}
	}
	if maps {
		opts.Sourcemap, opts.SourcesContent = api.SourceMapInline, api.SourcesContentExclude
	}
	externals := opts.Plugins[0]
	opts.Plugins = []api.Plugin{{Name: "minido-async", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: "^" + mend.AsyncUnit + "$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: mend.AsyncUnit, Namespace: "minido"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "minido"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{Contents: &s.text, Loader: s.loader}, nil
		})
	}}, externals}
	return api.Build(opts)
}

// asyncSecond lowers the output of asyncStage to CommonJS.
func (o *Options) asyncSecond(s source, stage string, maps bool) api.BuildResult {
	stage += "\nexport { init_" + mend.AsyncUnit + " as __init };\n"
	opts := o.inner(source{path: s.path, text: stage, loader: api.LoaderJS, tsconfig: "{}"})
	if maps {
		opts.Sourcemap, opts.SourcesContent = api.SourceMapExternal, api.SourcesContentExclude
	}
	opts.KeepNames = false // done by the first stage
	opts.Plugins = []api.Plugin{{Name: "minido-externals", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: a.Path, External: true}, nil // tagged by the first stage
		})
	}}}
	return api.Build(opts)
}

func (o *Options) lowerAsync(l *lowered, s source, name string) (*lowered, []Message) {
	first := o.asyncStage(s, false)
	if len(first.Errors) > 0 {
		return nil, convertAll(first.Errors, name)
	}
	code, err := outputCode(first)
	if err != nil {
		return nil, []Message{{File: name, Text: err.Error()}}
	}
	second := o.asyncSecond(s, code, false)
	if len(second.Errors) > 0 {
		return nil, []Message{{File: name, Text: "top-level await: " + second.Errors[0].Text}}
	}
	l.async = true
	// The first stage still knows every import; the second gives the code.
	_, err = l.fillImports(first)
	if err := errors.Join(err, l.fill(second, s, o.mocks(s))); err != nil {
		return nil, []Message{{File: name, Text: err.Error()}}
	}
	l.format = formatESM
	return l, convertAll(first.Warnings, name)
}

// unquoteJS reads a property name as esbuild prints it.
func unquoteJS(s string) string {
	if strings.HasPrefix(s, `"`) {
		var out string
		if json.Unmarshal([]byte(s), &out) == nil {
			return out
		}
	}
	return s
}
