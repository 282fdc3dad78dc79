package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
)

// Environment variables of minido's own process that steer variable files;
// the names and their meaning are wrangler's.
const (
	envSelect      = "CLOUDFLARE_ENV"
	envLoadDotEnv  = "CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV"
	envIncludeProc = "CLOUDFLARE_INCLUDE_PROCESS_ENV"
)

// varLoader collects the variables of one project. Owned by one Load.
type varLoader struct {
	rep     *report
	sel     *selection
	options Options
	root    string            // absolute Options.Dir
	dir     string            // where variable files are: beside the user's wrangler file
	process map[string]string // Options.Environ
	project *Project
	index   map[string]int // where project.Vars has a name
}

// load fills in Vars, VarFiles, RequiredSecrets and Files. The order, from
// weak to strong: vars of the file; .dev.vars.<env>, or else .dev.vars, or else
// .env, .env.local, .env.<env>, .env.<env>.local, where --env-file replaces all
// of these; --var. (wrangler's getVarsForDev and getBindings.)
func (l *varLoader) load() {
	for _, m := range l.sel.field("vars").entries() {
		l.set(Var{Name: m.key, Value: m.json(), Source: VarFromConfig, Where: m.where()})
	}
	secrets := l.sel.field("secrets")
	l.project.RequiredSecrets = secrets.get("required").texts()

	loaded := l.devVars()
	if loaded == nil && l.enabled(envLoadDotEnv, true) {
		loaded = l.dotEnv(secrets != nil || l.enabled(envIncludeProc, false))
	}
	got := map[string]bool{}
	for _, v := range loaded {
		got[v.Name] = true
		// With a secrets section only declared names get in.
		if secrets != nil && !slices.Contains(l.project.RequiredSecrets, v.Name) && !l.hasVar(v.Name) {
			continue
		}
		if b := l.binding(v.Name); b != nil {
			if v.Source == VarFromFile {
				l.rep.add(NewDiagnostic(SeverityWarning, v.Where, nil,
					fmt.Sprintf("%s is ignored: env.%s is the %s of %s", v.Name, v.Name, b.Kind.Title(), b.Where), ""))
			}
			continue
		}
		l.set(v)
	}
	for _, n := range secrets.get("required").elements() {
		if n.kind == kindString && !got[n.text] && !l.flagSets(n.text) {
			l.rep.warnAt(n, "add it to .dev.vars or .env, or pass --var "+n.text+":VALUE", "the required secret %q has no value", n.text)
		}
	}
	l.flags()
}

func (l *varLoader) hasVar(name string) bool { _, ok := l.index[name]; return ok }

func (l *varLoader) binding(name string) *Binding {
	for i, b := range l.project.Bindings {
		if b.Name == name {
			return &l.project.Bindings[i]
		}
	}
	return nil
}

// set adds a variable; one of the same name keeps its place and changes value.
func (l *varLoader) set(v Var) {
	if i, ok := l.index[v.Name]; ok {
		l.project.Vars[i] = v
		return
	}
	l.index[v.Name] = len(l.project.Vars)
	l.project.Vars = append(l.project.Vars, v)
}

// enabled reads a boolean switch of the process environment.
func (l *varLoader) enabled(name string, fallback bool) bool {
	switch value, ok := l.process[name]; strings.ToLower(value) {
	case "true":
		return true
	case "false":
		return false
	default:
		if ok {
			l.rep.add(NewDiagnostic(SeverityError, Position{}, nil,
				fmt.Sprintf("the environment variable %s must be true or false, but is %q", name, value), ""))
		}
		return fallback
	}
}

// devVars reads .dev.vars.<env> or else .dev.vars; nil if there is neither, or
// an --env-file takes their place. References are not replaced in them.
func (l *varLoader) devVars() []Var {
	if len(l.options.EnvFiles) > 0 {
		return nil
	}
	names := []string{".dev.vars"}
	if l.sel.name != "" {
		names = []string{".dev.vars." + l.sel.name, ".dev.vars"}
	}
	for _, name := range names {
		if entries, ok := l.readFile(filepath.Join(l.dir, name), false); ok {
			out := make([]Var, 0, len(entries))
			for _, e := range entries {
				out = append(out, fileVar(e))
			}
			return out
		}
	}
	return nil
}

// dotEnv reads the .env files, or those of --env-file.
func (l *varLoader) dotEnv(includeProcess bool) []Var {
	names := []string{".env", ".env.local"}
	if l.sel.name != "" {
		names = append(names, ".env."+l.sel.name, ".env."+l.sel.name+".local")
	}
	explicit := len(l.options.EnvFiles) > 0
	if explicit {
		names = l.options.EnvFiles
	}
	var entries []dotenvEntry
	for _, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(l.dir, path)
		}
		more, _ := l.readFile(path, explicit)
		entries = append(entries, more...)
	}
	process := map[string]string{}
	if includeProcess {
		process = l.process
	}
	var out []Var
	inFile := map[string]bool{}
	for _, e := range expandDotenv(l.rep, entries, process) {
		inFile[e.key] = true
		out = append(out, fileVar(e))
	}
	names = names[:0:0]
	for name := range process {
		if !inFile[name] {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		out = append(out, Var{Name: name, Value: jsonString(process[name]), Source: VarFromProcess, Hidden: true})
	}
	return out
}

func fileVar(e dotenvEntry) Var {
	return Var{Name: e.key, Value: jsonString(e.value), Source: VarFromFile, Hidden: true, Where: e.where}
}

func jsonString(s string) []byte {
	var b bytes.Buffer
	writeJSONString(&b, toValidUTF8(s))
	return b.Bytes()
}

// readFile reads one variable file; ok is false if it does not exist. A file
// that was asked for must exist.
func (l *varLoader) readFile(path string, required bool) (entries []dotenvEntry, ok bool) {
	l.project.Files = append(l.project.Files, path)
	shown := displayPath(l.root, path)
	text, err := readBounded(path)
	switch {
	case err == nil:
		l.project.VarFiles = append(l.project.VarFiles, path)
		return parseDotenv(l.rep, shown, text), true
	case errors.Is(err, fs.ErrNotExist) && !required:
	case errors.Is(err, fs.ErrNotExist):
		l.rep.add(NewDiagnostic(SeverityWarning, Position{File: shown}, nil, "this --env-file does not exist",
			"paths are relative to the directory of the wrangler file"))
	default:
		l.rep.add(NewDiagnostic(SeverityError, Position{File: shown}, nil, "cannot read the file: "+reason(err), ""))
	}
	return nil, false
}

// flagSets reports whether a --var sets name.
func (l *varLoader) flagSets(name string) bool {
	return slices.ContainsFunc(l.options.Vars, func(v string) bool { return strings.HasPrefix(v, name+":") })
}

// flags applies --var KEY:VALUE.
func (l *varLoader) flags() {
	for _, flag := range l.options.Vars {
		name, value, ok := strings.Cut(flag, ":")
		if !ok || name == "" {
			// The text is not repeated: it may be a secret with a typing error.
			l.rep.add(NewDiagnostic(SeverityError, Position{}, nil, "--var needs KEY:VALUE", "for example --var GREETING:hello"))
			continue
		}
		if b := l.binding(name); b != nil {
			l.rep.add(l.sel.at(b.Where, SeverityError,
				fmt.Sprintf("--var %s has the name of this %s", name, b.Kind.Title()), "rename one of the two"))
			continue
		}
		l.set(Var{Name: name, Value: jsonString(value), Source: VarFromFlag, Hidden: true})
	}
}

// maxFileBytes bounds every file that this package reads.
const maxFileBytes = 1 << 20

// readBounded reads a regular file of at most maxFileBytes.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", info.Size(), maxFileBytes)
	}
	return os.ReadFile(path)
}

// reason is an error without the path that the diagnostic already names.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "it does not exist"
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// processEnv turns KEY=VALUE strings into a map. On Windows names are upper
// case, because they do not distinguish case there.
func processEnv(environ []string) map[string]string {
	out := make(map[string]string, len(environ))
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		out[name] = value
	}
	return out
}
