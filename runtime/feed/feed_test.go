package feed

import (
	"reflect"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/gateway"
	"minido.dev/minido/runtime/isolate"
)

// Observers read on from where they were, and are told what they have missed.
func TestAfter(t *testing.T) {
	f := New(clock.NewVirtual(time.UnixMilli(5000)), nil)
	_, _, more := f.After(0, 10)
	f.Logged(isolate.Logged{Level: "warn", Object: "Room/a", Text: "careful", Stack: "    at fetch (src/worker.ts:7:9)\n    at f (src/a.ts:1:1)"})
	select {
	case <-more:
	default:
		t.Error("who waited is not told")
	}
	f.Request(gateway.RequestLog{Method: "GET", Path: "/x", Status: 404, Duration: 1500 * time.Microsecond})
	got, lost, _ := f.After(0, 10)
	want := []Entry{{Seq: 1, AtMs: 5000, Kind: Log, Object: "Room/a", Level: "warn", Text: "careful", Where: "src/worker.ts:7:9", Stack: "    at fetch (src/worker.ts:7:9)\n    at f (src/a.ts:1:1)"},
		{Seq: 2, AtMs: 5000, Kind: Request, Method: "GET", Path: "/x", Status: 404, TookUs: 1500}}
	if !reflect.DeepEqual(got, want) || lost != 0 {
		t.Errorf("got %v, %d lost, want %v", got, lost, want)
	}
	for range Kept {
		f.Logged(isolate.Logged{Level: "log", Text: "x"})
	}
	got, lost, _ = f.After(1, 3)
	if lost != 1 || len(got) != 3 || got[0].Seq != 3 {
		t.Errorf("after an overflow: %d lost, %v", lost, got)
	}
	if got, _, _ := f.After(1<<40, 1); len(got) != 1 {
		t.Error("an observer of an earlier server gets nothing")
	}
}

// Points are reported while anybody wants them, once each.
func TestWatchPoints(t *testing.T) {
	points := killpoint.New(killpoint.Options{Off: true})
	f := New(clock.NewVirtual(time.UnixMilli(0)), points)
	hit := func() int {
		before := f.last
		points.Hit(killpoint.Wake, killpoint.After, "Room/a", "rpc")
		return int(f.last - before)
	}
	one, two := f.WatchPoints(), f.WatchPoints()
	both := hit()
	one()
	one()
	left := hit()
	two()
	if none := hit(); both != 1 || left != 1 || none != 0 || points.Heard() {
		t.Errorf("a point was reported %d, %d and %d times; points are heard: %v", both, left, none, points.Heard())
	}
	if e := f.ring[0]; e.Kind != Point || e.Object != "Room/a" || e.Effect != "wake" || e.Side != "after" || e.Cause != "rpc" {
		t.Errorf("a point is %+v", e)
	}
}

// Turns are wanted while anybody watches them.
func TestWatchTurns(t *testing.T) {
	f := New(clock.NewVirtual(time.UnixMilli(0)), nil)
	one, two := f.WatchTurns(), f.WatchTurns()
	both := f.Watching()
	f.Turn(&engine.TurnReport{Label: "Room/a", Cause: "rpc", Computed: 1500 * time.Microsecond, Took: 2 * time.Millisecond, Held: 3, Unlisted: 4,
		Statements: []engine.Statement{{Text: "SELECT 1", Where: "at f (a.ts:1:1)", Took: time.Microsecond, Read: 1, Written: 2, Failed: "no"}}})
	f.Synced("Room/a", 7*time.Microsecond, 2)
	one()
	one()
	left := f.Watching()
	two()
	if !both || !left || f.Watching() {
		t.Errorf("watched by two: %v, by one: %v, by none: %v", both, left, f.Watching())
	}
	if e := f.ring[0]; e.Kind != Turn || e.Object != "Room/a" || e.Cause != "rpc" || e.ComputedUs != 1500 || e.TookUs != 2000 || e.Held != 3 || e.Unlisted != 4 ||
		len(e.Statements) != 1 || e.Statements[0] != (StorageCall{"SELECT 1", "at f (a.ts:1:1)", 1, 1, 2, "no"}) {
		t.Errorf("a turn is %+v", e)
	}
	if e := f.ring[1]; e.Kind != Sync || e.Object != "Room/a" || e.TookUs != 7 || e.Held != 2 {
		t.Errorf("a sync is %+v", e)
	}
}

// Points and turns that come faster than anybody reads are counted, requests and logs are
// all kept; a new period takes them again.
func TestBurst(t *testing.T) {
	c := clock.NewVirtual(time.UnixMilli(0))
	f := New(c, nil)
	turn := func() { f.Turn(&engine.TurnReport{Label: "Room/a", Cause: "rpc"}) }
	for range maxBurst + 5 {
		turn()
	}
	if f.last != maxBurst {
		t.Errorf("%d entries of a burst were taken, want %d", f.last, maxBurst)
	}
	f.Request(gateway.RequestLog{Method: "GET", Path: "/x", Status: 200})
	turn()
	if got, _, _ := f.After(maxBurst, 10); len(got) != 1 || got[0].Kind != Request || got[0].Skipped != 5 {
		t.Errorf("behind the burst: %+v", got)
	}
	c.Advance(period)
	turn()
	if got, _, _ := f.After(maxBurst+1, 10); len(got) != 1 || got[0].Kind != Turn || got[0].Skipped != 1 {
		t.Errorf("in the next period: %+v", got)
	}
}
