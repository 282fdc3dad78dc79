package sqlstore

// workerd counts rows read and written inside a patched SQLite; the binding
// counts the same instructions (sqlite.Stmt.Count). Programs that it leaves
// alone (conditions joined by OR that use several indexes) count advances of
// cursors and changed rows only. Trees that a CREATE or DROP changes count as
// in workerd but for statements that SQLite runs within.

// RowsRead is what workerd's cursor.rowsRead counts so far.
func (c *Cursor) RowsRead() int64 {
	c.count()
	return c.reads
}

// RowsWritten is what workerd's cursor.rowsWritten counts so far.
func (c *Cursor) RowsWritten() int64 {
	c.count()
	return c.writes
}

// count moves the statement's counters to the cursor.
func (c *Cursor) count() {
	if c.st == nil {
		return
	}
	n := c.st.Counters(true)
	c.reads += n.Reads
	c.writes += n.Writes
	c.clears = c.clears || n.Clears
	switch {
	case c.readOnly:
	case !c.st.Counted():
		c.writes += c.changed
	case c.clears && n.Writes == 0:
		c.writes += c.direct
	}
	c.changed, c.direct = 0, 0
}
