package vitest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/internal/crash"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/server"
)

// Run runs a project's suites, one file after the other.
//
// # Errors
//
// *UsageError and *config.ConfigError for mistakes in the project; failed tests are
// in the report.
func Run(o Options) (r *Report, err error) {
	began := o.Clock.Now()
	if o.Name != "" {
		if _, err := regexp.Compile(o.Name); err != nil {
			return nil, &UsageError{fmt.Sprintf("-t %q: %v", o.Name, err)}
		}
	}
	if o.bundles == nil {
		threads := crash.NewThreads(o.Clock)
		defer func() { err = errors.Join(err, threads.Close(context.Background())) }()
		o.bundles = &server.Bundles{Ahead: threads}
	}
	o.nodes = findNode()
	defer func() { err = errors.Join(err, o.nodes.end()) }()
	each, err := o.settings()
	if err != nil {
		return nil, err
	}
	if o.CacheDir == "" {
		o.CacheDir = filepath.Join(o.Dir, ".wrangler", "minido-test")
	}
	if err := os.MkdirAll(o.CacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("vitest: %w", err)
	}
	if err := o.startMeasuring(each); err != nil {
		return nil, err
	}
	set := map[*settings]bool{}
	for _, s := range each {
		if s.above == nil || set[s.above] {
			continue
		}
		set[s.above] = true
		tearDown, failed := o.globalSetup(s.above)
		defer func() { err = errors.Join(err, tearDown()) }()
		if failed != nil {
			return nil, failed
		}
	}
	report := &Report{Dir: o.Dir, Chaos: o.Chaos, Updates: o.Update}
	for range max(o.Repeat, 1) {
		for _, s := range each {
			if err := o.project(s, report); err != nil {
				return nil, err
			}
		}
		if report.Seed = o.Seed; report.Failed() {
			break
		}
		o.Seed++
	}
	if o.measure != nil {
		if report.Coverage, err = o.measure.result(report.Failed(), o.Clock.Now()); err != nil {
			return nil, err
		}
	}
	report.Time = o.Clock.Now().Sub(began)
	return report, nil
}

// project runs one project of a configuration.
func (o *Options) project(s *settings, report *Report) (err error) {
	files, err := o.find(s)
	if err != nil {
		return err
	}
	if len(files) > 0 { // before the worker's configuration is read: it may build what that names
		tearDown, failed := o.globalSetup(s)
		defer func() { err = errors.Join(err, tearDown()) }()
		if failed != nil {
			return failed
		}
	}
	p, err := o.load(s)
	if err != nil {
		return err
	}
	report.Version = p.packages.version
	r := &runner{project: p, report: report}
	return r.all()
}

// runner is one Run.
type runner struct {
	project  *project
	report   *Report
	bundles  *server.Bundles
	separate bool // files are bundled one by one, since together they cannot be
	fails    int
}

func (r *runner) all() error {
	o, p := r.project.options, r.project
	if err := r.bundle(p.files); err != nil {
		return err
	}
	var reached map[string][]string
	if o.Imports {
		reached, _ = p.dependencies() // of what does not build nothing is known: the file says what is wrong
	}
	for _, path := range p.files {
		if o.only != nil && !slices.Contains(o.only, path) && !slices.Contains(o.only, "?") {
			continue
		}
		if bail := p.bail(); bail > 0 && r.fails >= bail {
			break
		}
		f, err := r.file(path)
		if err != nil {
			return err
		}
		f.Imports = reached[path]
		r.report.Files = append(r.report.Files, f)
		if o.Progress != nil {
			o.Progress(f)
		}
		if o.Chaos != "" && f.Root != nil {
			checked, found := r.report.Checked, len(r.report.Findings)
			if err := r.chaos(path, f); err != nil {
				return err
			}
			f.Runs, f.Findings = r.report.Checked-checked, len(r.report.Findings)-found
			if o.Repeated != nil {
				o.Repeated(f)
			}
		}
	}
	if err := r.bundles.Remember(); err != nil { // costs time at the next start, no more
		_, _ = fmt.Fprintln(o.Out, "note: bundle cache:", err) // what reads it is gone
	}
	return nil
}

// bail is after how many failed tests a run stops; 0 never does.
func (p *project) bail() int { return cmp.Or(p.options.Bail, p.settings.Bail) }

// bundle prepares bundling of these files together.
func (r *runner) bundle(files []string) error {
	r.bundles = r.project.options.bundles
	r.bundles.Renew()
	return r.project.generate(files)
}

// file runs one file.
func (r *runner) file(path string) (*File, error) {
	began := r.project.options.Clock.Now()
	rel, err := filepath.Rel(r.project.settings.root, path)
	if err != nil {
		return nil, fmt.Errorf("vitest: %w", err)
	}
	f := &File{Path: filepath.ToSlash(rel), Abs: path}
	a, err := r.once(r.of(path))
	if err != nil {
		return nil, err
	}
	f.Fatal, f.Root, f.Unhandled = a.Fatal, a.File, a.Unhandled
	if a.Snapshot != nil {
		f.Snapshot = *a.Snapshot
	}
	for _, t := range f.Tests() {
		if t.State == "fail" {
			r.fails++
		}
	}
	f.Time = r.project.options.Clock.Now().Sub(began)
	return f, nil
}

func (r *runner) of(path string) *fileRun {
	return &fileRun{project: r.project, bundles: r.bundles, file: path, name: r.project.options.Name, seed: r.project.options.Seed, failed: r.fails}
}

// once does a run. A file that breaks the bundle of all is found by bundling each
// on its own.
func (r *runner) once(run *fileRun) (*answer, error) {
	if r.separate {
		if err := r.bundle([]string{run.file}); err != nil {
			return nil, err
		}
		run.bundles = r.bundles
	}
	a, err := run.do()
	var broken *bundle.BuildError
	var threw *server.LoadError
	switch {
	case errors.As(err, &broken) && !r.separate:
		r.separate = true
		return r.once(run)
	case errors.As(err, &broken), errors.As(err, &threw):
		text, _ := server.Explain(err, false)
		return &answer{Fatal: strings.TrimSpace(text)}, nil
	}
	if err == nil {
		r.project.placed(a)
	}
	return a, err
}

// chaos repeats the tests of a file that passed, with the fault at their points.
func (r *runner) chaos(path string, f *File) error {
	o := r.project.options
	if f.Snapshot.Added+f.Snapshot.Updated > 0 { // those within the file: it has changed
		if err := r.bundle(r.project.files); err != nil {
			return err
		}
	}
	for _, t := range f.Tests() {
		if t.State != "pass" {
			continue
		}
		if t.ChaosSkip != "" {
			r.report.Skips = append(r.report.Skips, Skip{f.Path, join(t.Path, " > "), t.ChaosSkip})
			continue
		}
		run := func(at int, armed killpoint.Point) (*fileRun, *answer, error) {
			x := r.of(path)
			x.name, x.quiet = "^"+regexp.QuoteMeta(t.FullName())+"$", true
			x.test, x.fault, x.at, x.armed = join(t.Path, " > "), o.Chaos, at, armed
			a, err := r.once(x)
			return x, a, err
		}
		base, undisturbed, err := run(0, killpoint.Point{})
		if err != nil {
			return err
		}
		if bad := errorsOf(undisturbed); bad != nil {
			r.report.Findings = append(r.report.Findings, Finding{File: f.Path, Test: join(t.Path, " > "), Errors: bad, Replay: r.replay(f, t, 0)})
			continue
		}
		for _, n := range spread(len(base.window), o.Points, o.At) {
			_, a, err := run(n, relative(base.window, n))
			if err != nil {
				return err
			}
			r.report.Checked++
			bad := errorsOf(a)
			why := lost(bad, undisturbed.Connections, a.Connections)
			switch {
			case bad == nil:
			case why != "":
				r.report.Lost = append(r.report.Lost, Lost{File: f.Path, Test: join(t.Path, " > "), Point: base.window[n-1].Label(), Number: n, Why: why})
			default:
				found := Finding{File: f.Path, Test: join(t.Path, " > "), Point: base.window[n-1].Label(), Number: n, Errors: bad, Replay: r.replay(f, t, n)}
				if leftCut(undisturbed.Connections, a.Connections) {
					found.Note = "a WebSocket of the test was cut, and the test did not open it again: if it fails for that, connect again as clients in production do"
				}
				r.report.Findings = append(r.report.Findings, found)
			}
		}
	}
	return nil
}

// spread chooses points from 1 to n: all, at most limit of them, or one.
func spread(n, limit, one int) (points []int) {
	if one > 0 {
		if one > n {
			return nil
		}
		return []int{one}
	}
	if limit <= 0 || limit > n {
		limit = n
	}
	for i := range limit {
		points = append(points, 1+i*n/limit)
	}
	return points
}

// relative is the nth point of a test, its occurrence counted within the test.
func relative(window []killpoint.Point, n int) killpoint.Point {
	p := window[n-1]
	p.Occurrence = 0
	for _, q := range window[:n] {
		if q.Kind == p.Kind && q.Side == p.Side && q.Object == p.Object && q.Cause == p.Cause {
			p.Occurrence++
		}
	}
	return p
}

// errorsOf is what failed in a run, nil for nothing.
func errorsOf(a *answer) (all []Error) {
	if a.Fatal != "" {
		return []Error{{Name: "Error", Message: a.Fatal}}
	}
	f := &File{Root: a.File, Unhandled: a.Unhandled}
	if !f.Failed() {
		return nil
	}
	if a.File != nil {
		all = a.File.allErrors()
	}
	if all = append(all, a.Unhandled...); all == nil {
		all = []Error{{Name: "Error", Message: "the file failed without an error"}}
	}
	return all
}

// lost says why what failed in a run says nothing about the worker, "" if it does. A test that
// calls again, or opens another WebSocket than it does undisturbed, does as clients in production
// do: what fails then is the worker's. So is what a test says of what it has got before the cut.
func lost(all []Error, undisturbed, run connections) string {
	text := durableobject.Lost().Message
	other := func(e Error) bool {
		if e.Message == text || strings.HasPrefix(e.Message, `promise rejected "Error: `+text) { // await expect(call).resolves
			return false
		}
		return run.Calls == 0 || !strings.Contains(e.Message+e.PlainDiff(), text) // what was caught is compared with something
	}
	switch {
	case !slices.ContainsFunc(all, other):
		return fmt.Sprintf("a call of the test failed with %q, and the test did not call again", text)
	case !slices.ContainsFunc(all, func(e Error) bool { return e.Message != errNotRunning.Error() && other(e) }):
		return "the test evicts an object that had died"
	case leftCut(undisturbed, run) && (run.Vain > 0 || slices.ContainsFunc(all, waited)):
		return "a WebSocket of the test was cut, the test did not open it again, and waited in vain"
	}
	return ""
}

// leftCut reports whether a WebSocket of the test was cut and the test did not open it again.
func leftCut(undisturbed, run connections) bool {
	return run.Cut > 0 && run.Sockets <= undisturbed.Sockets
}

// waited reports whether an error is that of expect.poll, vi.waitUntil or a test that waited in vain.
func waited(e Error) bool {
	return strings.Contains(e.Cause, "Matcher did not succeed in time.") || strings.HasPrefix(e.Message, "Timed out in wait") || strings.HasPrefix(e.Message, "Test timed out in ")
}

// replay is a command that runs one test with the fault at its nth point; at 0 without one.
func (r *runner) replay(f *File, t Test, n int) string {
	o := r.project.options
	line := "minido test " + quote(f.Path)
	if dir := cmp.Or(o.Given, o.Dir); dir != "." {
		line += " --dir " + quote(dir)
	}
	if o.Config != "" {
		line += " --config " + quote(o.Config)
	}
	if o.Timeout > 0 {
		line += " --test-timeout " + o.Timeout.String()
	}
	line += " -t " + quote("^"+regexp.QuoteMeta(t.FullName())+"$")
	if n > 0 {
		line += fmt.Sprintf(" --chaos %s --at %d", o.Chaos, n)
	}
	return line + fmt.Sprintf(" --seed %d", o.Seed)
}

// quote quotes a word for a shell.
func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`!*?[](){}<>|&;~#^") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
