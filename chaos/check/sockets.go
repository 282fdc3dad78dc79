package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"minido.dev/minido/chaos/history"
)

// socketChecker judges the WebSockets of the harness's clients.
//
//   - not-dropped: a socket stays open until its client ends it, the worker closes
//     it with a close frame, or its server dies; an eviction does not cut it.
//   - silent-after-close: nothing arrives on a socket that has closed.
type socketChecker struct{}

func (socketChecker) Name() string { return "sockets" }

func (socketChecker) Doc() Doc {
	return Doc{"the WebSockets of the harness's clients", []Invariant{
		{"not-dropped", "a socket stays open while the server lives, until either side closes it"},
		{"silent-after-close", "nothing arrives after a socket has closed"},
	}}
}

func (socketChecker) Applies(e Evidence) bool {
	for _, ev := range e.Events {
		if ev.Kind == history.Connect {
			return true
		}
	}
	return false
}

// deathSeen is how long after a socket's end, in milliseconds, the harness may
// learn of the death that has caused it.
const deathSeen = 5000

func (c socketChecker) Check(e Evidence) []Violation {
	var out []Violation
	closed := map[string]history.Event{}
	for i, ev := range e.Events {
		switch ev.Kind {
		case history.Connect:
			delete(closed, ev.Who)
		case history.Receive:
			if end, is := closed[ev.Who]; is {
				out = append(out, Violation{c.Name(), "silent-after-close", fmt.Sprintf("%s got a frame at %.0f ms, after its socket had closed at %.0f ms", ev.Who, ev.AtMs, end.AtMs)})
			}
		case history.Close:
			closed[ev.Who] = ev
			if !endedByClient(ev) && !closeFrame(ev) && !died(e.Events[i:], ev.AtMs) && !struck(e.blows(), ev.AtMs) {
				out = append(out, Violation{c.Name(), "not-dropped", fmt.Sprintf("%s lost its socket at %.0f ms while the server lived: %s", ev.Who, ev.AtMs, ev.Text)})
			}
		}
	}
	return out
}

// endedByClient and closeFrame read how the client library names an end.
func endedByClient(e history.Event) bool {
	return strings.HasPrefix(e.Text, history.ByClient)
}
func closeFrame(e history.Event) bool { return strings.Contains(e.Text, "received close frame") }

// struck says whether a fault has ended objects, or cut sockets, at about that time: it is noted
// once it is over, and so after the sockets' end or before the client sees it.
func struck(blows []history.Blow, atMs float64) bool {
	return slices.ContainsFunc(blows, func(b history.Blow) bool { return (b.Ends || b.Cuts) && math.Abs(atMs-b.AtMs) < deathSeen })
}

// died says whether the next thing that happens to a server is its death: the
// harness sees the socket's end first.
func died(after []history.Event, atMs float64) bool {
	for _, e := range after {
		switch e.Kind {
		case history.Kill:
			return e.AtMs-atMs < deathSeen
		case history.Ready, history.Start:
			return true // the death itself is not noted where the harness does not see it
		}
	}
	return false
}
