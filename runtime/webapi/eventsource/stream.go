package eventsource

import (
	"bytes"
	"errors"
	"strconv"

	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webidl"
)

// eventStream parses text/event-stream (HTML, section 9.2.6) as workerd does
// (api/eventsource.c++): events whose data is empty are dropped, an empty type stays
// one, an id may hold NUL and counts at once. Bytes go in as they arrive, events come out
// at the blank line that ends them; what is unfinished when the stream ends is forgotten.
// Loop-confined.
type eventStream struct {
	begun bool   // the byte order mark has been looked for
	cr    bool   // the last byte was a CR: an LF that follows belongs to it
	rest  []byte // the beginning of a line

	data    []byte // the data buffer
	typ     string // the event's type
	id      string // the last event's ID; outlives events
	retryMs int64  // the last reconnection time, -1 if none was given
}

// streamedEvent is one event of a stream.
type streamedEvent struct{ typ, data, id string }

// defaultType is the type of events that name none.
const defaultType = "message"

var errEventTooLong = errors.New("an event of the stream is longer than the memory limit")

// newEventStream starts a stream after an earlier one whose last event ID was id.
func newEventStream(id string) *eventStream {
	return &eventStream{id: id, typ: defaultType, retryMs: -1}
}

// feed gives the events that chunk completes.
func (s *eventStream) feed(chunk []byte) (events []streamedEvent, err error) {
	if !s.begun {
		chunk = append(s.rest, chunk...)
		mark := []byte("\xef\xbb\xbf")
		if len(chunk) < len(mark) && bytes.HasPrefix(mark, chunk) {
			s.rest = bytes.Clone(chunk)
			return nil, nil
		}
		s.begun, s.rest = true, nil
		chunk = bytes.TrimPrefix(chunk, mark)
	}
	for len(chunk) > 0 {
		if s.cr {
			s.cr = false
			if chunk[0] == '\n' {
				chunk = chunk[1:]
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			s.rest = append(s.rest, chunk...)
			break
		}
		line := chunk[:end]
		if len(s.rest) > 0 {
			line = append(s.rest, line...)
			s.rest = nil
		}
		s.cr = chunk[end] == '\r'
		chunk = chunk[end+1:]
		if ev, ok := s.line(line); ok {
			events = append(events, ev)
		}
	}
	if len(s.rest)+len(s.data) > streams.MaxBufferedBytes {
		return events, errEventTooLong
	}
	return events, nil
}

// line takes one line; a blank one completes an event.
func (s *eventStream) line(line []byte) (ev streamedEvent, complete bool) {
	if len(line) == 0 {
		ev = streamedEvent{typ: s.typ, id: s.id, data: webidl.ValidUTF8(bytes.TrimSuffix(s.data, []byte("\n")))}
		s.data, s.typ = nil, defaultType
		return ev, ev.data != ""
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) { // "" is a comment
	case "data":
		s.data = append(append(s.data, value...), '\n')
	case "event":
		s.typ = webidl.ValidUTF8(value)
	case "id":
		s.id = webidl.ValidUTF8(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil { // digits alone
			s.retryMs = int64(ms)
		}
	}
	return ev, false
}
