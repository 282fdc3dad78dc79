package workerd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/oracle"
)

// Moment is when a death came, as it can be seen from outside of a server: by what
// clients and upstreams had seen in that life, and by what was stored. Immutable.
type Moment struct {
	// After, unless 0, is how long after the server was ready; then the rest says nothing.
	After time.Duration
	// State is what was stored.
	State oracle.State

	seen map[string]int // events of each kind
	last string         // the kind of the last one; "" for none
}

// MomentOf is that of the nth death, counted from 0, of a run with these events, which left
// these files.
//
// # Errors
//
// Those of reading the files; that there is no such death.
func MomentOf(events []history.Event, n int, dir string) (m Moment, err error) {
	life, found := lifeBefore(events, n)
	if !found {
		return m, fmt.Errorf("workerd: the history has no death %d", n+1)
	}
	m.seen = map[string]int{}
	unseen := hidden(events)
	for _, e := range untilDeath(life) {
		if kind := visible(e); kind != "" && !unseen[e.Op] {
			m.seen[kind]++
			m.last = kind
		}
	}
	m.State, err = oracle.Read(dir, nil)
	if err != nil {
		return m, fmt.Errorf("workerd: %w", err)
	}
	return m, nil
}

// Recovery is how long a run went on after its last death, on its clock.
func Recovery(events []history.Event) time.Duration {
	if len(events) == 0 {
		return 0
	}
	ms := events[len(events)-1].AtMs
	for _, e := range slices.Backward(events) {
		if e.Kind == history.Kill {
			ms -= e.AtMs
			break
		}
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// lifeBefore are the events of the life that the nth death ended.
func lifeBefore(events []history.Event, n int) ([]history.Event, bool) {
	from := 0
	for i, e := range events {
		if e.Kind != history.Kill {
			continue
		}
		if n == 0 {
			return events[from:i], true
		}
		n--
		from = i + 1
	}
	return nil, false
}

// untilDeath are those of a life's events that came before its last effect point, at
// which it ended: what clients learn of a death is recorded behind that.
func untilDeath(life []history.Event) []history.Event {
	var at *history.Passed
	for _, e := range life {
		if e.Kind == history.Point {
			p := history.Passed{}
			if json.Unmarshal(e.Data, &p) == nil {
				at = &p
			}
		}
	}
	if at == nil {
		return life
	}
	var out []history.Event
	for _, e := range life {
		if at.After != nil && e.N <= *at.After || at.After == nil && e.AtMs <= at.AtMs {
			out = append(out, e)
		}
	}
	return out
}

// hidden are the operations that say nothing of a moment: those that never reached the
// server, and questions that are asked until they are answered as the client likes, whose
// number depends on time alone.
func hidden(events []history.Event) map[string]bool {
	out := map[string]bool{}
	for _, e := range events {
		if e.Kind == history.Call && e.Until || e.Kind == history.Fail && strings.HasPrefix(e.Text, "not sent") {
			out[e.Op] = true
		}
	}
	delete(out, "")
	return out
}

// visible names what somebody outside of the server sees, "" for what nobody does. Who
// it was has no number, since those are given in another order in another run.
func visible(e history.Event) string {
	switch e.Kind {
	case history.Call, history.Return, history.Fail, history.Connect, history.Send, history.Receive, history.Effect, history.Fetch:
		return string(e.Kind) + " " + strings.TrimRight(e.Who, "0123456789")
	}
	return ""
}

// sent reports whether a kind of event is one that the server has not noticed yet when it is
// recorded.
func sent(kind string) bool {
	return kind == "" || strings.HasPrefix(kind, string(history.Call)+" ") || strings.HasPrefix(kind, string(history.Send)+" ") || strings.HasPrefix(kind, string(history.Connect)+" ")
}

// Gap is how much time there is for a death: from the last that was seen before it until
// the next that is seen, in a run without one; usual where that run has no such place.
func (m Moment) Gap(clean []history.Event, usual time.Duration) time.Duration {
	seen := map[string]int{}
	unseen := hidden(clean)
	at := -1.0
	if len(m.seen) == 0 {
		at = 0
	}
	for _, e := range clean {
		kind := visible(e)
		if kind == "" || unseen[e.Op] {
			continue
		}
		if at >= 0 && !sent(kind) {
			return max(time.Millisecond, time.Duration((e.AtMs-at)*float64(time.Millisecond)))
		}
		seen[kind]++
		if at < 0 && m.passed(seen) {
			at = e.AtMs
		}
	}
	return usual
}

// passed reports whether so much was seen as before the death.
func (m Moment) passed(seen map[string]int) bool {
	for kind, n := range m.seen { // order-independent: a question
		if seen[kind] < n {
			return false
		}
	}
	return true
}
