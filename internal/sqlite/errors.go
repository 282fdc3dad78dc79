package sqlite

import (
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Error is what SQLite reports. Its text is the one workerd shows to
// applications (util/sqlite.c++): message, byte offset into the statement if
// there is one, primary code, and the extended code where it says more.
// Immutable.
type Error struct {
	// Code is the primary result code, e.g. 19 for SQLITE_CONSTRAINT.
	Code int
	// Extended is the extended result code; equal to Code if there is none.
	Extended int
	// Message is sqlite3_errmsg's text.
	Message string
	// Offset is the byte offset of the offending token in the statement, or -1.
	Offset int
}

// Error implements error.
func (e *Error) Error() string {
	s := e.Message
	if e.Offset >= 0 {
		s = fmt.Sprintf("%s at offset %d", s, e.Offset)
	}
	s += ": " + e.CodeName()
	if e.Extended != e.Code {
		s += " (extended: " + e.ExtendedName() + ")"
	}
	return s
}

// CodeName is the primary code's C name, e.g. "SQLITE_CONSTRAINT".
func (e *Error) CodeName() string { return codeName(e.Code) }

// ExtendedName is the extended code's C name, e.g. "SQLITE_CONSTRAINT_UNIQUE";
// the primary code's where there is no extended one.
func (e *Error) ExtendedName() string { return codeName(e.Extended) }

// IsCode reports whether err is, or wraps, an *Error whose primary or extended
// code is code (one of the constants of this package).
func IsCode(err error, code int) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == code || e.Extended == code)
}

// Result codes that callers distinguish.
const (
	CodeError          = sqlite3.SQLITE_ERROR
	CodeAbort          = sqlite3.SQLITE_ABORT
	CodeAbortRollback  = sqlite3.SQLITE_ABORT_ROLLBACK
	CodeBusy           = sqlite3.SQLITE_BUSY
	CodeLocked         = sqlite3.SQLITE_LOCKED
	CodeReadOnly       = sqlite3.SQLITE_READONLY
	CodeInterrupt      = sqlite3.SQLITE_INTERRUPT
	CodeIOErr          = sqlite3.SQLITE_IOERR
	CodeCorrupt        = sqlite3.SQLITE_CORRUPT
	CodeFull           = sqlite3.SQLITE_FULL
	CodeCantOpen       = sqlite3.SQLITE_CANTOPEN
	CodeTooBig         = sqlite3.SQLITE_TOOBIG
	CodeConstraint     = sqlite3.SQLITE_CONSTRAINT
	CodeMisuse         = sqlite3.SQLITE_MISUSE
	CodeAuth           = sqlite3.SQLITE_AUTH
	CodeNotADB         = sqlite3.SQLITE_NOTADB
	CodeConstraintFKey = sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
)

func codeName(code int) string {
	if n, ok := codeNames[code]; ok {
		return n
	}
	if n, ok := codeNames[code&0xff]; ok {
		return n
	}
	return fmt.Sprintf("SQLITE_UNKNOWN_%d", code)
}

// codeNames has the names of sqlite3.h's result codes.
var codeNames = map[int]string{
	sqlite3.SQLITE_OK: "SQLITE_OK", sqlite3.SQLITE_ERROR: "SQLITE_ERROR", sqlite3.SQLITE_INTERNAL: "SQLITE_INTERNAL",
	sqlite3.SQLITE_PERM: "SQLITE_PERM", sqlite3.SQLITE_ABORT: "SQLITE_ABORT", sqlite3.SQLITE_BUSY: "SQLITE_BUSY",
	sqlite3.SQLITE_LOCKED: "SQLITE_LOCKED", sqlite3.SQLITE_NOMEM: "SQLITE_NOMEM", sqlite3.SQLITE_READONLY: "SQLITE_READONLY",
	sqlite3.SQLITE_INTERRUPT: "SQLITE_INTERRUPT", sqlite3.SQLITE_IOERR: "SQLITE_IOERR", sqlite3.SQLITE_CORRUPT: "SQLITE_CORRUPT",
	sqlite3.SQLITE_NOTFOUND: "SQLITE_NOTFOUND", sqlite3.SQLITE_FULL: "SQLITE_FULL", sqlite3.SQLITE_CANTOPEN: "SQLITE_CANTOPEN",
	sqlite3.SQLITE_PROTOCOL: "SQLITE_PROTOCOL", sqlite3.SQLITE_EMPTY: "SQLITE_EMPTY", sqlite3.SQLITE_SCHEMA: "SQLITE_SCHEMA",
	sqlite3.SQLITE_TOOBIG: "SQLITE_TOOBIG", sqlite3.SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT", sqlite3.SQLITE_MISMATCH: "SQLITE_MISMATCH",
	sqlite3.SQLITE_MISUSE: "SQLITE_MISUSE", sqlite3.SQLITE_NOLFS: "SQLITE_NOLFS", sqlite3.SQLITE_AUTH: "SQLITE_AUTH",
	sqlite3.SQLITE_FORMAT: "SQLITE_FORMAT", sqlite3.SQLITE_RANGE: "SQLITE_RANGE", sqlite3.SQLITE_NOTADB: "SQLITE_NOTADB",
	sqlite3.SQLITE_ROW: "SQLITE_ROW", sqlite3.SQLITE_DONE: "SQLITE_DONE",

	sqlite3.SQLITE_ERROR_MISSING_COLLSEQ: "SQLITE_ERROR_MISSING_COLLSEQ", sqlite3.SQLITE_ERROR_RETRY: "SQLITE_ERROR_RETRY",
	sqlite3.SQLITE_ERROR_SNAPSHOT:     "SQLITE_ERROR_SNAPSHOT",
	sqlite3.SQLITE_ABORT_ROLLBACK:     "SQLITE_ABORT_ROLLBACK",
	sqlite3.SQLITE_BUSY_RECOVERY:      "SQLITE_BUSY_RECOVERY",
	sqlite3.SQLITE_BUSY_SNAPSHOT:      "SQLITE_BUSY_SNAPSHOT",
	sqlite3.SQLITE_BUSY_TIMEOUT:       "SQLITE_BUSY_TIMEOUT",
	sqlite3.SQLITE_LOCKED_SHAREDCACHE: "SQLITE_LOCKED_SHAREDCACHE",
	sqlite3.SQLITE_LOCKED_VTAB:        "SQLITE_LOCKED_VTAB",
	sqlite3.SQLITE_READONLY_RECOVERY:  "SQLITE_READONLY_RECOVERY",
	sqlite3.SQLITE_READONLY_CANTLOCK:  "SQLITE_READONLY_CANTLOCK",
	sqlite3.SQLITE_READONLY_ROLLBACK:  "SQLITE_READONLY_ROLLBACK",
	sqlite3.SQLITE_READONLY_DBMOVED:   "SQLITE_READONLY_DBMOVED",
	sqlite3.SQLITE_READONLY_CANTINIT:  "SQLITE_READONLY_CANTINIT",
	sqlite3.SQLITE_READONLY_DIRECTORY: "SQLITE_READONLY_DIRECTORY",

	sqlite3.SQLITE_IOERR_READ: "SQLITE_IOERR_READ", sqlite3.SQLITE_IOERR_SHORT_READ: "SQLITE_IOERR_SHORT_READ",
	sqlite3.SQLITE_IOERR_WRITE: "SQLITE_IOERR_WRITE", sqlite3.SQLITE_IOERR_FSYNC: "SQLITE_IOERR_FSYNC",
	sqlite3.SQLITE_IOERR_DIR_FSYNC: "SQLITE_IOERR_DIR_FSYNC", sqlite3.SQLITE_IOERR_TRUNCATE: "SQLITE_IOERR_TRUNCATE",
	sqlite3.SQLITE_IOERR_FSTAT: "SQLITE_IOERR_FSTAT", sqlite3.SQLITE_IOERR_UNLOCK: "SQLITE_IOERR_UNLOCK",
	sqlite3.SQLITE_IOERR_RDLOCK: "SQLITE_IOERR_RDLOCK", sqlite3.SQLITE_IOERR_DELETE: "SQLITE_IOERR_DELETE",
	sqlite3.SQLITE_IOERR_NOMEM: "SQLITE_IOERR_NOMEM", sqlite3.SQLITE_IOERR_ACCESS: "SQLITE_IOERR_ACCESS",
	sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK: "SQLITE_IOERR_CHECKRESERVEDLOCK", sqlite3.SQLITE_IOERR_LOCK: "SQLITE_IOERR_LOCK",
	sqlite3.SQLITE_IOERR_CLOSE: "SQLITE_IOERR_CLOSE", sqlite3.SQLITE_IOERR_SHMOPEN: "SQLITE_IOERR_SHMOPEN",
	sqlite3.SQLITE_IOERR_SHMSIZE: "SQLITE_IOERR_SHMSIZE", sqlite3.SQLITE_IOERR_SHMLOCK: "SQLITE_IOERR_SHMLOCK",
	sqlite3.SQLITE_IOERR_SHMMAP: "SQLITE_IOERR_SHMMAP", sqlite3.SQLITE_IOERR_SEEK: "SQLITE_IOERR_SEEK",
	sqlite3.SQLITE_IOERR_DELETE_NOENT: "SQLITE_IOERR_DELETE_NOENT", sqlite3.SQLITE_IOERR_MMAP: "SQLITE_IOERR_MMAP",
	sqlite3.SQLITE_IOERR_GETTEMPPATH: "SQLITE_IOERR_GETTEMPPATH", sqlite3.SQLITE_IOERR_CONVPATH: "SQLITE_IOERR_CONVPATH",
	sqlite3.SQLITE_IOERR_DATA: "SQLITE_IOERR_DATA", sqlite3.SQLITE_IOERR_CORRUPTFS: "SQLITE_IOERR_CORRUPTFS",

	sqlite3.SQLITE_CORRUPT_VTAB: "SQLITE_CORRUPT_VTAB", sqlite3.SQLITE_CORRUPT_SEQUENCE: "SQLITE_CORRUPT_SEQUENCE",
	sqlite3.SQLITE_CORRUPT_INDEX: "SQLITE_CORRUPT_INDEX",

	sqlite3.SQLITE_CANTOPEN_NOTEMPDIR: "SQLITE_CANTOPEN_NOTEMPDIR", sqlite3.SQLITE_CANTOPEN_ISDIR: "SQLITE_CANTOPEN_ISDIR",
	sqlite3.SQLITE_CANTOPEN_FULLPATH: "SQLITE_CANTOPEN_FULLPATH", sqlite3.SQLITE_CANTOPEN_CONVPATH: "SQLITE_CANTOPEN_CONVPATH",
	sqlite3.SQLITE_CANTOPEN_SYMLINK: "SQLITE_CANTOPEN_SYMLINK",

	sqlite3.SQLITE_CONSTRAINT_CHECK: "SQLITE_CONSTRAINT_CHECK", sqlite3.SQLITE_CONSTRAINT_COMMITHOOK: "SQLITE_CONSTRAINT_COMMITHOOK",
	sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: "SQLITE_CONSTRAINT_FOREIGNKEY", sqlite3.SQLITE_CONSTRAINT_FUNCTION: "SQLITE_CONSTRAINT_FUNCTION",
	sqlite3.SQLITE_CONSTRAINT_NOTNULL: "SQLITE_CONSTRAINT_NOTNULL", sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: "SQLITE_CONSTRAINT_PRIMARYKEY",
	sqlite3.SQLITE_CONSTRAINT_TRIGGER: "SQLITE_CONSTRAINT_TRIGGER", sqlite3.SQLITE_CONSTRAINT_UNIQUE: "SQLITE_CONSTRAINT_UNIQUE",
	sqlite3.SQLITE_CONSTRAINT_VTAB: "SQLITE_CONSTRAINT_VTAB", sqlite3.SQLITE_CONSTRAINT_ROWID: "SQLITE_CONSTRAINT_ROWID",
	sqlite3.SQLITE_CONSTRAINT_PINNED: "SQLITE_CONSTRAINT_PINNED", sqlite3.SQLITE_CONSTRAINT_DATATYPE: "SQLITE_CONSTRAINT_DATATYPE",

	sqlite3.SQLITE_AUTH_USER: "SQLITE_AUTH_USER",
}

// errorOf makes the error of a failed call from the connection's state. It must
// be called before any other call on the connection.
func (c *Conn) errorOf(rc int32) *Error {
	e := &Error{Code: int(rc) & 0xff, Extended: int(rc), Offset: -1}
	if c.db == 0 || e.Code == sqlite3.SQLITE_MISUSE || e.Code == sqlite3.SQLITE_NOMEM {
		// These leave no message on the connection.
		e.Message = goString(sqlite3.Xsqlite3_errstr(c.tls, rc))
		return e
	}
	e.Message = goString(sqlite3.Xsqlite3_errmsg(c.tls, c.db))
	if x := int(sqlite3.Xsqlite3_extended_errcode(c.tls, c.db)); x&0xff == e.Code {
		e.Extended = x
	}
	e.Offset = int(sqlite3.Xsqlite3_error_offset(c.tls, c.db))
	return e
}
