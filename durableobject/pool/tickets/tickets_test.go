package tickets

import (
	"slices"
	"testing"
)

// An event that comes late goes before those with larger tickets; those with the same go in
// the order in which they came; a queue that was emptied is empty.
func TestEventsGoByTicket(t *testing.T) {
	var q Queue[string]
	for i, ticket := range []uint64{3, 4, 1, 6, 2, 5, 4} {
		q.Add(ticket, string(rune('a'+i)))
	}
	if got, want := q.Take(), []string{"c", "e", "a", "b", "g", "f", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := q.Take(); len(got) != 0 {
		t.Errorf("%v is left", got)
	}
}
