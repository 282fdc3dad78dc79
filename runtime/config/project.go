package config

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// Project is one worker as its configuration describes it, with one
// environment selected. Immutable after Load: nobody writes to it or to what
// its slices and maps hold, so any number of goroutines may read it. Paths are
// absolute.
type Project struct {
	// ConfigFile is the wrangler file, "" for a bare worker.
	ConfigFile string
	// Dir is what relative paths of the file are relative to: the directory of
	// ConfigFile, or Options.Dir for a bare worker.
	Dir string
	// Files are all files whose change can change this Project: the wrangler
	// file and every variable file that was looked for, present or not.
	Files []string

	// Name is the worker's name, with the environment's suffix where wrangler
	// adds one; "worker" if the file gives none. It is safe as a path segment.
	Name string
	// Environment is the selected environment, "" for the top level.
	Environment string

	// Main is the entry file; "" for a worker that has only assets.
	Main      string
	MainWhere Position
	// BaseDir is where module rules look for additional modules: base_dir, or
	// the directory of Main.
	BaseDir string
	// NoBundle asks for Main to be loaded as it is.
	NoBundle bool
	// FindAdditionalModules asks for the files below BaseDir that match Rules.
	// It defaults to NoBundle.
	FindAdditionalModules bool
	PreserveFileNames     bool
	// Rules are the module rules that count, most important first: the file's
	// and, for types that those do not settle, wrangler's defaults.
	Rules []Rule
	// Build is the custom build; its Command is "" if there is none.
	Build Build
	// TSConfig is an explicit tsconfig, "" to let the bundler find one.
	TSConfig                string
	JSXFactory, JSXFragment string
	Minify, KeepNames       bool
	// Define and Alias keep the order of the file.
	Define, Alias []KeyValue

	// CompatibilityDate is valid and at most LatestCompatibilityDate.
	CompatibilityDate string
	// CompatibilityDateWhere is zero when the file does not set it.
	CompatibilityDateWhere Position
	CompatibilityFlags     []string

	// Vars are the variables and secrets of env, after all overrides.
	Vars []Var
	// VarFiles are the variable files that were read, in order.
	VarFiles []string
	// RequiredSecrets are the names under secrets.required.
	RequiredSecrets []string

	// Bindings are all other properties of env, Durable Object namespaces and
	// assets included.
	Bindings []Binding
	// Attachments are configured parts that are not on env.
	Attachments []Attachment

	// DurableObjects are the namespaces on env.
	DurableObjects []DurableObjectBinding
	// Classes are the Durable Object classes that live in this worker: bound
	// ones first, then those that are only declared.
	Classes    []DurableObjectClass
	Migrations []Migration
	Exports    []Export

	// Crons are the cron triggers.
	Crons  []Cron
	Limits Limits
	// Observability is the section as it stands in the file; nil if missing.
	Observability map[string]any
	// Assets is nil if the worker has none.
	Assets *Assets
	Dev    Dev
	// Zone is the zone_name of the first route, "" if it gives none.
	Zone string
}

// KeyValue is one entry of a string map.
type KeyValue struct {
	Key, Value string
	Where      Position
}

// Rule assigns a module type to files. Type is one of wrangler's: "ESModule",
// "CommonJS", "CompiledWasm", "Text", "Data", "PythonModule",
// "PythonRequirement".
type Rule struct {
	Type  string
	Globs []string
	// Default marks wrangler's own rules.
	Default bool
	// Where is zero for default rules.
	Where Position
}

// Build is a custom build.
type Build struct {
	// Command is a shell command; "" for none.
	Command string
	// Cwd is where it runs: build.cwd or Project.Dir.
	Cwd string
	// WatchDirs are watched for changes; "./src" by default.
	WatchDirs []string
	Where     Position
}

// Cron is one cron trigger.
type Cron struct {
	Expression string
	Where      Position
}

// Limits are the limits section; 0 means not set.
type Limits struct {
	CPUMilliseconds int
	Subrequests     int
}

// Dev is the dev section: defaults for the command line. Zero fields are not
// set in the file.
type Dev struct {
	IP            string
	Port          int
	PortSet       bool // "port": 0 asks for any free port
	InspectorPort int
	LocalProtocol string // "http" or "https"
	// Host and UpstreamProtocol are what request.url says instead of the server's own:
	// dev.host or the host of the first route, "" for neither, and "http" or "https", "" for http.
	Host             string
	UpstreamProtocol string
	IPWhere          Position
	PortWhere        Position
	ProtocolWhere    Position
}

// Assets is the assets section, defaults filled in.
type Assets struct {
	// Directory is absolute.
	Directory string
	// Binding is the name on env, "" for none.
	Binding string
	// HTMLHandling is "auto-trailing-slash" (the default),
	// "force-trailing-slash", "drop-trailing-slash" or "none".
	HTMLHandling string
	// NotFoundHandling is "none" (the default), "404-page" or
	// "single-page-application".
	NotFoundHandling string
	// BasePath is base_path as it stands.
	BasePath string
	// RunWorkerFirst sends every request to the worker before any asset.
	RunWorkerFirst bool
	// WorkerFirst and AssetsFirst are the rules of run_worker_first when it is
	// a list: paths with "*", the latter without their "!". A path that matches
	// AssetsFirst goes to the assets even if it matches WorkerFirst.
	WorkerFirst, AssetsFirst []string
	Where                    Position
}

// VarSource says where a variable's value comes from.
type VarSource uint8

// The sources, each overriding the ones before.
const (
	// VarFromConfig is the vars section of the wrangler file.
	VarFromConfig VarSource = iota
	// VarFromFile is .dev.vars, .env or an --env-file.
	VarFromFile
	// VarFromProcess is minido's own environment, where the user asked for it.
	VarFromProcess
	// VarFromFlag is --var on the command line.
	VarFromFlag
)

// Var is one variable or secret on env. Immutable.
type Var struct {
	Name string
	// Value is JSON. Everything that does not come from the wrangler file is a
	// JSON string.
	Value  json.RawMessage
	Source VarSource
	// Hidden marks values that must not be printed.
	Hidden bool
	// Where points at the definition; zero for process environment and flags.
	Where Position
}

// Text returns the value of a string variable, and whether it is one.
func (v Var) Text() (string, bool) {
	if len(v.Value) == 0 || v.Value[0] != '"' {
		return "", false
	}
	var s string
	if json.Unmarshal(v.Value, &s) != nil {
		return "", false
	}
	return s, true
}

// Display is what start-up prints for the value: "(hidden)" or the JSON text,
// shortened to 60 code points.
func (v Var) Display() string {
	if v.Hidden {
		return "(hidden)"
	}
	text := []rune(printable(string(v.Value)))
	if len(text) > 60 {
		return string(text[:57]) + "..."
	}
	return string(text)
}

// Class returns the Durable Object class of this worker called name.
func (p *Project) Class(name string) (DurableObjectClass, bool) {
	for _, c := range p.Classes {
		if c.ClassName == name {
			return c, true
		}
	}
	return DurableObjectClass{}, false
}

// Relative renders a path for people: relative to Dir if it
// lies near it.
func (p *Project) Relative(path string) string { return displayPath(p.Dir, path) }

// displayPath renders path relative to dir, unless that would climb more than
// three levels.
func displayPath(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || strings.HasPrefix(filepath.ToSlash(rel), "../../../../") {
		return path
	}
	return filepath.ToSlash(rel)
}
