package counting

import "slices"

// Unknown is the column of a position of which only the line is known: a source map says
// where something begins, not where it ends. It counts as the end of the line.
const Unknown = -1

// Position is a place in a source file: the line from 1, the column in UTF-16 units from
// 0. The zero Position is none.
type Position struct{ Line, Column int }

// Range is a part of a source file, End excluded.
type Range struct{ Start, End Position }

// File is what was counted of one source file, in the order of the source.
type File struct {
	// Path is absolute.
	Path       string
	Statements []Statement
	Functions  []Function
	Branches   []Branch
}

// Statement is a statement, or the value of a variable or a field.
type Statement struct {
	At    Range
	Count uint64
}

// Function is a function; Decl is its name, or where it begins. Name is "" for one that
// has none.
type Function struct {
	Name       string
	Decl, Body Range
	Count      uint64
}

// Branch is a place where one of several paths is taken. Kind is istanbul's: if, switch,
// cond-expr, binary-expr or default-arg. Of an else that is not written the Range is zero.
type Branch struct {
	Kind   string
	At     Range
	Paths  []Range
	Counts []uint64
}

// Add adds the counts of another measurement of the same file; false, without having
// changed f, if other is of another text.
func (f *File) Add(other *File) bool {
	if !f.sameText(other) {
		return false
	}
	for i, s := range other.Statements {
		f.Statements[i].Count += s.Count
	}
	for i, fn := range other.Functions {
		f.Functions[i].Count += fn.Count
	}
	for i, b := range other.Branches {
		for j, n := range b.Counts {
			f.Branches[i].Counts[j] += n
		}
	}
	return true
}

func (f *File) sameText(other *File) bool {
	return slices.EqualFunc(f.Statements, other.Statements, func(a, b Statement) bool { return a.At == b.At }) &&
		slices.EqualFunc(f.Functions, other.Functions, func(a, b Function) bool { return a.Decl == b.Decl && a.Body == b.Body }) &&
		slices.EqualFunc(f.Branches, other.Branches, func(a, b Branch) bool { return a.At == b.At && slices.Equal(a.Paths, b.Paths) })
}
