package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/durableobject/objectid"
)

// world makes a state of lines such as "app-Room/a jobs id=j1 state=done", or
// "(effects) name=charge".
func world(lines ...string) State {
	s := State{tables: map[place]table{}}
	for _, line := range lines {
		words := strings.Split(line, " ")
		at := place{name: effects}
		if words[0] != effects {
			at.namespace, at.object, _ = strings.Cut(words[0], "/")
			at.name = words[1]
			words = words[1:]
		}
		t := table{}
		for _, cell := range words[1:] {
			column, value, _ := strings.Cut(cell, "=")
			t.columns = append(t.columns, column)
			t.rows = [][]string{append(slices.Concat(t.rows...), normal(value))}
		}
		if known, ok := s.tables[at]; ok {
			t.rows = append(known.rows, t.rows...)
		}
		s.tables[at] = t
	}
	return s
}

// A state that is allowed is no finding; any other is named by what is wrong with it.
func TestJudge(t *testing.T) {
	none := world()
	done := world("app-Room/a jobs id=j1 state=done", "(effects) name=mail")
	cases := []struct {
		name    string
		got     State
		allowed []State
		cut     bool
		want    string
	}{
		{"as without the fault", done, []State{done}, false, ""},
		{"one of two", none, []State{done, none}, true, ""},
		{"the order of rows", world("a/x t id=1", "a/x t id=2"), []State{world("a/x t id=2", "a/x t id=1")}, false, ""},
		{"acknowledged and gone", none, []State{done}, false, Missing},
		{"an effect that never happens", world("app-Room/a jobs id=j1 state=done"), []State{done}, false, Missing},
		{"half of it", world("app-Room/a jobs id=j1 state=done"), []State{done, none}, true, Half},
		{"stuck", world("app-Room/a jobs id=j1 state=running", "(effects) name=mail"), []State{done}, false, Diverged},
		{"twice", world("a/x t v=1", "a/x t v=1"), []State{world("a/x t v=1")}, false, Twice},
		{"left over", world("a/x t v=1", "a/y t v=1"), []State{world("a/x t v=1")}, false, Orphaned},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			kind, diff := Judge(c.got, c.allowed, Learn([]State{done}, nil, nil), c.cut)
			if kind != c.want || (kind == "") != (len(diff) == 0) {
				t.Errorf("%q %v, want %q", kind, diff, c.want)
			}
		})
	}
}

// What differs between runs without faults, by its name, or by a user's pattern, is
// not compared; the number of rows still is.
func TestMask(t *testing.T) {
	one := world("a/x t id=abc v=1", "a/x log line=q", "a/x n k=1", "b/7 t v=1")
	two := world("a/x t id=xyz v=1", "a/x log line=q", "a/x log line=r", "a/x n k=1", "b/8 t v=1")
	m := Learn([]State{one, two}, nil, []string{"n.k"})
	if want := []string{"a/log", "a/t.id"}; !slices.Equal(m.Masked(), want) {
		t.Errorf("masked %v, want %v", m.Masked(), want)
	}
	for _, c := range []struct {
		name string
		got  State
		want int
	}{
		{"what varies", world("a/x t id=other v=1", "a/x log line=z", "a/x n k=2", "b/9 t v=1"), 0},
		{"a value", world("a/x t id=other v=2", "a/x n k=1", "b/9 t v=1"), 2},
		{"a row more", world("a/x t id=p v=1", "a/x t id=q v=1", "a/x n k=1", "b/9 t v=1"), 1},
	} {
		if diff := Differences(c.got, one, m); len(diff) != c.want {
			t.Errorf("%s: %v, want %d differences", c.name, diff, c.want)
		}
	}
	counts := Learn([]State{world("a/x t attempts=1")}, nil, nil)
	if diff := Differences(world("a/x t attempts=2"), world("a/x t attempts=1"), counts); diff != nil {
		t.Errorf("attempts are compared: %v", diff)
	}
}

// Rows in which a program says that it has recovered are allowed, and shift
// numbers; rows as there were before the death are not.
func TestRecords(t *testing.T) {
	clean := world("a/x runs n=1 mode=execute", "a/x events seq=1 type=message")
	death := world("a/x runs n=1 mode=execute")
	m := Learn([]State{clean}, nil, nil)
	recorded := world("a/x runs n=1 mode=execute", "a/x runs n=2 mode=recover", "a/x events seq=2 type=message")
	loose, rest, ok := m.Recovered(recorded, []State{clean, death}, nil, nil)
	if kind, diff := Judge(rest, []State{clean}, loose, false); !ok || kind != "" {
		t.Errorf("%v %q %v", ok, kind, diff)
	}
	twice := world("a/x runs n=1 mode=execute", "a/x runs n=2 mode=recover", "a/x events seq=1 type=message", "a/x events seq=2 type=message")
	loose, rest, _ = m.Recovered(twice, []State{clean, death}, nil, nil)
	if kind, _ := Judge(rest, []State{clean}, loose, false); kind != Twice {
		t.Errorf("a message twice beside a record is %q", kind)
	}
	logged := world("a/x log event=step", "a/x log event=recovered", "a/x log event=step")
	if diff := Differences(logged, world("a/x log event=step"), m); diff != nil {
		t.Errorf("a log of attempts: %v", diff)
	}
	delivered, sent := world("a/x sent id=call"), map[string]bool{"tea": true}
	again := world("a/x sent id=call", "a/x sent id=tea")
	if _, _, ok := m.Recovered(again, []State{delivered}, sent, nil); ok {
		t.Error("what clients have sent counts as a record of the recovery")
	}
	if _, _, ok := m.Recovered(world("a/x sent id=call", "a/x resumed id=tea"), []State{delivered}, sent, nil); !ok {
		t.Error("what is in a table for recoveries alone counts as no record")
	}
	stuck := world("a/x runs n=1 mode=running")
	if _, _, ok := m.Recovered(stuck, []State{clean, stuck}, nil, nil); ok {
		t.Error("a state that the death left counts as a record of the recovery")
	}
}

// Of the state in which an object has been constructed only that object is newborn.
func TestNewborn(t *testing.T) {
	space := objectid.NewNamespace("a")
	ann, bob := space.FromName("ann").String(), space.FromName("b/c").String()
	s := world("a/"+ann+" moves id=t1", "a/"+bob+" moves id=t2", "a/"+bob+".1 parts id=t3", "(effects) name=paid", "miniflare-KV/x k=1")
	for label, want := range map[string]State{ // order-independent: each is looked at by itself
		"A/ann": world("a/" + ann + " moves id=t1"), "A/" + ann: world("a/" + ann + " moves id=t1"),
		"A/b/c": world("a/" + bob + " moves id=t2"), "A/b/c/child": world("a/" + bob + ".1 parts id=t3"), "A/eve": world(),
	} {
		maps.Copy(want.tables, world("miniflare-KV/x k=1").tables)
		if got := s.Newborn(label); !Same(got, want, Mask{}) || !Same(want, got, Mask{}) {
			t.Errorf("%s: %v", label, got.tables)
		}
	}
}

// An object that a call has created and not changed is as its constructor leaves it.
func TestBirths(t *testing.T) {
	born := world("a/x accounts name=ann balance=100")
	m := Learn([]State{world("a/x accounts name=ann balance=70")}, []State{born}, nil)
	if kind, diff := Judge(born, []State{world()}, m, true); kind != "" {
		t.Errorf("%s %v", kind, diff)
	}
	starts := Learn([]State{world("a/x starts n=1")}, []State{world("a/x starts n=1")}, nil)
	if kind, diff := Judge(world("a/x starts n=1", "a/x starts n=2"), []State{world("a/x starts n=1")}, starts, false); kind != "" {
		t.Errorf("a log of starts: %s %v", kind, diff)
	}
	if kind, diff := Judge(world("a/x starts n=1 alarms=0", "a/x starts n=2 alarms=1"), []State{world("a/x starts n=1 alarms=1")}, starts, false); kind != "" {
		t.Errorf("a log of starts whose last row changes: %s %v", kind, diff)
	}
	if kind, _ := Judge(world("a/x starts n=1"), []State{world("a/x starts n=2")}, starts, false); kind == "" {
		t.Error("a number that a constructor has stored first passes")
	}
	if kind, _ := Judge(world("a/x accounts name=ann balance=90"), []State{world()}, m, true); kind == "" {
		t.Error("an object that is otherwise passes")
	}
}

// An agent that a call has created has what its onStart leaves, if it came so far; a class
// without one does not.
func TestStarted(t *testing.T) {
	points := []string{"rpc:before(worker)/fetch#1", "commit:after(A/x)/start#1", "commit:before(A/x)/fetch#1", "commit:after(A/y)/start#1", "commit:after(A/x)/fetch#1", "commit:after(A/x)/message#1", "commit:after(A/y)/fetch#1"}
	clean := world("a/x (state) count=6", "a/y (state) count=6")
	clean.agents = map[place]bool{{namespace: "a", object: "x"}: true}
	var asked []string
	births, err := Births(points, clean, func(point string) (State, error) { asked = append(asked, point); return clean, nil })
	if got, want := fmt.Sprint(asked), "[commit:after(A/x)/start#1 commit:after(A/x)/fetch#1 commit:after(A/y)/start#1]"; err != nil || got != want || len(births) != 2 || len(births[0].started) != 1 || births[1].started != nil {
		t.Errorf("asked for %s: %v %v", got, births, err)
	}
	done := world("a/x (state) count=6", "a/x config v=1")
	started := world("a/x (state) count=5", "a/x config v=1")
	m := Learn([]State{done}, []State{{started: started.tables}}, nil)
	for name, c := range map[string]struct {
		got   State
		fault bool
	}{
		"constructed": {world(), false}, "started": {started, false}, "done": {done, false},
		"half": {world("a/x (state) count=6"), true}, "neither": {world("a/x (state) count=7", "a/x config v=1"), true},
	} {
		if kind, diff := Judge(c.got, []State{done, world()}, m, true); (kind != "") != c.fault {
			t.Errorf("%s: %q %v", name, kind, diff)
		}
	}
	if kind, _ := Judge(started, []State{done, world()}, Learn([]State{done}, []State{world()}, nil), true); kind == "" {
		t.Error("what a first call has left half done passes")
	}
}

// Dates, times, UUIDs and long ids are never compared; each effect counts once.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"at 2026-01-02T03:04:05.678Z": "at #", "1790000000000": "#", "123": "123",
		"550e8400-e29b-41d4-a716-446655440000": "#", "5f2b6c7d8e9f0a1b": "#", "deadline": "deadline",
	} {
		if got := normal(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	events := []history.Event{{Kind: history.Effect, Text: "mail"}, {Kind: history.Effect, Text: "mail"}, {Kind: history.Note, Text: "x"}}
	s, err := Read(t.TempDir(), events)
	if diff := Differences(s, world("(effects) name=mail"), Mask{}); err != nil || diff != nil {
		t.Errorf("%v %v", err, diff)
	}
}

// told makes a state of events, as Read does.
func toldState(t *testing.T, events ...history.Event) State {
	t.Helper()
	s, err := Read(t.TempDir(), events)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asked are a request and its answer.
func asked(op, path, answer string) []history.Event {
	return []history.Event{{Kind: history.Call, Who: "client", Op: op, Text: "GET " + path},
		{Kind: history.Return, Who: "client", Op: op, Text: "GET " + path, Data: json.RawMessage(answer)}}
}

// An answer that is otherwise is told otherwise; ids, times, what a process says of
// itself and lost answers are not compared.
func TestTold(t *testing.T) {
	want := toldState(t, slices.Concat(asked("1", "/a", `{"n":1,"id":"5f2b6c7d8e9f0a1b","uptime":3,"at":"2026-01-02T03:04:05Z","list":[{"k":"x"},{"k":"y"}]}`), asked("2", "/a", `{"n":2}`))...)
	m := Learn([]State{want}, nil, nil)
	for _, c := range []struct {
		name   string
		events []history.Event
		want   string
	}{
		{"the same", slices.Concat(asked("1", "/a", `{"n":1,"id":"6f2b6c7d8e9f0a1b","uptime":9,"at":"2027-01-02T03:04:05Z","list":[{"k":"x"},{"k":"y"}]}`), asked("2", "/a", `{"n":2}`)), ""},
		{"another number", slices.Concat(asked("1", "/a", `{"n":1,"id":"6f2b6c7d8e9f0a1b","at":"2027-01-02T03:04:05Z","list":[{"k":"x"},{"k":"y"}]}`), asked("2", "/a", `{"n":1}`)), Told},
		{"a shorter list", asked("1", "/a", `{"n":1,"id":"6f2b6c7d8e9f0a1b","at":"2027-01-02T03:04:05Z","list":[{"k":"x"}]}`), Told},
		{"lost, and the next", slices.Concat([]history.Event{{Kind: history.Call, Who: "client", Op: "1", Text: "GET /a"}, {Kind: history.Unknown, Who: "client", Op: "1"}}, asked("2", "/a", `{"n":2}`)), ""},
		{"refused", []history.Event{{Kind: history.Call, Who: "client", Op: "1", Text: "GET /a"}, {Kind: history.Fail, Who: "client", Op: "1", Text: "GET /a: status 401"}}, Told},
		{"an error, which is judged by itself", []history.Event{{Kind: history.Call, Who: "client", Op: "1", Text: "GET /a"}, {Kind: history.Fail, Who: "client", Op: "1", Text: "GET /a: status 503"}}, ""},
		{"at once with another", []history.Event{{Kind: history.Call, Who: "client", Op: "1", Text: "GET /a"}, {Kind: history.Call, Who: "client", Op: "2", Text: "GET /b"}, {Kind: history.Return, Who: "client", Op: "1", Data: json.RawMessage(`{"n":7}`)}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if kind, diff := Judge(toldState(t, c.events...), []State{want}, m, false); kind != c.want {
				t.Errorf("%q %v, want %q", kind, diff, c.want)
			}
		})
	}
	_, diff := Judge(toldState(t, asked("2", "/a", `{"n":5}`)...), []State{toldState(t, asked("1", "/a", `{"n":1}`)...)}, m, false)
	if got := Answers(diff); !slices.Equal(got, []string{"the answer to GET /a #1 is n=5, not n=1"}) {
		t.Errorf("for people it is %q", got)
	}
	if !want.Has(diff[0]) || toldState(t, asked("1", "/b", "1")...).Has(diff[0]) {
		t.Error("Has does not tell whether there is such an answer")
	}
	if kind, _ := Judge(toldState(t, asked("1", "/a", `{"n":5}`)...).Repeated([]string{"GET /a"}), []State{want}, m, false); kind != "" {
		t.Errorf("an answer to what is not compared is %q", kind)
	}
}

// frames are what a socket gets until its server dies, or its client closes it.
func frames(dies bool, texts ...string) []history.Event {
	out := []history.Event{{Kind: history.Connect, Who: "socket-1", Text: "/"}}
	for _, text := range texts {
		out = append(out, history.Event{Kind: history.Send, Who: "socket-1"}, history.Event{Kind: history.Receive, Who: "socket-1", Data: json.RawMessage(text)})
	}
	if dies {
		return append(out, history.Event{Kind: history.Close, Who: "socket-1", Text: history.ByClient + " after the server's end"}, history.Event{Kind: history.Kill})
	}
	return append(out, history.Event{Kind: history.Close, Who: "socket-1", Text: history.ByClient + ": 1000 "})
}

// A frame that a socket got before a death shows what was delivered; one that it did not
// get says nothing. Of a socket that lived, both count.
func TestFrames(t *testing.T) {
	want := toldState(t, frames(false, `{"kept":"a"}`, `"b"`)...)
	m := Learn([]State{want}, nil, nil)
	for _, c := range []struct {
		name   string
		events []history.Event
		want   string
	}{
		{"less before a death", frames(true, `{"kept":"a"}`), ""},
		{"another before a death", frames(true, `{"kept":"z"}`), Orphaned},
		{"less", frames(false, `{"kept":"a"}`), Told},
		{"another order", frames(false, `"b"`, `{"kept":"a"}`), ""},
	} {
		if kind, diff := Judge(toldState(t, c.events...).Repeated(nil), []State{want}, m, false); kind != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, kind, diff, c.want)
		}
	}
}

// What an object says to a socket that opens it may say again when it has hibernated, and
// the agents SDK about itself at any time; nothing else may come twice.
func TestGreetings(t *testing.T) {
	events := func(fault string, texts ...string) []history.Event {
		out := []history.Event{{Kind: history.Connect, Who: "socket-1", Text: "/"}}
		for i, text := range texts {
			if i == 1 {
				out = append(out, history.Event{Kind: history.Send, Who: "socket-1"})
			}
			out = append(out, history.Event{Kind: history.Receive, Who: "socket-1", Data: json.RawMessage(text)})
		}
		return append(out, history.Event{Kind: history.Note, Who: history.ByFault, Text: fault})
	}
	const hello, news, sdk = `{"hello":"a"}`, `{"news":"b"}`, `{"type":"cf_agent_mcp_servers"}`
	want := toldState(t, events("", hello, news)...)
	m := Learn([]State{want}, nil, nil)
	const fault = "hibernate@commit:after(Room/a)/message#1"
	for _, c := range []struct {
		name  string
		fault string
		texts []string
		want  string
	}{
		{"again", fault, []string{hello, hello, news}, ""},
		{"twice again", fault, []string{hello, hello, hello, news}, Told},
		{"where nothing hibernated", fault + " was refused: busy", []string{hello, hello, news}, Told},
		{"another", fault, []string{hello, `{"hello":"z"}`, news}, Told},
		{"news again", fault, []string{hello, news, news}, Told},
		{"the SDK's", "", []string{hello, sdk, news}, ""},
	} {
		if kind, diff := Judge(toldState(t, events(c.fault, c.texts...)...).Repeated(nil), []State{want}, m, false); kind != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, kind, diff, c.want)
		}
	}
}

// The words that clients have sent are data, but for the names of methods.
func TestSent(t *testing.T) {
	words := Sent([]history.Event{
		{Kind: history.Call, Text: "POST /orders/lamp", Data: json.RawMessage(`{"to":"ada"}`)},
		{Kind: history.Call, Text: "cancel", Data: json.RawMessage(`["tea"]`)},
		{Kind: history.Send, Data: json.RawMessage(`"soup"`)},
		{Kind: history.Receive, Data: json.RawMessage(`"rescheduled"`)},
	})
	for word, want := range map[string]bool{"lamp": true, "ada": true, "tea": true, "soup": true, "cancel": false, "rescheduled": false} {
		if words[word] != want {
			t.Errorf("%s is sent: %v", word, words[word])
		}
	}
}
