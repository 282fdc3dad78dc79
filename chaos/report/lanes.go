package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/internal/killpoint"
)

// A timeline in the terminal has one lane for clients and for each object. These bound it.
const (
	maxLanes    = 4
	laneWidth   = 27 // of one lane, in characters
	aroundKill  = 8  // rows that are shown before and behind each death
	clientsLane = "client"
)

// quiet are kinds of points that say little about why a system fails.
var quiet = []killpoint.Kind{killpoint.File, killpoint.Index, killpoint.Response, killpoint.Chunk, killpoint.Close}

// row is a line of a timeline: something in a lane, or across all of them.
type row struct {
	atMs   float64
	lane   string // "" is across
	text   string
	times  int
	border bool // a death, or the start of the next life
}

// Moment is a line of a case's timeline: what happened in a lane.
type Moment struct {
	AtMs float64 // since the case began
	Lane string  // "client", an object, "effects", "model"; "" is across all
	Text string
	// Times is how often it happened, one after another.
	Times int
	// Border says that it is a death, or the start of the next life.
	Border bool
}

// Timeline is what happened in a case, in order, by the directory of its evidence. It is
// empty for "", and where the evidence was deleted.
//
// # Errors
//
// Those of reading the history.
func Timeline(dir string) ([]Moment, error) {
	if dir == "" {
		return nil, nil
	}
	events, err := history.ReadFile(filepath.Join(dir, "history.ndjson"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("report: the timeline: %w", err)
	}
	var out []Moment
	for _, r := range rowsOf(inOrder(events)) {
		out = append(out, Moment{AtMs: r.atMs, Lane: r.lane, Text: r.text, Times: r.times, Border: r.border})
	}
	return out, nil
}

// terminalTimeline is a case with a death as lines of text; nil if it has no history.
func terminalTimeline(c result.Case) []string {
	if c.Dir == "" || len(c.Kills) == 0 {
		return nil
	}
	events, err := history.ReadFile(filepath.Join(c.Dir, "history.ndjson"))
	if err != nil {
		return []string{fmt.Sprintf("no timeline: %v", err)}
	}
	return drawRows(rowsOf(inOrder(events)))
}

// inOrder has the points of each life, which are recorded at its end, where they happened.
func inOrder(events []history.Event) []history.Event {
	var out, life []history.Event
	flush := func() {
		slices.SortStableFunc(life, comparePlaces)
		out, life = append(out, life...), nil
	}
	for _, e := range events {
		if e.Kind == history.Kill {
			flush()
			out = append(out, e)
			continue
		}
		if e.Kind == history.Note && (e.Who == history.ByChecker || e.Who == history.ByHarness) {
			continue
		}
		life = append(life, e)
	}
	flush()
	return out
}

// comparePlaces orders the events of one life: in a simulation by the number of events
// that were recorded before them, with real processes by time.
func comparePlaces(a, b history.Event) int {
	pa, pb := placeOf(a), placeOf(b)
	if pa.After != nil && pb.After != nil {
		return *pa.After - *pb.After
	}
	switch {
	case pa.AtMs < pb.AtMs:
		return -1
	case pa.AtMs > pb.AtMs:
		return 1
	}
	return 0
}

// placeOf is when an event happened. One that is no point was recorded then.
func placeOf(e history.Event) history.Passed {
	p := history.Passed{AtMs: e.AtMs}
	if e.Kind == history.Point {
		if json.Unmarshal(e.Data, &p) != nil {
			p.AtMs = e.AtMs
		}
		return p
	}
	n := e.N // behind the points that were passed when there were N-1
	p.After = &n
	return p
}

// endOf says how a life ended.
func endOf(e history.Event) string {
	switch {
	case strings.HasPrefix(e.Text, "deploy@"):
		return "ended at rest for the next version (" + e.Text + ")"
	case e.Text == history.AtRest:
		return "ended at rest; next, every object is constructed"
	}
	return "SIGKILL at " + e.Text
}

// rowsOf says what each event is to a reader, and joins what repeats in a lane.
func rowsOf(events []history.Event) []row {
	var rows []row
	started, of := false, ""
	for i, e := range events {
		r := row{atMs: placeOf(e).AtMs, lane: clientsLane, times: 1}
		switch e.Kind {
		case history.Kill:
			r.lane, r.border, r.text = "", true, endOf(e)
		case history.Start:
			if of = ""; e.Text != "" {
				of = " with " + e.Text
			}
			continue
		case history.Ready:
			if !started {
				started = true
				continue
			}
			r.lane, r.border, r.text = "", true, "restart on the same files"+of
		case history.Call:
			r.text = "> " + e.Text + " " + string(e.Data)
		case history.Return:
			r.text = "< " + string(e.Data)
		case history.Fail:
			r.text = "< failed: " + e.Text
		case history.Unknown:
			r.text = "< lost: " + e.Text
		case history.Send:
			r.text = "> frame " + string(e.Data)
		case history.Receive:
			r.text = "< frame " + string(e.Data)
		case history.Effect:
			r.lane, r.text = "effects", e.Text
		case history.Fetch:
			r.lane, r.text = "model", e.Text
		case history.Note:
			r.lane, r.text = "", e.Text
		case history.Point:
			ok := false
			if r.lane, r.text, ok = pointText(events, i); !ok {
				continue
			}
		default:
			continue
		}
		if n := len(rows); n > 0 && rows[n-1].lane == r.lane && rows[n-1].text == r.text && !r.border {
			rows[n-1].times++
			continue
		}
		rows = append(rows, r)
	}
	return rows
}

// pointText is the effect of a point that has happened, in its object's lane. What was
// only about to happen is told by the death that follows.
func pointText(events []history.Event, i int) (lane, text string, ok bool) {
	p, err := killpoint.ParseLabel(events[i].Text)
	if err != nil || p.Side == killpoint.Before || slices.Contains(quiet, p.Kind) {
		return "", "", false
	}
	if lane = p.Object; lane == "" {
		lane = "worker"
	}
	switch p.Kind {
	case killpoint.Wake:
		return lane, "constructor has run", true
	case killpoint.Alarm:
		return lane, "alarm has run", true
	}
	return lane, string(p.Kind) + " (" + p.Cause + ")", true
}

// near reports which rows are shown: those around deaths.
func near(rows []row) []bool {
	show := make([]bool, len(rows))
	for i, r := range rows {
		if r.border {
			for k := max(0, i-aroundKill); k < min(len(rows), i+aroundKill+1); k++ {
				show[k] = true
			}
		}
	}
	return show
}

// drawRows draws the rows near deaths. Lanes that have no room are in the last one, with
// their names.
func drawRows(rows []row) []string {
	show := near(rows)
	lanes := []string{clientsLane}
	for i, r := range rows {
		if show[i] && r.lane != "" && !slices.Contains(lanes, r.lane) {
			lanes = append(lanes, r.lane)
		}
	}
	others := len(lanes) > maxLanes
	if others {
		lanes = append(lanes[:maxLanes-1:maxLanes-1], "others")
	}
	head := fmt.Sprintf("%10s  ", "")
	for _, name := range lanes {
		head += fit(name, laneWidth)
	}
	out := []string{strings.TrimRight(head, " ")}
	skipped := false
	for i, r := range rows {
		if !show[i] {
			if !skipped {
				out = append(out, fmt.Sprintf("%10s  …", ""))
			}
			skipped = true
			continue
		}
		skipped = false
		at := fmt.Sprintf("%7.0f ms  ", r.atMs)
		text := r.text
		if r.times > 1 {
			text += fmt.Sprintf(" × %d", r.times)
		}
		switch in := slices.Index(lanes, r.lane); {
		case r.lane == "":
			text = "── " + fitText(text, laneWidth*maxLanes-4) + " ──"
		case in < 0:
			text = strings.Repeat(" ", laneWidth*(len(lanes)-1)) + fitText(r.lane+": "+text, 2*laneWidth)
		default:
			text = strings.Repeat(" ", laneWidth*in) + fitText(text, laneWidth-1)
		}
		out = append(out, at+text)
	}
	return out
}

// fit pads or cuts text to a width, with a blank behind it.
func fit(text string, width int) string {
	text = fitText(text, width-1)
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// fitText cuts text to one line of a width.
func fitText(text string, width int) string {
	runes := []rune(strings.ReplaceAll(text, "\n", " "))
	if len(runes) <= width {
		return string(runes)
	}
	return string(runes[:width-1]) + "…"
}
