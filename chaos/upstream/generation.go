package upstream

import (
	"context"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// piece is one step of an answer. Exactly one of text and tool is set.
type piece struct {
	text      string
	reasoning bool
	tool      *Call
	// first and last are about the block (the reasoning, the text) it belongs to.
	first, last bool
	block       int // index of that block
}

func pieces(r Reply) []piece {
	var out []piece
	block := 0
	add := func(texts []string, reasoning bool) {
		for i, t := range texts {
			out = append(out, piece{text: t, reasoning: reasoning, first: i == 0, last: i == len(texts)-1, block: block})
		}
		if len(texts) > 0 {
			block++
		}
	}
	add(r.Reasoning, true)
	if r.Tool != nil {
		out = append(out, piece{tool: r.Tool, first: true, last: true, block: block})
		block++
	}
	add(r.Text, false)
	return out
}

// generation is one answer as it comes about.
type generation struct {
	answer *answer
	pieces []piece
	hold   *Hold  // nil: none
	fault  *Fault // nil: none
	// scheduler runs those who wait for the answer.
	scheduler sched.Scheduler

	mu      sync.Mutex // guards everything below
	ready   int        // pieces so far
	done    bool       // all of them, and the end
	err     error      // why it was cut
	changed chan struct{}
}

func newGeneration(a *answer, h *Hold, f *Fault, s sched.Scheduler) *generation {
	return &generation{scheduler: s, answer: a, pieces: pieces(a.reply), hold: h, fault: f, changed: make(chan struct{})}
}

// run makes one piece after the other, until the end or until ctx is done.
func (g *generation) run(ctx context.Context, c clock.Clock, pace time.Duration) {
	for n := 0; ; n++ {
		err := g.standStill(ctx, n)
		if err == nil && g.fault.Is(Stall) && g.fault.Piece == n {
			err = wait.Pause(ctx, c, g.fault.For)
		}
		if err == nil && pace > 0 {
			err = wait.Pause(ctx, c, pace)
		}
		if g.step(n, err) {
			return
		}
	}
}

func (g *generation) standStill(ctx context.Context, n int) error {
	if g.hold == nil || g.hold.at != n {
		return nil
	}
	close(g.hold.reached)
	sched.Wait(g.scheduler, func() bool { return closed(g.hold.released) || ctx.Err() != nil })
	if closed(g.hold.released) {
		return nil
	}
	select {
	case <-g.hold.released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closed reports whether a channel that nothing is sent on is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// step publishes piece n, or the end, or that the generation was cut.
func (g *generation) step(n int, err error) (over bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err != nil:
		g.err = err
	case n == len(g.pieces):
		g.done = true
	default:
		g.ready = n + 1
	}
	close(g.changed)
	g.changed = make(chan struct{})
	return g.done || g.err != nil
}

// next waits for piece n; ok is false when the answer ends before it.
func (g *generation) next(ctx context.Context, n int) (p piece, ok bool, err error) {
	for {
		g.mu.Lock()
		ready, done, cut, changed := g.ready, g.done, g.err, g.changed
		g.mu.Unlock()
		switch {
		case n < ready:
			return g.pieces[n], true, nil
		case done:
			return piece{}, false, nil
		case cut != nil:
			return piece{}, false, cut
		}
		sched.Wait(g.scheduler, func() bool { return closed(changed) || ctx.Err() != nil })
		if closed(changed) {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return piece{}, false, ctx.Err()
		}
	}
}

// wait waits for the end.
func (g *generation) wait(ctx context.Context) error {
	_, _, err := g.next(ctx, len(g.pieces))
	return err
}

// said is the text so far.
func (g *generation) said() (text string, done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for _, p := range g.pieces[:g.ready] {
		if p.tool == nil && !p.reasoning {
			b.WriteString(p.text)
		}
	}
	return b.String(), g.done
}
