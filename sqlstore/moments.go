package sqlstore

import (
	"fmt"
	"slices"
)

// maxStateBytes bounds the states that WriteState writes: it runs on the loop.
const maxStateBytes = 256 << 20

// Moment is a committed state of the past: its bookmark, and when it was
// committed, in milliseconds since the Unix epoch.
type Moment struct {
	Bookmark string
	Time     int64
}

// Past is the history of a store, to look at. It belongs to the store's loop.
type Past struct{ store *Store }

// PastOf is the history of an open store.
func PastOf(s *Store) Past { return Past{s} }

// Moments lists the states that the history can return to, the oldest first and
// at most limit of the newest. The last one is the present state.
func (p Past) Moments(limit int) ([]Moment, error) {
	s := p.store
	now, err := s.CurrentBookmark() // writes the mark of the last commit
	if err != nil {
		return nil, err
	}
	h := s.history
	st, err := h.records()
	if err != nil {
		return nil, fmt.Errorf("sqlstore: moments: %w", err)
	}
	out := []Moment{} // the newest first, until the end
	add := func(at point, ms int64) {
		if b := h.bookmark(at, 0); len(out) == 0 || out[len(out)-1].Bookmark != b {
			out = append(out, Moment{b, ms})
		}
	}
	for _, m := range slices.Backward(st.marks) {
		add(point{h.number, m.frame}, m.time)
	}
	add(point{h.number, 0}, h.began)
	for _, ref := range slices.Backward(st.segments) {
		if len(out) >= limit {
			break
		}
		seg, err := loadSegment(h.f, ref)
		if err != nil {
			return nil, fmt.Errorf("sqlstore: moments: %w", err)
		}
		// The last point of a segment is the state in which the next one begins.
		for i, m := range slices.Backward(seg.points[:max(1, len(seg.points)-1)]) {
			add(seg.point(i), m.time)
		}
	}
	if out[0].Bookmark != now {
		out = slices.Insert(out, 0, Moment{now, max(h.tail.time, out[0].Time)})
	}
	out = out[:min(limit, len(out))]
	slices.Reverse(out)
	return out, nil
}

// WriteState writes the state that a bookmark names into a new file, as a
// database of its own. It refuses states of more than 256 MB.
func (p Past) WriteState(bookmark, path string) error {
	h, err := p.store.readyHistory()
	if err != nil {
		return err
	}
	if err := h.flush(); err != nil {
		return fmt.Errorf("sqlstore: state: %w", err)
	}
	target, flag, err := h.parse(bookmark)
	if err != nil {
		return err
	}
	if flag != 0 {
		return refuse("A bookmark that undoes a restore can be restored, and not looked at.")
	}
	st, err := h.records()
	if err != nil {
		return fmt.Errorf("sqlstore: state: %w", err)
	}
	r, err := h.reader(st, target)
	if err != nil {
		return err
	}
	size := int64(r.pages) * int64(r.base.pageSize)
	r.close()
	if size > maxStateBytes {
		return refuse(fmt.Sprintf("The state has %d bytes; %d at most can be looked at.", size, maxStateBytes))
	}
	if err := h.writeState(st, target, path); err != nil {
		return fmt.Errorf("sqlstore: state: %w", err)
	}
	return nil
}
