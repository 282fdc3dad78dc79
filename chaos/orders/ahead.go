package orders

import (
	"slices"

	"minido.dev/minido/internal/killpoint"
)

// Ahead is the last point that a life passed before its death, points being all that it
// passed, which without a fault comes behind the point of that death; "" if none was. Real
// processes live by the machine's time: where it is busy, an alarm may ring before an answer
// has been sent to its end.
func Ahead(clean, points []string) string {
	if len(points) == 0 {
		return ""
	}
	at := slices.Index(clean, points[len(points)-1])
	if at < 0 {
		return ""
	}
	for _, label := range slices.Backward(points[:len(points)-1]) {
		if slices.Contains(clean[at:], label) {
			return label
		}
	}
	return ""
}

// SidesOf are a point, and of a before-side the after-side that follows it: the effect may have
// happened by the time of a later death.
func SidesOf(label string) []string {
	at, err := killpoint.ParseLabel(label)
	if err != nil || at.Side == killpoint.After {
		return []string{label}
	}
	at.Side = killpoint.After
	return []string{label, at.Label()}
}
