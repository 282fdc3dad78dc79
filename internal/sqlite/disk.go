package sqlite

import (
	"errors"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrDiskFull from Options.BeforeWrite makes a write fail as on a full disk:
// SQLITE_FULL. Any other error makes it an I/O error, SQLITE_IOERR_WRITE.
var ErrDiskFull = errors.New("no space left on device")

// diskMethods follow SQLite's own table of a file's methods in memory.
type diskMethods struct {
	sqlite3.Tsqlite3_io_methods
	base   uintptr // the table that this one is a copy of
	handle uintptr // of the connection
}

var (
	diskOpenPtr  = funcPtr(diskOpen)
	diskWritePtr = funcPtr(diskWrite)
)

// watchDisk has the connection's files ask beforeWrite. It changes the
// connection's own VFS, before the database is opened.
func (c *Conn) watchDisk(v *sqlite3.Tsqlite3_vfs) {
	c.vfsOpen = v.FxOpen
	v.FxOpen = diskOpenPtr
}

func diskOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	c := vfsConn(vfs)
	rc := goFunc[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](c.vfsOpen)(tls, vfs, name, file, flags, outFlags)
	table := (*uintptr)(at(file))
	if rc != sqlite3.SQLITE_OK || *table == 0 {
		return rc
	}
	for _, p := range c.methods {
		if (*diskMethods)(at(p)).base == *table {
			*table = p
			return rc
		}
	}
	p := alloc(tls, int(unsafe.Sizeof(diskMethods{})))
	m := (*diskMethods)(at(p))
	m.Tsqlite3_io_methods = *(*sqlite3.Tsqlite3_io_methods)(at(*table))
	m.base, m.handle, m.FxWrite = *table, c.handle, diskWritePtr
	c.methods = append(c.methods, p)
	*table = p
	return rc
}

func diskWrite(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	m := (*diskMethods)(at(*(*uintptr)(at(file))))
	if err := connOf(m.handle).beforeWrite(); errors.Is(err, ErrDiskFull) {
		return sqlite3.SQLITE_FULL
	} else if err != nil {
		return sqlite3.SQLITE_IOERR_WRITE
	}
	write := (*sqlite3.Tsqlite3_io_methods)(at(m.base)).FxWrite
	return goFunc[func(*libc.TLS, uintptr, uintptr, int32, sqlite3.Tsqlite3_int64) int32](write)(tls, file, data, n, offset)
}
