package durableobject_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
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
func set(w *minidotest.World, path, value string) (ms int64, bookmark string) {
	w.T().Helper()
	var answer struct{ OK []json.RawMessage }
	text := w.Call(path+"/set", value)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.OK) != 2 {
		w.T().Fatalf("set: %s", text)
	}
	if err := json.Unmarshal(answer.OK[0], &ms); err != nil {
		w.T().Fatal(err)
	}
	if err := json.Unmarshal(answer.OK[1], &bookmark); err != nil {
		w.T().Fatal(err)
	}
	return ms, bookmark
}

func text(w *minidotest.World, path string, args ...any) string {
	w.T().Helper()
	var answer struct{ OK string }
	body := w.Call(path, args...)
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.OK == "" {
		w.T().Fatalf("%s: %s", path, body)
	}
	return answer.OK
}

// A bookmark brings keys, tables and the alarm back, by itself or found by time,
// after deleteAll() as well; the bookmark that the restore gave undoes it.
func TestBookmarks(t *testing.T) {
	w := minidotest.NewWorker(t, bookmarkWorker, minidotest.Options{})
	_, one := set(w, "B/a", "1")
	w.Advance(time.Second)
	at, two := set(w, "B/a", "2")
	w.Advance(time.Second)
	w.Want(`{"ok":null}`, "B/a/wipe")
	w.Want(`{"ok":[null,null,null]}`, "B/a/get")
	undo := text(w, "B/a/restore", one)
	w.Want(`{"ok":[null,null,null]}`, "B/a/get")
	w.Want(`{"err":{"name":"Error","message":"crash","durableObjectReset":true}}`, "B/a/crash")
	w.Want(`{"ok":["1",["1"],null]}`, "B/a/get")
	text(w, "B/a/restore", undo)
	w.Call("B/a/crash")
	w.Want(`{"ok":[null,null,null]}`, "B/a/get")
	byTime := text(w, "B/a/at", at)
	if byTime != two {
		t.Errorf("the bookmark for %d is %s, want %s", at, byTime, two)
	}
	w.Call("B/a/restoreNow", byTime)
	w.Want(`{"ok":["2",["1","2"],null]}`, "B/a/get")
	alarm := minidotest.Epoch.Add(time.Hour).UnixMilli()
	b := text(w, "B/a/arm", alarm)
	w.Call("B/a/wipe")
	text(w, "B/a/restore", b)
	w.Call("B/a/crash")
	w.Want(`{"ok":["2",["1","2"],1767229200000]}`, "B/a/get")
	bad := w.Call("B/a/bad")
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
func TestBookmarksSurviveKills(t *testing.T) { minidotest.EachDeath(t, testBookmarksSurvive) }

func testBookmarksSurvive(t *testing.T, d minidotest.Death) {
	for n := range 30 {
		seen := 0
		armed := false
		w := minidotest.NewWorker(t, bookmarkWorker, d.With(minidotest.Options{Kill: func(killpoint.Point) bool {
			if armed {
				seen++
			}
			return armed && seen == n+1
		}}))
		_, one := set(w, "B/a", "1")
		set(w, "B/a", "2")
		armed = true
		asked := false
		for _, call := range []struct {
			path string
			args []any
		}{{"B/a/restore", []any{one}}, {"B/a/crash", []any{}}, {"B/a/get", []any{}}} {
			r := w.Post(call.path, call.args...)
			if err := w.Until(r.Done); err != nil {
				break
			}
			asked = true
		}
		killed := w.Dead()
		armed = false
		if killed {
			w = w.Revive()
		}
		got := w.Call("B/a/get")
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
