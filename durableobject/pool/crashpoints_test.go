package pool_test

import (
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

const crashWorker = `
export class C extends DurableObject {
  lives = crypto.randomUUID();
  life() { return this.lives; }
  async add(id) {
    await this.ctx.storage.put("id:" + id, 1);
    await scheduler.wait(1);
    await this.ctx.storage.put("late:" + id, 1);
    return id;
  }
  async plan() { await this.ctx.storage.setAlarm(Date.now() + 50); return "planned"; }
  async alarm() { await this.ctx.storage.put("alarms", (await this.ctx.storage.get("alarms") ?? 0) + 1); }
  async ids() { return [...(await this.ctx.storage.list({ prefix: "id:" })).keys()].length + "+" + [...(await this.ctx.storage.list({ prefix: "late:" })).keys()].length; }
  async state() { return [await this.ctx.storage.get("alarms") ?? 0, await this.ctx.storage.getAlarm()]; }
}
export default serve({});
`

// An object that is armed crashes at each of the points of its calls: what was
// committed before the point is there afterwards and nothing else, its caller
// loses the connection, and other objects and the worker go on.
func TestCrashAtEffectPoints(t *testing.T) {
	for _, x := range []struct{ at, answer, left string }{
		{"file:before", "lost", "0+0"},
		{"wake:after", "lost", "0+0"},
		{"commit:before", "lost", "0+0"},
		{"commit:after", "lost", "1+0"},
		{"commit:before#2", "lost", "1+0"},
		{"commit:before/timer", "lost", "1+0"},
		{"commit:after#2", "lost", "1+1"},
		{"commit:before#3", `{"ok":7}`, "1+1"},
	} {
		w := minidotest.NewWorker(t, crashWorker, minidotest.Options{})
		life := w.Call("C/other/life")
		ref, err := w.Server.Address("C", "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := ref.ArmCrash(x.at); err != nil {
			t.Fatal(err)
		}
		got := w.Call("C/a/add", 7)
		if strings.Contains(got, "Network connection lost.") {
			got = "lost"
		}
		if got != x.answer {
			t.Errorf("%s: the caller got %s, want %s", x.at, got, x.answer)
		}
		w.Server.Points().Disarm()
		w.Want(fmt.Sprintf(`{"ok":%q}`, x.left), "C/a/ids")
		if again := w.Call("C/other/life"); again != life {
			t.Errorf("%s: the other object's life ended too", x.at)
		}
		w.Want(`{"ok":8}`, "C/a/add", 8)
	}
}

// The alarm of an object that crashes while it is set, delivered or
// acknowledged fires exactly as its row says.
func TestCrashAtAlarmPoints(t *testing.T) {
	for _, x := range []struct{ at, answer, state string }{
		{"index:before", "lost", "[0,null]"},
		{"index:after", "lost", "[0,null]"}, // the index alone knows of it, and is put right
		{"commit:before", "lost", "[0,null]"},
		{"commit:after", "lost", "[1,null]"},
		{"alarm:before", `{"ok":"planned"}`, "[1,null]"},
		{"commit:before/alarm", `{"ok":"planned"}`, "[1,null]"},
	} {
		w := minidotest.NewWorker(t, crashWorker, minidotest.Options{})
		w.Call("C/a/life")
		ref, err := w.Server.Find("C", "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := ref.ArmCrash(x.at); err != nil {
			t.Fatal(err)
		}
		got := w.Call("C/a/plan")
		if strings.Contains(got, "Network connection lost.") {
			got = "lost"
		}
		if got != x.answer {
			t.Errorf("%s: the caller got %s, want %s", x.at, got, x.answer)
		}
		w.Advance(30 * 1e9)
		if left := w.Server.Points().Armed(); len(left) > 0 {
			t.Errorf("%s was not reached", left)
		}
		if got := w.Call("C/a/state"); got != `{"ok":`+x.state+`}` {
			t.Errorf("%s: got %s, want %s", x.at, got, x.state)
		}
	}
}

// What cannot be armed is refused, with the reason.
func TestArmRefuses(t *testing.T) {
	w := minidotest.NewWorker(t, crashWorker, minidotest.Options{})
	ref, err := w.Server.Address("C", "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"commit", "3", "commit:before(C/b)", "commit:during"} {
		if err := ref.ArmCrash(at); err == nil {
			t.Errorf("%q was armed", at)
		}
	}
	if _, err := w.Server.Find("C", "a"); err == nil {
		t.Error("arming made the object exist")
	}
	var off *killpoint.Points
	if off.Arm("C/a", "commit:before", func(killpoint.Point) {}) == nil {
		t.Error("armed what is switched off")
	}
}
