package history

import "testing"

// What clients wait for is told: calls without an answer and silent sockets, not those that have
// ended or that a death has ended.
func TestAwaited(t *testing.T) {
	events := []Event{
		{Kind: Call, Who: "client", Op: "1", Text: "POST /a "},
		{Kind: Kill},
		{Kind: Call, Who: "client", Op: "2", Text: "POST /b "},
		{Kind: Return, Who: "client", Op: "2"},
		{Kind: Connect, Who: "socket-1", Text: "/ann"},
		{Kind: Connect, Who: "socket-2", Text: "/bob"},
		{Kind: Connect, Who: "socket-3", Text: "/cat"},
		{AtMs: 5, Kind: Send, Who: "socket-1", Data: []byte(`"hi"`)},
		{AtMs: 6, Kind: Receive, Who: "socket-2", Data: []byte(`"hi"`)},
		{Kind: Close, Who: "socket-3", Text: ByClient + ": 1000 "},
		{AtMs: 7, Kind: Call, Who: "client", Op: "3", Text: "GET /c "},
		{AtMs: 90, Kind: Close, Who: "socket-1", Text: GivenUp + ": context canceled"},
	}
	want := `nothing has come on socket-1 (/ann) since it sent "hi" at 5 ms; nothing has come on socket-2 (/bob) since it got "hi" at 6 ms; GET /c, sent at 7 ms, is not answered`
	if got := Awaited(events); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Awaited(events[:2]); got != "" {
		t.Errorf("after a death: %s", got)
	}
}
