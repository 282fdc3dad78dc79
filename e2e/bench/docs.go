package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// figures is docs/benchmarks.json, the one place where figures are written down:
// the tables of docs/benchmarks.md and README.md are made from it.
type figures struct {
	Commit string        `json:"commit"` // that was measured
	Date   string        `json:"date"`
	Before string        `json:"machine_before"`
	After  string        `json:"machine_after"`
	Rows   []figuresLine `json:"rows"`
}

type figuresLine struct {
	Name    string          `json:"name"`
	Unit    string          `json:"unit"`
	Goal    string          `json:"goal,omitempty"`
	Higher  bool            `json:"higher_is_better,omitempty"`
	Targets []figuresTarget `json:"targets"`
}

type figuresTarget struct {
	Name string `json:"name"`
	cell
}

func newFigures(before, after string, results []result) figures {
	f := figures{Before: before, After: after}
	for _, r := range results {
		l := figuresLine{Name: r.name, Unit: r.unit, Goal: r.goal, Higher: r.better == higher}
		for i, c := range r.cells {
			if c != (cell{}) {
				l.Targets = append(l.Targets, figuresTarget{targetNames[i], c})
			}
		}
		f.Rows = append(f.Rows, l)
	}
	return f
}

// of is a target's cell in a row; empty if it was not measured.
func (l figuresLine) of(target string) cell {
	for _, t := range l.Targets {
		if t.Name == target {
			return t.cell
		}
	}
	return cell{}
}

func (f figures) row(name string) (figuresLine, error) {
	for _, l := range f.Rows {
		if l.Name == name {
			return l, nil
		}
	}
	return figuresLine{}, fmt.Errorf("docs/benchmarks.json has no row %q", name)
}

// table is every row, for docs/benchmarks.md.
func (f figures) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s at commit %s: %s at the beginning, %s at the end.\n\n", f.Date, f.Commit, f.Before, f.After)
	b.WriteString("| what | unit | minido | goal | bare Go | workerd | ratio | wrangler dev |\n|---|---|---|---|---|---|---|---|\n")
	for _, l := range f.Rows {
		better := lower
		if l.Higher {
			better = higher
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", l.Name, l.Unit, l.of("minido").text(), l.Goal, l.of("bare Go").text(),
			l.of("workerd").text(), better.ratio(l.of("minido"), l.of("workerd")), l.of("wrangler dev").text())
	}
	return b.String()
}

// readmeRows are the rows of the README's comparison, with their names there.
var readmeRows = []struct{ title, row string }{
	{"start to first response: hello", "hello: start to first response"},
	{"the same, npm `agents` from TypeScript, cold cache", "agents, TypeScript, cold cache: start to first response"},
	{"the same, warm cache", "agents, TypeScript, warm cache: start to first response"},
	{"hello, 16 connections", "hello: requests, 16 connections"},
	{"an object's call with one durable INSERT", "object: calls with one durable INSERT, 16 connections"},
	{"an RPC call to an object", "RPC call from the worker to an object and back"},
	{"a chat turn: CPU of each text delta", "chat turn of 2,000 text deltas, 1 client: CPU of a delta"},
	{"JSON.parse of 100 KB", "JSON.parse of 100 KB"},
	{"resident memory with npm `agents`, idle", "agents: resident memory, idle"},
}

// comparison is the README's table.
func (f figures) comparison() (string, error) {
	var b strings.Builder
	b.WriteString("| | minido | wrangler dev | raw workerd |\n|---|---|---|---|\n")
	for _, r := range readmeRows {
		l, err := f.row(r.row)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.title, l.with("minido"), l.with("wrangler dev"), l.with("workerd"))
	}
	return b.String(), nil
}

// with is a target's figure with its unit.
func (l figuresLine) with(target string) string {
	c := l.of(target)
	if c.Error != "" || c == (cell{}) {
		return c.text()
	}
	if l.Unit == "1/s" {
		return c.text() + " a second"
	}
	return c.text() + " " + l.Unit
}

// replaceBlock puts text between the markers `<!-- bench: name -->` and
// `<!-- bench end -->` of a document.
func replaceBlock(document, name, text string) (string, error) {
	begin, end := "<!-- bench: "+name+" -->\n", "<!-- bench end -->"
	before, rest, found := strings.Cut(document, begin)
	if !found {
		return "", fmt.Errorf("no marker %q", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("no marker %q after %q", end, strings.TrimSpace(begin))
	}
	return before + begin + text + end + after, nil
}

// documents are the files below top that figures are written into, as they
// should be.
func (f figures) documents(top string) (map[string]string, error) {
	comparison, err := f.comparison()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, d := range []struct{ file, block, text string }{
		{"README.md", "comparison", comparison},
		{filepath.Join("docs", "benchmarks.md"), "all", f.table()},
	} {
		data, err := os.ReadFile(filepath.Join(top, d.file))
		if err != nil {
			return nil, err
		}
		if out[d.file], err = replaceBlock(string(data), d.block, d.text); err != nil {
			return nil, fmt.Errorf("%s: %w", d.file, err)
		}
	}
	return out, nil
}

// writeDocs writes docs/benchmarks.json and what is made from it.
func (f figures) writeDocs(top string) error {
	data, err := f.json()
	if err != nil {
		return err
	}
	documents, err := f.documents(top)
	if err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(top, "docs", "benchmarks.json"), data, 0o644)}
	for file, text := range documents { // order-independent: each is a file of its own
		errs = append(errs, os.WriteFile(filepath.Join(top, file), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}

func (f figures) json() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(f)
	return b.Bytes(), err
}
