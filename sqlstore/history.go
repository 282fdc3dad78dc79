package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// DefaultHistoryBytes is a reasonable Options.HistoryBytes.
const DefaultHistoryBytes = 64 << 20

const (
	// historyDays is how far back points in time are kept, as in production.
	historyDays = 30
	dayMillis   = 24 * 60 * 60 * 1000
	// markMillis is the least distance of two marks. A commit that is followed
	// by another one within it need not be a point that can be returned to.
	markMillis = 10
	// checkpointFrames is the length of the WAL at which it is archived and
	// checkpointed: SQLite's own default. A checkpoint that a reader prevented
	// is tried again after retryFrames more.
	checkpointFrames = 1000
	retryFrames      = 250
	// summedBytes is up to which size a database file is recognized by its
	// content; a larger one is by size and time of modification alone.
	summedBytes = 16 << 20
)

// history keeps what is needed to return to an earlier state (docs/semantics.md 18), in
// a file of its own beside the database.
//
// The past is a row of segments. The live one is the WAL: it has every commit
// since the segment began, while the database file still has the state at its
// beginning. Before each checkpoint the segment is archived: the pages that it
// changed, as they were at its beginning and at each marked commit, go into the
// history file. Its last state need not be written, for later segments or the
// database have it. A mark is a commit with its time; marks are written as
// commits happen, at most one in 10 ms, so a commit costs nothing else.
//
// Somebody else who changes the file, such as wrangler, breaks the row. The
// WAL's salts and a fingerprint of the file, taken after each checkpoint, tell;
// then a new history begins. Failures of the history never fail a commit: they
// end it, and calls that need it say why. Loop-confined.
type history struct {
	path, wal, database string
	conn                *sqlite.Conn
	clock               clock.Clock
	random              entropy.Source
	sync                bool   // whether what must not be lost is synced
	limit               int64  // bytes of the file
	every               uint32 // frames between checkpoints

	disk *disk.Disk
	f    *disk.File // nil until there is something to write
	size int64      // of the good part of f

	id       [16]byte
	began    int64 // when the state before segment number began to hold
	number   uint32
	salt     walSalt
	known    bool // whether salt is
	from     uint32
	restores uint32

	hooked   uint32 // frames in the WAL, says SQLite
	fired    bool   // whether SQLite said so since the last look
	loose    bool   // whether SQLite's own checkpoint may change the database file
	frames   uint32 // of these, seen by committed
	fresh    bool   // the WAL may begin anew with the next commit
	retry    uint32 // no checkpoint before that many frames
	tail     mark   // the last commit
	marked   bool   // whether tail is written
	lastMark int64  // time of the last mark

	// The last fingerprint of this opening: what the file has but for the pages that a
	// checkpoint is about to move. Its size is 0 if there is none.
	last fingerprint

	// synced is a frame of the WAL's generation up to which it is on the disk. It is
	// set by whoever syncs, on any goroutine.
	synced *atomic.Uint32

	warn func(error)
	err  error // why there is no history
}

// openHistory finds out where the history stands. fresh says that the database
// was created just now. What prevents a history is kept in its err.
func openHistory(o Options, conn *sqlite.Conn, created bool) (*history, *restore) {
	h := &history{
		path: o.Path + "-history", wal: o.Path + "-wal", database: o.Path, conn: conn, disk: o.Disk, warn: o.warn, synced: &atomic.Uint32{},
		clock: o.Clock, random: o.Entropy, sync: o.Sync == sqlite.Full, limit: o.HistoryBytes, fresh: true,
		every: checkpointFrames,
	}
	if o.checkpointFrames != 0 {
		h.every = o.checkpointFrames
	}
	conn.SetWALHook(func(frames int) { h.hooked, h.fired = uint32(frames), true })
	pending, err := h.resume(created)
	if err != nil {
		h.fail(err)
	}
	return h, pending
}

func (h *history) now() int64 { return h.clock.Now().UnixMilli() }

// resume continues the history on disk, or prepares to begin a new one.
func (h *history) resume(created bool) (*restore, error) {
	salt, frames := walSalt{}, uint32(0)
	w, err := openWAL(h.wal)
	switch {
	case err == nil:
		defer w.close()
		salt = w.salt
		if frames, err = w.committed(); err != nil {
			return nil, err
		}
	case !errors.Is(err, errNoWAL):
		return nil, err
	}
	st, err := readHistory(h.path)
	if err != nil {
		return nil, err
	}
	h.checkTail(st)
	h.hooked, h.frames, h.loose = frames, frames, frames > 0
	h.number, h.from = 1, frames
	h.salt, h.known = salt, frames > 0
	h.began = h.now()
	if created {
		h.began = 0 // an object that did not exist was empty all the time
	}
	h.tail, h.marked = mark{frames, h.began}, true
	if st == nil {
		return nil, nil
	}
	if err := h.missing(st, salt, frames); err != nil {
		return nil, err
	}
	if err := h.checkFile(st); err != nil {
		return nil, err
	}
	same := frames > 0 && st.known && st.salt == salt && frames >= st.from
	if !same && (st.file == nil || !h.recognizes(*st.file)) {
		h.number = st.number + 1 // bookmarks stay in order
		return nil, nil
	}
	if h.f, err = h.disk.OpenFile(h.path, os.O_RDWR, 0); err != nil {
		return nil, err
	}
	h.size, h.id, h.number, h.restores = st.end, st.id, st.number, st.restores
	h.began, h.from, h.salt, h.known = st.lastTime(), st.from, st.salt, st.known
	if !same {
		if len(st.marks) > 0 {
			h.number++ // marked commits that are no longer there
		}
		h.from, h.salt, h.known = 0, salt, false
	}
	h.tail, h.lastMark = mark{h.from, h.began}, h.began
	if n := len(st.marks); n > 0 && same {
		h.tail, h.lastMark = st.marks[n-1], st.marks[n-1].time
	}
	if frames > h.tail.frame {
		// Commits of the last moments before a crash.
		h.tail, h.marked = mark{frames, h.tail.time + markMillis - 1}, false
	}
	return st.pending, nil
}

// fail ends the history. The file stays for the next opening, which finds out
// whether it still fits.
func (h *history) fail(err error) {
	h.err = fmt.Errorf("point-in-time recovery of %s ended: %w", h.database, err)
	if h.f != nil {
		h.err = errors.Join(h.err, h.f.Close())
		h.f = nil
	}
}

// records reads the file, which must be there.
func (h *history) records() (*historyState, error) {
	st, err := readHistory(h.path)
	if err == nil && st == nil {
		err = fmt.Errorf("%s has disappeared", h.path)
	}
	return st, err
}

// append writes records at the end of the file, which it creates if need be.
func (h *history) append(sync bool, records ...[]byte) error {
	if h.f == nil {
		if err := h.create(); err != nil {
			return err
		}
	}
	var b []byte
	for _, r := range records {
		b = append(b, r...)
	}
	if _, err := h.f.WriteAt(b, h.size); err != nil {
		return errors.Join(err, h.f.Truncate(h.size))
	}
	h.size += int64(len(b))
	if sync && h.sync {
		return h.f.Sync()
	}
	return nil
}

// create begins the file, with everything that a later opening needs.
func (h *history) create() error {
	f, err := h.disk.OpenFile(h.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	h.f, h.size = f, 0
	if _, err := h.random.Read(h.id[:]); err != nil {
		return err
	}
	v, err := wordsOf(h.id[:], 2)
	if err != nil {
		return err
	}
	records := [][]byte{record(recordStart, words(v[0], v[1], h.began, int64(h.number)))}
	if h.known {
		records = append(records, h.generation())
	} else if fp, err := h.fingerprint(pagesSummed); err != nil {
		return err
	} else {
		records = append(records, fp.record())
	}
	if h.sync {
		if err := h.disk.SyncDir(filepath.Dir(h.path)); err != nil {
			return err
		}
	}
	return h.append(true, records...)
}

func (h *history) generation() []byte {
	return record(recordGeneration, words(int64(h.number), int64(h.salt[0]), int64(h.salt[1]), int64(h.from)))
}

// committed takes note of the commit that has just happened, if it wrote, and
// archives and checkpoints the WAL when it is long.
func (h *history) committed() {
	if !h.fired {
		return
	}
	h.fired, h.loose = false, true
	if h.err == nil {
		if err := h.note(); err != nil {
			h.fail(err)
		}
	}
	if h.err != nil && h.hooked < h.from {
		h.from, h.retry = 0, 0
	}
	h.frames = h.hooked
	if h.frames-min(h.from, h.frames) >= h.every && h.frames >= h.retry {
		h.checkpoint()
	}
}

// note writes the marks that are due.
func (h *history) note() error {
	var records [][]byte
	if h.fresh || !h.known {
		w, err := openWAL(h.wal)
		if err != nil {
			return err
		}
		w.close()
		if !h.known || w.salt != h.salt {
			h.salt, h.known, h.from, h.frames = w.salt, true, 0, 0
			h.synced = &atomic.Uint32{}
			h.tail, h.marked = mark{0, h.tail.time}, true
			if h.f != nil {
				records = append(records, h.generation())
			}
		}
		h.fresh = false
	}
	now := h.now()
	if !h.marked && (now >= h.tail.time+markMillis || now < h.tail.time) {
		records = append(records, h.mark(h.tail))
		h.lastMark = h.tail.time
	}
	h.tail, h.marked = mark{h.hooked, now}, false
	if now >= h.lastMark+markMillis || now < h.lastMark {
		records = append(records, h.mark(h.tail))
		h.lastMark, h.marked = now, true
	}
	if len(records) == 0 {
		return nil
	}
	return h.append(false, records...)
}

// mark is the record of a mark.
func (h *history) mark(m mark) []byte {
	return record(recordMark, words(int64(m.frame), m.time, int64(min(h.synced.Load(), m.frame))))
}

// flush makes the last commit a point that can be returned to.
func (h *history) flush() error {
	if h.marked && h.f != nil {
		return nil
	}
	if !h.marked {
		if err := h.append(true, h.mark(h.tail)); err != nil {
			return err
		}
		h.lastMark, h.marked = h.tail.time, true
		return nil
	}
	return h.append(true)
}

// checkpoint archives the live segment and lets SQLite move it into the
// database file. A reader may prevent the latter for now.
func (h *history) checkpoint() {
	var moving []uint32
	if h.err == nil && h.frames > h.from {
		var err error
		if moving, err = h.archive(); err != nil {
			h.fail(err)
		}
	}
	h.retry = h.frames + retryFrames
	if h.err != nil {
		// A history that the database outruns would give wrong states.
		h.from = h.frames
		h.err = errors.Join(h.err, h.remove())
	}
	rest, known := h.without(moving)
	h.last = fingerprint{}
	frames, err := h.conn.Checkpoint()
	if err != nil {
		return // tried again: nothing depends on a checkpoint
	}
	h.fresh, h.retry, h.loose = true, 0, false
	if h.err != nil || h.f == nil {
		return
	}
	var fp fingerprint
	if known && frames == int(h.frames) { // else another process has committed meanwhile
		fp, err = h.with(rest, moving)
	} else {
		fp, err = h.fingerprint(pagesSummed)
	}
	if err == nil {
		h.last = fp
		// Synced before the WAL begins anew or is deleted: from then on it alone says
		// that the database file is the one that the history goes on from.
		err = h.append(true, fp.record())
	}
	if err == nil && h.size > h.limit {
		err = h.shorten()
	}
	if err != nil {
		h.fail(err)
	}
}

// close archives what the next opening could not, since SQLite deletes the WAL;
// not of a database that is damaged.
func (h *history) close(archive bool) error {
	if archive && h.err == nil && h.f != nil && h.loose {
		h.checkpoint()
	}
	if h.f == nil {
		return nil
	}
	f := h.f
	h.f = nil
	return f.Close()
}

// remove deletes the file, which no longer fits what the database is to become.
func (h *history) remove() error {
	if err := h.disk.Remove(h.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
