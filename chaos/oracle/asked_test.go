package oracle

import (
	"encoding/json"
	"strings"
	"testing"

	"minido.dev/minido/chaos/history"
)

// A client that is told something else asks for something else: the answers to that are
// compared, without numbers, where nobody can doubt which belong together.
func TestAnswersToWhatClientsAskInstead(t *testing.T) {
	state := func(lines ...string) State {
		s := State{tables: map[place]table{}}
		var events []history.Event
		for _, line := range lines {
			step, answer, _ := strings.Cut(line, " -> ")
			until := strings.HasPrefix(step, "until ")
			events = append(events, history.Event{Kind: history.Call, Who: "client", Op: line, Text: strings.TrimPrefix(step, "until "), Until: until},
				history.Event{Kind: history.Return, Who: "client", Op: line, Data: json.RawMessage(answer)})
		}
		s.readTold(events)
		return s
	}
	for name, c := range map[string]struct {
		got, want State
		finds     int
	}{
		"a stale token":          {state(`GET /me?token=t1 -> {"known":false}`), state(`GET /me?token=t2 -> {"known":true}`), 2},
		"another number":         {state(`GET /orders/8 -> {"id":8,"item":"lamp"}`), state(`GET /orders/7 -> {"id":7,"item":"lamp"}`), 0},
		"of the same that waits": {state(`until GET /orders/x -> {"item":"lamp"}`), state(`until GET /orders/y -> {"item":"sofa"}`), 2},
		"once and again":         {state(`until GET /orders/x -> {"item":"lamp"}`), state(`GET /orders/y -> {"item":"sofa"}`), 0},
		"something else":         {state(`GET /me -> {"known":false}`), state(`GET /you -> {"known":true}`), 0},
		"which of two":           {state(`GET /o/a -> 1`, `GET /o/b -> 2`), state(`GET /o/c -> "x"`), 0},
		"nothing instead":        {state(`GET /o/a -> 1`), state(), 0},
	} {
		if found := Differences(c.got, c.want, Mask{}); len(found) != c.finds {
			t.Errorf("%s: %v", name, found)
		}
	}
}
