package sqlite

import (
	_ "unsafe" // go:linkname

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite compiles a statement anew in sqlite3_step when a value that its plan
// depends on was bound (`LIMIT ?`, `LIKE ?`) or the schema has changed. The program
// that then runs would count nothing, so a statement that counts is compiled anew
// before it is stepped, by the function that sqlite3_step calls for it.

//go:linkname reprepare modernc.org/sqlite/lib._sqlite3Reprepare
func reprepare(tls *libc.TLS, stmt uintptr) int32

// recount has a statement that counts, and that SQLite would compile anew in its next
// step, count in the new program, too. Where it cannot be compiled, the step says why.
func (s *Stmt) recount() {
	v := (*sqlite3.TVdbe)(at(s.p))
	if v.FeVdbeState != sqlite3.VDBE_READY_STATE || sqlite3.Xsqlite3_expired(s.c.tls, s.p) == 0 && !s.Stale() {
		return
	}
	if reprepare(s.c.tls, s.p) == sqlite3.SQLITE_OK {
		s.Count()
	}
}
