// Package inspector implements enough of the Chrome DevTools Protocol for the console
// of DevTools and of editors: logs of workers, with their objects, the worker's
// sources, expressions that are evaluated between turns, and CPU profiles. What it
// does not have is refused by name (docs/compatibility.md, "inspector").
//
// Like every inspector it lets whoever connects run code, so it listens on loopback
// alone, takes no Host header but a loopback name with its port, or "localhost" (DNS rebinding), no page
// as a client but DevTools' own, and its WebSocket has a path that cannot be guessed.
package inspector

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/feed"
	"minido.dev/minido/runtime/isolate"
)

// Options of Start. All are required.
type Options struct {
	Scheduler sched.Scheduler
	Entropy   entropy.Source
	Machine   clock.Clock // the machine's time
	Port      int         // 0 takes a free one
	// Title is the worker's name.
	Title   string
	Version string
	Feed    *feed.Feed
	// Recorder keeps HTTP exchanges; nil where nothing does.
	Recorder *feed.Recorder
	// Sources are the worker's own modules, by their names in stacks.
	Sources func() map[string][]byte
	// Worker is server.Inspect.
	Worker func(fn func(i *isolate.Isolate, err error))
}

// Inspector is the running listener. Safe for concurrent use.
type Inspector struct {
	opts     Options
	listener net.Listener
	http     *http.Server
	port, id string
	closing  chan struct{}

	profiling profiling

	mu    sync.Mutex
	conns map[*netx.Conn]struct{} // guarded by mu
}

// Start listens on 127.0.0.1.
func Start(o Options) (*Inspector, error) {
	secret := make([]byte, 16)
	if _, err := o.Entropy.Read(secret); err != nil {
		return nil, fmt.Errorf("inspector: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("inspector: %w; choose another with --inspector-port", err)
	}
	x := &Inspector{opts: o, listener: listener, port: strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), id: hex.EncodeToString(secret),
		closing: make(chan struct{}), conns: map[*netx.Conn]struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /json", x.list)
	mux.HandleFunc("GET /json/list", x.list)
	mux.HandleFunc("GET /json/version", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"Browser": "minido/" + o.Version, "Protocol-Version": "1.3"})
	})
	mux.HandleFunc("GET /"+x.id, x.attach)
	x.http = &http.Server{Handler: x.guard(mux), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(quiet{}, "", 0)}
	sched.Attend(o.Scheduler, "inspector accept", func() { _ = x.http.Serve(listener) }) // ends with Close
	return x, nil
}

type quiet struct{}

// Write drops net/http's complaints about clients.
func (quiet) Write(p []byte) (int, error) { return len(p), nil }

// URL is the WebSocket's address.
func (x *Inspector) URL() string { return "ws://127.0.0.1:" + x.port + "/" + x.id }

// Close cuts all clients and stops listening.
func (x *Inspector) Close(ctx context.Context) error {
	close(x.closing)
	x.mu.Lock()
	var errs []error
	for c := range x.conns { // order-independent: each is cut alike
		errs = append(errs, c.Close())
	}
	x.mu.Unlock()
	if err := x.http.Shutdown(ctx); err != nil {
		errs = append(errs, x.http.Close())
	}
	return errors.Join(errs...)
}

func (x *Inspector) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// VS Code says "localhost" whatever the port is; a page whose name was rebound says that name.
		host := r.Host == "127.0.0.1:"+x.port || r.Host == "localhost:"+x.port || r.Host == "[::1]:"+x.port || r.Host == "localhost"
		origin := r.Header.Get("Origin")
		if !host || origin != "" && origin != "devtools://devtools" {
			http.Error(w, "the Host header must be a loopback name with the port, the Origin absent or devtools://devtools", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs no answer
}

func (x *Inspector) list(w http.ResponseWriter, _ *http.Request) {
	answer(w, []map[string]string{{
		"id": x.id, "type": "node", "title": x.opts.Title, "description": "minido worker", "url": "file://" + x.opts.Title, "webSocketDebuggerUrl": x.URL(),
		"devtoolsFrontendUrl": "devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=127.0.0.1:" + x.port + "/" + x.id,
	}})
}

// attach serves one client until it leaves.
func (x *Inspector) attach(w http.ResponseWriter, r *http.Request) {
	conn, err := netx.Accept(w, r, nil, func(write func() error) error { return write() })
	if err != nil {
		var refused *netx.HandshakeError
		if errors.As(err, &refused) {
			http.Error(w, refused.Text, refused.Status)
		}
		return
	}
	x.mu.Lock()
	x.conns[conn] = struct{}{}
	x.mu.Unlock()
	c := &client{x: x, conn: conn, left: make(chan struct{})}
	c.serve()
	x.profiling.drop(c)
	x.mu.Lock()
	delete(x.conns, conn)
	x.mu.Unlock()
	_ = conn.Close() // it is gone
}
