package vitest

import (
	_ "embed" // the modules that configurations import
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

//go:embed js/config.js
var configModules string

// settings are what of vitest's configuration a run uses.
type settings struct {
	root string // absolute

	Include, Exclude, SetupFiles []string
	Globals                      bool
	TestTimeout, HookTimeout     float64 // milliseconds
	Retry                        int
	Alias, Define                map[string]string
	Env                          map[string]string
	// Vitest is the rest of what the runner is told.
	Vitest map[string]any
	// Wrangler and Environment are the plugin's wrangler options, Main its main.
	Wrangler, Environment, Main string
	// Bindings, Date and Flags are the plugin's miniflare options that are known.
	Bindings map[string]any
	Date     string
	Flags    []string
	// Refused names options that are set and not supported.
	Refused []string
}

// configNames are where vitest looks for its configuration.
var configNames = func() (names []string) {
	for _, base := range []string{"vitest.config", "vite.config"} {
		for _, ext := range []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"} {
			names = append(names, base+ext)
		}
	}
	return names
}()

// settings reads the configuration; a project without one has vitest's defaults.
func (o *Options) settings() (*settings, error) {
	file := ""
	if o.Config != "" {
		if file = o.Config; !filepath.IsAbs(file) {
			file = filepath.Join(o.Dir, file)
		}
		if _, err := os.Stat(file); err != nil {
			return nil, &UsageError{fmt.Sprintf("the configuration %s does not exist", file)}
		}
	}
	for _, name := range configNames {
		if _, err := os.Stat(filepath.Join(o.Dir, name)); file == "" && err == nil {
			file = filepath.Join(o.Dir, name)
		}
	}
	text, err := "{}", error(nil)
	if file != "" {
		if text, err = evaluateConfig(file); err != nil {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: %v", file, err)}
		}
	}
	s := &settings{root: o.Dir}
	var raw struct {
		settings
		Root string
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, &UsageError{fmt.Sprintf("the configuration %s: %v", file, err)}
	}
	*s = raw.settings
	if s.root = o.Dir; raw.Root != "" {
		s.root = raw.Root
		if !filepath.IsAbs(s.root) {
			s.root = filepath.Join(o.Dir, s.root)
		}
	}
	if len(s.Refused) > 0 {
		return nil, &UsageError{fmt.Sprintf("the configuration %s: minido test does not support %s; take it out, or run this project with vitest", file, strings.Join(s.Refused, ", "))}
	}
	s.defaults()
	return s, nil
}

// virtualTimeout is the default limit of tests and hooks, in milliseconds of
// virtual time. Vitest's 5 s are for tests that take the machine's time; here a
// test that waits for minutes takes none.
const virtualTimeout = 3_600_000

// defaults fills in vitest's.
func (s *settings) defaults() {
	if len(s.Include) == 0 {
		s.Include = []string{"**/*.test.ts", "**/*.spec.ts", "**/*.test.{js,mjs,cjs,mts,cts,jsx,tsx}", "**/*.spec.{js,mjs,cjs,mts,cts,jsx,tsx}"}
	}
	if len(s.Exclude) == 0 {
		s.Exclude = []string{"**/node_modules/**", "**/.git/**"}
	}
	if s.TestTimeout == 0 {
		s.TestTimeout = virtualTimeout
	}
	if s.HookTimeout == 0 {
		s.HookTimeout = virtualTimeout
	}
}

// evaluateConfig evaluates a configuration and returns what js/config.js makes of
// its default export, as JSON.
func evaluateConfig(file string) (string, error) {
	virtual := api.Plugin{Name: "minido", Setup: func(b api.PluginBuild) {
		known := `^(vitest/config|vite|@cloudflare/vitest-pool-workers(/config)?|(node:)?(path|url|process))$`
		b.OnResolve(api.OnResolveOptions{Filter: known}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: strings.TrimPrefix(a.Path, "node:"), Namespace: "minido"}, nil
		})
		b.OnResolve(api.OnResolveOptions{Filter: "^node:"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{}, fmt.Errorf("minido test evaluates the configuration without Node.js: %s is not available there", a.Path)
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "minido"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{Contents: &configModules}, nil
		})
	}}
	quoted, err := json.Marshal(map[string]string{"file": file, "dir": filepath.Dir(file), "url": "file://" + filepath.ToSlash(file)})
	if err != nil {
		return "", err
	}
	entry := fmt.Sprintf("import * as c from %q; import { settle } from \"vitest/config\"; globalThis.result = settle(c.default);", file)
	r := api.Build(api.BuildOptions{Stdin: &api.StdinOptions{Contents: entry, ResolveDir: filepath.Dir(file)},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2017, Platform: api.PlatformNeutral, MainFields: []string{"module", "main"}, Plugins: []api.Plugin{virtual}, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8,
		Define: map[string]string{"import.meta.url": "__config.url", "import.meta.dirname": "__config.dir", "import.meta.filename": "__config.file", "__dirname": "__config.dir", "__filename": "__config.file"}})
	if len(r.Errors) > 0 {
		return "", errors.New(strings.TrimSpace(strings.Join(api.FormatMessages(r.Errors, api.FormatMessagesOptions{}), "")))
	}
	vm := goja.New()
	if _, err := vm.RunString("globalThis.__config = " + string(quoted)); err != nil {
		return "", err
	}
	if _, err := vm.RunScript(file, string(r.OutputFiles[0].Contents)); err != nil {
		return "", err
	}
	p, ok := vm.Get("result").Export().(*goja.Promise)
	if !ok {
		return "", errors.New("it exports no configuration")
	}
	switch p.State() {
	case goja.PromiseStateFulfilled:
		return p.Result().String(), nil
	case goja.PromiseStateRejected:
		return "", errors.New(p.Result().String())
	default:
		return "", errors.New("its default export never settles: it waits for something that only Node.js has")
	}
}
