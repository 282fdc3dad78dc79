package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

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

// people is vitest's default reporter; verbose lists each test.
func people(verbose bool) form {
	return func(r *vitest.Report, c colors) (string, error) {
		var sb strings.Builder
		for _, f := range r.Files {
			tests := f.Tests()
			mark := c.green(marks["passed"])
			if f.Failed() {
				mark = c.red("❯")
			}
			fmt.Fprintf(&sb, " %s %s %s\n", mark, f.Path, c.dim(fmt.Sprintf("(%d tests) %dms", len(tests), f.Time.Milliseconds())))
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
		}
		sb.WriteString(failures(r, c))
		sb.WriteString(summary(r, c))
		return sb.String(), nil
	}
}

func dots(r *vitest.Report, c colors) (string, error) {
	var sb strings.Builder
	for _, f := range r.Files {
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
	}
	return sb.String() + "\n" + failures(r, c) + summary(r, c), nil
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
		show(f, f.Path, ownErrors(f))
		for _, t := range f.Tests() {
			show(f, f.Path+" > "+strings.Join(t.Path, " > "), errorsOf(t))
		}
	}
	for _, x := range r.Findings {
		show(&vitest.File{Path: x.File}, fmt.Sprintf("%s > %s, with %s at %s", x.File, x.Test, r.Chaos, x.Point), x.Errors)
		fmt.Fprintf(&sb, "replay: %s\n", x.Replay)
	}
	return sb.String()
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
		sb.WriteString("\n" + paintDiff(e.Diff, c) + "\n")
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
	return sb.String()
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// paintDiff colours the lines of a diff as vitest does.
func paintDiff(diff string, c colors) string {
	lines := strings.Split(ansi.ReplaceAllString(diff, ""), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "- "), line == "-":
			lines[i] = c.green(line)
		case strings.HasPrefix(line, "+ "), line == "+":
			lines[i] = c.red(line)
		}
	}
	return strings.Join(lines, "\n")
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
	text := fmt.Sprintf("\n Test Files  %s\n      Tests  %s\n", line(files), line(tests))
	if r.Chaos != "" {
		text += fmt.Sprintf("      Chaos  %s: %d runs, %d findings, %d ended by a lost connection of the test's own\n", r.Chaos, r.Checked, len(r.Findings), r.Lost)
		for _, s := range r.Skips {
			text += fmt.Sprintf("             %s > %s is skipped: %s\n", s.File, s.Test, s.Reason)
		}
	}
	if r.Failed() {
		text += fmt.Sprintf("       Seed  %d\n", r.Seed)
	}
	return text + fmt.Sprintf("   Duration  %dms (vitest %s)\n", r.Time.Milliseconds(), r.Version)
}

// frame is a place in the source.
type frame struct {
	file         string
	line, column int
}

var framePattern = regexp.MustCompile(`(?m)^\s*at (?:.*?\()?((?:file://)?(?:[A-Za-z]:[/\\])?[^():\s][^():]*):(\d+):(\d+)\)?$`)

// generatedMain is the file that package vitest generates to bundle the suites.
var generatedMain = regexp.MustCompile(`(^|[/\\])main-[0-9a-f]{12}[/\\]main\.js$`)

// timedOut is the beginning of what vitest says of a test or hook that takes too long.
var timedOut = regexp.MustCompile(`^(Error: )?(Test|Hook) timed out in \d+ms`)

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
