package control

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/sqlstore"
)

// maxMoments bounds the answer of POST /v1/moments.
const maxMoments = 2000

// ObjectRequest is the body of requests that name an object.
type ObjectRequest struct {
	Class  string `json:"class"`
	Object string `json:"object"`
}

// PastRequest is the body of POST /v1/moments.
type PastRequest struct {
	Class  string `json:"class"`
	Object string `json:"object"`
	// Facet is the facet whose past it is, whether it runs or not: the names that lead to it.
	Facet []string `json:"facet,omitempty"`
}

// Moment is a committed state that the object can return to.
type Moment struct {
	Bookmark string `json:"bookmark"`
	AtMs     int64  `json:"at_ms"`
}

// Moments is the answer of POST /v1/moments: the oldest first, the last one is
// the present.
type Moments struct {
	Moments []Moment `json:"moments"`
}

func (c *Control) moments(w http.ResponseWriter, r *http.Request) {
	var req PastRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	answer := make(chan []sqlstore.Moment, 1)
	err := c.wait(r, answerTime, func(done func(error)) {
		ref.Moments(req.Facet, maxMoments, func(list []sqlstore.Moment, err error) {
			answer <- list
			done(err)
		})
	})
	if err != nil {
		failWith(w, err)
		return
	}
	out := Moments{[]Moment{}}
	for _, m := range <-answer {
		out.Moments = append(out.Moments, Moment{m.Bookmark, m.Time})
	}
	reply(w, http.StatusOK, out)
}

// RestoreRequest is the body of POST /v1/restore.
type RestoreRequest struct {
	Class    string   `json:"class"`
	Object   string   `json:"object"`
	Facet    []string `json:"facet,omitempty"` // see PastRequest
	Bookmark string   `json:"bookmark"`
}

// Restored is its answer: the bookmark that undoes the restore.
type Restored struct {
	Undo string `json:"undo"`
}

func (c *Control) restore(w http.ResponseWriter, r *http.Request) {
	var req RestoreRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	answer := make(chan string, 1)
	err := c.wait(r, answerTime, func(done func(error)) {
		ref.Restore(req.Facet, req.Bookmark, func(undo string, err error) {
			answer <- undo
			done(err)
		})
	})
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, Restored{<-answer})
}

// states writes states of the past into files of their own and calls use with
// their paths; the files are gone when it returns.
func (c *Control) states(r *http.Request, ref pool.Ref, facet, bookmarks []string, use func(paths []string) error) (err error) {
	dir, err := os.MkdirTemp("", "minido-past-")
	if err != nil {
		return fmt.Errorf("control: past: %w", err)
	}
	late := false // the loop may still write into the directory, which is the system's to clear
	defer func() {
		if !late {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	var paths []string
	for i, b := range bookmarks {
		path := filepath.Join(dir, fmt.Sprint(i, ".sqlite"))
		written := c.wait(r, answerTime, func(done func(error)) {
			ref.WriteState(facet, b, path, done)
		})
		if written != nil {
			late = errors.Is(written, errSlow) || r.Context().Err() != nil
			return written
		}
		paths = append(paths, path)
	}
	return use(paths)
}
