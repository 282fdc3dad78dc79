package world

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/server"
)

func options(t testing.TB, project string, bundles *server.Bundles) Options {
	return Options{Config: config.Options{Dir: project}, Dir: t.TempDir(), CacheDir: t.TempDir(), Bundles: bundles, Wreck: t.TempDir}
}

func open(t testing.TB, o Options) *World {
	t.Helper()
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// A routine asks, waits and asks again, beside others; what it is told is a
// function of the seed.
func TestRoutines(t *testing.T) {
	bundles := &server.Bundles{}
	run := func(seed uint64) []string {
		o := options(t, "../../fixtures/counter", bundles)
		o.Seed = seed
		w := open(t, o)
		left := 3
		for range left {
			w.Spawn("client", func(r *Routine) {
				for range 3 {
					answer := w.Send(Request("POST", "http://localhost/c/add?by=1", ""))
					if !r.Await(answer.Done) {
						return
					}
				}
				left--
			})
		}
		if err := w.Until(func() bool { return left == 0 }); err != nil {
			t.Fatal(err)
		}
		last := w.Send(Request("GET", "http://localhost/c", ""))
		if err := w.Until(last.Done); err != nil || !strings.Contains(string(last.Body), `"total":9`) {
			t.Fatalf("%s, %v", last.Body, err)
		}
		return w.History
	}
	if one, two := run(1), run(1); !slices.Equal(one, two) {
		t.Error("one seed, two histories")
	}
	if slices.Equal(run(1), run(2)) {
		t.Error("two seeds, one history")
	}
}

// A world that dies at a point, also in its start, leaves what was committed;
// its files are closed, and routines that wait are told.
func TestDeath(t *testing.T) {
	bundles := &server.Bundles{}
	o := options(t, "../../fixtures/counter", bundles)
	var all []killpoint.Point
	o.Point = func(p killpoint.Point, _ Moment) { all = append(all, p) }
	w := open(t, o)
	first := w.Send(Request("POST", "http://localhost/c/wake?ms=100", ""))
	if err := w.Until(first.Done); err != nil {
		t.Fatal(err)
	}
	for _, point := range all {
		o := options(t, "../../fixtures/counter", bundles)
		o.Kill = func(p killpoint.Point) bool { return p.Number == point.Number }
		w, err := Open(o)
		if err != nil && err != ErrKilled {
			t.Fatal(err)
		}
		told := err == ErrKilled
		w.Spawn("client", func(r *Routine) {
			told = true
			if _, dead := w.Dead(); dead {
				return
			}
			answer := w.Send(Request("POST", "http://localhost/c/wake?ms=100", ""))
			told = !r.Await(answer.Done) || !r.Await(func() bool { return false })
		})
		if err := w.Until(func() bool { return false }); err != ErrKilled {
			t.Fatalf("%s: %v", point.Label(), err)
		}
		if at, dead := w.Dead(); !dead || at != point {
			t.Fatalf("died at %s, want %s", at.Label(), point.Label())
		}
		after := slices.IndexFunc(w.History, func(line string) bool { return strings.Contains(line, " killed at ") })
		for _, line := range w.History[after+1:] {
			if strings.Contains(line, " event ") || strings.Contains(line, " log ") {
				t.Errorf("%s: the dead say %s", point.Label(), line)
			}
		}
		if err := w.Stop(); err != nil || !told {
			t.Errorf("%s: %v, told %v", point.Label(), err, told)
		}
		next := options(t, "../../fixtures/counter", bundles)
		next.Dir, next.Start = w.Wreck(), w.Now()
		if n := open(t, next); n.Server.LiveObjects() != 0 {
			t.Error("objects came through")
		}
	}
}

// A world that is killed between two steps leaves its files, byte for byte, as
// they were: what takes it down writes nothing.
func TestKillLeavesFiles(t *testing.T) {
	bundles := &server.Bundles{}
	for steps, more := 0, true; more; steps += 3 {
		w := open(t, options(t, "../../fixtures/counter", bundles))
		for _, path := range []string{"/c/add?by=1", "/c/wake?ms=100", "/d/add?by=2"} {
			w.Send(Request("POST", "http://localhost"+path, ""))
		}
		for range steps {
			var err error
			if more, err = w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		w.Kill()
		if err := w.Stop(); err != nil {
			t.Fatal(err)
		}
		if at, after := files(t, w.Wreck()), files(t, w.options.Dir); !maps.Equal(at, after) || !more && len(at) == 0 {
			t.Errorf("after %d steps the files are %q, at the death they were %q", steps, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(at)))
		}
	}
}

// files are the state in a persist directory, by name.
func files(t *testing.T, dir string) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "v3"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		data, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
