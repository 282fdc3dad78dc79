package vitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/config"
)

// auxiliary is a worker beside the one that is tested (miniflare.workers), which it
// reaches by service bindings and by the script_name of Durable Objects.
type auxiliary struct {
	Name string
	// Files are its modules, the main one first; one without a text lies on the disk.
	Files []struct {
		Path string
		Text *string
	}
	// Root is what the paths are relative to; "" is the configuration's directory.
	Root     string
	Bindings map[string]string
	Add      json.RawMessage
	Date     string
	Flags    []string
	// Outbound is the name of the worker that answers what it fetches, "" for the network.
	Outbound string
}

// outboundBinding is the binding to auxiliary.Outbound.
const outboundBinding = "MINIDO_OUTBOUND"

// through writes a main module that has all that another one fetches go to
// outboundBinding.
func through(cache, name, main string) (string, error) {
	dir, err := generated(cache, "worker-"+within(name)+"-outbound", map[string]string{
		"outbound.js": fmt.Sprintf("import { env } from \"cloudflare:workers\";\nglobalThis.fetch = async (input, init) => env.%s.fetch(input, init);\n", outboundBinding),
		"main.js":     fmt.Sprintf("import \"./outbound.js\";\nimport * as main from %[1]q;\nexport * from %[1]q;\nexport default main.default;\n", filepath.ToSlash(main)),
	})
	return filepath.Join(dir, "main.js"), err
}

// auxiliaries are the worlds' other workers. Modules that the configuration gives as
// texts are written into the cache directory.
func (o *Options) auxiliaries(s *settings) (all []config.Options, err error) {
	for _, w := range s.Others {
		if len(w.Files) == 0 || w.Name == "" {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: miniflare.workers: each worker needs a name, and a script, a scriptPath or modules", s.file)}
		}
		root := s.dir(o)
		if w.Root != "" {
			if root = w.Root; !filepath.IsAbs(root) {
				root = filepath.Join(s.dir(o), root)
			}
		}
		texts := map[string]string{}
		for _, f := range w.Files {
			if f.Text != nil {
				texts[within(f.Path)] = *f.Text
			}
		}
		main := filepath.FromSlash(w.Files[0].Path)
		switch {
		case w.Files[0].Text != nil:
			dir, err := generated(o.CacheDir, "worker-"+within(w.Name), texts)
			if err != nil {
				return nil, err
			}
			main = filepath.Join(dir, within(w.Files[0].Path))
		case !filepath.IsAbs(main):
			main = filepath.Join(root, main)
		}
		if _, err := os.Stat(main); err != nil {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: miniflare.workers: %s: there is no %s (is it built by a step before the tests?)", s.file, w.Name, main)}
		}
		c := config.Options{Dir: root, Entry: main, NoFile: true, Environ: o.Environ, CompatibilityDate: w.Date, CompatibilityFlags: workflowFlags(w.Flags), Add: w.Add, AddFrom: filepath.Base(s.file)}
		if w.Outbound != "" {
			if c.Entry, err = through(o.CacheDir, w.Name, main); err != nil {
				return nil, err
			}
		}
		for _, name := range slices.Sorted(maps.Keys(w.Bindings)) {
			c.Vars = append(c.Vars, name+":"+w.Bindings[name])
		}
		all = append(all, c)
	}
	functions, err := o.functions(s)
	return slices.Concat(all, functions, o.assets(s)), err
}

// functionWorker answers with a function of the configuration, which the worker
// evaluates as evaluateConfig does. It has no way out of its own.
const functionWorker = `import { functions, settle } from "vitest/config";
globalThis.__migrations = () => [];
globalThis.fetch = () => Promise.reject(new TypeError("a function of the vitest configuration cannot fetch: tests have no network"));
const miniflare = new Proxy({}, { get(_, name) { throw new Error("minido test runs this function without miniflare: " + String(name) + " is not available"); } });
const settled = settle(c.default);
export default {
  async fetch(request) {
    await settled;
    try {
      const response = await functions[%d](request, miniflare);
      if (!(response instanceof Response)) throw new TypeError("a function of the vitest configuration answered no Response");
      return response;
    } catch (e) { // as miniflare
      console.error(e);
      return new Response(e?.stack ?? String(e), { status: 500 });
    }
  },
};`

// functions are the workers of the functions that the configuration binds to: with the
// plugin they run in Node.js.
func (o *Options) functions(s *settings) (all []config.Options, err error) {
	for _, n := range s.Functions {
		text := fmt.Sprintf(nodeFunctionWorker, n)
		if s.node == nil {
			if text, err = forNode(s.file, fmt.Sprintf("import * as c from %q; ", s.file)+fmt.Sprintf(functionWorker, n), api.FormatESModule, configPlugin); err != nil {
				return nil, &UsageError{fmt.Sprintf("the configuration %s: %v", s.file, err)}
			}
		}
		name := fmt.Sprintf("minido-function-%d", n)
		dir, err := generated(o.CacheDir, name, map[string]string{"worker.mjs": text})
		if err != nil {
			return nil, err
		}
		all = append(all, config.Options{Dir: dir, Entry: filepath.Join(dir, "worker.mjs"), NoFile: true, CompatibilityDate: s.Date, CompatibilityFlags: []string{"nodejs_compat"}, Add: json.RawMessage(`{"name":"` + name + `"}`), AddFrom: filepath.Base(s.file)})
	}
	return all, nil
}

// assets are the workers of buildPagesASSETSBinding, which serve a directory as Pages do.
func (o *Options) assets(s *settings) (all []config.Options) {
	for n, dir := range s.Assets {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.dir(o), dir)
		}
		missing := "single-page-application"
		if _, err := os.Stat(filepath.Join(dir, "404.html")); err == nil {
			missing = "404-page"
		}
		add := map[string]any{"name": fmt.Sprintf("minido-assets-%d", n), "assets": map[string]string{"directory": dir, "not_found_handling": missing}}
		text, err := json.Marshal(add)
		if err != nil {
			panic("vitest: assets: " + err.Error()) // texts always marshal
		}
		all = append(all, config.Options{Dir: s.dir(o), NoFile: true, CompatibilityDate: s.Date, Add: text, AddFrom: filepath.Base(s.file)})
	}
	return all
}

// within is a path of a module as one below a directory.
func within(path string) string {
	return strings.TrimPrefix(filepath.Clean(string(filepath.Separator)+filepath.FromSlash(path)), string(filepath.Separator))
}
