package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Shrink gives back what the connection can read again: the pages of its cache,
// and the part of the log's index that it has mapped; and, unless a statement
// uses it, what is reserved for small objects. Prepared statements stay.
func (c *Conn) Shrink() {
	c.setLookaside(0)
	sqlite3.Xsqlite3_db_release_memory(c.tls, c.db)
	file, methods, err := c.mainFile()
	if err != nil || methods == nil || methods.FiVersion < 2 {
		return
	}
	mapping := goFunc[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](methods.FxShmMap)
	const region = 32 << 10 // bytes that SQLite maps at a time
	for i := int32(0); ; i++ {
		*(*uintptr)(at(c.out)) = 0
		if rc := mapping(c.tls, file, i, region, 0, c.out); rc != sqlite3.SQLITE_OK {
			return
		}
		p := *(*uintptr)(at(c.out))
		if p == 0 {
			return
		}
		forget(unsafe.Slice((*byte)(at(p)), region))
	}
}

// mainFile is SQLite's handle of the database file; methods is nil if the
// database is in memory.
func (c *Conn) mainFile() (file uintptr, methods *sqlite3.Tsqlite3_io_methods, err error) {
	main := cString(c.tls, "main")
	defer free(c.tls, main)
	if rc := sqlite3.Xsqlite3_file_control(c.tls, c.db, main, sqlite3.SQLITE_FCNTL_FILE_POINTER, c.out); rc != sqlite3.SQLITE_OK {
		return 0, nil, c.errorOf(rc)
	}
	file = *(*uintptr)(at(c.out))
	return file, (*sqlite3.Tsqlite3_io_methods)(at((*sqlite3.Tsqlite3_file)(at(file)).FpMethods)), nil
}
