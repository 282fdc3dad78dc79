package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
)

// A timeline has the points of a life, which are recorded at its end, where they
// happened: in a simulation by what was recorded before them, with real processes by time.
func TestTimelineInTheTerminal(t *testing.T) {
	for name, data := range map[string][2]string{
		"a simulation":   {`{"at_ms":0,"after":2}`, `{"at_ms":0,"after":3}`},
		"real processes": {`{"at_ms":3}`, `{"at_ms":5.5}`},
	} {
		real := name == "real processes"
		at := func(ms float64) float64 {
			if real {
				return ms
			}
			return 0
		}
		var text strings.Builder
		for i, e := range []history.Event{
			{AtMs: at(1), Kind: history.Ready, Who: "server-1"},
			{AtMs: at(2), Kind: history.Call, Who: "client", Text: "POST /a"},
			{AtMs: at(4), Kind: history.Return, Who: "client", Data: json.RawMessage(`"done"`)},
			{AtMs: at(9), Kind: history.Point, Text: "commit:before(Room/a)/rpc#1", Data: json.RawMessage(data[0])},
			{AtMs: at(9), Kind: history.Point, Text: "commit:after(Room/a)/rpc#1", Data: json.RawMessage(data[0])},
			{AtMs: at(9), Kind: history.Point, Text: "alarm:after(Room/a)/alarm#1", Data: json.RawMessage(data[1])},
			{AtMs: at(9), Kind: history.Kill, Text: "alarm:after(Room/a)/alarm#1"},
			{AtMs: at(10), Kind: history.Ready, Who: "server-2"},
			{AtMs: at(11), Kind: history.Effect, Text: "charge-1"},
		} {
			e.N = i + 1
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(append(line, '\n'))
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "history.ndjson"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := terminalTimeline(result.Case{Dir: dir, Kills: make([]result.Kill, 1)})
		want := []string{"Room/a", "> POST /a", "commit (rpc)", `< "done"`, "alarm has run", "SIGKILL at alarm:after", "restart", "charge-1"}
		if len(lines) != len(want) {
			t.Fatalf("%s:\n%s", name, strings.Join(lines, "\n"))
		}
		for i, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("%s: line %d is %q, want %q", name, i, lines[i], w)
			}
		}
		if strings.Index(lines[0], "Room/a") != strings.Index(lines[2], "commit") || strings.Index(lines[0], "client") != strings.Index(lines[1], ">") {
			t.Errorf("%s: lanes do not line up:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}

// Only what is near a death is shown, what repeats is counted, and lanes without room
// share the last one.
func TestTimelineIsBounded(t *testing.T) {
	var rows []row
	for range 100 {
		rows = append(rows, row{lane: "client", text: "> a", times: 1})
	}
	for _, lane := range []string{"A/1", "A/2", "A/3", "A/4"} {
		rows = append(rows, row{lane: lane, text: strings.Repeat("long ", 50), times: 3})
	}
	rows = append(rows, row{border: true, text: "SIGKILL"})
	lines := drawRows(rows)
	if len(lines) != 2+aroundKill+1 || !strings.Contains(lines[0], "others") || !strings.HasSuffix(lines[1], "…") || !strings.Contains(lines[len(lines)-2], "A/4: long") {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	for _, l := range lines {
		if n := len([]rune(l)); n > 12+(maxLanes+1)*laneWidth {
			t.Errorf("%d characters: %s", n, l)
		}
	}
}
