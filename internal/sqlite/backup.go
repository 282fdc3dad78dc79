package sqlite

import (
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// BackupTo writes a consistent copy of the database, as this connection sees
// it, to a file. It is the way to export a live database: reading the file
// itself would miss the WAL, and closing it would drop SQLite's locks. The
// target must not exist or must be a database; its content is replaced. The
// copy is in WAL mode if the source is.
func (c *Conn) BackupTo(path string) error {
	dst, err := Open(Options{Path: path, Now: c.now, Rand: c.rand})
	if err != nil {
		return fmt.Errorf("sqlite: backup of %s: %w", c.path, err)
	}
	err = dst.copyFrom(c)
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("sqlite: backup of %s to %s: %w", c.path, path, err)
	}
	return nil
}

func (c *Conn) copyFrom(src *Conn) error {
	main := cString(c.tls, "main")
	defer free(c.tls, main)
	b := sqlite3.Xsqlite3_backup_init(c.tls, c.db, main, src.db, main)
	if b == 0 {
		return c.errorOf(sqlite3.Xsqlite3_extended_errcode(c.tls, c.db))
	}
	rc := sqlite3.Xsqlite3_backup_step(c.tls, b, -1)
	if fin := sqlite3.Xsqlite3_backup_finish(c.tls, b); rc == sqlite3.SQLITE_DONE {
		rc = fin
	}
	if rc != sqlite3.SQLITE_OK {
		return c.errorOf(rc)
	}
	return nil
}
