package vitest

import (
	_ "embed" // the modules that configurations import
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/d1"
)

//go:embed js/config.js
var configModules string

// evaluateConfig evaluates a configuration and returns what js/config.js makes of
// its default export, as JSON.
func evaluateConfig(file string) (string, error) {
	text, _, err := evaluate(file, `import { settle } from "vitest/config"; globalThis.result = settle(c.default);`)
	return text, err
}

// evaluate evaluates a file that is made for Node.js, and then code, in which c is
// its namespace and which leaves a promise of a text in globalThis.result. The
// runtime is the caller's.
func evaluate(file, code string) (string, *goja.Runtime, error) {
	script, err := forNode(file, code, api.FormatIIFE)
	if err != nil {
		return "", nil, err
	}
	vm := goja.New()
	if err := vm.Set("__migrations", func(call goja.FunctionCall) goja.Value {
		list, err := migrations(call.Argument(0).String())
		if err != nil {
			panic(vm.NewGoError(err))
		}
		return vm.ToValue(list)
	}); err != nil {
		return "", nil, err
	}
	if _, err := vm.RunScript(file, script); err != nil {
		return "", nil, err
	}
	text, err := settled(vm.Get("result"))
	return text, vm, err
}

// forNode bundles a file that is made for Node.js, and then code, in which c is its
// namespace.
func forNode(file, code string, format api.Format) (string, error) {
	slashed := filepath.ToSlash(file)
	place, err := json.Marshal(map[string]string{"file": slashed, "dir": path.Dir(slashed), "url": "file:///" + strings.TrimPrefix(slashed, "/")})
	if err != nil {
		return "", err
	}
	r := api.Build(api.BuildOptions{Stdin: &api.StdinOptions{Contents: fmt.Sprintf("import * as c from %q; ", file) + code, ResolveDir: filepath.Dir(file)},
		Bundle: true, Format: format, Target: api.ES2017, Platform: api.PlatformNeutral, MainFields: []string{"module", "main"}, Plugins: []api.Plugin{configPlugin}, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8,
		Banner: map[string]string{"js": "globalThis.__config = " + string(place) + ";"},
		Define: map[string]string{"import.meta.url": "__config.url", "import.meta.dirname": "__config.dir", "import.meta.filename": "__config.file", "__dirname": "__config.dir", "__filename": "__config.file"}})
	if len(r.Errors) > 0 {
		for i := range r.Errors {
			r.Errors[i].Notes = advice(r.Errors[i], filepath.Dir(file))
		}
		return "", errors.New(strings.TrimSpace(strings.Join(api.FormatMessages(r.Errors, api.FormatMessagesOptions{}), "")))
	}
	return string(r.OutputFiles[0].Contents), nil
}

var unresolved = regexp.MustCompile(`^Could not resolve "((?:@[^/"]+/)?[^./"@][^/"]*)`)

// advice is what to do about an error of the bundler's, whose own advice is about options
// that users do not have.
func advice(m api.Message, dir string) []api.Note {
	if found := unresolved.FindStringSubmatch(m.Text); found != nil {
		return []api.Note{{Text: fmt.Sprintf("run npm install %s in %s", found[1], dir)}}
	}
	return nil
}

// configPlugin gives files that are made for Node.js what minido has of it.
var configPlugin = api.Plugin{Name: "minido", Setup: func(b api.PluginBuild) {
	known := `^(vitest/config|vite|miniflare|minido/vitest|@cloudflare/(vitest-plugin|vitest-pool-workers(/config)?)|(node:)?(path|url|process))$`
	b.OnResolve(api.OnResolveOptions{Filter: known}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: strings.TrimPrefix(a.Path, "node:"), Namespace: "minido"}, nil
	})
	b.OnResolve(api.OnResolveOptions{Filter: "^(node:|(fs|os|child_process|http|net)(/promises)?$)"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{}, fmt.Errorf("minido test evaluates the configuration without Node.js: %s is not available there", a.Path)
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "minido"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		return api.OnLoadResult{Contents: &configModules}, nil
	})
}}

// settled is the result of a promise that waits for nothing.
func settled(v goja.Value) (string, error) {
	p, ok := v.Export().(*goja.Promise)
	if !ok {
		return "", errors.New("it exports no configuration")
	}
	switch p.State() {
	case goja.PromiseStateFulfilled:
		return p.Result().String(), nil
	case goja.PromiseStateRejected:
		return "", errors.New(p.Result().String())
	default:
		return "", errors.New("it never settles: it waits for something that only Node.js has")
	}
}

// migrations reads the SQL files of a directory, in the order in which they are applied.
func migrations(dir string) ([]any, error) {
	names, err := d1.MigrationFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("readD1Migrations: %w", err)
	}
	list := []any{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("readD1Migrations: %w", err)
		}
		queries := []any{}
		for _, q := range sqlite.Split(string(text)) {
			queries = append(queries, q)
		}
		list = append(list, map[string]any{"name": name, "queries": queries})
	}
	return list, nil
}

// globalSetup runs the files of test.globalSetup, in order. Their provided values are
// added to what tests inject. The function tears down, in the other order.
func (s *settings) globalSetup() (tearDown func() error, err error) {
	var vms []*goja.Runtime
	tearDown = func() error {
		var all []error
		for _, vm := range slices.Backward(vms) {
			end, ok := goja.AssertFunction(vm.Get("tearDown"))
			if !ok {
				continue
			}
			v, err := end(goja.Undefined())
			if err == nil {
				_, err = settled(v)
			}
			if err != nil {
				all = append(all, fmt.Errorf("the teardown of test.globalSetup: %w", err))
			}
		}
		return errors.Join(all...)
	}
	provided, _ := s.Vitest["provide"].(map[string]any)
	for _, file := range s.GlobalSetup {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.root, file)
		}
		text, vm, err := evaluate(file, `import { setUp } from "vitest/config"; globalThis.result = setUp(c, {});`)
		var more map[string]any
		if err == nil {
			err = json.Unmarshal([]byte(text), &more)
		}
		if err != nil {
			return tearDown, &UsageError{fmt.Sprintf("test.globalSetup %s: %v", file, err)}
		}
		vms = append(vms, vm)
		if provided == nil {
			provided = map[string]any{}
		}
		for key, value := range more {
			provided[key] = value
		}
	}
	if provided != nil {
		if s.Vitest == nil {
			s.Vitest = map[string]any{}
		}
		s.Vitest["provide"] = provided
	}
	return tearDown, nil
}
