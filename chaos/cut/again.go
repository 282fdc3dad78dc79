package cut

import "minido.dev/minido/chaos/history"

// SentAgain are the sockets that a death has cut behind a frame to which nothing came back, and
// which the client has sent again on a later socket of the same path: by their numbers (see
// Socket), how many frames they had sent before it. It is to have its effect once.
func SentAgain(events []history.Event) map[int]int {
	out := map[int]int{}
	var sockets openSockets
	var unanswered []*openSocket
	for _, e := range events {
		of, dead := sockets.take(e)
		if e.Kind == history.Send && of != nil {
			for _, before := range unanswered {
				if before.path == of.path && before.sent[before.answered] == string(e.Data) {
					out[before.number] = before.answered
				}
			}
		}
		for _, k := range dead {
			if k.answered < len(k.sent) {
				unanswered = append(unanswered, k)
			}
		}
	}
	return out
}

// Once reports whether each frame that was sent again (SentAgain) arrives once in the outcome.
func (o Outcome) Once(again map[int]int) bool {
	for number, before := range again { // order-independent: a question
		if o.Delivered[number] != before {
			return false
		}
	}
	return true
}
