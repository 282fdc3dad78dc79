package netx

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"minido.dev/minido/runtime/event"
)

// acceptKey is the answer to a handshake's Sec-WebSocket-Key (RFC 6455, 4.2.2).
func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// hasToken reports whether a comma-separated header holds token.
func hasToken(h http.Header, name, token string) bool {
	for _, line := range h[name] {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// IsUpgrade reports whether r asks for a WebSocket. Like workerd it does not
// look at Connection.
func IsUpgrade(r *http.Request) bool {
	return len(r.Header["Upgrade"]) > 0 && hasToken(r.Header, "Upgrade", "websocket")
}

// HandshakeError is a handshake that the client has got wrong, with workerd's
// answer to it (kj/compat/http.c++, acceptWebSocket). Immutable.
type HandshakeError struct {
	Status int
	Text   string
	Header event.Header // beside the content type
}

// Error implements error.
func (e *HandshakeError) Error() string { return e.Text }

var (
	errNotGet  = &HandshakeError{http.StatusBadRequest, "ERROR: WebSocket must be initiated with a GET request.", nil}
	errVersion = &HandshakeError{http.StatusUpgradeRequired, "ERROR: The requested WebSocket version is not supported.",
		event.Header{{Name: "Sec-WebSocket-Version", Value: "13"}}}
	errNoKey = &HandshakeError{http.StatusBadRequest, "ERROR: Missing Sec-WebSocket-Key", nil}
)

// Accept completes the server's side of a handshake with a head of its own,
// and takes the connection over. header is what the worker's response has; the
// handshake's own lines replace those of the same name. effect surrounds the
// write of the head. The request's origin is not looked at: as in production
// that is the worker's decision.
//
// If it returns a *HandshakeError, nothing has been written.
func Accept(w http.ResponseWriter, r *http.Request, header event.Header, effect func(write func() error) error) (*Conn, error) {
	key := strings.TrimSpace(r.Header.Get("Sec-Websocket-Key"))
	switch {
	case r.Method != http.MethodGet:
		return nil, errNotGet
	case r.Header.Get("Sec-Websocket-Version") != "13":
		return nil, errVersion
	case key == "":
		return nil, errNoKey
	}
	head := []byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " + acceptKey(key) + "\r\n")
	for _, f := range header {
		if !f.Leaves() {
			continue
		}
		switch textproto.CanonicalMIMEHeaderKey(f.Name) {
		case "Connection", "Upgrade", "Sec-Websocket-Accept", "Sec-Websocket-Extensions", "Content-Length", "Transfer-Encoding":
			continue
		}
		if strings.ContainsAny(f.Name, "\r\n:\x00") || strings.ContainsAny(f.Value, "\r\n\x00") {
			return nil, fmt.Errorf("netx: the header %q cannot be sent", f.Name)
		}
		name, _ := f.Line()
		head = append(head, name+": "+f.Value+"\r\n"...)
	}
	head = append(head, "\r\n"...)
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("netx: taking over the connection: %w", err)
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		conn.Close()
		return nil, fmt.Errorf("netx: clearing deadlines: %w", err)
	}
	if err := effect(func() error { _, err := conn.Write(head); return err }); err != nil {
		conn.Close()
		return nil, fmt.Errorf("netx: writing the handshake: %w", err)
	}
	return NewConn(conn, rereader(conn, rw.Reader), nil), nil
}

// rereader keeps what the server has read too far and gives its large buffers
// back otherwise.
func rereader(conn net.Conn, br *bufio.Reader) *bufio.Reader {
	if br.Buffered() > 0 {
		return br
	}
	return bufio.NewReaderSize(conn, 1<<10)
}
