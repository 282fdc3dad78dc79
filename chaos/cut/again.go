package cut

import (
	"strings"

	"minido.dev/minido/chaos/history"
)

// SentAgain are the sockets that a death has cut behind a frame to which nothing came back, and
// which the client has sent again on a later socket of the same path: by their numbers (see
// Socket), how many frames they had sent before it. It is to have its effect once.
func SentAgain(events []history.Event) map[int]int {
	type socket struct {
		number, answered int
		path             string
		sent             []string
	}
	open, out := map[string]*socket{}, map[int]int{}
	var cut []*socket
	n := 0
	for _, e := range events {
		k := open[e.Who]
		switch {
		case e.Kind == history.Connect && strings.HasPrefix(e.Who, history.SocketPrefix):
			n++
			open[e.Who] = &socket{number: n, path: e.Text}
		case e.Kind == history.Send && k != nil:
			k.sent = append(k.sent, string(e.Data))
			for _, before := range cut {
				if before.path == k.path && before.sent[before.answered] == string(e.Data) {
					out[before.number] = before.answered
				}
			}
		case e.Kind == history.Receive && k != nil:
			k.answered = len(k.sent)
		case hungUp(e):
			delete(open, e.Who)
		case e.Kind == history.Kill:
			for _, k := range open { // order-independent: each has a number of its own
				if k.answered < len(k.sent) {
					cut = append(cut, k)
				}
			}
			open = map[string]*socket{}
		}
	}
	return out
}
