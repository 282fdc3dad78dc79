package vitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"minido.dev/minido/runtime/bundle"
)

// settings are what of vitest's configuration a run uses.
type settings struct {
	root string // absolute
	file string // the configuration, or ""

	Include, Exclude, SetupFiles []string
	IncludeSource                []string // source files with tests of their own in them
	SnapshotSerializers          []string // modules
	Globals                      bool
	TestTimeout, HookTimeout     float64 // milliseconds
	Retry, Bail                  int
	Alias, Define                map[string]string
	Patterns                     []struct{ Find, To string } // aliases by regular expression
	rewrites                     []bundle.Rewrite            // of Patterns
	Env                          map[string]string
	// Vitest is the rest of what the runner is told.
	Vitest map[string]any
	poolSettings
	// Late says that the plugin's options use what test.globalSetup provides; Failed is why
	// they could not be had without, "" if they could.
	Late   bool
	Failed string
	node   *node // where the configuration was evaluated, nil for here
	// Name is the project's, "" for one without.
	Name string
	// above is the configuration whose test.projects name this one, nil for none: its
	// globalSetup runs before all of them, and they inject what it provides.
	above *settings
	// GlobalSetup are modules that run once before all files.
	GlobalSetup []string
	// Projects are those of test.projects: settings of their own, or a path.
	Projects []struct {
		Path     string
		Settings *rawSettings
	}
	// Coverage is test.coverage, nil without it (coverage.Options).
	Coverage json.RawMessage
	// Refused names options that are set and not supported.
	Refused []string
}

// poolSettings are the plugin's options.
type poolSettings struct {
	// Wrangler and Environment are the plugin's wrangler options, Main its main.
	Wrangler, Environment, Main string
	// Plugin says that there are options of the plugin.
	Plugin bool
	// Lenient says that an unhandled rejection fails nothing.
	Lenient bool
	// Isolated gives each test storage of its own.
	Isolated bool
	// Bindings, Date and Flags are the plugin's miniflare options that are known.
	Bindings map[string]string
	// Add is what they add to the wrangler file.
	Add json.RawMessage
	// Others are the workers beside the one that is tested.
	Others []auxiliary
	// Functions are the numbers of the functions that the options bind to, Assets the
	// directories that services with assets have.
	Functions []int
	Assets    []string
	// Outbound is the name of the worker that answers what goes out, "" for none.
	Outbound string
	Date     string
	Flags    []string
}

// refusal names options that are set and not supported, each with its line.
func refusal(file string, options []string) error {
	if len(options) == 1 {
		return &UsageError{fmt.Sprintf("the configuration %s: minido test does not support %s; take it out, or run this project with vitest", inConfig(file, options[0]), options[0])}
	}
	text := fmt.Sprintf("the configuration %s: minido test does not support", file)
	for _, option := range options {
		text += fmt.Sprintf("\n  %s: %s", inConfig(file, option), option)
	}
	return &UsageError{text + "\nTake them out, or run this project with vitest."}
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
func (o *Options) settings() ([]*settings, error) {
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
	text, n, err := "{}", (*node)(nil), error(nil)
	if file != "" {
		if text, n, err = o.evaluateConfig(file); err != nil {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: %v", file, err)}
		}
	}
	var raw rawSettings
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, &UsageError{fmt.Sprintf("the configuration %s: %v", file, err)}
	}
	all, err := o.each(&raw, file)
	for _, s := range all { // vitest has one for all projects
		s.Coverage = raw.Coverage
		if s.file == file {
			s.node = n
		}
	}
	return all, err
}

// rawSettings are settings as js/config.js returns them.
type rawSettings struct {
	settings
	Root string
}

// each are the settings of a configuration's projects; of one without, its own.
func (o *Options) each(raw *rawSettings, file string) ([]*settings, error) {
	if len(raw.Refused) > 0 {
		return nil, refusal(file, raw.Refused)
	}
	if len(raw.Projects) == 0 {
		s := raw.settings
		for _, p := range s.Patterns {
			pattern, err := regexp.Compile(p.Find)
			if err != nil {
				return nil, refusal(file, []string{fmt.Sprintf("the alias by the regular expression /%s/ (%v)", p.Find, err)})
			}
			s.rewrites = append(s.rewrites, bundle.Rewrite{Pattern: pattern, To: p.To})
		}
		s.file = file
		s.root = o.rootOf(raw)
		s.defaults()
		return []*settings{&s}, nil
	}
	above := raw.settings
	above.file, above.root, above.Late = file, o.rootOf(raw), false
	all, err := o.below(raw, file)
	for _, s := range all {
		if s.above == nil {
			s.above = &above
		}
	}
	return all, err
}

// rootOf is where a configuration's paths begin.
func (o *Options) rootOf(raw *rawSettings) string {
	if raw.Root == "" || filepath.IsAbs(raw.Root) {
		return cmp.Or(raw.Root, o.Dir)
	}
	return filepath.Join(o.Dir, raw.Root)
}

// below are the settings of the projects that a configuration names.
func (o *Options) below(raw *rawSettings, file string) ([]*settings, error) {
	var all []*settings
	for _, p := range raw.Projects {
		if p.Settings != nil {
			more, err := o.each(p.Settings, file)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
			continue
		}
		if strings.HasPrefix(p.Path, "!") {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: test.projects: %q: minido test does not exclude projects; name those that run", file, p.Path)}
		}
		found, err := filepath.Glob(filepath.Join(o.Dir, filepath.FromSlash(p.Path)))
		if err != nil || len(found) == 0 {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: test.projects: there is no %q", file, p.Path)}
		}
		for _, at := range found {
			sub := *o
			sub.Config = ""
			if st, err := os.Stat(at); err != nil || !st.IsDir() {
				sub.Config, at = at, filepath.Dir(at)
			}
			sub.Dir = at
			more, err := sub.settings()
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
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
