package sqlstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"minido.dev/minido/internal/sqlite"
)

// DamageWarning is what a store found wrong with its files and went on without:
// something that is not there any more, or not as it was left. Options.Warn is
// told. Immutable.
type DamageWarning struct {
	Path string // the file
	Text string // what is wrong, and what follows
}

// Error implements error.
func (w *DamageWarning) Error() string { return w.Path + ": " + w.Text }

// checkPresent refuses a database that is gone or empty although something beside
// it shows that it held data: opening it would begin anew in silence.
func checkPresent(path string) error {
	witness := held(path)
	if witness == "" {
		return nil
	}
	return &CorruptError{Path: path, Err: fmt.Errorf("it is missing or empty, and %s shows that it held data", witness),
		Way: "restore it from a copy, or move " + witness + " away to start this object empty"}
}

// missing compares the WAL, whose valid frames are given, with what the history
// says of it. Commits that a sync had put on the disk cannot vanish, but by
// damage: they are an error. Others a loss of power may take; their marks are
// forgotten, and a warning tells.
func (h *history) missing(st *historyState, salt walSalt, frames uint32) error {
	there := frames
	if st.salt != salt || frames < st.from {
		there = 0
		if st.file == nil || !h.recognizes(*st.file) {
			return nil // another program has checkpointed it, see foreign
		}
	}
	lost := slices.IndexFunc(st.marks, func(m mark) bool { return m.frame > there })
	if st.known && st.synced > there && st.synced > st.from {
		return &CorruptError{Path: h.wal, Err: fmt.Errorf("its valid part ends at frame %d, and %d frames had reached the disk", there, st.synced),
			Way: "restore it from a copy, or move " + h.path + " away to go on with what is left"}
	}
	if lost < 0 {
		return nil
	}
	h.warn(&DamageWarning{h.wal, fmt.Sprintf("it ends before %d commits that %s lists, of %s to %s; a loss of power may have taken them before anyone saw them, else the file was damaged: this object goes on without them",
		len(st.marks)-lost, h.path, instant(st.marks[lost].time), instant(st.marks[len(st.marks)-1].time))})
	st.marks = st.marks[:lost]
	return nil
}

// checkTail warns of a history file whose end makes no sense: of st, nil for none,
// is what could be read.
func (h *history) checkTail(st *historyState) {
	info, err := os.Stat(h.path)
	if err != nil || info.Size() == 0 || st != nil && st.end == info.Size() {
		return
	}
	end := int64(0)
	if st != nil {
		end = st.end
	}
	h.warn(&DamageWarning{h.path, fmt.Sprintf("%d bytes of it make sense, of %d; a loss of power or damage: states of the object that only the rest knew cannot be returned to", end, info.Size())})
}

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// checkFile looks at a database file that is not the one which the last
// checkpoint left: another program has written it, or it is damaged. A damaged
// structure is an error; the rest is a warning.
func (h *history) checkFile(st *historyState) error {
	if st.file == nil || st.stale { // a checkpoint was under way
		return nil
	}
	now, err := h.fingerprint(st.file.summed)
	if err != nil {
		return err
	}
	if now.size == st.file.size && now.sum == st.file.sum && now.summed == st.file.summed {
		return nil
	}
	if err := checkStructure(h.conn); err != nil {
		return &CorruptError{Path: h.database, Err: err}
	}
	h.warn(&DamageWarning{h.database, "another program has changed it since minido closed it, or it was damaged in a way that leaves its structure sound: compare it with a copy if nothing else has used it"})
	return nil
}

// checkStructure is SQLite's own check of the whole file.
func checkStructure(c *sqlite.Conn) error {
	st, _, err := c.Prepare("PRAGMA quick_check(1)", false)
	if err != nil {
		return err
	}
	defer st.Finalize()
	row, err := st.Step()
	if err != nil {
		return err
	}
	if text := st.ColumnText(0); !row || text != "ok" {
		return errors.New(text)
	}
	return nil
}

// checkIndex compares the WAL with its index, which a process that was killed
// left behind: a WAL that is shorter than the index says has lost commits.
// It must come before SQLite opens the database, which makes the index anew.
func checkIndex(path string, warn func(error)) error {
	b, err := os.ReadFile(path + "-shm")
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(b) < 48 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sqlstore: open: %w", err)
	}
	// https://www.sqlite.org/walformat.html#the_wal_index_header: of two copies,
	// in the machine's order but for the salts, which are as in the WAL.
	if !slices.Equal(b[:48], b[48:min(96, len(b))]) {
		return nil
	}
	said := binary.NativeEndian.Uint32(b[16:])
	salt := walSalt{binary.BigEndian.Uint32(b[32:]), binary.BigEndian.Uint32(b[36:])}
	frames := uint32(0)
	switch w, err := openWAL(path + "-wal"); {
	case errors.Is(err, errNoWAL):
	case err != nil:
		return fmt.Errorf("sqlstore: open: %w", err)
	default:
		defer w.close()
		if w.salt != salt {
			return nil
		}
		if frames, err = w.committed(); err != nil {
			return fmt.Errorf("sqlstore: open: %w", err)
		}
	}
	if said > frames {
		warn(&DamageWarning{path + "-wal", fmt.Sprintf("its valid part ends at frame %d, its index says %d: what the last commits wrote is lost, by a loss of power or by damage", frames, said)})
	}
	return nil
}

// openFile is the database file that a store has opened. The zero value is that
// of a store in memory.
type openFile struct {
	path string
	info os.FileInfo
}

// stillThere reports, as an error, that the files of an open store have been
// deleted or replaced: what is committed to them is in no file any more.
func (f openFile) stillThere() error {
	if err := f.same(); err != nil || f.info == nil {
		return err
	}
	if _, err := os.Stat(f.path + "-wal"); err != nil {
		return &CorruptError{Path: f.path + "-wal", Err: errors.New("it was deleted while the database was open"), Way: "the last writes are lost; start this object again, or restore it from a copy"}
	}
	return nil
}

// same is stillThere for the database file alone: a log exists only once
// something has been committed.
func (f openFile) same() error {
	if f.info == nil {
		return nil
	}
	info, err := os.Stat(f.path)
	if err == nil && os.SameFile(info, f.info) {
		return nil
	}
	return &CorruptError{Path: f.path, Err: errors.New("it was deleted or replaced while it was open"), Way: "the last writes are lost; start the server again, or restore the file from a copy"}
}
