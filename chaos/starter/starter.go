// Package starter writes the first files of a project: a worker where there is none,
// a scenario and tests for its objects, and a CI file. It changes no file that is there.
package starter

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/scenario"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/version"
	"minido.dev/minido/runtime/config"
)

//go:embed all:templates
var templates embed.FS

// The templates of new projects: the first needs no packages, the second is one with
// npm agents.
const (
	DurableObject = "durable-object"
	Agent         = "agent"
)

// Options say what to write where.
type Options struct {
	// Dir is the project's directory; it is made if it does not exist.
	Dir string
	// Env is the environment of the wrangler file, in a project that has one.
	Env string
	// Template is what a directory without a wrangler file gets.
	Template string
	// CI is "github", "gitlab", "none", or "auto": GitLab where its file is at the top
	// of the repository, else GitHub.
	CI string
}

// File is one that Write meant to write.
type File struct {
	Path string // relative to Result.Dir
	Kept bool   // it was there, and was left as it is
}

// Result is what Write did.
type Result struct {
	// Dir is the project's directory, which can lie above the one that was named; absolute.
	Dir   string
	Files []File
	// New says that there was no wrangler file.
	New bool
	// Packages says that npm packages have to be installed before the worker runs.
	Packages bool
	// TestPackages is the npm command after which its tests run, "" if nothing is missing.
	TestPackages string
}

// Write makes the files. It asks nothing, and does not overwrite.
//
// # Errors
//
// *chaos.UsageError for a wrangler file that is wrong, or that binds no object.
func Write(o Options) (Result, error) {
	w := &writer{dir: o.Dir}
	_, err := os.Stat(o.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.result.New = true // also below a directory with a wrangler file
	case err != nil:
		return Result{}, fmt.Errorf("init: %w", err)
	default:
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return Result{}, fmt.Errorf("init: %w", err)
		}
		w.result.New = config.Find(dir) == ""
	}
	if w.result.New {
		if err := w.project(o.Template); err != nil {
			return w.result, err
		}
	}
	project, err := chaos.LoadProject(o.Dir, o.Env, nil)
	if err != nil {
		return w.result, err
	}
	// A project found above the directory is where the files belong.
	w.dir, w.result.Dir = project.Dir, project.Dir
	if err := w.scenario(project); err != nil {
		return w.result, err
	}
	if err := w.tests(project); err != nil {
		return w.result, err
	}
	if err := w.packages(); err != nil {
		return w.result, err
	}
	return w.result, w.ci(o.CI)
}

// Scenario writes a first scenario for the project and the types beside it, and
// returns their paths.
//
// # Errors
//
// *chaos.UsageError when the project binds no object, or a file is there already.
func Scenario(project *config.Project) ([]string, error) {
	files, err := scenarioFiles(project)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(project.Dir, f.name)); err == nil {
			return nil, &chaos.UsageError{Text: filepath.Join(project.Dir, f.name) + " is there already; remove it first."}
		}
	}
	w := &writer{dir: project.Dir}
	var written []string
	for _, f := range files {
		if err := w.write(f.name, f.text); err != nil {
			return nil, err
		}
		written = append(written, filepath.Join(project.Dir, f.name))
	}
	return written, nil
}

type file struct{ name, text string }

func scenarioFiles(project *config.Project) ([]file, error) {
	var names []string
	for _, b := range local(project) {
		names = append(names, b.ClassName)
	}
	if len(names) == 0 {
		return nil, &chaos.UsageError{Text: project.Relative(project.ConfigFile) + " binds no Durable Object: there is nothing whose crash matters."}
	}
	classes, err := scenario.Classes(project.Dir, names)
	if err != nil {
		return nil, fmt.Errorf("init: %w", err)
	}
	name := project.Name
	if name == "" {
		name = "first"
	}
	return []file{{name + scenario.Suffix, scenario.Template(name, classes)}, {"minido-chaos.d.ts", scenario.Types}}, nil
}

// writer writes below dir.
type writer struct {
	dir    string
	result Result
	vitest bool // the project's package.json has it
}

// write makes a file, unless it is there.
func (w *writer) write(name, text string) error {
	target := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		w.result.Files = append(w.result.Files, File{name, true})
		return nil
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	w.result.Files = append(w.result.Files, File{name, false})
	return nil
}

var notInName = lazyregexp.New(`[^a-z0-9-]+`)

// project writes a new project from a template, named after its directory.
func (w *writer) project(template string) error {
	dir, err := filepath.Abs(w.dir)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if name == "" {
		name = "worker"
	}
	root := path.Join("templates", template)
	err = fs.WalkDir(templates, root, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel := strings.TrimPrefix(p, root+"/")
		if rel == "name.chaos.ts" {
			rel = name + scenario.Suffix
		}
		return w.template(p, rel, name, "")
	})
	if err != nil {
		return err
	}
	if err := w.write("minido-chaos.d.ts", scenario.Types); err != nil {
		return err
	}
	for _, f := range []file{{"minido-test.d.ts", "minido-test.d.ts"}, {"tsconfig.json", "tsconfig.json"}, {".gitignore", "gitignore"}} {
		if err := w.template("templates/"+f.text, f.name, name, ""); err != nil {
			return err
		}
	}
	return nil
}

// template writes an embedded file with its placeholders filled.
func (w *writer) template(from, to, name, install string) error {
	b, err := templates.ReadFile(from)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	text := string(b)
	if before, tests, found := strings.Cut(text, "{{tests}}\n"); found { // to its end: the job that runs them
		if text = before; w.vitest {
			text += tests
		}
	}
	return w.write(to, strings.NewReplacer("{{name}}", name, "{{directory}}", name, "{{version}}", version.Number(), "{{install}}", install).Replace(text))
}

// scenario writes a first scenario, unless the project has one.
func (w *writer) scenario(project *config.Project) error {
	there, err := filepath.Glob(filepath.Join(w.dir, "*"+scenario.Suffix))
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if len(there) > 0 {
		if !w.result.New {
			w.result.Files = append(w.result.Files, File{filepath.Base(there[0]), true})
		}
		return nil
	}
	files, err := scenarioFiles(project)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := w.write(f.name, f.text); err != nil {
			return err
		}
	}
	return nil
}

// ci writes the CI file at the top of the repository. Packages are installed there from
// a lockfile, if there is one.
func (w *writer) ci(kind string) error {
	top := w.top()
	within, err := filepath.Rel(top, w.dir)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	up, err := filepath.Rel(w.dir, top)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	within, up = filepath.ToSlash(within), filepath.ToSlash(up)
	if kind == "auto" {
		kind = "github"
		if _, err := os.Stat(filepath.Join(top, ".gitlab-ci.yml")); err == nil {
			kind = "gitlab"
		}
	}
	var first []string // what is run before the campaign
	if within != "." && kind == "gitlab" {
		first = append(first, "cd "+chaos.Quote(within))
	}
	if _, err := os.Stat(filepath.Join(w.dir, "package.json")); err == nil {
		command := "npm install --ignore-scripts"
		if _, err := os.Stat(filepath.Join(w.dir, "package-lock.json")); err == nil {
			command = "npm ci --ignore-scripts"
		}
		first = append(first, command)
	}
	lines := func(before string) (text string) {
		for _, command := range first {
			text += before + command + "\n"
		}
		return text
	}
	switch kind {
	case "github":
		directory := ""
		if within != "." {
			directory = "    defaults:\n      run:\n        working-directory: " + within + "\n"
		}
		return w.template("templates/ci/github.yml", path.Join(up, ".github/workflows/chaos.yml"), directory, lines("      - run: "))
	case "gitlab":
		directory := ""
		if within != "." {
			directory = within + "/"
		}
		return w.template("templates/ci/gitlab.yml", path.Join(up, "minido.gitlab-ci.yml"), directory, lines("    - "))
	}
	return nil
}

// top is the directory of the repository that the project lies in; the project's own
// without one.
func (w *writer) top() string {
	for dir := w.dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return w.dir
		}
	}
}
