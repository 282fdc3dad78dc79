package pool

import (
	"slices"
	"testing"
)

// An event that an isolate gave back goes before those that came after it.
func TestWaitingEventsGoByTicket(t *testing.T) {
	var waiting []*delivery
	for _, ticket := range []uint64{3, 4, 1, 6, 2, 5} {
		waiting = enqueue(waiting, &delivery{ticket: ticket})
	}
	var got []uint64
	for _, d := range waiting {
		got = append(got, d.ticket)
	}
	if !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("got %v", got)
	}
}
