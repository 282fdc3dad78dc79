package control

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What only a client that writes its own bytes can send gets nothing either: paths that
// leave the public files, names in the request line, fields that come twice, a request
// within the body of another, other protocols.
func TestRawAttacks(t *testing.T) {
	c, s, _ := start(t)
	visit(t, s, "/")
	send := func(text string) (all []int, bodies string) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+c.port)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		text = strings.NewReplacer("\n", "\r\n", "HOST", "127.0.0.1:"+c.port, "PORT", c.port, "TOKEN", c.Token()).Replace(text)
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		for in := bufio.NewReader(conn); ; {
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				return all, bodies // the listener has closed the connection
			}
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				return all, bodies
			}
			all, bodies = append(all, resp.StatusCode), bodies+string(b)
		}
	}
	const evict = `{"class":"Room","object":"lobby"}`
	post := func(header, body string) string {
		return "POST /v1/evict HTTP/1.1\nHost: HOST\nContent-Type: application/json\nConnection: close\n" + header + "\n" + body
	}
	good, length := "Authorization: Bearer TOKEN\n", "Content-Length: 33\n"
	for _, a := range []struct {
		name, text string
		want       int
	}{
		{"out of the public files", "GET /dashboard/../v1/status HTTP/1.1\nHost: HOST\nConnection: close\n\n", 0},
		{"out of them, encoded", "GET /dashboard/%2e%2e/v1/status HTTP/1.1\nHost: HOST\nConnection: close\n\n", 0},
		{"out of them, with an encoded slash", "GET /dashboard/..%2fv1%2fstatus HTTP/1.1\nHost: HOST\nConnection: close\n\n", 404},
		{"two slashes", "GET //v1/status HTTP/1.1\nHost: HOST\nConnection: close\n\n", 401},
		{"a name in the request line", "GET http://evil.example/dashboard/ HTTP/1.1\nHost: HOST\nConnection: close\n\n", 403},
		{"two names", "GET /dashboard/ HTTP/1.1\nHost: HOST\nHost: evil.example\nConnection: close\n\n", 400},
		{"no name", "GET /dashboard/ HTTP/1.0\n\n", 403},
		{"a second token", post("Authorization: Bearer 0\n"+good+length, evict), 401},
		{"a second type", post("Content-Type: text/plain\n"+good+length, evict), 415},
		{"a second origin", post("Origin: http://HOST\nOrigin: http://evil.example\n"+good+length, evict), 403},
		{"a second site", post("Sec-Fetch-Site: same-origin\nSec-Fetch-Site: cross-site\n"+good+length, evict), 403},
		{"a WebSocket of another page", "GET /v1/feed HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\n" + good + "\n", 403},
		{"an echo of the token", "TRACE /v1/status HTTP/1.1\nHost: HOST\nConnection: close\n" + good + "\n", 405},
		{"a tunnel", "CONNECT evil.example:443 HTTP/1.1\nHost: HOST\n" + good + "Connection: close\n\n", 403},
		{"HTTP/2", "PRI * HTTP/2.0\n\nSM\n\n", 0},
		{"a request within a body", "POST /v1/dashboard/session HTTP/1.1\nHost: HOST\nContent-Type: application/json\nContent-Length: 4\nTransfer-Encoding: chunked\nConnection: close\n\n0\n\n" +
			post(good+length, evict), 0},
	} {
		all, body := send(a.text)
		if a.want != 0 && (len(all) == 0 || all[0] != a.want) {
			t.Errorf("%s: statuses %v, want %d", a.name, all, a.want)
		}
		for _, secret := range []string{c.Token(), `"persist_dir"`, "<script"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s: %v %s", a.name, all, body)
			}
		}
		if len(all) > 0 && all[0] == 200 || len(all) > 1 || s.LiveObjects() != 1 {
			t.Errorf("%s: statuses %v, %d objects", a.name, all, s.LiveObjects())
		}
	}
	if all, _ := send(post(good+length, evict)); len(all) != 1 || all[0] != 200 || s.LiveObjects() != 0 {
		t.Errorf("what the attacks change works without: %v", all)
	}
}
