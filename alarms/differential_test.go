package alarms

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"minido.dev/minido/runtime/config"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/reference"
)

// sleeper answers with its id, and with the alarms that it saw.
const sleeper = `
import { DurableObject } from "cloudflare:workers";
export class Sleeper extends DurableObject {
  about() { return { id: this.ctx.id.toString(), fired: this.ctx.storage.kv.get("fired") ?? [] }; }
  async wakeAt(ms) { await this.ctx.storage.setAlarm(ms); return this.about(); }
  alarm(info) {
    const { fired } = this.about();
    this.ctx.storage.kv.put("fired", [...fired, { scheduled: info.scheduledTime, name: this.ctx.id.name }]);
  }
}
export default {
  async fetch(request, env) {
    const { searchParams: q } = new URL(request.url);
    const stub = env.Sleeper.getByName(q.get("name"));
    return Response.json(q.has("at") ? await stub.wakeAt(Number(q.get("at"))) : await stub.about());
  },
};`

type sleeperAbout struct {
	ID    string
	Fired []struct {
		Scheduled int64
		Name      string
	}
}

// An alarm that workerd stored is delivered by the scheduler, with the object's
// name, and one that the scheduler stored wakes the object under workerd.
func TestDifferentialIndex(t *testing.T) {
	dir := t.TempDir()
	options := reference.Options{Script: sleeper, Name: "app", Classes: []string{"Sleeper"}, Dir: dir}
	ids := objectid.NewNamespace(config.UniqueKey("app", "Sleeper"))
	far := time.Now().Add(time.Hour).UnixMilli()

	w := reference.Start(t, options)
	var about sleeperAbout
	w.Get("/?name=r1&at="+itoa(far), &about)
	if want := ids.FromName("r1").String(); about.ID != want {
		t.Fatalf("the id of r1 is %s, ours is %s", about.ID, want)
	}
	w.Kill()

	var got []Delivery
	virtual := clock.NewVirtual(time.Now())
	s := New(Options{Clock: virtual, Entropy: entropy.NewSeeded(1), Deliver: func(d Delivery) { got = append(got, d) }})
	namespaceDir := filepath.Join(dir, ids.UniqueKey())
	if _, err := s.Open(Namespace{Key: ids.UniqueKey(), Class: "Sleeper", Dir: namespaceDir}); err != nil {
		t.Fatal(err)
	}
	s.Start()
	virtual.Advance(2 * time.Hour)
	if len(got) != 1 || got[0].ID != about.ID || got[0].Name != "r1" || got[0].ScheduledMs != far {
		t.Fatalf("delivered %+v, want r1 at %d", got, far)
	}
	// An entry that comes before the row: workerd wakes the object for nothing,
	// and must find the database that the scheduler left sound.
	if err := s.Set(got[0].Object, time.Now().UnixMilli(), "rpc"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	w = reference.Start(t, options)
	w.Get("/?name=r1", &about)
	if len(about.Fired) != 0 {
		t.Errorf("the row says %d, and workerd ran the handler: %+v", far, about.Fired)
	}
	// Its own alarm, in the index that both have written by now.
	w.Get("/?name=r2&at="+itoa(time.Now().UnixMilli()), &about)
	for deadline := time.Now().Add(10 * time.Second); len(about.Fired) == 0 && time.Now().Before(deadline); {
		w.Get("/?name=r2", &about)
	}
	if len(about.Fired) != 1 || about.Fired[0].Name != "r2" {
		t.Errorf("r2 saw %+v", about.Fired)
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
