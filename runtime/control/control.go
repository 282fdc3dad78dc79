// Package control is the API through which people and tools inspect and control a
// running server: list its objects, evict, reset, abort or crash them, fire their
// alarms, query and export their databases (docs/control.md).
//
// It has a listener of its own, away from the worker's origin, because what it
// can do must be out of reach of the worker, of the pages that the worker
// serves, and of any other page that a browser on this machine shows:
//   - it listens on a loopback address, whatever the worker listens on;
//   - every request needs a random token, which lives in a file of mode 0600
//     outside the project tree, under a name that cannot be guessed and that
//     no bundler loads; a page of the dashboard has one of its own;
//   - the Host header must be literally a loopback name with the port (DNS
//     rebinding), the Origin absent or the listener's own;
//   - what changes anything is a POST of application/json, which no page can
//     send to another origin without a preflight, and preflights are refused.
package control

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/feed"
	"minido.dev/minido/runtime/server"
)

// Options of Start. Server, Scheduler and Entropy are required.
type Options struct {
	Server    *server.Server
	Scheduler sched.Scheduler
	Entropy   entropy.Source // of the token
	// Port to listen on; 0 takes a free one.
	Port int
	// Dir is where the token's file goes; "" is DefaultDir. Start refuses a
	// directory within the project.
	Dir string
	// Pacer steers the clock; nil where it is only shown.
	Pacer *sched.Pacer
	// Machine bounds how long an answer may take; nil is the scheduler's clock.
	Machine clock.Clock
	// Version is minido's own.
	Version string
	// Feed is what happens in the server; nil where nobody records it.
	Feed *feed.Feed
	// Recorder keeps HTTP exchanges; nil where nothing does.
	Recorder *feed.Recorder
	// Harness runs chaos campaigns; nil where nothing does. Who gives it closes it.
	Harness Harness
}

// Control is the running API. Safe for concurrent use.
type Control struct {
	opts     Options
	listener net.Listener
	http     *http.Server
	token    string
	port     string
	file     string // of the token
	closing  chan struct{}

	mu       sync.Mutex
	tickets  secrets // guarded by mu
	sessions secrets // of pages; guarded by mu
}

// Start listens and writes the token's file. Close ends both.
func Start(o Options) (*Control, error) {
	if o.Machine == nil {
		o.Machine = o.Scheduler.Clock()
	}
	c := &Control{opts: o, closing: make(chan struct{})}
	secret := make([]byte, 32+16)
	if _, err := o.Entropy.Read(secret); err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	c.token = hex.EncodeToString(secret[:32])
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	c.listener = listener
	c.port = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	project := o.Server.Project()
	c.file, err = publish(o.Dir, hex.EncodeToString(secret[32:]), Session{
		URL: c.URL(), Token: c.token, Worker: project.Name, WorkerURL: o.Server.URL(), ProjectDir: project.Dir, PersistDir: o.Server.PersistDir(),
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	c.http = &http.Server{
		Handler: c.guard(c.routes()), ErrorLog: log.New(discard{}, "", 0), MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
	}
	sched.Attend(o.Scheduler, "control accept", func() { _ = c.http.Serve(listener) }) // ends with Close
	return c, nil
}

type discard struct{}

// Write drops net/http's complaints about clients.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// URL is where the API answers.
func (c *Control) URL() string { return "http://127.0.0.1:" + c.port }

// Token is the bearer token.
func (c *Control) Token() string { return c.token }

// File is the token's file.
func (c *Control) File() string { return c.file }

// Close stops listening and removes the token's file.
func (c *Control) Close(ctx context.Context) error {
	close(c.closing)
	err := c.http.Shutdown(ctx)
	if err != nil {
		err = c.http.Close()
	}
	return errors.Join(err, withdraw(c.file))
}

func (c *Control) clock() clock.Clock { return c.opts.Scheduler.Clock() }

// guard lets only those requests through that the package comment allows.
func (c *Control) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if status, why := c.refusal(r); why != "" {
			if status == http.StatusUnauthorized {
				h.Set("WWW-Authenticate", `Bearer realm="minido control"`)
			}
			fail(w, status, "forbidden", why)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		next.ServeHTTP(w, r)
	})
}

// refusal says why a request may not pass, "" if it may.
func (c *Control) refusal(r *http.Request) (status int, why string) {
	switch {
	case !c.ownHost(r.Host):
		return http.StatusForbidden, "the Host header must be 127.0.0.1, [::1] or localhost with the port of this listener"
	case len(r.Header.Values("Origin")) > 1 || !c.ownOrigin(r.Header.Get("Origin")):
		return http.StatusForbidden, "requests from web pages are refused: the Origin header must be absent"
	case slices.ContainsFunc(r.Header.Values("Sec-Fetch-Site"), elsewhere) && !opened(r):
		return http.StatusForbidden, "requests from web pages are refused"
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "the method must be GET or POST"
	case !public(r) && !c.authorized(r.Header.Values("Authorization")):
		return http.StatusUnauthorized, "the Authorization header must be Bearer and the token, which is in a file that `minido ctl` finds"
	case r.Method == http.MethodPost && !isJSON(r.Header.Values("Content-Type")):
		return http.StatusUnsupportedMediaType, "the Content-Type of a POST must be application/json"
	}
	return 0, ""
}

// elsewhere reports whether a value of Sec-Fetch-Site is that of another page.
func elsewhere(site string) bool { return site != "" && site != "same-origin" && site != "none" }

func (c *Control) ownHost(host string) bool {
	switch host {
	case "127.0.0.1:" + c.port, "[::1]:" + c.port, "localhost:" + c.port:
		return true
	}
	return false
}

// ownOrigin allows what is no web page, and pages of this very listener.
func (c *Control) ownOrigin(origin string) bool {
	if origin == "" {
		return true
	}
	host, ok := strings.CutPrefix(origin, "http://")
	return ok && c.ownHost(host)
}

func (c *Control) authorized(values []string) bool {
	if len(values) != 1 {
		return false
	}
	given, ok := strings.CutPrefix(values[0], "Bearer ")
	return ok && (subtle.ConstantTimeCompare([]byte(given), []byte(c.token)) == 1 || c.ofPage(given))
}

func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	kind, _, _ := strings.Cut(values[0], ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
