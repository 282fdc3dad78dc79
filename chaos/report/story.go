package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
)

// lineWidth is how much of a snapshot or result one line of a story shows, in
// characters.
const lineWidth = 100

// cyan is a colour of stories alone.
const cyan = "\x1b[36m"

// teller tells one case to a person as it happens: a line an event, each with its
// time, what a death has cut, what the recovery was given, and the verdict. Safe for
// concurrent use.
type teller struct {
	list // its colours

	mu     sync.Mutex // guards everything below, and the output
	deaths int
	asked  map[string]bool // calls already reported: a repeated question is reported once
	last   float64         // of the last event, in milliseconds
}

func newTeller(out io.Writer, color bool) *teller {
	return &teller{list: list{out: out, color: color}, asked: map[string]bool{}}
}

// observe is campaign.Options.Observe.
func (s *teller) observe(dir string, e history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = e.AtMs
	switch e.Kind {
	case history.Ready:
		what, note := "start", ""
		if s.deaths > 0 {
			what, note = "restart", " on the same files"
		}
		var p struct{ Pid int }
		_ = json.Unmarshal(e.Data, &p) // a simulation has none
		if p.Pid != 0 {
			note = fmt.Sprintf("pid %d, ready", p.Pid) + note
		} else {
			note = "ready" + note
		}
		s.tell(e.AtMs, cyan, what, note)
	case history.Call:
		text := e.Text + inParentheses(e.Data)
		if !s.asked[text] {
			s.asked[text] = true
			s.tell(e.AtMs, "", "call", text)
		}
	case history.Return:
		if !s.asked["answer to "+e.Text] {
			s.asked["answer to "+e.Text] = true
			s.tell(e.AtMs, "", "answer", shorten(string(e.Data)))
		}
	case history.Unknown:
		s.tell(e.AtMs, amber, "lost", "the connection ended before the answer: the call may or may not have had its effect")
	case history.Fail:
		s.tell(e.AtMs, amber, "failed", shorten(e.Text))
	case history.Note:
		if e.Who == history.ByFault {
			s.tell(e.AtMs, red, "fault", e.Text)
		}
	case history.Kill:
		s.deaths++
		if how, killed := strings.CutPrefix(endOf(e), "SIGKILL "); killed {
			s.tell(e.AtMs, red, "SIGKILL", how)
		} else {
			s.tell(e.AtMs, cyan, "end", how)
		}
		s.tellCut(dir, e.AtMs)
	}
}

// inParentheses is a JSON array of arguments as a call has them.
func inParentheses(args json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(args, &list) != nil {
		return ""
	}
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = string(a)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// tell prints an event: when, what, and the details.
func (s *teller) tell(ms float64, color, what, text string) {
	s.say("%s  %s %s", s.paint(dim, fmt.Sprintf("%7.2f s", ms/1000)), s.paint(color, fmt.Sprintf("%-11s", what)), text)
}

// tellCut tells what the last death has cut, by its files.
func (s *teller) tellCut(dir string, ms float64) {
	at, err := check.ReadSnapshot(filepath.Join(dir, fmt.Sprintf("death-%d", s.deaths)), time.Time{}, false)
	if err != nil {
		s.tell(ms, red, "on disk", err.Error())
		return
	}
	for _, o := range at.Objects {
		for _, f := range o.Fibers.Interrupted() {
			s.tell(ms, red, "on disk", fmt.Sprintf("fiber %s was interrupted; last checkpoint: %s", f.Name, shorten(f.Snapshot)))
		}
	}
}

// progress tells the beginning and the end of the case.
func (s *teller) progress(e result.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Case == nil {
		s.say("%s %s", s.paint(bold, "minido chaos:"), e.Text)
		return
	}
	c := *e.Case
	if end, err := check.ReadSnapshot(filepath.Join(c.Dir, "end"), time.Time{}, false); err == nil {
		s.tellHooks(end)
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.say("%v", err)
	}
	if c.Outcome.OK() {
		s.tell(s.last, green, "rest", "nothing is left to do")
	}
	for _, v := range c.Violations {
		s.say("%s %s", s.paint(red, "  VIOLATED"), indented(v.String()))
	}
	if c.Text != "" {
		s.say("  %s", indented(c.Text))
	}
}

// tellHooks tells what the recovery hooks were given, if the agent notes that.
func (s *teller) tellHooks(end check.Snapshot) {
	for _, o := range end.Objects {
		noted := len(o.Fibers.Databases) == 0
		for _, d := range o.Fibers.Databases {
			noted = noted || d.HasHooks || len(d.Runs)+len(d.Managed)+len(d.Jobs) == 0
		}
		for _, h := range o.Fibers.Hooks() {
			s.tell(s.last, green, "recovered", fmt.Sprintf("onFiberRecovered ran for fiber %s with %s", h.Fiber, shorten(h.Snapshot)))
		}
		if !noted {
			s.say("  %s has no table *_interruptions (fiber, snapshot): what its hook was given was not checked", o.Label())
		}
	}
}

// end tells the verdict.
func (s *teller) end(r result.Report) error {
	if len(r.Cases) == 0 {
		return nil // it never began
	}
	c, cut := r.Cases[len(r.Cases)-1], 0
	recovered := ""
	for _, k := range c.Kills {
		cut += k.Fibers
		if k.RecoveredMs > 0 {
			recovered = fmt.Sprintf(", first commit %.2f s after the kill", k.RecoveredMs/1000)
		}
	}
	word, color := "PASS", green
	if r.Code != chaos.Pass {
		word, color = "FAIL", red
	}
	s.say("%s  %s, %s interrupted%s; checked by %s; evidence in %s", s.paint(color, word), count(len(c.Kills), "kill"), count(cut, "fiber"),
		recovered, strings.Join(c.Checkers, ", "), c.Dir)
	if r.Code != chaos.Pass {
		s.say("replay with:\n%s", c.Replay)
	}
	return nil
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// shorten fits text on a line. Of a snapshot both ends matter: what it is about
// stands at the front, what was done last at the back.
func shorten(text string) string {
	if text == "" {
		return "none"
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if utf8.RuneCountInString(text) <= lineWidth {
		return text
	}
	runes := []rune(text)
	return string(runes[:lineWidth*2/5]) + " … " + string(runes[len(runes)-lineWidth*3/5+3:])
}
