package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/feed"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/server"
)

const worker = `
import { DurableObject } from "cloudflare:workers";
let module = 0;
export class Room extends DurableObject {
  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT, b BLOB)"); }
  async fetch(req) {
    const u = new URL(req.url);
    if (u.pathname === "/slow") { await scheduler.wait(60000); return new Response("late"); }
    if (u.pathname === "/add") this.ctx.storage.sql.exec("INSERT INTO notes (text, b) VALUES (?, x'0102')", u.search);
    if (u.pathname === "/alarm") await this.ctx.storage.setAlarm(Date.now() + 3600e3);
    return new Response(String(++module));
  }
  async alarm() { this.ctx.storage.sql.exec("INSERT INTO notes (text) VALUES ('alarm')"); }
}
export default { fetch(req, env) { return env.ROOM.getByName("lobby").fetch(req); } };
`

// start runs a server with a control API, on the real network.
func start(t *testing.T) (*Control, *server.Server, *Client) {
	t.Helper()
	return startWith(t, nil)
}

// startWith has a harness for campaigns, too.
func startWith(t *testing.T, h Harness) (*Control, *server.Server, *Client) {
	t.Helper()
	return startProject(t, h, map[string]string{"worker.js": worker, "wrangler.json": `{"name": "chat", "main": "worker.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`})
}

// startProject has files of its own; change, which may be nil, changes the options.
func startProject(t *testing.T, h Harness, files map[string]string, change ...func(*server.Options, *Options)) (*Control, *server.Server, *Client) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sch := sched.NewThreads(clock.Real{})
	of := server.Options{
		Config: config.Options{Dir: dir}, Address: server.Address{IP: "127.0.0.1", PortSet: true}, PersistDir: filepath.Join(dir, "state"),
		Scheduler: sch, Entropy: entropy.System{}, Dialer: netx.NewReal(netx.RealOptions{Scheduler: sch, Entropy: entropy.System{}}),
	}
	o := Options{Scheduler: sch, Entropy: entropy.System{}, Dir: filepath.Join(t.TempDir(), "control"), Version: "test", Harness: h}
	for _, fn := range change {
		fn(&of, &o)
	}
	s, err := server.Start(context.Background(), of)
	if err != nil {
		t.Fatal(err)
	}
	if o.Server = s; o.Feed == nil {
		o.Feed = feed.New(clock.Real{}, s.Points())
	}
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := Sessions(filepath.Dir(c.File()))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	client := NewClient(sessions[0])
	t.Cleanup(func() {
		client.Close()
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		for _, err := range []error{c.Close(ctx), s.Close(ctx), sch.Close(ctx)} {
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(c.File()); !os.IsNotExist(err) {
			t.Error("the token's file is still there")
		}
	})
	return c, s, client
}

func visit(t *testing.T, s *server.Server, path string) string {
	t.Helper()
	resp, err := http.Get(s.URL() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Each thing that an attacker on this machine's browser or network would try
// is refused, before anything is done; the same request without it passes.
func TestAttacks(t *testing.T) {
	c, s, _ := start(t)
	visit(t, s, "/")
	port := c.port
	type request struct {
		method, path, host, body string
		header                   map[string]string
	}
	good := func() request {
		return request{"POST", "/v1/evict", "127.0.0.1:" + port, `{"class":"Room","object":"lobby"}`, map[string]string{
			"Authorization": "Bearer " + c.Token(), "Content-Type": "application/json"}}
	}
	send := func(r request) int {
		req, err := http.NewRequest(r.method, c.URL()+r.path, strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = r.host
		for k, v := range r.header {
			req.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%+v: the answer may be read by other origins", r)
		}
		return resp.StatusCode
	}
	host := func(h string) func(*request) { return func(r *request) { r.host = h } }
	header := func(k, v string) func(*request) { return func(r *request) { r.header[k] = v } }
	drop := func(k string) func(*request) { return func(r *request) { delete(r.header, k) } }
	for _, a := range []struct {
		name   string
		change func(*request)
		want   int
	}{
		{"rebound DNS name", host("evil.example:" + port), 403},
		{"name that ends in localhost", host("evil.localhost:" + port), 403},
		{"no port", host("127.0.0.1"), 403},
		{"another port", host("127.0.0.1:1"), 403},
		{"another loopback address", host("127.0.0.2:" + port), 403},
		{"unspecified address", host("0.0.0.0:" + port), 403},
		{"decimal address", host("2130706433:" + port), 403},
		{"trailing dot", host("localhost.:" + port), 403},
		{"upper case", host("LOCALHOST:" + port), 403},
		{"user part", host("127.0.0.1:" + port + "@evil.example"), 403},
		{"page of the internet", header("Origin", "https://evil.example"), 403},
		{"page of the worker", header("Origin", s.URL()), 403},
		{"page of a file", header("Origin", "null"), 403},
		{"own name with https", header("Origin", "https://127.0.0.1:"+port), 403},
		{"own name as a prefix", header("Origin", "http://127.0.0.1:"+port+".evil.example"), 403},
		{"cross-site fetch", header("Sec-Fetch-Site", "cross-site"), 403},
		{"same-site fetch", header("Sec-Fetch-Site", "same-site"), 403},
		{"no token", drop("Authorization"), 401},
		{"empty token", header("Authorization", "Bearer "), 401},
		{"part of the token", header("Authorization", "Bearer "+c.Token()[:63]), 401},
		{"another token", header("Authorization", "Bearer "+strings.Repeat("0", 64)), 401},
		{"token as basic", header("Authorization", "Basic "+c.Token()), 401},
		{"token in the query", func(r *request) { r.path += "?token=" + c.Token(); delete(r.header, "Authorization") }, 401},
		{"form", header("Content-Type", "application/x-www-form-urlencoded"), 415},
		{"text", header("Content-Type", "text/plain"), 415},
		{"no type", drop("Content-Type"), 415},
		{"json-like type", header("Content-Type", "application/jsonp"), 415},
		{"preflight", func(r *request) { r.method = "OPTIONS" }, 405},
		{"other method", func(r *request) { r.method = "PUT" }, 405},
		{"action by GET", func(r *request) { r.method = "GET" }, 404},
		{"unknown member", func(r *request) { r.body = `{"class":"Room","object":"lobby","sudo":true}` }, 400},
		{"two values", func(r *request) { r.body += `{}` }, 400},
		{"huge body", func(r *request) { r.body = `{"class":"` + strings.Repeat("a", 2<<20) + `"}` }, 400},
		{"path in a name", func(r *request) { r.body = `{"class":"Room","object":"../../../etc/passwd"}` }, 404},
		{"class as a path", func(r *request) { r.body = `{"class":"../x","object":"lobby"}` }, 404},
	} {
		r := good()
		a.change(&r)
		if got := send(r); got != a.want {
			t.Errorf("%s: status %d, want %d", a.name, got, a.want)
		}
		if s.LiveObjects() != 1 {
			t.Fatalf("%s: the object was evicted", a.name)
		}
	}
	for _, h := range []string{"127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port} {
		r := good()
		r.host = h
		r.header["Origin"] = "http://" + h
		if got := send(r); got != 200 {
			t.Errorf("host %s: status %d", h, got)
		}
		visit(t, s, "/")
	}
}

// No route of the listener is without the guards, whether it is an operation of the API,
// a queue's consumer asks it, or there is none: neither for other origins, nor for a
// rebound name, nor without the token, nor as what a form sends; and nobody frames or
// sniffs what it answers.
func TestEveryRouteIsGuarded(t *testing.T) {
	c, s, _ := start(t)
	type route struct {
		method, path string
		public       bool
	}
	pull := strings.NewReplacer("POST ", "", "{account}", "any", "{queue}", "jobs").Replace(pullPaths)
	routes := []route{{"POST", pull + "pull", false}, {"POST", pull + "ack", false}, {"GET", "/", false}, {"GET", "/v1", false}, {"GET", "/v1/none", false}, {"POST", "/v1/none", false}, {"GET", "/v1/../v1/status", false}, {"GET", "//v1/status", false},
		{"GET", "/dashboard", true}, {"GET", "/dashboard/", true}, {"GET", "/dashboard/app.js", true}, {"GET", "/dashboard/style.css", true}, {"GET", "/dashboard/../v1/status", true}, {"GET", "/dashboard/%2e%2e/v1/status", true}}
	for _, e := range c.endpoints() {
		routes = append(routes, route{e.method, e.path, e.public})
	}
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer plain.CloseIdleConnections()
	for _, e := range routes {
		for _, a := range []struct {
			name, header, value string
			want                int
		}{
			{"foreign origin", "Origin", "http://evil.example", 403}, {"page of the worker", "Origin", s.URL(), 403}, {"page of a file", "Origin", "null", 403},
			{"rebound name", "Host", "evil.example:" + c.port, 403}, {"rebound name with the address in front", "Host", "127.0.0.1.evil.example:" + c.port, 403},
			{"cross-site", "Sec-Fetch-Site", "cross-site", 403}, {"another port", "Sec-Fetch-Site", "same-site", 403},
			{"no token", "Authorization", "", 401}, {"another token", "Authorization", "Bearer " + strings.Repeat("0", 64), 401}, {"a form", "Content-Type", "text/plain", 415},
		} {
			if a.header == "Authorization" && e.public || a.header == "Content-Type" && e.method == "GET" {
				continue
			}
			req, err := http.NewRequest(e.method, c.URL()+e.path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+c.Token())
			req.Header.Set("Content-Type", "application/json")
			if req.Header.Set(a.header, a.value); a.header == "Host" {
				req.Host = a.value
			}
			resp, err := plain.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if resp.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != a.want || !strings.HasPrefix(string(body), `{"error":{"code":"forbidden"`) {
				t.Errorf("%s %s, %s: status %d, want %d: %s", e.method, e.path, a.name, resp.StatusCode, a.want, body)
			}
			if h := resp.Header; !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("X-Content-Type-Options") != "nosniff" ||
				h.Get("Cross-Origin-Resource-Policy") != "same-origin" || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: it may be framed, sniffed, kept or read by others: %v", e.method, e.path, h)
			}
		}
	}
	// Without a token the public routes give nothing but the dashboard's files.
	for _, path := range []string{"/dashboard/../v1/status", "/dashboard/%2e%2e/v1/status", "/dashboard//v1/status", "/dashboard/../../etc/passwd", "/dashboard/..%2fapi.ts", "/dashboard/app/main.ts"} {
		resp, err := plain.Get(c.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == 200 || strings.Contains(string(body), "worker_url") || strings.Contains(string(body), "root:") {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// What was recorded, sockets and sources are those of this server alone, whatever name or
// number is asked for: no file of the machine, no secret, no prototype.
func TestAttacksOnRecords(t *testing.T) {
	c, s, client := startProject(t, nil, map[string]string{"worker.js": worker, ".dev.vars": "SECRET=hidden", "wrangler.json": `{"name": "chat", "main": "worker.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`})
	visit(t, s, "/")
	ctx := context.Background()
	status := func(path string, body any, into any) int {
		err := client.Post(ctx, path, body, into)
		var ce *CallError
		switch {
		case err == nil:
			return 200
		case errors.As(err, &ce):
			if strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "root:") {
				t.Errorf("%s %v says %v", path, body, err)
			}
			return ce.Status
		}
		t.Fatal(err)
		return 0
	}
	var source Source
	if got := status("/v1/source", SourceRequest{"worker.js"}, &source); got != 200 || !strings.Contains(source.Text, "class Room") {
		t.Errorf("the worker's own module: %d", got)
	}
	for _, file := range []string{"", ".", "..", "/", "/etc/passwd", "../../../../../../etc/passwd", "./worker.js", "worker.js/", "worker.js\x00", ".dev.vars", filepath.Join(s.Project().Dir, ".dev.vars"),
		filepath.Join(s.Project().Dir, "worker.js"), c.File(), "wrangler.json", "file:///etc/passwd", "__proto__", "constructor", strings.Repeat("a", 100_000)} {
		if got := status("/v1/source", SourceRequest{file}, nil); got != 404 {
			t.Errorf("source %.60q: status %d", file, got)
		}
	}
	for _, record := range []int64{-1, 0, 1, 1 << 62} {
		if got := status("/v1/record", RecordRequest{record}, nil); got != 404 {
			t.Errorf("record %d: status %d", record, got)
		}
	}
	for _, body := range []map[string]any{{"record": "1"}, {"record": 1.5}, {"record": nil, "frames": true}, {"record": []int{1}}} {
		if got := status("/v1/record", body, nil); got != 400 {
			t.Errorf("record %v: status %d", body, got)
		}
	}
	for _, o := range []ObjectRequest{{"Room", "../lobby"}, {"Room", "none"}, {"../Room", "lobby"}, {"", ""}, {"__proto__", "lobby"}} {
		if got := status("/v1/object/sockets", o, nil); got != 404 {
			t.Errorf("sockets of %v: status %d", o, got)
		}
	}
	if got := status("/v1/object/sockets", ObjectRequest{"Room", "lobby"}, nil); got != 200 {
		t.Errorf("sockets of an object: status %d", got)
	}
	if got := status("/v1/sockets", struct{}{}, nil); got != 404 {
		t.Errorf("sockets by POST: status %d", got)
	}
}

// The worker's own listener answers no rebound name, and the control API
// listens on loopback whatever the worker does.
func TestListeners(t *testing.T) {
	c, s, _ := start(t)
	if ip := c.listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		t.Errorf("the control API listens on %v", ip)
	}
	for host, want := range map[string]int{"evil.example": 403, "localhost": 200, "127.0.0.1": 200, "[::1]": 200, "192.168.1.1": 403, "": 400} {
		req, err := http.NewRequest("GET", s.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if host == "" {
			continue // net/http sends the URL's
		}
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("worker, host %q: %d, want %d", host, resp.StatusCode, want)
		}
	}
}

// The token's file is the user's alone, and never lies within the project.
func TestTokenFile(t *testing.T) {
	c, s, _ := start(t)
	info, err := os.Stat(c.File())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if len(c.Token()) != 64 {
		t.Errorf("a token of %d digits", len(c.Token()))
	}
	project := s.Project().Dir
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{project, filepath.Join(project, "deep", "er"), link, filepath.Join(link, "x"), s.PersistDir()} {
		path, err := publish(dir, "name", Session{ProjectDir: project, PersistDir: s.PersistDir()})
		if err == nil {
			t.Errorf("a token was written to %s, within the project", path)
		}
	}
}

// Servers that were killed leave files behind, which are cleared away.
func TestSessions(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, s Session) {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+suffix), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, b := t.TempDir(), t.TempDir()
	nested := filepath.Join(a, "nested")
	if err := os.MkdirAll(filepath.Join(nested, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("dead", Session{URL: "dead", ProjectDir: a, PID: 1 << 30})
	write("1", Session{URL: "a", ProjectDir: a, PID: os.Getpid()})
	write("2", Session{URL: "nested", ProjectDir: nested, PID: os.Getpid()})
	write("3", Session{URL: "b", ProjectDir: b, PID: os.Getpid()})
	all, err := Sessions(dir)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "dead"+suffix)); !os.IsNotExist(err) {
		t.Error("the file of a dead server was kept")
	}
	for cwd, want := range map[string]string{a: "a", nested: "nested", filepath.Join(nested, "src"): "nested", b: "b"} {
		if s, err := Choose(all, cwd); err != nil || s.URL != want {
			t.Errorf("in %s: %s, %v; want %s", cwd, s.URL, err, want)
		}
	}
	if _, err := Choose(all, t.TempDir()); err == nil || !strings.Contains(err.Error(), "--server b") {
		t.Errorf("elsewhere: %v", err)
	}
	if _, err := Choose(nil, a); err == nil || !strings.Contains(err.Error(), "minido dev") {
		t.Errorf("none: %v", err)
	}
}

// Every endpoint does what docs/control.md says.
func TestEndpoints(t *testing.T) {
	_, s, client := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	visit(t, s, "/add?one")
	visit(t, s, "/alarm")
	var list struct{ Objects []Object }
	if err := client.Get(ctx, "/v1/objects", &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Objects) != 1 {
		t.Fatalf("%+v", list)
	}
	o := list.Objects[0]
	if o.Worker != "chat" || o.Class != "Room" || o.Name != "lobby" || len(o.ID) != 64 || o.State != "idle" || o.AlarmMs == nil || o.Live == nil || o.Live.DatabaseBytes == 0 {
		t.Errorf("%+v", o)
	}
	at := func(req ActRequest) ActRequest {
		if req.Scope == "" {
			req.Class, req.Object = "Room", "lobby"
		}
		return req
	}
	code := func(path string, body any) string {
		err := client.Post(ctx, path, body, nil)
		if err == nil {
			return "ok"
		}
		var ce *CallError
		if !errors.As(err, &ce) {
			t.Fatal(err)
		}
		return fmt.Sprint(ce.Status, " ", ce.Code)
	}
	slow := make(chan string, 1)
	go func() {
		resp, err := http.Get(s.URL() + "/slow")
		if err == nil {
			resp.Body.Close()
			err = fmt.Errorf("status %d", resp.StatusCode)
		}
		slow <- err.Error()
	}()
	for { // until the slow request is in progress
		if err := client.Get(ctx, "/v1/objects", &list); err != nil {
			t.Fatal(err)
		}
		if list.Objects[0].State == "running" {
			break
		}
	}
	for _, x := range []struct {
		path string
		body any
		want string
	}{
		{"/v1/evict", at(ActRequest{}), "409 refused"},
		{"/v1/hibernate", at(ActRequest{}), "409 refused"},
		{"/v1/evict", at(ActRequest{Scope: "isolate"}), "409 refused"},
		{"/v1/evict", at(ActRequest{Scope: "process"}), "400 bad_request"},
		{"/v1/evict", ActRequest{Class: "No", Object: "lobby"}, "404 not_found"},
		{"/v1/evict", ActRequest{Class: "Room", Object: "none"}, "404 not_found"},
		{"/v1/evict", at(ActRequest{Scope: "isolate", Worker: "none"}), "404 not_found"},
		{"/v1/evict", at(ActRequest{Force: true}), "ok"},
		{"/v1/evict", at(ActRequest{}), "409 not_running"},
		{"/v1/alarm", at(ActRequest{}), "ok"},
		{"/v1/reset", at(ActRequest{}), "ok"},
		{"/v1/clock/advance", AdvanceRequest{1000}, "409 real_clock"},
		{"/v1/reset", at(ActRequest{Scope: "isolate"}), "ok"},
		{"/v1/evict", at(ActRequest{Scope: "isolate"}), "ok"},
		{"/v1/crash", at(ActRequest{Scope: "isolate"}), "ok"},
	} {
		if got := code(x.path, x.body); got != x.want {
			t.Errorf("%s %+v: %s, want %s", x.path, x.body, got, x.want)
		}
	}
	if got := <-slow; got != "status 500" {
		t.Errorf("the request in flight at the forced eviction: %s", got)
	}
	visit(t, s, "/")
	for _, verb := range []pool.Verb{pool.Abort, pool.Crash, pool.Hibernate} {
		visit(t, s, "/")
		if got := code("/v1/"+string(verb), at(ActRequest{})); got != "ok" {
			t.Errorf("%s: %s", verb, got)
		}
	}
	var clk Clock
	if err := client.Get(ctx, "/v1/clock", &clk); err != nil || clk.Mode != "real" || clk.NowMs == 0 {
		t.Errorf("%+v %v", clk, err)
	}
	var st Status
	if err := client.Get(ctx, "/v1/status", &st); err != nil || st.PID != os.Getpid() || st.HeapBytes == 0 || st.WorkerURL != s.URL() {
		t.Errorf("%+v %v", st, err)
	}
}

// Queries read, and only read, within their limits; also where the object is
// not in memory.
func TestSQL(t *testing.T) {
	_, s, client := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for i := range 3 {
		visit(t, s, fmt.Sprintf("/add?%d", i))
	}
	ask := func(sql string, limit int, params ...any) string {
		t.Helper()
		var b bytes.Buffer
		err := client.Post(ctx, "/v1/sql", QueryRequest{Class: "Room", Object: "lobby", SQL: sql, Limit: limit, Params: params}, &b)
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(b.String())
	}
	for range 2 { // in memory, and not
		for _, x := range []struct{ sql, want string }{
			{"SELECT id, text, b FROM notes ORDER BY id LIMIT 1", `{"columns":["id","text","b"],"rows":[[1,"?0",{"base64":"AQI="}]],"truncated":false}`},
			{"SELECT 9223372036854775807, 1e999, NULL, 1.5 -- a comment", `{"columns":["9223372036854775807","1e999","NULL","1.5 -- a comment"],"rows":[[{"int64":"9223372036854775807"},"+Inf",null,1.5]],"truncated":false}`},
		} {
			if got := ask(x.sql, 0); got != x.want {
				t.Errorf("%s: %s", x.sql, got)
			}
		}
		if got := ask("SELECT text FROM notes WHERE id > ? AND text <> ?", 1, 1, "?9"); got != `{"columns":["text"],"rows":[["?1"]],"truncated":true}` {
			t.Errorf("with a limit: %s", got)
		}
		for _, bad := range []string{
			"INSERT INTO notes (text) VALUES ('x')", "DELETE FROM notes", "UPDATE notes SET text = ''", "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "DROP TABLE notes",
			"ATTACH '/etc/passwd' AS x", "PRAGMA journal_mode=DELETE", "PRAGMA table_info(notes)", "SELECT * FROM pragma_table_info('notes')", "VACUUM INTO '/tmp/x'", "BEGIN", "SAVEPOINT x",
			"SELECT 1; DELETE FROM notes", "SELECT load_extension('x')", "", "SELECT ?", "WITH x AS (SELECT 1) INSERT INTO notes (text) SELECT '1' FROM x RETURNING id",
			"SELECT zeroblob(1000000000)", "EXPLAIN DELETE FROM notes", "REINDEX", "ANALYZE",
		} {
			if got := ask(bad, 0); strings.HasPrefix(got, "{") {
				t.Errorf("%q was allowed: %s", bad, got)
			}
		}
		if err := client.Post(ctx, "/v1/evict", ActRequest{Scope: "isolate"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n", 0); !strings.Contains(got, "took longer") {
		t.Errorf("without end: %s", got)
	}
	if got := ask("SELECT count(*) FROM notes", 0); got != `{"columns":["count(*)"],"rows":[[3]],"truncated":false}` {
		t.Errorf("after all: %s", got)
	}
}

// What a facet has stored is listed and read by the names that lead to it, whether it runs
// or not, and so are its past, compared and restored.
func TestFacets(t *testing.T) {
	_, s, client := startProject(t, nil, map[string]string{"worker.js": `
import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  async keep(depth) {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS kept (depth)");
    this.ctx.storage.sql.exec("INSERT INTO kept VALUES (?)", depth);
    if (depth < 2) await this.ctx.facets.get("f" + depth, () => ({ class: this.ctx.exports.Room })).keep(depth + 1);
  }
}
export default { async fetch(req, env) { await env.ROOM.getByName("lobby").keep(0); return new Response("ok"); } };`, "wrangler.json": `{"name": "w", "main": "worker.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`})
	visit(t, s, "/")
	for _, c := range []struct {
		facet    []string
		bookmark string
		want     string
	}{
		{nil, "", "[[0]]"}, {[]string{"f0"}, "", "[[1]]"}, {[]string{"f0", "f1"}, "", "[[2]]"},
		{[]string{"f1"}, "", "no such facet is stored"}, {[]string{"f0", "f1", "f2"}, "", "no such facet is stored"}, {[]string{""}, "", "no such facet is stored"},
		{[]string{"f0"}, "x", "is not a bookmark of this Durable Object's history"}, {[]string{"f1"}, "x", "no such facet is stored"},
	} {
		var res QueryResult
		got := ""
		if err := client.Post(context.Background(), "/v1/sql", QueryRequest{Class: "Room", Object: "lobby", SQL: "SELECT depth FROM kept", Facet: c.facet, Bookmark: c.bookmark}, &res); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(res.Rows)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.facet, got, c.want)
		}
	}

	inner := []string{"f0", "f1"}
	ask := func(path string, body, answer any) string {
		t.Helper()
		if err := client.Post(context.Background(), path, body, answer); err != nil {
			return err.Error()
		}
		return ""
	}
	rows := func(bookmark string) string {
		t.Helper()
		var res QueryResult
		failed := ask("/v1/sql", QueryRequest{Class: "Room", Object: "lobby", SQL: "SELECT count(*) FROM kept", Facet: inner, Bookmark: bookmark}, &res)
		return failed + fmt.Sprint(res.Rows)
	}
	var past Moments
	if failed := ask("/v1/moments", PastRequest{"Room", "lobby", inner}, &past); failed != "" || len(past.Moments) == 0 {
		t.Fatalf("%s %v", failed, past)
	}
	first := past.Moments[len(past.Moments)-1].Bookmark
	visit(t, s, "/")
	if failed := ask("/v1/moments", PastRequest{"Room", "lobby", inner}, &past); failed != "" {
		t.Fatal(failed)
	}
	second := past.Moments[len(past.Moments)-1].Bookmark
	var d Difference
	if failed := ask("/v1/difference", DifferenceRequest{"Room", "lobby", inner, first, second}, &d); failed != "" || fmt.Sprint(d) != "{[{kept rows [depth] [[2]] [] [] false}]}" {
		t.Errorf("%s the difference is %v", failed, d)
	}
	if was, is := rows(first), rows(""); was != "[[1]]" || is != "[[2]]" {
		t.Errorf("%s rows before, %s now", was, is)
	}
	if failed := ask("/v1/restore", RestoreRequest{"Room", "lobby", inner, first}, nil); failed != "" {
		t.Fatal(failed)
	}
	var stored StoredFacets
	if failed := ask("/v1/facets", ObjectRequest{"Room", "lobby"}, &stored); failed != "" || len(stored.Facets) != 1 || stored.Facets[0].Name != "f0" || stored.Facets[0].Bytes == 0 ||
		len(stored.Facets[0].Facets) != 1 || stored.Facets[0].Facets[0].Name != "f1" {
		t.Errorf("%s stored are %+v", failed, stored)
	}
	if now := rows(""); now != "[[2]]" { // the facet has not run since
		t.Errorf("its object was evicted, and it has %s", now)
	}
	if failed := ask("/v1/moments", PastRequest{"Room", "lobby", inner}, &past); failed != "" || len(past.Moments) < 3 {
		t.Errorf("%s the past of one that does not run: %v", failed, past.Moments)
	}
	d = Difference{}
	if failed := ask("/v1/difference", DifferenceRequest{"Room", "lobby", inner, first, second}, &d); failed != "" || fmt.Sprint(d) != "{[{kept rows [depth] [[2]] [] [] false}]}" {
		t.Errorf("%s the difference is %v while it does not run", failed, d)
	}
	if was, later := rows(first), rows(second); was != "[[1]]" || later != "[[2]]" {
		t.Errorf("%s rows at first and %s later while it does not run", was, later)
	}
	if visit(t, s, "/"); rows("") != "[[2]]" { // the first row, and one more
		t.Errorf("after its restore it has %s", rows(""))
	}
	if failed := ask("/v1/evict", ActRequest{Class: "Room", Object: "lobby"}, nil) + ask("/v1/restore", RestoreRequest{"Room", "lobby", inner, first}, nil); failed != "" {
		t.Fatal(failed)
	}
	if visit(t, s, "/"); rows("") != "[[2]]" {
		t.Errorf("after a restore while it did not run it has %s", rows(""))
	}
	if failed := ask("/v1/moments", PastRequest{"Room", "lobby", []string{"f0", "f2"}}, nil); !strings.Contains(failed, "no such facet is stored") {
		t.Errorf("the past of none: %s", failed)
	}
}

// An export is a whole database, consistent while the object goes on.
func TestExport(t *testing.T) {
	_, s, client := start(t)
	visit(t, s, "/add?x")
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Post(context.Background(), "/v1/export", ExportRequest{"Room", "lobby"}, io.Writer(f)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	visit(t, s, "/add?later")
	conn, err := sqlite.Open(sqlite.Options{Path: path, MustExist: true, Now: time.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	st, _, err := conn.Prepare("SELECT text FROM notes", false)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for {
		more, err := st.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		rows = append(rows, st.ColumnText(0))
	}
	if fmt.Sprint(rows) != "[?x]" {
		t.Errorf("the copy holds %v", rows)
	}
}

// The feed gives what was, and with follow what comes; when the server stops, it
// ends.
func TestFeed(t *testing.T) {
	c, _, client := start(t)
	c.opts.Feed.Logged(isolate.Logged{Level: "warn", Text: "one"})
	var seen []string
	if err := client.Follow(context.Background(), "follow=false", func(l FeedLine) { seen = append(seen, l.Text) }); err != nil || strings.Join(seen, " ") != "one" {
		t.Errorf("the feed has %v, %v", seen, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := client.Follow(ctx, "after=0", func(l FeedLine) {
		if seen = append(seen, l.Text); l.Text == "one" {
			c.opts.Feed.Logged(isolate.Logged{Level: "log", Text: "two"})
		} else {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || strings.Join(seen, " ") != "one one two" {
		t.Errorf("the feed has %v, %v", seen, err)
	}
	if err := client.Get(context.Background(), "/v1/feed?after=x", nil); err == nil || !strings.Contains(err.Error(), "seq") {
		t.Errorf("a wrong position: %v", err)
	}
}
