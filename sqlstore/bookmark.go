package sqlstore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"minido.dev/minido/internal/sqlite"
)

// undoFlag marks, in the third part of a bookmark, one that undoes a restore,
// whose number is in the low half.
const undoFlag = 0xffff0000

// A bookmark is made of segment, frame, flag and the history's id, in
// hexadecimal. Like production's, those of one object sort in order of time.
func (h *history) bookmark(p point, flag uint32) string {
	return fmt.Sprintf("%08x-%08x-%08x-%s", p.segment, p.frame, flag, hex.EncodeToString(h.id[:]))
}

// here is the last committed state. The state in which a segment begins has
// frame 0, wherever in the WAL that is.
func (h *history) here() point {
	if h.frames == h.from {
		return point{h.number, 0}
	}
	return point{h.number, h.frames}
}

func (h *history) parse(bookmark string) (p point, flag uint32, err error) {
	var id string
	n, err := fmt.Sscanf(bookmark, "%08x-%08x-%08x-%32s", &p.segment, &p.frame, &flag, &id)
	if n != 4 || err != nil || h.bookmark(p, flag) != bookmark {
		return p, flag, refuse(fmt.Sprintf("%q is not a bookmark of this Durable Object's history, which may have begun anew since.", bookmark))
	}
	return p, flag, nil
}

// readyHistory gives the history, or says why there is none.
func (s *Store) readyHistory() (*history, error) {
	switch {
	case s.conn == nil:
		return nil, ErrClosed
	case s.history == nil:
		return nil, refuse("This Durable Object's storage keeps no history for point-in-time recovery.")
	case s.history.err != nil:
		return nil, s.history.err
	}
	return s.history, nil
}

// CurrentBookmark names the last committed state. What the open transaction has
// written does not belong to it.
func (s *Store) CurrentBookmark() (string, error) {
	h, err := s.readyHistory()
	if err != nil {
		return "", err
	}
	if err := h.flush(); err != nil {
		return "", fmt.Errorf("sqlstore: bookmark: %w", err)
	}
	return h.bookmark(h.here(), 0), nil
}

// BookmarkForTime names the last state that was committed at or before a time
// in milliseconds since the Unix epoch. Commits less than 10 ms apart may count
// as one. Times after now mean now; a time before the history begins is an
// error. Times after which the clock was set back are those of the clock then.
func (s *Store) BookmarkForTime(ms int64) (string, error) {
	h, err := s.readyHistory()
	if err != nil {
		return "", err
	}
	if ms < h.now()-historyDays*dayMillis {
		return "", refuse(fmt.Sprintf("Point-in-time recovery goes back %d days at most.", historyDays))
	}
	if err := h.flush(); err != nil {
		return "", fmt.Errorf("sqlstore: bookmark: %w", err)
	}
	st, err := h.records()
	if err != nil {
		return "", fmt.Errorf("sqlstore: bookmark: %w", err)
	}
	for i := len(st.marks) - 1; i >= 0; i-- {
		if m := st.marks[i]; m.time <= ms {
			return h.bookmark(point{h.number, m.frame}, 0), nil
		}
	}
	began := h.began
	for i := len(st.segments) - 1; i >= 0; i-- {
		ref := st.segments[i]
		seg, err := loadSegment(h.f, ref)
		if err != nil {
			return "", fmt.Errorf("sqlstore: bookmark: %w", err)
		}
		for j := len(seg.points) - 1; j >= 0; j-- {
			if seg.points[j].time <= ms {
				return h.bookmark(seg.point(j), 0), nil
			}
		}
		began = ref.first
	}
	if began <= ms {
		return h.bookmark(point{h.number, 0}, 0), nil
	}
	return "", refuse(fmt.Sprintf("The history of this Durable Object begins at %s.", time.UnixMilli(began).UTC().Format(time.RFC3339Nano)))
}

// RestoreOnNextOpen has the next Open return to the state that a bookmark names.
// It is on disk when it returns. The bookmark that it gives names the state just
// before the restore, and can be used once the restore has happened. Asking
// again replaces what was asked for.
func (s *Store) RestoreOnNextOpen(bookmark string) (undo string, err error) {
	h, err := s.readyHistory()
	if err != nil {
		return "", err
	}
	if h.f == nil {
		if err := h.flush(); err != nil {
			return "", fmt.Errorf("sqlstore: restore: %w", err)
		}
	}
	target, flag, err := h.parse(bookmark)
	if err != nil {
		return "", err
	}
	st, err := h.records()
	if err != nil {
		return "", fmt.Errorf("sqlstore: restore: %w", err)
	}
	if flag >= undoFlag {
		p, done := st.undo[flag-undoFlag]
		if !done {
			return "", refuse("The restore that this bookmark undoes has not happened yet.")
		}
		target = p
	}
	if err := h.reconstruct(st, target, func(_ uint32, _ []byte) error { return errChecked }); !errors.Is(err, errChecked) {
		return "", err
	}
	id := st.restores + 1
	if err := h.append(true, record(recordRestore, words(int64(id), int64(target.segment), int64(target.frame)))); err != nil {
		return "", fmt.Errorf("sqlstore: restore: %w", err)
	}
	return h.bookmark(h.here(), undoFlag+id), nil
}

// errChecked ends a reconstruction that was only to find out whether it is possible.
var errChecked = errors.New("possible")

// reconstruct gives the pages of a state, in order.
func (h *history) reconstruct(st *historyState, target point, give func(page uint32, content []byte) error) error {
	r, err := h.reader(st, target)
	if err != nil {
		return err
	}
	defer r.close()
	for page := uint32(1); page <= r.pages; page++ {
		b, err := r.read(page)
		if err == nil {
			err = give(page, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stateReader reads the pages of one state of the past.
type stateReader struct {
	h      *history
	w      *walFile // nil without a WAL
	base   *base
	pages  uint32
	frames map[uint32]uint32 // pages in the WAL
	stored map[uint32]int64  // pages in the history file: their offsets
	buf    []byte
}

func (r *stateReader) close() {
	if r.w != nil {
		r.w.close()
	}
}

func (r *stateReader) read(page uint32) ([]byte, error) {
	if off, ok := r.stored[page]; ok {
		_, err := r.h.f.ReadAt(r.buf, off)
		return r.buf, err
	}
	if n := r.frames[page]; n != 0 {
		return r.buf, r.w.page(n, r.buf)
	}
	return r.buf, r.base.read(page, r.buf)
}

// reader finds out where each page of a state is.
func (h *history) reader(st *historyState, target point) (*stateReader, error) {
	r := &stateReader{h: h, frames: map[uint32]uint32{}, stored: map[uint32]int64{}}
	heads, err := h.openFor(r)
	if err != nil {
		return nil, err
	}
	if r.base, err = h.baseOf(r.w, heads); err != nil {
		r.close()
		return nil, err
	}
	r.buf = make([]byte, r.base.pageSize)
	found := false
	if target.segment == h.number && (target.frame == 0 || h.from < target.frame && target.frame <= uint32(len(heads))) {
		found, r.pages = true, r.base.pages
		for n := h.from + 1; n <= target.frame; n++ {
			r.frames[heads[n-1].page] = n
			if c := heads[n-1].commit; c != 0 {
				r.pages = c
			}
		}
	}
	for _, ref := range st.segments {
		if ref.number < target.segment || !found && ref.number != target.segment {
			continue
		}
		seg, err := loadSegment(h.f, ref)
		if err == nil {
			err = r.overlay(seg, target, &found)
		}
		if err != nil {
			r.close()
			return nil, err
		}
	}
	if !found {
		r.close()
		return nil, refuse("The state that this bookmark names is no longer kept.")
	}
	return r, nil
}

// openFor opens the WAL, if it belongs to the history, and reads its frames' headers.
func (h *history) openFor(r *stateReader) ([]frameHead, error) {
	w, err := openWAL(h.wal)
	if errors.Is(err, errNoWAL) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if w.salt != h.salt {
		w.close()
		return nil, nil
	}
	r.w = w
	heads, err := w.heads(1, h.frames)
	if err != nil {
		w.close()
		return nil, err
	}
	return heads, nil
}

// overlay takes from a segment what differs from later states: the first one
// has the target, in later ones the pages' first content counts.
func (r *stateReader) overlay(seg *segment, target point, found *bool) error {
	point := 0
	if !*found {
		var ok bool
		if point, ok = seg.at(target.frame); !ok {
			return nil
		}
		*found, r.pages = true, seg.points[point].pages
		if point == len(seg.points)-1 {
			return nil // the state after the segment
		}
	}
	fixed := map[uint32]bool{}
	for i, v := range seg.versions {
		if _, earlier := r.stored[v.page]; earlier && !fixed[v.page] || int(v.point) > point {
			continue
		}
		fixed[v.page] = true
		r.stored[v.page] = seg.data + int64(i)*int64(seg.pageSize)
	}
	return nil
}

// setUpHistory finds the history and does the restore that was asked for.
func (s *Store) setUpHistory(o Options, created bool) error {
	o.Entropy = o.Entropy.Fork("history")
	h, pending := openHistory(o, s.conn, created)
	s.history = h
	var damaged *CorruptError
	if errors.As(h.err, &damaged) {
		return damaged
	}
	if h.err != nil {
		o.warn(&DamageWarning{h.path, h.err.Error()})
	}
	if pending == nil || h.err != nil {
		return nil
	}
	do := func() error { return s.restore(o, *pending) }
	var err error
	if o.OnRestore != nil {
		err = o.OnRestore(do)
	} else {
		err = do()
	}
	if err == nil {
		return nil
	}
	gaveUp := h.append(true, record(recordRestored, nil))
	return errors.Join(fmt.Errorf("restore to the bookmark that was asked for: %w; the object keeps the state that it had", err), gaveUp, h.close(true))
}

// restore makes the pages of the target a database of their own, checks that
// one, and copies it over the present state in one transaction. A crash on the
// way leaves the restore pending.
func (s *Store) restore(o Options, r restore) error {
	h := s.history
	if err := h.flush(); err != nil {
		return err
	}
	st, err := h.records()
	if err != nil {
		return err
	}
	from := h.here()
	if err := h.append(true, record(recordRestoring, words(int64(r.id), int64(from.segment), int64(from.frame)))); err != nil {
		return err
	}
	tmp := h.path + ".restore"
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			os.Remove(tmp + suffix) // a leftover is overwritten by the next restore
		}
	}()
	if err := h.writeState(st, r.target, tmp); err != nil {
		return err
	}
	src, err := sqlite.Open(sqlite.Options{Path: tmp, MustExist: true, Now: o.Clock.Now, Rand: o.Entropy})
	if err != nil {
		return err
	}
	if err = checkStructure(src); err != nil {
		err = fmt.Errorf("the reconstructed state is damaged: %w", err)
	}
	if err == nil {
		err = s.conn.CopyFrom(src)
	}
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	s.forgetTables()
	// The copy has to be on the disk before the history says that it is.
	s.unsynced = s.syncLater
	if err := s.Sync(); err != nil {
		return err
	}
	// SQLite announces the copy's commit after the next statement only.
	if err := s.conn.Exec("SELECT 1"); err != nil {
		return err
	}
	h.committed()
	if h.err != nil {
		return h.err
	}
	return h.append(true, record(recordRestored, nil))
}

// writeState writes the pages of a state into a file, as a database without a WAL.
func (h *history) writeState(st *historyState, target point, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = h.reconstruct(st, target, func(page uint32, b []byte) error {
		if page == 1 {
			b[18], b[19] = 1, 1 // versions of the format: rollback journal
		}
		_, err := f.Write(b)
		return err
	})
	return errors.Join(err, f.Close())
}
