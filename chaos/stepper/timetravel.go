package stepper

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/killpoint"
)

// goTo has the run stop at a moment, and reports whether it goes on. What a person did
// after that moment has then never happened.
func (p *Stepper) goTo(n int) bool {
	now := len(p.moments)
	switch {
	case n < 1:
		p.say("the first event is 1; this is %d\n", now)
		return false
	case n == now:
		p.say("this is %d\n", now)
		return false
	case n > now:
		p.to, p.sought, p.from = n, fmt.Sprintf("an event %d", n), now
		return true
	}
	maps.DeleteFunc(p.kills, func(at int, _ bool) bool { return at >= n })
	p.again(n)
	return true
}

// again ends the run; the next one stops at a moment.
func (p *Stepper) again(n int) {
	p.to, p.sought = n, ""
	rewind := p.rewind
	p.rewind = nil // this run has nothing to say any more
	rewind(ErrRewound)
}

// find has the run stop where it first passes a point: earlier than now, if it has
// already.
func (p *Stepper) find(label string) bool {
	target, err := killpoint.ParseTarget(label)
	if err != nil || label == "" {
		p.say("write goto and the number of an event, or the label of an effect point such as commit:after(Room/r)/fetch#1\n")
		return false
	}
	for i, m := range p.moments {
		if slices.ContainsFunc(points(m), target) {
			return p.goTo(i + 1)
		}
	}
	p.seek, p.sought, p.from = target, label, len(p.moments) // it has counted what has passed
	return true
}

// Over reports whether a run that has ended is to be run again: what the person wanted
// to see has not come.
func (p *Stepper) Over() bool {
	if p.sought == "" {
		return false
	}
	p.say("the run ends without %s\n", p.sought)
	p.to, p.sought = p.from, ""
	return true
}

// watch is a query whose rows are looked at after each commit.
type watch struct {
	object, query string
	rows          string // as they were
}

// watch is "Class/name SELECT ...", "off", or nothing, which lists what is watched.
func (p *Stepper) watch(text string) error {
	object, query, _ := strings.Cut(text, " ")
	switch {
	case text == "":
		for _, w := range p.watched {
			p.say("%s %s\n%s", w.object, w.query, w.rows)
		}
		p.say("%d watched\n", len(p.watched))
		return nil
	case text == "off":
		p.watched = nil
		return nil
	case !strings.Contains(object, "/") || query == "":
		return errors.New("write watch Class/name SELECT and what you want to see")
	}
	w := watch{object: object, query: query}
	w.rows = p.rows(w)
	p.say("%s", w.rows)
	p.watched = append(p.watched, w)
	return nil
}

// rows are those of a watch now, or why there are none: its table may come later.
func (p *Stepper) rows(w watch) string {
	rows, err := p.query(w.object, w.query)
	if err != nil {
		return "    none: " + err.Error() + "\n"
	}
	text := ""
	for _, row := range rows {
		text += "    " + cells(row) + "\n"
	}
	return text + fmt.Sprintf("    %d rows\n", len(rows))
}

// changes says which watches have other rows than before the moment.
func (p *Stepper) changes(m moment) (out []string) {
	for i := range p.watched {
		w := &p.watched[i]
		if w.rows != "" && !slices.ContainsFunc(points(m), committed(w.object)) {
			continue
		}
		before := w.rows
		if w.rows = p.rows(*w); before != "" && before != w.rows {
			out = append(out, fmt.Sprintf("watch %s %s\n%s", w.object, w.query, w.rows))
		}
	}
	return out
}

// committed is a test for points at which an object has stored something.
func committed(object string) func(killpoint.Point) bool {
	return func(at killpoint.Point) bool {
		return at.Side == killpoint.After && (at.Kind == killpoint.Commit || at.Kind == killpoint.File) && at.Object == object
	}
}

// origin is the question which turns wrote a row. It is answered by a run from the start
// to the moment at which it was asked.
type origin struct {
	object, table, key string
	row                string // as it is
	written            []string
	failed             error // why the row could not be read when it was last looked for
}

// askWhy is "Class/name.table KEY". It reports whether the run is begun again.
func (p *Stepper) askWhy(text string) (bool, error) {
	place, key, _ := strings.Cut(text, " ")
	object, table, _ := strings.Cut(place, ".")
	if dot := strings.LastIndex(place, "."); dot > 0 { // a name may have dots, a table's seldom
		object, table = place[:dot], place[dot+1:]
	}
	key = strings.TrimSpace(key)
	if !strings.Contains(object, "/") || table == "" || key == "" {
		return false, errors.New("write why Class/name.table KEY, such as why Room/r.messages 3, or a condition in place of the key: id = 3")
	}
	o := &origin{object: object, table: table, key: key}
	if o.failed = p.row(o); o.failed != nil {
		return false, o.failed
	}
	o.row = ""
	p.why = o
	p.again(len(p.moments))
	return true, nil
}

// row reads the row of o.
func (p *Stepper) row(o *origin) error {
	condition, args := o.key, []any(nil)
	if !strings.ContainsAny(o.key, "=<>") {
		columns, err := p.query(o.object, "SELECT name FROM pragma_table_info(?) WHERE pk > 0", o.table)
		if err != nil {
			return err
		}
		column := "rowid"
		if len(columns) == 1 {
			column = quoteName(columns[0].Text("name"))
		}
		condition, args = "CAST("+column+" AS TEXT) = ?", []any{o.key}
	}
	rows, err := p.query(o.object, "SELECT * FROM "+quoteName(o.table)+" WHERE "+condition, args...)
	if err != nil {
		return err
	}
	var all []string
	for _, row := range rows {
		all = append(all, cells(row))
	}
	o.row = strings.Join(all, "\n")
	return nil
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// trace looks at the row of p.why at a point of the way to the moment of the question.
func (p *Stepper) trace(by killpoint.Point) {
	o := p.why
	if o == nil || p.rewind == nil || !committed(o.object)(by) {
		return
	}
	before := o.row
	o.row = ""
	if o.failed = p.row(o); before == o.row {
		return
	}
	verb := "changed"
	switch {
	case before == "":
		verb = "written"
	case o.row == "":
		verb = "deleted"
	}
	text := fmt.Sprintf("%6d  %-8s by %s in a turn that %s\n", len(p.moments)+1, verb, by.Label(), begunBy(by.Cause))
	if asked := p.lastCall(); asked != "" && (by.Cause == "fetch" || by.Cause == "rpc" || by.Cause == "message") {
		text += "                 the clients' last call before: " + asked + "\n"
	}
	for line := range strings.Lines(o.row) {
		text += "                 " + strings.TrimSuffix(line, "\n") + "\n"
	}
	o.written = append(o.written, text)
}

// begunBy says what started a turn.
func begunBy(cause string) string {
	switch cause {
	case "fetch":
		return "a request began"
	case "rpc":
		return "a call began"
	case "message":
		return "a WebSocket message began"
	case "start":
		return "the object's start began"
	case "":
		return "nothing names"
	}
	return "began with: " + cause
}

// lastCall is what a client asked last.
func (p *Stepper) lastCall() string {
	events := p.system.History.Events()
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.Kind == history.Call || e.Kind == history.Send {
			return strings.TrimSpace(e.Who + " " + e.Text + " " + shortData(e.Data))
		}
	}
	return ""
}

// shortData is the beginning of data.
func shortData(data []byte) string {
	const most = 80
	if len(data) > most {
		return string(data[:most]) + " …"
	}
	return string(data)
}

// tellWhy answers p.why, now that the run is again where it was asked.
func (p *Stepper) tellWhy() {
	o := p.why
	p.why = nil
	for _, text := range o.written {
		p.say("%s", text)
	}
	switch {
	case o.failed != nil:
		p.say("%v\n", o.failed)
	case len(o.written) == 0:
		p.say("no turn up to here has written a row of %s.%s with %s\n", o.object, o.table, o.key)
	default:
		p.say("goto and the number in front show that turn\n")
	}
}
