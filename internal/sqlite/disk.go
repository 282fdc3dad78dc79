package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrDiskFull from Options.BeforeWrite makes a write fail as on a full disk:
// SQLITE_FULL. Any other error makes it an I/O error, SQLITE_IOERR_WRITE.
var ErrDiskFull = errors.New("no space left on device")

// FileObserver is told, after the fact, of what SQLite does to the files of a
// database: the database itself, its log, its journal. It is not told of
// temporary files, nor of the log's index, which is memory. It is called on the
// connection's goroutine and must not use the connection. It stands for the disk:
// a file that is observed is not synced to the real one.
type FileObserver interface {
	// Opened: created says that the file was not there before.
	Opened(path string, created bool)
	Wrote(path string, at int64, data []byte)
	Truncated(path string, size int64)
	Synced(path string)
	Removed(path string)
	// SyncedDir: the names in the directory are durable.
	SyncedDir(dir string)
}

// watchedFile is one of the connection's open files.
type watchedFile struct {
	path string
	// dirSync: the first sync is one of the directory, too (os_unix.c,
	// UNIXFILE_DIRSYNC).
	dirSync bool
}

// diskMethods follow SQLite's own table of a file's methods in memory.
type diskMethods struct {
	sqlite3.Tsqlite3_io_methods
	base   uintptr // the table that this one is a copy of
	handle uintptr // of the connection
}

var (
	diskOpenPtr     = funcPtr(diskOpen)
	diskDeletePtr   = funcPtr(diskDelete)
	diskWritePtr    = funcPtr(diskWrite)
	diskTruncatePtr = funcPtr(diskTruncate)
	diskSyncPtr     = funcPtr(diskSync)
)

// watchDisk has the connection's files ask beforeWrite and tell files. It changes
// the connection's own VFS, before the database is opened.
func (c *Conn) watchDisk(v *sqlite3.Tsqlite3_vfs) {
	c.vfsOpen, c.vfsDelete = v.FxOpen, v.FxDelete
	v.FxOpen = diskOpenPtr
	if c.files != nil {
		c.watched = map[uintptr]*watchedFile{}
		v.FxDelete = diskDeletePtr
	}
}

func diskOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	c := vfsConn(vfs)
	path, created := "", false
	if c.files != nil && name != 0 {
		path = libc.GoString(name)
		_, err := os.Stat(path)
		created = errors.Is(err, os.ErrNotExist)
	}
	rc := goFunc[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](c.vfsOpen)(tls, vfs, name, file, flags, outFlags)
	table := (*uintptr)(at(file))
	if rc != sqlite3.SQLITE_OK || *table == 0 {
		return rc
	}
	if path != "" {
		const journals = sqlite3.SQLITE_OPEN_WAL | sqlite3.SQLITE_OPEN_MAIN_JOURNAL | sqlite3.SQLITE_OPEN_SUPER_JOURNAL
		c.watched[file] = &watchedFile{path: path, dirSync: flags&journals != 0 && flags&sqlite3.SQLITE_OPEN_CREATE != 0}
		c.files.Opened(path, created)
	} else {
		delete(c.watched, file)
	}
	*table = c.methodsOver(tls, *table)
	return rc
}

// methodsOver is the connection's own table of methods over SQLite's.
func (c *Conn) methodsOver(tls *libc.TLS, base uintptr) uintptr {
	for _, p := range c.methods {
		if (*diskMethods)(at(p)).base == base {
			return p
		}
	}
	p := alloc(tls, int(unsafe.Sizeof(diskMethods{})))
	m := (*diskMethods)(at(p))
	m.Tsqlite3_io_methods = *(*sqlite3.Tsqlite3_io_methods)(at(base))
	m.base, m.handle, m.FxWrite = base, c.handle, diskWritePtr
	if c.files != nil {
		m.FxTruncate, m.FxSync = diskTruncatePtr, diskSyncPtr
	}
	c.methods = append(c.methods, p)
	return p
}

// watchedBy finds the connection, SQLite's own methods and, if it is observed,
// the file behind a handle.
func watchedBy(file uintptr) (*Conn, *sqlite3.Tsqlite3_io_methods, *watchedFile) {
	m := (*diskMethods)(at(*(*uintptr)(at(file))))
	c := connOf(m.handle)
	return c, (*sqlite3.Tsqlite3_io_methods)(at(m.base)), c.watched[file]
}

func diskWrite(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	c, base, f := watchedBy(file)
	if c.beforeWrite != nil {
		if err := c.beforeWrite(); errors.Is(err, ErrDiskFull) {
			return sqlite3.SQLITE_FULL
		} else if err != nil {
			return sqlite3.SQLITE_IOERR_WRITE
		}
	}
	rc := goFunc[func(*libc.TLS, uintptr, uintptr, int32, sqlite3.Tsqlite3_int64) int32](base.FxWrite)(tls, file, data, n, offset)
	if rc == sqlite3.SQLITE_OK && f != nil {
		c.files.Wrote(f.path, offset, bytesAt(data, int(n)))
	}
	return rc
}

func diskTruncate(tls *libc.TLS, file uintptr, size sqlite3.Tsqlite3_int64) int32 {
	c, base, f := watchedBy(file)
	rc := goFunc[func(*libc.TLS, uintptr, sqlite3.Tsqlite3_int64) int32](base.FxTruncate)(tls, file, size)
	if rc == sqlite3.SQLITE_OK && f != nil {
		c.files.Truncated(f.path, size)
	}
	return rc
}

func diskSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	c, base, f := watchedBy(file)
	if f == nil {
		return goFunc[func(*libc.TLS, uintptr, int32) int32](base.FxSync)(tls, file, flags)
	}
	c.files.Synced(f.path)
	if f.dirSync {
		f.dirSync = false
		c.files.SyncedDir(filepath.Dir(f.path))
	}
	return sqlite3.SQLITE_OK
}

func diskDelete(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32 {
	c := vfsConn(vfs)
	rc := goFunc[func(*libc.TLS, uintptr, uintptr, int32) int32](c.vfsDelete)(tls, vfs, name, syncDir)
	if rc == sqlite3.SQLITE_OK {
		path := libc.GoString(name)
		c.files.Removed(path)
		if syncDir != 0 {
			c.files.SyncedDir(filepath.Dir(path))
		}
	}
	return rc
}
