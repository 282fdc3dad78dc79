package oracle

import (
	"encoding/json"
	"testing"

	"minido.dev/minido/chaos/history"
)

// A status that comes of a recovery and takes the place of the right one is a finding, unless
// clients were told, another record names it, or the row says that it was interrupted. A row
// more is none.
func TestMistakenStatus(t *testing.T) {
	keyed := func(s State) State {
		for at, table := range s.tables {
			if at.name == "jobs" {
				table.keys = []string{"id"}
				s.tables[at] = table
			}
		}
		return s
	}
	want := keyed(world("a/x jobs id=j1 status=done result=tea", "a/x jobs id=j2 status=done result=soup", "a/x log n=1 status=begun"))
	death := keyed(world("a/x jobs id=j1 status=running result=NULL", "a/x log n=1 status=begun"))
	told := func(data string) []history.Event {
		return []history.Event{{Kind: history.Return, Data: json.RawMessage(`"lost before"`)}, {Kind: history.Kill}, {Kind: history.Return, Data: json.RawMessage(data)}}
	}
	const j2, log = "a/x jobs id=j2 status=done result=soup", "a/x log n=1 status=begun"
	for _, c := range []struct {
		name string
		rows []string
		told string
		want string
	}{
		{"nobody knows", []string{"a/x jobs id=j1 status=lost result=NULL", j2, log}, `"ok"`, Diverged},
		{"clients know", []string{"a/x jobs id=j1 status=lost result=NULL", j2, log}, `{"j1":"lost"}`, ""},
		{"it says so", []string{"a/x jobs id=j1 status=interrupted result=NULL", j2, log}, `"ok"`, ""},
		{"its error says so", []string{"a/x jobs id=j1 status=failed result=interrupted", j2, log}, `"ok"`, ""},
		{"a message names it", []string{"a/x jobs id=j1 status=lost result=NULL", j2, log, "a/x messages text=sorry_j1", "a/x messages text=j1"}, `"ok"`, ""},
		{"a message names another", []string{"a/x jobs id=j1 status=lost result=NULL", j2, log, "a/x messages text=j2"}, `"ok"`, Diverged},
		{"one more", []string{"a/x jobs id=j1 status=done result=tea", j2, log, "a/x jobs id=j3 status=moved result=NULL"}, `"ok"`, ""},
		{"one more, which shifts numbers", []string{"a/x jobs id=j1 status=done result=tea", j2, "a/x log n=1 status=left", "a/x log n=2 status=begun"}, `"ok"`, ""},
		{"both", []string{"a/x jobs id=j1 status=lost result=NULL", "a/x jobs id=j2 status=lost result=NULL", log}, `"ok"`, Diverged},
	} {
		m := Learn([]State{want}, nil, nil)
		loose, rest, ok := m.Recovered(keyed(world(c.rows...)), []State{want, death}, nil, Heard(told(c.told)))
		if !ok {
			t.Errorf("%s: no record", c.name)
		}
		if kind, diff := Judge(rest, []State{want}, loose, false); kind != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, kind, diff, c.want)
		}
	}
	m := Learn([]State{want}, nil, nil)
	if _, _, ok := m.Recovered(keyed(world("a/x jobs id=j1 status=done result=NULL", j2, log)), []State{want}, nil, nil); ok {
		t.Error("a column without a value records nothing")
	}
	clean := world("a/x jobs status=done to=ann", "a/x jobs status=done to=bob")
	m = Learn([]State{clean, clean}, nil, nil)
	for _, c := range []struct {
		rows []string
		want string
	}{
		{[]string{"a/x jobs status=failed to=ann", "a/x jobs status=done to=bob"}, Diverged},
		{[]string{"a/x jobs status=done to=ann", "a/x jobs status=failed to=ann", "a/x jobs status=done to=bob"}, ""},
	} {
		loose, rest, _ := m.Recovered(world(c.rows...), []State{clean}, nil, nil)
		if kind, diff := Judge(rest, []State{clean}, loose, false); kind != c.want {
			t.Errorf("%v, without a key: %q %v, want %q", c.rows, kind, diff, c.want)
		}
	}
}
