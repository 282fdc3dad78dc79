// Package report writes the results of test runs for people and programs, in the
// formats of vitest's reporters.
package report

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/vitest"
)

// form makes a report's text.
type form func(r *vitest.Report, c colors) (string, error)

// Tasks is the reporter that writes all that is known of the tests.
const Tasks = "tasks"

// forms are the reporters by name.
var forms = map[string]form{"default": whole("default"), "verbose": whole("verbose"), "dot": whole("dot"), "json": asJSON, "junit": asJUnit, "github": annotations, "tap": asTAP, Tasks: asTasks}

// Names lists the reporters, sorted.
func Names() (names []string) {
	for name := range forms { // order-independent: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Known reports whether there is a reporter of that name.
func Known(name string) bool { return forms[name] != nil }

// Text is the report in the form of a reporter.
func Text(name string, r *vitest.Report, color bool) (string, error) {
	f := forms[name]
	if f == nil {
		return "", fmt.Errorf("report: there is no reporter %q", name)
	}
	return f(r, colors(color))
}

// stateOf is a test's state as the reports name it.
func stateOf(t vitest.Test) string {
	switch {
	case t.State == "pass":
		return "passed"
	case t.State == "fail":
		return "failed"
	case t.Mode == "todo":
		return "todo"
	default:
		return "skipped"
	}
}

// count counts tests by state.
func count(r *vitest.Report) (files map[string]int, tests map[string]int) {
	files, tests = map[string]int{}, map[string]int{}
	for _, f := range r.Files {
		if f.Failed() {
			files["failed"]++
		} else {
			files["passed"]++
		}
		for _, t := range f.Tests() {
			tests[stateOf(t)]++
		}
	}
	return files, tests
}

// asTasks is everything that is known of the tests, as npm's minido/vitest reads it.
func asTasks(r *vitest.Report, _ colors) (string, error) {
	text, err := json.Marshal(struct{ Files []*vitest.File }{r.Files})
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	return string(text) + "\n", nil
}

func asJSON(r *vitest.Report, _ colors) (string, error) {
	type assertion struct {
		AncestorTitles  []string  `json:"ancestorTitles"`
		FullName        string    `json:"fullName"`
		Status          string    `json:"status"`
		Title           string    `json:"title"`
		Duration        float64   `json:"duration"`
		FailureMessages []*string `json:"failureMessages"` // nil for what has no text, as in vitest
	}
	type suite struct {
		AssertionResults []assertion `json:"assertionResults"`
		Status           string      `json:"status"`
		Message          string      `json:"message"`
		Name             string      `json:"name"`
	}
	_, tests := count(r)
	suites := map[string]int{}
	for _, f := range r.Files {
		countSuites(f, suites)
	}
	out := struct {
		NumTotalSuites   int              `json:"numTotalTestSuites"`
		NumPassedSuites  int              `json:"numPassedTestSuites"`
		NumFailedSuites  int              `json:"numFailedTestSuites"`
		NumPendingSuites int              `json:"numPendingTestSuites"`
		NumTotalTests    int              `json:"numTotalTests"`
		NumPassedTests   int              `json:"numPassedTests"`
		NumFailedTests   int              `json:"numFailedTests"`
		NumPendingTests  int              `json:"numPendingTests"`
		NumTodoTests     int              `json:"numTodoTests"`
		Success          bool             `json:"success"`
		TestResults      []suite          `json:"testResults"`
		Findings         []vitest.Finding `json:"findings,omitempty"`
		Skips            []vitest.Skip    `json:"chaosSkips,omitempty"`
	}{suites["passed"] + suites["failed"] + suites["pending"], suites["passed"], suites["failed"], suites["pending"], tests["passed"] + tests["failed"] + tests["skipped"] + tests["todo"], tests["passed"], tests["failed"], tests["skipped"], tests["todo"], !r.Failed(), []suite{}, plainFindings(r.Findings), r.Skips}
	for _, f := range r.Files {
		s := suite{AssertionResults: []assertion{}, Status: "passed", Name: f.Abs}
		if f.Failed() {
			s.Status = "failed"
		}
		for _, e := range ownErrors(f) {
			if len(e.suite) == 0 {
				s.Message = e.Message
				break
			}
		}
		for _, t := range f.Tests() {
			a := assertion{AncestorTitles: append([]string{}, t.Path[:len(t.Path)-1]...), FullName: t.FullName(), Status: stateOf(t), Title: t.Name, Duration: t.Duration, FailureMessages: []*string{}}
			for _, e := range t.Errors {
				text := new(cmp.Or(absoluteStack(e.Stack, r.Dir), e.Message))
				if e.Bare {
					text = nil
				}
				a.FailureMessages = append(a.FailureMessages, text)
			}
			s.AssertionResults = append(s.AssertionResults, a)
		}
		out.TestResults = append(out.TestResults, s)
	}
	text, err := json.Marshal(out)
	return string(text) + "\n", err
}

// countSuites counts a file, and its suites, by state.
func countSuites(f *vitest.File, n map[string]int) {
	if f.Failed() {
		n["failed"]++
	} else {
		n["passed"]++
	}
	var walk func(t *vitest.Task)
	walk = func(t *vitest.Task) {
		for _, c := range t.Tasks {
			if c.Type == "test" {
				continue
			}
			switch {
			case c.Mode == "todo":
				n["pending"]++
			case c.State == "fail":
				n["failed"]++
			default:
				n["passed"]++
			}
			walk(c)
		}
	}
	if f.Root != nil {
		walk(f.Root)
	}
}

// absoluteStack is a stack whose places in the project are absolute, for programs: in
// reports for people they are relative.
func absoluteStack(stack, dir string) string {
	lines := strings.Split(stack, "\n")
	for i, line := range lines {
		at, place, ok := strings.Cut(line, "    at ")
		if !ok || at != "" {
			continue
		}
		head := "    at "
		if open := strings.LastIndex(place, "("); open >= 0 {
			head, place = head+place[:open+1], place[open+1:]
		} else if rest, ok := strings.CutPrefix(place, "async "); ok {
			head, place = head+"async ", rest
		}
		file, _, _ := strings.Cut(place, ":")
		if file != "" && !filepath.IsAbs(file) && file[0] != '<' && strings.ContainsAny(file, "./") {
			lines[i] = head + filepath.ToSlash(filepath.Join(dir, place))
		}
	}
	return strings.Join(lines, "\n")
}

// plainFindings are findings without colours.
func plainFindings(given []vitest.Finding) []vitest.Finding {
	all := slices.Clone(given)
	for i := range all {
		all[i].Errors = slices.Clone(all[i].Errors)
		for j := range all[i].Errors {
			all[i].Errors[j].Diff = all[i].Errors[j].PlainDiff()
		}
	}
	return all
}

// ownError is an error that belongs to no test: to a suite with these names, to the file if
// there are none.
type ownError struct {
	vitest.Error
	suite []string
}

// ownErrors are a file's errors that belong to no test.
func ownErrors(f *vitest.File) (all []ownError) {
	if f.Fatal != "" {
		all = append(all, ownError{Error: vitest.Error{Name: "Error", Message: f.Fatal}})
	}
	var walk func(t *vitest.Task, suite []string)
	walk = func(t *vitest.Task, suite []string) {
		for _, e := range t.Errors {
			all = append(all, ownError{e, suite})
		}
		for _, c := range t.Tasks {
			if c.Type != "test" {
				walk(c, append(suite[:len(suite):len(suite)], c.Name))
			}
		}
	}
	if f.Root != nil {
		walk(f.Root, nil)
	}
	for _, e := range f.Unhandled {
		e.Message = "unhandled rejection: " + e.Message
		all = append(all, ownError{Error: e})
	}
	return all
}

// errorsOf are the errors of a test that failed: those of one that passed when it was
// tried again are no errors of the run.
func errorsOf(t vitest.Test) []vitest.Error {
	if stateOf(t) != "failed" {
		return nil
	}
	return t.Errors
}

// plain is an error as text without colours: what it says, its diff, its places.
func plain(e vitest.Error) string {
	text := e.Message
	if e.Name != "" && !strings.HasPrefix(text, e.Name) {
		text = e.Name + ": " + text
	}
	if e.Diff != "" {
		text += "\n\n" + e.PlainDiff()
	}
	for i, x := range framesOf(e.Stack) {
		if i == 0 {
			text += "\n"
		}
		text += fmt.Sprintf("\n ❯ %s:%d:%d", x.file, x.line, x.column)
	}
	return text
}

func asJUnit(r *vitest.Report, _ colors) (string, error) {
	type failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Time    string    `xml:"time,attr"`
		Failure []failure `xml:"failure"`
		Error   []failure `xml:"error"`
		Skipped *struct{} `xml:"skipped"`
	}
	type testsuite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	out := struct {
		XMLName  xml.Name    `xml:"testsuites"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		Suites   []testsuite `xml:"testsuite"`
	}{Name: "vitest tests"}
	asFailure := func(e vitest.Error) failure {
		x := failure{e.Message, e.Name, "\n" + plain(e) + "\n"}
		if x.Type == "Unknown Error" { // vitest's word for what has no name
			x.Type = ""
		}
		return x
	}
	seconds := func(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }
	var whole float64 // milliseconds of virtual time
	for _, f := range r.Files {
		s, took := testsuite{Name: f.Path}, 0.0
		for _, e := range ownErrors(f) {
			s.Errors++
			s.Cases = append(s.Cases, testcase{Class: f.Path, Name: f.Path, Time: "0", Error: []failure{asFailure(e.Error)}})
		}
		for _, t := range f.Tests() {
			c := testcase{Class: f.Path, Name: strings.Join(t.Path, " > "), Time: seconds(t.Duration)}
			took += t.Duration
			switch stateOf(t) {
			case "failed":
				s.Failures++
				for _, e := range errorsOf(t) {
					c.Failure = append(c.Failure, asFailure(e))
				}
			case "skipped", "todo":
				s.Skipped++
				c.Skipped = &struct{}{}
			}
			s.Tests++
			s.Cases = append(s.Cases, c)
		}
		s.Time = seconds(took)
		whole += took
		out.Suites = append(out.Suites, s)
	}
	if len(r.Findings) > 0 {
		s := testsuite{Name: "chaos " + string(r.Chaos), Tests: len(r.Findings), Failures: len(r.Findings), Time: "0"}
		for _, x := range r.Findings {
			c := testcase{Class: x.File, Name: x.Test + ", " + x.With(r.Chaos), Time: "0"}
			for _, e := range x.Errors {
				c.Failure = append(c.Failure, asFailure(e))
			}
			s.Cases = append(s.Cases, c)
		}
		out.Suites = append(out.Suites, s)
	}
	for _, s := range out.Suites {
		out.Tests, out.Failures, out.Errors = out.Tests+s.Tests, out.Failures+s.Failures, out.Errors+s.Errors
	}
	out.Time = seconds(whole)
	text, err := xml.MarshalIndent(out, "", "  ")
	return xml.Header + string(text) + "\n", err
}

// directives are TAP's for tests that did not run; todo is a state of vitest's.
var directives = map[string]string{"skipped": " # SKIP", "todo": " # TODO"} // the reference's text

func asTAP(r *vitest.Report, _ colors) (string, error) {
	var sb strings.Builder
	n := 0
	line := func(f *vitest.File, ok bool, name, directive string, errs []vitest.Error) {
		n++
		word := "ok"
		if !ok {
			word = "not ok"
		}
		fmt.Fprintf(&sb, "%s %d - %s%s\n", word, n, strings.ReplaceAll(name, "#", `\#`), directive)
		for _, e := range errs {
			fmt.Fprintf(&sb, "    ---\n    error:\n        name: %q\n        message: %q\n", e.Name, e.Message)
			if at := frameOf(r, f, e); at.line > 0 {
				fmt.Fprintf(&sb, "    at: \"%s:%d:%d\"\n", at.file, at.line, at.column)
			}
		}
		if len(errs) > 0 {
			sb.WriteString("    ...\n")
		}
	}
	for _, f := range r.Files {
		var errs []vitest.Error
		for _, e := range ownErrors(f) {
			errs = append(errs, e.Error)
		}
		if len(errs) > 0 {
			line(f, false, f.Path, "", errs)
		}
		for _, t := range f.Tests() {
			line(f, stateOf(t) != "failed", f.Path+" > "+strings.Join(t.Path, " > "), directives[stateOf(t)], errorsOf(t))
		}
	}
	for _, x := range r.Findings {
		line(&vitest.File{Path: x.File}, false, fmt.Sprintf("%s > %s, %s", x.File, x.Test, x.With(r.Chaos)), "", x.Errors)
	}
	return fmt.Sprintf("TAP version 13\n1..%d\n%s", n, sb.String()), nil
}

func annotations(r *vitest.Report, _ colors) (string, error) {
	var sb strings.Builder
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	line := func(f *vitest.File, title string, e vitest.Error) {
		at := frameOf(r, f, e)
		fmt.Fprintf(&sb, "::error file=%s,line=%d,column=%d,title=%s::%s\n", property.Replace(at.file), max(at.line, 1), max(at.column, 1), property.Replace(title), data.Replace(plain(e)))
	}
	for _, f := range r.Files {
		for _, e := range ownErrors(f) {
			line(f, f.Path, e.Error)
		}
		for _, t := range f.Tests() {
			for _, e := range errorsOf(t) {
				line(f, f.Path+" > "+strings.Join(t.Path, " > "), e)
			}
		}
	}
	for _, x := range r.Findings {
		for _, e := range x.Errors {
			e.Message = fmt.Sprintf("%s: %s\nreplay: %s", x.With(r.Chaos), e.Message, x.Replay)
			line(&vitest.File{Path: x.File}, x.Test, e)
		}
	}
	return sb.String(), nil
}
