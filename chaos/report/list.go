package report

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/infer"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/symptom"
)

const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	amber = "\x1b[33m"
	reset = "\x1b[0m"
	erase = "\r\x1b[2K"
)

// list tells a campaign to a person: a line that lives at a terminal, a line for
// each case that did not pass, and a summary. Used by one goroutine at a time.
type list struct {
	out   io.Writer
	color bool
	live  bool // out is a terminal
	phase string
	done  int
	bad   int
	told  map[string]bool // causes of cases that were told
	ms    float64         // of all cases together
}

func (l *list) paint(code, text string) string {
	if !l.color {
		return text
	}
	return code + text + reset
}

// say prints a whole line. A reader who has gone away does not stop a campaign.
func (l *list) say(format string, args ...any) {
	if l.live {
		_, _ = fmt.Fprint(l.out, erase)
	}
	_, _ = fmt.Fprintf(l.out, format+"\n", args...)
}

func (l *list) progress(e result.Event) {
	switch {
	case e.Case == nil:
		l.phase = e.Text
		l.say("%s %s", l.paint(bold, "minido chaos "+e.Campaign.Verb+":"), e.Text)
	default:
		l.done++
		l.ms += e.Case.Ms
		if !e.Case.Outcome.OK() {
			l.bad++
			if cause := e.Case.Cause(); !l.told[cause] { // the summary counts the others
				if l.told == nil {
					l.told = map[string]bool{}
				}
				l.told[cause] = true
				l.tell(*e.Case)
			}
		}
	}
	if l.live && e.Planned > 0 {
		_, _ = fmt.Fprintf(l.out, "%s%s %d/%d, %d kills, %s", erase, l.paint(dim, "…"), l.done, e.Planned, e.Campaign.Kills, l.failures())
	}
}

func (l *list) failures() string {
	if l.bad == 0 {
		return l.paint(green, "no failure")
	}
	return l.paint(red, fmt.Sprintf("%d failed", l.bad))
}

// tell prints a case that did not pass, with its story, and its replay as the
// last line.
func (l *list) tell(c result.Case) {
	color := red
	if c.Outcome == result.Missed {
		color = amber
	}
	l.say("%s  %s", l.paint(color, strings.ToUpper(string(c.Outcome))), c.Title())
	for i, k := range c.Kills {
		if k.Deploy {
			l.say("    %7.0f ms  ended by %s", k.AtMs, k.Point)
			continue
		}
		l.say("    %7.0f ms  SIGKILL %d at %s%s", k.AtMs, i+1, k.Point, cutFibers(k))
	}
	for _, text := range placeTexts(c) {
		l.say("    %s", indented(text))
	}
	for _, v := range c.Violations {
		l.say("    %s", indented(readable(c, v)))
	}
	if c.Text != "" {
		l.say("    %s", indented(c.Text))
	}
	for _, row := range terminalTimeline(c) {
		l.say("    %s", row)
	}
	if c.SameAs != "" {
		l.say("    leaves the same world as %s", c.SameAs)
	}
	if c.Dir != "" {
		l.say("    evidence: %s", c.Dir)
	}
	if c.Confirm != "" {
		l.say("    confirm with real processes:\n    %s\n    replay:", c.Confirm)
	}
	l.say("    %s", c.Replay)
}

// readable is a violation of c for people.
func readable(c result.Case, v check.Violation) string {
	what, text := symptom.Readable(v, c.Names)
	return what + ": " + text
}

// cutFibers says how many fibers a death has cut, of a system that has some.
func cutFibers(k result.Kill) string {
	if k.Fibers == 0 {
		return ""
	}
	return fmt.Sprintf(", %d fibers cut", k.Fibers)
}

// placeTexts are the places of a case with their lines of source, which two of them may share:
// then the first has them.
func placeTexts(c result.Case) (texts []string) {
	shown := map[string]bool{}
	for _, p := range c.Places {
		text := "the source: " + p.String()
		if !shown[p.Frame] {
			shown[p.Frame] = true
			text = strings.TrimRight(text+"\n"+p.Frame, "\n")
		}
		texts = append(texts, text)
	}
	return texts
}

// indented has the lines behind the first stand under it.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

func (l *list) end(r result.Report) error {
	if r.Dir == "" && len(r.Cases) == 0 {
		return nil // it never began
	}
	words := []string{fmt.Sprintf("%d runs, %d kills in %.1f s", r.Runs()-r.Same, r.Kills, r.Elapsed().Seconds())}
	if r.Resumed > 0 {
		words = append(words, fmt.Sprintf("%d of them before it was resumed", r.Resumed))
	}
	if r.Stopped {
		words = append(words, "stopped before the rest")
	}
	if r.Points > 0 && r.Verb == "enumerate" {
		words = append(words, fmt.Sprintf("visited %d of %d points", firstKills(r), r.Points))
	}
	if r.Pairs > 0 {
		words = append(words, fmt.Sprintf("%d pairs of a place and a state", r.Pairs))
	}
	if r.Schedules > 0 {
		words = append(words, fmt.Sprintf("%d orders of messages", r.Schedules))
	}
	if r.Same > 0 {
		words = append(words, fmt.Sprintf("%d deaths leave the same world as another one: judged, not run again", r.Same))
	}
	if r.Verb == "replay" && r.Runs() > 1 {
		words = append(words, fmt.Sprintf("fails in %d of %d runs", r.Failures(), r.Runs()))
	}
	if n := len(r.Missed); n > 0 {
		words = append(words, l.paint(amber, fmt.Sprintf("missed %d", n)))
	}
	if n := len(r.Unmet); n > 0 {
		words = append(words, l.paint(amber, "never happened: "+strings.Join(r.Unmet, "; ")))
	}
	if r.Unreached > 0 {
		words = append(words, fmt.Sprintf("%d runs never came to a fault that was drawn for them, and do not count as passed", r.Unreached))
	}
	switch {
	case r.Enough > 0 && r.Left > 0:
		words = append(words, l.paint(amber, fmt.Sprintf("stopped after %d of the findings, before %d more cases", r.Enough, r.Left)))
	case r.Enough > 0:
		words = append(words, l.paint(amber, fmt.Sprintf("stopped after %d of the findings", r.Enough)))
	case r.Left > 0:
		words = append(words, l.paint(amber, fmt.Sprintf("the time was over before %d more", r.Left)))
	}
	if r.Skipped > 0 {
		words = append(words, fmt.Sprintf("left out %d", r.Skipped))
	}
	if r.Questions > 0 {
		words = append(words, fmt.Sprintf("%d points of repeated questions not visited", r.Questions))
	}
	if r.PlayedBack > 0 {
		words = append(words, fmt.Sprintf("%d lives before a death played back", r.PlayedBack))
	} else if r.Kills > 0 && r.Code == chaos.Pass && r.Ms > 0 && r.Resumed == 0 { // of lives that were lived
		words = append(words, fmt.Sprintf("%.0f cycles a minute", float64(r.Kills)*60000/r.Ms))
	}
	if ready, recovered, work := recovery(r); ready > 0 {
		text := fmt.Sprintf("SIGKILL to ready %.0f ms", ready)
		if recovered > 0 {
			text += fmt.Sprintf(", to the next commit %.0f ms (%.0f ms without the wait for an alarm)", recovered, work)
		}
		words = append(words, text+" (medians)")
	}
	for _, not := range r.Uncompared() {
		words = append(words, l.paint(amber, not))
	}
	for _, w := range r.Warnings {
		words = append(words, l.paint(amber, "warning: "+w))
	}
	verdict, color := "PASS", green
	switch {
	case r.Stopped:
		verdict, color = "STOPPED", amber
	case r.Code != chaos.Pass:
		verdict, color = "FAIL", red
	}
	l.say("%s  %s", l.paint(color, verdict), strings.Join(words, ", "))
	if groups := grouped(r); len(groups) > 0 {
		l.say("%s", strings.Join(groups, "\n"))
	}
	l.offer(r.Inferred)
	if r.Dir != "" {
		l.say("report: %s", filepath.Join(r.Dir, "report.json"))
	}
	return nil
}

// offer prints invariants that were inferred, and which cases violate them.
func (l *list) offer(all []infer.Offer) {
	if all != nil && len(all) == 0 {
		l.say("no invariant over several rows (sums, counts, references) held in enough states of the run without faults to be one")
	}
	if len(all) == 0 {
		return
	}
	l.say("%s held in every state of the run without faults; invariant() of a scenario can have:\n\n%s", count(len(all), "invariant"), infer.Code(all))
	for _, o := range all {
		if len(o.Broken) > 0 {
			l.say("%s %s: %s, for example %s", l.paint(red, "violated:"), o.Text, count(len(o.Broken), "run"), o.Broken[0])
		}
	}
}

// firstKills counts the cases of depth 1 whose fault happened where it should.
func firstKills(r result.Report) int {
	n := 0
	for _, c := range r.Cases {
		if c.Visits() {
			n++
		}
	}
	if r.Folded != nil {
		n += r.Folded.Visits
	}
	return n
}

// grouped names each cause of failures, how many cases have it, and a plan that shows it.
func grouped(r result.Report) (out []string) {
	for _, f := range r.Findings() {
		line := fmt.Sprintf("  %4d × %s", f.Count, f)
		if len(f.Cases) > 0 {
			line += ", for example\n         " + f.Example.Replay
		}
		if w := f.Workerd(); w != nil {
			line += "\n         " + indented(w.String())
		}
		out = append(out, line)
	}
	return out
}

// recovery is the median time to the next server's readiness, to its first commit,
// and to that without the wait for an alarm.
func recovery(r result.Report) (ready, recovered, work float64) {
	var a, b, d []float64
	for _, c := range r.Cases {
		for _, k := range c.Kills {
			if k.ReadyMs > 0 {
				a = append(a, k.ReadyMs)
			}
			if k.RecoveredMs > 0 {
				b = append(b, k.RecoveredMs)
				d = append(d, k.RecoveredMs-k.WaitedMs)
			}
		}
	}
	return median(a), median(b), median(d)
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sort.Float64s(list)
	return list[len(list)/2]
}
