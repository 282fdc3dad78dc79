package durableobject_test

import (
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/reference"
	"minido.dev/minido/runtime/minidotest"
)

// keepWorker sets and deletes alarms around deleteAll(), in one turn and in two.
const keepWorker = `
export class K extends DurableObject {
  get st() { return this.ctx.storage; }
  async alarm() { fired.push(this.ctx.id.name); }
  async setThenAll() { this.st.put("a", 1); this.st.setAlarm(Date.now() + 60); this.st.deleteAll(); return [(await this.st.getAlarm()) !== null, await this.st.get("a") ?? null]; }
  async earlierThenAll() { await this.st.setAlarm(Date.now() + 3600e3); this.st.setAlarm(Date.now() + 60); await this.st.deleteAll(); return (await this.st.getAlarm()) - Date.now() < 1000; }
  async laterThenAll() { await this.st.setAlarm(Date.now() + 60); this.st.setAlarm(Date.now() + 3600e3); await this.st.deleteAll(); return (await this.st.getAlarm()) - Date.now() > 1000; }
  async deleteThenAll() { await this.st.setAlarm(Date.now() + 60); this.st.deleteAlarm(); await this.st.deleteAll(); return await this.st.getAlarm(); }
  async awaited() { await this.st.setAlarm(Date.now() + 60); await this.st.deleteAll(); return (await this.st.getAlarm()) !== null; }
  async allThenSet() { await this.st.deleteAll(); await this.st.setAlarm(Date.now() + 60); return (await this.st.getAlarm()) !== null; }
}
const fired = [];
export default serve({
  async run(env) {
    const out = [];
    for (const m of ["setThenAll", "earlierThenAll", "laterThenAll", "deleteThenAll", "awaited", "allThenSet"]) out.push([m, await attempt(() => env.K.getByName(m)[m]())]);
    await scheduler.wait(600);
    out.push(fired.sort());
    return out;
  },
});
`

const keptAlarms = `{"ok":[["setThenAll",{"ok":[true,null]}],["earlierThenAll",{"ok":true}],["laterThenAll",{"ok":true}],["deleteThenAll",{"ok":null}],` +
	`["awaited",{"ok":true}],["allThenSet",{"ok":true}],["allThenSet","awaited","earlierThenAll","setThenAll"]]}`

// Before the date from which deleteAll() deletes the alarm it keeps the one that
// is set at that moment, committed or not, and that one fires.
func TestDeleteAllKeepsAlarm(t *testing.T) {
	w := minidotest.NewWorker(t, keepWorker, minidotest.Options{Date: "2026-01-01"})
	w.Want(keptAlarms, "!run")
}

// The reference does the same.
func TestDifferentialDeleteAllKeepsAlarm(t *testing.T) {
	p := reference.Start(t, reference.Options{Name: "test", Classes: []string{"K"}, Dir: t.TempDir(), Date: "2026-01-01", Script: minidotest.Script(keepWorker)})
	if status, got := p.Post("/!run", "[]"); status != 200 || got != keptAlarms {
		t.Errorf("%d %s", status, got)
	}
}

// A death at any moment of a deleteAll() that keeps an alarm which was moved to an
// earlier time leaves that time or the one before in the row, and the index no
// later.
func TestKeptAlarmSurvivesDeath(t *testing.T) {
	minidotest.EachDeath(t, func(t *testing.T, d minidotest.Death) {
		source := clockwork + `
Clock.prototype.moveAndWipe = async function (ms) { this.ctx.storage.setAlarm(Date.now() + ms); await this.ctx.storage.deleteAll(); return 1; };`
		o := d.With(minidotest.Options{Date: "2026-01-01"})
		play := func(w *minidotest.World) {
			for _, ms := range []int{3_600_000, 60_000} {
				r := w.Post("Clock/a/moveAndWipe", ms)
				if w.Until(r.Done) != nil {
					return
				}
			}
		}
		first := minidotest.NewWorker(t, source, o)
		play(first)
		for _, n := range moments(first, d) {
			o.Kill = func(p killpoint.Point) bool { return p.Number == n }
			w := first.Again(o)
			play(w)
			if !w.Dead() {
				w.Stop()
				continue
			}
			where, row := w.Logged("killed at")[0], rowOf(t, w.Wreck())
			wantNoLater(t, where, w.Wreck(), row)
			w = w.Revive()
			w.Advance(2 * time.Hour)
			if left := indexed(w, "Clock"); len(left) > 0 {
				t.Errorf("%s: the index still has %v", where, left)
			}
			w.Stop()
		}
	})
}
