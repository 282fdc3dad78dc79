package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/server"
)

// counterWorker keeps a number in the instance and on disk: a second instance,
// or a lost write, would show as a number that comes twice or goes back.
const counterWorker = `
import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  constructor(ctx, env) { super(ctx, env); this.n = ctx.storage.kv.get("n") ?? 0; }
  async add(slow) {
    if (slow) await scheduler.wait(3);
    const n = this.n + 1;
    this.ctx.storage.kv.put("n", n);
    this.n = n;
    return n;
  }
  get() { return this.n; }
}
export default { async fetch(req, env) {
  const [, name, op] = new URL(req.url).pathname.split("/");
  const stub = env.COUNTER.getByName(name);
  return new Response(String(op === "get" ? await stub.get() : await stub.add(op === "slow")));
} };
`

// loadSeconds is how long clients work: 1 in make check, 4 in make test, 60 in make load.
func loadSeconds(t *testing.T) time.Duration {
	text := os.Getenv("MINIDO_LOAD_SECONDS")
	switch {
	case text != "":
	case testing.Short():
		text = "1"
	default:
		text = "4"
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("MINIDO_LOAD_SECONDS: %v", err)
	}
	return time.Duration(n * float64(time.Second))
}

const (
	loadObjects = 1000
	loadClients = 64
	// stuckAfter is when a call without an answer counts as stuck.
	stuckAfter = 30 * time.Second
)

// operation is what a client asked of a counter; -1 as output: it never heard.
type operation struct {
	object int
	read   bool
}

const unheard = -1

// counter is one object as porcupine sees it. What was not answered may have
// happened, at any time, or not: then it is put behind everything else.
var counter = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byObject := make([][]porcupine.Operation, loadObjects)
		for _, op := range history {
			n := op.Input.(operation).object
			byObject[n] = append(byObject[n], op)
		}
		return byObject
	},
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		n, got := state.(int), output.(int)
		if input.(operation).read {
			return got == n, n
		}
		return got == unheard || got == n+1, n + 1
	},
}

// load is a run: its clients and what they saw.
type load struct {
	t      *testing.T
	url    string
	client *http.Client
	began  time.Time
	end    time.Time

	mu      sync.Mutex // guards everything below
	history []porcupine.Operation
	heard   [loadObjects]int
	unheard [loadObjects]int
	writes  int // that were acknowledged
	stuck   int
}

// call sends one operation and writes down what came of it.
func (l *load) call(client, object int, op string) {
	called := time.Since(l.began)
	output, err := l.send(object, op)
	returned := time.Since(l.began)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		l.stuck++
		fallthrough
	case err != nil:
		output, returned = unheard, math.MaxInt64
		if op == "get" {
			return // a read that failed says nothing
		}
		l.unheard[object]++
	case op != "get":
		l.heard[object]++
		l.writes++
	}
	l.history = append(l.history, porcupine.Operation{ClientId: client, Input: operation{object, op == "get"}, Call: int64(called), Output: output, Return: int64(returned)})
}

func (l *load) send(object int, op string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stuckAfter)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s/o%d/%s", l.url, object, op), nil)
	if err != nil {
		return 0, err
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return 0, err
	}
	b, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, err
	}
	if resp.StatusCode != 200 {
		return 0, fmt.Errorf("status %d: %.200s", resp.StatusCode, b)
	}
	return strconv.Atoi(string(b))
}

const (
	// enough is how many acknowledged writes make a load.
	enough = 100
	// betweenIsolates is how many of them come between two troubles of the whole
	// isolate: where one starts slowly, it would otherwise do little but start.
	betweenIsolates = 20
)

// goesOn reports whether there is more to do: a slow machine takes longer for a
// load that says something.
func (l *load) goesOn() bool {
	if time.Now().Before(l.end) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes < enough && time.Now().Before(l.end.Add(2*stuckAfter))
}

func (l *load) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// trouble acts on random objects, and now and then on the isolate.
func (l *load) trouble(api *Client, rng *rand.Rand, done map[string]int) {
	next := 0 // how many writes before the isolate may go again
	for l.goesOn() {
		verb := []pool.Verb{pool.Evict, pool.Evict, pool.Hibernate, pool.Reset, pool.Abort, pool.Crash}[rng.IntN(6)]
		req := ActRequest{Class: "Counter", Object: fmt.Sprintf("o%d", l.object(rng)), Force: verb == pool.Evict && rng.IntN(2) == 0}
		if rng.IntN(25) == 0 && l.acknowledged() >= next {
			next = l.acknowledged() + betweenIsolates
			verb = []pool.Verb{pool.Evict, pool.Reset, pool.Crash}[rng.IntN(3)]
			req = ActRequest{Scope: "isolate", Force: verb == pool.Evict}
		}
		err := api.Post(context.Background(), "/v1/"+string(verb), req, nil)
		var ce *CallError
		switch {
		case err == nil:
			done[string(verb)+" "+req.Scope]++
		case !errors.As(err, &ce) || ce.Status >= 500:
			l.t.Errorf("%s %+v: %v", verb, req, err)
			return
		default:
			done[ce.Code]++
		}
	}
}

// object picks one: most calls go to few, so that they meet.
func (l *load) object(rng *rand.Rand) int {
	if rng.IntN(2) == 0 {
		return rng.IntN(20)
	}
	return rng.IntN(loadObjects)
}

// 64 clients count on 1,000 objects, while these are evicted, reset, aborted
// and crashed at random: no acknowledged write is lost, no call hangs, what
// clients saw is linearizable, and afterwards nothing is left behind.
func TestLoad(t *testing.T) {
	before := open()
	goroutines := runtime.NumGoroutine()
	l := runLoad(t)
	if l == nil {
		return
	}
	ambiguous := 0
	for i := range loadObjects {
		ambiguous += l.unheard[i]
	}
	t.Logf("%d acknowledged and %d unanswered writes", l.writes, ambiguous)
	if l.stuck > 0 {
		t.Errorf("%d calls had no answer after %v", l.stuck, stuckAfter)
	}
	if l.writes < enough {
		t.Errorf("only %d writes were acknowledged: the load was none", l.writes)
	}
	if result := porcupine.CheckOperationsTimeout(counter, l.history, time.Minute); result != porcupine.Ok {
		t.Errorf("what the clients saw is not linearizable: %v", result)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines+2 || open() > before+2; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines and %d open files before, %d and %d after\n%s", goroutines, before, runtime.NumGoroutine(), open(),
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// open counts this process's open files, where the system tells.
func open() int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(files)
}

func runLoad(t *testing.T) *load {
	dir := t.TempDir()
	for name, text := range map[string]string{"worker.js": counterWorker, "wrangler.json": `{"name": "load", "main": "worker.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "COUNTER", "class_name": "Counter"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Counter"]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sch := sched.NewThreads(clock.Real{})
	s, err := server.Start(context.Background(), server.Options{
		Config: config.Options{Dir: dir}, Address: server.Address{IP: "127.0.0.1", PortSet: true}, PersistDir: filepath.Join(dir, "state"),
		Scheduler: sch, Entropy: entropy.System{}, Dialer: netx.NewReal(netx.RealOptions{Scheduler: sch, Entropy: entropy.System{}}),
		Eviction: pool.Policy{Hibernate: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(Options{Server: s, Scheduler: sch, Entropy: entropy.System{}, Dir: filepath.Join(t.TempDir(), "control")})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: loadClients}
	api := NewClient(Session{URL: c.URL(), Token: c.Token()})
	l := &load{t: t, url: s.URL(), client: &http.Client{Transport: transport}, began: time.Now(), end: time.Now().Add(loadSeconds(t))}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)

	var wg sync.WaitGroup
	for i := range loadClients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for l.goesOn() {
				l.call(i, l.object(rng), []string{"add", "add", "slow", "get"}[rng.IntN(4)])
			}
		})
	}
	troubles := map[string]int{}
	wg.Go(func() { l.trouble(api, rand.New(rand.NewPCG(seed, 1<<32)), troubles) })
	wg.Wait()
	for i := range loadObjects { // what is there in the end
		l.call(loadClients, i, "get")
	}
	text, err := json.Marshal(troubles)
	if err != nil {
		t.Error(err)
	}
	t.Logf("troubles: %s", text)

	transport.CloseIdleConnections()
	api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, err := range []error{c.Close(ctx), s.Close(ctx), sch.Close(ctx)} {
		if err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	return l
}
