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
	done := map[string]bool{}
	for line := range bytes.Lines(data) {
		var a process.Acted
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("campaign: acts: %w", err)
		}
		done[a.Fault] = true
		text := a.Fault
		switch {
		case a.Error != "":
			return fmt.Errorf("campaign: %s failed: %s", a.Fault, a.Error)
		case a.Refused != "":
			text += " was refused: " + a.Refused
			r.result.Refused, r.result.Text = true, text
		}
		r.history.Add(history.Event{Kind: history.Note, Who: "fault", Text: text})
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

// askedFor checks that the model was asked often enough for its faults.
func (r *caseRun) askedFor() error {
	for _, f := range r.plan.Upstream() {
		if n := r.model.server.Arrived(); n < f.Request {
			return ended(Missed, "upstream.%s did not happen: the model was asked %d times", f, n)
		}
	}
	return nil
}
