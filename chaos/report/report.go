// Package report shows a campaign: to a person while it runs (list, or story for a
// single case), to programs line by line (ndjson), and to machines when it is over (json,
// junit, github, html, markdown).
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
)

// Set is the reporters of one campaign. Progress may be called from any
// goroutine, one call at a time; End once, after it.
type Set struct {
	progress []func(result.Event)
	ends     []func(result.Report) error
	observe  func(dir string, e history.Event)
}

// Observe is for campaign.Options.Observe: nil if no reporter wants it.
func (s *Set) Observe() func(dir string, e history.Event) { return s.observe }

// Progress passes an event on.
func (s *Set) Progress(e result.Event) {
	for _, fn := range s.progress {
		fn(e)
	}
}

// End writes what is written at the end.
func (s *Set) End(r result.Report) error {
	var errs []error
	for _, fn := range s.ends {
		errs = append(errs, fn(r))
	}
	return errors.Join(errs...)
}

// writers make a report of a finished campaign, by kind.
var writers = map[string]func(io.Writer, result.Report) error{
	"json": WriteJSON, "junit": WriteJUnit, "github": WriteGitHub, "html": WriteHTML, "markdown": WriteMarkdown,
}

// files is where a report goes by default, in the campaign's directory; github
// reads standard output.
var files = map[string]string{"json": "report.json", "junit": "junit.xml", "html": "report.html", "markdown": "report.md"}

// Open makes the reporters that kinds name, each KIND or KIND=FILE; none is list
// alone. FILE "-" is standard output. report.json is written in any case: merge
// reads it.
func Open(kinds []string, out io.Writer, color, live bool) (*Set, error) {
	s := &Set{}
	if len(kinds) == 0 {
		kinds = []string{"list"}
	}
	jsonToo := true
	for _, k := range kinds {
		kind, file, _ := strings.Cut(k, "=")
		if kind == "list" {
			l := &list{out: out, color: color, live: live}
			s.progress = append(s.progress, l.progress)
			s.ends = append(s.ends, l.end)
			continue
		}
		if kind == "story" {
			t := newTeller(out, color)
			s.progress, s.ends, s.observe = append(s.progress, t.progress), append(s.ends, t.end), t.observe
			continue
		}
		if kind == "ndjson" {
			l, err := openLines(out, file)
			if err != nil {
				return nil, err
			}
			s.progress, s.ends = append(s.progress, l.progress), append(s.ends, l.finish)
			continue
		}
		write := writers[kind]
		if write == nil {
			return nil, fmt.Errorf("%q is none of list, story, ndjson, json, junit, github, html, markdown", kind)
		}
		jsonToo = jsonToo && !(kind == "json" && file == "")
		s.ends = append(s.ends, func(r result.Report) error { return writeTo(out, kind, file, r, write) })
	}
	if jsonToo {
		s.ends = append(s.ends, func(r result.Report) error { return writeTo(out, "json", "", r, WriteJSON) })
	}
	return s, nil
}

// writeTo writes a report to a file, or to out.
func writeTo(out io.Writer, kind, file string, r result.Report, write func(io.Writer, result.Report) error) (err error) {
	if file == "" {
		if kind == "github" {
			return write(out, r)
		}
		if r.Dir == "" && len(r.Cases) > 0 && kind != "json" {
			return fmt.Errorf("report: %s: where to? Write --reporter %s=FILE, or name a directory with --out", kind, kind)
		}
		if r.Dir == "" {
			return nil // it did not come so far, or is a merged report that nobody wants as a file
		}
		file = filepath.Join(r.Dir, files[kind])
	}
	if file == "-" {
		return write(out, r)
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f, r)
}

// WriteJSON writes the report as indented JSON.
func WriteJSON(w io.Writer, r result.Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("report: json: %w", err)
	}
	return nil
}
