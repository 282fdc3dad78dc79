package cut

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos/history"
)

// of makes the events of clients: words such as call, connect, send, receive, close, kill.
func of(words string) (out []history.Event) {
	for _, word := range strings.Fields(words) {
		e := history.Event{Kind: history.Kind(word), Who: "socket-1"}
		switch e.Kind {
		case history.Call:
			e.Who, e.Op = "client", fmt.Sprint(len(out))
		case history.Close:
			e.Text = history.ByClient + ": 1000"
		case history.Kill:
			e.Who = "server-1"
		}
		out = append(out, e)
	}
	return out
}

// Each death is after so many operations of the clients; a socket that it cuts may have
// delivered its last frames or not.
func TestCutSockets(t *testing.T) {
	for words, want := range map[string]struct {
		breaks  []int
		sockets string
	}{
		"call kill call":                  {[]int{1}, "[]"},
		"connect send receive close kill": {[]int{3}, "[]"},
		"connect kill":                    {[]int{1}, "[]"},
		"connect send kill":               {[]int{2}, "[{1 [1 0]}]"},
		"connect send receive send kill connect send kill":                 {[]int{4, 6}, "[{1 [2 1 0]} {2 [1 0]}]"},
		"connect send receive send receive send receive send receive kill": {[]int{9}, "[{1 [4 3 2]}]"},
	} {
		if got := Breaks(of(words)); !slices.Equal(got, want.breaks) {
			t.Errorf("%s: breaks %v, want %v", words, got, want.breaks)
		}
		if got := fmt.Sprint(Sockets(of(words))); got != want.sockets {
			t.Errorf("%s: sockets %s, want %s", words, got, want.sockets)
		}
	}
	again := Call{Step: "POST /b", N: 1, Until: true}
	var got []string
	for _, o := range Outcomes([]Call{{Step: "POST /a", N: 1}, again}, []Socket{{1, []int{1, 0}}}) {
		got = append(got, fmt.Sprint(o.Lost[0].Delivered, o.Lost[1].Delivered, o.Delivered))
	}
	if want := []string{"true false map[1:1]", "false false map[1:1]", "true false map[1:0]", "false false map[1:0]"}; !reflect.DeepEqual(got, want) {
		t.Errorf("outcomes %q, want %q", got, want)
	}
	unsent := []history.Event{{Kind: history.Call, Who: "client", Op: "x"}, {Kind: history.Fail, Op: "x", Text: "not sent: refused"}, {Kind: history.Kill}}
	if got := Breaks(unsent); !slices.Equal(got, []int{0}) {
		t.Errorf("a request that was not sent counts: %v", got)
	}
}

// A request that failed may have happened where something was lost within the server, if it was sent by then.
func TestCallsThatFailed(t *testing.T) {
	events := []history.Event{
		{AtMs: 1, Kind: history.Call, Who: "client", Op: "a", Text: "POST /a"},
		{AtMs: 2, Kind: history.Fail, Who: "client", Op: "a", Text: "POST /a: status 500"},
		{AtMs: 3, Kind: history.Call, Who: "client", Op: "b", Text: "POST /b"},
		{AtMs: 4, Kind: history.Fail, Who: "client", Op: "b", Text: "POST /b: status 500"},
		{AtMs: 5, Kind: history.Call, Who: "client", Op: "c", Text: "POST /c"},
		{AtMs: 6, Kind: history.Unknown, Who: "client", Op: "c", Text: "lost"},
	}
	for until, want := range map[float64]int{-1: 1, 1: 2, 2: 2, 3: 3} {
		if got := Calls(events, until); len(got) != want {
			t.Errorf("until %v: %v, want %d", until, got, want)
		}
	}
}
