package control

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A ticket gives one session token, once and in time; a page has nothing without it,
// and nobody frames the page or loads it from elsewhere.
func TestDashboardSession(t *testing.T) {
	c, s, client := start(t)
	visit(t, s, "/")
	send := func(method, path, body string, header ...string) (int, string, http.Header) {
		req, err := http.NewRequest(method, c.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b), resp.Header
	}
	for _, path := range []string{"/dashboard/", "/dashboard/app.js", "/dashboard/style.css"} {
		status, body, header := send("GET", path, "")
		if status != 200 || len(body) < 100 || !strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			strings.Contains(header.Get("Content-Security-Policy"), "unsafe") || strings.Contains(body, c.Token()) {
			t.Errorf("%s: %d, %d bytes, %v", path, status, len(body), header)
		}
		for _, from := range []string{"same-site", "cross-site"} {
			if status, _, _ := send("GET", path, "", "Sec-Fetch-Site", from); status != 403 {
				t.Errorf("%s from a %s page: status %d", path, from, status)
			}
		}
	}
	// A link opens it in a tab; a frame, a script of another page, or another path does not.
	for _, c := range []struct {
		path, mode, dest string
		want             int
	}{
		{"/dashboard/", "navigate", "document", 200}, {"/dashboard/", "navigate", "iframe", 403}, {"/dashboard/", "no-cors", "empty", 403},
		{"/dashboard/app.js", "no-cors", "script", 403}, {"/v1/status", "navigate", "document", 403},
	} {
		if status, _, _ := send("GET", c.path, "", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", c.mode, "Sec-Fetch-Dest", c.dest); status != c.want {
			t.Errorf("%+v: status %d", c, status)
		}
	}
	if status, _, _ := send("GET", "/dashboard/app.ts", ""); status != 404 {
		t.Errorf("a source: status %d", status)
	}
	var to DashboardURL
	if err := client.Post(context.Background(), "/v1/dashboard", struct{}{}, &to); err != nil {
		t.Fatal(err)
	}
	_, ticket, _ := strings.Cut(to.URL, "#")
	enter := func(ticket string, header ...string) (int, string) {
		status, body, _ := send("POST", "/v1/dashboard/session", `{"ticket":"`+ticket+`"}`, append(header, "Content-Type", "application/json")...)
		var got struct{ Token string }
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		return status, got.Token
	}
	if status, _ := enter(ticket, "Origin", s.URL()); status != 403 {
		t.Errorf("a page of the worker's gets a session: status %d", status)
	}
	if status, _ := enter(c.Token()); status != 403 {
		t.Errorf("the token of the file is no ticket: status %d", status)
	}
	status, token := enter(ticket, "Origin", c.URL())
	if status != 200 || token == "" || token == c.Token() {
		t.Fatalf("a ticket: status %d, token %q", status, token)
	}
	if status, _ := enter(ticket); status != 403 {
		t.Errorf("a ticket that was used: status %d", status)
	}
	if status, _, _ := send("GET", "/v1/status", "", "Authorization", "Bearer "+token); status != 200 {
		t.Errorf("a session: status %d", status)
	}
	if status, _, _ := send("GET", "/v1/status", "", "Authorization", "Bearer "+ticket); status != 401 {
		t.Errorf("a ticket as a token: status %d", status)
	}
}

// Secrets end in time, and the oldest makes room.
func TestSecrets(t *testing.T) {
	var s secrets
	now := time.UnixMilli(1000)
	s.add("a", now.Add(time.Minute))
	s.add("b", time.Time{})
	if s.find("a", now) != 0 || s.find("a", now.Add(time.Minute)) != -1 || s.find("b", now.Add(time.Hour)) != 1 || s.find("", now) != -1 {
		t.Error("a secret lives too long or too short")
	}
	for range maxSessions {
		s.add("c", time.Time{})
	}
	if s.find("b", now) != -1 || len(s.list) != maxSessions {
		t.Errorf("%d secrets are kept", len(s.list))
	}
}
