package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// powerLife writes turns into a store on a recording disk, as crashChild does,
// and now and then loses power between two operations of the disk.
type powerLife struct {
	t      *testing.T
	chance entropy.Source
	disk   *disk.Disk
	dir    string
	s      *Store
	losses int // so far

	busy         bool  // a loss is being looked at
	acked, tried int64 // turns: synced, begun
	wiping       bool  // a deleteAll is between acked and tried
}

func (p *powerLife) path() string { return filepath.Join(p.dir, "a.sqlite") }

func (p *powerLife) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *powerLife) open(path string, d *disk.Disk) (*Store, error) {
	return Open(Options{Path: path, Clock: clock.Real{}, Entropy: p.chance.Fork("sql"), Sync: sqlite.Full, SyncLater: true,
		HistoryBytes: DefaultHistoryBytes, Disk: d, checkpointFrames: 25})
}

// operation is called after each operation of the disk.
func (p *powerLife) operation(op disk.Operation) {
	if p.busy || p.chance.Uint64()%12 != 0 {
		return
	}
	p.busy = true
	defer func() { p.busy = false }()
	for _, chance := range []entropy.Source{nil, p.chance.Fork(fmt.Sprint("fall ", op.Number))} {
		p.lose(op, chance)
	}
}

// lose looks at what a loss of power at this moment leaves.
func (p *powerLife) lose(op disk.Operation, chance entropy.Source) {
	p.losses++
	to, err := os.MkdirTemp("", "power")
	p.must(err)
	defer func() { p.must(os.RemoveAll(to)) }()
	p.must(p.disk.Fall(p.dir, to, chance, func(rel string) bool { return strings.HasSuffix(rel, "-shm") }))
	where := fmt.Sprintf("loss %d, after %s of %s, turn %d on disk, turn %d begun", p.losses, op.Kind, filepath.Base(op.Path), p.acked, p.tried)
	s, err := p.open(filepath.Join(to, "a.sqlite"), disk.New())
	if err != nil {
		p.t.Fatalf("%s: %v", where, err)
	}
	p.check(where, s)
	p.must(s.Close())
}

// check compares a store with what must, and what may, be in it.
func (p *powerLife) check(where string, s *Store) {
	p.t.Helper()
	if r := must(p.t, s, "PRAGMA quick_check"); r[0][0] != "ok" {
		p.t.Fatalf("%s: %v", where, r)
	}
	last, ok, err := s.Alarm()
	p.must(err)
	keys, err := list(s, ListOptions{})
	p.must(err)
	if !ok && (p.acked == 0 || p.wiping) && len(keys) == 0 {
		return // nothing yet, or between deleteAll and its turn's own commit
	}
	if last < p.acked || last > p.tried {
		p.t.Fatalf("%s: turn %d is there", where, last)
	}
	first := max(last-last%40, 1)
	rows := must(p.t, s, "SELECT n FROM t ORDER BY n")
	if int64(len(keys)) != last-first+1 || len(rows) != len(keys) {
		p.t.Fatalf("%s: of turns %d to %d there are %d keys and %d rows", where, first, last, len(keys), len(rows))
	}
	for i := range keys {
		if n := first + int64(i); keys[i] != fmt.Sprintf("%08d=v", n) || rows[i][0] != n {
			p.t.Fatalf("%s: at turn %d: key %s, row %v", where, n, keys[i], rows[i])
		}
	}
}

// turn writes one turn, and syncs it as an object would, or later.
func (p *powerLife) turn() {
	n := p.tried + 1
	p.tried = n
	if n%40 == 0 {
		p.wiping = true
		_, err := p.s.DeleteAll(DeleteAllOptions{})
		p.must(err)
	}
	_, err := p.s.Exec("CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, pad)", nil)
	p.must(err)
	_, err = p.s.Exec("INSERT INTO t VALUES(?, zeroblob(?))", []any{n, n % 97 * 50})
	p.must(errors.Join(err, p.s.Put(fmt.Sprintf("%08d", n), []byte("v")), p.s.SetAlarm(n), p.s.Commit()))
	if p.chance.Uint64()%3 != 0 {
		p.sync()
	}
}

func (p *powerLife) sync() {
	p.must(p.s.Sync())
	p.acked, p.wiping = p.tried, false
}

// reopen closes the store, in good order or as a killed process does.
func (p *powerLife) reopen() {
	if p.chance.Uint64()%2 == 0 {
		p.must(p.s.Drop())
	} else {
		p.must(p.s.Close())
		p.acked, p.wiping = p.tried, false
	}
	var err error
	p.s, err = p.open(p.path(), p.disk)
	p.must(err)
}

// A loss of power after any operation of the disk loses no turn that was synced,
// leaves no turn by half, and a store that opens. MINIDO_POWER_LOSSES says how
// many losses (make soak: 10,000).
func TestPowerLossLosesNothing(t *testing.T) {
	wanted := 400
	if text := os.Getenv("MINIDO_POWER_LOSSES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		wanted = n
	}
	losses, lives := 0, 0
	for ; losses < wanted; lives++ {
		p := &powerLife{t: t, chance: entropy.NewSeeded(uint64(lives)), disk: disk.New(), dir: t.TempDir()}
		p.disk.After = p.operation
		var err error
		p.s, err = p.open(p.path(), p.disk)
		p.must(err)
		if lives%2 == 0 {
			p.reopen() // before anything was committed
		}
		for range 100 {
			p.turn()
			if p.chance.Uint64()%30 == 0 {
				p.reopen()
			}
		}
		p.must(p.s.Close())
		losses += p.losses
		p.must(os.RemoveAll(p.dir))
	}
	t.Logf("%d losses of power in %d lives of 100 turns", losses, lives)
}
