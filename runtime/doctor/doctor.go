// Package doctor reports what in a project will not run here, before it runs. It
// starts the worker as "minido dev" does, but on empty state in a temporary directory
// and without a listener, and looks at its configuration and its sources.
package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/server"
)

// Level is how much a finding matters.
type Level int

// The levels, in rising order.
const (
	Note   Level = iota // worth knowing; it runs
	Throws              // its first use throws
	Stops               // the worker does not start
)

// String is the level as it is shown.
func (l Level) String() string { return [...]string{"note", "throws", "stops"}[l] }

// Finding is one thing that will not run as in production.
type Finding struct {
	Level Level
	// Where is file:line, with the column where it is known; "" for the project.
	Where string
	Text  string // what
	Hint  string // what to do
}

// Report is what was found. Immutable.
type Report struct {
	// Project is the configuration; nil if it could not be read.
	Project *config.Project
	// Failure is the text of what keeps the worker from starting, with code frames.
	Failure  string
	Findings []Finding
	// Ready are the bindings that work.
	Ready []server.BindingState
	// State is what the state directory holds, a line each.
	State []string
}

// Worst is the level of the gravest finding.
func (r Report) Worst() Level {
	worst := Note
	for _, f := range r.Findings {
		worst = max(worst, f.Level)
	}
	return worst
}

// Options say what to examine.
type Options struct {
	// Config is the project; Dir or ConfigPath is absolute.
	Config config.Options
	// Scheduler and Entropy run the worker while it is loaded. Required.
	Scheduler sched.Scheduler
	Entropy   entropy.Source
	// Color allows ANSI colours in Report.Failure.
	Color bool
	// BuildOutput gets the output of a custom build command.
	BuildOutput io.Writer
}

// Examine loads the project's worker and ends it again. Errors are of this machine;
// what is wrong with the project is in the report.
func Examine(ctx context.Context, o Options) (r Report, err error) {
	project, warnings, err := config.Load(o.Config)
	var wrong *config.ConfigError
	if errors.As(err, &wrong) {
		r.add(Finding{Stops, "", "the configuration cannot be read", ""})
		r.Failure = wrong.Render(o.Color)
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("doctor: %w", err)
	}
	r.Project = project
	for _, d := range warnings {
		r.add(Finding{Note, d.Position().String(), d.Message, d.Hint})
	}
	if err := r.packages(); err != nil {
		return r, fmt.Errorf("doctor: %w", err)
	}
	for _, a := range project.Attachments {
		if a.Offered {
			continue
		}
		r.add(Finding{Throws, a.Where.String(), fmt.Sprintf("a %s (%s) is not offered; the worker runs without it", a.Title, a.Section), ""})
	}
	named, byDate := project.CompatSet().Unheeded()
	for _, f := range named {
		r.add(Finding{Note, project.Relative(project.ConfigFile), "the compatibility flag " + f.String() + " has no effect here", `see "Compatibility flags" in docs/compatibility.md`})
	}
	if len(byDate) > 0 {
		var names []string
		for _, f := range byDate {
			names = append(names, f.String())
		}
		r.add(Finding{Note, project.Relative(project.ConfigFile), fmt.Sprintf("at the compatibility date %s workerd differs in %s", project.CompatibilityDate, strings.Join(names, ", ")),
			`see "Compatibility flags" in docs/compatibility.md`})
	}
	if r.State, err = state(filepath.Join(project.Dir, ".wrangler", "state", "v3")); err != nil {
		return r, fmt.Errorf("doctor: %w", err)
	}
	return r, r.load(ctx, o)
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

// load starts the worker, and adds what keeps it from starting, or what of it throws.
func (r *Report) load(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "minido-doctor-")
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var mu sync.Mutex // guards warned
	var warned []Finding
	s, err := server.Start(ctx, server.Options{
		Config: o.Config, Address: server.Address{None: true}, PersistDir: dir, Scheduler: o.Scheduler, Entropy: o.Entropy,
		Dialer: netx.NewReal(netx.RealOptions{Scheduler: o.Scheduler, Entropy: o.Entropy}), BuildOutput: o.BuildOutput,
		Events: func(e server.Event) {
			if e.Kind == server.EventWarning {
				mu.Lock()
				defer mu.Unlock()
				warned = append(warned, Finding{Note, "", e.Text, ""})
			}
		},
	})
	mu.Lock()
	r.Findings = append(r.Findings, warned...)
	mu.Unlock()
	if err != nil {
		text, ofProject := server.Explain(err, o.Color)
		if !ofProject {
			return fmt.Errorf("doctor: %w", err)
		}
		r.add(Finding{Stops, "", "the worker does not start", ""})
		r.Failure = text
		return nil
	}
	for _, b := range s.Bindings() {
		if b.Ready {
			r.Ready = append(r.Ready, b)
			continue
		}
		r.add(Finding{Throws, b.Where, fmt.Sprintf("env.%s: a %s is not offered", b.Name, b.Kind), b.Advice})
	}
	for name, text := range s.Sources().Files() { // order-independent: sorted below
		r.Findings = append(r.Findings, refusedUses(name, string(text))...)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), comparePlaces(a.Where, b.Where))
	})
	return s.Close(context.WithoutCancel(ctx))
}

// comparePlaces orders file:line:column by the file, then by the numbers.
func comparePlaces(a, b string) int {
	x, y := strings.Split(a, ":"), strings.Split(b, ":")
	for i := range min(len(x), len(y)) {
		if c := cmp.Or(cmp.Compare(len(x[i])*min(i, 1), len(y[i])*min(i, 1)), cmp.Compare(x[i], y[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// packages adds the dependencies of the project's package.json that are not installed,
// there or above.
func (r *Report) packages() error {
	path := filepath.Join(r.Project.Dir, "package.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		r.add(Finding{Note, "package.json", "it cannot be read: " + err.Error(), ""})
		return nil
	}
	for name := range manifest.Dependencies { // order-independent: the findings are sorted
		if !installed(r.Project.Dir, name) {
			r.add(Finding{Note, fmt.Sprintf("package.json:%d", 1+strings.Count(before(string(text), `"`+name+`"`), "\n")), "the package " + name + " is not installed", "npm install"})
		}
	}
	return nil
}

// before is the part of text in front of the first key; all of it if there is none.
func before(text, key string) string {
	head, _, _ := strings.Cut(text, key)
	return head
}

// installed reports whether node_modules of dir, or of a directory above, has it.
func installed(dir, name string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(name))); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// state lists what a state directory in wrangler's layout holds.
func state(dir string) ([]string, error) {
	namespaces, err := os.ReadDir(filepath.Join(dir, "do"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var lines []string
	for _, n := range namespaces {
		files, err := filepath.Glob(filepath.Join(dir, "do", n.Name(), "*.sqlite"))
		if err != nil {
			return nil, err
		}
		objects := 0
		for _, f := range files {
			if filepath.Base(f) != "metadata.sqlite" {
				objects++
			}
		}
		lines = append(lines, fmt.Sprintf("%s: objects stored: %d", n.Name(), objects))
	}
	kinds, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, k := range kinds {
		if k.IsDir() && k.Name() != "do" && !strings.HasPrefix(k.Name(), "minido-") {
			lines = append(lines, k.Name())
		}
	}
	return lines, nil
}
