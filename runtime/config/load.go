package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Options say what to load. The zero value loads the project of the current
// directory, without any process environment.
type Options struct {
	// Dir is the working directory: where the search for a wrangler file
	// begins and what ConfigPath and Entry are relative to. "" means the
	// process's current directory.
	Dir string
	// ConfigPath is an explicit --config; "" searches.
	ConfigPath string
	// Entry is a worker file given on the command line. It takes the place of
	// "main"; the search for a wrangler file begins in its directory, and none
	// is needed.
	Entry string
	// NoFile says that there is no wrangler file: none is looked for.
	NoFile bool
	// Env is --env; "" takes CLOUDFLARE_ENV of Environ, or the top level.
	Env string
	// EnvFiles are the --env-file flags, relative to the wrangler file.
	EnvFiles []string
	// Vars are the --var flags, each KEY:VALUE.
	Vars []string
	// CompatibilityDate and CompatibilityFlags take the place of the wrangler
	// file's, unless they are empty; a date must be valid.
	CompatibilityDate  string
	CompatibilityFlags []string
	// Host, UpstreamProtocol and LocalProtocol take the place of the dev section's,
	// unless they are empty.
	Host, UpstreamProtocol, LocalProtocol string
	// Add is the text of a JSON object whose members are added to the wrangler file's,
	// or to those of its chosen environment: lists get its elements at their ends,
	// objects its members, other values are replaced. AddFrom is how messages name it.
	Add     []byte
	AddFrom string
	// Environ is the process environment in the form of os.Environ. Nothing
	// else of the process is looked at.
	Environ []string
}

// configNames are the names of a wrangler file, in wrangler's order.
var configNames = []string{"wrangler.json", "wrangler.jsonc", "wrangler.toml"}

// Load reads a project. It reads files and nothing else: it starts nothing and
// writes nothing. The diagnostics are the warnings, sorted by place; they are
// returned in any case. Safe for concurrent use.
//
// # Errors
//
// A project that cannot be used gives a *ConfigError, which carries all
// diagnostics, the warnings included.
func Load(options Options) (*Project, []Diagnostic, error) {
	rep := newReport()
	l := &loader{rep: rep, options: options, process: processEnv(options.Environ)}
	project := l.load()
	diagnostics := rep.sorted()
	if rep.failed() || project == nil {
		var warnings []Diagnostic
		for _, d := range diagnostics {
			if d.Severity == SeverityWarning {
				warnings = append(warnings, d)
			}
		}
		return nil, warnings, &ConfigError{Diagnostics: diagnostics}
	}
	return project, diagnostics, nil
}

// loader carries out one Load.
type loader struct {
	rep     *report
	options Options
	process map[string]string
	root    string // absolute Options.Dir
	entry   string // absolute Options.Entry, or ""
	// userFile is the wrangler file that the developer wrote, file the one
	// that is read: they differ when a build tool redirects.
	userFile, file string
	files          []string // everything that was looked at
}

func (l *loader) load() *Project {
	root, err := filepath.Abs(l.options.Dir)
	if err != nil {
		l.fail(Position{}, "cannot find out the current directory: "+err.Error(), "")
		return nil
	}
	l.root = root
	if l.options.Entry != "" {
		l.entry = l.abs(l.options.Entry)
	}
	if !l.find() {
		return nil
	}
	sel := &selection{dir: l.root, name: l.environment()}
	if sel.name != "" {
		if err := ValidateEnvironmentName(sel.name); err != nil {
			l.fail(Position{}, "--env: "+nameProblem(err), "")
			return nil
		}
	}
	if l.file != "" && !l.parse(sel) || !l.add(sel) {
		return nil
	}
	return l.decode(sel)
}

func (l *loader) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(l.root, path)
}

func (l *loader) fail(where Position, message, hint string) {
	l.rep.add(NewDiagnostic(SeverityError, where, nil, message, hint))
}

func (l *loader) environment() string {
	if l.options.Env != "" {
		return l.options.Env
	}
	return l.process[envSelect]
}

// Find is the wrangler file that a project in dir is read from: the nearest one, there
// or above; "" if there is none. dir is absolute.
func Find(dir string) string { return findUp(dir, configNames...) }

// find settles which wrangler file is read; it reports false if there must be
// one and is none.
func (l *loader) find() bool {
	if l.options.ConfigPath != "" {
		l.userFile = l.abs(l.options.ConfigPath)
		l.file = l.userFile
		return true
	}
	if l.options.NoFile {
		return true
	}
	from := l.root
	if l.entry != "" {
		from = filepath.Dir(l.entry)
	}
	l.userFile = findUp(from, configNames...)
	l.file = l.userFile
	if !l.redirect(from) {
		return false
	}
	if l.file == "" && l.entry == "" {
		l.fail(Position{}, fmt.Sprintf("no %s in %s or a directory above it", quoted(configNames), from),
			"name the worker's file: minido dev worker.ts\nor begin a project: minido init\nor write a wrangler.jsonc: {\"name\": \"my-worker\", \"main\": \"src/index.ts\", \"compatibility_date\": \""+
				DefaultCompatibilityDate+"\"}")
		return false
	}
	return true
}

// findUp looks for the names in dir and then in the directories above it. All
// of one name are looked for before the next, as wrangler does.
func findUp(dir string, names ...string) string {
	for _, name := range names {
		for at := dir; ; at = filepath.Dir(at) {
			path := filepath.Join(at, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	return ""
}

// redirectPath is where a build tool (the Vite plugin) names the wrangler file
// that it generated.
const redirectPath = ".wrangler/deploy/config.json"

// redirect follows a redirection, as wrangler dev does. It counts only beside
// the user's own wrangler file.
func (l *loader) redirect(from string) bool {
	path := findUp(from, filepath.FromSlash(redirectPath))
	if path == "" || l.userFile == "" || path != filepath.Join(filepath.Dir(l.userFile), filepath.FromSlash(redirectPath)) {
		return true
	}
	l.files = append(l.files, path)
	at := Position{File: displayPath(l.root, path)}
	text, err := readBounded(path)
	if err != nil {
		l.fail(at, "cannot read the file: "+reason(err), "")
		return false
	}
	var content struct {
		ConfigPath string `json:"configPath"`
	}
	const hint = "delete the file if it is left over from an earlier build, or build again"
	if err := json.Unmarshal(text, &content); err != nil || content.ConfigPath == "" {
		l.fail(at, `this redirection has no "configPath"`, hint)
		return false
	}
	target := filepath.Join(filepath.Dir(path), filepath.FromSlash(content.ConfigPath))
	if filepath.IsAbs(content.ConfigPath) {
		target = content.ConfigPath
	}
	if _, err := readBounded(target); err != nil {
		l.fail(at, fmt.Sprintf("this redirects to %s: %s", displayPath(l.root, target), reason(err)), hint)
		return false
	}
	l.file = target
	l.rep.add(NewDiagnostic(SeverityWarning, at, nil,
		fmt.Sprintf("a build tool redirects to %s, which is used", displayPath(l.root, target)),
		"name the file you wrote with --config to use that instead"))
	return true
}

// parse reads and checks the wrangler file and selects the environment.
func (l *loader) parse(sel *selection) bool {
	shown := displayPath(l.root, l.file)
	l.files = append([]string{l.file}, l.files...)
	if l.userFile != l.file {
		l.files = append(l.files, l.userFile)
	}
	text, err := readBounded(l.file)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "--config takes the path of a wrangler.json, wrangler.jsonc or wrangler.toml"
		}
		l.fail(Position{File: shown}, "cannot read the file: "+reason(err), hint)
		return false
	}
	src := newSource(shown, text)
	switch strings.ToLower(filepath.Ext(l.file)) {
	case ".toml":
		sel.top = parseTOML(src, l.rep)
	case ".json", ".jsonc":
		sel.top = parseJSONC(src, l.rep)
	default:
		l.fail(Position{File: shown}, "this is not a .json, .jsonc or .toml file", "minido dev worker.ts runs a worker without a wrangler file")
	}
	if sel.top == nil {
		return false
	}
	sel.src, sel.dir = src, filepath.Dir(l.file)
	if sel.top.kind != kindObject {
		l.rep.errorAt(sel.top, "", "a wrangler file must hold an object, but this is %s", sel.top.kind.describe())
		return false
	}
	if l.file != l.userFile {
		return l.selectRedirected(sel)
	}
	sel.env = checkFile(l.rep, sel.top, sel.name)
	if sel.env != nil && sel.env.kind != kindObject {
		return false // the schema has reported it
	}
	warnNotInherited(l.rep, sel)
	return true
}

// add adds Options.Add to what was parsed.
func (l *loader) add(sel *selection) bool {
	if len(l.options.Add) == 0 {
		return true
	}
	added := parseJSONC(newSource(l.options.AddFrom, l.options.Add), l.rep)
	if added == nil {
		return false
	}
	checkFile(l.rep, added, "")
	switch {
	case sel.top == nil:
		sel.top, sel.src, sel.dir = added, added.src, l.root
	case sel.env != nil:
		sel.env.merge(added)
	default:
		sel.top.merge(added)
	}
	return true
}

// selectRedirected checks a generated file: its environment was chosen when it
// was built.
func (l *loader) selectRedirected(sel *selection) bool {
	c := &checker{rep: l.rep, elsewhere: explainKey, generated: true}
	c.check("", sel.top, wranglerFile().file)
	if target := sel.top.get("targetEnvironment"); sel.name != "" && target.str() != "" && target.text != sel.name {
		l.rep.errorAt(target, "build again with that environment", "this was built for the environment %q, not for %q", target.text, sel.name)
		return false
	}
	sel.frozen = true
	return true
}

// Named is an Options.Add that gives the worker a name; nothing for "".
func Named(name string) []byte {
	if name == "" {
		return nil
	}
	text, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		panic(err) // a string always marshals
	}
	return text
}
