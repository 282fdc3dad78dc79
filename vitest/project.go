package vitest

import (
	"crypto/sha256"
	_ "embed" // the modules of the suites
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/vitest/bundled"
)

// The modules that suites import.
var (
	//go:embed js/suite.js
	suiteModule string
	//go:embed js/cloudflare-test.js
	cloudflareTestModule string
	//go:embed js/fetch-mock.js
	fetchMockModule string
	//go:embed js/minido-test.js
	minidoTestModule string
)

// packages is the project's installation of vitest, or own.
type packages struct {
	version string
	major   int             // of version
	own     *bundled.Vitest // minido's, where the project has none; nothing below is there then
	vitest  string          // directory
	runner  string          // directory of @vitest/runner
	utils   string          // directory of @vitest/utils
	mocker  string          // directory of @vitest/mocker
	spy     string          // directory of @vitest/spy
}

// locate finds vitest from the project's directory, and from vitest, as packages
// find each other, what it is made of. A project without one gets what load loads.
func locate(dir string, load func() (*bundled.Vitest, error)) (*packages, error) {
	root, version, err := installed(dir, "vitest")
	if err != nil {
		return nil, err
	}
	if root == "" {
		own, err := load()
		if errors.Is(err, bundled.ErrNone) {
			return nil, &UsageError{fmt.Sprintf("the package vitest is not installed in %s, and %v: npm install --save-dev vitest (minido test runs the project's own vitest, without Node.js)", dir, err)}
		}
		if err != nil {
			return nil, err
		}
		return &packages{version: own.Version(), own: own}, nil
	}
	major, err := strconv.Atoi(strings.Split(version, ".")[0])
	if err != nil || major < 3 {
		return nil, &UsageError{fmt.Sprintf("vitest %s is installed; minido test runs vitest 3 and newer: npm install --save-dev vitest", version)}
	}
	p := &packages{version: version, major: major, vitest: root}
	parts := map[string]*string{"runner": &p.runner, "utils": &p.utils, "mocker": &p.mocker, "spy": &p.spy}
	if major >= 5 { // the others are within vitest
		parts = map[string]*string{"mocker": &p.mocker}
	}
	for name, at := range parts { // order-independent: each is looked up by itself
		if *at, _, err = installed(root, "@vitest/"+name); err != nil {
			return nil, err
		}
		if *at == "" {
			return nil, &UsageError{fmt.Sprintf("the package @vitest/%s, which vitest %s needs, is not installed in %s: npm install", name, version, dir)}
		}
	}
	return p, nil
}

// installed finds a package in the node_modules of dir and the directories above. The
// root is "" if there is none.
func installed(dir, name string) (root, version string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		root := filepath.Join(at, "node_modules", filepath.FromSlash(name))
		text, err := os.ReadFile(filepath.Join(root, "package.json"))
		if err == nil {
			var p struct{ Version string }
			if err := json.Unmarshal(text, &p); err != nil {
				return "", "", &UsageError{fmt.Sprintf("%s: %v", filepath.Join(root, "package.json"), err)}
			}
			if real, err := filepath.EvalSymlinks(root); err == nil {
				root = real
			}
			return root, p.Version, nil
		}
		if filepath.Dir(at) == at {
			return "", "", nil
		}
	}
}

// project is what is bundled: the worker, its suites and their runner.
type project struct {
	options  *Options
	settings *settings
	packages *packages
	worker   *config.Project
	config   config.Options // of the worlds
	others   []config.Options
	entry    string // the generated main file
	files    []string
}

// load reads the configuration of the worker, and finds the files.
func (o *Options) load(s *settings) (p *project, err error) {
	p = &project{options: o, settings: s}
	if p.packages, err = locate(s.root, bundled.Load); err != nil {
		return nil, err
	}
	p.config = config.Options{Dir: s.dir(o), ConfigPath: s.Wrangler, Env: s.Environment, Environ: o.Environ, CompatibilityDate: s.Date}
	if s.Main != "" && s.Wrangler == "" {
		p.config.Entry = s.Main
	}
	p.config.NoFile = s.Plugin && s.Wrangler == "" // as the plugin
	for _, name := range slices.Sorted(maps.Keys(s.Bindings)) {
		p.config.Vars = append(p.config.Vars, name+":"+s.Bindings[name])
	}
	if len(s.Add) > 0 {
		p.config.Add, p.config.AddFrom = s.Add, filepath.Base(s.file)
	}
	if p.worker, _, err = config.Load(p.config); err != nil {
		return nil, err
	}
	p.config.CompatibilityFlags = withFlags(slices.Concat(p.worker.CompatibilityFlags, s.Flags))
	if p.worker.ConfigFile != "" {
		p.config.ConfigPath = p.worker.ConfigFile
	}
	for _, f := range p.serializers() {
		if !isModule(f) {
			return nil, &UsageError{fmt.Sprintf("test.snapshotSerializers: there is no %s", f)}
		}
	}
	for _, f := range p.setup() {
		if !isModule(f) {
			return nil, &UsageError{fmt.Sprintf("test.setupFiles: there is no %s", f)}
		}
	}
	if p.others, err = o.auxiliaries(s); err != nil {
		return nil, err
	}
	if p.files, err = o.find(s); err != nil {
		return nil, err
	}
	return p, nil
}

// dir is where the search for a wrangler file begins: with the plugin's options, the
// project's root, as with the plugin.
func (s *settings) dir(o *Options) string {
	switch {
	case s.Plugin:
		return s.root
	case s.file != "":
		return filepath.Dir(s.file)
	}
	return o.Dir
}

// withFlags adds what the runner needs, as Cloudflare's pool does.
func withFlags(flags []string) []string {
	flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return f == "no_nodejs_compat" || f == "disable_ctx_exports" })
	for _, f := range []string{"nodejs_compat", "enable_ctx_exports"} {
		if !slices.Contains(flags, f) {
			flags = append(flags, f)
		}
	}
	return workflowFlags(flags)
}

// workflowFlags are flags with which the messages of workflows are those of local
// development: there they depend on the flags that are set, not on the date.
func workflowFlags(flags []string) []string {
	if slices.Contains(flags, "workflows_preserve_non_retryable_error_message") || slices.Contains(flags, "workflows_replace_non_retryable_error_message") {
		return flags
	}
	return append(slices.Clip(flags), "workflows_replace_non_retryable_error_message")
}

// generate writes the main file of the worlds: the worker's exports, its objects
// wrapped so that tests can enter them, and the suites.
func (p *project) generate(files []string) error {
	var sb strings.Builder
	quote := func(s string) string { return strconv.Quote(filepath.ToSlash(s)) }
	sb.WriteString("import { wrapDefault, wrapObject } from \"minido:suite\";\n")
	main := "{}"
	if p.worker.Main != "" {
		main = "main"
		fmt.Fprintf(&sb, "import * as main from %s;\nexport * from %s;\n", quote(p.worker.Main), quote(p.worker.Main))
	}
	for _, c := range p.worker.Classes {
		fmt.Fprintf(&sb, "export const %s = wrapObject(%s.%s, %q, %s);\n", c.ClassName, main, c.ClassName, c.ClassName, quote(p.worker.Main))
	}
	sb.WriteString(p.packages.parts(quote))
	sb.WriteString("const files = {\n")
	for _, f := range slices.Concat(p.setup(), p.serializers(), files) {
		fmt.Fprintf(&sb, "  %s: () => import(%s),\n", quote(f), quote(f))
	}
	again := "async () => ({})"
	if p.worker.Main != "" {
		again = fmt.Sprintf("() => import(%s)", quote(p.worker.Main))
	}
	fmt.Fprintf(&sb, "};\nexport default wrapDefault(%s.default, { runner, files, main: %s, path: %s, reset: () => vi.resetModules() });\n", main, again, quote(p.worker.Main))
	dir, err := generated(p.options.CacheDir, "main", map[string]string{"main.js": sb.String()})
	p.entry = filepath.Join(dir, "main.js")
	return err
}

// parts is a function of the main file that imports vitest, and what runs it.
func (p *packages) parts(quote func(string) string) string {
	if p.own != nil {
		return fmt.Sprintf(`async function runner() {
  const vitest = await import("vitest");
  return { vitest, TestRunner: vitest.TestRunner, ...vitest.%s };
}
`, bundled.Parts)
	}
	if p.major >= 5 {
		return fmt.Sprintf(`async function runner() {
  const vitest = await import(%s);
  const { startTests, processError, setSafeTimers } = await import(%s);
  const mocker = await import(%s);
  const spy = await import(%s);
  return { vitest, TestRunner: vitest.TestRunner, mocker, spy, startTests, processError, setSafeTimers };
}
`, quote(filepath.Join(p.vitest, "dist", "index.js")), quote(filepath.Join(p.vitest, "dist", "browser.js")),
			quote(filepath.Join(p.mocker, "dist", "index.js")), quote(filepath.Join(p.vitest, "dist", "spy.js")))
	}
	runner := `const { TestRunner } = vitest;`
	timers := "timers.js"
	if p.major == 3 {
		timers = "index.js"
		runner = fmt.Sprintf("const { VitestTestRunner: TestRunner } = await import(%s);", quote(filepath.Join(p.vitest, "dist", "runners.js")))
	}
	return fmt.Sprintf(`async function runner() {
  const vitest = await import(%s);
  const { startTests } = await import(%s);
  const { processError } = await import(%s);
  const { setSafeTimers } = await import(%s);
  const mocker = await import(%s);
  const spy = await import(%s);
  %s
  return { vitest, TestRunner, startTests, processError, setSafeTimers, mocker, spy };
}
`, quote(filepath.Join(p.vitest, "dist", "index.js")), quote(filepath.Join(p.runner, "dist", "index.js")), quote(filepath.Join(p.utils, "dist", "error.js")), quote(filepath.Join(p.utils, "dist", timers)),
		quote(filepath.Join(p.mocker, "dist", "index.js")), quote(filepath.Join(p.spy, "dist", "index.js")), runner)
}

// generated writes files into a directory of the cache whose name says what they hold:
// several processes may run tests of a project at the same time. It returns the
// directory.
func generated(cache, name string, files map[string]string) (string, error) {
	paths, hash := slices.Sorted(maps.Keys(files)), sha256.New()
	for _, path := range paths {
		fmt.Fprintf(hash, "%q %q\n", path, files[path])
	}
	dir := filepath.Join(cache, fmt.Sprintf("%s-%x", name, hash.Sum(nil)[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	temporary, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", fmt.Errorf("vitest: %w", err)
	}
	for _, path := range paths {
		at := filepath.Join(temporary, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return "", fmt.Errorf("vitest: %w", err)
		}
		if err := os.WriteFile(at, []byte(files[path]), 0o600); err != nil {
			return "", fmt.Errorf("vitest: %w", err)
		}
	}
	if err := os.Rename(temporary, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", fmt.Errorf("vitest: %w", err)
		}
		// Another process was faster.
		if err := os.RemoveAll(temporary); err != nil {
			return "", fmt.Errorf("vitest: %w", err)
		}
	}
	return dir, nil
}

// setup are the setup files, absolute.
func (p *project) setup() []string { return p.settings.absolute(p.settings.SetupFiles) }

// serializers are the modules of test.snapshotSerializers, absolute.
func (p *project) serializers() []string {
	return p.settings.absolute(p.settings.SnapshotSerializers)
}

// absolute are paths below the root.
func (s *settings) absolute(paths []string) (files []string) {
	for _, f := range paths {
		if !filepath.IsAbs(f) {
			f = filepath.Join(s.root, f)
		}
		files = append(files, f)
	}
	return files
}

// isModule reports whether there is a file or a directory of this name, extension
// or not.
func isModule(path string) bool {
	return slices.ContainsFunc([]string{"", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}, func(ext string) bool {
		_, err := os.Stat(path + ext)
		return err == nil
	})
}

// conditions are those of packages' exports that vite has with Cloudflare's plugin, and
// fallback those that it tries where a package exports nothing under them.
var (
	conditions = []string{"workerd", "worker", "module", "browser", "development"}
	fallback   = []string{"node", "module-sync"}
)

// amend adds the runner's modules to a bundle.
func (p *project) amend(b *bundle.Options) {
	modules := map[string]string{"minido:suite": suiteModule, "cloudflare:test": cloudflareTestModule, "minido:fetch-mock": fetchMockModule + "export const fetchMock = new MockAgent().replaces();\n", "minido:test": minidoTestModule}
	if own := p.packages.own; own != nil {
		modules["vitest"] = own.Module
	}
	maps.Copy(modules, b.Virtual)
	b.Virtual = modules
	for from, to := range p.settings.Alias {
		b.Alias[from] = to
	}
	b.Root = p.settings.root
	b.Mocks, b.Rewrites = true, p.settings.rewrites
	if b.Entry == p.entry {
		b.Conditions, b.Fallback = conditions, fallback
		p.options.measure.count(b)
	}
	b.Define["import.meta.env"] = "globalThis.__vitest_worker__.metaEnv"
	for _, process := range []string{"process", "global.process", "globalThis.process"} { // tests stub it
		b.Define[process+".env.NODE_ENV"] = "globalThis.__vitest_worker__.metaEnv.NODE_ENV"
	}
	for from, to := range p.settings.Define {
		b.Define[from] = to
	}
}
