package gateway

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/runtime/event"
)

// Names of a response's fields are on the wire as workerd writes them: those that it knows
// in its own spelling, others as the worker wrote them first.
func TestNamesOnTheWire(t *testing.T) {
	w := start(t, Options{Handler: answer(func(*event.Request) (*event.Response, error) {
		h := event.Header{}
		for _, name := range []string{"etag", "www-authenticate", "cf-cache-status", "cache-control", "Cache-control", "set-cookie", "Set-Cookie", "x-two", "X-TWO", "X-BAR", "p3p", "te"} {
			h = append(h, event.Field{Name: name, Value: "v"})
		}
		return &event.Response{Status: 204, Header: h}, nil
	})})
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it has been read to its end
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: "+w.addr+"\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\r\n")[1:]
	slices.Sort(lines)
	want := "CF-Cache-Status: v|Cache-Control: v, v|Connection: close|ETag: v|Set-Cookie: v|Set-Cookie: v|WWW-Authenticate: v|X-BAR: v|p3p: v|x-two: v|x-two: v"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("the fields are\n%s, want\n%s", got, want)
	}
}
