package starter

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/internal/version"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A directory without a wrangler file gets a project that loads, from each template.
func TestNewProject(t *testing.T) {
	for _, template := range []string{DurableObject, Agent} {
		dir := filepath.Join(t.TempDir(), "My First App")
		r, err := Write(Options{Dir: dir, Template: template, CI: "auto"})
		if err != nil || !r.New || r.Packages != (template == Agent) || r.TestPackages != "npm install" {
			t.Fatalf("%s: %+v, %v", template, r, err)
		}
		p, err := chaos.LoadProject(dir, "", nil)
		if err != nil || p.Name != "my-first-app" || len(p.DurableObjects) != 1 {
			t.Fatalf("%s: %+v, %v", template, p, err)
		}
		for _, f := range r.Files {
			text := read(t, filepath.Join(dir, f.Path))
			if strings.Contains(strings.ReplaceAll(text, "${{", ""), "{{") || f.Kept {
				t.Errorf("%s: %+v:\n%s", template, f, text)
			}
		}
		ci := read(t, filepath.Join(dir, ".github/workflows/chaos.yml"))
		if !strings.Contains(ci, "minido@"+version.Number()+" chaos") || !strings.Contains(ci, "npm install") || !strings.Contains(ci, " test --reporter") {
			t.Errorf("%s: %s", template, ci)
		}
		if !strings.Contains(read(t, filepath.Join(dir, "my-first-app.chaos.ts")), `scenario("my-first-app survives"`) {
			t.Errorf("%s: the scenario has another name", template)
		}
	}
}

// A project gets what it lacks, and nothing that is there is changed.
func TestExistingProject(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "wrangler.json"), `{"name": "shop", "main": "a.js", "compatibility_date": "2026-01-01",
		"durable_objects": {"bindings": [{"name": "CART", "class_name": "Cart"}]}}`)
	put(t, filepath.Join(dir, "a.js"), "export class Cart extends AIChatAgent {}\n")
	put(t, filepath.Join(dir, "minido-chaos.d.ts"), "mine")
	put(t, filepath.Join(dir, ".gitlab-ci.yml"), "mine")
	put(t, filepath.Join(dir, "package-lock.json"), "{}")
	put(t, filepath.Join(dir, "package.json"), "{}")
	r, err := Write(Options{Dir: dir, Template: DurableObject, CI: "auto"})
	if err != nil || r.New || !r.Packages {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := []File{{"shop.chaos.ts", false}, {"minido-chaos.d.ts", true}, {"test/first.test.ts", false}, {"minido-test.d.ts", false}, {"minido.gitlab-ci.yml", false}}; !slices.Equal(r.Files, want) {
		t.Errorf("%+v, want %+v", r.Files, want)
	}
	if got := read(t, filepath.Join(dir, "minido-chaos.d.ts")) + read(t, filepath.Join(dir, ".gitlab-ci.yml")); got != "minemine" {
		t.Errorf("files that were there now hold %q", got)
	}
	if ci := read(t, filepath.Join(dir, "minido.gitlab-ci.yml")); !strings.Contains(ci, "- npm ci --ignore-scripts") || strings.Contains(ci, " test --reporter") {
		t.Error(ci)
	}
	if test := read(t, filepath.Join(dir, firstTest)); !strings.Contains(test, `env.CART.get(env.CART.idFromName("first"))`) || !strings.Contains(test, `"Cart starts again`) || r.TestPackages != "npm install -D vitest" {
		t.Errorf("%s\n%+v", test, r)
	}
	put(t, filepath.Join(dir, "shop.chaos.ts"), "edited")
	again, err := Write(Options{Dir: dir, Template: DurableObject, CI: "gitlab"})
	if err != nil || slices.ContainsFunc(again.Files, func(f File) bool { return !f.Kept }) || read(t, filepath.Join(dir, "shop.chaos.ts")) != "edited" {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	put(t, filepath.Join(dir, "wrangler.json"), `{"name": "shop", "main": "missing.js"`)
	if _, err := Write(Options{Dir: dir, Template: DurableObject, CI: "none"}); !chaos.IsUsage(err) {
		t.Errorf("a wrong wrangler file: %v", err)
	}
}

// The tests of a project stay alone, and are named.
func TestProjectWithTests(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "wrangler.json"), `{"name": "shop", "main": "a.js", "compatibility_date": "2026-01-01",
		"durable_objects": {"bindings": [{"name": "CART", "class_name": "Cart"}]}}`)
	put(t, filepath.Join(dir, "a.js"), "export class Cart {}\n")
	put(t, filepath.Join(dir, "package.json"), `{"devDependencies": {"vitest": "4"}}`)
	put(t, filepath.Join(dir, "node_modules/vitest/package.json"), "{}")
	put(t, filepath.Join(dir, "node_modules/a/a.test.js"), "")
	put(t, filepath.Join(dir, "src/cart.spec.tsx"), "mine")
	r, err := Write(Options{Dir: dir, Template: DurableObject, CI: "none"})
	if err != nil || r.TestPackages != "" || r.Packages || !slices.Contains(r.Files, File{"src/cart.spec.tsx", true}) || len(r.Files) != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What minido:test exports has a type, and the version of vitest is the one that is tested.
func TestTypesOfTests(t *testing.T) {
	types, module := read(t, "templates/minido-test.d.ts"), read(t, "../../vitest/js/minido-test.js")
	for _, name := range regexp.MustCompile(`(?m)^export (?:const|async function|function) (\w+)`).FindAllStringSubmatch(module, -1) {
		declared := regexp.MustCompile(`export (const|function) ` + name[1] + `\b`).MatchString(types)
		if refused := strings.Contains(module, name[1]+" = () => { throw"); declared == refused {
			t.Errorf("%s: declared is %v", name[1], declared)
		}
	}
	if packaged := read(t, "../../npm/minido/test.d.ts"); packaged != strings.Replace(types, " Written by minido init.", "", 1) {
		t.Error("npm/minido/test.d.ts differs from templates/minido-test.d.ts")
	}
	version := regexp.MustCompile(`"vitest": "[^"]+"`)
	tested := version.FindString(read(t, "../../fixtures/testing/package.json"))
	for _, template := range []string{DurableObject, Agent} {
		if got := version.FindString(read(t, "templates/"+template+"/package.json")); got == "" || got != tested {
			t.Errorf("%s has %s, the fixture %s", template, got, tested)
		}
	}
}

// In a repository with several projects the CI file is at its top, where the service
// looks for it, and works in the project's directory.
func TestProjectWithinRepository(t *testing.T) {
	top := t.TempDir()
	put(t, filepath.Join(top, ".git", "HEAD"), "ref: refs/heads/main\n")
	dir := filepath.Join(top, "packages", "jobs")
	if _, err := Write(Options{Dir: dir, Template: DurableObject, CI: "auto"}); err != nil {
		t.Fatal(err)
	}
	if ci := read(t, filepath.Join(top, ".github/workflows/chaos.yml")); !strings.Contains(ci, "    defaults:\n      run:\n        working-directory: packages/jobs\n    strategy:") {
		t.Error(ci)
	}
	put(t, filepath.Join(top, ".gitlab-ci.yml"), "")
	// From below the project, too.
	r, err := Write(Options{Dir: filepath.Join(dir, "src"), Template: DurableObject, CI: "auto"})
	if err != nil || r.New || r.Dir != dir {
		t.Fatalf("%+v, %v", r, err)
	}
	if ci := read(t, filepath.Join(top, "minido.gitlab-ci.yml")); !strings.Contains(ci, "    - cd packages/jobs\n    - npm install --ignore-scripts\n    - npx") || !strings.Contains(ci, "junit: packages/jobs/junit.xml") {
		t.Error(ci)
	}
}
