package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/confirm"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/infer"
	"minido.dev/minido/chaos/report"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/scenario"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/chaos/stepper"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/chaos/workerd"
	"minido.dev/minido/internal/clock"
)

const help = `Runs client steps, kills the server with SIGKILL, restarts it on the same files, waits until nothing is left to
do, and checks invariants. Every kill is at a named effect point (a commit, a frame, an alarm), so every finding comes with
the command that replays it.

  minido chaos enumerate . --call 'ResearchAgent/r1.startResearch("tides")'
                            visit every crash point of this call, one run each; --depth 2 kills the recovery, too
  minido chaos random . --call '...' --seed 7 --runs 100
  minido chaos replay . --call '...' --plan 'kill@commit:after(ResearchAgent/r1)/timer#3'
  minido chaos shrink . --call '...' --plan '...'
                            look for a smaller plan that still fails
  minido chaos run . --call '...'
                            one kill, reported step by step

Client steps: --call 'Class/name.method(args)' for @callable methods, --chat 'Class/name: text' for chat agents,
--fetch 'POST /path body' for anything over HTTP; repeat them for more steps, in order.
Invariants: fibers are recovered once and with their last checkpoint, alarms fire, effects happen once (--effects),
counters and registers are linearizable (--model), databases are undamaged, and the system comes to rest.

Exit codes: 0 everything held, 1 an invariant was violated, 2 wrong flags, configuration or project, 3 the harness or
the server failed by itself, 4 it never became idle, 5 a point was missed, 128+n ended by signal n.`

// Common are the flags of all commands that run cases.
type Common struct {
	Project string `arg:"" optional:"" default:"." help:"The project's directory, or its wrangler file."`

	Then []string `placeholder:"DIR|REF" sep:"none" help:"After the first death, load this version of the project: a directory, a wrangler file, or a commit of its repository. Repeat it for the version after that, such as a rollback."`

	Scenario string `placeholder:"FILE" help:"A scenario in TypeScript (*.chaos.ts). Default, without client steps: the project's only scenario."`

	Call    []string `placeholder:"CALL" sep:"none" help:"Call a method of an agent: 'Class/name.method(args)', with JSON values as arguments."`
	Chat    []string `placeholder:"CHAT" sep:"none" help:"Send a message to a chat agent: 'Class/name: text'."`
	Fetch   []string `placeholder:"REQUEST" sep:"none" help:"Send a request: 'POST /path body'."`
	Model   []string `placeholder:"MODEL" sep:"none" help:"Calls that must be linearizable as a counter(add,get) or register(put,get)."`
	Effects string   `placeholder:"VAR" help:"Set this variable to the URL of the effect sink; each effect POSTed to URL/NAME must happen once."`

	MockAI bool   `name:"mock-ai" help:"Start a scripted model that survives the kills. It answers env.AI, OpenAI Responses and Anthropic Messages."`
	AIURL  string `name:"ai-url" placeholder:"URL" help:"Send the requests of env.AI.run() to this provider: POST URL/ai/run/MODEL."`

	Mask           []string `placeholder:"PATTERN" sep:"none" help:"Tables, KV keys or table.column that may differ from a run without faults (log*, jobs.note); may be repeated."`
	NoDifferential bool     `help:"Do not compare the results with those of runs without faults."`

	Recover string         `enum:"alarm,request," default:"" help:"What happens after a kill. alarm: nothing is sent, and the agent has to wake up by itself (default). request: a client connects at once."`
	Pace    *time.Duration `placeholder:"DURATION" help:"How long clients wait before each step but the first. Default: 0; in a simulation, enumerate then also visits the points of clients that wait a minute."`
	Horizon time.Duration  `placeholder:"DURATION" help:"End each life this long after its clients are done, if only alarms, timers and sockets are left: for systems that never come to rest. Default: in a simulation 1m, if a run without faults never comes to rest."`
	Within  time.Duration  `placeholder:"DURATION" help:"Wait for alarms that are due within this time. Default: 1m; in a simulation, enumerate waits for those of an hour if a run without faults then comes to rest."`
	Timeout time.Duration  `help:"How long each life of the server may take to come to rest. Default: 1m30s."`
	Env     string         `short:"e" placeholder:"NAME" help:"Environment of the wrangler file."`
	Var     []string       `placeholder:"KEY:VALUE" help:"Set a variable; may be repeated." sep:"none"`

	Mode      string `enum:"process,sim" default:"process" help:"process: real processes, SIGKILL, real time. sim: a simulation with virtual time, thousands of runs a minute; its findings can be confirmed with process."`
	Sync      string `enum:"full,normal" default:"full" help:"In a simulation, what survives a power loss. full: each acknowledged commit. normal: what a server with --sync normal has written to the disk."`
	Seed      uint64 `default:"1" help:"Seed of the plans of random, and of the order of events in a simulation."`
	SelfCheck bool   `help:"Run each case of a simulation twice and compare: a difference is a bug in minido."`

	Confirm      string        `placeholder:"workerd|PATH" help:"Also run each finding on the real workerd, of the project's wrangler or of the one at PATH. The report says whether it reproduces there."`
	ConfirmTries int           `default:"10" placeholder:"N" help:"Maximum number of runs of a finding on workerd."`
	ConfirmFor   time.Duration `default:"5m" placeholder:"TIME" help:"Begin no run of a finding on workerd after this time."`

	Jobs      int      `placeholder:"N" help:"Number of concurrent runs. Default: twice the number of processors; in a simulation that number."`
	Shard     string   `placeholder:"I/N" help:"Run only the I-th of N parts. minido chaos merge merges the reports."`
	Reporter  []string `placeholder:"KIND[=FILE]" help:"list, story (of a single run), ndjson (a line of JSON for each run), json, junit, github, html or markdown; may be repeated. Default: list; story for run."`
	StopAfter int      `placeholder:"N" help:"For enumerate and random: begin no run after N findings (groups of failures with the same cause)."`
	Resume    bool     `help:"For enumerate and random: continue the interrupted campaign in --dir, or start it there."`
	Dir       string   `placeholder:"DIR" help:"Directory of the evidence. Default: a new one in minido-out."`
	Keep      bool     `help:"Keep the evidence of runs that passed, too."`
	NoStandby bool     `hidden:"" help:"Start each server only when it is needed."`
}

// Enumerate is \`minido chaos enumerate\`.
type Enumerate struct {
	Common
	Depth        int           `default:"1" help:"1: one fault per run. 2: also a second kill at each point of each recovery."`
	Fault        string        `default:"kill" placeholder:"KIND" help:"The fault at each point: kill (default), or another kind from docs/chaos.md, such as crash or fail(full)."`
	For          time.Duration `placeholder:"TIME" help:"Begin no run after this time; --resume continues with the rest."`
	Max          int           `placeholder:"N" help:"Visit at most N points of each depth, spread evenly."`
	Schedules    int           `placeholder:"N" help:"In a simulation, also run up to N orders of messages (calls between objects, their results, alarms) that make a difference for some object; each result must equal that of a serial order."`
	FailingSteps bool          `help:"Continue if every client step fails without a fault: for steps that are meant to be refused."`
	Infer        bool          `help:"Print the invariants over several rows (sums, counts, references) that held in every state of the run without faults, as code for a scenario."`
	Each         bool          `help:"In a simulation, run every point. By default, points at which a death leaves the same world (files, clients, time) are run once, and each is judged."`
}

// Run implements kong's command interface.
func (c *Enumerate) Run() error {
	return c.run(os.Stdout, func(ctx context.Context, o campaign.Options) (result.Report, error) {
		o.Max, o.Each, o.Schedules, o.For, o.FailingSteps = c.Max, c.Each, c.Schedules, c.For, c.FailingSteps
		var err error
		if o.Fault, err = fault.ParseKind(c.Fault); err != nil {
			return result.Report{Code: chaos.Usage}, &chaos.UsageError{Text: "--fault: " + err.Error()}
		}
		if c.Infer {
			project, err := chaos.LoadProject(o.Project, o.Env, o.Vars)
			if err != nil {
				return result.Report{Code: chaos.CodeOf(err)}, err
			}
			o.Infer = &infer.Learner{Classes: infer.Classes(project)}
		}
		r, err := campaign.Enumerate(ctx, o, c.Depth)
		if o.Infer != nil {
			r.Inferred = append([]infer.Offer{}, o.Infer.Offers()...) // none is not nil
		}
		return r, err
	})
}

// Random is \`minido chaos random\`.
type Random struct {
	Common
	Runs   int           `default:"50" help:"Number of plans."`
	Corpus string        `placeholder:"DIR" help:"Store plans that reach something new in this directory, and start with the stored ones."`
	For    time.Duration `placeholder:"TIME" help:"Draw plans for this long, regardless of --runs."`

	FailingSteps bool `help:"Continue if every client step fails without a fault: for steps that are meant to be refused."`
}

// Run implements kong's command interface.
func (c *Random) Run() error {
	return c.run(os.Stdout, func(ctx context.Context, o campaign.Options) (result.Report, error) {
		o.For, o.Corpus, o.FailingSteps = c.For, c.Corpus, c.FailingSteps
		return campaign.Random(ctx, o, c.Seed, c.Runs)
	})
}

// Replay is \`minido chaos replay\`.
type Replay struct {
	Common
	Plan string `required:"" placeholder:"PLAN" help:"Faults, for example 'kill@commit:after(Agent/a1)/alarm#2; kill@after(350ms)', or none."`
	Runs int    `default:"1" help:"Number of runs."`

	Step    bool `help:"Step through the plan interactively, in a simulation: event by event, forwards and backwards, with objects, timers, SQL, the history of a row, and kills at any point. ? lists the commands."`
	Sigkill bool `hidden:"" help:"In a simulation, die for real: the files are then what SIGKILL leaves."`
}

// Run implements kong's command interface.
func (c *Replay) Run() error {
	return c.run(os.Stdout, func(ctx context.Context, o campaign.Options) (result.Report, error) {
		plan, err := fault.ParsePlan(c.Plan)
		if err != nil {
			return result.Report{Code: chaos.Usage}, &chaos.UsageError{Text: "--plan: " + err.Error()}
		}
		o.Keep, o.Sigkill = true, c.Sigkill
		if c.Step {
			o.Mode, o.Jobs, o.Step = campaign.Sim, 1, stepper.New(os.Stdin, os.Stdout, !isTerminal(os.Stdin))
		}
		return campaign.Replay(ctx, o, plan, c.Runs)
	})
}

// Shrink is \`minido chaos shrink\`.
type Shrink struct {
	Common
	Plan string `required:"" placeholder:"PLAN" help:"A plan that fails."`
}

// Run implements kong's command interface.
func (c *Shrink) Run() error {
	return c.run(os.Stdout, func(ctx context.Context, o campaign.Options) (result.Report, error) {
		plan, err := fault.ParsePlan(c.Plan)
		if err != nil {
			return result.Report{Code: chaos.Usage}, &chaos.UsageError{Text: "--plan: " + err.Error()}
		}
		return campaign.Shrink(ctx, o, plan)
	})
}

// options reads the common flags.
func (c *Common) options() (campaign.Options, error) {
	o := campaign.Options{Project: c.Project, Then: c.Then, Env: c.Env, Vars: c.Var, CommandVars: c.Var, Recover: chaos.Recovery(c.Recover), SinkVar: c.Effects,
		Timeout: c.Timeout, Horizon: c.Horizon, Within: c.Within, Jobs: c.Jobs, StopAfter: c.StopAfter, Dir: c.Dir, Resume: c.Resume, Keep: c.Keep, NoStandby: c.NoStandby, AIURL: c.AIURL,
		Mode: campaign.Mode(c.Mode), SyncNormal: c.Sync == "normal", Seed: c.Seed, SelfCheck: c.SelfCheck, Mask: c.Mask, CommandMask: c.Mask, NoDifferential: c.NoDifferential}
	if c.Pace != nil {
		o.Pace, o.OnePace = *c.Pace, true
	}
	if c.MockAI {
		o.AI = upstream.DefaultModel()
	}
	usage := func(err error) error { return &chaos.UsageError{Text: err.Error()} }
	for _, k := range []struct {
		kind  drive.Kind
		texts []string
	}{{drive.Call, c.Call}, {drive.Chat, c.Chat}, {drive.Fetch, c.Fetch}} {
		for _, text := range k.texts {
			step, err := drive.Parse(k.kind, text)
			if err != nil {
				return o, usage(err)
			}
			o.Steps = append(o.Steps, step)
		}
	}
	for _, text := range c.Model {
		m, err := check.ParseModel(text)
		if err != nil {
			return o, usage(fmt.Errorf("--model: %w", err))
		}
		o.Models = append(o.Models, m)
	}
	if err := c.useScenario(&o); err != nil {
		return o, err
	}
	if c.Shard != "" {
		i, n, _ := strings.Cut(c.Shard, "/")
		var errI, errN error
		o.Shard, errI = strconv.Atoi(i)
		o.Shards, errN = strconv.Atoi(n)
		if errI != nil || errN != nil {
			return o, usage(fmt.Errorf("--shard %q: write i/n, for example 2/8", c.Shard))
		}
	}
	return o, nil
}

// useScenario loads the scenario that was named, or the project's only one if no
// steps were given. Flags win over what it says.
func (c *Common) useScenario(o *campaign.Options) error {
	file := c.Scenario
	if file == "" {
		if len(o.Steps) > 0 {
			return nil
		}
		found, err := scenario.Find(c.Project)
		if err != nil {
			return err
		}
		switch len(found) {
		case 0:
			return nil // campaign says what is missing
		case 1:
			file = found[0]
		default:
			return &chaos.UsageError{Text: fmt.Sprintf("which scenario? Give --scenario with one of %s.", strings.Join(found, ", "))}
		}
	}
	s, err := scenario.Load(file, c.Project, c.Env, clock.Real{})
	if err != nil {
		return err
	}
	o.Mask = append(append([]string{}, s.Mask...), c.Mask...)
	o.Script, o.Vars, o.Models = s, append(append([]string{}, s.Vars...), c.Var...), append(s.Models, o.Models...)
	if o.Recover == "" {
		o.Recover = s.Recover
	}
	if o.Timeout == 0 {
		o.Timeout = s.Timeout
	}
	if o.Horizon == 0 {
		o.Horizon = s.Horizon
	}
	if o.SinkVar == "" {
		o.SinkVar = s.Effects
	}
	if o.AIURL == "" {
		o.AI = s.AI
	}
	return nil
}

// confirming finds the wrangler for findings, before any is looked for.
func (c *Common) confirming(o campaign.Options) (out confirm.Options, err error) {
	if c.Confirm == "" {
		return out, nil
	}
	if c.ConfirmTries < 1 || c.ConfirmFor < 0 {
		return out, &chaos.UsageError{Text: "--confirm-tries must be 1 or more, and --confirm-for not be negative."}
	}
	config, err := chaos.FindConfig(o.Project, o.Env, o.Vars)
	if err != nil {
		return out, err
	}
	out = confirm.Options{Tries: c.ConfirmTries, For: c.ConfirmFor, Clock: clock.Real{}}
	out.Tool, err = workerd.Find(filepath.Dir(config), c.Confirm)
	return out, err
}

// run runs a campaign with its reporters, until its end or a signal.
func (c *Common) run(out io.Writer, campaignOf func(context.Context, campaign.Options) (result.Report, error)) error {
	ctx, signalled, stop := untilSignal()
	defer stop()
	o, err := c.options()
	if err != nil {
		return &ExitError{Code: chaos.Usage, Text: "minido: " + err.Error()}
	}
	confirming, err := c.confirming(o)
	if err != nil {
		return &ExitError{Code: chaos.CodeOf(err), Text: "minido: " + err.Error()}
	}
	reporters, err := report.Open(c.Reporter, out, Color(out), isTerminal(out))
	if err != nil {
		return &ExitError{Code: chaos.Usage, Text: "minido: --reporter: " + err.Error()}
	}
	o.Progress, o.Observe = reporters.Progress, reporters.Observe()
	if o.Mode == campaign.Sim {
		debug.SetGCPercent(sim.Garbage)
	}
	r, err := campaignOf(ctx, o)
	if c.Confirm != "" && err == nil && ctx.Err() == nil {
		confirming.Campaign = o
		err = confirm.Findings(ctx, confirming, &r)
		if err != nil && ctx.Err() == nil {
			r.Code = chaos.Broken
		}
	}
	if n := signalled(); n != 0 {
		r.Code, err = chaos.Signal+n, fmt.Errorf("stopped by a signal")
	}
	if reportErr := reporters.End(r); reportErr != nil {
		return &ExitError{Code: chaos.Broken, Text: "minido: " + reportErr.Error()}
	}
	if err == nil && r.Code == chaos.Pass {
		return nil
	}
	text := ""
	if err != nil {
		text = "minido: " + err.Error()
	}
	return &ExitError{Code: r.Code, Text: text}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
