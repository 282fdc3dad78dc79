package oracle

import (
	"fmt"
	"testing"
)

// Numbers of a block that a death has left behind mean nothing, wherever they stand; those that are
// missing for another reason do.
func TestReservedNumbers(t *testing.T) {
	stored := func(mark int, ids []int, customers ...string) State {
		statements := []string{"CREATE TABLE blocks (high INTEGER)", fmt.Sprintf("INSERT INTO blocks VALUES (%d)", mark),
			"CREATE TABLE invoices (id INTEGER, customer TEXT)", "CREATE TABLE lines (text TEXT)"}
		for i, id := range ids {
			statements = append(statements, fmt.Sprintf("INSERT INTO invoices VALUES (%d, '%s')", id, customers[i]), fmt.Sprintf("INSERT INTO lines VALUES ('3 lamps for invoice %d')", id))
		}
		s := object(t, statements...)
		for i, id := range ids {
			s.tables[place{namespace: "app-Room", object: "a", name: fmt.Sprintf("%sopen:%d", kvPrefix, id)}] = table{columns: []string{valueColumn}, rows: [][]string{{customers[i]}}}
			s.tables[place{name: fmt.Sprintf("%sPOST / %s #1", toldPrefix, customers[i])}] = table{columns: []string{"invoice"}, rows: [][]string{{fmt.Sprint(id)}}}
		}
		return s
	}
	usual, six := []int{1, 2, 3}, []string{"ann", "bob", "cat", "dan", "eve", "fay"}
	for _, c := range []struct {
		name      string
		mark      int
		ids       []int
		customers []string
		clean     State
		found     bool
	}{
		{"the rest of a block", 20, []int{1, 11, 12}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), false},
		{"a whole block", 20, []int{11, 12, 13}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), false},
		{"of two blocks", 30, []int{1, 11, 21}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), false},
		{"a number of blocks", 2, []int{1, 101, 102}, []string{"ann", "bob", "cat"}, stored(1, usual, "ann", "bob", "cat"), false},
		{"a block that is full without the fault", 11, []int{1, 6, 7, 8, 9, 10}, six, stored(11, []int{1, 2, 3, 4, 5, 6}, six...), false},
		{"one of more numbers, below a limit", 100, []int{1, 2, 3, 4, 6, 7}, six, stored(100, []int{1, 2, 3, 4, 5, 6}, six...), true},
		{"one number", 11, []int{1, 3, 4}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), true},
		{"no mark", 10, []int{1, 11, 12}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), true},
		{"in the middle of a block", 20, []int{1, 14, 15}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), true},
		{"given twice", 20, []int{1, 11, 11}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), true},
		{"out of order", 20, []int{11, 1, 2}, []string{"ann", "bob", "cat"}, stored(10, usual, "ann", "bob", "cat"), true},
		{"a mark that is not ahead", 9, []int{1, 8, 9}, []string{"ann", "bob", "cat"}, stored(3, usual, "ann", "bob", "cat"), true},
		{"another customer", 20, []int{1, 11, 12}, []string{"ann", "bob", "dan"}, stored(10, usual, "ann", "bob", "cat"), true},
	} {
		m := Learn([]State{c.clean}, nil, nil)
		if diff := Differences(stored(c.mark, c.ids, c.customers...), c.clean, m); len(diff) > 0 != c.found {
			t.Errorf("%s: %v", c.name, diff)
		}
	}
}
