package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
)

// defaultCheckpoint is the checkpoint at which `minido chaos run` kills by default.
const defaultCheckpoint = 2

// Once is `minido chaos run`: a replay of one plan, told as a story. Its fields are
// kong's; a zero value is filled by parsing.
type Once struct {
	Common

	KillAt           string        `placeholder:"POINT" help:"SIGKILL the server at this effect point: a label such as 'commit:after(Agent/a1)/alarm#2', or its number."`
	KillAfter        time.Duration `placeholder:"TIME" help:"SIGKILL it this long after it was ready, for example 2s."`
	KillAtCheckpoint int           `placeholder:"N" help:"SIGKILL it when a fiber has stored N checkpoints. This is the default, with N = 2."`
	Kills            int           `default:"1" help:"Number of kills, each at the same kind of point."`
	ListPoints       bool          `help:"Run once without a kill and list the effect points at which the server can be killed."`

	// The notation of earlier versions, recognized to say what has taken its place.
	OldArgs string `arg:"" optional:"" hidden:"" name:"arguments"`
	OldOn   string `name:"on" hidden:""`
}

// Help implements kong's HelpProvider.
func (Once) Help() string {
	return `Runs the client steps, kills the server with SIGKILL in the middle, restarts it on the same files, waits until
nothing is left to do, checks the invariants of enumerate, and reports each step while it happens.

  minido chaos run . --call 'ResearchAgent/r1.startResearch("tides")'
  minido chaos run . --chat 'ChatAgent/c1: hello' --kill-after 2s --recover request
  minido chaos run . --call 'ResearchAgent/r1.startResearch("tides")' --list-points

Exit codes: 0 everything held, 1 an invariant was violated, 2 wrong flags, configuration or project, 3 the harness or
the server failed by itself, 4 the system never became idle, 5 the point of the kill was not reached, 128+n signal n.`
}

// Run implements kong's command interface. It handles signals itself: the
// first one ends the run, and its children with it. The error is an *ExitError.
func (c *Once) Run() error { return c.run(os.Stdout) }

func (c *Once) run(out io.Writer) error {
	if err := c.renamed(); err != nil {
		return &ExitError{Code: chaos.Usage, Text: "minido: " + err.Error()}
	}
	plan, err := c.plan()
	if err != nil {
		return &ExitError{Code: chaos.Usage, Text: "minido: " + err.Error()}
	}
	if len(c.Reporter) == 0 {
		c.Reporter = []string{"story"}
	}
	return c.Common.run(out, func(ctx context.Context, o campaign.Options) (result.Report, error) {
		if c.ListPoints {
			return list(ctx, o, out)
		}
		o.Keep, o.Jobs = true, 1
		return campaign.Replay(ctx, o, plan, 1)
	})
}

// renamed says how to write what was written in the notation of earlier versions.
func (c *Once) renamed() error {
	if c.OldOn == "" && c.OldArgs == "" {
		return nil
	}
	class, name, _ := strings.Cut(c.OldOn, "/")
	if class == "" || name == "" {
		class, name = "ResearchAgent", "r1"
	}
	if len(c.Chat) > 0 {
		return fmt.Errorf("--on is part of --chat now: write --chat %s", chaos.Quote(pascal(class)+"/"+name+": "+c.Chat[0]))
	}
	method, args := "startResearch", strings.TrimSuffix(strings.TrimPrefix(c.OldArgs, "["), "]")
	if len(c.Call) > 0 {
		method = c.Call[0]
	}
	return fmt.Errorf("--on and the list of arguments are part of --call now: write --call %s", chaos.Quote(pascal(class)+"/"+name+"."+method+"("+args+")"))
}

// pascal is a class's name, from the form that it has in an agent's URL.
func pascal(kebab string) string {
	out := ""
	for _, word := range strings.Split(kebab, "-") {
		if word != "" {
			out += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return out
}

// plan is the kill that the flags name, so often.
func (c *Once) plan() (fault.Plan, error) {
	var ways []fault.Fault
	if c.KillAt != "" {
		f, err := fault.Parse("kill@" + c.KillAt)
		if err != nil {
			return nil, fmt.Errorf("--kill-at: %w", err)
		}
		ways = append(ways, f)
	}
	if c.KillAfter != 0 {
		ways = append(ways, fault.Fault{After: c.KillAfter})
	}
	if c.KillAtCheckpoint != 0 {
		ways = append(ways, fault.Fault{Checkpoint: c.KillAtCheckpoint})
	}
	switch {
	case c.KillAfter < 0 || c.KillAtCheckpoint < 0 || c.Kills < 0:
		return nil, fmt.Errorf("times and counts must not be negative")
	case len(ways) > 1:
		return nil, fmt.Errorf("choose one of --kill-at, --kill-after and --kill-at-checkpoint")
	case len(ways) == 0:
		ways = append(ways, fault.Fault{Checkpoint: defaultCheckpoint})
	}
	var plan fault.Plan
	for range max(c.Kills, 1) {
		plan = append(plan, ways[0])
	}
	return plan, nil
}

// list prints the points of a run without a kill.
func list(ctx context.Context, o campaign.Options, out io.Writer) (result.Report, error) {
	points, report, err := campaign.Points(ctx, o)
	if err != nil {
		return report, err
	}
	var b strings.Builder
	for i, label := range points {
		fmt.Fprintf(&b, "%5d  %s\n", i+1, label)
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return report, fmt.Errorf("the list: %w", err)
	}
	return report, nil
}
