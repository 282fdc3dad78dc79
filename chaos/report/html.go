package report

import (
	_ "embed" // the page
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/symptom"
	"minido.dev/minido/internal/killpoint"
)

//go:embed page.html
var pageText string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"seconds": func(ms float64) string { return fmt.Sprintf("%.1f s", ms/1000) },
		"join":    strings.Join,
		"readable": func(c result.Case, v check.Violation) readableView {
			what, text := symptom.Readable(v, c.Names)
			return readableView{what, text}
		},
	}).Parse(pageText))
})

// maxOpen bounds how many cases are shown unfolded.
const maxOpen = 5

// readableView is a violation for people.
type readableView struct{ What, Text string }

// maxTimelines bounds how many cases get a timeline: the page stays small enough
// to open.
const maxTimelines = 40

// WriteHTML writes the report as one file that needs nothing else. Cases whose
// evidence is still there get a timeline: failed ones first.
func WriteHTML(w io.Writer, r result.Report) error {
	view := pageView{Report: r, Groups: grouped(r)}
	causes := map[string]bool{} // that were shown
	for _, wanted := range []bool{true, false} {
		for _, c := range r.Cases {
			if !c.Outcome.OK() != wanted {
				continue
			}
			v := caseView{Case: c}
			if cause := c.Cause(); !c.Outcome.OK() && !causes[cause] {
				v.Open, causes[cause] = len(causes) < maxOpen, true
			}
			if len(view.Cases) < maxTimelines && c.Dir != "" {
				t, err := readTimeline(filepath.Join(c.Dir, "history.ndjson"))
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("report: html: %w", err)
				}
				v.Timeline = t
			}
			view.Cases = append(view.Cases, v)
		}
	}
	if err := page().Execute(w, view); err != nil {
		return fmt.Errorf("report: html: %w", err)
	}
	return nil
}

type pageView struct {
	result.Report
	Groups []string
	Cases  []caseView
}

type caseView struct {
	result.Case
	Timeline *timeline
	// Open shows it unfolded: the first of a few causes.
	Open bool
}

// The picture's measures, in pixels.
const (
	labelWidth = 210
	drawWidth  = 900
	laneHeight = 26
	// rightMargin has room for half of the last tick's text.
	rightMargin = 40
	topHeight   = 22
)

// timeline is a case as a picture: lanes, bars and dots in them, kills across
// all of them.
type timeline struct {
	Width, Height int
	Lanes         []lane
	Kills         []killLine
	Ticks         []tick
}

type lane struct {
	Name  string
	Y     int
	Bars  []bar
	Marks []dot
}

type bar struct {
	X, W  float64
	Class string // "returned", "lost" or "failed"
	Title string
}

type dot struct {
	X     float64
	Class string
	Title string
}

// killLine is a death, and the time until the next server answered.
type killLine struct {
	X, W  float64
	Title string
}

type tick struct {
	X    float64
	Text string
}

// readTimeline lays out a history.
func readTimeline(path string) (*timeline, error) {
	events, err := history.ReadFile(path)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	return layOut(events), nil
}

// layOut places events in lanes: clients, objects, alarms, the model, effects, in
// the order of their first event.
func layOut(events []history.Event) *timeline {
	end := 1.0
	for _, e := range events {
		end = max(end, e.AtMs)
	}
	x := func(ms float64) float64 { return labelWidth + max(ms, 0)/end*drawWidth }
	l := &layout{x: x, index: map[string]int{}, calls: map[string]history.Event{}}
	for _, kind := range []string{"client", "server", "model", "sink"} {
		for _, e := range events {
			if strings.HasPrefix(e.Who, kind) {
				l.place(e)
			}
		}
	}
	for _, e := range l.calls { // order-independent: bars of their own
		l.bar(e, end, "lost", "no answer")
	}
	t := &timeline{Width: labelWidth + drawWidth + rightMargin, Lanes: l.lanes}
	for i := range t.Lanes {
		t.Lanes[i].Y = topHeight + i*laneHeight
	}
	t.Height = topHeight + len(t.Lanes)*laneHeight + 8
	for i, e := range events {
		if e.Kind != history.Kill {
			continue
		}
		k := killLine{X: x(e.AtMs), Title: "SIGKILL at " + e.Text}
		for _, next := range events[i+1:] {
			if next.Kind == history.Ready {
				k.W = x(next.AtMs) - k.X
				break
			}
		}
		t.Kills = append(t.Kills, k)
	}
	for n := range 6 {
		ms := end * float64(n) / 5
		t.Ticks = append(t.Ticks, tick{x(ms), fmt.Sprintf("%.0f ms", ms)})
	}
	return t
}

type layout struct {
	x     func(ms float64) float64
	lanes []lane
	index map[string]int
	calls map[string]history.Event // begun, by Op
}

func (l *layout) lane(name string) *lane {
	i, known := l.index[name]
	if !known {
		i = len(l.lanes)
		l.index[name] = i
		l.lanes = append(l.lanes, lane{Name: name})
	}
	return &l.lanes[i]
}

func (l *layout) bar(begin history.Event, until float64, class, how string) {
	ln := l.lane(begin.Who)
	ln.Bars = append(ln.Bars, bar{X: l.x(begin.AtMs), W: max(l.x(until)-l.x(begin.AtMs), 2), Class: class,
		Title: fmt.Sprintf("%s %s: %s", begin.Text, begin.Data, how)})
}

// place draws one event.
func (l *layout) place(e history.Event) {
	mark := func(lane, class, title string, at float64) {
		ln := l.lane(lane)
		ln.Marks = append(ln.Marks, dot{l.x(at), class, fmt.Sprintf("%s (%.1f ms)", title, at)})
	}
	switch e.Kind {
	case history.Call:
		l.calls[e.Op] = e
		l.lane(e.Who)
	case history.Return, history.Fail, history.Unknown:
		begin, known := l.calls[e.Op]
		if !known {
			return
		}
		delete(l.calls, e.Op)
		class := map[history.Kind]string{history.Return: "returned", history.Fail: "failed", history.Unknown: "lost"}[e.Kind]
		how := string(e.Data)
		if e.Kind != history.Return {
			how = e.Text
		}
		l.bar(begin, e.AtMs, class, how)
	case history.Connect:
		mark(e.Who, "connect", "connected to "+e.Text, e.AtMs)
	case history.Fetch:
		mark("model", "effect", e.Text+" "+string(e.Data), e.AtMs)
	case history.Effect:
		mark("effects", "effect", e.Text+" key "+e.Op, e.AtMs)
	case history.Point:
		var at history.Passed
		p, err := killpoint.ParseLabel(e.Text)
		if err != nil || json.Unmarshal(e.Data, &at) != nil {
			return
		}
		name := p.Object
		if name == "" {
			name = "worker and gateway"
		}
		if p.Kind == killpoint.Alarm {
			name += ", alarms"
		}
		mark(name, string(p.Kind), e.Text, at.AtMs)
	}
}
