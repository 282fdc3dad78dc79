package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Session is what the token's file holds: how to reach a running server.
type Session struct {
	URL        string `json:"url"` // of the control API
	Token      string `json:"token"`
	Worker     string `json:"worker"`     // the primary worker's name
	WorkerURL  string `json:"worker_url"` // where the worker answers, "" if nowhere
	ProjectDir string `json:"project_dir"`
	PersistDir string `json:"persist_dir"`
	PID        int    `json:"pid"`
	File       string `json:"-"`
}

// suffix of the files: no loader of any bundler knows it.
const suffix = ".minido-control"

// DirVariable is the environment variable that replaces DefaultDir.
const DirVariable = "MINIDO_CONTROL_DIR"

// DefaultDir is where servers of this user leave their tokens: MINIDO_CONTROL_DIR,
// or a directory of the user's cache. It may not exist yet.
func DefaultDir() (string, error) {
	if dir := os.Getenv(DirVariable); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("control: no place for the token: %w; set %s", err, DirVariable)
	}
	return filepath.Join(cache, "minido", "control"), nil
}

// publish writes a session's file and returns its path.
func publish(dir, name string, s Session) (path string, err error) {
	if dir == "" {
		if dir, err = DefaultDir(); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("control: %w", err)
	}
	for _, project := range []string{s.ProjectDir, s.PersistDir} {
		inside, err := within(project, dir)
		if err != nil {
			return "", fmt.Errorf("control: %w", err)
		}
		if inside {
			return "", fmt.Errorf("control: the token may not lie within the project (%s is below %s); set %s to a directory elsewhere", dir, project, DirVariable)
		}
	}
	// A directory that was there before may be open to others.
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("control: %w", err)
	}
	if _, err := Sessions(dir); err != nil { // removes what killed servers left
		return "", err
	}
	s.PID = os.Getpid()
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return "", fmt.Errorf("control: %w", err)
	}
	path = filepath.Join(dir, name+suffix)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("control: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("control: write %s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return path, nil
}

func withdraw(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("control: %w", err)
	}
	return nil
}

// within reports whether path is dir or below it, links followed.
func within(dir, path string) (bool, error) {
	real := func(p string) (string, error) {
		r, err := filepath.EvalSymlinks(p)
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Abs(p)
		}
		return r, err
	}
	d, err := real(dir)
	if err != nil {
		return false, err
	}
	p, err := real(path)
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(d, p)
	if err != nil {
		return false, nil // on another volume
	}
	return rel == "." || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)), nil
}

// Sessions lists the servers of this user whose processes live, by project and
// file. Files of processes that are gone are removed. dir "" is DefaultDir.
func Sessions(dir string) ([]Session, error) {
	var err error
	if dir == "" {
		if dir, err = DefaultDir(); err != nil {
			return nil, err
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	var out []Session
	for _, path := range files {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its server has just stopped
		}
		var s Session
		if err != nil {
			return nil, fmt.Errorf("control: %w", err)
		}
		if err := json.Unmarshal(b, &s); err != nil {
			continue // being written at this moment
		}
		if !alive(s.PID) {
			if err := withdraw(path); err != nil {
				return nil, err
			}
			continue
		}
		s.File = path
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].ProjectDir != out[j].ProjectDir {
			return out[i].ProjectDir < out[j].ProjectDir
		}
		return out[i].File < out[j].File
	})
	return out, nil
}

// Choose picks the server that a person in directory cwd means: the one whose
// project holds cwd, the innermost if several do; else the only one there is.
func Choose(sessions []Session, cwd string) (Session, error) {
	var best []Session
	for _, s := range sessions {
		inside, err := within(s.ProjectDir, cwd)
		if err != nil || !inside {
			continue // a project whose directory is gone is nobody's
		}
		if len(best) > 0 && len(s.ProjectDir) < len(best[0].ProjectDir) {
			continue
		}
		if len(best) > 0 && len(s.ProjectDir) > len(best[0].ProjectDir) {
			best = nil
		}
		best = append(best, s)
	}
	if len(best) == 0 {
		best = sessions
	}
	if len(best) == 1 {
		return best[0], nil
	}
	if len(best) == 0 {
		return Session{}, errors.New("no minido server of this user is running; start one with `minido dev`")
	}
	var b strings.Builder
	b.WriteString("several servers are running; name one with --server URL:")
	for _, s := range best {
		fmt.Fprintf(&b, "\n  --server %s  %s (%s)", s.URL, s.Worker, s.ProjectDir)
	}
	return Session{}, errors.New(b.String())
}
