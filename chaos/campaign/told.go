package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/oracle"
)

// cutSocket is a socket of the clients that was open at a death: how many of its frames
// the server may have taken, the most first.
type cutSocket struct {
	number    int // of the sockets that opened, from 1
	delivered []int
}

// cutSockets are the sockets that a death has cut behind frames of their clients. What
// was sent before the last frame that came back is taken to have arrived, but for two.
func cutSockets(events []history.Event) (out []cutSocket) {
	type socket struct{ number, sent, answered int }
	open := map[string]*socket{}
	n := 0
	for _, e := range events {
		k := open[e.Who]
		switch {
		case e.Kind == history.Connect && strings.HasPrefix(e.Who, history.SocketPrefix):
			n++
			open[e.Who] = &socket{number: n}
		case e.Kind == history.Send && k != nil:
			k.sent++
		case e.Kind == history.Receive && k != nil:
			k.answered = k.sent
		case e.Kind == history.Close && (strings.HasPrefix(e.Text, history.ByClient+":") || strings.Contains(e.Text, "received close frame")):
			delete(open, e.Who)
		case e.Kind == history.Kill:
			for _, who := range slices.Sorted(maps.Keys(open)) {
				if k := open[who]; k.sent > 0 {
					cut := cutSocket{number: k.number}
					for d := k.sent; d >= max(0, k.answered-2); d-- {
						cut.delivered = append(cut.delivered, d)
					}
					out = append(out, cut)
				}
			}
			open = map[string]*socket{}
		}
	}
	return out
}

// breaksIn are after how many operations of the clients (see drive.Breaks) each death came.
func breaksIn(events []history.Event) (out []int) {
	n := 0
	unsent := map[string]bool{}
	for _, e := range events {
		if e.Kind == history.Fail && strings.HasPrefix(e.Text, "not sent") {
			unsent[e.Op] = true
		}
	}
	for _, e := range events {
		ofSocket := strings.HasPrefix(e.Who, history.SocketPrefix)
		switch e.Kind {
		case history.Call:
			if !e.Until && !unsent[e.Op] {
				n++
			}
		case history.Connect, history.Send, history.Receive:
			if ofSocket {
				n++
			}
		case history.Kill:
			out = append(out, n)
		}
	}
	return out
}

// maxOutcomes bounds what may have become of the requests and frames that were cut.
const maxOutcomes = 32

// outcome is one of them.
type outcome struct {
	lost      []cutCall
	delivered map[int]int // see drive.Breaks
}

// outcomes are all of them, that in which everything arrived first. A request that is
// sent again must have its effect once, as if it had not arrived.
func outcomes(cut []cutCall, sockets []cutSocket) (out []outcome) {
	for which := range 1 << len(cut) {
		o := outcome{lost: slices.Clone(cut)}
		again := false
		for j := range o.lost {
			o.lost[j].delivered = which&(1<<j) == 0
			again = again || o.lost[j].delivered && o.lost[j].until
		}
		if !again {
			out = append(out, o)
		}
	}
	for _, k := range sockets {
		var more []outcome
		for _, d := range k.delivered {
			for _, o := range out {
				with := outcome{lost: o.lost, delivered: map[int]int{k.number: d}}
				maps.Copy(with.delivered, o.delivered)
				more = append(more, with)
			}
		}
		out = more
	}
	return out
}

// breakRest is a driver for when the clients are done: those whose connections a death
// has cut after that lose them.
type breakRest struct{}

// Finished implements drive.Driver.
func (breakRest) Finished() bool { return true }

// Run implements drive.Driver.
func (breakRest) Run(ctx context.Context, s *drive.Session) error { return s.BreakRest(ctx) }

// paces are those at which what clients are told otherwise must be told otherwise, too:
// what a recovery has not done after a minute it may do in an hour.
var paces = []time.Duration{Patience, 20 * Patience}

// maxPassing is how often a difference of what clients are told may turn out to pass before
// nobody looks at it any more.
const maxPassing = 3

// lasts reports whether clients that wait are told otherwise, too: the run is repeated in
// a simulation with such clients, and compared with theirs without a fault. A difference
// that time mends is none: the answer was asked for while the recovery went on.
func (r *caseRun) lasts(ctx context.Context, found []oracle.Difference) (bool, error) {
	if r.asking {
		r.told = found
		return false, nil
	}
	c := r.camp
	known := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !slices.ContainsFunc(found, func(d oracle.Difference) bool { return c.passing[d.Place] < maxPassing })
	}
	if known() {
		return false, nil
	}
	asked := false
	for _, pace := range paces {
		if pace == r.pace {
			continue
		}
		told, reached, err := r.askAt(ctx, pace, found)
		if err != nil {
			return false, err
		}
		if !reached {
			continue
		}
		asked = true
		if !slices.ContainsFunc(told, func(d oracle.Difference) bool {
			return slices.ContainsFunc(found, func(f oracle.Difference) bool { return f.Place == d.Place })
		}) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.passing == nil {
				c.passing = map[string]int{}
			}
			for _, d := range found {
				c.passing[d.Place]++
			}
			return false, nil
		}
	}
	return asked, nil
}

// askAt is what clients with that pace are told otherwise, and whether the plan's deaths
// come about then and the clients get one of the answers that were found to differ.
func (r *caseRun) askAt(ctx context.Context, pace time.Duration, found []oracle.Difference) (told []oracle.Difference, reached bool, err error) {
	dir, err := os.MkdirTemp(r.camp.workshop.Room(r.camp.dir), "asking-")
	if err != nil {
		return nil, false, fmt.Errorf("campaign: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o700); err != nil {
		return nil, false, fmt.Errorf("campaign: %w", err)
	}
	twin := &caseRun{camp: r.camp, slot: r.slot, plan: r.plan, lives: r.lives, dir: dir, pace: pace, asking: true, events: io.Discard,
		result: Case{Name: r.result.Name, Outcome: Passed, Kills: []Kill{}}}
	if err := twin.simulateOnce(ctx, r.camp.Seed); err != nil {
		return nil, false, err
	}
	reached = len(twin.missed) == 0 && twin.state != nil && slices.ContainsFunc(found, func(d oracle.Difference) bool { return twin.state.Has(d) })
	return twin.told, reached, nil
}
