package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/cut"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/oracle"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/chaos/symptom"
	"minido.dev/minido/runtime/world"
)

const differential = symptom.Differential

// maxCut bounds how many calls a fault may have cut for its run to be compared: each
// doubles the outcomes that are allowed.
const maxCut = 3

// reference is a run without faults, in a simulation, that runs with faults are compared
// with. In it the clients lose the same answers.
type reference struct {
	terms

	once   sync.Once // guards everything below
	points []string
	trace  []sim.Passed
	atOnce []bool // which of the clients' requests overlapped others
	seen   map[string]int
	state  *oracle.State // nil if there is none to compare with
	broken map[string]bool
	steps  int
	why    string          // there is no state
	ms     float64         // that it took
	events []history.Event // of it, on workerd
	err    error
}

// terms are what a reference depends on.
type terms struct {
	seed    uint64
	start   time.Time
	lost    []cut.Call
	breaks  drive.Breaks  // of what sockets lost
	sim     bool          // in a simulation, whatever world the campaign is in
	horizon time.Duration // see Options.Horizon
	pace    time.Duration // see Options.Pace
	// ranks, of requests that clients send at once, have each wait for so many others;
	// delays, of messages, are the run's plan.
	ranks  []int
	delays fault.Plan
	// deploys are where the versions follow each other.
	deploys fault.Plan
	birth   string // a point at which an object has been constructed, and the run ends
}

// lose is for drive.Session.Lose.
func (f *reference) lose(s drive.Step) *drive.Loss {
	name := ""
	switch s.Kind {
	case drive.Fetch:
		name = cut.Name(s.Method+" "+s.Path, cut.Quoted(s.Text))
	case drive.Call:
		name = cut.Name(s.Method, s.Args)
	default:
		return nil // runs with other steps that are cut are not compared
	}
	f.seen[name]++
	for _, c := range f.lost {
		if c.Step == name && c.N == f.seen[name] {
			return &drive.Loss{Delivered: c.Delivered}
		}
	}
	return nil
}

// take keeps what a run of the reference left, if it came to rest.
func (f *reference) take(r *caseRun, dir string, restless bool) error {
	events := r.history.Events()
	if restless || len(r.missed) > 0 {
		return nil
	}
	state, err := oracle.Read(dir, events)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	f.state, f.broken, f.points, f.trace, f.steps = &state, cut.Failed(events), r.result.points, r.result.trace, r.result.steps
	f.atOnce = cut.Overlapping(events)
	return nil
}

// cutIn are the requests whose answers were lost and those that failed where something within the
// server was lost. They too may have taken effect or not.
func (r *caseRun) cutIn(events []history.Event) []cut.Call {
	return cut.Calls(events, check.LostUntil(r.plan, events))
}

// readState reads what this run has left, to be compared with what references leave. A
// run without faults is compared with nothing: it shows what differs between a
// simulation and real processes.
func (r *caseRun) readState(dir string) error {
	unharmed := r.plan.Deploys() && !r.byHand() && r.at == r.camp.newest() && !r.evidence.Restless && !r.camp.NoDifferential
	if !unharmed && !r.compares(*r.evidence) {
		return nil
	}
	state, err := oracle.Read(dir, r.evidence.Events)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	if !unharmed {
		r.state = &state
		return nil
	}
	r.camp.mu.Lock()
	defer r.camp.mu.Unlock()
	r.camp.unharmed = &state
	return nil
}

// refers reports whether runs without faults can be made in a simulation, and are wanted.
func (c *campaign) refers() bool {
	return !c.NoDifferential && c.AIURL == "" && !c.Sigkill
}

// byHand reports whether a person has killed (Options.Step), of which the plan says nothing.
func (r *caseRun) byHand() bool {
	planned := slices.DeleteFunc(slices.Clone(r.plan), func(f fault.Fault) bool { return !f.IsKill() })
	return r.camp.Step != nil && len(r.result.Kills) > len(planned)
}

// compares reports whether the state of this run can be compared: its faults are
// deaths, what happens to messages and objects that hibernate, and it came to rest.
func (r *caseRun) compares(e check.Evidence) bool {
	if c := r.camp; !c.refers() || c.report.Verb == "random" {
		return false
	}
	return (!r.plan.Deploys() || r.byHand()) && !e.Restless && len(r.missed) == 0 && !slices.ContainsFunc(r.plan, func(f fault.Fault) bool {
		return !f.IsKill() && !f.OfMessage() && !f.EndsObjects() && f.Verb != fault.Hibernate
	})
}

// incomparable says why what a run has lost is too much to be compared, or "".
func (r *caseRun) incomparable(e check.Evidence, lost []cut.Call, sockets []cut.Socket) string {
	outcomes := 1 << min(len(lost), 2*maxCut)
	for _, k := range sockets {
		outcomes *= len(k.Delivered)
	}
	if len(lost) > maxCut || outcomes > cut.MaxOutcomes {
		return tooMuch
	}
	within := slices.ContainsFunc(r.plan, func(f fault.Fault) bool { return f.EndsObjects() || f.OfMessage() && !f.DelaysFrame() })
	lossy, endsObjects := check.LostUntil(r.plan, e.Events), slices.ContainsFunc(r.plan, fault.Fault.EndsObjects)
	alarms := slices.ContainsFunc(e.Events, func(e history.Event) bool {
		return e.Kind == history.Point && strings.Contains(e.Text, "/alarm#")
	})
	for _, event := range e.Events {
		switch {
		case endsObjects && event.Kind == history.Fail && event.Op == "":
			return unconnected
		case endsObjects && alarms && event.Kind == history.Call && event.AtMs > lossy:
			return later
		case within && strings.HasPrefix(event.Who, history.SocketPrefix):
			return unknowable
		case event.Kind == history.Call && (event.Text == "chat" || event.Text == "resume") && len(lost) > 0:
			return cutTurn
		}
	}
	return ""
}

// reorders reports whether the run has nothing but another order of messages.
func (r *caseRun) reorders() bool {
	return r.camp.Mode == Sim && !r.byHand() && !slices.ContainsFunc(r.plan, func(f fault.Fault) bool { return f.Verb != fault.Delay }) &&
		!slices.ContainsFunc(r.plan, fault.Fault.DelaysFrame)
}

// recovers reports whether the program has something to recover from, of which it may keep a
// record: neither another order of messages nor an object that hibernates while nothing goes
// on is a fault that it could know of.
func (r *caseRun) recovers() bool {
	return r.byHand() || !r.reorders() && slices.ContainsFunc(r.plan, func(f fault.Fault) bool { return f.Verb != fault.Hibernate && !f.DelaysFrame() })
}

// Why a run is compared with none (result.Case.Uncompared).
const (
	endless   = "its clients come to no end when none of their answers is lost by a fault"
	unending  = "its clients come to no end when they lose the answers that the fault has cut"
	tooMany   = "what it does at once may be done in too many orders"
	between   = "a death has cut a version while it opened what was stored, and another one followed"
	unordered = "its clients come to no end when what they do at once is done one after the other"

	unrepeated  = "a difference that did not come again in two more runs: time alone has made it"
	tooMuch     = "so many requests and frames were cut that what may have become of them has too many outcomes"
	unknowable  = "what frames of sockets have done cannot be known after a fault that leaves the server alive"
	unconnected = "a client of an agent could not connect after the fault, and gave its calls up"
	later       = "an alarm that the fault has cut comes again seconds later, behind what clients did in the meantime"
	cutTurn     = "a chat turn was cut: the checker of chats judges it"
)

// compare asks the oracle. known says that other checkers have found something: then
// what the state lacks says nothing more. not says why nothing was compared.
func (r *caseRun) compare(ctx context.Context, e check.Evidence, known bool) (found []check.Violation, not string, err error) {
	if known {
		return nil, "", nil
	}
	mask, err := r.learn(ctx)
	if mask == nil || err != nil {
		return nil, endless, err
	}
	lost, sockets, places := r.cutIn(e.Events), cut.Sockets(e.Events), r.places()
	switch not := r.incomparable(e, lost, sockets); {
	case not != "":
		return nil, not, nil
	case r.between:
		return nil, between, nil // what it had changed by then cannot be known
	case len(places) > maxPlaces:
		return nil, tooMany, nil
	}
	again := []string{} // was cut and sent again: the answer may tell of both
	for _, c := range lost {
		if c.Until {
			again = append(again, c.Step)
		}
	}
	got := r.state.Repeated(again)
	breaks := cut.Breaks(e.Events)
	var allowed []oracle.State
	fine := map[string]bool{} // answered badly without a fault, too
	kind, differences := "", []oracle.Difference(nil)
	for i := range r.camp.orders() {
		same := false
		for o := range possible(lost, sockets, places) {
			f := r.referTo(ctx, i, o.Lost, drive.Breaks{After: breaks, Delivered: o.Delivered}, o.deploys)
			if f.err != nil {
				return nil, "", f.err
			}
			if f.state == nil {
				if len(o.Delivered) > 0 {
					continue // a client waits for the answer to a frame that was not delivered
				}
				return nil, unending, nil
			}
			for name := range f.broken { // order-independent: a set
				fine[name] = true
			}
			allowed = append(allowed, *f.state)
			if same = same || oracle.Same(got, *f.state, *mask); same && len(failures(e, fine, lost)) == 0 {
				break // the outcomes that are left, which take long, can change nothing
			}
		}
		if len(allowed) == 0 {
			return nil, unending, nil
		}
		if kind, differences = oracle.Judge(got, allowed, *mask, len(lost) > 0); kind == "" {
			break
		}
	}
	if r.reorders() {
		orders, atOnce, not, err := r.serial(ctx, r.referTo(ctx, 0, nil, drive.Breaks{}, nil))
		if not != "" || err != nil {
			return nil, not, err
		}
		if atOnce {
			allowed = nil // it may have been done wrong
		}
		for _, f := range orders {
			for name := range f.broken { // order-independent: a set
				fine[name] = true
			}
			allowed = append(allowed, *f.state)
		}
		kind, differences = oracle.Judge(got, allowed, *mask, false)
	}
	if kind != "" && r.recovers() {
		if kind, differences, err = r.recovered(got, allowed, *mask, kind, differences, len(lost) > 0); err != nil {
			return nil, "", err
		}
	}
	if kind != "" && kind != oracle.Told && (len(sockets) > 0 || !slices.ContainsFunc(differences, func(d oracle.Difference) bool { return d.Got < d.Want })) {
		awake, err := r.awake(ctx, differences)
		if err != nil {
			return nil, "", err
		}
		if awake != nil {
			kind, differences = oracle.Judge(awake.Repeated(again), allowed, *mask, len(lost) > 0)
		}
	}
	if kind == oracle.Told && r.camp.Mode != Workerd { // of a finding that is confirmed, that is known
		if lasts, err := r.lasts(ctx, differences); !lasts || err != nil {
			kind, differences = "", nil
			if err != nil {
				return nil, "", err
			}
		}
	}
	if kind == "" && len(sockets) > 0 && !r.reorders() {
		if differences, err = r.sentAgain(ctx, e, got, *mask, lost); err != nil {
			return nil, "", err
		}
		if len(differences) > 0 {
			kind = oracle.Missing
		}
	}
	found = append(failures(e, fine, lost), violations(kind, differences, mask)...)
	if len(found) > 0 {
		if again, ok, err := r.slowly(ctx, e); ok || err != nil {
			return again, "", err
		}
	}
	return found, "", nil
}

// possibility is what may have become of what a run has lost, and where its versions
// followed each other.
type possibility struct {
	cut.Outcome
	deploys fault.Plan
}

// possible are all of them, the likeliest first.
func possible(lost []cut.Call, sockets []cut.Socket, places []fault.Plan) iter.Seq[possibility] {
	return func(yield func(possibility) bool) {
		for _, o := range cut.Outcomes(lost, sockets) {
			for _, p := range places {
				if !yield(possibility{o, p}) {
					return
				}
			}
		}
	}
}

// recovered judges again without the rows with which the program records its recovery.
func (r *caseRun) recovered(got oracle.State, allowed []oracle.State, mask oracle.Mask, kind string, differences []oracle.Difference, cut bool) (string, []oracle.Difference, error) {
	earlier := slices.Clone(allowed)
	for i, death := range r.copies {
		if r.result.Kills[i].Deploy {
			continue // it was at rest, with such rows
		}
		state, err := oracle.Read(death.dir, nil)
		if err != nil {
			return "", nil, fmt.Errorf("campaign: %w", err)
		}
		earlier = append(earlier, state)
	}
	loose, rest, ok := mask.Recovered(got, earlier, oracle.Sent(r.evidence.Events), oracle.Heard(r.evidence.Events))
	if !ok {
		return kind, differences, nil
	}
	if kind, differences = oracle.Judge(rest, allowed, loose, cut); kind == oracle.Told {
		return "", nil, nil // it tells of its recovery
	}
	return kind, differences, nil
}

// succeeds ends the text of a request that fails after a fault alone.
const succeeds = "; without the fault it succeeds"

// failures are the requests that fail after a death alone, and that it has not cut.
func failures(e check.Evidence, fine map[string]bool, lost []cut.Call) (out []check.Violation) {
	told := map[string]bool{}
	for _, c := range lost {
		told[c.Step] = true
	}
	for _, c := range cut.Requests(e.Events) {
		if c.Failed() && !fine[c.Step] && !told[c.Step] {
			told[c.Step] = true
			out = append(out, check.Violation{Checker: differential, Invariant: oracle.Error,
				Text: fmt.Sprintf("%s: %s", c.End.Text, c.End.Data) + succeeds})
		}
	}
	return out
}

func violations(kind string, differences []oracle.Difference, mask *oracle.Mask) []check.Violation {
	if kind == "" {
		return nil
	}
	return []check.Violation{{Checker: differential, Invariant: kind, Text: oracle.Explain(kind, differences, *mask)}}
}

// otherIDs leads from a seed to one whose machine is as slow (sim.Slack).
const otherIDs = 24 << 20

// seeds are in how many orders of events the runs without faults happen, each at another
// time; the last on a slow machine.
const seeds = 3

// orders is in how many orders of events the runs happen that have lost what a run has: on
// workerd each takes seconds, and what it is asked is known to differ in a simulation.
func (c *campaign) orders() int {
	if c.Mode == Workerd {
		return 1
	}
	return seeds
}

// orWhy is the error of a run without a state: on workerd, that there is none is one.
func (c *campaign) orWhy(f *reference) error {
	if f.err == nil && c.Mode == Workerd {
		return &chaos.UsageError{Text: "without any fault, " + f.why}
	}
	return f.err
}

// referTo is the run without faults in the ith order of events in which these answers
// were lost, and the versions followed each other so.
func (r *caseRun) referTo(ctx context.Context, i int, lost []cut.Call, breaks drive.Breaks, deploys fault.Plan) *reference {
	seed := r.camp.Seed + uint64(i)
	if i == seeds-1 {
		seed += 4 - seed%4 // sim.Slack
	}
	if r.camp.newest() > 0 {
		seed += otherIDs // its later lives would draw the ids that those of r have drawn
	}
	horizon := r.camp.Horizon
	if i == 1 {
		horizon += horizon/2 + horizon/7 // what then is otherwise depends on how long the system has lived
	}
	return r.refer(ctx, terms{seed: seed, start: world.Epoch.Add(time.Duration(i) * 97 * time.Minute), lost: lost, breaks: breaks, horizon: horizon, deploys: deploys, pace: r.pace})
}

// refer runs a reference, unless that has been done.
func (r *caseRun) refer(ctx context.Context, what terms) *reference {
	key := fmt.Sprint(what)
	c := r.camp
	c.mu.Lock()
	f := c.known[key]
	if f == nil {
		f = &reference{terms: what, seen: map[string]int{}}
		if c.known == nil {
			c.known = map[string]*reference{}
		}
		c.known[key] = f
	}
	c.mu.Unlock()
	f.once.Do(func() { f.err = r.slot.refer(ctx, f) })
	return f
}

// refer runs the clients without a fault.
func (s *slot) refer(ctx context.Context, f *reference) (err error) {
	dir, err := os.MkdirTemp(s.camp.workshop.Room(s.camp.dir), "reference-")
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &caseRun{camp: s.camp, slot: s, dir: dir, events: io.Discard, pace: f.pace, reference: f, result: began("")}
	if f.delays != nil {
		r.plan = f.delays
		r.lives = r.plan.Lives()
	}
	if f.deploys != nil {
		r.plan = f.deploys
		r.lives = r.plan.Lives()
	}
	if f.birth != "" {
		r.plan = fault.Plan{{Point: f.birth}}
		r.lives = r.plan.Lives()
	}
	if f.inWorkerd(s.camp) {
		err = r.once(ctx, s.workerdWorld(r))
		f.events = r.history.Events()
	} else {
		err = r.simulateOnce(ctx, f.seed)
	}
	f.why, f.ms = r.result.Text, r.result.Ms
	return err
}

// inWorkerd reports whether the run is one on workerd. Where an object is constructed and
// nothing more happens, only a simulation can be ended.
func (f *reference) inWorkerd(c *campaign) bool {
	return c.Mode == Workerd && !f.sim && f.birth == ""
}

// maskOf names a mask: the pace of the clients, whether that is the machine's, and whether a
// version may do what another has begun.
type maskOf struct {
	pace        time.Duration
	slow, mixed bool
}

// learn is what the runs of this campaign are compared without; nil if the clients do
// not come to rest without a fault.
func (r *caseRun) learn(ctx context.Context) (*oracle.Mask, error) {
	c := r.camp
	mixed := c.newest() > 0 && !r.plan[0].Deploy // a version may do what another has begun
	c.mu.Lock()
	mask := c.masks[maskOf{r.pace, r.slow, mixed}]
	c.mu.Unlock()
	if mask != nil {
		return mask, nil
	}
	clients := []*caseRun{r}
	if r.slow {
		quick := *r
		quick.pace = r.quick
		clients = append(clients, &quick)
	}
	var states []oracle.State
	for _, of := range clients {
		for i := range seeds {
			f := of.referTo(ctx, i, nil, drive.Breaks{}, deploys(c.newest()))
			if f.err != nil || f.state == nil {
				return nil, c.orWhy(f)
			}
			states = append(states, *f.state)
		}
	}
	var elsewhere []fault.Plan
	if mixed {
		elsewhere = c.elsewhere(r.referTo(ctx, 0, nil, drive.Breaks{}, deploys(c.newest())).steps)
	}
	for _, p := range elsewhere {
		f := r.referTo(ctx, 0, nil, drive.Breaks{}, p)
		if f.err != nil || f.state == nil {
			return nil, f.err
		}
		states = append(states, *f.state)
	}
	c.mu.Lock()
	if c.unharmed != nil {
		states = append(states, *c.unharmed)
	}
	c.mu.Unlock()
	first := r.referTo(ctx, 0, nil, drive.Breaks{}, nil)
	if c.Mode == Workerd {
		first = r.refer(ctx, terms{seed: c.Seed, start: world.Epoch, horizon: c.Horizon, pace: r.pace, sim: true})
	}
	births, err := oracle.Births(first.points, states[0], func(label string) (s oracle.State, err error) {
		f := r.refer(ctx, terms{seed: first.seed, start: first.start, horizon: first.horizon, pace: r.pace, birth: label})
		if f.state != nil {
			s = *f.state
		}
		return s, f.err
	})
	if err != nil {
		return nil, err
	}
	learnt := oracle.Learn(states, births, c.Mask)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.masks == nil {
		c.masks = map[maskOf]*oracle.Mask{}
	}
	c.masks[maskOf{r.pace, r.slow, mixed}] = &learnt
	return &learnt, nil
}
