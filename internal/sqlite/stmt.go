package sqlite

import (
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is one prepared statement. It belongs to its Conn and shares its
// confinement.
type Stmt struct {
	c          *Conn
	p          uintptr // sqlite3_stmt*; 0 once finalized
	sql        string
	params     int
	cols       int
	names      []string
	generation int32 // re-preparations seen when names was made
	readOnly   bool
	bound      bool // whether something is bound, so that ClearBindings has work
	mem        arena
	tally      tally
	prev, next *Stmt
}

// Type is the storage class of a value.
type Type int32

// Storage classes.
const (
	Integer Type = sqlite3.SQLITE_INTEGER
	Float   Type = sqlite3.SQLITE_FLOAT
	Text    Type = sqlite3.SQLITE_TEXT
	Blob    Type = sqlite3.SQLITE_BLOB
	Null    Type = sqlite3.SQLITE_NULL
)

// Prepare compiles the first statement of sql and returns what follows it.
// The statement is nil if there is none (white space or comments). persistent
// says that it will live long, in a cache: it then stays out of the
// connection's small-object memory.
func (c *Conn) Prepare(sql string, persistent bool) (st *Stmt, tail string, err error) {
	if c.db == 0 {
		return nil, "", fmt.Errorf("sqlite: prepare: the connection is closed")
	}
	if c.small {
		c.setLookaside(c.slots)
	}
	z := cString(c.tls, sql)
	defer free(c.tls, z)
	var flags uint32
	if persistent {
		flags = sqlite3.SQLITE_PREPARE_PERSISTENT
	}
	// A length that counts the terminator lets SQLite use the text in place.
	rc := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, z, int32(len(sql)+1), flags, c.out, c.out+8)
	if rc != sqlite3.SQLITE_OK {
		return nil, "", c.errorOf(rc)
	}
	used := len(sql)
	if end := *(*uintptr)(at(c.out + 8)); end != 0 {
		used = min(int(end-z), len(sql))
	}
	p := *(*uintptr)(at(c.out))
	if p == 0 {
		return nil, sql[used:], nil
	}
	st = &Stmt{
		c: c, p: p, sql: sql[:used],
		params:   int(sqlite3.Xsqlite3_bind_parameter_count(c.tls, p)),
		cols:     int(sqlite3.Xsqlite3_column_count(c.tls, p)),
		readOnly: sqlite3.Xsqlite3_stmt_readonly(c.tls, p) != 0,
		next:     c.stmts,
	}
	if c.stmts != nil {
		c.stmts.prev = st
	}
	c.stmts = st
	return st, sql[used:], nil
}

// ReadOnly reports whether the statement cannot change the file. Statements
// that control transactions count as read-only, but for BEGIN IMMEDIATE and
// EXCLUSIVE (sqlite3_stmt_readonly).
func (s *Stmt) ReadOnly() bool { return s.readOnly }

// Params is the number of parameters.
func (s *Stmt) Params() int { return s.params }

func (s *Stmt) check(rc int32) error {
	if rc != sqlite3.SQLITE_OK {
		return s.c.errorOf(rc)
	}
	s.bound = true
	return nil
}

// BindNull binds NULL to parameter i, counted from 1 like all of them.
func (s *Stmt) BindNull(i int) error {
	return s.check(sqlite3.Xsqlite3_bind_null(s.c.tls, s.p, int32(i)))
}

// BindInt64 binds an INTEGER.
func (s *Stmt) BindInt64(i int, v int64) error {
	return s.check(sqlite3.Xsqlite3_bind_int64(s.c.tls, s.p, int32(i), v))
}

// BindFloat64 binds a REAL; NaN becomes NULL.
func (s *Stmt) BindFloat64(i int, v float64) error {
	return s.check(sqlite3.Xsqlite3_bind_double(s.c.tls, s.p, int32(i), v))
}

// BindText binds a copy of v as TEXT; it may contain NUL characters.
func (s *Stmt) BindText(i int, v string) error {
	p := s.mem.alloc(s.c.tls, uintptr(len(v)))
	copy(bytesAt(p, len(v)), v)
	return s.check(sqlite3.Xsqlite3_bind_text(s.c.tls, s.p, int32(i), p, int32(len(v)), sqlite3.SQLITE_STATIC))
}

// BindBlob binds a copy of v as BLOB; nil is an empty blob, not NULL.
func (s *Stmt) BindBlob(i int, v []byte) error {
	p := s.mem.alloc(s.c.tls, uintptr(len(v)))
	copy(bytesAt(p, len(v)), v)
	return s.check(sqlite3.Xsqlite3_bind_blob(s.c.tls, s.p, int32(i), p, int32(len(v)), sqlite3.SQLITE_STATIC))
}

// Bind binds nil, int64, float64, string or []byte.
func (s *Stmt) Bind(i int, v any) error {
	switch v := v.(type) {
	case nil:
		return s.BindNull(i)
	case int64:
		return s.BindInt64(i, v)
	case float64:
		return s.BindFloat64(i, v)
	case string:
		return s.BindText(i, v)
	case []byte:
		return s.BindBlob(i, v)
	}
	return fmt.Errorf("sqlite: cannot bind a %T", v)
}

// Step runs the statement to its next row (true) or its end (false). After the
// end, or an error, the statement must be reset before it is stepped again;
// otherwise SQLite resets it by itself and starts anew.
func (s *Stmt) Step() (row bool, err error) {
	if s.tally.program != 0 {
		s.recount()
	}
	switch rc := sqlite3.Xsqlite3_step(s.c.tls, s.p); rc {
	case sqlite3.SQLITE_ROW:
		if len(s.tally.sizes) > 0 {
			s.tally.noteCounts((*sqlite3.TVdbe)(at(s.p)))
		}
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.errorOf(rc)
	}
}

// Columns is the number of result columns; 0 for statements without a result.
// A statement that SQLite compiled anew after a schema change may have a
// different number than before, from the first Step on.
func (s *Stmt) Columns() int {
	s.refresh()
	return s.cols
}

// ColumnNames are the names of the result columns, in order and with
// duplicates. The slice must not be changed; a later one may differ after a
// schema change.
func (s *Stmt) ColumnNames() []string {
	s.refresh()
	if s.names == nil {
		s.names = make([]string, s.cols)
		for i := range s.names {
			s.names[i] = goString(sqlite3.Xsqlite3_column_name(s.c.tls, s.p, int32(i)))
		}
	}
	return s.names
}

// refresh forgets what a schema change has made wrong.
func (s *Stmt) refresh() {
	g := sqlite3.Xsqlite3_stmt_status(s.c.tls, s.p, sqlite3.SQLITE_STMTSTATUS_REPREPARE, 0)
	if g != s.generation {
		s.generation, s.names = g, nil
		s.cols = int(sqlite3.Xsqlite3_column_count(s.c.tls, s.p))
	}
}

// ColumnType is the storage class of column i (from 0) of the current row.
func (s *Stmt) ColumnType(i int) Type {
	return Type(sqlite3.Xsqlite3_column_type(s.c.tls, s.p, int32(i)))
}

// ColumnInt64 is column i as an integer.
func (s *Stmt) ColumnInt64(i int) int64 {
	return sqlite3.Xsqlite3_column_int64(s.c.tls, s.p, int32(i))
}

// ColumnFloat64 is column i as a floating-point number.
func (s *Stmt) ColumnFloat64(i int) float64 {
	return sqlite3.Xsqlite3_column_double(s.c.tls, s.p, int32(i))
}

// ColumnText is a copy of column i as text.
func (s *Stmt) ColumnText(i int) string {
	p := sqlite3.Xsqlite3_column_text(s.c.tls, s.p, int32(i))
	return string(bytesAt(p, int(sqlite3.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i)))))
}

// ColumnBlob is a copy of column i as bytes; never nil, so that an empty blob
// differs from NULL.
func (s *Stmt) ColumnBlob(i int) []byte {
	p := sqlite3.Xsqlite3_column_blob(s.c.tls, s.p, int32(i))
	return append([]byte{}, bytesAt(p, int(sqlite3.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i))))...)
}

// Column is column i as nil, int64, float64, string or []byte.
func (s *Stmt) Column(i int) any {
	switch s.ColumnType(i) {
	case Integer:
		return s.ColumnInt64(i)
	case Float:
		return s.ColumnFloat64(i)
	case Text:
		return s.ColumnText(i)
	case Blob:
		return s.ColumnBlob(i)
	}
	return nil
}

// Reset makes the statement ready to run again; bindings stay. The error of the
// last Step is not reported again.
func (s *Stmt) Reset() {
	if s.p != 0 {
		sqlite3.Xsqlite3_reset(s.c.tls, s.p)
	}
}

// ClearBindings sets every parameter to NULL and frees the bound bytes. The
// statement must be reset.
func (s *Stmt) ClearBindings() {
	if s.p == 0 || !s.bound {
		return
	}
	sqlite3.Xsqlite3_clear_bindings(s.c.tls, s.p)
	s.mem.reset(s.c.tls)
	s.bound = false
}

// Finalize destroys the statement; doing it twice is allowed.
func (s *Stmt) Finalize() {
	if s.p == 0 {
		return
	}
	sqlite3.Xsqlite3_finalize(s.c.tls, s.p)
	s.mem.release(s.c.tls)
	s.tally.free(s.c)
	s.p = 0
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		s.c.stmts = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
}

// Counters measure the work that a statement did since they were last reset.
type Counters struct {
	// Reads and Writes are the rows that workerd counts as read and written; 0
	// without Count.
	Reads, Writes int64
	// Moves counts the times that a loop over a table or an index advanced to a
	// further row. They are among Reads.
	Moves int64
	// Clears says that the statement may empty a whole table at once; its rows
	// are not among Writes.
	Clears bool
	// Sorts counts sorting operations, Steps virtual-machine instructions.
	Sorts, Steps int64
}

// otherMoves is the counter in which SQLite counts the advances of loops that
// are not full scans. It has no name in the documentation: the virtual
// machine's Next instruction adds to the counter its fifth operand names, which
// is 0 but for full scans.
const otherMoves = 0

// Counters reads the statement's counters; reset sets them to zero.
func (s *Stmt) Counters(reset bool) Counters {
	var r int32
	if reset {
		r = 1
	}
	get := func(op int32) int64 {
		return int64(uint32(sqlite3.Xsqlite3_stmt_status(s.c.tls, s.p, op, r)))
	}
	c := Counters{
		Moves: get(otherMoves) + get(sqlite3.SQLITE_STMTSTATUS_FULLSCAN_STEP) + get(sqlite3.SQLITE_STMTSTATUS_AUTOINDEX),
		Sorts: get(sqlite3.SQLITE_STMTSTATUS_SORT),
		Steps: get(sqlite3.SQLITE_STMTSTATUS_VM_STEP),
	}
	c.Reads = c.Moves
	if s.Counted() {
		reads, writes := s.tally.sum(reset)
		c.Reads, c.Writes, c.Clears = c.Reads+reads, writes, s.tally.clears
	}
	return c
}
