package feed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/event"
)

// chunks is a body of several parts that ends as err says.
type chunks struct {
	parts [][]byte
	err   error
}

func (c *chunks) Read(cb func([]byte, error)) {
	if len(c.parts) == 0 {
		cb(nil, c.err)
		return
	}
	part := c.parts[0]
	c.parts = c.parts[1:]
	cb(part, nil)
}
func (c *chunks) Cancel(error)  {}
func (c *chunks) Length() int64 { return -1 }

func drain(b event.Body) (all []byte) {
	for over := false; !over; {
		b.Read(func(chunk []byte, err error) { all = append(all, chunk...); over = err != nil })
	}
	return all
}

// An exchange is recorded while somebody watches, its bodies up to a limit, whether they
// are at hand or come in parts; what is exchanged stays the same.
func TestRecorder(t *testing.T) {
	now := clock.NewVirtual(time.UnixMilli(1000))
	r := NewRecorder(now, nil)
	long := bytes.Repeat([]byte("x"), maxBody)
	var got []byte
	handler := r.Incoming(func(req *event.Request, done func(*event.Response, error)) func(error) {
		if req.Body != nil {
			got = drain(req.Body)
		}
		done(&event.Response{Status: 200, Object: "Room/a", Body: &chunks{[][]byte{long, []byte("more")}, io.EOF}}, nil)
		return nil
	})
	send := func(body event.Body) *event.Request {
		req := &event.Request{Method: "POST", URL: "http://x/y", Header: event.Header{{Name: "A", Value: "b"}}, Body: body}
		handler(req, func(resp *event.Response, err error) {
			if all := drain(resp.Body); err != nil || len(all) != maxBody+4 {
				t.Errorf("the client got %d bytes, %v", len(all), err)
			}
		})
		return req
	}
	if req := send(event.Bytes([]byte("unseen"))); req.Record != 0 || string(got) != "unseen" {
		t.Errorf("unwatched: record %d, body %q", req.Record, got)
	}
	var stages []Stage
	stop := r.Watch(func(s Stage, _ Record) { stages = append(stages, s) })
	req := send(&chunks{[][]byte{[]byte("in "), []byte("parts")}, io.EOF})
	rec, ok := r.Find(req.Record)
	if !ok || string(got) != "in parts" || string(rec.Body.Data) != "in parts" || rec.Status != 200 || rec.Object != "Room/a" || rec.Header.Get("a") != "b" || rec.SentUs == 0 || rec.HeadUs == 0 || rec.FirstUs == 0 || rec.EndUs == 0 {
		t.Errorf("the record is %+v", rec)
	}
	if len(rec.Response.Data) != maxBody || rec.Response.Total != maxBody+4 {
		t.Errorf("%d of %d bytes of the response are kept", len(rec.Response.Data), rec.Response.Total)
	}
	if fmt.Sprint(stages) != "[0 1 2]" {
		t.Errorf("the stages are %v", stages)
	}
	for range 2*maxRecorded/maxBody + 10 {
		now.Advance(period)
		send(event.Bytes([]byte("again")))
	}
	if _, ok := r.Find(req.Record); ok || r.size > maxRecorded || len(r.records) > maxRecords || len(r.records) != len(r.order) {
		t.Errorf("after many: the first is there: %v; %d bytes in %d records", ok, r.size, len(r.records))
	}
	stop()
	stop()
	if req := send(nil); req.Record != 0 {
		t.Error("recorded after the last watcher has gone")
	}
}

// What fails, and what breaks off, says why.
func TestRecorderFailures(t *testing.T) {
	r := NewRecorder(clock.NewVirtual(time.UnixMilli(1000)), nil)
	defer r.Watch(nil)()
	for want, answer := range map[string]func(done func(*event.Response, error)){
		"refused": func(done func(*event.Response, error)) { done(nil, errors.New("refused")) },
		"broken": func(done func(*event.Response, error)) {
			done(&event.Response{Status: 200, Body: &chunks{nil, errors.New("broken")}}, nil)
		},
	} {
		req := &event.Request{Method: "GET", URL: "http://x/"}
		r.Incoming(func(_ *event.Request, done func(*event.Response, error)) func(error) { answer(done); return nil })(req, func(resp *event.Response, _ error) {
			if resp != nil {
				drain(resp.Body)
			}
		})
		if rec, _ := r.Find(req.Record); rec.Failure != want || rec.EndUs == 0 {
			t.Errorf("%s: %+v", want, rec)
		}
	}
}

// Sockets are known from their opening on; their frames, the newest, while somebody
// watches. An open one outlives the limit of records.
func TestRecorderSockets(t *testing.T) {
	now := clock.NewVirtual(time.UnixMilli(1000))
	f := New(now, nil)
	r := NewRecorder(now, f)
	ours, theirs := event.NewSocketPair()
	r.Incoming(func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(&event.Response{Status: 101, Socket: ours}, nil)
		return nil
	})(&event.Request{Method: "GET", URL: "http://x/ws", Upgrade: true}, func(*event.Response, error) {})
	send := func(s *event.Socket, text string) {
		if err := s.Send(event.Message{Data: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	send(ours, "unseen")
	var closed *SocketRecord
	stop := r.Watch(func(s Stage, rec Record) {
		if s == Ended && rec.Socket != nil {
			closed = rec.Socket
		}
	})
	send(ours, "up")
	unwatch := f.WatchTurns()
	send(theirs, "down")
	send(ours, "\xffup")
	unwatch()
	told, _, _ := f.After(0, 10)
	if len(told) != 2 || told[0].Kind != Message || told[0].From != "worker" || told[0].Text != "down" || told[0].Bytes != 4 || told[1].From != "client" || told[1].Text != "up" || told[1].Bytes != 3 || told[1].Record == 0 {
		t.Errorf("told of frames: %+v", told)
	}
	list := r.Sockets()
	if len(list) != 1 || !list[0].Socket.Open || len(list[0].Socket.Frames) != 3 {
		t.Fatalf("the sockets are %+v", list)
	}
	if f := list[0].Socket.Frames; string(f[0].Data) != "up" || !f[0].Sent || string(f[1].Data) != "down" || f[1].Sent {
		t.Errorf("the frames are %+v", f)
	}
	for range maxFrames {
		send(ours, strings.Repeat("long ", maxFrame))
	}
	for range maxRecords + 5 {
		now.Advance(period)
		r.Incoming(func(_ *event.Request, done func(*event.Response, error)) func(error) {
			done(&event.Response{Status: 204}, nil)
			return nil
		})(&event.Request{Method: "GET", URL: "http://x/"}, func(*event.Response, error) {})
	}
	rec, ok := r.Find(list[0].ID)
	if !ok || len(rec.Socket.Frames) != maxFrames || rec.Socket.Lost != 3 || len(rec.Socket.Frames[9].Data) != maxFrame || rec.Socket.Frames[9].Total != 5*maxFrame {
		t.Fatalf("after many frames: %v, %d frames, %d lost", ok, len(rec.Socket.Frames), rec.Socket.Lost)
	}
	if err := theirs.Close(4001, "enough"); err != nil {
		t.Fatal(err)
	}
	if closed == nil || closed.Open || closed.Code != 4001 || closed.Reason != "enough" || len(r.Sockets()) != 0 {
		t.Errorf("closed: %+v", closed)
	}
	stop()
}

// Of a burst of exchanges so many are recorded as are kept, and every WebSocket; all are
// answered.
func TestRecorderBurst(t *testing.T) {
	now := clock.NewVirtual(time.UnixMilli(1000))
	r := NewRecorder(now, nil)
	defer r.Watch(nil)()
	recorded, answered := 0, 0
	send := func(upgrade bool) {
		req := &event.Request{Method: "GET", URL: "http://x/", Upgrade: upgrade}
		r.Incoming(func(_ *event.Request, done func(*event.Response, error)) func(error) {
			done(&event.Response{Status: 204}, nil)
			return nil
		})(req, func(*event.Response, error) { answered++ })
		if req.Record != 0 {
			recorded++
		}
	}
	for range maxExchanges + 7 {
		send(false)
	}
	send(true)
	if recorded != maxExchanges+1 || answered != maxExchanges+8 {
		t.Errorf("%d were recorded, %d answered", recorded, answered)
	}
	now.Advance(period)
	if send(false); recorded != maxExchanges+2 {
		t.Error("nothing is recorded in the next period")
	}
}
