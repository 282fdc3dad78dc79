package durableobject_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/minidotest"
)

// Files that are deleted while the server runs: the next write fails, and the
// error and the log name the file. Nothing that was deleted comes back empty in
// silence.
func TestFilesVanish(t *testing.T) {
	id := objectid.NewNamespace("test-Clock").FromName("a").String()
	for _, what := range []string{"the state directory", "the namespace", "the object", "its database", "its log", "the alarm index"} {
		t.Run(what, func(t *testing.T) {
			w := minidotest.NewWorker(t, clockwork, minidotest.Options{})
			w.Want(`{"ok":1}`, "Clock/a/arm", 1, 3_600_000)
			space := filepath.Join(w.Dir(), "v3", "do", "test-Clock")
			var gone []string
			switch what {
			case "the state directory":
				gone = []string{filepath.Join(w.Dir(), "v3")}
			case "the namespace":
				gone = []string{space}
			case "the object":
				all, err := filepath.Glob(filepath.Join(space, id) + "*")
				if err != nil || len(all) < 3 {
					t.Fatal(all, err)
				}
				gone = all
			case "its database":
				gone = []string{filepath.Join(space, id+".sqlite")}
			case "its log":
				gone = []string{filepath.Join(space, id+".sqlite-wal")}
			case "the alarm index":
				gone = []string{filepath.Join(space, "metadata.sqlite")}
			}
			for _, path := range gone {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			named := id
			if what == "the alarm index" {
				named = "metadata.sqlite"
			}
			got := w.Call("Clock/a/arm", 2, 7_200_000)
			if strings.Contains(got, `"ok"`) || !strings.Contains(got, named) {
				t.Errorf("the write after it: %s", got)
			}
			if len(reported(w, named)) == 0 {
				t.Errorf("no line of the log names %s:\n%s", named, strings.Join(w.History, "\n"))
			}
			if got := w.Call("Clock/a/report"); what != "the object" && strings.Contains(got, `"ok"`) && !strings.Contains(got, `"acked":[1`) {
				t.Errorf("then: %s", got)
			}
		})
	}
}

// A new alarm for which there is no index any more resets its object, and names the index, whether it is
// earlier or later than the one before.
func TestIndexVanishes(t *testing.T) {
	for _, ms := range []int{1000, 7_200_000} {
		w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
		w.Want(`{"ok":null}`, "R/a/set", 3_600_000)
		if err := os.Remove(filepath.Join(w.Dir(), "v3", "do", "test-R", "metadata.sqlite")); err != nil {
			t.Skip("the system does not let go of the name: ", err)
		}
		if got := w.Call("R/a/set", ms); !strings.HasPrefix(got, `{"err":{"name":"Error","message":"alarm index: alarms: write `) {
			t.Errorf("%d ms: %s", ms, got)
		}
		if lines := w.Logged("log R/a: alarm index: "); len(lines) != 1 {
			t.Errorf("%d ms: the log has %q", ms, lines)
		}
	}
}
