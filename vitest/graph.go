package vitest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/glob"
)

// dependencies are the project's own files that each test file reaches by imports, and
// itself. One that imports from cloudflare:test or cloudflare:workers reaches the worker;
// all reach the setup files. It reports false if a file does not build.
func (p *project) dependencies() (map[string][]string, bool) {
	entries := slices.Concat(p.files, p.setup())
	if p.worker.Main != "" {
		entries = append(entries, p.worker.Main)
	}
	globs := api.Plugin{Name: "globs", Setup: func(b api.PluginBuild) {
		b.OnLoad(api.OnLoadOptions{Filter: `\.[cm]?[jt]sx?$`, Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text, err := os.ReadFile(a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			expanded, dirs, err := glob.Expand(a.Path, string(text), p.settings.root, p.settings.Alias)
			if len(dirs) == 0 || err != nil {
				return api.OnLoadResult{}, err // esbuild reads it
			}
			loader := api.LoaderTS
			if ext := filepath.Ext(a.Path); strings.HasSuffix(ext, "x") || strings.HasSuffix(ext, "js") {
				loader = api.LoaderTSX
			}
			return api.OnLoadResult{Contents: &expanded, Loader: loader, ResolveDir: filepath.Dir(a.Path)}, nil
		})
	}}
	r := api.Build(api.BuildOptions{Plugins: []api.Plugin{globs}, EntryPoints: entries, Bundle: true, Metafile: true, Write: false, Outdir: "/", AbsWorkingDir: p.settings.root, Format: api.FormatESModule,
		Packages: api.PackagesExternal, External: []string{"cloudflare:*", "minido:*", "node:*"}, Alias: p.settings.Alias, LogLevel: api.LogLevelSilent,
		Loader: map[string]api.Loader{".txt": api.LoaderEmpty, ".html": api.LoaderEmpty, ".sql": api.LoaderEmpty, ".bin": api.LoaderEmpty, ".wasm": api.LoaderEmpty, ".css": api.LoaderEmpty}})
	if len(r.Errors) > 0 {
		return nil, false
	}
	var meta struct {
		Inputs map[string]struct {
			Imports []struct {
				Path     string
				External bool
			}
		}
	}
	if err := json.Unmarshal([]byte(r.Metafile), &meta); err != nil {
		return nil, false
	}
	abs := func(name string) string {
		if filepath.IsAbs(name) {
			return filepath.Clean(name)
		}
		return filepath.Join(p.settings.root, filepath.FromSlash(name))
	}
	imports := map[string][]string{}
	for name, in := range meta.Inputs { // order-independent: a list for each
		for _, i := range in.Imports {
			switch {
			case !i.External:
				imports[abs(name)] = append(imports[abs(name)], abs(i.Path))
			case strings.HasPrefix(i.Path, "cloudflare:") && p.worker.Main != "":
				imports[abs(name)] = append(imports[abs(name)], p.worker.Main)
			}
		}
	}
	all := map[string][]string{}
	for _, file := range p.files {
		queue := append([]string{file}, p.setup()...)
		seen := map[string]bool{}
		for len(queue) > 0 {
			at := queue[0]
			if queue = queue[1:]; seen[at] {
				continue
			}
			seen[at] = true
			all[file] = append(all[file], at)
			queue = append(queue, imports[at]...)
		}
	}
	return all, true
}
