package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/sim"
)

// A limit spreads what it leaves; shards share everything out.
func TestChoose(t *testing.T) {
	var plans []fault.Plan
	for range 10 {
		plans = append(plans, fault.Plan{{Point: string(rune('0' + len(plans)))}})
	}
	c := &campaign{Options: Options{Max: 5}}
	if got := c.choose(plans, ranCase{}); len(got) != 5 || got[1][0].Point != "2" || c.report.Skipped != 5 {
		t.Errorf("%v", got)
	}
	seen := map[string]int{}
	for shard := 1; shard <= 3; shard++ {
		c := &campaign{Options: Options{Shard: shard, Shards: 3}}
		for _, p := range c.choose(plans, ranCase{}) {
			seen[p.String()]++
		}
	}
	if len(seen) != 10 {
		t.Errorf("%v", seen)
	}
	clean := ranCase{states: make([]sim.State, len(plans))} // of pairs of points
	for i, p := range plans {
		clean.points, clean.states[i].Files[0] = append(clean.points, p[0].Point), byte(i/2)
	}
	c = &campaign{Options: Options{Shard: 2, Shards: 2}}
	if got := fmt.Sprint(c.choose(plans, clean)); got != fmt.Sprint([]fault.Plan{plans[2], plans[3], plans[6], plans[7]}) {
		t.Errorf("worlds are torn apart: %s", got)
	}
}

// The replay line is safe for a shell, and says all that the run was given.
func TestReplayLine(t *testing.T) {
	step, err := drive.Parse(drive.Call, `A/it's.m("x")`)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Project: "my app", Steps: []drive.Step{step}, CommandVars: []string{"A:b c"}, Recover: chaos.ByRequest, SinkVar: "SINK", Timeout: DefaultTimeout}
	want := `minido chaos replay 'my app' --call 'A/it'\''s.m("x")' --var 'A:b c' --recover request --effects SINK --plan 'kill@commit:after(A/a)/rpc#1; kill@after(1s)'`
	plan, err := fault.ParsePlan("kill@commit:after(A/a)/rpc#1; kill@after(1s)")
	if err != nil {
		t.Fatal(err)
	}
	if got := o.replay(plan); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A plan becomes smaller by one fault at a time.
func TestReductions(t *testing.T) {
	if got := reductions(fault.Plan{{Point: "1"}}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := reductions(fault.Plan{{Point: "1"}, {Point: "2"}}); len(got) != 2 || got[0].String() != "kill@2" || got[1].String() != "kill@1" {
		t.Errorf("%v", got)
	}
}

// The wait for an alarm counts from when the next server was ready, for the first
// one that is due, and ends when something else had the system work again.
func TestWaitedForAnAlarm(t *testing.T) {
	died := time.Unix(100, 0)
	due := func(ms ...int) check.Snapshot {
		s := check.Snapshot{At: died}
		s.Objects = append(s.Objects, check.Object{})
		for _, n := range ms {
			s.Objects = append(s.Objects, check.Object{Row: check.Alarm{At: died.Add(time.Duration(n) * time.Millisecond), Set: true}})
		}
		return s
	}
	for _, c := range []struct {
		s    check.Snapshot
		want float64
	}{{due(), 0}, {due(-5), 0}, {due(20), 0}, {due(200, 90, 300), 60}, {due(400), 220}} {
		k := result.Kill{ReadyMs: 30, RecoveredMs: 250}
		if waited(&k, c.s); k.WaitedMs != c.want {
			t.Errorf("%v: waited %v ms, want %v", c.s.Objects, k.WaitedMs, c.want)
		}
	}
	never := result.Kill{ReadyMs: 30}
	if waited(&never, due(90)); never.WaitedMs != 0 {
		t.Errorf("a system that never recovered waited %v ms", never.WaitedMs)
	}
}

// A directory that an earlier campaign has used keeps its cases: those of the next
// one come after them.
func TestDirectoryIsUsedAgain(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"case-0002", "case-0011", "case-x", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := &campaign{dir: dir}
	var err error
	if c.cases, err = evidence.LastCase(dir); err != nil || c.caseDir() != filepath.Join(dir, "case-0012") {
		t.Errorf("%v, then %s", err, c.caseDir())
	}
}

// What a simulation's workshop holds of a case is moved to where evidence is kept,
// or gone.
func TestSettle(t *testing.T) {
	c := &campaign{dir: t.TempDir(), workshop: &evidence.Workshop{Dir: t.TempDir()}}
	for _, keep := range []bool{true, false} {
		r := began("case")
		r.Dir = c.caseDir()
		name := filepath.Base(r.Dir)
		if err := os.MkdirAll(filepath.Join(r.Dir, "death-1"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.Dir, "death-1", "file"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.settle(&r, keep); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(c.workshop.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("keep %v: it is still in the workshop: %v", keep, err)
		}
		want, home := "", filepath.Join(c.dir, name)
		if keep {
			want = home
		}
		text, err := os.ReadFile(filepath.Join(home, "death-1", "file"))
		if r.Dir != want || string(text) != name && keep || !keep && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("keep %v: the case is in %q with %q, %v", keep, r.Dir, text, err)
		}
	}
}

// What ends a campaign leaves its evidence on the disk, unless it was cancelled.
func TestEvidenceOfTheEnd(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		c := &campaign{Options: Options{Mode: Sim}, dir: t.TempDir(), workshop: &evidence.Workshop{Dir: t.TempDir()}}
		from := c.workshop.Room(c.dir)
		if err := os.MkdirAll(filepath.Join(from, "case-0001", "history.ndjson"), 0o700); err != nil { // in the file's place
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if cancelled {
			cancel()
		}
		_, err := (&slot{camp: c}).run(ctx, group{})
		cancel()
		if err == nil {
			t.Fatal("a case ran without a history")
		}
		_, err = os.Stat(filepath.Join(c.dir, "case-0001", "state"))
		if kept := err == nil; kept == cancelled && from != c.dir {
			t.Errorf("cancelled %v, kept %v: %v", cancelled, kept, err)
		}
	}
}
