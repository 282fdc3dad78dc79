package e2e

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minido.dev/minido/internal/golden"
)

// The files that the last wrangler wrote, and what minido finds in them.
const (
	goldenState = "testdata/interchange/wrangler-state.zip"
	goldenLook  = "testdata/interchange/wrangler-state.golden"
)

// interchange starts the worker of testdata/interchange under a runtime.
func interchange(t *testing.T, who, state string) server {
	t.Helper()
	config, err := filepath.Abs("testdata/interchange/wrangler.json")
	if err != nil {
		t.Fatal(err)
	}
	return runtimes[who](t, "--config", config, "--port", "0", "--persist-to", state, "--var", "WHO:"+who)
}

// lookAt is what the worker finds in the object of a name, a line for each.
func lookAt(t *testing.T, s server, path string) string {
	t.Helper()
	var lines []string
	get(t, s.url+"/"+path, &lines)
	return strings.Join(lines, "\n") + "\n"
}

// firedOnce checks that an alarm has run under a runtime, once, with its
// object's name, and that no request was needed for it: the caller has sent none.
func (l *lives) firedOnce(who, name string) {
	l.t.Helper()
	fired := func() string {
		var lines []string
		for _, row := range l.rows("Box", "fired", "SELECT who, name FROM fired ORDER BY rowid") {
			if row.Text("name") == name {
				lines = append(lines, row.Text("who"))
			}
		}
		return strings.Join(lines, " ")
	}
	until(l.t, "the alarm of "+name+" fires", func() bool { return fired() != "" })
	if got := fired(); got != who {
		l.t.Errorf("the alarm of %s ran under %q, want %s once", name, got, who)
	}
}

// A directory that one runtime wrote and was killed on opens in the other, and
// the other way round: KV values of every kind, SQL, alarms, names, facets. What
// the second one changes, the first one finds.
func TestDifferentialInterchange(t *testing.T) {
	looks := map[string]string{}
	for _, hands := range handovers {
		t.Run(strings.Join(hands, " to "), func(t *testing.T) {
			wranglerModules(t)
			l := &lives{t: t, state: filepath.Join(t.TempDir(), "state")}
			s := interchange(t, hands[0], l.state)
			var unique []string
			get(t, s.url+"/new/id", &unique)
			lookAt(t, s, "a/fill")
			lookAt(t, s, unique[0]+"/fill")
			lookAt(t, s, "caf%C3%A9/soon?3000")
			first, firstUnique := lookAt(t, s, "a/look"), lookAt(t, s, unique[0]+"/look")
			looks[hands[0]] = first
			kill(t, s)
			if hands[0] == "wrangler" && golden.Update() {
				writeGoldenState(t, l.state, first)
			}

			s = interchange(t, hands[1], l.state)
			l.firedOnce(hands[1], "café")
			same(t, hands[0]+" wrote, "+hands[1]+" reads", first, lookAt(t, s, "a/look"))
			same(t, "the same without a name", firstUnique, lookAt(t, s, unique[0]+"/look"))
			lookAt(t, s, "a/more")
			lookAt(t, s, "z/soon?3000")
			second := lookAt(t, s, "a/look")
			kill(t, s)

			s = interchange(t, hands[2], l.state)
			l.firedOnce(hands[2], "z")
			same(t, hands[1]+" changed, "+hands[2]+" reads", second, lookAt(t, s, "a/look"))
			kill(t, s)
		})
	}
	if len(looks) == 2 {
		same(t, "what each wrote", looks["wrangler"], looks["minido"])
	}
}

// The files of a wrangler that was killed, checked in, open without it.
func TestWranglerState(t *testing.T) {
	t.Parallel()
	l := &lives{t: t, state: filepath.Join(t.TempDir(), "state")}
	readGoldenState(t, l.state)
	want, err := os.ReadFile(goldenLook)
	if err != nil {
		t.Fatal(err)
	}
	s := interchange(t, "minido", l.state)
	l.firedOnce("minido", "café")
	same(t, "checked in, read", string(want), lookAt(t, s, "a/look"))
}

func kill(t *testing.T, s server) {
	t.Helper()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, what, want, got string) {
	t.Helper()
	if want != got {
		t.Errorf("%s: %s", what, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

// writeGoldenState checks in the Durable Objects' files below state.
func writeGoldenState(t *testing.T, state, look string) {
	t.Helper()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	objects := os.DirFS(state)
	err := fs.WalkDir(objects, "v3/do", func(path string, e fs.DirEntry, err error) error {
		// The index of a log in shared memory is rebuilt from the log.
		if err != nil || e.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		data, err := fs.ReadFile(objects, path)
		if err != nil {
			return err
		}
		w, err := z.Create(path)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	err = errors.Join(err, z.Close(), os.WriteFile(goldenState, packed.Bytes(), 0o644), os.WriteFile(goldenLook, []byte(look), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

func readGoldenState(t *testing.T, state string) {
	t.Helper()
	z, err := zip.OpenReader(goldenState)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if err := unpack(f, filepath.Join(state, filepath.FromSlash(f.Name))); err != nil {
			t.Fatal(err)
		}
	}
}

func unpack(f *zip.File, path string) error {
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", f.Name, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return os.WriteFile(path, data, 0o600)
}
