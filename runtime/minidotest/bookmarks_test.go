package minidotest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
)

const bookmarkWorker = `
export class B extends DurableObject {
  st = this.ctx.storage; sql = this.ctx.storage.sql;
  async set(v) {
    this.sql.exec("CREATE TABLE IF NOT EXISTS t (v)"); this.sql.exec("INSERT INTO t VALUES (?)", v);
    await this.st.put("k", v);
    return [Date.now(), await this.st.getCurrentBookmark()];
  }
  async get() { return [await this.st.get("k") ?? null, this.sql.exec("SELECT name FROM sqlite_schema WHERE name = 't'").toArray().length ? this.sql.exec("SELECT v FROM t").toArray().map((r) => r.v) : null, await this.st.getAlarm()]; }
  async wipe() { await this.st.deleteAll(); }
  async arm(ms) { await this.st.setAlarm(ms); return this.st.getCurrentBookmark(); }
  at(t) { return this.st.getBookmarkForTime(t); }
  restore(b) { return this.st.onNextSessionRestoreBookmark(b); }
  async restoreNow(b) { const undo = await this.st.onNextSessionRestoreBookmark(b); await this.st.put("undo", undo); this.ctx.abort("restored"); }
  crash() { this.ctx.abort("crash"); }
  alarm() { console.log("alarm of B"); }
  async bad() { return [await attempt(() => this.st.getBookmarkForTime()), await attempt(() => this.st.getBookmarkForTime("x")), await attempt(() => this.st.getBookmarkForTime(new Date(NaN))), await attempt(() => this.st.onNextSessionRestoreBookmark()), await attempt(() => this.st.onNextSessionRestoreBookmark("x")), await attempt(() => this.st.getBookmarkForTime(new Date(0))), typeof (await this.st.getBookmarkForTime(new Date(Date.now() + 1e6)))]; }
}
export default serve({});
`

// set stores a value and gives the time and the bookmark after it.
func (w *World) set(path, value string) (ms int64, bookmark string) {
	w.t.Helper()
	var answer struct{ OK []json.RawMessage }
	text := w.call(path+"/set", value)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.OK) != 2 {
		w.t.Fatalf("set: %s", text)
	}
	if err := json.Unmarshal(answer.OK[0], &ms); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(answer.OK[1], &bookmark); err != nil {
		w.t.Fatal(err)
	}
	return ms, bookmark
}

func (w *World) text(path string, args ...any) string {
	w.t.Helper()
	var answer struct{ OK string }
	body := w.call(path, args...)
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.OK == "" {
		w.t.Fatalf("%s: %s", path, body)
	}
	return answer.OK
}

// A bookmark brings keys, tables and the alarm back, by itself or found by time,
// after deleteAll() as well; the bookmark that the restore gave undoes it.
func TestBookmarks(t *testing.T) {
	w := newTest(t, bookmarkWorker, Options{})
	_, one := w.set("B/a", "1")
	w.Advance(time.Second)
	at, two := w.set("B/a", "2")
	w.Advance(time.Second)
	w.want(`{"ok":null}`, "B/a/wipe")
	w.want(`{"ok":[null,null,null]}`, "B/a/get")
	undo := w.text("B/a/restore", one)
	w.want(`{"ok":[null,null,null]}`, "B/a/get")
	w.want(`{"err":{"name":"Error","message":"crash","durableObjectReset":true}}`, "B/a/crash")
	w.want(`{"ok":["1",["1"],null]}`, "B/a/get")
	w.text("B/a/restore", undo)
	w.call("B/a/crash")
	w.want(`{"ok":[null,null,null]}`, "B/a/get")
	byTime := w.text("B/a/at", at)
	if byTime != two {
		t.Errorf("the bookmark for %d is %s, want %s", at, byTime, two)
	}
	w.call("B/a/restoreNow", byTime)
	w.want(`{"ok":["2",["1","2"],null]}`, "B/a/get")
	alarm := Epoch.Add(time.Hour).UnixMilli()
	b := w.text("B/a/arm", alarm)
	w.call("B/a/wipe")
	w.text("B/a/restore", b)
	w.call("B/a/crash")
	w.want(`{"ok":["2",["1","2"],1767229200000]}`, "B/a/get")
	bad := w.call("B/a/bad")
	for _, want := range []string{"Failed to execute 'getBookmarkForTime' on 'DurableObjectStorage': parameter 1 is not of type 'date'.",
		"The value cannot be converted because it is not a valid Date.", "Failed to execute 'onNextSessionRestoreBookmark' on 'DurableObjectStorage': parameter 1 is not of type 'string'.",
		`is not a bookmark of this Durable Object's history`, "goes back 30 days at most", `"string"]`} {
		if !strings.Contains(bad, want) {
			t.Errorf("%s lacks %s", bad, want)
		}
	}
}

// A world that dies at any effect point around a restore has the old state or
// the new one, never a mixture, and the restore that was acknowledged happens.
func TestBookmarksSurviveKills(t *testing.T) {
	for n := range 30 {
		seen := 0
		armed := false
		w := newTest(t, bookmarkWorker, Options{Kill: func(killpoint.Point) bool {
			if armed {
				seen++
			}
			return armed && seen == n+1
		}})
		_, one := w.set("B/a", "1")
		w.set("B/a", "2")
		armed = true
		asked := false
		for _, call := range []struct {
			path string
			args []any
		}{{"B/a/restore", []any{one}}, {"B/a/crash", []any{}}, {"B/a/get", []any{}}} {
			r := w.send(call.path, call.args...)
			if err := w.Until(r.Done); err != nil {
				break
			}
			asked = true
		}
		killed := w.wreck != ""
		armed = false
		if killed {
			w = w.Revive()
		}
		got := w.call("B/a/get")
		if old, restored := `{"ok":["2",["1","2"],null]}`, `{"ok":["1",["1"],null]}`; got != restored && (got != old || asked) {
			t.Errorf("killed at point %d: %s, restore acknowledged: %v", n, got, asked)
		}
		if !killed {
			if n < 4 {
				t.Errorf("only %d effect points", n)
			}
			return
		}
	}
}
