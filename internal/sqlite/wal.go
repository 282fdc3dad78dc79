package sqlite

import (
	"fmt"
	"io"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

var walPtr = funcPtr(walCallback)

// SetWALHook has f called after each commit of a statement in WAL mode, with
// the number of frames that the WAL then has. It takes the place of SQLite's
// automatic checkpoints: call Checkpoint. f may use the connection for
// Checkpoint and ReadAt only.
func (c *Conn) SetWALHook(f func(frames int)) {
	c.onWAL = f
	sqlite3.Xsqlite3_wal_hook(c.tls, c.db, walPtr, c.handle)
}

func walCallback(_ *libc.TLS, handle, _, _ uintptr, frames int32) int32 {
	connOf(handle).onWAL(int(frames))
	return sqlite3.SQLITE_OK
}

// Checkpoint copies as much of the WAL into the database file as nobody's
// reading prevents (SQLITE_CHECKPOINT_PASSIVE). It fails with SQLITE_LOCKED
// while the connection itself reads or writes. frames is how many the WAL had.
func (c *Conn) Checkpoint() (frames int, err error) {
	if rc := sqlite3.Xsqlite3_wal_checkpoint_v2(c.tls, c.db, 0, sqlite3.SQLITE_CHECKPOINT_PASSIVE, c.out, 0); rc != sqlite3.SQLITE_OK {
		return 0, fmt.Errorf("sqlite: checkpoint: %w", c.errorOf(rc))
	}
	return int(*(*int32)(at(c.out))), nil
}

// file is SQLite's own handle on the database file. Reading through it is safe,
// where opening and closing the file would drop SQLite's locks.
func (c *Conn) file() (file uintptr, methods *sqlite3.Tsqlite3_io_methods, err error) {
	if rc := sqlite3.Xsqlite3_file_control(c.tls, c.db, 0, sqlite3.SQLITE_FCNTL_FILE_POINTER, c.out); rc != sqlite3.SQLITE_OK {
		return 0, nil, c.errorOf(rc)
	}
	file = *(*uintptr)(at(c.out))
	if m := *(*uintptr)(at(file)); m != 0 {
		return file, (*sqlite3.Tsqlite3_io_methods)(at(m)), nil
	}
	return 0, nil, fmt.Errorf("sqlite: %s has no file", c.path)
}

// FileSize is the length of the database file, without the WAL.
func (c *Conn) FileSize() (int64, error) {
	f, m, err := c.file()
	if err != nil {
		return 0, err
	}
	size := goFunc[func(*libc.TLS, uintptr, uintptr) int32](m.FxFileSize)
	if rc := size(c.tls, f, c.out); rc != sqlite3.SQLITE_OK {
		return 0, fmt.Errorf("sqlite: size of %s: %s", c.path, codeName(int(rc)))
	}
	return *(*int64)(at(c.out)), nil
}

// ReadAt reads the database file as it is, without the WAL.
func (c *Conn) ReadAt(p []byte, off int64) (int, error) {
	f, m, err := c.file()
	if err != nil {
		return 0, err
	}
	buf := alloc(c.tls, len(p))
	defer free(c.tls, buf)
	read := goFunc[func(*libc.TLS, uintptr, uintptr, int32, sqlite3.Tsqlite3_int64) int32](m.FxRead)
	switch rc := read(c.tls, f, buf, int32(len(p)), off); rc {
	case sqlite3.SQLITE_OK:
		return copy(p, bytesAt(buf, len(p))), nil
	case sqlite3.SQLITE_IOERR_SHORT_READ:
		return 0, fmt.Errorf("sqlite: read %s: %w", c.path, io.ErrUnexpectedEOF)
	default:
		return 0, fmt.Errorf("sqlite: read %s: %s", c.path, codeName(int(rc)))
	}
}

// goFunc is the Go function behind the address that translated C code calls;
// the inverse of funcPtr.
func goFunc[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ p uintptr }{p})) }

// CopyFrom replaces the database's content with that of another one, in one
// transaction that is committed. The connection must not be in a transaction.
func (c *Conn) CopyFrom(src *Conn) error {
	if err := c.copyFrom(src); err != nil {
		return fmt.Errorf("sqlite: copy %s to %s: %w", src.path, c.path, err)
	}
	return nil
}
