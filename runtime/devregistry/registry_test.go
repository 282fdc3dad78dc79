package devregistry_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/devregistry"
)

// A name belongs to the session that took it first, until that one ends or has not
// touched its entry for 90 s; a session withdraws its own entries and no others.
func TestEntries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "v5")
	threads := sched.NewThreads(clock.Real{})
	machine := clock.NewVirtual(clock.Real{}.Now())
	open := func() *devregistry.Registry {
		r, err := devregistry.Open(devregistry.Options{Dir: dir, Scheduler: threads, Machine: machine, Entropy: entropy.System{},
			Dialer: netx.NewMemory(threads), Report: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second, third := open(), open(), open()
	register := func(r *devregistry.Registry, names ...string) {
		t.Helper()
		if err := r.Register(names); err != nil {
			t.Fatal(err)
		}
	}
	finds := func(r *devregistry.Registry, name string, want devregistry.State) {
		t.Helper()
		if _, state, err := r.Find(name); state != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", name, state, err, want)
		}
	}
	owner := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ InstanceID string }
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		return e.InstanceID
	}
	register(first, "one", "two", "../outside")
	own := owner("one")
	register(second, "two", "three")
	if owner("two") != own || owner("three") == own {
		t.Error("a name was taken from a session that runs")
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "outside")); err == nil {
		t.Error("a name has led out of the directory")
	}
	finds(third, "one", devregistry.Found)
	finds(first, "one", devregistry.Absent) // itself
	finds(second, "two", devregistry.Found)
	finds(third, "../v5/one", devregistry.Absent)
	register(first, "one") // it was renamed
	finds(third, "two", devregistry.Absent)
	machine.Advance(11 * time.Second)
	if owner("two") == own {
		t.Error("the heartbeat has not taken over the name that is free")
	}

	// A session that was killed: nobody touches its entry.
	old := machine.Now().Add(-91 * time.Second)
	writeEntry := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "dead"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeEntry(`{"instanceId": "gone", "minido": {"address": "127.0.0.1:1"}}`)
	finds(third, "dead", devregistry.Found)
	if err := os.Chtimes(filepath.Join(dir, "dead"), old, old); err != nil {
		t.Fatal(err)
	}
	finds(third, "dead", devregistry.Absent)
	writeEntry(`{"instanceId": "other", "debugPortAddress": "127.0.0.1:1"}`) // as wrangler writes it
	finds(third, "dead", devregistry.Found)
	writeEntry(`{"instanceId": "other"}`)
	finds(third, "dead", devregistry.Foreign)

	// One that was killed and minido's own: its name is free at once.
	writeEntry(`{"instanceId": "gone", "minido": {"address": "127.0.0.1:1"}}`)
	register(second, "dead")
	finds(third, "dead", devregistry.Found)
	if owner("dead") == "gone" {
		t.Error("the name of a session that was killed is not taken over")
	}
	register(second)
	writeEntry(`{"instanceId": "other", "debugPortAddress": "127.0.0.1:1"}`)

	for _, r := range []*devregistry.Registry{first, second, third} {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "dead" {
		t.Errorf("left behind: %v", left)
	}
	if err := threads.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
