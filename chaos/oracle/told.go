package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/lazyregexp"
)

// What clients were told is a table for each answer, and one for the frames of each
// socket, beside what is stored.
const (
	toldPrefix   = "(told) "
	socketPrefix = toldPrefix + "socket "
)

// ofProcess are the names of values that tell about a process and not about what it
// stores: how long it runs, what it has cached. A death changes them, as it should.
var ofProcess = lazyregexp.New(`(?i)(^|[._])(boots?|starts|uptime|cached?|hits?|miss(es)?|elapsed|duration|took|age|pid|instance|isolate|warm|cold|fresh)$|_ms$|[a-z]Ms$`)

// isTold reports whether a place is no part of what is stored.
func (at place) isTold() bool { return at.namespace == "" && strings.HasPrefix(at.name, toldPrefix) }

// readTold reads what clients were told: the answers to requests and calls that did not
// overlap, and the frames of the sockets that a driver opened.
func (s State) readTold(events []history.Event) {
	type asked struct {
		name    string
		overlap bool
	}
	open := map[string]*asked{}
	counts := map[string]int{}
	sockets := map[string]*told{}
	n := 0
	for _, e := range events {
		switch e.Kind {
		case history.Call:
			step := stepOf(e)
			a := &asked{name: toldPrefix + step + " (last)"}
			if !e.Until {
				counts[step]++
				a.name = fmt.Sprintf("%s%s #%d", toldPrefix, step, counts[step])
			}
			for _, other := range open { // order-independent: each is marked
				other.overlap, a.overlap = true, true
			}
			open[e.Op] = a
			if e.Text == "chat" || e.Text == "resume" {
				a.overlap = true // the checker of chats judges those
			}
		case history.Return, history.Fail, history.Unknown:
			a := open[e.Op]
			delete(open, e.Op)
			if a == nil || a.overlap {
				continue
			}
			if e.Kind == history.Fail && strings.HasPrefix(e.Text, "not sent") {
				if step, _, numbered := strings.Cut(strings.TrimPrefix(a.name, toldPrefix), " #"); numbered {
					counts[step]--
				}
				continue
			}
			status := ""
			if e.Kind == history.Fail {
				_, after, failed := strings.Cut(e.Text, ": status ")
				if e.Who != "client" || !failed || strings.HasPrefix(after, "5") {
					continue // errors are judged by themselves
				}
				status = after
			}
			if e.Kind != history.Unknown {
				t := &told{}
				t.add(e.Data, status)
				s.put(place{}, a.name, t.table())
			}
		case history.Connect:
			if strings.HasPrefix(e.Who, history.SocketPrefix) {
				n++
				sockets[e.Who] = &told{name: fmt.Sprintf("%s%d %s", socketPrefix, n, normal(e.Text))}
			}
		case history.Send:
			if t := sockets[e.Who]; t != nil {
				t.asked = true
			}
		case history.Receive:
			if t := sockets[e.Who]; t != nil && !ofSDK(e.Data) {
				t.add(e.Data, "")
				if !t.asked {
					t.greeting++
				}
			}
		}
	}
	for _, t := range sockets { // order-independent: each has a place of its own
		if t.rows != nil {
			s.put(place{}, t.name, t.table())
		}
	}
}

// stepOf names a step by what is sent.
func stepOf(e history.Event) string { return normal(strings.TrimSpace(e.Text + " " + string(e.Data))) }

// hibernations counts the objects that hibernated by a fault.
func hibernations(events []history.Event) (n int) {
	for _, e := range events {
		if e.Kind == history.Note && e.Who == history.ByFault && strings.HasPrefix(e.Text, "hibernate@") && !strings.Contains(e.Text, " was refused: ") {
			n++
		}
	}
	return n
}

// Sent are the words that clients have sent, without the names of the methods that they call:
// in the path and the body of requests, in arguments, in frames.
func Sent(events []history.Event) map[string]bool {
	out := map[string]bool{}
	add := func(text string) {
		for _, w := range word.FindAllString(text, -1) {
			out[w] = true
		}
	}
	for _, e := range events {
		switch e.Kind {
		case history.Call:
			add(string(e.Data))
			if _, path, ofRequest := strings.Cut(e.Text, " "); ofRequest {
				add(path)
			}
		case history.Connect:
			add(e.Text)
		case history.Send:
			add(string(e.Data))
		default: // nothing that a client says
		}
	}
	return out
}

// Repeated is s, given that a fault has cut some steps (texts and data of their calls) and the
// client has sent them again: without what it was told in answer to them, and with numbers that
// may be more (numbering).
func (s State) Repeated(steps []string) State {
	out := s
	out.again = len(steps) > 0
	out.tables = maps.Clone(s.tables)
	for _, step := range steps {
		prefix := toldPrefix + normal(strings.TrimSpace(step)) + " "
		maps.DeleteFunc(out.tables, func(at place, _ table) bool { return at.isTold() && strings.HasPrefix(at.name, prefix) })
	}
	return out
}

// Has reports whether s has what d differs in.
func (s State) Has(d Difference) bool {
	_, has := s.tables[d.at]
	return has
}

// told collects JSON values as rows of cells.
type told struct {
	name     string
	rows     []map[string]string
	asked    bool // of a socket: its client has sent something
	greeting int  // see table
}

// add takes one value. Members of objects are columns.
func (t *told) add(data json.RawMessage, status string) {
	row := map[string]string{}
	if status != "" {
		row["status"] = status
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if len(data) > 0 && decoder.Decode(&value) == nil {
		if inner, ok := value.(string); ok { // a frame or a body that is JSON within a text
			within := json.NewDecoder(strings.NewReader(inner))
			within.UseNumber()
			var parsed any
			if within.Decode(&parsed) == nil && !within.More() {
				value = parsed
			}
		}
		flatten("", value, row, 0)
	}
	t.rows = append(t.rows, row)
}

// maxDepth is how deep members are columns of their own.
const maxDepth = 6

// unnamed is the column of a value that is no object.
const unnamed = "answer"

// flatten adds a cell for each member; the elements of a list share one.
func flatten(path string, value any, row map[string]string, depth int) {
	put := func(text string) {
		if path == "" {
			path = unnamed
		}
		if old, more := row[path]; more {
			text = old + ", " + text
		}
		row[path] = text
	}
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 || depth == maxDepth {
			put(fmt.Sprint(len(v), " members"))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := normal(key)
			if path != "" {
				name = path + "." + name
			}
			flatten(name, v[key], row, depth+1)
		}
	case []any:
		if len(v) == 0 {
			put("[]")
		}
		for _, element := range v {
			flatten(path+"[]", element, row, depth+1)
		}
	case json.Number:
		put(number(v.String()))
	case nil:
		put("null")
	default:
		put(normal(fmt.Sprint(v)))
	}
}

// number is one for people; a time in milliseconds or a fraction differs by itself.
func number(text string) string {
	if long.MatchString(text) {
		return "#"
	}
	return text
}

var long = lazyregexp.New(`^-?\d{10,}|\.\d{3,}`)

// table has all columns that some row has.
func (t *told) table() table {
	columns := map[string]bool{}
	for _, row := range t.rows {
		for column := range row { // order-independent: a set
			columns[column] = true
		}
	}
	out := table{columns: slices.Sorted(maps.Keys(columns)), greeting: t.greeting}
	for _, row := range t.rows {
		cells := make([]string, len(out.columns))
		for i, column := range out.columns {
			cell, has := row[column]
			if !has {
				cell = absent
			}
			cells[i] = cell
		}
		out.rows = append(out.rows, cells)
	}
	return out
}

// toldDifferences are how the answer to a step or the frames of a socket differ. A client
// that lost a socket has read no more than it had got by then, and one may have been told
// less and be right; but nothing that is not said without the fault.
//
// After an object has hibernated, its next start may say again what it says to a socket that
// opens, once each time (woken): a client that knows that already learns nothing from it.
func toldDifferences(at place, got, want table, cut bool, woken int) (out []Difference) {
	if !cut && (got.rows == nil || want.rows == nil) {
		return nil // one of the two has lost the answer, or has not asked
	}
	have, should := got.said(), want.said()
	for _, row := range union(have, should) {
		if counted.MatchString(row) {
			return nil
		}
	}
	greeting := table{columns: got.columns, rows: got.rows[:min(got.greeting, len(got.rows))]}.said()
	for _, row := range slices.Sorted(slices.Values(union(have, should))) {
		if have[row] > should[row] && have[row]-should[row] <= woken*greeting[row] {
			continue
		}
		if have[row] > should[row] || !cut && have[row] < should[row] {
			out = append(out, Difference{at.label(), row, have[row], should[row], at})
		}
	}
	return out
}

// Answers are differences of what clients are told, a line for each answer or socket.
func Answers(all []Difference) (lines []string) {
	for i := 0; i < len(all); {
		place, got, want := all[i].Place, []string{}, []string{}
		for ; i < len(all) && all[i].Place == place; i++ {
			if all[i].Got > all[i].Want {
				got = append(got, all[i].Row)
			} else {
				want = append(want, all[i].Row)
			}
		}
		line := place + " is " + strings.Join(got, " and ")
		switch {
		case len(got) == 0:
			line = place + " lacks " + strings.Join(want, " and ")
		case len(want) > 0:
			line += ", not " + strings.Join(want, " and ")
		default:
			line = place + " has " + strings.Join(got, " and ")
		}
		lines = append(lines, line)
	}
	return lines
}

// said are the rows as text without empty cells, with how often each is there.
func (t table) said() map[string]int {
	out := map[string]int{}
	for _, row := range t.rows {
		var columns, cells []string
		for i, cell := range row {
			if cell != "" && cell != absent {
				columns, cells = append(columns, t.columns[i]), append(cells, cell)
			}
		}
		out[show(columns, cells)]++
	}
	return out
}

// cutSockets are the sockets that were open at a death, by their names among what clients
// were told.
func cutSockets(events []history.Event) map[string]bool {
	open, out := map[string]string{}, map[string]bool{}
	n := 0
	for _, e := range events {
		switch {
		case e.Kind == history.Connect && strings.HasPrefix(e.Who, history.SocketPrefix):
			n++
			open[e.Who] = fmt.Sprintf("%s%d %s", socketPrefix, n, normal(e.Text))
		case e.Kind == history.Close && strings.HasPrefix(e.Text, history.ByClient+":"):
			delete(open, e.Who)
		case e.Kind == history.Close && strings.Contains(e.Text, "received close frame"):
			delete(open, e.Who)
		case e.Kind == history.Kill:
			for who, name := range open { // order-independent: a set
				out[name] = true
				delete(open, who)
			}
		}
	}
	return out
}
