package starter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/config"
)

// firstTest is where the first tests are written, relative to the project.
const firstTest = "test/first.test.ts"

// suite is what minido test takes for a file of tests.
var suite = lazyregexp.New(`\.(test|spec)\.[cm]?[jt]sx?$`)

// local are the bindings of the project's own classes.
func local(project *config.Project) []config.DurableObjectBinding {
	return slices.DeleteFunc(slices.Clone(project.DurableObjects), func(b config.DurableObjectBinding) bool { return !b.Local })
}

// tests writes first tests, unless the project has some.
func (w *writer) tests(project *config.Project) error {
	there := ""
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != w.dir):
			return fs.SkipDir
		case !entry.IsDir() && suite.MatchString(entry.Name()):
			there = path
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if there != "" {
		if rel, err := filepath.Rel(w.dir, there); err == nil && !w.result.New {
			w.result.Files = append(w.result.Files, File{filepath.ToSlash(rel), true})
		}
		return nil
	}
	text, err := templates.ReadFile("templates/test/first.test.ts")
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	object := local(project)[0] // a project without one gets no scenario either
	fill := strings.NewReplacer("{{name}}", project.Name, "{{class}}", object.ClassName, "{{binding}}", object.Name)
	if err := w.write(firstTest, fill.Replace(string(text))); err != nil {
		return err
	}
	return w.template("templates/minido-test.d.ts", "minido-test.d.ts", project.Name, "")
}

// packages finds out which npm packages are still to be installed.
func (w *writer) packages() error {
	text, err := os.ReadFile(filepath.Join(w.dir, "package.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("init: %w", err)
	}
	var manifest struct{ Dependencies, DevDependencies map[string]any }
	if json.Unmarshal(text, &manifest) != nil {
		manifest.Dependencies = nil // npm will say what is wrong with it
	}
	if _, err := os.Stat(filepath.Join(w.dir, "node_modules")); errors.Is(err, fs.ErrNotExist) && text != nil {
		w.result.Packages = !w.result.New || len(manifest.Dependencies) > 0
	}
	_, dependency := manifest.Dependencies["vitest"]
	_, development := manifest.DevDependencies["vitest"]
	w.vitest = dependency || development
	switch {
	case installed(w.dir, "vitest"):
	case w.vitest:
		w.result.TestPackages = "npm install"
	default:
		w.result.TestPackages = "npm install -D vitest"
	}
	return nil
}

// installed reports whether a package is there for modules of dir, in node_modules of
// dir or of a directory above it.
func installed(dir, name string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", name, "package.json")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}
