// Package demo shows a newcomer, in a screenful, what the project is about: a real
// agent is killed in the middle of its work and continues where it stopped.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/report"
	"minido.dev/minido/chaos/result"
)

// Options say where the agent is and where to show it.
type Options struct {
	// Fixture is the directory of fixtures/fibers, with its npm packages installed.
	Fixture string
	// Out gets the story; Color allows ANSI colours in it.
	Out   io.Writer
	Color bool
	// Dir gets the evidence; "" makes a new directory below minido-out.
	Dir string
	// Server is the command that serves, see campaign.Options.
	Server []string
}

// Run starts the agent's research, kills the server with SIGKILL once two steps
// of five have been checkpointed, starts it again, sends nothing, and shows that the
// fiber goes on from its last checkpoint and ends with the answer of an uninterrupted
// run. The report's code is the exit code.
//
// # Errors
//
// As campaign.Replay; in addition an answer that is not the uninterrupted one, or a
// job that was not completed exactly once, is an error with the code Violated.
func Run(ctx context.Context, o Options) (result.Report, error) {
	if _, err := os.Stat(o.Fixture); errors.Is(err, fs.ErrNotExist) {
		return result.Report{Code: chaos.Usage}, &chaos.UsageError{Text: fmt.Sprintf(
			"there is no %s here: the demonstration runs in a clone of minido's repository. minido init --template agent writes an agent of your own.", o.Fixture)}
	}
	if _, err := os.Stat(filepath.Join(o.Fixture, "node_modules", "agents")); errors.Is(err, fs.ErrNotExist) {
		return result.Report{Code: chaos.Usage}, &chaos.UsageError{Text: fmt.Sprintf(
			"%s has no node_modules/agents: install the npm packages first (npm ci there, or make npm)", o.Fixture)}
	}
	say := func(format string, args ...any) {
		// A reader who has gone away does not stop the demonstration.
		_, _ = fmt.Fprintf(o.Out, format+"\n", args...)
	}
	say("ResearchAgent (npm agents 0.32.0, unmodified) works through five steps in a fiber and")
	say("stores a checkpoint after each. The server dies by SIGKILL in the third.\n")
	step, err := drive.Parse(drive.Call, `ResearchAgent/r1.startResearch("tides")`)
	if err != nil {
		return result.Report{Code: chaos.Broken}, err
	}
	reporters, err := report.Open([]string{"story"}, o.Out, o.Color, false)
	if err != nil {
		return result.Report{Code: chaos.Broken}, err
	}
	r, err := campaign.Replay(ctx, campaign.Options{
		Project: o.Fixture, Steps: []drive.Step{step}, Vars: vars, CommandVars: vars, Recover: chaos.ByAlarm, Jobs: 1, Keep: true,
		Dir: o.Dir, Server: o.Server, Progress: reporters.Progress, Observe: reporters.Observe(),
	}, fault.Plan{{Checkpoint: 2}}, 1)
	if err = errors.Join(err, reporters.End(r)); err != nil || r.Code != chaos.Pass {
		return r, err
	}
	answer, err := readAnswer(r.Cases[0].Dir)
	if err != nil {
		r.Code = chaos.Violated
		return r, err
	}
	say("\nThe agent's answer, the same as without the kill: %s", answer)
	return r, nil
}

// vars have each step take so long that a person can follow.
var vars = []string{"STEP_MS:500"}

// wanted is what an uninterrupted run answers (fixtures/fibers/src/research.ts).
const wanted = "search tides #1; read tides #2; compare tides #3; draft tides #4; review tides #5"

// readAnswer reads the job from the files that the run left.
func readAnswer(dir string) (answer string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "end", "v3", "do", "fibers-ResearchAgent", "*.sqlite"))
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	for _, path := range paths {
		if filepath.Base(path) == "metadata.sqlite" {
			continue
		}
		db, err := evidence.Open(path)
		if err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		rows, err := db.Query("SELECT status, completions, answer FROM research_jobs")
		if err := errors.Join(err, db.Close()); err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		if len(rows) != 1 || rows[0].Text("answer") != wanted || rows[0].Int("completions") != 1 {
			return "", fmt.Errorf("demo: the agent's books say %v, and not once %q", rows, wanted)
		}
		return wanted, nil
	}
	return "", fmt.Errorf("demo: the agent left no database below %s", dir)
}
