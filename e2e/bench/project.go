package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// compatibilityDate is that of every project here.
const compatibilityDate = "2026-08-01"

// project is a worker in a directory of its own, with a wrangler.json, that
// minido and wrangler run from source, and prebuilt for workerd, which takes
// nothing else. Immutable after newProject.
type project struct {
	name     string
	dir      string   // has wrangler.json
	main     string   // relative to dir
	prebuilt string   // the whole worker as one ES module, absolute
	raw      string   // the same for workerd alone
	classes  []string // Durable Object classes, each bound under its own name
	flags    []string // compatibility flags
	vars     []variable
	// bindings are further keys of the wrangler file; workerd alone has none of them.
	bindings map[string]any
}

type variable struct{ name, value string }

// newProject copies the sources in from to dir, and bundles them once.
func newProject(p project, from, dir string) (*project, error) {
	p.dir, p.prebuilt = filepath.Join(dir, p.name), filepath.Join(dir, p.name+"-prebuilt", "worker.mjs")
	p.raw = filepath.Join(dir, p.name+"-raw", "worker.mjs")
	if err := copySources(from, p.dir); err != nil {
		return nil, fmt.Errorf("project %s: %w", p.name, err)
	}
	if err := errors.Join(p.bundle(p.prebuilt), p.bundle(p.raw, emailStandIn)); err != nil {
		return nil, fmt.Errorf("project %s: %w", p.name, err)
	}
	if err := p.writeConfig(p.dir, p.main, false); err != nil {
		return nil, fmt.Errorf("project %s: %w", p.name, err)
	}
	if err := p.writeConfig(filepath.Dir(p.prebuilt), "worker.mjs", true); err != nil {
		return nil, fmt.Errorf("project %s: %w", p.name, err)
	}
	return &p, nil
}

// asPrebuilt is the same worker as a project whose main is already bundled.
func (p *project) asPrebuilt() *project {
	q := *p
	q.dir, q.main = filepath.Dir(p.prebuilt), filepath.Base(p.prebuilt)
	return &q
}

// copySources leaves out what other runs left behind. Packages are linked: they
// are large, and nobody writes to them.
func copySources(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		switch {
		case d.Name() == "node_modules":
			if err := os.Symlink(path, dst); err != nil {
				return err
			}
			return fs.SkipDir
		case d.Name() == ".wrangler":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(dst, 0o700)
		case strings.HasPrefix(d.Name(), "wrangler."):
			return nil // writeConfig's
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(dst, data, 0o600)
	})
}

// emailStandIn takes the place of the one module that workerd does not have
// unless wrangler hands it in.
var emailStandIn = api.Plugin{Name: "email", Setup: func(b api.PluginBuild) {
	const namespace = "email"
	b.OnResolve(api.OnResolveOptions{Filter: "^cloudflare:email$"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: a.Path, Namespace: namespace}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".", Namespace: namespace}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		code := "export class EmailMessage { constructor(from, to, raw) { Object.assign(this, { from, to, raw }); } }"
		return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
	})
}}

// bundle writes the worker as one module, with wrangler's options.
func (p *project) bundle(file string, plugins ...api.Plugin) error {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(p.dir, p.main)}, Outfile: file, Write: true, Bundle: true,
		Format: api.FormatESModule, Platform: api.PlatformBrowser, Target: api.ES2022, KeepNames: true,
		MainFields: []string{"browser", "module", "main"}, Conditions: []string{"workerd", "worker", "browser"},
		External: []string{"node:*", "cloudflare:*"}, Alias: nodeBuiltins(), LogLevel: api.LogLevelSilent, Plugins: plugins,
	})
	if len(result.Errors) > 0 {
		return errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	return nil
}

// nodeBuiltins gives the bare names of Node's modules their prefix, as wrangler does.
func nodeBuiltins() map[string]string {
	alias := map[string]string{}
	for _, name := range []string{"assert", "async_hooks", "buffer", "child_process", "crypto", "diagnostics_channel", "events", "fs", "http",
		"https", "net", "os", "path", "process", "querystring", "stream", "string_decoder", "timers", "tls", "tty", "url", "util", "zlib"} {
		alias[name] = "node:" + name
	}
	return alias
}

func (p *project) writeConfig(dir, main string, noBundle bool) error {
	type binding struct {
		Name  string `json:"name"`
		Class string `json:"class_name"`
	}
	type migration struct {
		Tag     string   `json:"tag"`
		Classes []string `json:"new_sqlite_classes"`
	}
	config := struct {
		Name     string            `json:"name"`
		Main     string            `json:"main"`
		Date     string            `json:"compatibility_date"`
		Flags    []string          `json:"compatibility_flags,omitempty"`
		NoBundle bool              `json:"no_bundle,omitempty"`
		Vars     map[string]string `json:"vars,omitempty"`
		Objects  struct {
			Bindings []binding `json:"bindings"`
		} `json:"durable_objects"`
		Migrations []migration `json:"migrations,omitempty"`
	}{Name: p.name, Main: main, Date: compatibilityDate, Flags: p.flags, NoBundle: noBundle, Vars: map[string]string{}}
	for _, v := range p.vars {
		config.Vars[v.name] = v.value
	}
	config.Objects.Bindings = []binding{}
	for _, class := range p.classes {
		config.Objects.Bindings = append(config.Objects.Bindings, binding{class, class})
	}
	if len(p.classes) > 0 {
		config.Migrations = []migration{{"v1", p.classes}}
	}
	data, err := json.Marshal(config)
	if err != nil {
		return err
	}
	all := map[string]any{}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	maps.Copy(all, p.bindings)
	if data, err = json.MarshalIndent(all, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "wrangler.json"), append(data, '\n'), 0o600)
}

// capnp is the raw bundle as workerd's own configuration (workerd.capnp).
func (p *project) capnp(port int, stateDir string) string {
	var flags, namespaces, bindings strings.Builder
	for _, f := range p.flags {
		fmt.Fprintf(&flags, "%q, ", f)
	}
	for _, class := range p.classes {
		fmt.Fprintf(&namespaces, "(className = %q, uniqueKey = %q, enableSql = true), ", class, p.name+"-"+class)
		fmt.Fprintf(&bindings, "(name = %q, durableObjectNamespace = %q), ", class, class)
	}
	for _, v := range p.vars {
		fmt.Fprintf(&bindings, "(name = %q, text = %q), ", v.name, v.value)
	}
	return fmt.Sprintf(`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "disk", disk = (path = %q, writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"]))],
  sockets = [(name = "http", address = "127.0.0.1:%d", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed %q)],
  compatibilityDate = %q,
  compatibilityFlags = [%s],
  durableObjectNamespaces = [%s],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [%s],
);
`, stateDir, port, filepath.Base(p.raw), compatibilityDate, flags.String(), namespaces.String(), bindings.String())
}
