package coverage

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/runtime/bundle/counting"
)

// Result is what was measured.
type Result struct {
	Options Options
	// Root is the directory of the project, absolute.
	Root  string
	Files []*counting.File // by path
	Time  time.Time        // of the machine, when it was measured
}

// writing is one report of a result.
type writing struct {
	result  *Result
	tree    *node
	options struct {
		File, ProjectRoot   string
		MaxCols             *int
		SkipEmpty, SkipFull bool
	}
	color   bool
	columns int
}

// files are those of the result in the order of the tree.
func (w *writing) files() []*counting.File { return w.tree.all() }

// form makes a report; file is the name of the file that it goes to, "" for the terminal.
// One of many pages has them in the directory file.
type form struct {
	file  string
	make  func(*writing) (string, error)
	pages func(*writing) ([]page, error)
}

// writers are the reporters that are offered, by vitest's names, with what they write.
var writers = map[string][]form{
	"text":         {{make: (*writing).text}},
	"text-summary": {{make: (*writing).textSummary}},
	"lcov":         {{file: "lcov.info", make: (*writing).lcov}, {file: "lcov-report", pages: (*writing).html}},
	"lcovonly":     {{file: "lcov.info", make: (*writing).lcov}},
	"text-lcov":    {{make: (*writing).lcov}},
	"json":         {{file: "coverage-final.json", make: (*writing).json}},
	"json-summary": {{file: "coverage-summary.json", make: (*writing).jsonSummary}},
	"clover":       {{file: "clover.xml", make: (*writing).clover}},
	"html":         {{pages: (*writing).html}},
	"none":         {},
}

// Write writes the reports: to out, which is a terminal of so many columns and shows
// colours or does not, and to files.
func (r *Result) Write(out io.Writer, color bool, columns int) error {
	dir := r.Options.ReportsDirectory
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Root, dir)
	}
	if r.Options.Clean {
		if err := r.clean(dir); err != nil {
			return err
		}
	}
	w := &writing{result: r, tree: tree(r.Files), columns: columns}
	headed := false
	for _, reporter := range r.Options.Reporter {
		w.options = reporter.Options
		for _, f := range writers[reporter.Name] {
			file := f.file
			if f.pages != nil {
				if err := f.save(w, dir); err != nil {
					return err
				}
				continue
			}
			if w.options.File != "" {
				file = w.options.File
			}
			w.color = color && file == ""
			text, err := f.make(w)
			if err != nil {
				return err
			}
			if file == "" {
				if !headed {
					text, headed = " % Coverage report from minido\n"+text, true
				}
				if _, err := io.WriteString(out, text); err != nil {
					return fmt.Errorf("coverage: %w", err)
				}
				continue
			}
			if err := save(filepath.Join(dir, filepath.FromSlash(file)), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// save writes the pages of a report.
func (f form) save(w *writing, dir string) error {
	pages, err := f.pages(w)
	if err != nil {
		return err
	}
	for _, p := range pages {
		if err := save(filepath.Join(dir, f.file, filepath.FromSlash(p.name)), p.text); err != nil {
			return err
		}
	}
	return nil
}

// clean removes the reports of an earlier run.
func (r *Result) clean(dir string) error {
	rel, err := filepath.Rel(dir, r.Root)
	if err != nil || rel == "." || filepath.IsLocal(rel) {
		return fmt.Errorf("coverage.reportsDirectory %s would be emptied, and holds the project: name a directory of its own, or set coverage.clean to false", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("coverage: %w", err)
	}
	return nil
}

func save(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("coverage: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("coverage: %w", err)
	}
	return nil
}
