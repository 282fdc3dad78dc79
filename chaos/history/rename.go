package history

import (
	"fmt"
	"slices"
)

// Rename has the nth death of a history be at an earlier point of the same state:
// the later ones were not passed. The result is a history of its own; an error says that no death is
// behind that point.
func Rename(events []Event, n int, label string) ([]Event, error) {
	kill := -1
	for i, e := range events {
		if e.Kind == Kill {
			if n--; n < 0 {
				kill = i
				break
			}
		}
	}
	at := kill
	for at >= 0 && (events[at].Kind != Point || events[at].Text != label) {
		if at < kill && events[at].Kind != Point {
			at = -1
			break
		}
		at--
	}
	if at < 0 {
		return nil, fmt.Errorf("the history has no death after %s", label)
	}
	out := append(slices.Clone(events[:at+1]), events[kill:]...)
	out[at+1].Text = label
	for i := range out {
		out[i].N = i + 1
	}
	return out, nil
}
