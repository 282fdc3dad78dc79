package control

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// Limits of a query, so that neither its work nor its result can hurt the
// server. Time is looked at every progressSteps instructions of SQLite's
// machine; where the clock stands still, maxSteps ends the query.
const (
	queryTime      = 5 * time.Second
	progressSteps  = 10_000
	maxSteps       = 2_000_000_000
	defaultRows    = 1000
	maxRows        = 10_000
	maxResultBytes = 8 << 20
	maxValueBytes  = 4 << 20
	maxSQLBytes    = 100 << 10
)

// QueryResult is the answer of a query.
type QueryResult struct {
	Columns []string `json:"columns"`
	// Rows hold null, numbers and text as JSON has them; integers beyond 2^53
	// are {"int64": "..."}, blobs {"base64": "..."}, infinities text.
	Rows [][]any `json:"rows"`
	// Truncated says that there were more rows than the limit allows.
	Truncated bool `json:"truncated"`
}

// query runs one SELECT on a read-only connection of its own, so it sees what
// is committed. c is the time that SQL sees, machine bounds the query. Params bind as SQLite's driver has them: nil, float64, string,
// bool.
func query(path, sql string, params []any, rows int, c, machine clock.Clock, chance entropy.Source) (res *QueryResult, err error) {
	conn, err := sqlite.Open(sqlite.Options{Path: path, ReadOnly: true, Now: c.Now, Rand: chance})
	if err != nil {
		return nil, fmt.Errorf("control: query: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetBusyTimeout(time.Second)
	conn.SetLimit(sqlite.LimitLength, maxValueBytes)
	conn.SetLimit(sqlite.LimitSQLLength, maxSQLBytes)
	conn.SetLimit(sqlite.LimitAttached, 0)
	conn.SetLimit(sqlite.LimitWorkerThreads, 0)
	conn.SetLimit(sqlite.LimitVDBEOp, 100_000)
	if err := conn.SetDefensive(); err != nil {
		return nil, fmt.Errorf("control: query: %w", err)
	}
	conn.SetAuthorizer(mayRead)
	deadline, steps := machine.Now().Add(queryTime), 0
	conn.SetProgress(progressSteps, func() bool {
		steps += progressSteps
		return steps > maxSteps || machine.Now().After(deadline)
	})
	st, tail, err := conn.Prepare(sql, false)
	switch {
	case err != nil:
		return nil, &InputError{strings.TrimPrefix(err.Error(), "sqlite: ")}
	case st == nil:
		return nil, &InputError{"the SQL holds no statement"}
	}
	defer st.Finalize()
	if next, _, err := conn.Prepare(strings.TrimLeft(tail, "; \r\n\t"), false); err != nil || next != nil {
		return nil, &InputError{"one statement at a time: there is more after the first"}
	}
	if !st.ReadOnly() || st.Columns() == 0 {
		return nil, &InputError{"only statements that read may be sent to the control API: the object's own code is what writes"}
	}
	if len(params) != st.Params() {
		return nil, &InputError{fmt.Sprintf("the statement takes %d parameters, %d were given", st.Params(), len(params))}
	}
	for i, p := range params {
		if err := st.Bind(i+1, bindable(p)); err != nil {
			return nil, &InputError{err.Error()}
		}
	}
	return collect(st, rows)
}

func bindable(p any) any {
	switch v := p.(type) {
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	}
	return p
}

func collect(st *sqlite.Stmt, rows int) (*QueryResult, error) {
	res := &QueryResult{Columns: st.ColumnNames(), Rows: [][]any{}}
	size := 0
	for {
		more, err := st.Step()
		switch {
		case sqlite.IsCode(err, sqlite.CodeInterrupt):
			return nil, &InputError{fmt.Sprintf("the query took longer than %v and was stopped", queryTime)}
		case err != nil:
			return nil, &InputError{strings.TrimPrefix(err.Error(), "sqlite: ")}
		case !more:
			return res, nil
		case len(res.Rows) == rows || size > maxResultBytes:
			res.Truncated = true
			return res, nil
		}
		row := make([]any, len(res.Columns))
		for i := range row {
			row[i], size = value(st.Column(i), size)
		}
		res.Rows = append(res.Rows, row)
	}
}

// value is a column as JSON, and the size of the result with it.
func value(v any, size int) (any, int) {
	switch x := v.(type) {
	case int64:
		if x > 1<<53 || x < -(1<<53) {
			return map[string]string{"int64": fmt.Sprint(x)}, size + 30
		}
		return x, size + 8
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return fmt.Sprint(x), size + 8
		}
		return x, size + 8
	case string:
		return x, size + len(x)
	case []byte:
		return map[string]string{"base64": base64.StdEncoding.EncodeToString(x)}, size + len(x)*4/3
	}
	return v, size + 4
}

// mayRead lets statements read and compute, and nothing else. FTS5 asks for
// data_version by itself; the dashboard asks what the tables and their columns are.
func mayRead(a sqlite.Action) sqlite.Verdict {
	switch a.Code {
	case sqlite.ActionSelect, sqlite.ActionRead, sqlite.ActionRecursive:
		return sqlite.Allow
	case sqlite.ActionFunction:
		if a.Arg2 != "load_extension" && a.Arg2 != "fts3_tokenizer" {
			return sqlite.Allow
		}
	case sqlite.ActionPragma:
		switch a.Arg1 {
		case "data_version":
			if a.HasArg2 {
				return sqlite.Deny
			}
			return sqlite.Allow
		case "table_list", "table_xinfo":
			return sqlite.Allow // they only read
		}
	}
	return sqlite.Deny
}

// InputError is an error of who asked.
type InputError struct{ Text string }

// Error implements error.
func (e *InputError) Error() string { return e.Text }
