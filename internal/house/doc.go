// Package house holds the project's own checks, as tests: the import table of
// ARCHITECTURE.md, and lints for the rules that no public linter knows (time,
// randomness and goroutines are injected; nothing depends on the order of a map; only
// SQLite opens databases). It has no API and nothing imports it.
//
// Each lint is also run over a planted file under testdata/lint, in which the
// lines that must be found carry a comment "// want: RULE". A lint that stops
// finding them fails.
//
// A line that a rule would refuse, and that is right all the same, says why:
//
//	for k := range m { // order-independent: every k goes to its own file
//	os.ReadFile(sqlitePath) // not live: the process that owned it is reaped
//	"... not implemented in workerd." // reference's text
//
// A whole package is exempted in allowances (rules_test.go), with a reason.
package house
