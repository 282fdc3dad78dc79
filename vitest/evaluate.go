package vitest

import (
	"cmp"
	_ "embed" // the modules that configurations import
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/d1"
	"minido.dev/minido/runtime/bundle/glob"
)

//go:embed js/config.js
var configModules string

// evaluateConfig evaluates a configuration and returns what js/config.js makes of
// its default export, as JSON. One that cannot be evaluated here is evaluated in Node.js,
// if there is one.
func (o *Options) evaluateConfig(file string) (text string, n *node, err error) {
	text, err = o.settle(file, nil)
	if err == nil || o.nodes.program == "" {
		return text, nil, err
	}
	n, startErr := o.nodes.start(o, file)
	if startErr != nil { // no matter of Node.js: it cannot be bundled
		return "", nil, err
	}
	text, err = n.settle(nil)
	return text, n, err
}

// settle evaluates a configuration here, with what test.globalSetup has provided.
func (o *Options) settle(file string, provided map[string]any) (string, error) {
	given, err := json.Marshal(provided)
	if err != nil {
		return "", fmt.Errorf("vitest: %w", err)
	}
	text, _, err := o.evaluate(file, fmt.Sprintf(`import { settle } from "vitest/config"; globalThis.result = settle(c.default, %s);`, given))
	return text, err
}

// settle evaluates a configuration in Node.js.
func (n *node) settle(provided map[string]any) (text string, err error) {
	err = n.ask("settle", map[string]any{"provided": provided}, &text)
	return text, err
}

// evaluate evaluates a file that is made for Node.js, and then code, in which c is
// its namespace and which leaves a promise of a text in globalThis.result. The
// runtime is the caller's.
func (o *Options) evaluate(file, code string) (string, *goja.Runtime, error) {
	script, err := forNode(file, fmt.Sprintf("import * as c from %q; ", file)+code, api.FormatIIFE, configPlugin)
	if err != nil {
		return "", nil, err
	}
	vm := goja.New()
	environ := map[string]string{}
	for _, pair := range o.environ() {
		name, value, _ := strings.Cut(pair, "=")
		environ[name] = value
	}
	if err := vm.Set("__environ", environ); err != nil {
		return "", nil, err
	}
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

// forNode bundles code that imports a file that is made for Node.js.
func forNode(file, code string, format api.Format, plugin api.Plugin) (string, error) {
	slashed := filepath.ToSlash(file)
	place, err := json.Marshal(map[string]string{"file": slashed, "dir": path.Dir(slashed), "url": "file:///" + strings.TrimPrefix(slashed, "/")})
	if err != nil {
		return "", err
	}
	target, maps := api.ES2017, api.SourceMapNone
	if format == api.FormatESModule && plugin.Name == nodePlugin.Name {
		target, maps = api.ES2022, api.SourceMapInline
	}
	r := api.Build(api.BuildOptions{Stdin: &api.StdinOptions{Contents: code, ResolveDir: filepath.Dir(file)},
		Bundle: true, Format: format, Target: target, Platform: api.PlatformNeutral, MainFields: []string{"module", "main"}, Sourcemap: maps, Plugins: []api.Plugin{plugin}, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8,
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

var unresolved = lazyregexp.New(`^Could not resolve "((?:@[^/"]+/)?[^./"@][^/"]*)`)

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
		return api.OnResolveResult{Path: "config", Namespace: "minido"}, nil // one instance for all
	})
	b.OnResolve(api.OnResolveOptions{Filter: "^(node:|(fs|os|child_process|http|net)(/promises)?$)"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{}, fmt.Errorf("minido test evaluates the configuration without Node.js: %s is not available there (with Node.js in PATH, it is evaluated in Node.js)", a.Path)
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "minido"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		text := configModules + fetchMockModule
		return api.OnLoadResult{Contents: &text}, nil
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

// migrations reads SQL files, in the order in which they are applied: those of a directory,
// or, given options as JSON, what a pattern matches.
func migrations(given string) ([]any, error) {
	dir, names, err := given, []string(nil), error(nil)
	if strings.HasPrefix(given, "{") {
		dir, names, err = matchingMigrations(given)
	} else {
		names, err = d1.MigrationFiles(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("readD1Migrations: %w", err)
	}
	list := []any{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("readD1Migrations: %w", err)
		}
		split, err := queries(string(text))
		if err != nil {
			return nil, fmt.Errorf("readD1Migrations: %s: %w", name, err)
		}
		list = append(list, map[string]any{"name": name, "queries": split})
	}
	return list, nil
}

// queries splits the text of a migration as wrangler does: without the semicolons, and
// without what is comments only; a single statement stays as it is.
func queries(text string) (list []any, err error) {
	const begin = "BEGIN TRANSACTION"
	if strings.Contains(text, begin) {
		text = strings.Replace(strings.Replace(text, begin+";", "", 1), "COMMIT;", "", 1)
		if strings.Contains(text, begin) {
			return nil, errors.New("it has several transactions; D1 runs a migration in one of its own")
		}
	}
	if cut := strings.Index(text, ";"); cut >= 0 && strings.TrimSpace(text[cut+1:]) != "" {
		for _, q := range sqlite.Split(text) {
			if q = strings.TrimSpace(strings.TrimSuffix(q, ";")); !onlyComments.MatchString(q) {
				list = append(list, q)
			}
		}
	}
	if list == nil {
		list = []any{text}
	}
	return list, nil
}

// onlyComments matches SQL that does nothing.
var onlyComments = lazyregexp.New(`^(?:\s|--[^\n]*(?:\n|$)|/\*(?s:.*?)\*/)*$`)

// matchingMigrations lists the files of readD1Migrations with options, which are those of a
// wrangler file.
func matchingMigrations(given string) (dir string, names []string, err error) {
	options := struct{ ProjectPath, MigrationsDir, MigrationsPattern string }{}
	if err := json.Unmarshal([]byte(given), &options); err != nil {
		return "", nil, err
	}
	below := path.Clean(filepath.ToSlash(cmp.Or(options.MigrationsDir, "migrations")))
	pattern := path.Clean(filepath.ToSlash(cmp.Or(options.MigrationsPattern, below+"/*.sql")))
	if below != "." {
		rest, ok := strings.CutPrefix(pattern, below+"/")
		if !ok {
			return "", nil, fmt.Errorf("Expected migrations pattern %q to start with %q", pattern, below+"/") //lint:ignore ST1005 the text is the plugin's
		}
		pattern = rest
	}
	dir = filepath.Join(options.ProjectPath, filepath.FromSlash(below))
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, file)
		if err != nil || relErr != nil {
			return cmp.Or(err, relErr)
		}
		if rel = filepath.ToSlash(rel); !d.IsDir() && glob.Match(pattern, rel) {
			names = append(names, rel)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	d1.SortMigrations(names)
	return dir, names, err
}

// tearDownOf is what a file of test.globalSetup left to do, if anything.
func tearDownOf(vm *goja.Runtime) func() error {
	return func() error {
		end, ok := goja.AssertFunction(vm.Get("tearDown"))
		if !ok {
			return nil
		}
		v, err := end(goja.Undefined())
		if err == nil {
			_, err = settled(v)
		}
		return err
	}
}

// setUp runs one file of test.globalSetup here, or in Node.js, if it cannot run here and
// there is one.
func (o *Options) setUp(file string) (provided map[string]any, tearDown func() error, err error) {
	text, vm, err := o.evaluate(file, `import { setUp } from "vitest/config"; globalThis.result = setUp(c, {});`)
	if err == nil {
		tearDown = tearDownOf(vm)
		return provided, tearDown, json.Unmarshal([]byte(text), &provided)
	}
	if o.nodes.program == "" {
		return nil, nil, err
	}
	n, startErr := o.nodes.start(o, file)
	if startErr != nil {
		return nil, nil, err
	}
	if err := n.ask("setup", nil, &text); err != nil {
		return nil, nil, err
	}
	return provided, func() error { return n.ask("teardown", nil, new(any)) }, json.Unmarshal([]byte(text), &provided)
}

// globalSetup runs the files of test.globalSetup, in order. Their provided values are
// added to what tests inject. The function tears down, in the other order.
func (o *Options) globalSetup(s *settings) (tearDown func() error, err error) {
	var ends []func() error
	tearDown = func() error {
		var all []error
		for _, end := range slices.Backward(ends) {
			if err := end(); err != nil {
				all = append(all, fmt.Errorf("the teardown of test.globalSetup: %w", err))
			}
		}
		return errors.Join(all...)
	}
	provided, _ := s.Vitest["provide"].(map[string]any)
	if s.above != nil {
		if inherited, _ := s.above.Vitest["provide"].(map[string]any); inherited != nil {
			inherited = maps.Clone(inherited)
			maps.Copy(inherited, provided)
			provided = inherited
		}
	}
	for _, file := range s.GlobalSetup {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.root, file)
		}
		more, end, err := o.setUp(file)
		if err != nil {
			return tearDown, &UsageError{fmt.Sprintf("test.globalSetup %s: %v", file, err)}
		}
		ends = append(ends, end)
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
	if s.Late {
		return tearDown, o.settleLate(s, provided)
	}
	return tearDown, nil
}

// settleLate evaluates the options of the plugin again that ask for what test.globalSetup
// provides.
func (o *Options) settleLate(s *settings, provided map[string]any) error {
	var text string
	var err error
	if s.node != nil {
		text, err = s.node.settle(provided)
	} else {
		text, err = o.settle(s.file, provided)
	}
	var again rawSettings
	if err == nil {
		err = json.Unmarshal([]byte(text), &again)
	}
	if err != nil {
		return &UsageError{fmt.Sprintf("the configuration %s: %v", s.file, err)}
	}
	if len(again.Projects) > 0 {
		return &UsageError{fmt.Sprintf("the configuration %s: minido test does not support options of a project in test.projects that use inject(); give the project a configuration file of its own", s.file)}
	}
	if again.Late && again.Failed != "" {
		return &UsageError{fmt.Sprintf("the configuration %s: %s", s.file, again.Failed)}
	}
	if len(again.Refused) > 0 {
		return refusal(s.file, again.Refused)
	}
	s.poolSettings = again.poolSettings
	return nil
}
