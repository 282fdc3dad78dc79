package cut

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/chaos/history"
)

// A frame that a death has cut and that comes again on the next socket of the same path counts
// once; one that was answered, one of another path, and one that never comes again do not.
func TestSentAgain(t *testing.T) {
	events := func(text string) (out []history.Event) {
		for _, word := range strings.Fields(text) {
			kind, rest, _ := strings.Cut(word, ":")
			who, data, _ := strings.Cut(rest, ":")
			e := history.Event{Kind: history.Kind(kind), Who: history.SocketPrefix + who, Data: json.RawMessage(data)}
			if e.Kind == history.Connect || e.Kind == history.Close {
				e.Text, e.Data = data, nil
			}
			out = append(out, e)
		}
		return out
	}
	for text, want := range map[string]string{
		"connect:1:/a send:1:x kill:s connect:2:/a send:2:x":                                                             "map[1:0]",
		"connect:1:/a send:1:x receive:1:y send:1:z kill:s connect:2:/a send:2:x send:2:z":                               "map[1:1]",
		"connect:1:/a send:1:x receive:1:y kill:s connect:2:/a send:2:x":                                                 "map[]",
		"connect:1:/a send:1:x kill:s connect:2:/b send:2:x":                                                             "map[]",
		"connect:1:/a send:1:x kill:s connect:2:/a send:2:w":                                                             "map[]",
		"connect:1:/a send:1:x connect:2:/a send:2:x send:2:y kill:s connect:3:/a send:3:x kill:s connect:4:/a send:4:x": "map[1:0 2:0 3:0]",
	} {
		if got := fmt.Sprint(SentAgain(events(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	closed := events("connect:1:/a send:1:x")
	closed = append(closed, history.Event{Kind: history.Close, Who: history.SocketPrefix + "1", Text: history.ByClient + ": 1000"})
	if got := SentAgain(append(closed, events("kill:s connect:2:/a send:2:x")...)); len(got) != 0 {
		t.Errorf("a socket that its client had closed: %v", got)
	}
}
