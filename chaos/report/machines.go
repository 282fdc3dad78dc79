package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"minido.dev/minido/chaos/result"
)

type suite struct {
	XMLName  xml.Name   `xml:"testsuite"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Seconds  string     `xml:"time,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Seconds string   `xml:"time,attr"`
	Failure *problem `xml:"failure,omitempty"`
	Error   *problem `xml:"error,omitempty"`
	Skipped *problem `xml:"skipped,omitempty"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit's XML: a violation and a system that
// never rests are failures, a fault of the harness is an error, a missed point is
// skipped.
func WriteJUnit(w io.Writer, r result.Report) error {
	s := suite{Name: "minido chaos " + r.Verb + " " + r.Project, Tests: len(r.Cases), Seconds: seconds(r.Ms)}
	for _, c := range r.Cases {
		t := testcase{Class: "minido.chaos." + r.Verb, Name: c.Title(), Seconds: seconds(c.Ms)}
		p := &problem{Message: headline(c), Text: story(c)}
		switch c.Outcome {
		case result.Violated, result.Restless:
			t.Failure = p
			s.Failures++
		case result.Broken:
			t.Error = p
			s.Errors++
		case result.Missed, result.Unreached:
			t.Skipped = p
			s.Skipped++
		}
		s.Cases = append(s.Cases, t)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("report: junit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("report: junit: %w", err)
	}
	return nil
}

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }

// headline is what is wrong with a case, on one line.
func headline(c result.Case) string {
	if len(c.Violations) > 0 {
		return readable(c, c.Violations[0])
	}
	first, _, _ := strings.Cut(c.Text, "\n")
	return string(c.Outcome) + ": " + first
}

// story is a case in a few lines, the replay last.
func story(c result.Case) string {
	var b strings.Builder
	for i, k := range c.Kills {
		fmt.Fprintf(&b, "SIGKILL %d at %.0f ms: %s%s\n", i+1, k.AtMs, k.Point, cutFibers(k))
	}
	for _, text := range placeTexts(c) {
		fmt.Fprintln(&b, text)
	}
	for _, v := range c.Violations {
		fmt.Fprintln(&b, readable(c, v))
	}
	if c.Text != "" {
		fmt.Fprintln(&b, c.Text)
	}
	if c.Workerd != nil {
		fmt.Fprintln(&b, *c.Workerd)
	}
	fmt.Fprintln(&b, c.Replay)
	return b.String()
}

// WriteGitHub writes workflow commands that GitHub Actions shows as annotations:
// one for each cause of failures, with a plan that shows it.
func WriteGitHub(w io.Writer, r result.Report) error {
	for _, f := range r.Findings() {
		if len(f.Cases) == 0 {
			continue // it is in the number below
		}
		c := f.Example
		level := "error"
		if c.Outcome == result.Missed {
			level = "warning"
		}
		if _, err := fmt.Fprintf(w, "::%s title=%s::%s\n", level, escapeProperty("minido chaos: "+headline(c)), escapeData(story(c))); err != nil {
			return fmt.Errorf("report: github: %w", err)
		}
	}
	_, err := fmt.Fprintf(w, "::notice title=minido chaos::%s\n", escapeData(fmt.Sprintf("%d runs, %d kills, %d failed", r.Runs()-r.Same, r.Kills, r.Failures())))
	if err != nil {
		return fmt.Errorf("report: github: %w", err)
	}
	return nil
}

func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
