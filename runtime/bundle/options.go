package bundle

import (
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"minido.dev/minido/runtime/bundle/glob"
)

// ModuleType says how a file that a Rule matches is handed to its importer.
type ModuleType string

// The module types of wrangler's `rules`.
const (
	ESModule     ModuleType = "ESModule"     // JavaScript or TypeScript with import/export
	CommonJS     ModuleType = "CommonJS"     // JavaScript with module.exports
	Text         ModuleType = "Text"         // the default export is a string
	Data         ModuleType = "Data"         // the default export is an ArrayBuffer
	JSON         ModuleType = "JSON"         // the default export is the parsed value
	CompiledWasm ModuleType = "CompiledWasm" // the default export is a WebAssembly.Module
)

// Rule maps files to a module type. Globs match the file's path relative to
// the project directory, with `*`, `?`, `**` and `{a,b}`; a glob without a
// slash matches the base name. As in wrangler, a rule ends the search for its
// type unless Fallthrough is set, so a rule without it replaces the default
// rule of that type.
type Rule struct {
	Type        ModuleType
	Globs       []string
	Fallthrough bool
}

// defaultRules are wrangler's, see "Bundling" in its configuration reference.
var defaultRules = []Rule{
	{Type: Text, Globs: []string{"**/*.txt", "**/*.html", "**/*.sql"}},
	{Type: Data, Globs: []string{"**/*.bin"}},
	{Type: CompiledWasm, Globs: []string{"**/*.wasm", "**/*.wasm?module"}},
}

// Rewrite replaces what Pattern matches of an import specifier by To, in which ${1} is the
// first group.
type Rewrite struct {
	Pattern *regexp.Regexp
	To      string
}

// Options describe what to bundle. They are copied by New and not written to.
type Options struct {
	// Dir is the project directory, absolute. File names in programs,
	// positions and messages are relative to it.
	Dir string
	// Entry is the worker's main file, absolute or relative to Dir.
	Entry string
	// TSConfig is the tsconfig file to use for every project file; empty means
	// the nearest tsconfig.json of each.
	TSConfig string
	// Alias replaces import specifiers (wrangler's `alias`).
	Alias map[string]string
	// Rewrites replace import specifiers that a pattern matches, after Alias (vite's aliases
	// by regular expression).
	Rewrites []Rewrite
	// Define replaces expressions by JSON literals or identifiers (wrangler's
	// `define`).
	Define map[string]string
	// Rules come before wrangler's default rules.
	Rules []Rule
	// NoBundle says that Entry is already bundled: only relative imports are
	// followed, packages are not looked up.
	NoBundle bool
	// Named, if not nil, are all modules that there are beside the host's, by their names:
	// absolute paths of files below Dir, whose places there are the names. An import means a
	// name relative to the importer's folder, as in workerd; all are compiled, whether they are
	// imported or not, and an import of what is not there, or of a name that is not exported,
	// is an error.
	Named map[string]string
	// Conditions are the package export conditions; empty means workerd,
	// worker, browser.
	Conditions []string
	// Fallback, if not empty, are the conditions for a package that exports nothing under
	// Conditions, as vite resolves it.
	Fallback []string
	// JSXFactory and JSXFragment are wrangler's jsx_factory and jsx_fragment;
	// empty leaves it to tsconfig.
	JSXFactory, JSXFragment string
	// CacheDir holds lowered files between processes; empty means none.
	CacheDir string
	// NoDefer evaluates every module in import order.
	NoDefer bool
	// Defer names packages (`name` or `name/*`) whose modules may wait until
	// first used although they do not declare it. A leading `!` takes a package
	// out, also one that declares it.
	Defer []string
	// Builtins says whether a specifier such as `node:path` or
	// `cloudflare:workers` is provided by the host. It must be pure; nil means
	// that none is.
	Builtins func(spec string) bool
	// Exports are the names that a module of the host has, nil if they are not known:
	// importing another one is an error of the build. It must be pure; nil means that
	// none are known.
	Exports func(spec string) []string
	// Additional is a directory whose files, as far as a rule with globs matches
	// them, can be imported by a name that is computed when the code runs:
	// wrangler's find_additional_modules. Empty means none. Directories named
	// node_modules or beginning with a dot are left out.
	Additional string
	// Virtual holds modules by specifier whose TypeScript source comes from the
	// host instead of a file.
	Virtual map[string]string
	// Mocks has the project's own files mock modules with vitest's vi.mock and its kin.
	Mocks bool
	// Root is where patterns of import.meta.glob begin that begin with a slash; "" is Dir.
	Root string
	// Counting, if not nil, counts what runs of the files that it wants.
	Counting *Counting
	// Spawn runs fn in the background, to compile programs ahead of their use;
	// nil compiles each at its first use.
	Spawn func(name string, fn func())
	// Used, if not nil, is called on a runtime's loop when a module is evaluated that none
	// had evaluated before, and somebody needs: Bundle.Remember has more to write then. It
	// must not block.
	Used func()
}

// Curated packages declare nothing about side effects, and have been checked:
// their modules only declare. Evaluating them is what makes the agents bundle
// slow.
var curatedDefer = []string{
	"@modelcontextprotocol/client",
	"@modelcontextprotocol/core",
	"@modelcontextprotocol/sdk",
	"@modelcontextprotocol/server",
	"vite", // vite/module-runner, which vitest imports and does not use inside a worker
}

// bundles reports whether the worker is what wrangler would make one file of with esbuild.
func (o *Options) bundles() bool { return !o.Mocks && !o.NoBundle && o.Named == nil }

func (o Options) normalized() Options {
	o.Dir = filepath.Clean(o.Dir)
	if real, err := filepath.EvalSymlinks(o.Dir); err == nil {
		o.Dir = real // esbuild reports real paths
	}
	if !filepath.IsAbs(o.Entry) {
		o.Entry = filepath.Join(o.Dir, o.Entry)
	}
	if o.TSConfig != "" && !filepath.IsAbs(o.TSConfig) {
		o.TSConfig = filepath.Join(o.Dir, o.TSConfig)
	}
	if len(o.Conditions) == 0 {
		o.Conditions = []string{"workerd", "worker", "browser"}
	}
	if o.Builtins == nil {
		o.Builtins = func(string) bool { return false }
	}
	o.Define = defines(o.Define, o.NoBundle)
	o.Rules = slices.Concat(o.Rules, defaultRules)
	return o
}

// defines adds to the project's what wrangler defines for development. The plain
// process.env.NODE_ENV alone is also esbuild's own default. What is bundled already is
// run as it is, so there it stands for itself, and nothing else is replaced.
func defines(project map[string]string, bundled bool) map[string]string {
	if bundled {
		return map[string]string{"process.env.NODE_ENV": "process.env.NODE_ENV"}
	}
	all := map[string]string{}
	for _, name := range []string{"process.env.NODE_ENV", "global.process.env.NODE_ENV", "globalThis.process.env.NODE_ENV"} {
		all[name] = `"development"`
	}
	maps.Copy(all, project)
	return all
}

// moduleType applies the rules to a path. The second result is false when no
// rule matches and the extension decides.
func (o *Options) moduleType(path string) (ModuleType, bool) {
	rel := relSlash(o.Dir, path)
	var closed []ModuleType
	for _, r := range o.Rules {
		if slices.Contains(closed, r.Type) {
			continue
		}
		for _, g := range r.Globs {
			if glob.Match(g, rel) {
				return r.Type, true
			}
		}
		if !r.Fallthrough {
			closed = append(closed, r.Type)
		}
	}
	return "", false
}

// relSlash is path relative to dir with forward slashes.
func relSlash(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		rel = path
	}
	if runtime.GOOS == "windows" {
		rel = strings.ReplaceAll(rel, `\`, "/")
	}
	return rel
}

// inNodeModules tells installed packages from the project's own files.
func inNodeModules(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/node_modules/")
}
