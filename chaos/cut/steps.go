package cut

import (
	"strings"

	"minido.dev/minido/chaos/history"
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
