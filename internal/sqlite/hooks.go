package sqlite

import (
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Action is what a statement being compiled wants to do
// (https://www.sqlite.org/c3ref/c_alter_table.html). Database is "main" or
// "temp"; Trigger names the innermost trigger or view the access comes from.
type Action struct {
	Code             int
	Arg1, Arg2       string
	HasArg1, HasArg2 bool
	Database         string
	Trigger          string
}

// Verdict is the authorizer's answer.
type Verdict int32

// Verdicts: Deny fails the statement with SQLITE_AUTH.
const (
	Allow Verdict = sqlite3.SQLITE_OK
	Deny  Verdict = sqlite3.SQLITE_DENY
)

// Action codes.
const (
	ActionCreateIndex       = sqlite3.SQLITE_CREATE_INDEX
	ActionCreateTable       = sqlite3.SQLITE_CREATE_TABLE
	ActionCreateTempIndex   = sqlite3.SQLITE_CREATE_TEMP_INDEX
	ActionCreateTempTable   = sqlite3.SQLITE_CREATE_TEMP_TABLE
	ActionCreateTempTrigger = sqlite3.SQLITE_CREATE_TEMP_TRIGGER
	ActionCreateTempView    = sqlite3.SQLITE_CREATE_TEMP_VIEW
	ActionCreateTrigger     = sqlite3.SQLITE_CREATE_TRIGGER
	ActionCreateView        = sqlite3.SQLITE_CREATE_VIEW
	ActionDelete            = sqlite3.SQLITE_DELETE
	ActionDropIndex         = sqlite3.SQLITE_DROP_INDEX
	ActionDropTable         = sqlite3.SQLITE_DROP_TABLE
	ActionDropTrigger       = sqlite3.SQLITE_DROP_TRIGGER
	ActionDropView          = sqlite3.SQLITE_DROP_VIEW
	ActionInsert            = sqlite3.SQLITE_INSERT
	ActionPragma            = sqlite3.SQLITE_PRAGMA
	ActionRead              = sqlite3.SQLITE_READ
	ActionSelect            = sqlite3.SQLITE_SELECT
	ActionTransaction       = sqlite3.SQLITE_TRANSACTION
	ActionUpdate            = sqlite3.SQLITE_UPDATE
	ActionAttach            = sqlite3.SQLITE_ATTACH
	ActionDetach            = sqlite3.SQLITE_DETACH
	ActionAlterTable        = sqlite3.SQLITE_ALTER_TABLE
	ActionReindex           = sqlite3.SQLITE_REINDEX
	ActionAnalyze           = sqlite3.SQLITE_ANALYZE
	ActionCreateVTable      = sqlite3.SQLITE_CREATE_VTABLE
	ActionDropVTable        = sqlite3.SQLITE_DROP_VTABLE
	ActionFunction          = sqlite3.SQLITE_FUNCTION
	ActionSavepoint         = sqlite3.SQLITE_SAVEPOINT
	ActionRecursive         = sqlite3.SQLITE_RECURSIVE
)

var (
	authorizerPtr = funcPtr(authorizerCallback)
	commitPtr     = funcPtr(commitCallback)
	progressPtr   = funcPtr(progressCallback)
)

// SetAuthorizer has f asked about everything that statements want to do while
// they are compiled, also when SQLite compiles one anew inside Step. Setting it
// marks existing statements for recompilation. f must not use the connection.
// nil removes it.
func (c *Conn) SetAuthorizer(f func(Action) Verdict) {
	c.authorize = f
	fn := authorizerPtr
	if f == nil {
		fn = 0
	}
	sqlite3.Xsqlite3_set_authorizer(c.tls, c.db, fn, c.handle)
}

func authorizerCallback(_ *libc.TLS, handle uintptr, code int32, a1, a2, db, trigger uintptr) int32 {
	return int32(connOf(handle).authorize(Action{
		Code: int(code),
		Arg1: goString(a1), HasArg1: a1 != 0,
		Arg2: goString(a2), HasArg2: a2 != 0,
		Database: goString(db), Trigger: goString(trigger),
	}))
}

// SetCommitHook has f called inside each commit that changes the file, before
// it is durable; abort true turns it into a rollback (SQLITE_CONSTRAINT_COMMITHOOK).
// f must not use the connection. nil removes it.
func (c *Conn) SetCommitHook(f func() (abort bool)) {
	c.onCommit = f
	fn := commitPtr
	if f == nil {
		fn = 0
	}
	sqlite3.Xsqlite3_commit_hook(c.tls, c.db, fn, c.handle)
}

func commitCallback(_ *libc.TLS, handle uintptr) int32 {
	if connOf(handle).onCommit() {
		return 1
	}
	return 0
}

// SetProgress has f called about every n virtual-machine instructions; stop
// true interrupts the statement (SQLITE_INTERRUPT). This bounds the work of a
// statement deterministically, unlike Interrupt. f must not use the connection.
// n <= 0 or nil removes it.
func (c *Conn) SetProgress(n int, f func() (stop bool)) {
	c.progress = f
	fn := progressPtr
	if f == nil || n <= 0 {
		fn, n = 0, 0
	}
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, int32(n), fn, c.handle)
}

func progressCallback(_ *libc.TLS, handle uintptr) int32 {
	if connOf(handle).progress() {
		return 1
	}
	return 0
}
