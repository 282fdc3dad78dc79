package alarms

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// indexAt are the options of an index in dir. Its file comes without ado.
func indexAt(dir string) indexOptions {
	return indexOptions{dir: dir, now: func() time.Time { return epoch }, rand: entropy.NewSeeded(1),
		create: func(_ string, fn func() error) error { return fn() }}
}

func mustOpenIndex(t *testing.T, o indexOptions) *index {
	t.Helper()
	x, err := openIndex(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.close((*sqlite.Conn).Close) })
	return x
}

func contents(t *testing.T, x *index) string {
	t.Helper()
	rows, err := x.load()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(rows)
}

// peer is another connection to the index in dir.
func peer(t *testing.T, dir string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Open(sqlite.Options{Path: filepath.Join(dir, IndexFile), Now: func() time.Time { return epoch }, Rand: entropy.NewSeeded(2)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func run(t *testing.T, c *sqlite.Conn, sql string) {
	t.Helper()
	if err := c.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

// An index makes its folder, for the user alone, and no file before the first alarm: until then
// nothing is in it, and there is nothing to remove, to seal and to close. Then it has the rows that
// were put and not removed, in the order of their ids, with the names that were known last.
func TestIndexWithAndWithoutItsFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "space")
	o := indexAt(dir)
	var causes []string
	refusal := errors.New("not now")
	o.create = func(cause string, fn func() error) error {
		causes = append(causes, cause)
		return errors.Join(refusal, fn())
	}
	x := mustOpenIndex(t, o)
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	if err := errors.Join(x.remove("a"), x.conclude(), x.close((*sqlite.Conn).Close)); err != nil || contents(t, x) != "[]" {
		t.Errorf("without a file: %v, %s", err, contents(t, x))
	}
	if _, err := os.Stat(x.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file without an alarm: %v", err)
	}
	if err := x.exist("rpc"); !errors.Is(err, refusal) {
		t.Errorf("the creation: %v", err)
	}
	if err := x.exist("again"); err != nil || !slices.Equal(causes, []string{"rpc"}) {
		t.Errorf("the file was made because of %q, %v", causes, err)
	}
	for _, r := range []record{{"b", "bee", 2}, {"a", "", 1}, {"B", "big", 3}, {"b", "", 5}, {"a", "ay", 4}, {"c", "", -6}, {"d", "dee", 7}} {
		if err := x.put(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(x.remove("nobody"), x.remove("d")); err != nil {
		t.Fatal(err)
	}
	const want = "[{b big 3} {a ay 4} {b bee 5} {c  -6}]" // of "B" in small letters
	if got := contents(t, x); got != want {
		t.Errorf("has %s, want %s", got, want)
	}
	if err := x.conclude(); err != nil {
		t.Fatal(err)
	}
	x = mustOpenIndex(t, o)
	if got := contents(t, x); got != want {
		t.Errorf("opened again: %s, want %s", got, want)
	}
	rows, _ := x.load()
	if sum, err := x.sealed(); err != nil || sum != sumOf(rows) {
		t.Errorf("sealed with %d, want %d: %v", sum, sumOf(rows), err)
	}
}

// An index is durable as it was told to be, in the log of SQLite that workerd uses, whether its
// file is new or was there, and its disk hears of the writes.
func TestIndexIsDurable(t *testing.T) {
	for want, sync := range map[string]sqlite.Sync{"0": sqlite.Off, "1": sqlite.Normal, "2": sqlite.Full} { // order-independent: each has a folder of its own
		o := indexAt(t.TempDir())
		o.sync, o.disk = sync, disk.New()
		writes, syncs := 0, 0
		o.disk.After = func(op disk.Operation) {
			switch {
			case op.Kind == "write":
				writes++
			case op.Kind == "sync" && strings.HasSuffix(op.Path, "-wal"):
				syncs++
			}
		}
		for life := range 2 {
			x := mustOpenIndex(t, o)
			if err := errors.Join(x.exist("test"), x.put(record{"warm", "", int64(life)})); err != nil {
				t.Fatal(err)
			}
			writes, syncs = 0, 0
			if err := x.put(record{"a", "", int64(life)}); err != nil {
				t.Fatal(err)
			}
			if writes == 0 || (syncs > 0) != (sync == sqlite.Full) {
				t.Errorf("%v, life %d: %d writes, %d syncs", sync, life, writes, syncs)
			}
			for sql, want := range map[string]string{"PRAGMA synchronous": want, "PRAGMA journal_mode": "wal"} { // order-independent: each is checked alone
				got := ""
				if err := x.each(sql, func(st *sqlite.Stmt) error { got = st.ColumnText(0); return nil }); err != nil || got != want {
					t.Errorf("%v, life %d: %s is %q, %v", sync, life, sql, got, err)
				}
			}
			if err := x.close((*sqlite.Conn).Close); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What SQLite cannot compile or run fails, as does what is done with a row; nothing that failed stays
// busy.
func TestIndexQueriesFail(t *testing.T) {
	x := mustOpenIndex(t, indexAt(t.TempDir()))
	if err := x.exist("test"); err != nil {
		t.Fatal(err)
	}
	mine := errors.New("enough")
	rows := 0
	count := func(*sqlite.Stmt) error { rows++; return nil }
	for sql, want := range map[string]string{ // order-independent: each is checked alone
		"nonsense":                           "syntax error",
		"SELECT abs(-9223372036854775807-1)": "integer overflow",
		"SELECT 1 UNION ALL SELECT 2":        "",
		"SELECT 1 WHERE false":               "",
		"SELECT abs(x) FROM (SELECT 1 AS x UNION ALL SELECT -9223372036854775807-1)": "integer overflow",
	} {
		if err := x.each(sql, count); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if rows != 3 {
		t.Errorf("%d rows", rows)
	}
	if err := x.each("SELECT 1 FROM sqlite_schema", func(*sqlite.Stmt) error { rows++; return mine }); !errors.Is(err, mine) || rows != 4 {
		t.Errorf("a row that fails: %v, %d rows", err, rows)
	}
	if x.conn.TxnState() != sqlite.TxnNone {
		t.Error("a query that failed still reads")
	}
	run(t, x.conn, "INSERT INTO _cf_ALARM VALUES ('abc', 'soon', NULL)")
	var damaged *DamageError
	if rows, err := x.load(); !errors.As(err, &damaged) || rows != nil || !strings.Contains(err.Error(), "alarms: load "+x.path) {
		t.Errorf("load: %v, %v", rows, err)
	}
	if err := x.conclude(); !errors.As(err, &damaged) || x.conn != nil {
		t.Errorf("conclude: %v, open %v", err, x.conn != nil)
	}
}

// A write that SQLite refuses, or that went into a file which is not there any more, fails and names
// the file; the next one is not the worse for it.
func TestIndexWritesFail(t *testing.T) {
	dir := t.TempDir()
	o := indexAt(dir)
	o.disk = disk.New()
	x := mustOpenIndex(t, o)
	if err := x.exist("test"); err != nil {
		t.Fatal(err)
	}
	other := peer(t, dir)
	run(t, other, "BEGIN IMMEDIATE")
	for what, err := range map[string]error{"put": x.put(record{"a", "ay", 1}), "remove": x.remove("a")} { // order-independent: each is checked alone
		if !sqlite.IsCode(err, sqlite.CodeBusy) || !strings.Contains(err.Error(), "alarms: write "+x.path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	run(t, other, "ROLLBACK")
	if err := errors.Join(x.put(record{"a", "ay", 1}), x.put(record{"b", "", 2}), x.remove("a"), x.remove("a")); err != nil || contents(t, x) != "[{b  2}]" {
		t.Errorf("afterwards: %v, %s", err, contents(t, x))
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	// The file goes while the row is written into it.
	var gone error = fs.ErrExist
	o.disk.After = func(op disk.Operation) {
		if op.Kind == "write" && gone != nil {
			gone = os.Remove(x.path)
		}
	}
	err := x.put(record{"c", "", 3})
	if gone != nil {
		t.Skip("the system does not let go of the name: ", gone)
	}
	if err == nil || !strings.Contains(err.Error(), "alarms: write "+x.path) || !strings.Contains(err.Error(), "was deleted or replaced") {
		t.Errorf("into a file that is gone: %v", err)
	}
}

// An index that cannot be opened says why, with its path, and leaves no connection.
func TestIndexThatCannotBeOpened(t *testing.T) {
	refused := func(what string, err error, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %q", what, err, text)
			}
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, IndexFile)
	o := indexAt(dir)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var damaged *DamageError

	write("")
	_, err := openIndex(o)
	refused("an empty file", err, path, "it is empty")
	if info, err := os.Stat(path); !errors.As(err, &damaged) && (err != nil || info.Size() != 0) {
		t.Errorf("the empty file: %v, %v", info, err)
	}
	write(strings.Repeat("not a database ", 500))
	before := openFiles(t, path)
	_, err = openIndex(o)
	refused("no database", err, "alarms: open "+path)
	if !errors.As(err, &damaged) {
		t.Errorf("no database: %v", err)
	}
	if now := openFiles(t, path); now != before {
		t.Errorf("%d handles of the file were open, %d are", before, now)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}

	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = openIndex(o)
	refused("a folder", err, path)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}

	write("x")
	inside := indexAt(path)
	_, err = openIndex(inside)
	refused("a folder that is a file", err, "alarms: open", path)
	nowhere := filepath.Join(dir, "nowhere")
	inside = indexAt(filepath.Join(nowhere, "inside"))
	if os.Symlink(filepath.Join(dir, "missing"), nowhere) == nil {
		_, err = openIndex(inside)
		refused("a folder that cannot be made", err, "alarms: open", inside.dir)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// Each step of opening can fail on its own.
func TestIndexOpeningFailsLate(t *testing.T) {
	dir := t.TempDir()
	x := mustOpenIndex(t, indexAt(dir)) // without a file
	other := peer(t, dir)
	run(t, other, "PRAGMA journal_mode=WAL; CREATE TABLE other (x); BEGIN IMMEDIATE")
	if err := x.exist("test"); !sqlite.IsCode(err, sqlite.CodeBusy) || !strings.Contains(err.Error(), "alarms: open "+x.path) || x.conn != nil {
		t.Errorf("the table cannot be made: %v", err)
	}
	run(t, other, "ROLLBACK; CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER) WITHOUT ROWID; BEGIN IMMEDIATE")
	if _, err := openIndex(x.indexOptions); !sqlite.IsCode(err, sqlite.CodeBusy) {
		t.Errorf("the column of names cannot be added: %v", err)
	}
	run(t, other, "ROLLBACK; DROP TABLE _cf_ALARM; CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, wrong INTEGER, actor_name TEXT) WITHOUT ROWID")
	if _, err := openIndex(x.indexOptions); err == nil || !strings.Contains(err.Error(), "scheduled_time") {
		t.Errorf("a table of another kind: %v", err)
	}
	run(t, other, "DROP TABLE _cf_ALARM")
	var damaged *DamageError
	if _, err := openIndex(x.indexOptions); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "it has no table of alarms") {
		t.Errorf("no table: %v", err)
	}

	o := indexAt(t.TempDir())
	o.disk = disk.New()
	x = mustOpenIndex(t, o)
	var gone error = fs.ErrExist
	o.disk.After = func(op disk.Operation) {
		if op.Kind == "write" && gone != nil {
			gone = os.Remove(x.path)
		}
	}
	err := x.exist("test")
	if gone != nil {
		t.Skip("the system does not let go of the name: ", gone)
	}
	if !errors.Is(err, fs.ErrNotExist) || x.conn != nil {
		t.Errorf("a file that is gone at once: %v", err)
	}
}

// An index whose closing fails says so, once, and is closed.
func TestIndexClosesOnce(t *testing.T) {
	x := mustOpenIndex(t, indexAt(t.TempDir()))
	if err := x.exist("test"); err != nil {
		t.Fatal(err)
	}
	mine := errors.New("not so")
	ends := 0
	end := func(c *sqlite.Conn) error {
		ends++
		return errors.Join(mine, c.Close())
	}
	if err := x.close(end); !errors.Is(err, mine) || !strings.Contains(err.Error(), "alarms: close "+x.path) {
		t.Errorf("close: %v", err)
	}
	if err := x.close(end); err != nil || ends != 1 {
		t.Errorf("closed %d times: %v", ends, err)
	}
}

// Milliseconds become nanoseconds, up to the bounds of their 64 bits.
func TestNanoseconds(t *testing.T) {
	const most, least = math.MaxInt64 / 1_000_000, math.MinInt64 / 1_000_000
	for ms, want := range map[int64]int64{ // order-independent: each is checked alone
		0: 0, 5: 5_000_000, -5: -5_000_000, most: most * 1_000_000, most + 1: math.MaxInt64, math.MaxInt64: math.MaxInt64,
		least: least * 1_000_000, least - 1: math.MinInt64, math.MinInt64: math.MinInt64,
	} {
		if got := toNs(ms); got != want {
			t.Errorf("%d ms are %d ns, want %d", ms, got, want)
		}
	}
}

// openFiles is how many of the process's handles are of path; 0 where the system does not tell.
func openFiles(t *testing.T, path string) (n int) {
	t.Helper()
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == path {
			n++
		}
	}
	return n
}
