package explorer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/event"
)

// Of what workers do, the newest maxTraces invocations are kept, and of them what fits
// into maxTracesBytes.
const (
	maxTraces      = 4096
	maxTracesBytes = 32 << 20
)

// maxTraceRows is how many rows a query of traces gives (miniflare: MAX_QUERY_ROWS).
const maxTraceRows = 10_000

// codeTraces is of what is wrong with a query of traces, codeNoTraces of the note that
// there are none yet.
const (
	codeNoTraces = 10130
	codeTraces   = 10131
)

// Traces are the invocations of a session's workers: what POST /local/observability/query
// asks. They are kept from the first query on, so that a server that nobody asks spends
// nothing on them. Safe for concurrent use.
type Traces struct {
	now    func() time.Time
	wanted atomic.Bool

	mu     sync.Mutex // guards the rest
	chance entropy.Source
	kept   []invocation // the oldest first
	bytes  int
}

// invocation is one event of a worker, with its ids in hexadecimal.
type invocation struct {
	*event.Trace
	traceID, spanID, id string
	endMs               int64
	bytes               int
}

// NewTraces returns an empty list. Times are those that workers see.
func NewTraces(now func() time.Time, chance entropy.Source) *Traces {
	return &Traces{now: now, chance: chance}
}

// Wanted reports whether anybody has asked.
func (t *Traces) Wanted() bool { return t.wanted.Load() }

// Ended is told of an invocation that has come to its end. It keeps the trace.
func (t *Traces) Ended(trace *event.Trace) {
	one := invocation{Trace: trace, endMs: t.now().UnixMilli(), bytes: 512}
	for _, l := range trace.Logs {
		one.bytes += len(l.Message) + 64
	}
	for _, x := range trace.Exceptions {
		one.bytes += len(x.Message) + len(x.Stack) + 64
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	one.traceID, one.spanID, one.id = t.hex(16), t.hex(8), t.hex(16)
	t.kept, t.bytes = append(t.kept, one), t.bytes+one.bytes
	for len(t.kept) > maxTraces || t.bytes > maxTracesBytes && len(t.kept) > 1 {
		t.bytes -= t.kept[0].bytes
		t.kept[0] = invocation{}
		t.kept = t.kept[1:]
	}
}

// Kept is how many invocations are kept, and the worker of the newest. Safe for concurrent use.
func (t *Traces) Kept() (n int, newest string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n = len(t.kept); n > 0 {
		newest = t.kept[n-1].ScriptName
	}
	return n, newest
}

func (t *Traces) hex(n int) string {
	b := make([]byte, n)
	_, _ = t.chance.Read(b) // a Source always fills it
	return hex.EncodeToString(b)
}

func (t *Traces) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept, t.bytes = nil, 0
}

// traceSchema is the contract with those who ask (miniflare: observability/trace-store.ts).
const traceSchema = `
CREATE TABLE spans (trace_id TEXT NOT NULL, span_id TEXT NOT NULL, parent_id TEXT, service TEXT, name TEXT, kind TEXT, start_ms INTEGER, duration_ms INTEGER,
  outcome TEXT, error TEXT, attributes BLOB, created_at TEXT DEFAULT (datetime('now')), PRIMARY KEY (trace_id, span_id));
CREATE INDEX spans_roots ON spans (start_ms) WHERE parent_id IS NULL;
CREATE TABLE logs (trace_id TEXT NOT NULL, span_id TEXT, seq INTEGER NOT NULL, ts_ms INTEGER, level TEXT, message TEXT, operation TEXT,
  created_at TEXT DEFAULT (datetime('now')), PRIMARY KEY (trace_id, seq));
CREATE INDEX logs_by_level ON logs (level);`

// The kinds and triggers of events that are not called what they are.
var (
	kindOf    = map[string]string{"fetch": "http", "alarm": "scheduled", "hibernatableWebSocket": "websocket"}
	triggerOf = map[string]string{"fetch": "http", "scheduled": "timer", "alarm": "timer", "queue": "pubsub", "hibernatableWebSocket": "websocket"}
)

// described is the span of an invocation: its name, its kind, what is known of it, and how
// its last log calls it.
func (one *invocation) described() (name, kind string, attributes map[string]any, said string) {
	ev := &one.Event
	name, kind, said = ev.Type, ev.Type, ev.Type
	if k := kindOf[ev.Type]; k != "" {
		kind = k
	}
	trigger := ev.Type
	if g := triggerOf[ev.Type]; g != "" {
		trigger = g
	}
	attributes = map[string]any{"faas.trigger": trigger, "faas.invocation_id": one.id, "cloudflare.outcome": one.Outcome, "wall_time_ms": one.endMs - one.AtMs}
	set := func(key, value string) {
		if value != "" {
			attributes[key] = value
		}
	}
	if r := ev.Request; r != nil {
		name, said = r.Method, r.Method+" "+r.URL
		set("http.request.method", r.Method)
		set("url.full", r.URL)
	}
	if ev.Status != 0 {
		attributes["http.response.status_code"] = ev.Status
	}
	set("jsrpc.method", ev.Method)
	set("cloudflare.queue.name", ev.Queue)
	set("objectId", one.ObjectID)
	set("faas.cron", ev.Cron)
	if ev.Mail != nil {
		set("cloudflare.email.to", ev.Mail.To)
	}
	return name, kind, attributes, said
}

// store writes the invocation into the tables.
func (one *invocation) store(spans, logs *sqlite.Stmt) error {
	name, kind, attributes, said := one.described()
	outcome, failed, level := one.Outcome, any(nil), "info"
	if outcome != "ok" {
		level = "error"
	}
	if n := len(one.Exceptions); n > 0 {
		failed = one.Exceptions[n-1].Name + ": " + one.Exceptions[n-1].Message
		level = "error"
	}
	encoded, err := json.Marshal(attributes)
	if err != nil {
		return err
	}
	if err := run(spans, one.traceID, one.spanID, one.ScriptName, name, kind, one.AtMs, one.endMs-one.AtMs, outcome, failed, string(encoded)); err != nil {
		return err
	}
	seq := int64(0)
	log := func(at int64, level, message string, operation any) error {
		seq++
		return run(logs, one.traceID, one.spanID, seq-1, at, level, message, operation)
	}
	rest := one.Exceptions
	thrown := func(until int64) error {
		for len(rest) > 0 && rest[0].AtMs < until {
			text := rest[0].Name + ": " + rest[0].Message
			if rest[0].Stack != "" {
				text += "\n" + rest[0].Stack
			}
			if err := log(rest[0].AtMs, "error", quoted(text), name); err != nil {
				return err
			}
			rest = rest[1:]
		}
		return nil
	}
	for _, l := range one.Logs {
		if err := thrown(l.AtMs); err != nil {
			return err
		}
		if l.Level == "log" {
			l.Level = "info"
		}
		if err := log(l.AtMs, l.Level, string(l.Message), nil); err != nil {
			return err
		}
	}
	return errors.Join(thrown(one.endMs+1), log(one.AtMs, level, quoted(said), nil))
}

// quoted is a text in JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic("explorer: a text is no JSON: " + err.Error()) // every text is
	}
	return string(b)
}

// run executes a statement that gives no rows.
func run(st *sqlite.Stmt, values ...any) error {
	for i, v := range values {
		if err := st.Bind(i+1, v); err != nil {
			return err
		}
	}
	defer st.Reset()
	_, err := st.Step()
	return err
}

// table is the answer to a query.
type table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// refusedQuery is an error of who asks.
type refusedQuery string

// Error implements error.
func (r refusedQuery) Error() string { return string(r) }

const onlyReads = refusedQuery("Only read-only SELECT/WITH queries are allowed")

// reads are the statements that a query may be, comments before them included.
var reads = lazyregexp.New(`(?is)^(\s|--[^\n]*(\n|$)|/\*.*?\*/)*(SELECT|WITH)\b`)

// ask runs one statement over what is kept.
func (t *Traces) ask(sql string, params []any) (found table, err error) {
	t.mu.Lock()
	kept := slices.Clone(t.kept)
	chance := t.chance.Fork("query")
	t.mu.Unlock()
	if !reads.MatchString(sql) {
		return found, onlyReads
	}
	conn, err := sqlite.Open(sqlite.Options{Path: sqlite.Memory, Now: t.now, Rand: chance})
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := fill(conn, kept); err != nil {
		return found, fmt.Errorf("explorer: traces: %w", err)
	}
	steps := 0
	conn.SetProgress(progressSteps, func() bool {
		steps += progressSteps
		return steps > maxTraceSteps
	})
	st, tail, err := conn.Prepare(strings.TrimSpace(sql), false)
	if err != nil {
		return found, sqlError(err)
	}
	defer st.Finalize()
	if next, _, err := conn.Prepare(strings.TrimLeft(tail, "; \r\n\t"), false); err != nil || next != nil {
		if next != nil {
			next.Finalize()
		}
		return found, refusedQuery("Only a single statement is allowed")
	}
	if !st.ReadOnly() || st.Columns() == 0 {
		return found, onlyReads
	}
	if st.Params() != len(params) {
		return found, refusedQuery("Wrong number of parameter bindings for SQL query.")
	}
	for i, p := range params {
		if err := st.Bind(i+1, bound(p)); err != nil {
			return found, sqlError(err)
		}
	}
	return rowsOf(st)
}

// A query of traces may take maxTraceSteps steps of SQLite's machine, about half a second.
const (
	progressSteps = 10_000
	maxTraceSteps = 20_000_000
)

// fill makes the tables.
func fill(conn *sqlite.Conn, kept []invocation) error {
	if err := conn.Exec(traceSchema); err != nil {
		return err
	}
	spans, _, err := conn.Prepare(`INSERT INTO spans (trace_id, span_id, service, name, kind, start_ms, duration_ms, outcome, error, attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?))`, true)
	if err != nil {
		return err
	}
	defer spans.Finalize()
	logs, _, err := conn.Prepare(`INSERT INTO logs (trace_id, span_id, seq, ts_ms, level, message, operation) VALUES (?, ?, ?, ?, ?, ?, ?)`, true)
	if err != nil {
		return err
	}
	defer logs.Finalize()
	for i := range kept {
		if err := kept[i].store(spans, logs); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf runs a statement.
func rowsOf(st *sqlite.Stmt) (found table, err error) {
	found = table{Columns: []string{}, Rows: [][]any{}}
	found.Columns = append(found.Columns, st.ColumnNames()...)
	for len(found.Rows) < maxTraceRows {
		more, err := st.Step()
		if err != nil {
			return found, sqlError(err)
		}
		if !more {
			break
		}
		row := make([]any, st.Columns())
		for i := range row {
			row[i] = st.Column(i)
		}
		found.Rows = append(found.Rows, jsonRow(row))
	}
	return found, nil
}

// sqlError is what SQLite says of a query.
func sqlError(err error) error {
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		return refusedQuery(strings.TrimPrefix(failed.Error(), "sqlite: "))
	}
	return err
}

// bound is a value of JSON as SQL of an object binds it: what is no number is text.
func bound(p any) any {
	switch v := p.(type) {
	case nil, float64, string:
		return v
	case bool:
		return fmt.Sprint(v)
	case []any:
		var texts []string
		for _, one := range v {
			text := "" // of null, as in JavaScript
			if one != nil {
				text = fmt.Sprint(bound(one))
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, ",")
	}
	return "[object Object]"
}

// traces answers POST /local/observability/query.
func (x *Explorer) traces(r *http.Request) answer {
	ask, bad := fields(r)
	if bad != nil {
		return *bad
	}
	given, there := ask["sql"]
	sql, ok := given.(string)
	if !ok {
		return invalid("sql", "string", given, there)
	}
	given, there = ask["params"]
	params, ok := given.([]any)
	if !ok && there {
		return invalid("params", "array", given, true)
	}
	first := !x.opts.Traces.wanted.Swap(true)
	found, err := x.opts.Traces.ask(sql, params)
	var refused refusedQuery
	switch {
	case errors.As(err, &refused):
		return failure(http.StatusBadRequest, codeTraces, err.Error())
	case err != nil:
		return broken(err)
	}
	e := envelope{Success: true, Errors: []message{}, Messages: []message{}, Result: found}
	if first {
		e.Messages = append(e.Messages, message{codeNoTraces, "minido keeps traces from the first query on: have the worker do it again, and ask again."})
	}
	return encode(http.StatusOK, e)
}

// clearTraces answers POST /local/observability/clear.
func (x *Explorer) clearTraces(*http.Request) answer {
	x.opts.Traces.wanted.Store(true)
	x.opts.Traces.clear()
	return success(map[string]bool{"success": true}, nil)
}
