package workerd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/chaos/check"
)

// Still is how long nothing must have changed in the files of a system at rest.
const Still = 1500 * time.Millisecond

// apart are the folders of a state directory that hold nothing of the project's: wrangler
// writes them by itself.
var apart = map[string]bool{"cache": true, "observability": true, "flagship": true}

// Stamp changes whenever a file of the state directory does that is the project's.
//
// # Errors
//
// Those of reading the directory; files that vanish meanwhile are none.
func Stamp(persist string) (string, error) {
	root := filepath.Join(persist, "v3")
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if filepath.Dir(path) == root && apart[d.Name()] {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, "-shm") {
			return nil // readers write it, too
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("workerd: %w", err)
	}
	return b.String(), nil
}

// Rest decides when a server is at rest that cannot be asked: when its files and what
// happens outside of it have not changed for Still, no alarm is due within check.Horizon, and
// so much time has passed as the same clients' run took in minido. A timer that is set for
// longer than that is not seen. Confined to one goroutine.
type Rest struct {
	Persist string
	// Least is how long rest takes at the soonest, from the first call of Reached.
	Least time.Duration

	first, changed time.Time
	stamp          string
	events         int
}

// Reached reports whether the system is at rest now; events is how much has happened
// outside of it. why is what is left to do.
func (r *Rest) Reached(now time.Time, events int) (reached bool, why string, err error) {
	stamp, err := Stamp(r.Persist)
	if err != nil {
		return false, "", err
	}
	if r.first.IsZero() {
		r.first, r.changed = now, now
	}
	if stamp != r.stamp || events != r.events {
		r.stamp, r.events, r.changed = stamp, events, now
	}
	if now.Sub(r.changed) < Still {
		return false, "its files change", nil
	}
	if now.Sub(r.first) < r.Least {
		return false, fmt.Sprintf("in minido it worked for %v", r.Least), nil
	}
	due, err := nextAlarm(r.Persist, now)
	if err != nil {
		return false, "", err
	}
	if due.Set && due.At.Sub(now) <= check.Horizon {
		return false, fmt.Sprintf("an alarm is due in %v", due.At.Sub(now).Round(time.Second)), nil
	}
	return true, "", nil
}

// nextAlarm is the first alarm of all objects.
func nextAlarm(persist string, now time.Time) (first check.Alarm, err error) {
	if _, err := os.Stat(persist); err != nil {
		return first, fmt.Errorf("workerd: %w", err)
	}
	s, err := check.ReadSnapshot(persist, now, false)
	if err != nil {
		return first, fmt.Errorf("workerd: %w", err)
	}
	for _, o := range s.Objects {
		for _, a := range []check.Alarm{o.Row, o.Index} {
			if a.Set && (!first.Set || a.At.Before(first.At)) {
				first = a
			}
		}
	}
	return first, nil
}
