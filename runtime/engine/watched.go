package engine

import (
	"strings"
	"time"
)

// TurnObserver is told of each turn while somebody watches. Its methods are called on
// the loops of engines, so they must be quick, and safe for concurrent use.
type TurnObserver interface {
	// Watching reports whether the others want to be called.
	Watching() bool
	// Turn is told of a turn that has ended. The report is valid until it returns.
	Turn(*TurnReport)
	// Synced is told that what an object has committed is safe on disk, how long that took,
	// and how many outputs have waited for it.
	Synced(label string, took time.Duration, released int)
}

// TurnReport is what is told of a turn.
type TurnReport struct {
	// Label is the context's, "" for a stateless one's; Cause is what started the turn.
	Label, Cause string
	// Computed is the time until no microtask was left, Took that until its commits were
	// made and its outputs released, too.
	Computed, Took time.Duration
	// Held is how many outputs waited for its commits.
	Held int
	// Statements are the first ones that it has run, Unlisted how many came after them.
	Statements []Statement
	Unlisted   int
}

// Statement is SQL that a turn has run, or an access to the keys of an object's storage.
type Statement struct {
	Text  string // in one line, cut at maxStatementText bytes
	Where string // "at function (file:line:column)" of the innermost call of the user's own code, or ""
	Took  time.Duration
	// Read and Written count rows until the turn ended.
	Read, Written int64
	Failed        string // the error's text

	rows RowCounter
}

// RowCounter is a cursor, as far as turns are told of it.
type RowCounter interface {
	RowsRead() int64
	RowsWritten() int64
}

// Limits of what is told of a turn.
const (
	maxStatements    = 24
	maxStatementText = 300
)

// watch begins to note what the turn does, if somebody watches.
func (t *Turns) watch() (watched bool, began time.Time) {
	e := t.engine
	if e.observer == nil || !e.observer.Watching() {
		return false, began
	}
	t.watched = true
	t.report.Statements, t.report.Unlisted = t.report.Statements[:0], 0
	return true, e.Watchdog.clock.Now()
}

// told tells the observer of the turn that has ended.
func (t *Turns) told(f *Frame, cause string, held int, began, computed time.Time) {
	r := &t.report
	r.Label, r.Cause, r.Held = "", cause, held
	if f.Context != nil {
		r.Label = f.Context.Label
	}
	r.Computed, r.Took = computed.Sub(began), t.engine.Watchdog.clock.Now().Sub(began)
	for i := range r.Statements {
		if s := &r.Statements[i]; s.rows != nil {
			s.Read, s.Written, s.rows = s.rows.RowsRead(), s.rows.RowsWritten(), nil
		}
	}
	t.watched = false
	t.engine.observer.Turn(r)
}

// Statement notes what the present turn asks of an object's storage: SQL, behind a verb
// such as "get " a key. The function that it returns is told what came of it; rows may be
// nil.
func (t *Turns) Statement(verb, text string) (done func(rows RowCounter, err error)) {
	if !t.watched {
		return unnoted
	}
	if len(t.report.Statements) == maxStatements {
		t.report.Unlisted++
		return unnoted
	}
	began := t.engine.Watchdog.clock.Now()
	return func(rows RowCounter, err error) {
		s := Statement{Text: verb + oneLine(text, maxStatementText), Where: strings.TrimSpace(t.engine.Sites.here()), Took: t.engine.Watchdog.clock.Now().Sub(began), rows: rows}
		if err != nil {
			s.Failed, s.rows = err.Error(), nil
		}
		t.report.Statements = append(t.report.Statements, s)
	}
}

func unnoted(RowCounter, error) {}

// Syncing notes that what the context has committed is being synced. The function that
// it returns, nil if nobody watches, tells that this has ended, before LetGo is called
// with the mark.
func (c *Context) Syncing(mark int64) (done func()) {
	e := c.engine
	if e.observer == nil || !e.observer.Watching() {
		return nil
	}
	began := e.Watchdog.clock.Now()
	return func() {
		released := 0
		for released < len(c.behind) && c.behind[released].mark <= mark {
			released++
		}
		e.observer.Synced(c.Label, e.Watchdog.clock.Now().Sub(began), released)
	}
}

// oneLine is a text with its white space as single blanks, cut at limit bytes.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 4*limit)]), " ")
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + " …"
	}
	return strings.ToValidUTF8(text, "")
}
