package cut

import (
	"encoding/json"
	"slices"
	"strings"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/killpoint"
)

// Steps is what became of the steps of the clients in a run: requests, calls, chat turns
// and sockets that they opened. Questions that are asked until the answer is liked count when
// they are answered.
type Steps struct {
	// All is how many, Failed how many of them were not answered, or refused; First says
	// which did first.
	All, Failed int
	First       string
	// Errors is how many of Failed were so with a status of 500 or more, a call that threw,
	// or no answer.
	Errors     int
	FirstError string
}

func (a *Steps) fail(text string, broken bool) {
	a.Failed++
	if a.First == "" {
		a.First = text
	}
	if !broken {
		return
	}
	a.Errors++
	if a.FirstError == "" {
		a.FirstError = text
	}
}

// StepsIn reads a history.
func StepsIn(events []history.Event) (a Steps) {
	questions := map[string]bool{}
	for _, e := range events {
		ofSocket := strings.HasPrefix(e.Who, history.SocketPrefix)
		switch {
		case e.Kind == history.Call:
			questions[e.Op] = e.Until
			if !e.Until {
				a.All++
			}
		case e.Kind == history.Connect && ofSocket, e.Kind == history.Return && questions[e.Op]:
			a.All++
		case e.Kind == history.Fail && ofSocket:
			a.All++
			a.fail(e.Text, false)
		case e.Kind == history.Fail && !questions[e.Op]:
			text := e.Text
			if len(e.Data) > 0 {
				text += ": " + string(e.Data)
			}
			a.fail(text, e.Who != "client" || strings.Contains(e.Text, ": status 5"))
		case e.Kind == history.Unknown && !questions[e.Op]:
			a.fail(e.Text+": no answer came", true)
		}
	}
	return a
}

// silent are the kinds of effect points at which nothing is written.
var silent = []killpoint.Kind{killpoint.Response, killpoint.Chunk, killpoint.Frame, killpoint.Close, killpoint.Fetch, killpoint.RPC, killpoint.Wake, killpoint.Queue}

// Wrote says of each request of the clients, by the one life of a simulation, whether the server has
// written something since it was sent, and before the next one was.
func Wrote(events []history.Event) (out []bool) {
	at := []int{} // where each request is among the events
	for i, e := range events {
		if e.Kind == history.Call {
			at, out = append(at, i), append(out, false)
		}
	}
	for _, e := range events {
		var passed history.Passed
		if e.Kind != history.Point || json.Unmarshal(e.Data, &passed) != nil || passed.After == nil {
			continue
		}
		label, err := killpoint.ParseLabel(e.Text)
		n, _ := slices.BinarySearch(at, *passed.After) // the first request that was sent later
		if n > 0 && err == nil && !slices.Contains(silent, label.Kind) {
			out[n-1] = true
		}
	}
	return out
}
