// Package harness runs chaos campaigns on the project of a running server, as child
// processes that the dashboard and the control API start, watch and walk through.
package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/report"
	"minido.dev/minido/chaos/scenario"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/control"
)

// What is kept of a campaign that the control API runs. All of it is in report.json.
const (
	maxCampaignCases = 500
	maxCampaignLine  = 4 << 20 // bytes; longer ones are left out
	maxCampaignText  = 4000    // characters of a text
	maxCampaignList  = 20      // violations and deaths of a case, notes
	maxMoments       = 4000    // of a timeline
	maxCaseLog       = 32 << 10
	campaignStop     = 3 * time.Second
)

// Options say on what campaigns are run. Immutable.
type Options struct {
	Command []string // this program
	Dir     string   // the project's
	Config  string   // its wrangler file, "" for none
	Env     string
	Vars    []string // KEY:VALUE
	// Unavailable says why no campaign can be run, "" if one can.
	Unavailable string
	// Scheduler runs what waits for the child, and gives the clock.
	Scheduler sched.Scheduler
}

// Harness is control.Harness: it runs `minido chaos` as a child of this process, in the
// project's directory, and reads its lines.
type Harness struct {
	Options

	mu     sync.Mutex
	number int       // of campaigns; guarded by mu
	last   *attended // nil before the first; guarded by mu
	closed bool      // guarded by mu
	// walking is the child that walks through a case, nil without one; guarded by mu.
	walking *process.Child
}

// New returns a harness that runs nothing yet. Close ends it. Safe for concurrent use.
func New(o Options) *Harness { return &Harness{Options: o} }

// attended is a campaign that runs or has ended.
type attended struct {
	harness *Harness
	all     bool // cases that passed are listed, too
	child   *process.Child

	// Everything below is guarded by Harness.mu.
	state control.Campaign
	cases []control.CaseDetail // without timelines, by their number
	rest  []byte               // of an unfinished line
	long  bool                 // rest was too long, and is left out
	ended chan struct{}        // closed once state is the last
}

// scenarios are the project's, relative to its directory.
func (h *Harness) scenarios() ([]string, error) {
	found, err := scenario.Find(h.Dir)
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, path := range found {
		rel, err := filepath.Rel(h.Dir, path)
		if err != nil {
			return nil, fmt.Errorf("scenarios: %w", err)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	return out, nil
}

// Chaos implements control.Harness.
func (h *Harness) Chaos(after int) (control.Chaos, error) {
	out := control.Chaos{Unavailable: h.Unavailable, Scenarios: []string{}, Faults: []string{"kill", "power", "skew(2s)", "skew(-2s)"}}
	for _, kind := range fault.Kinds() {
		out.Faults = append(out.Faults, kind.Forms...)
	}
	if h.Unavailable == "" {
		var err error
		if out.Scenarios, err = h.scenarios(); err != nil {
			return out, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		return out, nil
	}
	state := h.last.state
	state.Cases, state.Notes = []control.CampaignCase{}, slices.Clone(state.Notes)
	for _, c := range h.last.cases[min(max(after, 0), len(h.last.cases)):] {
		state.Cases = append(state.Cases, c.Case)
	}
	out.Campaign = &state
	return out, nil
}

// Start implements control.Harness.
func (h *Harness) Start(r control.CampaignRequest) error {
	if h.Unavailable != "" {
		return &pool.RefusedError{Reason: h.Unavailable}
	}
	known, err := h.scenarios()
	if err != nil {
		return err
	}
	flags, err := campaignFlags(r, known)
	if err != nil {
		return err
	}
	words := h.words(r.Verb, flags)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return &pool.RefusedError{Reason: "the server stops"}
	case h.last != nil && h.last.state.EndedMs == 0:
		return &pool.RefusedError{Reason: "a campaign is running; stop it first"}
	}
	return h.launch(r, words)
}

// words are the command line of a verb on the project.
func (h *Harness) words(verb string, flags []string) []string {
	words := append([]string{"chaos", verb, h.project()}, flags...)
	if h.Env != "" {
		words = append(words, "--env="+h.Env)
	}
	for _, v := range h.Vars {
		words = append(words, "--var="+v)
	}
	return words
}

// project names the project as a person in its directory would.
func (h *Harness) project() string {
	if rel, err := filepath.Rel(h.Dir, h.Config); err == nil && !slices.Contains([]string{"wrangler.jsonc", "wrangler.json", "wrangler.toml"}, rel) {
		return rel
	}
	return "."
}

// launch starts the child; h.mu is held.
func (h *Harness) launch(r control.CampaignRequest, words []string) error {
	command := []string{"minido"}
	for _, w := range words {
		command = append(command, chaos.Quote(w))
	}
	a := &attended{harness: h, all: r.Verb == "run" || r.Verb == "replay" || r.Verb == "shrink", ended: make(chan struct{})}
	a.state = control.Campaign{Number: h.number + 1, Request: r, Command: strings.Join(command, " "), State: "running", Phase: "starting",
		Notes: []string{}, StartedMs: h.Scheduler.Clock().Now().UnixMilli()}
	child, err := process.Start(process.Options{Command: slices.Concat(h.Command, words, []string{"--reporter=ndjson"}), Dir: h.Dir, Stdout: a, Scheduler: h.Scheduler})
	if err != nil {
		return err
	}
	a.child = child
	h.number, h.last = h.number+1, a
	h.Scheduler.Go("chaos campaign", a.attend)
	return nil
}

// attend waits for the child's end.
func (a *attended) attend() {
	<-a.child.Exited()
	exit, _ := a.child.Exit()
	a.harness.mu.Lock()
	defer a.harness.mu.Unlock()
	defer close(a.ended)
	s := &a.state
	stopped := s.State == "stopping"
	s.EndedMs, s.Code, s.Phase = a.harness.Scheduler.Clock().Now().UnixMilli(), exit.Code, ""
	switch {
	case stopped || exit.Code >= chaos.Signal:
		s.State = "stopped"
	case exit.Code == chaos.Pass:
		s.State = "passed"
	case exit.Code == chaos.Missed:
		s.State = "missed"
	case exit.Code == chaos.Violated || exit.Code == chaos.Restless || s.Failed > 0:
		s.State = "failed"
	default:
		s.State = "broken"
		s.Error = shortened(cmp.Or(strings.TrimSpace(a.child.Tail()), exit.Text))
	}
}

// Stop implements control.Harness.
func (h *Harness) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.last
	if a == nil || a.state.State != "running" {
		return
	}
	a.state.State = "stopping"
	h.Scheduler.Go("stop the chaos campaign", func() {
		if err := a.end(context.Background()); err != nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			a.note(err.Error())
		}
	})
}

// end has the child end as Ctrl-C does; one that takes too long is killed, with all that
// it has started.
func (a *attended) end(ctx context.Context) error {
	err := a.child.Stop(ctx, campaignStop)
	if _, gone := a.child.Exit(); gone && (errors.Is(err, wait.ErrTimeout) || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

// Close implements control.Harness.
func (h *Harness) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	a, walking := h.last, h.walking
	running := a != nil && a.state.State == "running"
	if running {
		a.state.State = "stopping"
	}
	h.mu.Unlock()
	var err error
	if walking != nil {
		err = walking.Close()
	}
	if a == nil {
		return err
	}
	if running {
		err = errors.Join(err, a.end(ctx))
	}
	<-a.ended // Stop bounds this, too
	return err
}

// Case implements control.Harness.
func (h *Harness) Case(n int) (control.CaseDetail, error) {
	h.mu.Lock()
	if h.last == nil || n < 1 || n > len(h.last.cases) {
		h.mu.Unlock()
		return control.CaseDetail{}, &control.InputError{Text: fmt.Sprintf("the last campaign lists no case %d", n)}
	}
	d := h.last.cases[n-1]
	h.mu.Unlock()
	moments, err := report.Timeline(d.Dir)
	if err != nil {
		return d, err
	}
	if d.Log, err = endOf(filepath.Join(d.Dir, "server.log")); err != nil {
		return d, err
	}
	if over := len(moments) - maxMoments; over > 0 {
		d.LeftOut = over
		moments = slices.Delete(moments, maxMoments/2, maxMoments/2+over)
	}
	d.Timeline = []control.CaseMoment{}
	for _, m := range moments {
		d.Timeline = append(d.Timeline, control.CaseMoment{AtUs: int64(m.AtMs * 1000), Lane: m.Lane, Text: shortened(m.Text), Times: m.Times, Border: m.Border})
	}
	return d, nil
}

// endOf is the end of a file, in whole lines; "" if there is no file.
func endOf(path string) (text string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("the log: %w", err)
	}
	from := max(0, info.Size()-maxCaseLog)
	b, err := io.ReadAll(io.NewSectionReader(f, from, maxCaseLog))
	if err != nil {
		return "", fmt.Errorf("the log: %w", err)
	}
	text = strings.ToValidUTF8(string(b), "\uFFFD")
	if from > 0 {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text, nil
}

// Write takes what the child writes to its standard output.
func (a *attended) Write(p []byte) (int, error) {
	a.harness.mu.Lock()
	defer a.harness.mu.Unlock()
	for rest := p; len(rest) > 0; {
		i := slices.Index(rest, '\n')
		part := rest[:max(i, 0)]
		if i < 0 {
			part, rest = rest, nil
		} else {
			rest = rest[i+1:]
		}
		if a.long = a.long || len(a.rest)+len(part) > maxCampaignLine; !a.long {
			a.rest = append(a.rest, part...)
		}
		if i >= 0 {
			a.line()
			a.rest, a.long = a.rest[:0], false
		}
	}
	return len(p), nil
}

// line takes a.rest, which is a line of report.Line.
func (a *attended) line() {
	var l report.Line
	if a.long {
		a.note("a run is too large to be shown; it is in report.json")
		return
	}
	if err := json.Unmarshal(a.rest, &l); err != nil {
		a.note("the campaign wrote what is no line of JSON: " + shortened(string(a.rest)))
		return
	}
	s := &a.state
	s.Done, s.Planned, s.Kills = l.Done, l.Planned, l.Kills
	if l.Text != "" {
		s.Phase = shortened(l.Text)
	}
	if l.Case != nil {
		a.add(l)
	}
	if l.End != nil {
		s.Dir = l.End.Dir
		a.conclude(l)
	}
}

// conclude notes what the campaign says of itself at its end.
func (a *attended) conclude(l report.Line) {
	r := l.End
	if r.Points > 0 {
		a.note(fmt.Sprintf("A run without faults passes %d effect points.", r.Points))
	}
	if r.Same > 0 {
		a.note(fmt.Sprintf("%d deaths leave the same world as another one: judged, not run again.", r.Same))
	}
	if r.Skipped > 0 {
		a.note(fmt.Sprintf("%d were left out by a limit.", r.Skipped))
	}
	if len(r.Unmet) > 0 {
		a.note("Never happened: " + strings.Join(r.Unmet, "; "))
	}
	if len(r.Missed) > 0 {
		a.note(fmt.Sprintf("Missed: %s", strings.Join(r.Missed, "; ")))
	}
	for _, text := range l.Uncompared {
		a.note(text + ".")
	}
	for _, text := range r.Warnings {
		a.note("Warning: " + text)
	}
}

// note adds a text to what a reader should know.
func (a *attended) note(text string) {
	if len(a.state.Notes) < maxCampaignList {
		a.state.Notes = append(a.state.Notes, shortened(text))
	}
}

// add takes a case that has ended.
func (a *attended) add(l report.Line) {
	c := l.Case
	if !c.Outcome.OK() {
		a.state.Failed++
	} else if !a.all {
		return
	}
	if len(a.cases) == maxCampaignCases {
		a.state.Unlisted++
		return
	}
	d := control.CaseDetail{
		Case: control.CampaignCase{Number: len(a.cases) + 1, Outcome: string(c.Outcome), Plan: shortened(c.Name), Pace: c.Pace, Seed: c.Seed, Cause: shortened(l.Cause)},
		Text: shortened(c.Text), Violations: []string{}, Kills: []string{}, Replay: c.Replay, Confirm: c.Confirm, SameAs: shortened(c.SameAs), Dir: c.Dir,
	}
	for _, v := range c.Violations[:min(len(c.Violations), maxCampaignList)] {
		d.Violations = append(d.Violations, shortened(v.String()))
	}
	for _, k := range c.Kills[:min(len(c.Kills), maxCampaignList)] {
		d.Kills = append(d.Kills, shortened(k.Point))
	}
	a.cases = append(a.cases, d)
}

// shortened cuts a text to maxCampaignText characters.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= maxCampaignText {
		return text
	}
	return string([]rune(text)[:maxCampaignText]) + "…"
}

// campaignFlags are the flags of `minido chaos` that a request asks for. What the values
// mean is the child's to judge; each is one word with its flag, so none can be another flag.
func campaignFlags(r control.CampaignRequest, scenarios []string) ([]string, error) {
	wrong := func(format string, args ...any) ([]string, error) {
		return nil, &control.InputError{Text: fmt.Sprintf(format, args...)}
	}
	verbs := []string{"enumerate", "random", "run", "replay", "shrink"}
	if !slices.Contains(verbs, r.Verb) {
		return wrong("verb is %q: it is one of %s", r.Verb, strings.Join(verbs, ", "))
	}
	if r.Scenario != "" && !slices.Contains(scenarios, r.Scenario) {
		return wrong("the project has no scenario %q", r.Scenario)
	}
	for name, n := range map[string]int{"depth": r.Depth, "jobs": r.Jobs, "max": r.Max, "runs": r.Runs, "schedules": r.Schedules} { // order-independent: any of them is wrong
		if n < 0 {
			return wrong("%s is negative", name)
		}
	}
	var out []string
	add := func(flag, value string) {
		if value != "" {
			out = append(out, "--"+flag+"="+value)
		}
	}
	add("scenario", r.Scenario)
	add("effects", r.Effects)
	if r.MockAI {
		out = append(out, "--mock-ai")
	}
	for _, steps := range []struct {
		flag  string
		texts []string
	}{{"call", r.Call}, {"chat", r.Chat}, {"fetch", r.Fetch}} {
		for _, text := range steps.texts {
			add(steps.flag, text)
		}
	}
	for _, f := range []struct {
		flag, value, verbs string
	}{
		{"mode", r.Mode, ""}, {"pace", r.Pace, ""}, {"seed", count(r.Seed), ""}, {"jobs", count(r.Jobs), "enumerate random replay shrink"},
		{"fault", r.Fault, "enumerate"}, {"depth", count(r.Depth), "enumerate"}, {"max", count(r.Max), "enumerate"}, {"schedules", count(r.Schedules), "enumerate"},
		{"runs", count(r.Runs), "random replay"}, {"kill-at", r.KillAt, "run"}, {"plan", r.Plan, "replay shrink"},
	} {
		if f.value != "" && f.verbs != "" && !slices.Contains(strings.Fields(f.verbs), r.Verb) {
			return wrong("%s does not go with %s", strings.ReplaceAll(f.flag, "-", "_"), r.Verb)
		}
		add(f.flag, f.value)
	}
	return out, nil
}

// count is a number as a flag has it, "" for 0.
func count[N int | uint64](n N) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
