package cut

import (
	"math/bits"
	"slices"
	"time"

	"minido.dev/minido/chaos/history"
)

// little is how long a step of clients takes that are not slow.
const little = 2 * time.Millisecond

// Slowness is how long clients with real processes took for a step in the slowest life, on
// average and at most, each up to the next power of two of milliseconds; none if they were not
// slow, or no slower than above. The runs they are compared with are simulated, and take no time: on a busy
// machine an alarm may fire more often than in those.
func Slowness(events []history.Event, above time.Duration) (paces []time.Duration) {
	var average, longest, from, to float64
	steps := 0
	for _, e := range events {
		switch e.Kind {
		case history.Start, history.Kill, history.Stop:
			steps = 0
		case history.Connect, history.Send, history.Call:
			if steps > 0 {
				longest = max(longest, e.AtMs-to)
				average = max(average, (e.AtMs-from)/float64(steps))
			} else {
				from = e.AtMs
			}
			to = e.AtMs
			steps++
		default: // nothing that a client does
		}
	}
	for _, ms := range []float64{average, longest} {
		pace := time.Millisecond << bits.Len(uint(ms))
		if pace > max(little, above) && !slices.Contains(paces, pace) {
			paces = append(paces, pace)
		}
	}
	return paces
}
