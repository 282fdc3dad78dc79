package report

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/result"
)

// A program reads a campaign line by line: phases, each case with its cause, and the end
// without the cases, to a file or to the output.
func TestLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.ndjson")
	var out strings.Builder
	set, err := Open([]string{"ndjson", "ndjson=" + file}, &out, false, false)
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report{Verb: "enumerate", Kills: 2, Code: 1}
	set.Progress(result.Event{Campaign: &r, Text: "a phase", Planned: 2})
	for _, c := range []result.Case{{Name: "kill@1", Outcome: result.Passed, Uncompared: "a socket"},
		{Name: "kill@2", Outcome: result.Violated, Violations: []check.Violation{{Checker: "alarms", Invariant: "fires", Text: "<none>"}}}} {
		r.Cases = append(r.Cases, c)
		set.Progress(result.Event{Campaign: &r, Case: &c, Planned: 2})
	}
	if err := set.End(r); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil || string(written) != out.String() {
		t.Errorf("the file differs from the output: %v\n%s", err, written)
	}
	var got []Line
	for text := range strings.Lines(out.String()) {
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if len(got) != 4 || got[0].Text != "a phase" || got[0].Done != 0 || got[1].Cause != "" || got[1].Case.Name != "kill@1" ||
		got[2].Cause != "alarms/fires" || got[2].Done != 2 || got[2].Planned != 2 || got[2].Case.Violations[0].Text != "<none>" {
		t.Fatalf("%+v", got)
	}
	if end := got[3]; end.End == nil || end.End.Code != 1 || end.End.Cases != nil || end.Done != 2 || len(end.Uncompared) != 1 {
		t.Errorf("the end: %+v", end)
	}
}

// gone is an output whose reader has gone away.
type gone struct{}

var errGone = errors.New("the pipe is broken")

func (gone) Write([]byte) (int, error) { return 0, errGone }

// What could not be written is told at the end, and does not stop a campaign.
func TestLinesOfNobody(t *testing.T) {
	set, err := Open([]string{"ndjson"}, gone{}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report{}
	set.Progress(result.Event{Campaign: &r, Text: "a phase"})
	if err := set.End(r); !errors.Is(err, errGone) {
		t.Errorf("%v", err)
	}
}
