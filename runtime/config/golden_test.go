package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/runtime/compat"
)

// TestGolden loads every project under testdata and compares what Load says
// and what it understood with the golden file beside it. A project is a txtar
// archive; the lines of its comment that begin with "load" are the calls:
//
//	load dir=sub config=x.toml entry=w.ts env=staging env-file=f var=K:V environ=K=V
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			for _, f := range archive.Files {
				writeFile(t, filepath.Join(root, f.Name), f.Data)
			}
			var out strings.Builder
			for _, line := range strings.Split(string(archive.Comment), "\n") {
				if options, ok := loadLine(t, root, line); ok {
					fmt.Fprintf(&out, "== %s\n", line)
					out.WriteString(describeLoad(root, options))
				}
			}
			file := strings.TrimSuffix(path, ".txtar") + ".golden"
			if golden.Update() {
				writeFile(t, file, []byte(out.String()))
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (run with -update)", err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func loadLine(t *testing.T, root, line string) (Options, bool) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "load" {
		return Options{}, false
	}
	options := Options{Dir: root}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "dir":
			options.Dir = filepath.Join(root, value)
		case "config":
			options.ConfigPath = value
		case "entry":
			options.Entry = value
		case "env":
			options.Env = value
		case "env-file":
			options.EnvFiles = append(options.EnvFiles, value)
		case "var":
			options.Vars = append(options.Vars, value)
		case "environ":
			options.Environ = append(options.Environ, value)
		default:
			t.Fatalf("unknown word %q in %q", word, line)
		}
	}
	return options, true
}

// describeLoad renders everything that a Load gives, with root taken out.
func describeLoad(root string, options Options) string {
	var b strings.Builder
	project, warnings, err := Load(options)
	for _, d := range warnings {
		b.WriteString(d.Render(false) + "\n")
	}
	var configError *ConfigError
	switch {
	case errors.As(err, &configError):
		b.WriteString(configError.Error() + "\n")
	case err != nil:
		fmt.Fprintf(&b, "not a ConfigError: %v\n", err)
	default:
		describeProject(&b, project)
	}
	return strings.ReplaceAll(filepath.ToSlash(b.String()), filepath.ToSlash(root), "ROOT")
}

func describeProject(b *strings.Builder, p *Project) {
	row := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "[]" && text != "false" {
			fmt.Fprintf(b, "%-12s %s\n", name, text)
		}
	}
	row("name", p.Name)
	row("config", p.ConfigFile)
	row("main", strings.TrimSpace(p.Main+" "+p.MainWhere.String()))
	row("base_dir", p.BaseDir)
	row("compat", fmt.Sprintf("%s %v nodejs_compat=%v", p.CompatibilityDate, p.CompatibilityFlags, p.Compat(compat.NodejsCompat)))
	row("no_bundle", p.NoBundle)
	row("additional", p.FindAdditionalModules)
	row("minify", p.Minify)
	row("tsconfig", p.TSConfig)
	if p.Build.Command != "" {
		row("build", fmt.Sprintf("%q in %s watching %v", p.Build.Command, p.Build.Cwd, p.Build.WatchDirs))
	}
	for _, r := range p.Rules {
		if !r.Default {
			row("rule", fmt.Sprintf("%s %v %s", r.Type, r.Globs, r.Where))
		}
	}
	for _, kv := range p.Define {
		row("define", fmt.Sprintf("%s=%s %s", kv.Key, kv.Value, kv.Where))
	}
	for _, kv := range p.Alias {
		row("alias", fmt.Sprintf("%s=%s %s", kv.Key, kv.Value, kv.Where))
	}
	for _, v := range p.Vars {
		row("var", fmt.Sprintf("%s = %s shown as %s, source %d, %s", v.Name, v.Value, v.Display(), v.Source, v.Where))
	}
	for _, bd := range p.Bindings {
		row("binding", fmt.Sprintf("%s is %s (%s) %s %s", bd.Name, bd.Kind, bd.Kind.Title(), bd.Section, bd.Where))
	}
	for _, a := range p.Attachments {
		row("attachment", fmt.Sprintf("%s (%s) %s", a.Section, a.Title, a.Where))
	}
	for _, d := range p.DurableObjects {
		row("namespace", fmt.Sprintf("%s -> %s local=%v %s", d.Name, d.UniqueKey, d.Local, d.ClassWhere))
	}
	for _, c := range p.Classes {
		row("class", fmt.Sprintf("%s %s bound=%v container=%q %s", c.UniqueKey, c.Storage, c.Bound, c.Container, c.Where))
	}
	for _, c := range p.Crons {
		row("cron", fmt.Sprintf("%s %s", c.Expression, c.Where))
	}
	if p.Limits != (Limits{}) {
		row("limits", fmt.Sprintf("%+v", p.Limits))
	}
	if a := p.Assets; a != nil {
		row("assets", fmt.Sprintf("%s binding=%q html=%s 404=%s first=%v %v %v", a.Directory, a.Binding, a.HTMLHandling, a.NotFoundHandling, a.RunWorkerFirst, a.WorkerFirst, a.AssetsFirst))
	}
	if p.Dev != (Dev{}) {
		row("dev", fmt.Sprintf("%+v", p.Dev))
	}
	var files []string
	for _, f := range p.Files {
		files = append(files, p.Relative(f))
	}
	sort.Strings(files)
	row("files", files)
}
