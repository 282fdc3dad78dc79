package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/vitest"
)

// colors says whether text is coloured.
type colors bool

func (c colors) of(code, text string) string {
	if !c {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (c colors) red(s string) string   { return c.of("31", s) }
func (c colors) green(s string) string { return c.of("32", s) }
func (c colors) dim(s string) string   { return c.of("2", s) }

var marks = map[string]string{"passed": "✓", "failed": "×", "skipped": "↓", "todo": "□"}

// live are the reporters that show each file as it ends: what they show of one file, and
// what follows when all have ended.
var live = map[string]struct {
	file func(f *vitest.File, c colors) string
	rest form
}{"default": {fileLines(false), closing}, "verbose": {fileLines(true), closing}, "dot": {fileDots, closingDots}}

// whole is the report of a live reporter in one text.
func whole(name string) form {
	return func(r *vitest.Report, c colors) (string, error) {
		var sb strings.Builder
		for _, f := range r.Files {
			sb.WriteString(live[name].file(f, c))
			if r.Chaos != "" {
				sb.WriteString(Repeated(name, r.Chaos, f, bool(c)))
			}
		}
		rest, err := live[name].rest(r, c)
		return sb.String() + rest, err
	}
}

// File is what a reporter shows of a file as soon as it has run; false says that this
// reporter writes when all have. Rest is what it shows in the end, after that.
func File(name string, f *vitest.File, color bool) (string, bool) {
	form, ok := live[name]
	if !ok {
		return "", false
	}
	return form.file(f, colors(color)), true
}

// Rest is what a reporter shows when all files have run: all of its text, but for what
// File has shown.
func Rest(name string, r *vitest.Report, color bool) (string, error) {
	if form, ok := live[name]; ok {
		return form.rest(r, colors(color))
	}
	return Text(name, r, color)
}

// Repeated is what a reporter shows of a file whose tests have been repeated with a fault.
func Repeated(name string, fault vitest.Fault, f *vitest.File, color bool) string {
	if _, ok := live[name]; !ok || name == "dot" || f.Runs == 0 {
		return ""
	}
	c := colors(color)
	found := c.dim("no finding")
	if f.Findings > 0 {
		found = c.red(plural(f.Findings, "finding"))
	}
	return fmt.Sprintf("   %s %s\n", c.dim(fmt.Sprintf("%s: %s,", fault, plural(f.Runs, "run"))), found)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// fileLines are what vitest's default reporter shows of a file; verbose lists each test.
func fileLines(verbose bool) func(f *vitest.File, c colors) string {
	return func(f *vitest.File, c colors) string {
		var sb strings.Builder
		tests := f.Tests()
		mark := c.green(marks["passed"])
		if f.Failed() {
			mark = c.red("❯")
		}
		fmt.Fprintf(&sb, " %s %s %s\n", mark, f.Path, c.dim(fmt.Sprintf("(%s) %dms", plural(len(tests), "test"), f.Time.Milliseconds())))
		for _, t := range tests {
			state := stateOf(t)
			if !verbose && state != "failed" && len(t.Leaks) == 0 {
				continue
			}
			paint := map[string]func(string) string{"passed": c.green, "failed": c.red}[state]
			if paint == nil {
				paint = c.dim
			}
			fmt.Fprintf(&sb, "   %s %s\n", paint(marks[state]), strings.Join(t.Path, " > "))
			if len(t.Leaks) > 0 {
				fmt.Fprintf(&sb, "     %s\n", c.dim("left open: "+strings.Join(t.Leaks, ", ")))
			}
		}
		return sb.String()
	}
}

func closing(r *vitest.Report, c colors) (string, error) {
	return failures(r, c) + summary(r, c), nil
}

func fileDots(f *vitest.File, c colors) string {
	var sb strings.Builder
	for _, t := range f.Tests() {
		switch stateOf(t) {
		case "passed":
			sb.WriteString(c.green("·"))
		case "failed":
			sb.WriteString(c.red("x"))
		default:
			sb.WriteString(c.dim("-"))
		}
	}
	return sb.String()
}

func closingDots(r *vitest.Report, c colors) (string, error) {
	rest, err := closing(r, c)
	return "\n" + rest, err
}

// failures are the errors of a run, each with its place in the source.
func failures(r *vitest.Report, c colors) string {
	var sb strings.Builder
	show := func(f *vitest.File, title string, errs []vitest.Error) {
		if len(errs) == 0 {
			return
		}
		fmt.Fprintf(&sb, "\n %s %s\n", c.of("41", " FAIL "), title)
		for _, e := range errs {
			sb.WriteString(errorText(r, f, e, c))
		}
	}
	for _, f := range r.Files {
		for _, own := range ownErrors(f) {
			show(f, strings.Join(append([]string{f.Path}, own.suite...), " > "), []vitest.Error{own.Error})
		}
		for _, t := range f.Tests() {
			show(f, f.Path+" > "+strings.Join(t.Path, " > "), errorsOf(t))
		}
	}
	for _, same := range alike(r) {
		x := same[0]
		show(&vitest.File{Path: x.File}, fmt.Sprintf("%s > %s, %s", x.File, x.Test, x.With(r.Chaos)), x.Errors)
		if x.Note != "" {
			sb.WriteString("note: " + x.Note + "\n")
		}
		fmt.Fprintf(&sb, "replay: %s\n", x.Replay)
		var others []string
		for _, y := range same[1:min(len(same), 1+shownPoints)] {
			others = append(others, fmt.Sprintf("%s (--at %d)", y.Point, y.Number))
		}
		if len(same) > 1+shownPoints {
			others = append(others, fmt.Sprintf("%d more", len(same)-1-shownPoints))
		}
		if len(others) > 0 {
			fmt.Fprintf(&sb, "the same at %s: %s\n", plural(len(same)-1, "other point"), strings.Join(others, ", "))
		}
	}
	return sb.String()
}

// shownPoints is how many other points of the same failure are listed.
const shownPoints = 8

// alike are the findings, those of a test that fails at one place together, in order.
func alike(r *vitest.Report) (groups [][]vitest.Finding) {
	at := map[string]int{}
	for _, x := range r.Findings {
		key := x.File + "\x00" + x.Test
		for _, e := range x.Errors {
			place := frameOf(r, &vitest.File{Path: x.File}, e)
			if place.line == 0 {
				place.file = e.Message
			}
			key += fmt.Sprintf("\x00%s\x00%v", e.Name, place)
		}
		n, known := at[key]
		if !known {
			n = len(groups)
			at[key], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], x)
	}
	return groups
}

func errorText(r *vitest.Report, f *vitest.File, e vitest.Error, c colors) string {
	var sb strings.Builder
	message := e.Message
	if e.Name != "" && !strings.HasPrefix(message, e.Name) {
		message = e.Name + ": " + message
	}
	sb.WriteString(c.red(message) + "\n")
	if timedOut.MatchString(message) {
		sb.WriteString("The limit is in virtual time, which jumps ahead when nothing else is left to run (clock.real of minido:test lets it pass).\n")
	}
	if e.Diff != "" {
		diff := e.Diff // vitest has coloured it
		if !c {
			diff = e.PlainDiff()
		}
		sb.WriteString("\n" + diff + "\n")
	}
	frames := framesOf(e.Stack)
	at := frameOf(r, f, e)
	for _, x := range frames {
		fmt.Fprintf(&sb, " %s %s:%d:%d\n", c.dim("❯"), x.file, x.line, x.column)
	}
	if code := at.code(r.Dir); code != "" {
		sb.WriteString(code)
	}
	if e.Cause != "" {
		sb.WriteString("Caused by: " + e.Cause + "\n")
	}
	if e.Test != "" {
		fmt.Fprintf(&sb, "It came up while the test %q ran, or after it had ended.\n", e.Test)
	}
	return sb.String()
}

func summary(r *vitest.Report, c colors) string {
	files, tests := count(r)
	line := func(counts map[string]int) string {
		var words []string
		total := 0
		for _, state := range []string{"failed", "passed", "skipped", "todo"} {
			n := counts[state]
			if total += n; n == 0 {
				continue
			}
			text := fmt.Sprintf("%d %s", n, state)
			switch state {
			case "failed":
				text = c.red(text)
			case "passed":
				text = c.green(text)
			}
			words = append(words, text)
		}
		return strings.Join(words, " | ") + c.dim(fmt.Sprintf(" (%d)", total))
	}
	text := fmt.Sprintf("\n%s Test Files  %s\n      Tests  %s\n", snapshots(r, c), line(files), line(tests))
	errs := 0
	for _, f := range r.Files {
		errs += len(f.Unhandled)
	}
	if errs > 0 {
		text += fmt.Sprintf("     Errors  %s\n", c.red(plural(errs, "error")))
	}
	if r.Chaos != "" {
		text += fmt.Sprintf("      Chaos  %s: %d runs, %d findings, %d say nothing about the worker\n", r.Chaos, r.Checked, len(r.Findings), len(r.Lost))
		text += lost(r.Lost)
		for _, s := range r.Skips {
			text += fmt.Sprintf("             %s > %s is skipped: %s\n", s.File, s.Test, s.Reason)
		}
	}
	if r.Failed() {
		text += fmt.Sprintf("       Seed  %d\n", r.Seed)
	}
	return text + fmt.Sprintf("   Duration  %dms (vitest %s)\n", r.Time.Milliseconds(), r.Version)
}

// lost says why runs say nothing about the worker: by reason, the tests and the first of their points.
func lost(runs []vitest.Lost) (text string) {
	reasons := map[string][]string{}
	tests := map[vitest.Lost]int{} // by what is the same in their runs
	var order []vitest.Lost
	for _, l := range runs {
		same := vitest.Lost{File: l.File, Test: l.Test, Why: l.Why}
		if tests[same]++; tests[same] == 1 {
			order = append(order, l)
		}
	}
	total := map[string]int{}
	var whys []string
	for _, l := range order {
		n := tests[vitest.Lost{File: l.File, Test: l.Test, Why: l.Why}]
		if total[l.Why] += n; reasons[l.Why] == nil {
			whys = append(whys, l.Why)
		}
		reasons[l.Why] = append(reasons[l.Why], fmt.Sprintf("               %s > %s: %s, the first --at %d\n", l.File, l.Test, plural(n, "run"), l.Number))
	}
	for _, why := range whys {
		text += fmt.Sprintf("             %s: %s\n", plural(total[why], "run"), why)
		all := reasons[why]
		text += strings.Join(all[:min(len(all), shownPoints)], "")
		if len(all) > shownPoints {
			text += fmt.Sprintf("               and %d more\n", len(all)-shownPoints)
		}
	}
	if text != "" {
		text += "             Clients in production call and connect again. Let the test do so: vi.waitFor(() => stub.method()), expect.poll\n"
	}
	return text
}

// snapshots says what became of snapshots, as vitest does: "" if each that is there matched.
func snapshots(r *vitest.Report, c colors) string {
	var all vitest.Snapshot
	var gone []string
	for _, f := range r.Files {
		s := f.Snapshot
		all.Added, all.Unmatched, all.Updated, all.Unchecked = all.Added+s.Added, all.Unmatched+s.Unmatched, all.Updated+s.Updated, all.Unchecked+s.Unchecked
		if s.Unchecked > 0 && len(s.UncheckedKeys) > 0 {
			gone = append(gone, c.dim("↳ "+f.Path))
			for _, key := range s.UncheckedKeys {
				gone = append(gone, c.dim("  · "+key))
			}
		}
	}
	var lines []string
	add := func(n int, word string, paint func(string) string) {
		if n > 0 {
			lines = append(lines, paint(fmt.Sprintf("%d %s", n, word)))
		}
	}
	add(all.Added, "written", c.green)
	add(all.Unmatched, "failed", c.red)
	add(all.Updated, "updated", c.green)
	obsolete := "obsolete"
	if r.Updates {
		obsolete = "removed"
	}
	add(all.Unchecked, obsolete, c.dim)
	if lines = append(lines, gone...); len(lines) == 0 {
		return ""
	}
	return "  Snapshots  " + strings.Join(lines, "\n             ") + "\n"
}

// frame is a place in the source.
type frame struct {
	file         string
	line, column int
}

var framePattern = lazyregexp.New(`(?m)^\s*at (?:.*?\(|async )?((?:file://)?(?:[A-Za-z]:[/\\])?[^():\s][^():]*):(\d+):(\d+)\)?$`)

// generatedMain is the file that package vitest generates to bundle the suites.
var generatedMain = lazyregexp.New(`(^|[/\\])main-[0-9a-f]{12}[/\\]main\.js$`)

// timedOut is the beginning of what vitest says of a test or hook that takes too long.
var timedOut = lazyregexp.New(`^(Error: )?(Test|Hook) timed out in \d+ms`)

// framesOf are the places of a stack that are the project's own.
func framesOf(stack string) (frames []frame) {
	for _, m := range framePattern.FindAllStringSubmatch(stack, -1) {
		file := strings.TrimPrefix(m[1], "file://")
		if strings.Contains(file, "node_modules/") || file == "vitest" || strings.HasPrefix(file, "virtual:") || generatedMain.MatchString(file) || strings.HasPrefix(file, "minido:") || strings.HasPrefix(file, "cloudflare:") {
			continue
		}
		line, _ := strconv.Atoi(m[2])   // the pattern has digits
		column, _ := strconv.Atoi(m[3]) // likewise
		frames = append(frames, frame{file, line, column})
	}
	return frames
}

// frameOf is where an error is shown: in the test file, if its stack has that.
func frameOf(_ *vitest.Report, f *vitest.File, e vitest.Error) frame {
	frames := framesOf(e.Stack)
	for _, x := range frames {
		if strings.HasSuffix(filepath.ToSlash(x.file), f.Path) {
			return x
		}
	}
	if len(frames) > 0 {
		return frames[0]
	}
	return frame{file: f.Path}
}

// code is the lines of the source around a place, "" if it cannot be read.
func (x frame) code(dir string) string {
	if x.line == 0 {
		return ""
	}
	path := filepath.FromSlash(x.file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	var sb strings.Builder
	for n := max(1, x.line-2); n <= min(len(lines), x.line+2); n++ {
		fmt.Fprintf(&sb, "%6d| %s\n", n, lines[n-1])
		if n == x.line {
			fmt.Fprintf(&sb, "      | %s^\n", strings.Repeat(" ", max(0, x.column-1)))
		}
	}
	return sb.String()
}
