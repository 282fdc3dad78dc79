package sqlite

import (
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// workerd counts the rows that a statement reads and writes inside a patched
// virtual machine (its patches/sqlite/0001-row-counts-plain.patch). The machine
// here is as SQLite has it, but its programs are data: Count puts, next to each
// instruction that workerd counts, one that counts how often it is reached.
// That one is OP_Trace: it adds one to its own first operand, and jumps to its
// second, the next instruction.

// countedVersion is the SQLite whose instructions the tables below describe.
// Programs of any other are left alone, and TestCountedVersion fails.
const countedVersion = "3.54.1"

// op is one instruction.
type op = sqlite3.TVdbeOp

const opSize = unsafe.Sizeof(op{})

// jumps says which instructions have an address as their second operand
// (OPFLG_JUMP in SQLite's opcodes.h).
var jumps = opcodes(sqlite3.OP_VFilter, sqlite3.OP_Init, sqlite3.OP_Goto, sqlite3.OP_Gosub, sqlite3.OP_InitCoroutine, sqlite3.OP_Yield,
	sqlite3.OP_MustBeInt, sqlite3.OP_Jump, sqlite3.OP_Once, sqlite3.OP_If, sqlite3.OP_IfNot, sqlite3.OP_IsType, sqlite3.OP_IfNullRow,
	sqlite3.OP_SeekLT, sqlite3.OP_SeekLE, sqlite3.OP_SeekGE, sqlite3.OP_SeekGT, sqlite3.OP_IfNoHope, sqlite3.OP_NoConflict, sqlite3.OP_NotFound,
	sqlite3.OP_Found, sqlite3.OP_SeekRowid, sqlite3.OP_NotExists, sqlite3.OP_Last, sqlite3.OP_IfSizeBetween, sqlite3.OP_SorterSort, sqlite3.OP_Sort,
	sqlite3.OP_Rewind, sqlite3.OP_IfEmpty, sqlite3.OP_SorterNext, sqlite3.OP_Prev, sqlite3.OP_Next, sqlite3.OP_IdxLE, sqlite3.OP_IdxGT,
	sqlite3.OP_IdxLT, sqlite3.OP_IdxGE, sqlite3.OP_IFindKey, sqlite3.OP_RowSetRead, sqlite3.OP_RowSetTest, sqlite3.OP_Program, sqlite3.OP_FkIfZero,
	sqlite3.OP_IsNull, sqlite3.OP_NotNull, sqlite3.OP_Ne, sqlite3.OP_Eq, sqlite3.OP_Gt, sqlite3.OP_Le, sqlite3.OP_Lt, sqlite3.OP_Ge, sqlite3.OP_ElseEq,
	sqlite3.OP_IfPos, sqlite3.OP_IfNotZero, sqlite3.OP_DecrJumpZero, sqlite3.OP_IncrVacuum, sqlite3.OP_VNext, sqlite3.OP_Filter)

func opcodes(list ...uint8) (set [256]bool) {
	for _, o := range list {
		set[o] = true
	}
	return set
}

// Flags in an instruction's fifth operand (sqliteInt.h).
const (
	countsAsChange = 0x01 // OPFLAG_NCHANGE, of writes
	seeksEqual     = 0x02 // OPFLAG_SEEKEQ, of the opening of a cursor
	onlyForHooks   = 0x40 // OPFLAG_ISNOOP, of deletes and inserts
)

// tally finds the counting instructions of a statement. Confined as its Stmt.
type tally struct {
	program       uintptr // the instructions that were put into the statement
	reads, writes []*op   // counting instructions
	misses        []*op   // the same, for reads that were counted and do not count
	sizes         []*op   // OP_Count, which counts as a read of every row
	counted       int64   // what they counted
	clears        bool    // whether a whole table may be emptied at once
	blocks        []uintptr
	schema        int32
}

// Count has the statement count what Counters reports as Reads and Writes. A
// program that cannot be changed safely is left alone: then Counted is false. The
// statement must be persistent and not running.
func (s *Stmt) Count() {
	v := (*sqlite3.TVdbe)(at(s.p))
	if sqlite3.SQLITE_VERSION != countedVersion || s.tally.program == v.FaOp {
		return
	}
	t := &s.tally
	t.free(s.c) // of a program that SQLite has thrown away since
	if fresh, n, ok := t.rewrite(s.c, v.FaOp, int(v.FnOp)); ok {
		t.blocks = append(t.blocks, v.FaOp) // its tail holds the registers
		v.FaOp, v.FnOp = fresh, int32(n)
	}
	for sub := v.FpProgram; sub != 0; {
		p := (*sqlite3.TSubProgram)(at(sub))
		if fresh, n, ok := t.rewrite(s.c, p.FaOp, int(p.FnOp)); ok {
			t.blocks = append(t.blocks, p.FaOp)
			p.FaOp, p.FnOp = fresh, int32(n)
		}
		sub = p.FpNext
	}
	t.program, t.schema = v.FaOp, s.c.schemaCookie()
}

// Stale reports whether the schema has changed since Count, so that SQLite will
// compile the statement anew in its next Step: prepare another.
func (s *Stmt) Stale() bool {
	return s.tally.program != 0 && s.tally.schema != s.c.schemaCookie()
}

// schemaCookie is the number of the schema that the connection has read.
func (c *Conn) schemaCookie() int32 {
	main := (*sqlite3.TDb)(at((*sqlite3.Tsqlite3)(at(c.db)).FaDb))
	return (*sqlite3.TSchema)(at(main.FpSchema)).Fschema_cookie
}

// Counted reports whether the statement counts reads and writes. When it is compiled
// anew before a Step, the new program counts, too, unless it cannot be changed safely.
func (s *Stmt) Counted() bool {
	return s.p != 0 && s.tally.program != 0 && s.tally.program == (*sqlite3.TVdbe)(at(s.p)).FaOp
}

// What an instruction counts as when it is reached.
type kind uint8

const (
	nothing kind = iota
	read
	equal // a read, but not if the instruction jumps: a search for equality
	write
	marked // nothing, but the program is to be changed
)

// rewrite makes a program with counting instructions; ok is false if that is
// not possible, or there is nothing to count.
func (t *tally) rewrite(c *Conn, ops uintptr, n int) (fresh uintptr, length int, ok bool) {
	old := unsafe.Slice((*op)(at(ops)), n)
	kinds, extra := t.kinds(old)
	if extra == 0 {
		return 0, 0, false
	}
	fresh = alloc(c.tls, (n+extra)*int(opSize))
	out := unsafe.Slice((*op)(at(fresh)), n+extra)
	target := make([]int32, n+1) // where a jump to an old address goes
	self := make([]int32, n)     // where the old instruction is
	i := int32(0)
	count := func(list *[]*op, next int32) {
		out[i] = op{Fopcode: sqlite3.OP_Trace, Fp2: next}
		*list = append(*list, &out[i])
		i++
	}
	for j, o := range old {
		target[j] = i
		switch kinds[j] {
		case read, equal:
			count(&t.reads, i+1)
		case write:
			count(&t.writes, i+1)
		}
		self[j] = i
		out[i] = o
		if o.Fopcode == sqlite3.OP_Count && o.Fp3 == 0 {
			t.sizes = append(t.sizes, &out[i])
		}
		i++
	}
	target[n] = i
	for j, o := range old {
		p := &out[self[j]]
		if jumps[o.Fopcode] {
			p.Fp2 = target[o.Fp2]
		}
		switch {
		case kinds[j] == equal:
			miss := i
			count(&t.misses, p.Fp2)
			p.Fp2 = miss
		case o.Fopcode == sqlite3.OP_Jump:
			p.Fp1, p.Fp3 = target[o.Fp1], target[o.Fp3]
		case o.Fopcode == sqlite3.OP_InitCoroutine || o.Fopcode == sqlite3.OP_Init:
			p.Fp3 = target[o.Fp3]
		}
	}
	return fresh, int(i), true
}

// kinds says what each instruction counts as; extra is the number of
// instructions to add, 0 for programs with instructions that depend on their
// neighbours, or that may hold an address where it cannot be told from a number.
func (t *tally) kinds(old []op) (kinds []kind, extra int) {
	transient, exact := map[int32]bool{}, map[int32]bool{} // by cursor
	returns, loaded := map[int32]bool{}, map[int32]bool{}  // by register
	for _, o := range old {
		switch o.Fopcode {
		case sqlite3.OP_SeekScan:
			return nil, 0
		case sqlite3.OP_OpenEphemeral, sqlite3.OP_OpenAutoindex, sqlite3.OP_OpenDup:
			transient[o.Fp1] = true
		case sqlite3.OP_OpenRead, sqlite3.OP_OpenWrite, sqlite3.OP_ReopenIdx:
			exact[o.Fp1] = o.Fp5&seeksEqual != 0
		case sqlite3.OP_Return:
			returns[o.Fp1] = true
		case sqlite3.OP_Integer:
			loaded[o.Fp2] = loaded[o.Fp2] || o.Fp1 != 0
		}
	}
	for r := range returns {
		if loaded[r] {
			return nil, 0
		}
	}
	kinds = make([]kind, len(old))
	for j, o := range old {
		kinds[j] = t.kindOf(o, transient[o.Fp1], exact[o.Fp1])
		switch kinds[j] {
		case read, write:
			extra++
		case equal:
			extra += 2
		case marked:
			t.clears = t.clears || o.Fopcode == sqlite3.OP_Clear
		}
	}
	if kinds[0] != nothing {
		return nil, 0 // address 0 means no jump
	}
	if extra == 0 && len(t.reads)+len(t.writes) == 0 && contains(kinds, marked) {
		extra = 1 // the program is replaced, so that it is known as counted
	}
	return kinds, extra
}

// kindOf follows the patch, instruction by instruction.
func (t *tally) kindOf(o op, transient, exact bool) kind {
	switch o.Fopcode {
	case sqlite3.OP_SeekGE, sqlite3.OP_SeekLE:
		if exact {
			return equal
		}
		return read
	case sqlite3.OP_SeekGT, sqlite3.OP_SeekLT, sqlite3.OP_SeekRowid, sqlite3.OP_NotExists, sqlite3.OP_Last, sqlite3.OP_Rewind,
		sqlite3.OP_Sort, sqlite3.OP_SorterSort, sqlite3.OP_VNext:
		return read
	case sqlite3.OP_Insert:
		if !transient && o.Fp5&onlyForHooks == 0 {
			return write
		}
	case sqlite3.OP_IdxInsert:
		if !transient {
			return write
		}
	case sqlite3.OP_Delete:
		if !transient && o.Fp2&countsAsChange != 0 {
			return write
		}
	case sqlite3.OP_VUpdate:
		return write
	case sqlite3.OP_Count:
		return marked
	case sqlite3.OP_Clear:
		if o.Fp3 != 0 {
			return marked
		}
	}
	return nothing
}

func contains(kinds []kind, k kind) bool {
	for _, x := range kinds {
		if x == k {
			return true
		}
	}
	return false
}

// sum reads, and with reset clears, the counting instructions.
func (t *tally) sum(reset bool) (reads, writes int64) {
	add := func(list []*op) (n int64) {
		for _, o := range list {
			n += int64(o.Fp1)
			if reset {
				o.Fp1 = 0
			}
		}
		return n
	}
	reads = add(t.reads) - add(t.misses) + t.counted
	writes = add(t.writes)
	if reset {
		t.counted = 0
	}
	return reads, writes
}

// noteCounts takes the results of OP_Count from the registers, while the
// statement stands on its first row.
func (t *tally) noteCounts(v *sqlite3.TVdbe) {
	if t.counted != 0 || t.program != v.FaOp {
		return
	}
	for _, o := range t.sizes {
		m := (*sqlite3.TMem)(at(v.FaMem + uintptr(o.Fp2)*unsafe.Sizeof(sqlite3.TMem{})))
		if m.Fflags&sqlite3.MEM_Int != 0 {
			t.counted += *(*int64)(unsafe.Pointer(&m.Fu))
		}
	}
}

// free gives back the programs that were replaced; the statement is finalized, or
// compiled anew.
func (t *tally) free(c *Conn) {
	for _, b := range t.blocks {
		free(c.tls, b)
	}
	*t = tally{}
}
