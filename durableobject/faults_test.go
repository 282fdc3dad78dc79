package durableobject_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/minidotest"
)

const faultWorker = `
export class F extends DurableObject {
  st = this.ctx.storage; sql = this.ctx.storage.sql;
  constructor(ctx, env) { super(ctx, env); this.sql.exec("CREATE TABLE IF NOT EXISTS t (v)"); }
  async write(v) { await this.st.put("k", v); this.sql.exec("INSERT INTO t VALUES (?)", v); return "acknowledged"; }
  async careful(v) { try { await this.st.put("k", v); this.sql.exec("INSERT INTO t VALUES (?)", v); await this.st.sync(); } catch {} return "caught"; }
  async read() { return [await this.st.get("k") ?? null, this.sql.exec("SELECT count(*) c FROM t").one().c]; }
  async twice(v) { try { await this.write(v); await this.env.F.getByName("other").read(); } catch (e) { return e.message; } return "?"; }
}
export default serve({
  same: async (env, ctx, v) => { const s = env.F.getByName("a"); const first = await attempt(() => s.write(v)); return [first, await attempt(() => s.read()), await attempt(() => env.F.getByName("a").read())]; },
});
`

// On a full disk the call fails, whatever user code catches; the stub is broken,
// a new one sees what was committed before, and once there is room again writes
// succeed (docs/semantics.md 2).
func TestDiskFull(t *testing.T) {
	var fault error
	w := minidotest.NewWorker(t, faultWorker, minidotest.Options{Disk: func() error { return fault }})
	w.Want(`{"ok":"acknowledged"}`, "F/a/write", "before")
	for _, c := range []struct {
		err  error
		text string
	}{{sqlite.ErrDiskFull, "database or disk is full: SQLITE_FULL"}, {errors.New("broken"), "disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)"}} {
		fault = c.err
		got := w.Call("!same", "lost")
		if !strings.HasPrefix(got, `{"ok":[{"err":{"name":"Error","message":"`+c.text) || !strings.HasSuffix(got, `{"ok":["before",1]}]}`) {
			t.Errorf("%s: %s", c.text, got)
		}
		if strings.Contains(got, "acknowledged") {
			t.Errorf("a write that is lost was acknowledged: %s", got)
		}
		if got := w.Call("F/a/careful", "lost"); strings.Contains(got, "caught") || !strings.Contains(got, c.text) {
			t.Errorf("code that catches everything hides the loss: %s", got)
		}
		w.Want(`{"ok":["before",1]}`, "F/a/read")
		fault = nil
		w.Want(`{"ok":["before",1]}`, "F/a/read")
	}
	w.Want(`{"ok":"acknowledged"}`, "F/a/write", "after")
	w.Want(`{"ok":["after",2]}`, "F/a/read")
	w = w.Restart()
	w.Want(`{"ok":["after",2]}`, "F/a/read")
}

// A disk that is full once in a while never costs an acknowledged write.
func TestDiskFullNowAndThen(t *testing.T) {
	chance := entropy.NewSeeded(5)
	w := minidotest.NewWorker(t, faultWorker, minidotest.Options{Disk: func() error {
		if chance.Uint64()%12 == 0 {
			return sqlite.ErrDiskFull
		}
		return nil
	}})
	last, failed := "null", 0
	for i := range 60 {
		v := string(rune('A' + i%26))
		switch got := w.Call("F/a/write", v); {
		case got == `{"ok":"acknowledged"}`:
			last = `"` + v + `"`
		case strings.Contains(got, "SQLITE_FULL"):
			failed++
		default:
			t.Fatal(got)
		}
		for got := ""; !strings.HasPrefix(got, `{"ok":[`+last+`,`); {
			if got = w.Call("F/a/read"); !strings.HasPrefix(got, `{"ok":[`+last+`,`) && !strings.Contains(got, "SQLITE_FULL") {
				t.Fatalf("after %s: %s", v, got)
			}
		}
	}
	if failed == 0 || failed == 60 {
		t.Errorf("%d of 60 writes failed", failed)
	}
}

// A damaged file is named, with the way out; other objects are not affected, and
// with its files moved away the object starts empty.
func TestDamagedFile(t *testing.T) {
	w := minidotest.NewWorker(t, faultWorker, minidotest.Options{})
	w.Want(`{"ok":"acknowledged"}`, "F/a/write", "1")
	w.Want(`{"ok":"acknowledged"}`, "F/b/write", "2")
	w.Stop()
	files, err := filepath.Glob(filepath.Join(w.Dir(), "v3", "do", "test-F", "*.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	w = w.Restart()
	w.Want(`{"ok":["1",1]}`, "F/a/read")
	w.Stop()
	damaged := ""
	for _, path := range files {
		if !strings.HasSuffix(path, "metadata.sqlite") && damaged == "" {
			damaged = path
			// not live: the world has stopped
			if err := os.WriteFile(path, []byte(strings.Repeat("this is no database. ", 300)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	w = w.Restart()
	a, b := w.Call("F/a/read"), w.Call("F/b/read")
	if strings.Contains(a, "ok") == strings.Contains(b, "ok") {
		t.Fatalf("one of two objects is damaged: %s, %s", a, b)
	}
	both := a + b
	for _, want := range []string{filepath.Base(damaged), "SQLITE_NOTADB", "move it away"} {
		if !strings.Contains(both, want) {
			t.Errorf("%s lacks %s", both, want)
		}
	}
	away := t.TempDir()
	all, err := filepath.Glob(damaged + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if err := os.Rename(path, filepath.Join(away, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	both = w.Call("F/a/read") + w.Call("F/b/read")
	if !strings.Contains(both, `{"ok":[null,0]}`) {
		t.Errorf("with the file moved away: %s", both)
	}
}

// A directory that cannot be written is named.
func TestReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	do := filepath.Join(dir, "v3", "do", "test-F")
	w := minidotest.NewWorker(t, faultWorker, minidotest.Options{Dir: dir})
	w.Want(`{"ok":"acknowledged"}`, "F/a/write", "1")
	if err := os.Chmod(do, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(do, 0o700)
	if f, err := os.Create(filepath.Join(do, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write into read-only directories")
	}
	if got := w.Call("F/new/write", "2"); !strings.Contains(got, "SQLITE_CANTOPEN") || !strings.Contains(got, do) {
		t.Errorf("%s", got)
	}
	w.Want(`{"ok":["1",1]}`, "F/a/read")
}

// A clock that is set back loses nothing: storage goes on, alarms fire when the
// clock reaches their time again, and the past is found by the times that were.
func TestClockSetBack(t *testing.T) {
	w := minidotest.NewWorker(t, faultWorker, minidotest.Options{})
	w.Want(`{"ok":"acknowledged"}`, "F/a/write", "1")
	w.Clock().Jump(-time.Hour)
	w.Want(`{"ok":"acknowledged"}`, "F/a/write", "2")
	w.Want(`{"ok":["2",2]}`, "F/a/read")
	w = w.Restart()
	w.Want(`{"ok":["2",2]}`, "F/a/read")
}
