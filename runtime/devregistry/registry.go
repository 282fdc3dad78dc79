// Package devregistry connects the dev sessions of one user: a worker of one session
// is found by its name from every other, in the directory and the format of
// wrangler's dev registry (miniflare: shared/dev-registry.ts).
//
// An entry names the debug port of the session that runs the worker, which speaks
// Cap'n Proto (package debugport): minido's sessions have one for wrangler's, and call
// wrangler's through theirs. An entry of minido names one more address, at which the calls of
// other minido sessions are answered over HTTP: more crosses there.
package devregistry

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/gateway"
)

// The reference's times: an entry is touched at each heartbeat, and counts as one
// of a session that has died when it is older than stale.
const (
	heartbeat = 10 * time.Second
	stale     = 90 * time.Second
)

// The environment variables that replace DefaultDir; the first one wins.
const (
	DirVariable         = "CLOUDFLARE_DEV_REGISTRY_PATH"
	WranglerDirVariable = "WRANGLER_REGISTRY_PATH"
)

// DefaultDir is the registry of this user where wrangler has it: CLOUDFLARE_DEV_REGISTRY_PATH,
// WRANGLER_REGISTRY_PATH, ~/.wrangler/registry if there is a ~/.wrangler, or
// .wrangler/registry below the user's configuration. It may not exist yet. "" is none: an
// empty WRANGLER_REGISTRY_PATH switches the registry off.
func DefaultDir() (string, error) {
	if dir := os.Getenv(DirVariable); dir != "" {
		return filepath.Abs(dir)
	}
	if dir, set := os.LookupEnv(WranglerDirVariable); set {
		if dir == "" {
			return "", nil
		}
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("dev registry: %w; set %s", err, DirVariable)
	}
	if info, err := os.Stat(filepath.Join(home, ".wrangler")); err == nil && info.IsDir() {
		return filepath.Join(home, ".wrangler", "registry"), nil
	}
	base := os.Getenv("XDG_CONFIG_HOME")
	switch { // xdg-app-paths, which wrangler asks
	case base != "":
	case runtime.GOOS == "darwin":
		base = filepath.Join(home, "Library", "Preferences")
	case runtime.GOOS == "windows":
		if base = os.Getenv("APPDATA"); base == "" {
			base = filepath.Join(home, "AppData", "Roaming")
		}
		base = filepath.Join(base, "xdg.config")
	default:
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, ".wrangler", "registry"), nil
}

// Local is the workers of this session, as other sessions call them. Safe for
// concurrent use.
type Local interface {
	// Entrypoint is that of a worker; "default" is the main one.
	Entrypoint(worker, entrypoint string, props *event.Payload) cfapi.Target
	// Object is a Durable Object of a class; name is "" if it is not known.
	Object(worker, class, id, name string) cfapi.Target
	// Tail gives a tail worker what other workers did.
	Tail(worker string, traces []*event.Trace)
}

// Options configure a Registry. All fields are required.
type Options struct {
	Dir       string // as DefaultDir
	Scheduler sched.Scheduler
	Machine   clock.Clock
	Entropy   entropy.Source
	Dialer    netx.Dialer
	Local     Local
	Report    func(error) // failures where no caller waits
}

// Registry is this session's place among the others. Safe for concurrent use.
type Registry struct {
	opts     Options
	self     session
	instance string // of this process among all that write entries
	listener net.Listener
	gateway  *gateway.Gateway
	port     net.Listener // the debug port

	mu      sync.Mutex      // guards everything below
	workers map[string]bool // names to be registered
	exports map[string]*export
	links   map[string]*link     // to debug ports, by address
	peers   map[*capnp.Conn]bool // of the debug port
	beat    clock.Timer
	closed  bool
}

// entry is the content of a worker's file: wrangler's fields, and minido's own.
type entry struct {
	DebugPort string `json:"debugPortAddress,omitempty"` // host:port
	// The services of that port which have the default entrypoint, and the others and the objects.
	DefaultService string   `json:"defaultEntrypointService,omitempty"`
	UserService    string   `json:"userWorkerService,omitempty"`
	InstanceID     string   `json:"instanceId"`
	Minido         *session `json:"minido,omitempty"`
}

// session says where one answers. Who has no secret is not answered: web pages reach
// loopback too.
type session struct {
	Address string `json:"address"` // host:port
	Secret  string `json:"secret"`
}

// Open starts to answer other sessions. No worker is registered yet.
func Open(o Options) (*Registry, error) {
	r := &Registry{opts: o, workers: map[string]bool{}, exports: map[string]*export{}, links: map[string]*link{}, peers: map[*capnp.Conn]bool{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("dev registry: %w", err)
	}
	r.listener = ln
	if r.port, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(fmt.Errorf("dev registry: %w", err), ln.Close())
	}
	r.self, r.instance = session{ln.Addr().String(), r.random()}, r.random()
	r.gateway = gateway.New(gateway.Options{Scheduler: o.Scheduler, Machine: o.Machine, Handler: r.serve, EndIsLoss: true, Warn: func(text string) { o.Report(errors.New("dev registry: " + text)) }})
	sched.Attend(o.Scheduler, "dev registry", func() {
		if err := r.gateway.Serve(ln); err != nil {
			o.Report(fmt.Errorf("dev registry: %w", err))
		}
	})
	sched.Attend(o.Scheduler, "debug port", r.accept)
	return r, nil
}

func (r *Registry) random() string {
	var b [16]byte
	r.opts.Entropy.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Register makes these the workers that others find; those of an earlier call are
// withdrawn unless they are named again. A name that another session has is taken
// over when that one ends, as with the reference.
func (r *Registry) Register(workers []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if err := os.MkdirAll(r.opts.Dir, 0o700); err != nil {
		return fmt.Errorf("dev registry: %w", err)
	}
	now := map[string]bool{}
	for _, name := range workers {
		if fileName(name) {
			now[name] = true
		}
	}
	var errs []error
	for name := range r.workers { // order-independent: files of their own
		if !now[name] {
			errs = append(errs, r.withdraw(name))
		}
	}
	r.workers = now
	errs = append(errs, r.touch())
	if r.beat == nil {
		r.beat = r.opts.Machine.AfterFunc(heartbeat, r.tick)
	}
	return errors.Join(errs...)
}

// fileName reports whether a worker's name can name its file. Production allows
// letters, digits, "-" and "_".
func fileName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, `/\:`)
}

// tick is a heartbeat.
func (r *Registry) tick() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	err := r.touch()
	r.beat = r.opts.Machine.AfterFunc(heartbeat, r.tick)
	r.mu.Unlock()
	if err != nil {
		r.opts.Report(err)
	}
	r.sweep()
}

// touch writes the entries that are missing or stale and renews this session's
// own. Call it with mu held.
func (r *Registry) touch() error {
	now := r.opts.Machine.Now()
	var errs []error
	for name := range r.workers { // order-independent: files of their own
		path := filepath.Join(r.opts.Dir, name)
		text, err := json.MarshalIndent(entry{r.port.Addr().String(), servicePrefix + name, servicePrefix + name, r.instance, &r.self}, "", "  ")
		if err != nil {
			return fmt.Errorf("dev registry: %w", err)
		}
		there, err := r.read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			errs = append(errs, writeWhole(path, text, r.instance))
		case err != nil:
			errs = append(errs, err)
		case there.InstanceID == r.instance:
			errs = append(errs, os.Chtimes(path, now, now))
		case there.Minido != nil && !there.Minido.listens():
			errs = append(errs, writeWhole(path, text, r.instance))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("dev registry: %w", err)
	}
	return nil
}

// listens reports whether the session is still there. One that was killed leaves its
// entries, and the one that is started in its place needs them at once.
func (s session) listens() bool {
	conn, err := net.DialTimeout("tcp", s.Address, time.Second)
	if err != nil {
		return !netx.HasErrno(err, syscall.ECONNREFUSED)
	}
	_ = conn.Close() // nothing was written
	return true
}

// writeWhole makes a file appear with all its content, for this user alone.
func writeWhole(path string, text []byte, unique string) error {
	temporary := filepath.Join(filepath.Dir(filepath.Dir(path)), filepath.Base(path)+"."+unique)
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// read is the entry of a worker, fs.ErrNotExist if no session has it. The entry of
// one that has died is removed.
func (r *Registry) read(name string) (e entry, err error) {
	if !fileName(name) {
		return e, fs.ErrNotExist
	}
	path := filepath.Join(r.opts.Dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return e, err
	}
	if r.opts.Machine.Now().Sub(info.ModTime()) > stale {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return e, err
		}
		return e, fs.ErrNotExist
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return e, err
	}
	if json.Unmarshal(text, &e) != nil {
		return e, fs.ErrNotExist // being written, or nobody's: as the reference has it
	}
	return e, nil
}

// withdraw removes a worker's entry if it is this session's. Call it with mu held.
func (r *Registry) withdraw(name string) error {
	e, err := r.read(name)
	if err == nil && e.InstanceID == r.instance {
		err = os.Remove(filepath.Join(r.opts.Dir, name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("dev registry: %w", err)
	}
	return nil
}

// Close withdraws the workers and cuts the calls in progress when ctx is done.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	if r.beat != nil {
		r.beat.Stop()
	}
	var errs []error
	for name := range r.workers { // order-independent: files of their own
		errs = append(errs, r.withdraw(name))
	}
	left, links, peers := r.exports, slices.Collect(maps.Values(r.links)), slices.Collect(maps.Keys(r.peers)) // order-independent: each is closed
	r.exports, r.links = map[string]*export{}, map[string]*link{}
	r.mu.Unlock()
	errs = append(errs, r.port.Close())
	for _, l := range links {
		l.close()
	}
	for _, p := range peers {
		p.Close()
	}
	for _, e := range left { // order-independent: each is another's
		e.drop()
	}
	return errors.Join(append(errs, r.gateway.Close(ctx))...)
}

// State says what became of looking a worker up.
type State int

// The states. Foreign is a worker of a program that cannot be called.
const (
	Absent State = iota
	Found
	Foreign
)

// Find looks a worker up among the other sessions, now.
func (r *Registry) Find(worker string) (Worker, State, error) {
	e, err := r.read(worker)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Worker{}, Absent, nil
	case err != nil:
		return Worker{}, Absent, fmt.Errorf("dev registry: %w", err)
	case e.InstanceID == r.instance:
		return Worker{}, Absent, nil
	case e.Minido != nil:
		return Worker{r, *e.Minido, worker, e}, Found, nil
	case e.DebugPort != "":
		return Worker{r, session{}, worker, e}, Found, nil
	}
	return Worker{}, Foreign, nil
}
