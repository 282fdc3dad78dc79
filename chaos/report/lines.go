package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"minido.dev/minido/chaos/result"
)

// Line is one line of the reporter ndjson, which tells a campaign to a program while it
// runs: a phase that begins (Text), a case that has ended (Case), or the end (End).
type Line struct {
	// Text says what goes on.
	Text string `json:"text,omitempty"`
	// Done is how many cases have ended, Planned how many there are to run as far as is
	// known, Kills how many servers were killed.
	Done    int          `json:"done"`
	Planned int          `json:"planned"`
	Kills   int          `json:"kills"`
	Case    *result.Case `json:"case,omitempty"`
	// Cause names what is wrong with Case, "" if nothing is.
	Cause string `json:"cause,omitempty"`
	// End is the report without its cases, which were lines of their own. Uncompared says
	// how many of them were compared with no run without faults, and why.
	End        *result.Report `json:"end,omitempty"`
	Uncompared []string       `json:"uncompared,omitempty"`
}

// lines writes a Line for each event. Used by one goroutine at a time.
type lines struct {
	out  *json.Encoder
	end  func() error // closes the file, if out is one
	last Line
	err  error // of the first line that could not be written
}

// openLines writes to the file of that name; "" and "-" are out.
func openLines(out io.Writer, file string) (*lines, error) {
	l := &lines{end: func() error { return nil }}
	if file != "" && file != "-" {
		f, err := os.Create(file)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		out, l.end = f, f.Close
	}
	l.out = json.NewEncoder(out)
	l.out.SetEscapeHTML(false)
	return l, nil
}

func (l *lines) progress(e result.Event) {
	next := Line{Text: e.Text, Done: l.last.Done, Planned: max(e.Planned, l.last.Planned), Kills: e.Campaign.Kills, Case: e.Case}
	if e.Case != nil {
		next.Done++
		next.Cause = e.Case.Cause()
	}
	l.write(next)
}

func (l *lines) write(next Line) {
	l.last = next
	if l.err == nil { // a reader who has gone away does not stop a campaign
		l.err = l.out.Encode(next)
	}
}

// finish writes the end, and tells what could not be written.
func (l *lines) finish(r result.Report) error {
	last := Line{Done: l.last.Done, Planned: l.last.Planned, Kills: r.Kills, Uncompared: r.Uncompared(), End: &r}
	r.Cases = nil
	l.write(last)
	if err := errors.Join(l.err, l.end()); err != nil {
		return fmt.Errorf("report: ndjson: %w", err)
	}
	return nil
}
