package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
)

// startLimit is how long a server may take until its first answer.
const startLimit = 30 * time.Second

// pollStep is how often a starting server is asked; it bounds the precision of
// every start-up time here.
const pollStep = time.Millisecond

// target is something that runs workers. Immutable.
type target struct {
	name    string
	missing string // why it cannot run here; "" if it can
	// layout is where it keeps the database files of a namespace, below the
	// state directory.
	layout func(state, namespace string) string
	// command is what to start, and where.
	command func(o startOptions, port int) (command []string, dir string, err error)
	env     []string
	// profiled says that a build of it takes profiles.
	profiled bool
}

type startOptions struct {
	project *project
	state   string // the directory for objects' data
	cache   string // minido's directory for transformed modules
}

// server is a target that runs. Close must be called.
type server struct {
	child *process.Child
	url   string // without a slash at its end
	began time.Time

	profiler string // where it takes commands for profiles, "" if it takes none
}

// start starts the target and returns at once.
func (b *bench) start(t *target, o startOptions) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", t.name, err)
	}
	command, dir, err := t.command(o, port)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", t.name, err)
	}
	env, profiler := t.env, ""
	if b.profile != "" && t.profiled {
		port, err := freePort()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", t.name, err)
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		env, profiler = append(slices.Clip(env), "MINIDO_PROFILE="+address), "http://"+address
	}
	began := b.clock.Now()
	child, err := process.Start(process.Options{Command: command, Dir: dir, Env: env, Scheduler: b.sched})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", t.name, err)
	}
	return &server{child: child, url: fmt.Sprintf("http://127.0.0.1:%d", port), began: began, profiler: profiler}, nil
}

// startAndAsk returns once the server has answered path with status, and how
// long after its start that was.
func (b *bench) startAndAsk(ctx context.Context, t *target, o startOptions, path string, status int) (*server, time.Duration, error) {
	s, err := b.start(t, o)
	if err != nil {
		return nil, 0, err
	}
	took, err := b.firstAnswer(ctx, s, path, status)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", t.name, err), s.close())
	}
	return s, took, nil
}

// firstAnswer asks for path, again and again, until the answer has the status.
func (b *bench) firstAnswer(ctx context.Context, s *server, path string, status int) (time.Duration, error) {
	ctx, cancel := wait.WithLimit(ctx, b.clock, startLimit)
	defer cancel()
	last := errors.New("never asked")
	for {
		got, body, err := get(ctx, s.url+path)
		if err == nil && got == status {
			return b.clock.Now().Sub(s.began), nil
		}
		if err == nil {
			err = fmt.Errorf("status %d: %.200s", got, body)
		}
		if ctx.Err() == nil {
			last = err
		}
		if err := s.child.ExitError(); err != nil {
			return 0, err
		}
		if err := wait.Pause(ctx, b.clock, pollStep); err != nil {
			return 0, fmt.Errorf("GET %s: %w; at last: %w; it wrote:\n%s", path, err, last, s.child.Output())
		}
	}
}

// closing makes each request a connection of its own: what is measured are
// servers that start and die.
var closing = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func get(ctx context.Context, url string) (status int, body string, err error) {
	return roundTrip(ctx, http.MethodGet, url)
}

func roundTrip(ctx context.Context, method, url string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := closing.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, string(data), err
}

// close kills the server and everything that it started.
func (s *server) close() error { return s.child.Close() }

// freePort asks the system for a port. Another program could take it before
// the server does; then the row fails and says so.
func freePort() (port int, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func minidoTarget(binary string) *target {
	return &target{
		name: "minido", profiled: true,
		layout: func(state, namespace string) string {
			return filepath.Join(state, "v3", "do", namespace)
		},
		command: func(o startOptions, port int) ([]string, string, error) {
			// Objects stay: those that are counted must not leave meanwhile.
			return []string{binary, "dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(port), "--persist-to", o.state,
				"--cache-dir", o.cache, "--log-level", "error", "--sync", "full", "--idle", "0"}, o.project.dir, nil
		},
	}
}

func workerdTarget(modules string) *target {
	binary := filepath.Join(modules, ".bin", "workerd")
	return &target{
		name:    "workerd",
		missing: missing(binary),
		layout:  func(state, namespace string) string { return filepath.Join(state, namespace) },
		command: func(o startOptions, port int) ([]string, string, error) {
			if err := os.MkdirAll(o.state, 0o700); err != nil {
				return nil, "", err
			}
			// Beside the bundle: what is embedded is found from the file's own directory.
			file := filepath.Join(filepath.Dir(o.project.raw), filepath.Base(o.state)+".capnp")
			if err := os.WriteFile(file, []byte(o.project.capnp(port, o.state)), 0o600); err != nil {
				return nil, "", err
			}
			return []string{binary, "serve", "--experimental", file}, o.project.dir, nil
		},
	}
}

func wranglerTarget(modules string) *target {
	node, script := filepath.Join(modules, ".bin", "node"), filepath.Join(modules, "wrangler", "bin", "wrangler.js")
	return &target{
		name:    "wrangler dev",
		missing: missing(node, script),
		layout:  func(state, namespace string) string { return filepath.Join(state, "v3", "do", namespace) },
		command: func(o startOptions, port int) ([]string, string, error) {
			return []string{node, script, "dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(port), "--persist-to", o.state,
				"--log-level", "error", "--inspector-port", "0", "--show-interactive-dev-session=false"}, o.project.dir, nil
		},
		env: []string{"WRANGLER_SEND_METRICS=false", "CI=1", "CLOUDFLARE_CF_FETCH_ENABLED=false"},
	}
}

func missing(files ...string) string {
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			return "not installed"
		}
	}
	return ""
}

// floorTarget is a bare net/http server in Go, with coder/websocket: what the
// machine and the generator of load can do with no worker between them.
func floorTarget(self string) *target {
	return &target{
		name: "bare Go",
		command: func(_ startOptions, port int) ([]string, string, error) {
			return []string{self, floorMode, strconv.Itoa(port)}, "", nil
		},
	}
}
