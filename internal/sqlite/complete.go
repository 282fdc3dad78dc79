package sqlite

import (
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Split cuts a script at the ends of its statements, as SQLite's shell does: not
// within texts, comments and triggers. What is blank is left out.
func Split(script string) (statements []string) {
	tls := libc.NewTLS()
	defer tls.Close()
	prepareProcess(tls)
	complete := func(sql string) bool {
		z := cString(tls, sql)
		defer free(tls, z)
		return sqlite3.Xsqlite3_complete(tls, z) != 0
	}
	add := func(sql string) {
		if sql = strings.TrimSpace(sql); sql != "" && sql != ";" {
			statements = append(statements, sql)
		}
	}
	start := 0
	for i, c := range []byte(script) {
		if c == ';' && complete(script[start:i+1]) {
			add(script[start : i+1])
			start = i + 1
		}
	}
	add(script[start:])
	return statements
}
