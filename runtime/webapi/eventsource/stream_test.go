package eventsource

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a stream of text/event-stream means to workerd (api/eventsource.c++): HTML, section
// 9.2.6, but that events without data are dropped, also where the data is empty, an empty
// type stays one, and an id may hold NUL.
func TestEventStream(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"data: a\n\n", "message|a|"},
		{"\xef\xbb\xbfdata: a\n\n", "message|a|"},
		{"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", ""},
		{"data:a\rdata: b\r\ndata:  c\n\r\n", "message|a\nb\n c|"},
		{"data\n\ndata\ndata\n\ndata:", "message|\n|"},
		{"event: x\ndata: 1\n\ndata: 2\n\n", "x|1| message|2|"},
		{"event: x\n\ndata: 2\n\n", "message|2|"},
		{"event:\ndata: 1\n\n", "|1|"},
		{"id: 7\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n", "message|1|7 message|2|7 message|3|"},
		{"id: 7\nid: 8\x00\ndata: 1\n\n", "message|1|8\x00"},
		{": comment\n:\ndata: 1\nDATA: 2\nunknown: 3\n data: 4\n\n", "message|1|"},
		{"data: \xff\xe2\x82\n\n", "message|\ufffd\ufffd|"},
		{"data: a\n", ""},
		{"retry: 5\nretry: -1\nretry: +2\nretry: 1e3\nretry:\nretry:7x\n\n", "retry5"},
		{"retry:  5\n\n", ""},
	} {
		s := newEventStream("")
		events, err := s.feed([]byte(c.in))
		if got := describeEvents(events, s); err != nil || got != c.want {
			t.Errorf("%q\n gave %q, %v\n want %q", c.in, got, err, c.want)
		}
	}
}

func describeEvents(events []streamedEvent, s *eventStream) string {
	var out []string
	for _, ev := range events {
		out = append(out, ev.typ+"|"+ev.data+"|"+ev.id)
	}
	if s.retryMs >= 0 {
		out = append(out, fmt.Sprint("retry", s.retryMs))
	}
	return strings.Join(out, " ")
}

// However a stream is cut into chunks, its events are the same.
func TestEventStreamChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"\r", "\n", "\r\n", "data", "id", "event", "retry", ":", " ", "é", "\xef\xbb\xbf", "\xef", "1"})).Draw(t, "pieces")
		text := []byte(strings.Join(pieces, ""))
		whole := newEventStream("")
		want, _ := whole.feed(text)
		var got []streamedEvent
		parts := newEventStream("")
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			events, _ := parts.feed(rest[:n])
			got, rest = append(got, events...), rest[n:]
		}
		if !reflect.DeepEqual(got, want) || parts.retryMs != whole.retryMs {
			t.Fatalf("%q in parts: %v, whole: %v", text, got, want)
		}
	})
}
