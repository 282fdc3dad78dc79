package sqlstore

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

const crashEnv = "MINIDO_SQLSTORE_CRASH_FILE"

func TestMain(m *testing.M) {
	if p := os.Getenv(crashEnv); p != "" {
		if err := crashChild(p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashChild commits turns until it is killed, each of one key, one row and one
// alarm with the same number, and says the number once it is committed. Every
// 40th turn begins with deleteAll, which it announces first.
func crashChild(path string) error {
	s, err := Open(Options{Path: path, Clock: clock.Real{}, Entropy: entropy.System{}, Sync: sqlite.Normal, HistoryBytes: DefaultHistoryBytes, checkpointFrames: 50})
	if err != nil {
		return err
	}
	n, _, err := s.Alarm()
	if err != nil {
		return err
	}
	for n++; ; n++ {
		if n%40 == 0 {
			fmt.Printf("-%d\n", n)
			if _, err := s.DeleteAll(DeleteAllOptions{}); err != nil {
				return err
			}
		}
		if _, err := s.Exec("CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, pad)", nil); err != nil {
			return err
		}
		_, err := s.Exec("INSERT INTO t VALUES(?, zeroblob(?))", []any{n, n % 97 * 50})
		if err := errors.Join(err, s.Put(fmt.Sprintf("%08d", n), []byte("v")), s.SetAlarm(n), s.Commit()); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// No acknowledged turn is lost by SIGKILL, no turn is there by half, and
// deleteAll is there wholly or not at all.
func TestKillLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "a.sqlite")
	random := entropy.NewSeeded(42)
	var bookmarks []killMark
	for round := range 12 {
		acked, wiping := runUntilKilled(t, path, int(random.Uint64()%200)+1)
		s, err := Open(Options{Path: path, Clock: clock.Real{}, Entropy: entropy.System{}, HistoryBytes: DefaultHistoryBytes})
		if err != nil {
			t.Fatal(err)
		}
		checkAfterKill(t, s, round, acked, wiping)
		bookmarks = append(bookmarks, markAfterKill(t, s, round))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	checkBookmarks(t, path, bookmarks)
}

// killMark is a state between two lives.
type killMark struct {
	bookmark string
	alarm    int64
}

func markAfterKill(t *testing.T, s *Store, round int) killMark {
	t.Helper()
	b, err := s.CurrentBookmark()
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	alarm, _, err := s.Alarm()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	return killMark{b, alarm}
}

// checkBookmarks returns to each of the states, whatever died since.
func checkBookmarks(t *testing.T, path string, marks []killMark) {
	t.Helper()
	open := func() *Store {
		s, err := Open(Options{Path: path, Clock: clock.Real{}, Entropy: entropy.System{}, HistoryBytes: DefaultHistoryBytes})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	for i, m := range marks {
		if _, err := s.RestoreOnNextOpen(m.bookmark); err != nil {
			t.Fatalf("state %d of %d: %v", i, len(marks), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open()
		if alarm, _, err := s.Alarm(); err != nil || alarm != m.alarm {
			t.Errorf("state %d of %d has alarm %d, want %d, %v", i, len(marks), alarm, m.alarm, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// runUntilKilled starts the child and kills it after it said that many numbers;
// it returns the last committed one and, if a deleteAll was announced after it,
// that turn's number.
func runUntilKilled(t *testing.T, path string, lines int) (acked, wiping int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(out)
	for i := 0; sc.Scan(); i++ {
		n, err := strconv.ParseInt(sc.Text(), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if n < 0 {
			wiping = -n
		} else {
			acked, wiping = n, 0
		}
		if i == lines {
			// Lines already in the pipe still count as acknowledged.
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	if acked == 0 && wiping == 0 {
		t.Fatal("the child committed nothing")
	}
	return acked, wiping
}

func checkAfterKill(t *testing.T, s *Store, round int, acked, wiping int64) {
	t.Helper()
	if r := must(t, s, "PRAGMA quick_check"); r[0][0] != "ok" {
		t.Fatalf("round %d: %v", round, r)
	}
	last, ok, err := s.Alarm()
	if err != nil {
		t.Fatal(err)
	}
	if wiping != 0 && !ok {
		return // killed between deleteAll and the turn's own commit
	}
	if last != acked && last != acked+1 {
		t.Fatalf("round %d: turn %d was acknowledged, the file has %d", round, acked, last)
	}
	first := last - last%40
	if first == 0 || (wiping != 0 && last == acked) {
		first = max(acked-acked%40, 1)
	}
	keys, err := list(s, ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := must(t, s, "SELECT n FROM t ORDER BY n")
	if int64(len(keys)) != last-first+1 || len(rows) != len(keys) {
		t.Fatalf("round %d: turns %d to %d, but %d keys and %d rows", round, first, last, len(keys), len(rows))
	}
	for i := range keys {
		n := first + int64(i)
		if keys[i] != fmt.Sprintf("%08d=v", n) || rows[i][0] != n {
			t.Fatalf("round %d: at turn %d: key %s, row %v", round, n, keys[i], rows[i])
		}
	}
}
