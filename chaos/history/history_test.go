package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
)

// Events are numbered, timed from the start, and written as one JSON line each.
func TestRecorder(t *testing.T) {
	c := clock.NewVirtual(time.Unix(5000, 0))
	var out bytes.Buffer
	r := NewRecorder(c, &out)
	r.Add(Event{Kind: Call, Who: "client-1", Op: "1", Text: "startResearch", Data: json.RawMessage(`["tides"]`)})
	c.Advance(1500 * time.Microsecond)
	r.Add(Event{Kind: Receive, Who: "client-1", Data: json.RawMessage(`not json`)})
	want := `{"n":1,"at_ms":0,"kind":"call","who":"client-1","op":"1","text":"startResearch","data":["tides"]}
{"n":2,"at_ms":1.5,"kind":"receive","who":"client-1","data":"not json"}
`
	if out.String() != want {
		t.Errorf("written:\n%swant:\n%s", out.String(), want)
	}
	if events := r.Events(); len(events) != 2 || events[1].N != 2 {
		t.Errorf("events = %+v", events)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// An event that could not be written is kept and the failure is reported.
func TestRecorderReportsWriteError(t *testing.T) {
	r := NewRecorder(clock.NewVirtual(time.Unix(0, 0)), fullDisk{})
	r.Add(Event{Kind: Note})
	if err := r.Err(); err == nil || len(r.Events()) != 1 {
		t.Errorf("err = %v, %d events", err, len(r.Events()))
	}
}
