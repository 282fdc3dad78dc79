package sqlstore

import (
	"slices"

	"minido.dev/minido/internal/sqlite"
)

// workerd counts rows read and written inside a patched SQLite: one read per
// advance and per positioning of a cursor on a table or index, one written per
// entry put into a table or index or row deleted. SQLite as it is gives the
// advances (Counters.Moves) and the changed rows; what is missing is taken from
// the statement's program. For statements over one table the numbers equal
// workerd's; nested loops that scan, count(*) without a condition and upserts
// come out smaller or are rounded, and schema changes count nothing.

// writeStats are the rows changed while a cursor ran: in total with triggers
// and foreign-key actions, and by the statement itself.
type writeStats struct{ total, direct int64 }

// shape is what a program's text says about its costs.
type shape struct {
	once    int64 // positionings outside of loops
	perLoop int64 // positionings, by key, within a loop over something else
	entries int64 // table and index entries written for each pass
	rows    int64 // of these, how many count as changed rows
	virtual bool  // writes to a virtual table
}

// statsCache keeps shapes by text. Loop-confined.
type statsCache map[string]shape

func (c *statsCache) clear() { *c = nil }

// RowsRead estimates what workerd's cursor.rowsRead counts so far.
func (c *Cursor) RowsRead() int64 {
	moves := c.moves
	if c.st != nil {
		moves += c.st.Counters(false).Moves
	}
	sh := c.s.shape(c)
	n := moves + sh.once
	if sh.perLoop > 0 && sh.once > 0 {
		n += sh.perLoop * (moves + 1)
	}
	return n
}

// RowsWritten estimates what workerd's cursor.rowsWritten counts so far.
func (c *Cursor) RowsWritten() int64 {
	if c.readOnly {
		return 0
	}
	sh := c.s.shape(c)
	switch {
	case sh.virtual:
		return c.written.direct
	case sh.rows > 0 && sh.entries > 0:
		return (c.written.total*sh.entries + sh.rows - 1) / sh.rows
	}
	return c.written.total
}

// shape looks the cursor's statement up or compiles it once more to read it.
// A statement that no longer compiles has no shape.
func (s *Store) shape(c *Cursor) shape {
	if sh, ok := s.stats[c.sql]; ok || s.conn == nil {
		return sh
	}
	s.enter(c.user)
	defer s.leave()
	ops, err := s.conn.Program(c.sql)
	if err != nil {
		return shape{}
	}
	if s.stats == nil || len(s.stats) >= maxCached {
		s.stats = make(statsCache)
	}
	sh := shapeOf(ops)
	s.stats[c.sql] = sh
	return sh
}

// Flags in an instruction's fifth operand (sqliteInt.h).
const (
	countsAsChange = 0x01 // OPFLAG_NCHANGE: counts a changed row
	onlyForHooks   = 0x40 // OPFLAG_ISNOOP: writes nothing
)

func shapeOf(ops []sqlite.Op) shape {
	var sh shape
	writable := map[int64]bool{}
	transient := map[int64]bool{}
	var loops [][2]int64 // first and last instruction of each loop
	advanced := map[int64]bool{}
	for _, op := range ops {
		switch op.Opcode {
		case "OpenWrite":
			writable[op.P1] = true
		case "OpenEphemeral", "OpenAutoindex", "OpenPseudo":
			transient[op.P1] = true
		case "Next", "Prev", "SorterNext":
			loops = append(loops, [2]int64{op.P2, int64(op.Addr)})
			advanced[op.P1] = true
		case "VUpdate":
			sh.virtual = true
		}
	}
	inLoop := func(addr int) bool {
		return slices.ContainsFunc(loops, func(l [2]int64) bool { return l[0] <= int64(addr) && int64(addr) < l[1] })
	}
	for _, op := range ops {
		switch op.Opcode {
		case "Rewind", "Last", "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid", "NotExists", "Found", "NotFound", "SorterSort", "Sort":
			switch {
			case transient[op.P1]:
			case !inLoop(op.Addr):
				sh.once++
			case !advanced[op.P1]:
				sh.perLoop++
			}
		case "Insert", "IdxInsert":
			if writable[op.P1] && op.P5&onlyForHooks == 0 {
				sh.entries++
				if op.P5&countsAsChange != 0 {
					sh.rows++
				}
			}
		}
	}
	return sh
}
