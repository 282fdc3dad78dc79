package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// kills is how many times a server dies over one state directory.
const kills = 100

// counters are the objects that are written to, all at the same time.
var counters = []string{"red", "green", "blue"}

// ledger is what the clients were told. Guarded by mu.
type ledger struct {
	mu sync.Mutex
	// acked holds, for each counter, the tags whose addition was acknowledged;
	// sent those that were sent at all.
	acked, sent map[string]map[string]bool
}

func newLedger() *ledger {
	l := &ledger{acked: map[string]map[string]bool{}, sent: map[string]map[string]bool{}}
	for _, name := range counters {
		l.acked[name], l.sent[name] = map[string]bool{}, map[string]bool{}
	}
	return l
}

func (l *ledger) note(book map[string]map[string]bool, counter, tag string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	book[counter][tag] = true
}

// tooMany is how many writes one life may acknowledge before its end is overdue.
const tooMany = 5000

// load adds to the counters from several clients until the server is gone, and
// returns how many additions were acknowledged. After enough of them, or never
// if enough is 0, it calls kill.
func (l *ledger) load(t *testing.T, url string, life int, enough int64, kill func()) int64 {
	var acked atomic.Int64
	var clients sync.WaitGroup
	for c := range 2 * len(counters) {
		clients.Add(1)
		go func() {
			defer clients.Done()
			counter, route := counters[c%len(counters)], []string{"add", "fetch"}[c/len(counters)]
			for n := 0; ; n++ {
				tag := fmt.Sprintf("life%d-client%d-%d", life, c, n)
				l.note(l.sent, counter, tag)
				status, body, err := tryAsk("POST", fmt.Sprintf("%s/%s/%s?by=%d&tag=%s", url, counter, route, 1+n%3, tag))
				if err != nil {
					return // the server is gone; whether it took this one is unknown
				}
				if status != http.StatusOK {
					t.Errorf("add: %d %s", status, body)
					return
				}
				l.note(l.acked, counter, tag)
				switch acked.Add(1) {
				case enough:
					kill()
				case tooMany:
					t.Errorf("after %d writes the server is still alive", tooMany)
					return
				}
			}
		}()
	}
	clients.Wait()
	return acked.Load()
}

// check compares what the server remembers with what it has acknowledged.
func (l *ledger) check(t *testing.T, url string, life int) (rows int) {
	t.Helper()
	for _, counter := range counters {
		var tags []string
		get(t, url+"/"+counter+"/tags", &tags)
		var books struct{ Total, Sum, Rows int }
		get(t, url+"/"+counter, &books)
		if books.Total != books.Sum || books.Rows != len(tags) {
			t.Errorf("life %d: %s is torn: %+v with %d tags", life, counter, books, len(tags))
		}
		rows += books.Rows
		kept := map[string]bool{}
		for _, tag := range tags {
			if kept[tag] {
				t.Errorf("life %d: %s counted %s twice", life, counter, tag)
			}
			if !l.sent[counter][tag] {
				t.Errorf("life %d: %s counted %s, which nobody sent", life, counter, tag)
			}
			kept[tag] = true
		}
		for tag := range l.acked[counter] {
			if !kept[tag] {
				t.Errorf("life %d: %s acknowledged %s and lost it", life, counter, tag)
			}
		}
	}
	return rows
}

// pointsToDieAt are the moments around a commit at which a process kills
// itself; %d is how often the moment passes first.
var pointsToDieAt = []string{"commit:before#%d", "commit:after#%d", "response:before#%d", "response:after#%d", "rpc:before#%d"}

// TestNoAcknowledgedWriteIsLost kills the server again and again while six clients
// write to three objects: half of the times from outside, after some number of
// acknowledged writes, and half by itself at a point on either side of a commit
// or of an answer. After each death the next server has every acknowledged write,
// no write twice, and SQL and KV in step.
//
// MINIDO_KILLS says how often (100; make soak: 10,000), MINIDO_KILLS_SEED with
// which seed the first hundred begins. Each hundred has a state directory and a
// seed of its own, which is what a failure names.
func TestNoAcknowledgedWriteIsLost(t *testing.T) {
	t.Parallel()
	wanted := int(envNumber(t, "MINIDO_KILLS", kills))
	seed := envNumber(t, "MINIDO_KILLS_SEED", uint64(time.Now().UnixNano()))
	var sum killed
	for sum.kills < wanted {
		n := min(kills, wanted-sum.kills)
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			h := hundred{t: t, seed: seed, state: filepath.Join(t.TempDir(), "state"), books: newLedger(), chance: rand.New(rand.NewPCG(seed, 0))}
			h.run(n)
			if t.Failed() {
				t.Logf("again: MINIDO_KILLS=%d MINIDO_KILLS_SEED=%d go test -v -run TestNoAcknowledgedWriteIsLost ./e2e", n, seed)
			}
			sum.kills, sum.itself, sum.acked, sum.rows = sum.kills+n, sum.itself+h.itself, sum.acked+h.acked, sum.rows+h.rows
		})
		if t.Failed() {
			return
		}
		t.Logf("%d kills (%d at a point), %d writes acknowledged, %d on disk", sum.kills, sum.itself, sum.acked, sum.rows)
		seed++
	}
}

// envNumber is a number from the environment.
func envNumber(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(name, ": ", err)
	}
	return n
}

// killed counts what was seen.
type killed struct {
	kills, itself int // itself: of which the server died by itself at a point
	acked         int64
	rows          int
}

// hundred is up to a hundred lives of a server over one state directory.
type hundred struct {
	t      *testing.T
	seed   uint64
	state  string
	books  *ledger
	chance *rand.Rand
	killed
}

// run lives n lives that end by SIGKILL, and one that shows what is left.
func (h *hundred) run(n int) {
	for life := 1; life <= n && !h.t.Failed(); life++ {
		h.life(life)
	}
	if h.t.Failed() {
		return
	}
	s := h.start(n+1, "")
	h.rows = h.books.check(h.t, s.url, n+1)
	if err := s.Kill(); err != nil {
		h.t.Error(err)
	}
	awaitExit(h.t, s)
}

func (h *hundred) start(life int, point string) server {
	s, err := tryDev(h.t, point, "--config", filepath.Join(fixture(h.t, "counter"), "wrangler.jsonc"),
		"--port", "0", "--persist-to", h.state, "--log-level", "error", "--no-watch")
	if err != nil {
		h.t.Fatalf("life %d (%s): %v", life, point, err)
	}
	return s
}

// life starts the server and writes until it is dead.
func (h *hundred) life(life int) {
	var kill func()
	enough := int64(1 + h.chance.IntN(40))
	point := fmt.Sprintf(pointsToDieAt[h.chance.IntN(len(pointsToDieAt))], 1+h.chance.IntN(60))
	if life%2 == 1 {
		point = ""
	}
	s := h.start(life, point)
	if point == "" {
		h.books.check(h.t, s.url, life)
		kill = func() {
			if err := s.Kill(); err != nil {
				h.t.Error(err)
			}
		}
	} else {
		enough = 0
	}
	h.acked += h.books.load(h.t, s.url, life, enough, kill)
	awaitExit(h.t, s)
	exit, _ := s.Exit()
	if !exit.Killed || exit.ByHarness == (point != "") {
		h.t.Fatalf("life %d (%q) ended with %+v:\n%s", life, point, exit, s.Tail())
	}
	if exit.SelfKilled() {
		h.itself++
	}
}

// awaitExit waits until the server is gone.
func awaitExit(t *testing.T, s server) {
	t.Helper()
	select {
	case <-s.Exited():
	case <-time.After(30 * time.Second):
		t.Fatalf("pid %d is still there", s.Pid())
	}
}
