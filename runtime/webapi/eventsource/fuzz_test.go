package eventsource

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// plainEvents is a slow reading of a whole stream: HTML, section 9.2.6, and what workerd
// does otherwise (api/eventsource.c++).
func plainEvents(in []byte) (events []streamedEvent, id string) {
	text := strings.TrimPrefix(string(in), "\xef\xbb\xbf")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	var data []string
	typ := "message"
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if text := strings.Join(data, "\n"); text != "" {
				events = append(events, streamedEvent{typ, text, id})
			}
			data, typ = nil, "message"
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
		case "event":
			typ = value
		case "id":
			id = value
		}
	}
	return events, id
}

// FuzzEventStream: the events of a stream are those of a slow reading,
// wherever its chunks end.
func FuzzEventStream(f *testing.F) {
	for _, seed := range []string{
		"data: a\ndata: b\n\nid: 1\nevent: x\ndata\n\n", "\xef\xbb\xbfdata: a\r\n\r\n", "\xef\xbb", "data: a\r\rdata:b\r\n\n", ": comment\nretry: 10\nid: \x00\n\n", "id\n\ndata: \xff\xfe\n\n",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		want, wantID := plainEvents([]byte(strings.ToValidUTF8(string(in), "?")))
		in = []byte(strings.ToValidUTF8(string(in), "?"))
		for _, n := range []int{1 + int(size), len(in) + 1} {
			s := newEventStream("")
			var got []streamedEvent
			for rest := in; len(rest) > 0; {
				piece := rest[:min(n, len(rest))]
				rest = rest[len(piece):]
				// The caller may use the chunk again.
				chunk := bytes.Clone(piece)
				events, err := s.feed(chunk)
				if err != nil {
					t.Fatal(err)
				}
				for i := range chunk {
					chunk[i] = '!'
				}
				got = append(got, events...)
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || s.id != wantID {
				t.Fatalf("in chunks of %d: %+v, id %q, want %+v, %q", n, got, s.id, want, wantID)
			}
		}
	})
}
