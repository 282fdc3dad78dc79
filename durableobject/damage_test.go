package durableobject_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/minidotest"
)

// damageWorker keeps state of each kind: keys, rows, an alarm, a facet, an object
// in a bucket.
var damageProject = map[string]string{
	"harness.js": minidotest.Harness,
	"worker.ts": minidotest.Imports + `
export class Part extends DurableObject {
  add(n) { this.ctx.storage.kv.put("p" + n, "part " + n); }
  all() { return [...this.ctx.storage.kv.list()]; }
}
export class D extends DurableObject {
  get f() { return this.ctx.facets.get("part", () => ({ class: this.ctx.exports.Part })); }
  async add(n) {
    const st = this.ctx.storage;
    st.sql.exec("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text, pad)");
    for (let i = 0; i < 20; i++) st.sql.exec("INSERT INTO t (text, pad) VALUES (?, ?)", "row " + n + "." + i, "x".repeat(300));
    for (let i = 0; i < 5; i++) st.kv.put("k" + n + "." + i, { n, i });
    await st.setAlarm(Date.now() + 3600e3);
    await this.f.add(n);
    return n;
  }
  async all() {
    const st = this.ctx.storage;
    return [[...st.kv.list()], st.sql.exec("SELECT n, text, length(pad) FROM t").toArray(), await st.getAlarm(), await this.f.all()];
  }
  alarm() { this.ctx.storage.kv.put("fired", true); }
  fired() { return this.ctx.storage.kv.get("fired") ?? false; }
}
export default serve({
  async put(env, ctx, n) { await env.B.put("o" + n, "object " + n + " ".repeat(n)); return n; },
  async objects(env) { const out = []; for (const o of (await env.B.list()).objects) out.push([o.key, await (await env.B.get(o.key)).text()]); return out; },
});
`,
	"wrangler.json": `{"name": "test", "main": "worker.ts", "compatibility_date": "2026-08-01",
"r2_buckets": [{"binding": "B", "bucket_name": "bucket"}],
"durable_objects": {"bindings": [{"name": "D", "class_name": "D"}, {"name": "Part", "class_name": "Part"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["D", "Part"]}]}`,
}

// stateOf makes a state directory, of a server that was stopped in good order or
// killed, and says what its objects answer.
func stateOf(t *testing.T, killed bool) (w *minidotest.World, dir string, answers map[string]string) {
	t.Helper()
	w = minidotest.NewWorldFrom(t, damageProject, minidotest.Options{SyncFull: true})
	write := func(n int) {
		for _, path := range []string{"D/a/add", "D/b/add", "!put"} {
			w.Want(fmt.Sprintf(`{"ok":%d}`, n), path, n)
		}
		w.Advance(time.Second)
	}
	write(1)
	write(2)
	for _, name := range []string{"a", "b"} {
		if err := w.Evict("D", name); err != nil {
			t.Fatal(err)
		}
	}
	write(3) // into logs
	write(4)
	answers = asked(w)
	dir = t.TempDir()
	if killed {
		w.Kill()
	} else {
		w.Stop()
	}
	copyAll(t, w.Dir(), dir)
	return w, dir, answers
}

// asked are the answers of everything that has state.
func asked(w *minidotest.World) map[string]string {
	out := map[string]string{}
	for _, path := range []string{"D/a/all", "D/b/all", "!objects"} {
		out[path] = w.Call(path)
	}
	return out
}

// copyAll copies a directory with the logs' indexes, which a process that is
// killed leaves.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// change is a named damage of a file; a nil result deletes it.
type change struct {
	name string
	do   func(r *rand.Rand, b []byte) []byte
}

var changes = []change{
	{"cut 1 byte", func(_ *rand.Rand, b []byte) []byte { return b[:max(len(b)-1, 0)] }},
	{"cut 4120 bytes", func(_ *rand.Rand, b []byte) []byte { return b[:max(len(b)-4120, 0)] }},
	{"cut to half", func(_ *rand.Rand, b []byte) []byte { return b[:len(b)/2] }},
	{"emptied", func(*rand.Rand, []byte) []byte { return []byte{} }},
	{"deleted", func(*rand.Rand, []byte) []byte { return nil }},
	{"512 zeros", func(r *rand.Rand, b []byte) []byte { return over(b, r.IntN(max(len(b), 1)), make([]byte, 512)) }},
	{"zeros", func(_ *rand.Rand, b []byte) []byte { return make([]byte, len(b)) }},
	{"first page zeros", func(_ *rand.Rand, b []byte) []byte { return over(b, 0, make([]byte, 4096)) }},
	{"a bit", flips(1)},
	{"a bit again", flips(1)},
	{"30 bits", flips(30)},
	{"garbage", func(r *rand.Rand, b []byte) []byte { return over(b, 0, noise(r, len(b))) }},
	{"100 bytes more", func(r *rand.Rand, b []byte) []byte { return append(b, noise(r, 100)...) }},
}

func over(b []byte, at int, with []byte) []byte {
	copy(b[min(at, len(b)):], with)
	return b
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func flips(n int) func(*rand.Rand, []byte) []byte {
	return func(r *rand.Rand, b []byte) []byte {
		for range n {
			if len(b) > 0 {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
		}
		return b
	}
}

// damageCase is one damaged state directory.
type damageCase struct {
	killed bool
	kind   string // of the file
	file   string // relative
	change string
	do     func(t *testing.T, path string)
}

// cases lists the damages of a state directory.
func cases(t *testing.T, dir string, killed bool) (out []damageCase) {
	t.Helper()
	id := objectid.NewNamespace("test-D").FromName("a").String()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := e.Name()
		switch {
		case strings.HasPrefix(name, id):
			files["object"+strings.TrimPrefix(name, id)] = rel
		case strings.Contains(rel, "test-D"+string(filepath.Separator)+"metadata"):
			files["alarm index "+name] = rel
		case strings.Contains(rel, "r2") && strings.Contains(rel, "blobs"):
			files["R2 blob"] = rel
		case strings.Contains(rel, "r2"):
			files["R2"+filepath.Ext(name)] = rel
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := make([]string, 0, len(files))
	for kind := range files {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		for _, c := range changes {
			seed := uint64(len(out))
			out = append(out, damageCase{killed, kind, files[kind], c.name, func(t *testing.T, path string) { rewrite(t, path, seed, c.do) }})
		}
		if strings.HasSuffix(kind, ".sqlite") {
			for _, table := range []string{"_cf_KV", "_cf_METADATA", "t", "_cf_ALARM", "_mf_objects"} {
				out = append(out, damageCase{killed, kind, files[kind], "table " + table + " dropped", func(t *testing.T, path string) { dropTable(t, path, table) }})
			}
		}
	}
	return out
}

// rewrite changes a file.
func rewrite(t *testing.T, path string, seed uint64, do func(*rand.Rand, []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b = do(rand.New(rand.NewPCG(seed, 1)), b); b == nil {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dropTable drops a table as somebody with SQLite's shell does.
func dropTable(t *testing.T, path, table string) {
	t.Helper()
	c, err := sqlite.Open(sqlite.Options{Path: path, Now: time.Now, Rand: entropy.NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec("DROP TABLE IF EXISTS " + table); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Verdicts on a damaged directory.
const (
	intact  = "intact"  // every answer is the right one
	told    = "told"    // answers lack something, and a line of the log names the file
	refused = "refused" // callers get an error that names the file
	silent  = "SILENT"
	spread  = "SPREAD" // other objects suffer
	panics  = "PANIC"
)

// judge starts a server on the damaged directory twice and judges it.
func judge(t *testing.T, project *minidotest.World, c damageCase, dir string, right map[string]string) (verdict, why string) {
	t.Helper()
	defer func() {
		if x := recover(); x != nil {
			verdict, why = panics, fmt.Sprintf("%v\n%s", x, debug.Stack())
		}
	}()
	verdict = intact
	before := map[string]string{} // what the first life answered, and has told of
	for life := range 2 {
		w, err := project.TryAgain(minidotest.Options{Dir: dir, Start: project.Now()})
		if err != nil {
			return spread, "the server does not start: " + err.Error()
		}
		v, y := c.look(w, right, before, life)
		if order := []string{intact, told, refused, silent, spread}; indexOf(order, v) > indexOf(order, verdict) {
			verdict, why = v, y
		}
		if life == 0 {
			w.Kill()
		} else {
			w.Stop()
		}
	}
	return verdict, why
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
}

// reported lists what the server logged and reported with a text in it.
func reported(w *minidotest.World, text string) (lines []string) {
	for _, line := range w.Logged(text) {
		if strings.Contains(line, " log ") || strings.Contains(line, " event ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// look judges one life of the server.
func (c damageCase) look(w *minidotest.World, right, before map[string]string, life int) (verdict, why string) {
	got := asked(w)
	named := filepath.Base(c.file)
	if strings.HasPrefix(c.kind, "object") {
		named = named[:64] // the object's id: any of its files
	}
	mine := "D/a/all"
	if strings.HasPrefix(c.kind, "R2") {
		mine = "!objects"
	}
	verdict = intact
	for _, path := range []string{"D/a/all", "D/b/all", "!objects"} {
		switch {
		case got[path] == right[path]:
		case path != mine:
			return spread, path + ": " + got[path]
		case strings.Contains(got[path], `"err"`) && strings.Contains(got[path], named) && (mine == "!objects" || len(reported(w, named)) > 0):
			verdict, why = refused, got[path]
		case len(reported(w, named)) > 0 || life > 0 && got[path] == before[path]:
			verdict, why = told, strings.Join(reported(w, named), "\n")
		default:
			return silent, got[path]
		}
	}
	maps.Copy(before, got)
	if life == 0 || verdict != intact {
		return verdict, why
	}
	w.Advance(2 * time.Hour)
	if fired := w.Call("D/a/fired"); fired != `{"ok":true}` && len(reported(w, named)) == 0 {
		return silent, "the alarm has not fired: " + fired
	}
	return verdict, why
}

// Whatever happens to a file of a state directory: nothing panics, the other
// objects go on, and whoever is concerned is told, by an error or in the log, of
// the file. MINIDO_DAMAGE=1 tries all damages (make damage), else one in eleven.
func TestDamage(t *testing.T) {
	all := os.Getenv("MINIDO_DAMAGE") != ""
	table, total := map[string]map[string]int{}, 0
	for _, killed := range []bool{false, true} {
		project, dir, right := stateOf(t, killed)
		for i, c := range cases(t, dir, killed) {
			if !all && i%11 != 3 {
				continue
			}
			total++
			work := t.TempDir()
			copyAll(t, dir, work)
			c.do(t, filepath.Join(work, c.file))
			verdict, why := judge(t, project, c, work, right)
			row := fmt.Sprintf("%-28s", c.kind)
			if killed {
				row += " killed"
			} else {
				row += " stopped"
			}
			if table[row] == nil {
				table[row] = map[string]int{}
			}
			table[row][verdict]++
			if verdict == silent || verdict == panics || verdict == spread {
				t.Errorf("%s, %s: %s: %.1500s", row, c.change, verdict, why)
			}
			if all {
				t.Logf("%s, %s: %s %.300s", row, c.change, verdict, why)
			}
			if err := os.RemoveAll(work); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := make([]string, 0, len(table))
	for row := range table {
		rows = append(rows, row)
	}
	sort.Strings(rows)
	t.Logf("%-36s %7s %7s %7s %7s  of %d", "damaged", intact, told, refused, "wrong", total)
	for _, row := range rows {
		n := table[row]
		t.Logf("%-36s %7d %7d %7d %7d", row, n[intact], n[told], n[refused], n[silent]+n[spread]+n[panics])
	}
}
