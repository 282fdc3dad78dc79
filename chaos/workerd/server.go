package workerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/sched"
)

// Life describes one `wrangler dev`.
type Life struct {
	// Config is the project's wrangler file, Env and Vars (KEY:VALUE) are flags of wrangler.
	Config, Env string
	Vars        []string
	// Persist is the directory of the state, Scratch one for what wrangler writes elsewhere: its
	// log, temporary files and registry. Both must exist.
	Persist, Scratch string
	// Log gets its output.
	Log io.Writer
	// Scheduler reaps it. Limit is how long it may take until it answers.
	Scheduler sched.Scheduler
	Limit     time.Duration
}

// Server is a running `wrangler dev`. Safe for concurrent use.
type Server struct {
	*process.Child
	URL  string
	left []string // folders that it made in the project, and that a kill leaves there
}

// Start runs `wrangler dev` until it is killed. Close must be called.
//
// # Errors
//
// process.ExitError and wait.ErrTimeout, wrapped, with the end of what it wrote.
func (t Tool) Start(ctx context.Context, l Life) (*Server, error) {
	flags := []string{"dev", "--config", l.Config, "--ip", "127.0.0.1", "--port", "0", "--inspector-port", "0", "--local",
		"--show-interactive-dev-session=false", "--persist-to", l.Persist}
	if l.Env != "" {
		flags = append(flags, "--env", l.Env)
	}
	for _, v := range l.Vars {
		flags = append(flags, "--var", v)
	}
	project := filepath.Dir(l.Config)
	before, err := scratchOf(project)
	if err != nil {
		return nil, err
	}
	child, err := process.Start(process.Options{
		Command: append([]string{t.Wrangler}, flags...), Dir: project, Log: l.Log, Scheduler: l.Scheduler,
		// As npm runs a program: those that were installed with it come first. The rest keeps
		// it from asking people and networks, and from writing where others read.
		Env: []string{"PATH=" + t.Bin + string(os.PathListSeparator) + os.Getenv("PATH"), "WRANGLER_SEND_METRICS=false", "CI=1",
			"CLOUDFLARE_CF_FETCH_ENABLED=false", "WRANGLER_LOG_PATH=" + l.Scratch, "WRANGLER_REGISTRY_PATH=" + filepath.Join(l.Scratch, "registry"),
			"TMPDIR=" + l.Scratch, "NO_COLOR=1"},
	})
	if err != nil {
		return nil, fmt.Errorf("workerd: %w", err)
	}
	s := &Server{Child: child}
	s.URL, err = child.Ready(ctx, l.Limit)
	after, listErr := scratchOf(project)
	for _, dir := range after {
		if !slices.Contains(before, dir) {
			s.left = append(s.left, dir)
		}
	}
	if err = errors.Join(err, listErr); err != nil {
		return nil, errors.Join(fmt.Errorf("workerd: wrangler dev: %w", err), s.Close())
	}
	return s, nil
}

// scratchOf lists the folders that servers have bundled a project in. One that is killed
// cannot remove its own.
func scratchOf(project string) ([]string, error) {
	dir := filepath.Join(project, ".wrangler", "tmp")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("workerd: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "dev-") || strings.HasPrefix(e.Name(), "bundle-") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// Close ends the server, if that has not happened, and removes what a kill leaves in the
// project.
func (s *Server) Close() error {
	err := s.Kill()
	for _, dir := range s.left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	s.left = nil
	if err != nil {
		return fmt.Errorf("workerd: %w", err)
	}
	return nil
}
