package coverage

import (
	"encoding/json"
	"strconv"
	"strings"

	"minido.dev/minido/runtime/bundle/counting"
)

// Istanbul's form of what was counted.

type jsonPosition struct {
	Line   int  `json:"line,omitempty"`
	Column *int `json:"column,omitempty"`
}

// MarshalJSON writes null for the end of a line, as JSON has no Infinity.
func (p jsonPosition) MarshalJSON() ([]byte, error) {
	switch {
	case p.Line == 0:
		return []byte("{}"), nil
	case p.Column == nil:
		return []byte(`{"line":` + strconv.Itoa(p.Line) + `,"column":null}`), nil
	}
	return []byte(`{"line":` + strconv.Itoa(p.Line) + `,"column":` + strconv.Itoa(*p.Column) + `}`), nil
}

type jsonRange struct {
	Start jsonPosition `json:"start"`
	End   jsonPosition `json:"end"`
}

func place(r counting.Range) jsonRange {
	at := func(p counting.Position) jsonPosition {
		if p.Column == counting.Unknown {
			return jsonPosition{Line: p.Line}
		}
		return jsonPosition{p.Line, &p.Column}
	}
	return jsonRange{at(r.Start), at(r.End)}
}

type jsonFunction struct {
	Name string    `json:"name"`
	Decl jsonRange `json:"decl"`
	Loc  jsonRange `json:"loc"`
}

type jsonBranch struct {
	Loc       jsonRange   `json:"loc"`
	Type      string      `json:"type"`
	Locations []jsonRange `json:"locations"`
}

// ordered is an object whose keys are numbers from 0.
type ordered[T any] []T

// MarshalJSON implements json.Marshaler.
func (o ordered[T]) MarshalJSON() ([]byte, error) {
	var sb strings.Builder
	sb.WriteByte('{')
	for i, v := range o {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			sb.WriteByte(',')
		}
		sb.WriteString(strconv.Quote(strconv.Itoa(i)) + ":")
		sb.Write(text)
	}
	sb.WriteByte('}')
	return []byte(sb.String()), nil
}

type jsonFile struct {
	Path         string                `json:"path"`
	StatementMap ordered[jsonRange]    `json:"statementMap"`
	FnMap        ordered[jsonFunction] `json:"fnMap"`
	BranchMap    ordered[jsonBranch]   `json:"branchMap"`
	S            ordered[uint64]       `json:"s"`
	F            ordered[uint64]       `json:"f"`
	B            ordered[[]uint64]     `json:"b"`
}

func fileJSON(f *counting.File) jsonFile {
	j := jsonFile{Path: f.Path}
	for _, s := range f.Statements {
		j.StatementMap, j.S = append(j.StatementMap, place(s.At)), append(j.S, s.Count)
	}
	for i, fn := range f.Functions {
		j.FnMap = append(j.FnMap, jsonFunction{nameOf(f, i), place(fn.Decl), place(fn.Body)})
		j.F = append(j.F, fn.Count)
	}
	for _, b := range f.Branches {
		made := jsonBranch{Loc: place(b.At), Type: b.Kind}
		for _, p := range b.Paths {
			made.Locations = append(made.Locations, place(p))
		}
		j.BranchMap, j.B = append(j.BranchMap, made), append(j.B, b.Counts)
	}
	return j
}

// json is the report json.
func (w *writing) json() (string, error) {
	var sb strings.Builder
	for i, f := range w.files() {
		text, err := pair(f.Path, fileJSON(f), "")
		if err != nil {
			return "", err
		}
		sb.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + text + "\n")
	}
	if sb.Len() == 0 {
		return "{}\n", nil
	}
	return sb.String() + "}\n", nil
}

// pair is a member of an object.
func pair(key string, value any, space string) (string, error) {
	name, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(value)
	return string(name) + ":" + space + string(text), err
}

type jsonMetric struct {
	Total   int `json:"total"`
	Covered int `json:"covered"`
	Skipped int `json:"skipped"`
	Pct     any `json:"pct"`
}

func metricJSON(m metric) jsonMetric { return jsonMetric{m.total, m.covered, 0, m.percent()} }

// jsonSummary is the report json-summary.
func (w *writing) jsonSummary() (string, error) {
	type total struct {
		Lines        jsonMetric `json:"lines"`
		Statements   jsonMetric `json:"statements"`
		Functions    jsonMetric `json:"functions"`
		Branches     jsonMetric `json:"branches"`
		BranchesTrue jsonMetric `json:"branchesTrue"`
	}
	type one struct {
		Lines      jsonMetric `json:"lines"`
		Functions  jsonMetric `json:"functions"`
		Statements jsonMetric `json:"statements"`
		Branches   jsonMetric `json:"branches"`
	}
	s := w.tree.summary
	whole := total{metricJSON(s["lines"]), metricJSON(s["statements"]), metricJSON(s["functions"]), metricJSON(s["branches"]), jsonMetric{Pct: "Unknown"}}
	if children := w.tree.children; len(children) > 0 && children[0].file == nil { // sums were added up
		whole.BranchesTrue.Pct = 100
	}
	if len(w.result.Files) == 0 { // nothing was added up
		whole = total{whole.BranchesTrue, whole.BranchesTrue, whole.BranchesTrue, whole.BranchesTrue, whole.BranchesTrue}
	}
	text, err := pair("total", whole, " ")
	if err != nil {
		return "", err
	}
	text = "{" + text + "\n"
	for _, f := range w.files() {
		s := summarize(f)
		more, err := pair(f.Path, one{metricJSON(s["lines"]), metricJSON(s["functions"]), metricJSON(s["statements"]), metricJSON(s["branches"])}, " ")
		if err != nil {
			return "", err
		}
		text += "," + more + "\n"
	}
	return text + "}\n", nil
}
