package browser

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"minido.dev/minido/internal/clock"
)

// maxSessions is how many browsers run at a time, as in miniflare's answer to
// /v1/limits.
const maxSessions = 6

// process is a browser that runs. Immutable once it is in a pool.
type process struct {
	ID       string
	StartMs  int64
	Endpoint string // ws://127.0.0.1:PORT/devtools/browser/UUID
	cmd      *exec.Cmd
	dir      string // its profile, a temporary directory
}

// variables name an executable, as for puppeteer.
var variables = []string{"PUPPETEER_EXECUTABLE_PATH", "CHROME_PATH"}

var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// find is the executable of a browser: one that the environment names, or one in
// PATH.
func find(environ []string) (string, error) {
	for _, name := range variables {
		for _, entry := range environ {
			if path, ok := strings.CutPrefix(entry, name+"="); ok && path != "" {
				return path, nil
			}
		}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no browser: Browser Rendering needs a Chromium on this machine: install one (Debian: the package chromium), or name its executable in PUPPETEER_EXECUTABLE_PATH, and start minido again")
}

// startLimit is how long a browser may take until it listens; puppeteer's own.
const startLimit = 30 * time.Second

// launch starts a browser without a window and waits until it listens, on loopback. One
// that does not within the limit is ended.
func launch(path string, limit time.Duration) (p *process, err error) {
	dir, err := os.MkdirTemp("", "minido-browser-*")
	if err != nil {
		return nil, fmt.Errorf("browser: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove(dir))
		}
	}()
	args := []string{"--headless", "--remote-debugging-port=0", "--user-data-dir=" + dir, "--no-first-run", "--no-default-browser-check", "--disable-gpu",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--enable-automation", "--password-store=basic"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium's sandbox refuses root
	}
	cmd := exec.Command(path, append(args, "about:blank")...)
	endWithParent(cmd)
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("browser: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("browser: %w", err)
	}
	var late atomic.Bool
	timer := clock.Real{}.AfterFunc(limit, func() {
		late.Store(true)
		_ = kill(cmd) // it may have ended by itself
	})
	defer timer.Stop()
	said := []string{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, endpoint, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
			return &process{Endpoint: strings.TrimSpace(endpoint), cmd: cmd, dir: dir}, out.Close()
		}
		if said = append(said, lines.Text()); len(said) > 20 {
			said = said[1:]
		}
	}
	_, _ = io.Copy(io.Discard, out) // its end is the process's, which Wait reports
	if late.Load() {
		return nil, fmt.Errorf("browser: %s did not listen for DevTools within %s (%w): %s", path, limit, cmp.Or(cmd.Wait(), io.ErrUnexpectedEOF), strings.Join(said, "\n"))
	}
	return nil, fmt.Errorf("browser: %s did not start (%w): %s", path, cmp.Or(cmd.Wait(), io.ErrUnexpectedEOF), strings.Join(said, "\n"))
}

func (p *process) end() error {
	if err := kill(p.cmd); err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("browser: %w", err)
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("browser: %w", err)
	}
	return remove(p.dir)
}

// How often the removal of a profile is tried, and how long apart: processes that a
// browser has started may write into it for a moment after they were killed.
const (
	removals    = 100
	removalRest = 20 * time.Millisecond
)

// remove removes a profile.
func remove(dir string) (err error) {
	for range removals {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		rest := make(chan struct{})
		clock.Real{}.AfterFunc(removalRest, func() { close(rest) })
		<-rest
	}
	return fmt.Errorf("browser: its profile is left: %w", err)
}

// pool is the browsers that run. Safe for concurrent use.
type pool struct {
	mu      sync.Mutex // guards the rest
	running []*process // in the order of their start
	closed  bool
}

func newPool() *pool { return &pool{} }

var errMany = fmt.Errorf("browser: %d sessions run already; close one", maxSessions)

func (p *pool) add(s *process) error {
	p.mu.Lock()
	full := p.closed || len(p.running) >= maxSessions
	if !full {
		p.running = append(p.running, s)
	}
	p.mu.Unlock()
	if full {
		return errors.Join(errMany, s.end())
	}
	return nil
}

func (p *pool) list() []*process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.running)
}

// end ends the session with that id, if it runs.
func (p *pool) end(id string) error {
	p.mu.Lock()
	i := slices.IndexFunc(p.running, func(s *process) bool { return s.ID == id })
	var s *process
	if i >= 0 {
		s = p.running[i]
		p.running = slices.Delete(p.running, i, i+1)
	}
	p.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.end()
}

func (p *pool) close() error {
	p.mu.Lock()
	all := p.running
	p.running, p.closed = nil, true
	p.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.end())
	}
	return errors.Join(errs...)
}
