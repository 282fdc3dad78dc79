// Package cut derives from the history of a run which client actions a fault
// interrupted: requests whose answers were lost, frames that may or may not have
// arrived, and all their possible outcomes. It only reads; all of it is safe for
// concurrent use.
package cut

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"minido.dev/minido/chaos/history"
)

// Call is a client's request whose answer a fault has cut.
type Call struct {
	// Step is its Name, N which of those with that name it is, from 1.
	Step string
	N    int
	// Until says that the client sends it again: as if it had been sent once.
	Until bool
	// Delivered is whether the server got it, in one of the Outcomes.
	Delivered bool
}

// Name names a step whoever sends it, by what a history has of it: the text of its call, and
// its data.
func Name(text string, data json.RawMessage) string { return text + " " + string(data) }

// Quoted is the body of a request as a history has it.
func Quoted(text string) json.RawMessage {
	if text == "" || json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always marshals
	}
	return b
}

// Overlapping says of each request, in the order in which clients sent them, whether it
// was sent before the answer to an earlier one came, or a later one before its own.
func Overlapping(events []history.Event) (met []bool) {
	open := map[string]int{}
	for _, e := range events {
		switch e.Kind {
		case history.Call:
			open[e.Op] = len(met)
			met = append(met, false)
			for _, n := range open { // order-independent: a set
				met[n] = met[n] || len(open) > 1
			}
		case history.Return, history.Fail, history.Unknown:
			delete(open, e.Op)
		}
	}
	return met
}

// Ended is a request and what its client learnt of it.
type Ended struct {
	Step  string
	Until bool
	AtMs  float64       // when it was sent
	End   history.Event // zero if nothing
}

// Failed reports whether it was answered with a status of 500 or more or, of a call of an
// agent, threw.
func (c Ended) Failed() bool {
	return c.End.Kind == history.Fail && (c.End.Who != "client" || strings.Contains(c.End.Text, ": status 5"))
}

// Failed are the names of the requests of which that is true.
func Failed(events []history.Event) map[string]bool {
	out := map[string]bool{}
	for _, c := range Requests(events) {
		if c.Failed() {
			out[c.Step] = true
		}
	}
	return out
}

// Requests are those that reached a server, or may have, in order.
func Requests(events []history.Event) []Ended {
	at := map[string]int{}
	var out []Ended
	for _, e := range events {
		switch e.Kind {
		case history.Call:
			at[e.Op] = len(out)
			out = append(out, Ended{Step: Name(e.Text, e.Data), Until: e.Until, AtMs: e.AtMs})
		case history.Return, history.Fail, history.Unknown:
			if i, known := at[e.Op]; known {
				out[i].End = e
			}
		}
	}
	return slices.DeleteFunc(out, func(c Ended) bool {
		return c.End.Kind == history.Fail && strings.HasPrefix(c.End.Text, "not sent")
	})
}

// Calls are the requests whose answers were lost and those that failed and were sent no later
// than lossy, in the history's milliseconds, by when something within the server was lost that
// lived on: they may have taken effect or not. Below 0 nothing was.
func Calls(events []history.Event, lossy float64) (out []Call) {
	seen := map[string]int{}
	for _, c := range Requests(events) {
		seen[c.Step]++
		if c.End.Kind == history.Unknown || c.End.Kind == "" || c.AtMs <= lossy && c.Failed() {
			out = append(out, Call{Step: c.Step, N: seen[c.Step], Until: c.Until})
		}
	}
	return out
}

// Socket is a socket of the clients that was open at a death: how many of its frames
// the server may have taken, the most first.
type Socket struct {
	// Number is that among the sockets that opened, from 1.
	Number    int
	Delivered []int
}

// Sockets are the sockets that a death has cut behind frames of their clients. What
// was sent before the last frame that came back is taken to have arrived, but for two.
func Sockets(events []history.Event) (out []Socket) {
	var sockets openSockets
	for _, e := range events {
		_, dead := sockets.take(e)
		for _, k := range dead {
			if len(k.sent) == 0 {
				continue
			}
			cut := Socket{Number: k.number}
			for d := len(k.sent); d >= max(0, k.answered-2); d-- {
				cut.Delivered = append(cut.Delivered, d)
			}
			out = append(out, cut)
		}
	}
	return out
}

// Breaks are after how many operations of the clients (see drive.Breaks) each death came.
func Breaks(events []history.Event) (out []int) {
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

// MaxOutcomes bounds what may have become of the requests and frames that were cut.
const MaxOutcomes = 32

// Outcome is one of them.
type Outcome struct {
	Lost      []Call
	Delivered map[int]int // see drive.Breaks
}

// Outcomes are all of them, that in which everything arrived first. A request that is
// sent again must have its effect once, as if it had not arrived.
func Outcomes(cut []Call, sockets []Socket) (out []Outcome) {
	for which := range 1 << len(cut) {
		o := Outcome{Lost: slices.Clone(cut)}
		again := false
		for j := range o.Lost {
			o.Lost[j].Delivered = which&(1<<j) == 0
			again = again || o.Lost[j].Delivered && o.Lost[j].Until
		}
		if !again {
			out = append(out, o)
		}
	}
	for _, k := range sockets {
		var more []Outcome
		for _, d := range k.Delivered {
			for _, o := range out {
				with := Outcome{Lost: o.Lost, Delivered: map[int]int{k.Number: d}}
				maps.Copy(with.Delivered, o.Delivered)
				more = append(more, with)
			}
		}
		out = more
	}
	return out
}
