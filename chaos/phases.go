package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/killpoint"
)

// start starts the next child on the same files and waits until it answers.
// One that is to be killed is armed, if the kill is at a point.
func (r *run) start(ctx context.Context, toBeKilled bool) error {
	r.lives++
	o := process.Options{
		Command:   append(append([]string{}, r.Server...), r.serverFlags()...),
		Log:       r.log,
		PointLog:  filepath.Join(r.report.Dir, fmt.Sprintf("points-%d.ndjson", r.lives)),
		Scheduler: r.scheduler,
	}
	if toBeKilled {
		o.KillPoint, o.Step = r.KillAt, r.KillAtCheckpoint > 0
	}
	began := r.clock.Now()
	child, err := process.Start(o)
	if err != nil {
		return failed(Broken, "chaos: %w", err)
	}
	r.child = child
	if o.Step {
		r.checkpoint = r.atCheckpoint(ctx, child, r.KillAtCheckpoint)
	}
	r.history.Add(history.Event{Kind: history.Start, Who: r.childName(), Text: strings.Join(o.Command, " ")})
	r.url, err = child.Ready(ctx, readyLimit)
	if err != nil {
		return r.notReady(err, toBeKilled)
	}
	r.history.Add(history.Event{Kind: history.Ready, Who: r.childName(), Text: r.url})
	r.watcher.reset()
	what, note := "start", ""
	if r.lives > 1 {
		what = "restart"
		if r.Recover == ByAlarm {
			note = "; nobody sends a request"
		}
	}
	r.tell(cyan, what, "pid %d, ready after %.2f s%s", child.Pid(), r.clock.Now().Sub(began).Seconds(), note)
	return nil
}

func (r *run) serverFlags() []string {
	flags := []string{"--config", r.target.config, "--ip", "127.0.0.1", "--port", "0", "--persist-to", r.state}
	if r.Env != "" {
		flags = append(flags, "--env", r.Env)
	}
	for _, v := range r.Vars {
		flags = append(flags, "--var", v)
	}
	return flags
}

// notReady says why a child is not there. One that was armed may have died at
// its point before it was ready; that is for awaitDeath to see.
func (r *run) notReady(err error, toBeKilled bool) error {
	var exit *process.ExitError
	if errors.As(err, &exit) {
		if toBeKilled && r.KillAt != "" && exit.Exit.SelfKilled() {
			r.tell(cyan, "start", "pid %d died before it was ready", r.child.Pid())
			return nil
		}
		if exit.Exit.Code == Usage {
			return usage("%s", exit.Tail)
		}
	}
	return failed(Broken, "the server did not get ready: %w", err)
}

// asking is a call or chat turn under way. done is closed after the other
// fields were set.
type asking struct {
	done   chan struct{}
	result string
	err    error
}

// answered reports whether the call has ended.
func (a *asking) answered() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// connect opens the next client's socket. A server that dies meanwhile is not
// an error: client is nil then.
func (r *run) connect(ctx context.Context) error {
	r.clients++
	limited, cancel := wait.WithLimit(ctx, r.clock, r.Timeout)
	defer cancel()
	client, err := agentrpc.Dial(limited, agentrpc.Options{
		URL: r.url, Agent: r.target.agent, Name: r.target.name, Who: fmt.Sprintf("client-%d", r.clients),
		History: r.history, Scheduler: r.scheduler,
	})
	if err == nil {
		r.client = client
		return nil
	}
	r.client = nil
	if r.KillAt != "" && wait.Channel(ctx, r.clock, time.Second, "the server's end", r.child.Exited()) == nil {
		return nil
	}
	return failed(Broken, "no connection to %s: %w\nthe server wrote:\n%s", r.On, err, r.child.Tail())
}

// drive asks the agent for the work that will be interrupted. It does not wait
// for the answer of a call that a kill may cut.
func (r *run) drive(ctx context.Context) error {
	if _, ended := r.child.Exit(); ended {
		return nil // killed at a point of its start
	}
	if err := r.connect(ctx); err != nil || r.client == nil {
		return err
	}
	client, a := r.client, &asking{done: make(chan struct{})}
	r.asking, r.driven = a, true
	r.tell(plain, "call", "%s", r.what())
	r.scheduler.Go("client", func() {
		defer close(a.done)
		if r.Chat != "" {
			answer, err := client.Chat(ctx, r.Chat)
			a.result, a.err = answer.Text, err
			return
		}
		result, err := client.Call(ctx, r.Call, json.RawMessage(r.Args))
		a.result, a.err = string(result), err
	})
	if r.Chat != "" || r.KillAt != "" {
		return nil
	}
	if err := wait.Channel(ctx, r.clock, r.Timeout, "the answer to "+r.what(), a.done); err != nil {
		return failed(Restless, "%w", err)
	}
	return r.answer()
}

// answer looks at how the call ended, if it has.
func (r *run) answer() error {
	if r.asking == nil || !r.asking.answered() {
		return nil
	}
	a := r.asking
	r.asking = nil
	var remote *agentrpc.RemoteError
	switch {
	case errors.As(a.err, &remote):
		return usage("the agent refused the call: %v", remote)
	case errors.Is(a.err, agentrpc.ErrLost):
		r.tell(yellow, "lost", "the connection ended before the answer to %s: it may or may not have had its effect", r.what())
	case a.err != nil:
		return failed(Broken, "%s: %w", r.what(), a.err)
	default:
		r.tell(plain, "answer", "%s", shorten(a.result))
	}
	return nil
}

// awaitDeath waits for the nth kill to be due, or for the armed child to die,
// and takes down what the death left behind.
func (r *run) awaitDeath(ctx context.Context, n int) error {
	err := r.pursue(ctx, fmt.Sprintf("kill %d (%s)", n, r.when()))
	if err != nil {
		return err
	}
	if err := r.child.Kill(); err != nil {
		return failed(Broken, "%w", err)
	}
	exit, _ := r.child.Exit()
	if !exit.Killed {
		return failed(Broken, "the server ended by itself: %w", r.child.ExitError())
	}
	died := r.history.Elapsed()
	r.history.Add(history.Event{Kind: history.Kill, Who: r.childName(), Text: exit.Text})
	if r.client != nil {
		r.client.Close()
	}
	if r.asking != nil {
		if err := wait.Channel(ctx, r.clock, r.Timeout, "the lost call's end", r.asking.done); err != nil {
			return failed(Broken, "%w", err)
		}
		if err := r.answer(); err != nil {
			return err
		}
	}
	points, err := r.child.Points()
	if err != nil {
		return failed(Broken, "%w", err)
	}
	if exit.SelfKilled() {
		if err := r.diedWhereAimed(points); err != nil {
			return err
		}
	}
	state, err := r.preserve(fmt.Sprintf("death-%d", n))
	if err != nil {
		return err
	}
	r.noteRecovery()
	r.deaths = append(r.deaths, state)
	k := Kill{Pid: r.child.Pid(), At: died, ByItself: exit.SelfKilled(), Interrupted: state.Interrupted()}
	if len(points) > 0 {
		k.Point = points[len(points)-1].Label
	}
	r.report.Kills = append(r.report.Kills, k)
	r.tellDeath(k)
	return nil
}

func (r *run) tellDeath(k Kill) {
	where := ""
	if k.ByItself {
		where = " at " + k.Point
	}
	r.tell(red, "SIGKILL", "pid %d is gone%s", k.Pid, where)
	if len(k.Interrupted) == 0 {
		r.tell(red, "on disk", "cf_agents_runs is empty: no fiber was cut")
	}
	for _, f := range k.Interrupted {
		r.tell(red, "on disk", "%s, cut in the middle; last checkpoint: %s", f.Name, shorten(f.Snapshot))
	}
}

// pursue returns when the child is to be killed, or has killed itself.
func (r *run) pursue(ctx context.Context, what string) error {
	due := r.clock.Now().Add(r.KillAfter)
	err := wait.Until(ctx, r.clock, r.Timeout+r.KillAfter, what, func() (bool, error) {
		if _, ended := r.child.Exit(); ended {
			return true, nil
		}
		if err := r.watcher.look(); err != nil {
			return false, failed(Broken, "%w", err)
		}
		if err := r.answer(); err != nil {
			return false, err
		}
		if r.KillAfter != 0 {
			return !r.clock.Now().Before(due), nil
		}
		select {
		case err := <-r.checkpoint:
			if _, ended := r.child.Exit(); err != nil && !ended {
				return false, failed(Broken, "%w", err)
			}
			return true, nil
		default: // nil, if it is not waited for
		}
		// Everything is done and the moment has not come: it will not.
		if rest, _ := r.watcher.atRest(); rest && r.asking == nil && len(r.watcher.state.Databases) > 0 {
			return false, failed(Missed, "%s was missed: the agent has finished, and its moment did not come", what)
		}
		return false, nil
	})
	if errors.Is(err, wait.ErrTimeout) {
		return failed(Missed, "%w", err)
	}
	return err
}

// diedWhereAimed checks that the target was met at the last point and not before.
func (r *run) diedWhereAimed(points []process.Point) error {
	hits, err := killpoint.ParseTarget(r.KillAt)
	if err != nil {
		return usage("--kill-at: %v", err)
	}
	for i, p := range points {
		at, err := killpoint.ParseLabel(p.Label)
		if err != nil {
			return failed(Broken, "the server recorded a point that is none: %w", err)
		}
		at.Number = p.N
		if hits(at) != (i == len(points)-1) {
			return failed(Broken, "the server died by SIGKILL, but not where it was aimed: %s is point %d of %d that it recorded", p.Label, i+1, len(points))
		}
	}
	if len(points) == 0 {
		return failed(Broken, "the server died by SIGKILL before it recorded a point")
	}
	return nil
}

// touch is the request that wakes the agent after a restart; a chat client also
// joins the stream that was cut.
func (r *run) touch(ctx context.Context) error {
	if _, ended := r.child.Exit(); ended {
		return nil
	}
	if err := r.connect(ctx); err != nil || r.client == nil {
		return err
	}
	r.tell(plain, "request", "a client connects to %s", r.On)
	if r.Chat == "" {
		return nil
	}
	client := r.client
	r.scheduler.Go("client", func() {
		// What it sees is in the history, with its end; the agent's rest is
		// judged by its files.
		_, _ = client.Resume(ctx)
	})
	return nil
}

// awaitRest waits until the agent has nothing left to do.
func (r *run) awaitRest(ctx context.Context) error {
	why := ""
	err := wait.Until(ctx, r.clock, r.Timeout, "the agent's rest", func() (bool, error) {
		if _, ended := r.child.Exit(); ended {
			return false, failed(Broken, "the server ended by itself: %w", r.child.ExitError())
		}
		if err := r.watcher.look(); err != nil {
			return false, failed(Broken, "%w", err)
		}
		if err := r.answer(); err != nil {
			return false, err
		}
		var rest bool
		rest, why = r.watcher.atRest()
		return rest && r.asking == nil, nil
	})
	if errors.Is(err, wait.ErrTimeout) {
		return failed(Restless, "the agent never came to rest: %w: %s", err, why)
	}
	if err == nil {
		r.noteRecovery()
		r.tell(green, "rest", "no fiber and no alarm is left")
	}
	return err
}

// noteRecovery puts down how long the last kill's recovery took.
func (r *run) noteRecovery() {
	if n := len(r.report.Kills); n > 0 && !r.watcher.recovered.IsZero() {
		r.report.Kills[n-1].Recovered = r.history.Elapsed() - r.clock.Now().Sub(r.watcher.recovered) - r.report.Kills[n-1].At
	}
}

// verdict tells the end.
func (r *run) verdict() {
	for _, v := range r.report.Violations {
		r.say("%s %s", r.paint(red, "  VIOLATED"), v)
	}
	switch {
	case r.Chat != "":
		r.say("  the turn came to an end and left no fiber behind; the text of the stored answer was not checked")
	case !r.report.HooksVisible:
		r.say("  the agent writes no table *_interruptions (fiber, snapshot): what its hook was given was not checked")
	}
	interrupted, recovered := 0, ""
	for _, k := range r.report.Kills {
		interrupted += len(k.Interrupted)
		if k.Recovered > 0 {
			recovered = fmt.Sprintf(", recovered %.2f s after the kill", k.Recovered.Seconds())
		}
	}
	word, c := "PASS", green
	if r.report.Code != Pass {
		word, c = "FAIL", red
	}
	r.say("%s  %s, %s interrupted%s; evidence in %s", r.paint(c, word), count(len(r.report.Kills), "kill"), count(interrupted, "fiber"), recovered, r.report.Dir)
	if r.report.Code != Pass {
		r.say("replay with:\n%s", r.replay())
	}
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
