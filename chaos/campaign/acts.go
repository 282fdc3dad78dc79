package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
)

// orderActs puts the faults of one life that are no kill into its order.
func (r *caseRun) orderActs(life int, o *process.Order) {
	for _, f := range r.lives[life] {
		if f.Verb != "" {
			o.Acts = append(o.Acts, process.Act{Verb: string(f.Verb), Arg: f.Arg, Point: f.Point, Fault: f.String()})
		}
	}
	if len(o.Acts) > 0 {
		o.Acted = r.actLog(life)
	}
	o.ClockMs = r.ahead.Milliseconds()
}

func (r *caseRun) actLog(life int) string {
	return filepath.Join(r.dir, fmt.Sprintf("acts-%d.ndjson", life+1))
}

// readActs takes what was done in a life into the history. A fault whose point
// was not passed has missed; one that production would not have done then was
// refused.
func (r *caseRun) readActs(life int) error {
	var acts fault.Plan
	for _, f := range r.lives[life] {
		if f.Verb != "" {
			acts = append(acts, f)
		}
	}
	if len(acts) == 0 {
		return nil
	}
	data, err := os.ReadFile(r.actLog(life))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("campaign: acts: %w", err)
	}
	began := r.camp.clock.Now().Add(-r.history.Elapsed())
	done := map[string]bool{}
	for line := range bytes.Lines(data) {
		var a process.Acted
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("campaign: acts: %w", err)
		}
		done[a.Fault] = true
		text := a.Fault
		blow := history.Blow{AtMs: msBetween(began, time.Unix(0, a.AtNs))}
		if f, err := fault.Parse(a.Fault); err == nil {
			blow.Ends = f.EndsObjects() && a.Refused == ""
		}
		switch {
		case a.Error != "":
			return fmt.Errorf("campaign: %s failed: %s", a.Fault, a.Error)
		case a.Refused != "":
			text += " was refused: " + a.Refused
			r.result.Refused, r.result.Text = true, text
		}
		at, err := json.Marshal(blow)
		if err != nil {
			return fmt.Errorf("campaign: acts: %w", err)
		}
		r.history.Add(history.Event{Kind: history.Note, Who: history.ByFault, Text: text, Data: at})
	}
	for _, f := range acts {
		if !done[f.String()] {
			return ended(Missed, "%s did not happen in life %d", f, life+1)
		}
		if f.Verb == fault.Jump {
			d, err := time.ParseDuration(f.Arg)
			if err != nil {
				return fmt.Errorf("campaign: acts: %w", err)
			}
			r.ahead += d // the clock stays where it was set
		}
	}
	return nil
}

// askedFor checks that the upstreams were asked often enough for their faults, and
// notes how often.
func (r *caseRun) askedFor() error {
	if r.model != nil {
		r.result.Asked = r.model.server.Arrived()
	}
	if r.sink != nil {
		r.result.Effects = r.sink.arrived()
	}
	for _, f := range r.plan {
		if f.Upstream == nil || r.result.Outcome != Passed {
			continue
		}
		n := r.result.Asked
		if f.Sink {
			n = r.result.Effects
		}
		if n < f.Upstream.Request {
			return ended(Missed, "%s did not happen: %d requests came", f, n)
		}
	}
	return nil
}
