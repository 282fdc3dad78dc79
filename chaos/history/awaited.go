package history

import (
	"fmt"
	"slices"
	"strings"
)

// Awaited says what clients still wait for behind events, for people: the calls that have no answer, and the
// sockets that are open, each with the last frame on it. It is "" if there is neither. A death ends all of them.
func Awaited(events []Event) string {
	var open []Event // calls, and the connects of sockets, in their order
	last := map[string]Event{}
	end := func(is func(Event) bool) { open = slices.DeleteFunc(open, is) }
	for _, e := range events {
		switch e.Kind {
		case Call:
			open = append(open, e)
		case Return, Fail, Unknown:
			end(func(of Event) bool { return of.Kind == Call && of.Who == e.Who && of.Op == e.Op })
		case Connect:
			open = append(open, e)
			delete(last, e.Who)
		case Send, Receive:
			last[e.Who] = e
		case Close:
			if !strings.HasPrefix(e.Text, GivenUp) {
				end(func(of Event) bool { return of.Kind == Connect && of.Who == e.Who })
			}
		case Kill:
			open = nil
		}
	}
	var out []string
	for _, e := range open {
		frame, any := last[e.Who]
		switch {
		case e.Kind == Call:
			out = append(out, fmt.Sprintf("%s, sent at %.0f ms, is not answered", strings.TrimSpace(e.Text), e.AtMs))
		case any && frame.Kind == Send:
			out = append(out, fmt.Sprintf("nothing has come on %s (%s) since it sent %s at %.0f ms", e.Who, e.Text, brief(frame.Data), frame.AtMs))
		case any:
			out = append(out, fmt.Sprintf("nothing has come on %s (%s) since it got %s at %.0f ms", e.Who, e.Text, brief(frame.Data), frame.AtMs))
		default:
			out = append(out, fmt.Sprintf("nothing has come on %s (%s) since it opened at %.0f ms", e.Who, e.Text, e.AtMs))
		}
	}
	return strings.Join(out, "; ")
}

// maxFrame is how much of a frame is shown.
const maxFrame = 80

// brief is a frame, or its beginning.
func brief(data []byte) string {
	if len(data) <= maxFrame {
		return string(data)
	}
	return strings.ToValidUTF8(string(data[:maxFrame]), "") + "…"
}
