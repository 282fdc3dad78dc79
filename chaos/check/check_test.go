package check

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/history"
)

// calls makes a history of "name arg -> answer" lines; the answer "lost" is an
// Unknown, "none" is no end at all. They overlap if the line begins with "|".
func calls(lines ...string) []history.Event {
	var out []history.Event
	add := func(e history.Event) {
		e.N = len(out) + 1
		out = append(out, e)
	}
	for i, line := range lines {
		f := strings.Fields(line)
		op := "op-" + string(rune('a'+i))
		add(history.Event{Kind: history.Call, Op: op, Text: f[0], Data: json.RawMessage("[" + strings.Trim(f[1], "-") + "]")})
		switch answer := f[3]; answer {
		case "lost":
			add(history.Event{Kind: history.Unknown, Op: op})
		case "none":
		default:
			add(history.Event{Kind: history.Return, Op: op, Data: json.RawMessage(answer)})
		}
	}
	return out
}

// A lost call may have happened or not; an acknowledged one has.
func TestLinearizable(t *testing.T) {
	counter, register := Model{"counter", "add", "get"}, Model{"register", "put", "get"}
	for _, c := range []struct {
		model  Model
		events []history.Event
		holds  bool
	}{
		{counter, calls("add - -> 1", "add - -> 2", "get - -> 2"), true},
		{counter, calls("add - -> 1", "add - -> 2", "get - -> 1"), false}, // a lost update
		{counter, calls("add - -> 1", "add - -> lost", "get - -> 2"), true},
		{counter, calls("add - -> 1", "add - -> lost", "get - -> 1"), true},
		{counter, calls("add - -> 1", "add - -> none", "get - -> 3"), false},
		{counter, calls("add 5 -> 5", "get - -> 5"), true},
		{register, calls(`put "x" -> null`, `get - -> "x"`), true},
		{register, calls(`put "x" -> null`, `get - -> null`), false},
		{register, calls(`get - -> null`, `put "x" -> lost`, `get - -> "x"`, `get - -> null`), false}, // it came and went
	} {
		found := linearChecker{}.Check(Evidence{Events: c.events, Models: []Model{c.model}})
		if (len(found) == 0) != c.holds {
			t.Errorf("%v: %v", describe(c.events), found)
		}
	}
}

// A fault that ends an object excuses its sockets' end, at about its time alone.
func TestSocketsOfStruckObjects(t *testing.T) {
	blow := history.Event{Kind: history.Note, Who: history.ByFault, Data: json.RawMessage(`{"at_ms":100,"ends":true}`)}
	for _, c := range []struct {
		at    float64
		blows []history.Event
		holds bool
	}{{110, []history.Event{blow}, true}, {90, []history.Event{blow}, true}, {9000, []history.Event{blow}, false}, {110, nil, false}} {
		events := append([]history.Event{{Kind: history.Connect, Who: "c"}, {AtMs: c.at, Kind: history.Close, Who: "c", Text: "EOF"}}, c.blows...)
		if found := (socketChecker{}).Check(Evidence{Events: events}); (len(found) == 0) != c.holds {
			t.Errorf("lost at %v, faults %v: %v", c.at, c.blows, found)
		}
	}
}

func describe(events []history.Event) (out []string) {
	for _, e := range events {
		out = append(out, string(e.Kind)+" "+e.Text+string(e.Data))
	}
	return out
}

// An effect without a key happens once; one with keys has one of them.
func TestEffects(t *testing.T) {
	effect := func(name, key string) history.Event {
		return history.Event{Kind: history.Effect, Text: name, Op: key}
	}
	for want, events := range map[string][]history.Event{
		"":                       {effect("a", ""), effect("b", ""), effect("c", "k"), effect("c", "k")},
		"effects/effect-once":    {effect("a", ""), effect("a", "")},
		"effects/effect-one-key": {effect("a", "k1"), effect("a", "k2")},
	} {
		found := effectChecker{}.Check(Evidence{Events: events})
		if got := keyOf(found); got != want {
			t.Errorf("want %q, got %v", want, found)
		}
	}
}

func keyOf(found []Violation) string {
	if len(found) == 0 {
		return ""
	}
	return found[0].Key()
}

// The index is never later than the row, and at rest they agree and nothing is due.
func TestAlarms(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	at := func(d time.Duration) Alarm { return Alarm{now.Add(d), true} }
	object := func(row, index Alarm) []Object {
		return []Object{{Namespace: "app-A", ID: "0123456789", Row: row, Index: index}}
	}
	for _, c := range []struct {
		want       string
		row, index Alarm // at a death
		rest       [2]Alarm
	}{
		{want: "", row: at(time.Second), index: at(0)},
		{want: "", row: Alarm{}, index: at(0)}, // cleared; the index follows
		{want: "alarms/index-not-later", row: at(0), index: at(time.Second)},
		{want: "alarms/index-not-later", row: at(0)},
		{want: "", rest: [2]Alarm{at(time.Hour), at(time.Hour)}},
		{want: "alarms/fires", rest: [2]Alarm{at(-time.Second), at(-time.Second)}},
		{want: "alarms/fires", rest: [2]Alarm{at(10 * time.Second), {}}},
		{want: "alarms/index-agrees", rest: [2]Alarm{at(time.Hour), at(2 * time.Hour)}},
		{want: "alarms/index-agrees", rest: [2]Alarm{{}, at(time.Hour)}},
		{want: "", index: at(time.Hour), rest: [2]Alarm{{}, at(time.Hour)}}, // the death came before the commit
		{want: "", row: at(2 * time.Hour), index: at(time.Hour), rest: [2]Alarm{at(2 * time.Hour), at(time.Hour)}},
		{want: "alarms/index-agrees", index: at(time.Second), rest: [2]Alarm{{}, at(time.Second)}},
		{want: "alarms/index-agrees", row: at(2 * time.Hour), index: at(time.Hour), rest: [2]Alarm{{}, at(time.Hour)}},
		{want: "alarms/index-agrees", row: at(time.Hour), index: at(time.Hour), rest: [2]Alarm{at(time.Hour), {}}},
	} {
		e := Evidence{Deaths: []Snapshot{{At: now, Objects: object(c.row, c.index)}}, Rest: Snapshot{At: now, Objects: object(c.rest[0], c.rest[1])}}
		if got := keyOf(alarmChecker{}.Check(e)); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// Models read back, and what is none is refused with an example.
func TestParseModel(t *testing.T) {
	m, err := ParseModel("counter(POST /add,GET /sum)")
	if err != nil || m.Write != "POST /add" || m.Read != "GET /sum" || m.String() != "counter(POST /add,GET /sum)" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, bad := range []string{"", "counter", "queue(a,b)", "counter(a)"} {
		if _, err := ParseModel(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
