// Package campaign runs many cases against one project and reports its findings: a
// case is a fresh state directory, client steps, a plan of faults, a recovery, a rest
// and a verdict. Enumerate visits every effect point that a clean run passes; Random
// draws plans from a seed; Replay runs one plan; Shrink makes a plan that fails
// smaller.
//
// A case runs on real processes (package child) that kill themselves by SIGKILL
// at the armed point. Its next server was started beforehand and waits with its
// bundle evaluated, so that a recovery is not a start-up.
package campaign

import (
	"fmt"
	"io"
	"os"
	"path"

	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/infer"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/stepper"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/runtime/server"
)

// Mode is the world in which cases run.
type Mode string

// The modes.
const (
	// Process is real processes that die by SIGKILL, on the real clock.
	Process Mode = "process"
	// Sim is a simulation on one goroutine for each case, on a virtual clock; a
	// kill drops the server.
	Sim Mode = "sim"
)

// Defaults of Options.
const (
	// DefaultTimeout lets a life wait for any alarm that it has to come to before
	// it is at rest, and then work: the heartbeat of the agents SDK alone is 30 s.
	DefaultTimeout = check.Horizon + 30*time.Second
	// MaxTries is how often a point is tried that a run did not reach.
	MaxTries = 4
	// Patience is the pace of clients that let the system come to rest between steps.
	Patience = time.Minute
	// Far is how far off an alarm may be that enumerate lets go off in a simulation, where
	// time costs nothing, if the system comes to rest without a fault then.
	Far = time.Hour
	// Farthest is that where nothing goes on but one long wait: a Workflow sleeps for days.
	Farthest = 32 * 24 * time.Hour
)

// Options say what to run. Immutable once given away.
type Options struct {
	// Project is the project's directory or its wrangler file.
	Project string
	Env     string
	Vars    []string // KEY:VALUE
	// CommandVars are those of Vars that a replay has to name, because the script
	// does not.
	CommandVars []string
	// Then are the versions of the project that follow it: each is another project, or a
	// commit of the project's repository, whose worker gets the project's name. Each death,
	// and each deploy of a plan, is followed by the next of them, until there is none.
	Then []string
	// Steps are what the clients do, one after the other; without them Script does.
	Steps  []drive.Step
	Script Script
	// Mode is the world in which cases run: "" is Process.
	Mode Mode
	// Seed chooses the order of events in a simulation.
	Seed uint64
	// For, unless 0, is the campaign's time: no case begins after it. Random then ignores its
	// number of runs.
	For time.Duration
	// StopAfter, unless 0, is how many findings (result.Report.Findings) are enough: no case begins
	// after that. Those that then run come to their end, and may find more.
	StopAfter int
	// Corpus, unless "", is a directory in which Random keeps the plans that came where none
	// before had, and from which it begins.
	Corpus string
	// Resume has Enumerate and Random go on with what an earlier run left in Dir; nothing
	// need be there. goesOn is that for the second part of one campaign.
	Resume  bool
	goesOn  bool
	digest  string // of what goes on, once that is known; and its bundles
	bundles *server.Bundles
	anyTime bool // neither Within nor Timeout was given
	// SelfCheck runs each case of a simulation twice and compares them. A case
	// that fails is always run twice.
	SelfCheck bool
	// Each has a simulation run every point of Enumerate. Otherwise points at which
	// a death leaves the same world are run once and judged each.
	Each bool
	// Step, unless nil, is a person who walks through a simulation by hand.
	Step *stepper.Stepper
	// Sigkill has a simulation's first death at a point kill this very process, so
	// that its files can be compared with those of a world that was dropped.
	Sigkill bool
	// Recover is who brings the system back after a death.
	Recover chaos.Recovery
	// Models are the registers and counters among the calls.
	Models []check.Model
	// SinkVar is the variable that names the effect sink's URL, "" for no sink.
	SinkVar string
	// AI, unless nil, is a scripted model provider that lives with the harness, so
	// that it outlives the servers: it answers env.AI.run(), and the variables of
	// the providers' packages name it.
	AI *upstream.Model
	// AIURL is a provider that runs elsewhere, in place of AI.
	AIURL string
	// FailingSteps allows that every step of the clients fails without a fault. Otherwise
	// Enumerate and Random refuse such clients.
	FailingSteps bool
	// NoDifferential has runs not compared with those without faults. Mask are patterns
	// (path.Match) of tables, KV keys and table.column that are not compared; CommandMask
	// those that a replay has to name.
	NoDifferential    bool
	Mask, CommandMask []string
	// Infer, unless nil, gets the states of Enumerate, to look for invariants.
	Infer *infer.Learner
	// Pace is how long clients wait before each step but the first. Enumerate in a
	// simulation visits the points of clients that do not wait, and then those of clients
	// that wait Patience, by when alarms have done their work: unless OnePace is set, or
	// Max, or the clients do one step, or chat.
	Pace    time.Duration
	OnePace bool
	// Horizon, unless 0, ends a life so long after its clients are done, if only alarms,
	// timers and sockets are left by then: that is rest. Clients that are still connected
	// after half of it go. In a simulation a system that never comes to rest without
	// a fault has that of check.Horizon by itself.
	Horizon time.Duration
	// Within is how far off an alarm may be that counts as work that is left. 0 is
	// check.Horizon; enumerate in a simulation then tries Far. A life may take so much
	// longer than Timeout when its clients are done.
	Within time.Duration
	// Timeout bounds each life: from ready to rest, or to the kill.
	Timeout time.Duration
	// SyncNormal has a loss of power take commits that were answered, as it may where a server
	// runs with "--sync normal". It needs a simulation.
	SyncNormal bool
	// Idle evicts idle objects after so long; 0 never does.
	Idle time.Duration

	// Schedules is how many orders of messages Enumerate runs in a simulation beside its
	// faults; 0 runs none.
	Schedules int

	// Fault is what Enumerate does at each point; its own point is not used. The
	// zero value kills.
	Fault fault.Fault

	// Jobs is how many cases run at a time; 0 is twice the processors.
	Jobs int
	// Shard and Shards split the cases: this process runs those whose number is
	// Shard-1 modulo Shards. 0 of 0 runs all.
	Shard, Shards int
	// Max bounds the number of cases; 0 does not. What is left out is said.
	Max int
	// Dir gets the evidence; "" makes a new one below minido-out. Keep keeps that
	// of cases that passed, too.
	Dir  string
	Keep bool

	// Server is the command of a child, to which its flags are added. Default:
	// this very program with "chaos-child".
	Server []string
	// NoStandby starts each server only when it is needed.
	NoStandby bool
	// Progress is called for each event, one at a time; may be nil.
	Progress func(result.Event)
	// Observe, unless nil, gets each event of each case's history when it is
	// recorded, from any goroutine, with the case's directory. It must not wait for the
	// case.
	Observe func(dir string, e history.Event)
	// Log gets what children write, beyond each case's server.log; nil drops it.
	Log io.Writer
}

// Script is a scenario (package scenario): its own clients, and its own checks
// beside the built-in ones. It is safe for concurrent use.
type Script interface {
	// Driver is one for a new case.
	Driver() (drive.Driver, error)
	// Check judges a case whose clients a driver was, and says which of its marks were met.
	Check(drive.Driver, check.Evidence) (found []check.Violation, marks []Mark, err error)
	// Silent reports whether its checks have run and asserted nothing, in any case.
	Silent() bool
	// Flag is the script as words of a command line, Digest a hash of what it is made of.
	Flag() []string
	Digest() string
}

// Mark is something that must happen in at least one case of a campaign.
type Mark = check.Mark

func (o Options) complete() (Options, error) {
	usage := func(format string, args ...any) error { return &chaos.UsageError{Text: fmt.Sprintf(format, args...)} }
	switch {
	case o.Project == "":
		return o, usage("which project? Give its directory or its wrangler file.")
	case len(o.Steps) == 0 && o.Script == nil:
		return o, usage("what should clients do? Give --call 'Class/name.method(args)', --chat 'Class/name: text' or --fetch 'POST /path body', as often as needed.")
	case o.Recover != "" && o.Recover != chaos.ByAlarm && o.Recover != chaos.ByRequest:
		return o, usage("--recover is %q; write alarm (nobody touches the agent) or request.", o.Recover)
	case o.Shards < 0 || o.Shard < 0 || o.Shard > o.Shards || o.Shards > 0 && o.Shard == 0:
		return o, usage("--shard is %d/%d; write i/n with i from 1 to n.", o.Shard, o.Shards)
	case o.AI != nil && o.AIURL != "":
		return o, usage("a scripted model and --ai-url exclude each other: one is started, the other named.")
	case o.Mode != "" && o.Mode != Process && o.Mode != Sim && o.Mode != Workerd:
		return o, usage("--mode is %q; write process or sim.", o.Mode)
	case o.Mode == Sim && o.AIURL != "":
		return o, usage("a simulation reaches no network: --ai-url cannot be used with --mode sim; use --mock-ai.")
	case (o.SelfCheck || o.Sigkill || o.Each) && o.Mode != Sim:
		return o, usage("--self-check, --each and --sigkill belong to --mode sim.")
	case o.SyncNormal && o.Mode != Sim:
		return o, usage("--sync normal needs --mode sim: no real process loses power.")
	case len(o.Then) > 0 && o.Schedules != 0:
		return o, usage("--schedules and --then exclude each other: an order of messages ends no life, so no other version would be loaded.")
	case o.Schedules != 0 && o.Mode != Sim:
		return o, usage("--schedules belongs to --mode sim: real processes choose their own order.")
	case o.Schedules < 0 || o.Jobs < 0 || o.StopAfter < 0 || o.For < 0 || o.Horizon < 0 || o.Within < 0 || o.Timeout < 0 || o.Max < 0:
		return o, usage("times and counts must not be negative.")
	}
	for _, pattern := range o.Mask {
		if _, err := path.Match(pattern, ""); err != nil {
			return o, usage("--mask %q is no pattern: %v; write a table, a KV key or table.column, with * for any text.", pattern, err)
		}
	}
	if o.Recover == "" {
		o.Recover = chaos.ByAlarm
	}
	if o.Within == 0 {
		o.Within, o.anyTime = check.Horizon, o.Timeout == 0
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Jobs == 0 {
		o.Jobs = 2 * runtime.GOMAXPROCS(0)
		if o.Mode == Sim { // a world never waits for anything but its processor
			o.Jobs = runtime.GOMAXPROCS(0)
		}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Progress == nil {
		o.Progress = func(result.Event) {}
	}
	if len(o.Server) == 0 && (o.Mode == Process || o.Mode == "" || o.Sigkill) { // other simulations start no process
		self, err := process.Program(os.Executable, os.Args[0])
		if err != nil {
			return o, err
		}
		o.Server = []string{self, "chaos-child"}
	}
	return o, nil
}

// confirm is the command that runs plan, whose points have labels, with real processes; ""
// if they cannot. A run that took ms of virtual time may have waited for alarms that are too
// far off for them.
func (o Options) confirm(plan fault.Plan, ms float64) string {
	if o.Within > check.Horizon && ms > float64(DefaultTimeout.Milliseconds()) || slices.ContainsFunc(plan, func(f fault.Fault) bool { return f.Power || f.Verb == fault.Delay }) {
		return "" // no process loses power, and a delay in it is another order than here
	}
	o.Mode = Process
	if o.anyTime {
		o.Within = check.Horizon
	}
	return o.replay(plan)
}

// replay is the command that runs plan alone.
func (o Options) replay(plan fault.Plan) string {
	words := []string{"minido", "chaos", "replay", o.Project}
	if o.Mode == Sim {
		words = append(words, "--mode", string(Sim), "--seed", strconv.FormatUint(o.Seed, 10))
	}
	if o.SyncNormal {
		words = append(words, "--sync", "normal")
	}
	for _, v := range o.Then {
		words = append(words, "--then", v)
	}
	for _, s := range o.Steps {
		words = append(words, s.Flag()...)
	}
	if o.Script != nil {
		words = append(words, o.Script.Flag()...)
	}
	for _, v := range o.CommandVars {
		words = append(words, "--var", v)
	}
	for _, m := range o.CommandMask {
		words = append(words, "--mask", m)
	}
	if o.NoDifferential {
		words = append(words, "--no-differential")
	}
	if o.Pace > 0 {
		words = append(words, "--pace", o.Pace.String())
	}
	if o.Env != "" {
		words = append(words, "--env", o.Env)
	}
	if o.Recover != chaos.ByAlarm {
		words = append(words, "--recover", string(o.Recover))
	}
	for _, m := range o.Models {
		if o.Script != nil {
			break // it declares them itself
		}
		words = append(words, "--model", m.String())
	}
	if o.SinkVar != "" {
		words = append(words, "--effects", o.SinkVar)
	}
	if o.AI != nil && o.Script == nil {
		words = append(words, "--mock-ai")
	}
	if o.AIURL != "" {
		words = append(words, "--ai-url", o.AIURL)
	}
	if o.Horizon > 0 {
		words = append(words, "--horizon", o.Horizon.String())
	}
	if o.Within > check.Horizon {
		words = append(words, "--within", o.Within.String())
	}
	if o.Timeout != DefaultTimeout {
		words = append(words, "--timeout", o.Timeout.String())
	}
	words = append(words, "--plan", plan.String())
	for i, w := range words {
		words[i] = chaos.Quote(w)
	}
	return strings.Join(words, " ")
}
