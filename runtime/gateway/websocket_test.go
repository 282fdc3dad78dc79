package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
)

// heard is a receiver that writes down what it is told.
type heard struct{ said chan string }

func (h heard) OnMessage(m event.Message) { h.said <- fmt.Sprintf("%v %s", m.Binary, m.Data) }
func (h heard) OnClose(code int, reason string, clean bool) {
	h.said <- fmt.Sprintf("close %d %q %v", code, reason, clean)
}
func (h heard) OnError(err error) { h.said <- "error " + err.Error() }

// sockets serves WebSockets and passes the worker's ends on.
func sockets(t *testing.T, o Options) (*world, chan *event.Socket) {
	ends := make(chan *event.Socket, 10)
	o.Handler = answer(func(r *event.Request) (*event.Response, error) {
		if !r.Upgrade {
			return text("plain")
		}
		mine, theirs := event.NewSocketPair()
		ends <- mine
		return &event.Response{Status: 101, Header: event.Header{{Name: "X-Extra", Value: "1"}, {Name: "sec-websocket-protocol", Value: "chat"}, {Name: "server"}}, Socket: theirs}, nil
	})
	return start(t, o), ends
}

func dial(t *testing.T, w *world, ends chan *event.Socket) (*websocket.Conn, *event.Socket, heard) {
	t.Helper()
	c, resp, err := websocket.Dial(context.Background(), "ws://"+w.addr+"/", &websocket.DialOptions{Subprotocols: []string{"other", "chat"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	c.SetReadLimit(64 << 20)
	if c.Subprotocol() != "chat" || resp.Header.Get("X-Extra") != "1" {
		t.Errorf("handshake: %v", resp.Header)
	}
	h := heard{make(chan string, 100)}
	end := wait(t, "the socket", ends)
	end.Bind(h)
	return c, end, h
}

// The answer to a handshake spells the names that workerd knows as it does, and leaves
// those without a value out.
func TestWebSocketHandshakeLines(t *testing.T) {
	w, _ := sockets(t, Options{})
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", w.addr)
	var lines []string
	for scan := bufio.NewScanner(c); scan.Scan() && scan.Text() != ""; {
		lines = append(lines, scan.Text())
	}
	if got := strings.Join(lines[4:], "; "); got != "X-Extra: 1; Sec-WebSocket-Protocol: chat" {
		t.Errorf("%q", lines)
	}
}

func expect(t *testing.T, h heard, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := wait(t, w, h.said); got != w {
			t.Errorf("heard %q, want %q", got, w)
		}
	}
}

// Messages of both kinds and any size cross in both directions, in order, and
// pings are answered while they do.
func TestWebSocketMessages(t *testing.T) {
	w, ends := sockets(t, Options{})
	c, end, h := dial(t, w, ends)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.Write(ctx, websocket.MessageText, []byte("grüße"))
	c.Write(ctx, websocket.MessageBinary, []byte{1, 2})
	expect(t, h, "false grüße", "true \x01\x02")
	for i, size := range []int{0, 1, 125, 126, 65535, 65536, 3 << 20} {
		data := bytes.Repeat([]byte{byte('a' + i)}, size)
		if err := end.Send(event.Message{Binary: i%2 == 0, Data: data}); err != nil {
			t.Fatal(err)
		}
		kind, got, err := c.Read(ctx)
		if err != nil || !bytes.Equal(got, data) || (kind == websocket.MessageBinary) != (i%2 == 0) {
			t.Fatalf("size %d: %v, %d bytes, %v", size, kind, len(got), err)
		}
		if err := c.Write(ctx, websocket.MessageText, data); err != nil {
			t.Fatal(err)
		}
		if got := wait(t, "the echo", h.said); got != "false "+string(data) {
			t.Fatalf("size %d came as %d bytes", size, len(got))
		}
	}
	read := make(chan struct{})
	go func() { defer close(read); c.Read(ctx) }()
	if err := c.Ping(ctx); err != nil {
		t.Errorf("ping: %v", err)
	}
	c.CloseNow()
	<-read
	expect(t, h, `close 1006 "WebSocket disconnected without sending Close frame." false`)
	if err := end.Send(event.Message{}); err == nil {
		t.Error("a message to a lost connection was accepted")
	}
}

// Close codes and reasons cross exactly. A socket whose peer has closed stays
// half open until the worker closes it, with a code of its own.
func TestWebSocketClose(t *testing.T) {
	w, ends := sockets(t, Options{})
	for _, c := range []struct {
		client   []byte // payload of the client's Close frame
		heard    string
		code     int // the worker's answer
		reason   string
		answered string // payload of the server's frame
	}{
		{[]byte("\x03\xe8done"), `close 1000 "done" true`, 1000, "bye", "\x03\xe8bye"},
		{[]byte("\x0f\xa1"), `close 4001 "" true`, 4999, "x", "\x13\x87x"},
		{nil, `close 1005 "" true`, 1005, "", ""},
		{[]byte("\x03\xe9going"), `close 1001 "going" true`, 0, "", ""},
	} {
		conn, br := rawDial(t, w)
		end := wait(t, "the socket", ends)
		h := heard{make(chan string, 10)}
		end.Bind(h)
		conn.Write(frame(0x88, c.client))
		expect(t, h, c.heard)
		if err := end.Send(event.Message{Data: []byte("late")}); err != nil {
			t.Errorf("half open: %v", err)
		}
		end.Close(c.code, c.reason)
		if op, data := readFrame(t, br); op != 0x81 || string(data) != "late" {
			t.Errorf("half open: opcode %x, %q", op, data)
		}
		if op, data := readFrame(t, br); op != 0x88 || string(data) != c.answered {
			t.Errorf("the answer was %x %q, want %q", op, data, c.answered)
		}
		if n, err := br.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the connection stays open after both closes: %d, %v", n, err)
		}
		conn.Close()
	}
	// The worker closes first; the client's answer is told to it.
	conn, br := rawDial(t, w)
	defer conn.Close()
	end := wait(t, "the socket", ends)
	h := heard{make(chan string, 10)}
	end.Bind(h)
	end.Close(4002, "first")
	if op, data := readFrame(t, br); op != 0x88 || string(data) != "\x0f\xa2first" {
		t.Errorf("%x %q", op, data)
	}
	conn.Write(append(frame(0x81, []byte("in flight")), frame(0x88, []byte("\x0f\xa2ok"))...))
	expect(t, h, "false in flight", `close 4002 "ok" true`)
}

// What breaks the protocol is answered with a Close frame that says why, and the worker
// sees an error and no close.
func TestWebSocketViolations(t *testing.T) {
	w, ends := sockets(t, Options{})
	head := func(b0 byte, n uint64) []byte {
		return append(binary.BigEndian.AppendUint64([]byte{b0, 0x80 | 127}, n), 0, 0, 0, 0)
	}
	const compressed = "Received a WebSocket frame whose compression bit was set, but the compression extension was not negotiated for this connection."
	for name, c := range map[string]struct {
		bytes []byte
		code  uint16
		text  string
	}{
		"too large":                {head(0x82, event.MaxMessageBytes+1), 1009, "Message is too large: 33554433 > 33554432"},
		"too large a ping":         {head(0x89, 40<<20), 1009, "Message is too large: 41943040 > 33554432"},
		"fragments too large":      {append(frame(0x02, make([]byte, 20<<20)), head(0x80, 13<<20)...), 1009, "Message is too large: 13631488 > 12582912"},
		"a length of 64 bits":      {head(0x81, 1<<63+2), 1009, "Message is too large: 9223372036854775810 > 33554432"},
		"compressed":               {frame(0xC1, []byte("x")), 1002, compressed},
		"reserved bit 2":           {frame(0xA1, []byte("x")), 1002, "Received frame had RSV bits 2 or 3 set"},
		"reserved bit 3":           {frame(0x91, nil), 1002, "Received frame had RSV bits 2 or 3 set"},
		"unknown opcode":           {frame(0x83, nil), 1002, "Unknown opcode 3"},
		"unknown control frame":    {frame(0x8B, nil), 1002, "Unknown opcode 11"},
		"continuation of nothing":  {frame(0x80, nil), 1002, "Unexpected continuation frame"},
		"message within a message": {append(frame(0x01, []byte("a")), frame(0x81, []byte("b"))...), 1002, "Missing continuation frame"},
		"fragmented ping":          {frame(0x09, nil), 1002, "Received fragmented control frame"},
		"fragmented close":         {frame(0x08, []byte("\x03\xe8")), 1002, "Received fragmented control frame"},
		"unknown in fragments":     {append(frame(0x03, []byte("a")), frame(0x80, []byte("b"))...), 1002, "Unknown opcode 3"},
	} {
		conn, br := rawDial(t, w)
		end := wait(t, "the socket", ends)
		h := heard{make(chan string, 10)}
		end.Bind(h)
		conn.Write(c.bytes)
		op, data := readFrame(t, br)
		if op != 0x88 || string(data) != string(binary.BigEndian.AppendUint16(nil, c.code))+c.text {
			t.Errorf("%s: answered with %x %q", name, op, data)
		}
		conn.Close()
		want := fmt.Sprintf("error WebSocket protocol error; protocolError.statusCode = %d; protocolError.description = %s", c.code, c.text)
		if got := wait(t, "the error", h.said); got != want {
			t.Errorf("%s: heard %q, want %q", name, got, want)
		}
		expect(t, h, `close 1006 "WebSocket disconnected without sending Close frame." false`)
	}
}

// workerd takes what RFC 6455 forbids: frames without a mask, long control frames, any
// close code, and text that is not UTF-8.
func TestWebSocketLiberties(t *testing.T) {
	w, ends := sockets(t, Options{})
	long := strings.Repeat("p", 1000)
	for name, c := range map[string]struct {
		bytes []byte
		heard string
		sent  string // the payload of the answer, "" if none is waited for
	}{
		"invalid UTF-8":             {frame(0x81, []byte("a\xff\xfe")), "false a\xff\xfe", ""},
		"UTF-8 broken in two":       {append(frame(0x01, []byte("\xc3")), frame(0x80, []byte("x"))...), "false \xc3x", ""},
		"unmasked":                  {[]byte{0x81, 1, 'x'}, "false x", ""},
		"a long ping":               {append(frame(0x89, []byte(long)), frame(0x81, []byte("x"))...), "false x", long},
		"a long pong":               {append(frame(0x8A, []byte(long)), frame(0x81, []byte("x"))...), "false x", ""},
		"a close of one byte":       {frame(0x88, []byte{3}), `close 1005 "" true`, ""},
		"a code that is never sent": {frame(0x88, []byte("\x03\xedr")), `close 1005 "r" true`, ""},
		"a code out of range":       {frame(0x88, []byte("\x27\x10r")), `close 10000 "r" true`, ""},
		"invalid UTF-8 in a reason": {frame(0x88, []byte("\x03\xe8\xff")), `close 1000 "\xff" true`, ""},
		"more after a close":        {append(frame(0x88, []byte("\x03\xe8x")), frame(0x88, []byte("\x03\xe9y"))...), `close 1000 "x" true`, ""},
		"a long reason":             {frame(0x88, []byte("\x03\xe8"+long)), `close 1000 "` + long + `" true`, ""},
	} {
		conn, br := rawDial(t, w)
		end := wait(t, "the socket", ends)
		h := heard{make(chan string, 10)}
		end.Bind(h)
		conn.Write(c.bytes)
		if got := wait(t, "what comes", h.said); got != c.heard {
			t.Errorf("%s: heard %q, want %q", name, got, c.heard)
		}
		if c.sent != "" {
			if op, data := readFrame(t, br); op != 0x8A || string(data) != c.sent {
				t.Errorf("%s: answered with %x %q", name, op, data)
			}
		}
		conn.Close()
	}
}

// The largest message passes, put together from fragments with a ping between them.
func TestWebSocketLargest(t *testing.T) {
	w, ends := sockets(t, Options{})
	conn, br := rawDial(t, w)
	defer conn.Close()
	end := wait(t, "the socket", ends)
	h := heard{make(chan string, 10)}
	end.Bind(h)
	half := bytes.Repeat([]byte("x"), event.MaxMessageBytes/2)
	conn.Write(frame(0x01, half))
	conn.Write(frame(0x89, []byte("still there?")))
	conn.Write(frame(0x80, half))
	if op, data := readFrame(t, br); op != 0x8A || string(data) != "still there?" {
		t.Errorf("ping: %x %q", op, data)
	}
	if got := wait(t, "the message", h.said); len(got) != event.MaxMessageBytes+len("false ") {
		t.Errorf("%d bytes", len(got))
	}
}

// A peer that does not read is cut off when its queue is full, and the worker
// hears of it; nothing waits for it meanwhile.
func TestWebSocketQueueIsBounded(t *testing.T) {
	w, ends := sockets(t, Options{})
	conn, _ := rawDial(t, w)
	defer conn.Close()
	end := wait(t, "the socket", ends)
	h := heard{make(chan string, 10)}
	end.Bind(h)
	data := make([]byte, 4<<20)
	for range 2 * netx.MaxQueuedBytes / len(data) {
		end.Send(event.Message{Binary: true, Data: data})
	}
	if got := wait(t, "the error", h.said); !strings.Contains(got, "does not read") {
		t.Errorf("heard %q", got)
	}
	expect(t, h, `close 1006 "WebSocket disconnected without sending Close frame." false`)
}

// Losing the worker's side shows on the network: as a lost connection, or as a
// Close frame where it came with a code that can travel.
func TestWebSocketWorkerLost(t *testing.T) {
	w, ends := sockets(t, Options{})
	for code, want := range map[int]websocket.StatusCode{1006: -1, 1012: 1012} {
		c, end, _ := dial(t, w, ends)
		end.Drop(code, "", nil)
		_, _, err := c.Read(context.Background())
		if got := websocket.CloseStatus(err); got != want {
			t.Errorf("%d: the client saw %v (%v)", code, got, err)
		}
	}
}

// Each frame to a client is an effect, and so is the Close frame.
func TestWebSocketKillPoints(t *testing.T) {
	passed := make(chan string, 100)
	points := killpoint.New(killpoint.Options{Record: func(p killpoint.Point) {
		passed <- string(p.Kind) + ":" + string(p.Side)
	}})
	w, ends := sockets(t, Options{Points: points})
	c, end, h := dial(t, w, ends)
	end.Send(event.Message{Data: []byte("1")})
	end.Send(event.Message{Data: []byte("2")})
	end.Close(1000, "")
	for {
		if _, _, err := c.Read(context.Background()); err != nil {
			break
		}
	}
	expect(t, h, `close 1000 "" true`)
	// The peer's answer to the Close frame may be heard before the write of the frame returns.
	for _, want := range strings.Fields("response:before response:after frame:before frame:after frame:before frame:after close:before close:after") {
		if got := wait(t, want, passed); got != want {
			t.Fatalf("passed %s, want %s", got, want)
		}
	}
	if len(passed) > 0 {
		t.Errorf("one point too many: %s", <-passed)
	}
}

// A bad handshake is refused in words; Close cuts open sockets.
func TestWebSocketHandshakeAndShutdown(t *testing.T) {
	w, ends := sockets(t, Options{})
	resp, body := w.do("GET", "/", nil, "Connection", "keep-alive, Upgrade", "Upgrade", "WebSocket", "Sec-WebSocket-Version", "12", "Sec-WebSocket-Key", "x")
	if resp.StatusCode != http.StatusUpgradeRequired || body != "ERROR: The requested WebSocket version is not supported." {
		t.Errorf("%v %q", resp.Status, body)
	}
	lost := wait(t, "the socket", ends)
	h := heard{make(chan string, 1)}
	lost.Bind(h)
	expect(t, h, `close 1006 "WebSocket disconnected without sending Close frame." false`)
	c, _, _ := dial(t, w, ends)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.g.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Read(ctx); err == nil || websocket.CloseStatus(err) != -1 {
		t.Errorf("after shutdown: %v", err)
	}
}

// rawDial opens a WebSocket with a handshake and frames written by hand.
func rawDial(t *testing.T, w *world) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	br := bufio.NewReader(conn)
	resp, err := http.ReadResponse(br, &http.Request{Method: "GET"})
	if err != nil || resp.StatusCode != 101 || resp.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("%+v %v", resp, err)
	}
	return conn, br
}

// frame is a masked frame.
func frame(head byte, payload []byte) []byte {
	out := []byte{head}
	switch n := len(payload); {
	case n < 126:
		out = append(out, 0x80|byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	key := []byte{0x12, 0x34, 0x56, 0x78}
	out = append(out, key...)
	for i, b := range payload {
		out = append(out, b^key[i%4])
	}
	return out
}

func readFrame(t *testing.T, br *bufio.Reader) (byte, []byte) {
	t.Helper()
	var head [2]byte
	if _, err := io.ReadFull(br, head[:]); err != nil {
		t.Fatal(err)
	}
	n := uint16(head[1])
	switch {
	case n == 126:
		if err := binary.Read(br, binary.BigEndian, &n); err != nil {
			t.Fatal(err)
		}
	case n > 126:
		t.Fatalf("a frame with head %x", head)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(br, data); err != nil {
		t.Fatal(err)
	}
	return head[0], data
}
