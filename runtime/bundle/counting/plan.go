// Package counting puts counters into a program's syntax tree: how often each of its
// statements, functions and branches runs. What counts as one is what istanbul counts
// (istanbul-lib-instrument 6), on whose numbers vitest's coverage stands. The tree is
// that of a unit (package bundle), esbuild's output for one file; what esbuild has
// added to the file is not counted.
package counting

// Span is a range of the program's text, in bytes from its beginning. Test is where the
// test of an if statement begins, 0 for everything else: esbuild's source maps have no
// place for an if after an else.
type Span struct{ Start, End, Test int }

// Plan says what the counters of an instrumented program count, in terms of its own
// text. Immutable once made.
type Plan struct {
	// Counters is how many there are.
	Counters   int
	statements []statement
	functions  []function
	branches   []branch
	extents    []extent // of what a hint may be about, inner ones first
}

// statement is a statement, or the value of a variable or a field.
type statement struct {
	at      Span
	counter int
	// name is that of the variable, empty for everything else. class says that the
	// value is a class. Which of both esbuild has made of a declaration or a default
	// export shows in the source: see locator.generated.
	name  Span
	class bool
}

// function is a function, method or accessor.
type function struct {
	named      bool // decl is its name; otherwise where it begins
	decl, body Span
	counter    int
}

// branch is a place where one of several paths is taken.
type branch struct {
	kind  string // istanbul's: if, cond-expr, binary-expr, switch, default-arg
	at    Span
	paths []path
}

// path is a path of a branch, with the counters of what is in it: its own is the first,
// to is after the last. An else that is not written is absent: it has no place.
type path struct {
	at          Span
	absent      bool
	counter, to int
}
