package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/control"
)

// Limits of a walk: what it writes, how long it takes, and at how many events it looks.
const (
	maxWalkBytes  = 4 << 20
	maxWalkEvents = 1000
	walkTime      = 60 * time.Second
)

// Walk implements control.Harness: it replays a case in a simulation once, looks at
// everything at each event, and gives that in order, so that one can step both ways.
func (h *Harness) Walk(ctx context.Context, r control.WalkRequest) (out control.Walk, err error) {
	words, err := h.walkWords(r)
	if err != nil {
		return out, err
	}
	dir, err := os.MkdirTemp("", "minido-walk-")
	if err != nil {
		return out, fmt.Errorf("walk: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	looks := []string{"o", "t", "w"}
	if sql := strings.Join(strings.Fields(r.SQL), " "); sql != "" {
		looks = append(looks, "sql "+sql)
	}
	path := filepath.Join(dir, "commands")
	commands := strings.Repeat(strings.Join(append(slices.Clone(looks), "n"), "\n")+"\n", maxWalkEvents)
	if err := os.WriteFile(path, []byte(commands), 0o600); err != nil {
		return out, fmt.Errorf("walk: %w", err)
	}
	in, err := os.Open(path)
	if err != nil {
		return out, fmt.Errorf("walk: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	transcript := &capped{}
	text, err := h.walkChild(ctx, process.Options{Command: slices.Concat(h.Command, words, []string{"--dir=" + filepath.Join(dir, "evidence")}), Dir: h.Dir,
		Stdin: in, Stdout: transcript, Scheduler: h.Scheduler})
	if err != nil {
		return out, err
	}
	out = readWalk(transcript.text(), looks)
	if len(out.Moments) == 0 {
		return out, &pool.RefusedError{Reason: "this case cannot be walked through: " + shortened(text)}
	}
	out.Truncated = out.Truncated || len(transcript.text()) == maxWalkBytes
	return out, nil
}

// walkWords are the command that walks through a case of the last campaign.
func (h *Harness) walkWords(r control.WalkRequest) ([]string, error) {
	known, err := h.scenarios()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil || r.Case < 1 || r.Case > len(h.last.cases) {
		return nil, &control.InputError{Text: fmt.Sprintf("the last campaign lists no case %d", r.Case)}
	}
	of, asked := h.last.cases[r.Case-1].Case, h.last.state.Request
	flags, err := campaignFlags(control.CampaignRequest{Verb: "replay", Scenario: asked.Scenario, Call: asked.Call, Chat: asked.Chat, Fetch: asked.Fetch, Effects: asked.Effects, MockAI: asked.MockAI,
		Mode: "sim", Plan: of.Plan, Pace: of.Pace, Seed: of.Seed}, known)
	if err != nil {
		return nil, err
	}
	return append(h.words("replay", flags), "--step", "--reporter=json"), nil
}

// walkChild runs the child that walks, one at a time, and returns what it wrote to its
// standard error. The child ends with ctx and with Close.
func (h *Harness) walkChild(ctx context.Context, o process.Options) (text string, err error) {
	h.mu.Lock()
	if h.closed || h.walking != nil {
		h.mu.Unlock()
		return "", &pool.RefusedError{Reason: "another walk is in progress, or the server stops"}
	}
	child, err := process.Start(o)
	if err != nil {
		h.mu.Unlock()
		return "", err
	}
	h.walking = child
	h.mu.Unlock()
	defer func() {
		err = errors.Join(err, child.Close())
		h.mu.Lock()
		h.walking = nil
		h.mu.Unlock()
	}()
	if err := wait.Channel(ctx, h.Scheduler.Clock(), walkTime, "the end of the replay", child.Exited()); err != nil {
		return "", fmt.Errorf("walk: %w", err)
	}
	return strings.TrimSpace(child.Tail()), nil
}

// readWalk reads what `replay --step` writes when it is asked looks and then n, again and
// again: the events of a moment, then each command behind "N> ", and what it says.
func readWalk(transcript string, looks []string) (out control.Walk) {
	empty := func() control.WalkMoment {
		return control.WalkMoment{Events: []string{}, Objects: []string{}, Timers: []string{}, Waiting: []string{}, Rows: []string{}}
	}
	now, next := empty(), 0
	for line := range strings.Lines(transcript) {
		line = strings.TrimRight(line, "\n")
		said := strings.TrimLeft(line, "0123456789")
		switch {
		case next < len(looks) && said == "> "+looks[next]:
			next++
			continue
		case next == len(looks) && said == "> n":
			out.Moments = append(out.Moments, now)
			now, next = empty(), 0
			continue
		case next == 0 && strings.HasPrefix(line, " "):
			now.Events = append(now.Events, shortened(strings.TrimSpace(line)))
		}
		if to := []*[]string{nil, &now.Objects, &now.Timers, &now.Waiting, &now.Rows}[next]; to != nil {
			*to = append(*to, shortened(line))
		}
	}
	out.Truncated = len(out.Moments) == maxWalkEvents
	return out
}

// capped keeps the first maxWalkBytes of what is written. Safe for concurrent use.
type capped struct {
	mu   sync.Mutex
	kept bytes.Buffer // guarded by mu
}

// Write implements io.Writer; it never fails.
func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Write(p[:min(maxWalkBytes-c.kept.Len(), len(p))])
	return len(p), nil
}

func (c *capped) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.String()
}
