package durableobject_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"

	"pgregory.net/rapid"
)

// modelWorker logs its alarms and fails as often as it is told.
const modelWorker = `
export class M extends DurableObject {
  arm(at, fail) { this.ctx.storage.kv.put("fail", fail); return this.ctx.storage.setAlarm(at); }
  clear() { return this.ctx.storage.deleteAlarm(); }
  wipe() { return this.ctx.storage.deleteAll(); }
  lost(at) { this.ctx.storage.setAlarm(at); this.ctx.abort("lost"); }
  alarm(i) {
    const kv = this.ctx.storage.kv, fail = kv.get("fail") ?? 0, log = kv.get("log") ?? [];
    log.push([i.scheduledTime, Date.now(), i.retryCount]);
    kv.put("log", log);
    if (fail > 0) { kv.put("fail", fail - 1); throw new Error("as told"); }
  }
  async state() { const kv = this.ctx.storage.kv; const log = kv.get("log") ?? []; kv.delete("log"); return [log, await this.ctx.storage.getAlarm()]; }
}
export default serve({});
`

// alarmModel is one object's alarm as docs/semantics.md 19 to 22 have it: at what time
// it is due, how often the handler will throw, and what the calls must look like.
type alarmModel struct {
	at     int64 // 0 for none
	fail   int
	last   int64 // when the handler failed last; 0 if it has not
	waitMs int64 // before the next retry, without its jitter
}

// observe checks the calls that happened up to now against the model.
func (m *alarmModel) observe(t *rapid.T, calls [][3]int64, now int64) {
	for _, c := range calls {
		scheduled, at, retry := c[0], c[1], c[2]
		if m.at == 0 {
			t.Fatalf("called %v without an alarm", c)
		}
		if scheduled != m.at || at < m.at {
			t.Fatalf("called %v, the alarm is for %d", c, m.at)
		}
		if m.last == 0 && retry != 0 || m.last != 0 && (at < m.last+m.waitMs || at > m.last+m.waitMs*5/4+1) {
			t.Fatalf("called %v, the handler failed last at %d, wait %d ms", c, m.last, m.waitMs)
		}
		if m.fail == 0 {
			*m = alarmModel{}
			continue
		}
		m.fail--
		m.last = at
		if m.waitMs == 0 {
			m.waitMs = 1000
		}
		m.waitMs *= 2
	}
	if m.at != 0 && m.last == 0 && now > m.at+1 {
		t.Fatalf("the alarm for %d was not called by %d", m.at, now)
	}
	if m.last != 0 && now > m.last+m.waitMs*5/4+1 {
		t.Fatalf("no retry by %d, the handler failed last at %d, wait %d ms", now, m.last, m.waitMs)
	}
}

// few makes rapid try n programs, each of which takes a server, unless the flag
// -rapid.checks asks for another number.
func few(t *testing.T, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue {
		if err := checks.Value.Set(strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = checks.Value.Set(before) }) // it was this value before
	}
}

// Random programs of setting, moving, deleting, failing, resets, evictions,
// restarts and deaths of the process give exactly the calls of the model.
func TestAlarmModel(t *testing.T) {
	steps := 12
	if testing.Short() {
		steps = 6
	}
	few(t, 5)
	rapid.Check(t, func(rt *rapid.T) {
		var dead func(killpoint.Point) bool
		kill := func(p killpoint.Point) bool { return dead != nil && dead(p) }
		d := rapid.SampledFrom(minidotest.Deaths).Draw(rt, "death")
		w := minidotest.NewWorker(t, modelWorker, d.With(minidotest.Options{Idle: 20 * time.Second, Kill: kill, SyncTakes: time.Nanosecond}))
		defer func() { w.Stop() }()
		var m alarmModel
		observe := func() {
			var answer struct{ OK [2]json.RawMessage }
			text := w.Call("M/a/state")
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				rt.Fatalf("%s: %v", text, err)
			}
			var calls [][3]int64
			var at *int64
			if json.Unmarshal(answer.OK[0], &calls) != nil || json.Unmarshal(answer.OK[1], &at) != nil {
				rt.Fatalf("%s", text)
			}
			m.observe(rt, calls, w.Now().UnixMilli())
			if (at == nil) != (m.at == 0) || at != nil && *at != m.at {
				rt.Fatalf("getAlarm() is %v, the model has %+v", at, m)
			}
		}
		// What is overdue at a start is called at once, which is not before a
		// request that comes at once. Retry counts live in memory.
		restarted := func() {
			if m.last != 0 {
				m.last, m.waitMs = 0, 0
			}
			w.Advance(time.Millisecond)
		}
		for range rapid.IntRange(1, steps).Draw(rt, "steps") {
			now := w.Now().UnixMilli()
			switch op := rapid.SampledFrom([]string{"arm", "arm", "arm", "clear", "wipe", "lost", "wait", "wait", "restart", "kill"}).Draw(rt, "op"); op {
			case "arm":
				if m.last != 0 {
					continue // what follows a pending retry is TestSetBetweenRetries'
				}
				at := now + rapid.SampledFrom([]int64{-5000, 0, 1, 500, 30_000, 90_000}).Draw(rt, "in")
				fail := rapid.IntRange(0, 3).Draw(rt, "fail")
				w.Want(`{"ok":null}`, "M/a/arm", at, fail)
				m = alarmModel{at: max(at, now), fail: fail}
			case "clear":
				w.Want(`{"ok":null}`, "M/a/clear")
				m = alarmModel{}
			case "wipe":
				observe()
				w.Want(`{"ok":null}`, "M/a/wipe")
				m = alarmModel{}
			case "lost":
				w.Call("M/a/lost", now+700)
			case "wait":
				w.Advance(rapid.SampledFrom([]time.Duration{time.Millisecond, 700 * time.Millisecond, 5 * time.Second, 2 * time.Minute}).Draw(rt, "for"))
			case "restart":
				observe()
				w.Stop()
				w = w.Next(w.Dir(), kill)
				restarted()
			case "kill":
				observe()
				dead = func(p killpoint.Point) bool { return p.Object == "M/witness" }
				r := w.Post("M/witness/clear")
				if w.Until(r.Done) == nil {
					rt.Fatal("the world did not die")
				}
				dead = nil
				w = w.ReviveTo(kill)
				restarted()
			}
			observe()
		}
		w.Advance(10 * time.Minute)
		observe()
		if m.at != 0 {
			rt.Fatalf("left over: %+v", m)
		}
		if left := fmt.Sprint(indexed(w, "M")); left != "[]" {
			rt.Fatalf("the index has %s", left)
		}
	})
}
