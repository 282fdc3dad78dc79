package caches

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// CacheStore keeps what workers put into their caches: a file for each response
// below a folder of each cache. Files appear by renaming, so that a crash leaves
// the old response or the new one. Safe for concurrent use.
type Store struct {
	dir    string
	points *killpoint.Points
}

// NewCacheStore keeps responses below dir, which is made when it is needed. Each
// change is an effect of points.
func NewStore(dir string, points *killpoint.Points) *Store {
	return &Store{dir: dir, points: points}
}

// Folder is where a server keeps caches below its directory of state.
func Folder(state string) string { return filepath.Join(state, "v3", "minido-caches") }

// effect changes a cache, between two points.
func (s *Store) effect(cache, what string, fn func() error) error {
	return s.points.Effect(killpoint.Store, "cache/"+cache, what, fn)
}

// cached is a stored response: one line of JSON, then the body.
type cached struct {
	URL        string
	Status     int
	StatusText string
	Header     event.Header
	Stored     int64 // milliseconds since the epoch; 0 in files of earlier versions
	Expires    int64 // milliseconds since the epoch
	body       []byte
}

func (s *Store) path(cache, url string) string {
	name := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	return filepath.Join(s.dir, name(cache)[:32], name(url))
}

// get gives the response stored under a URL; ok is false if there is none or it
// has expired.
func (s *Store) get(cache, url string, now int64) (c cached, ok bool, err error) {
	b, err := os.ReadFile(s.path(cache, url))
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read the cache: %w", err)
	}
	head, body, _ := bytes.Cut(b, []byte("\n"))
	if err := json.Unmarshal(head, &c); err != nil {
		return c, false, fmt.Errorf("read the cache: %s: %w", s.path(cache, url), err)
	}
	c.body = body
	return c, c.URL == url && now < c.Expires, nil
}

// put stores a response.
func (s *Store) put(cache string, c cached) error {
	head, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	path := s.path(cache, c.URL)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	_, err = f.Write(append(append(head, '\n'), c.body...))
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.effect(cache, "put", func() error { return os.Rename(f.Name(), path) })
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the cache: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// remove takes a response away and tells whether there was one.
func (s *Store) remove(cache, url string, now int64) (bool, error) {
	_, found, err := s.get(cache, url, now)
	if err != nil {
		return false, err
	}
	if err := s.effect(cache, "delete", func() error { return os.Remove(s.path(cache, url)) }); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("remove from the cache: %w", err)
	}
	return found, nil
}
