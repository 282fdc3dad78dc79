package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/runtime/control"
)

// A worker that does little, so that what the dashboard adds is seen: hello, an object
// that reads and writes rows, one that streams, and an upstream.
const measuredWorker = `
import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)"); }
  async note(text) {
    this.ctx.storage.sql.exec("INSERT INTO notes (text) VALUES (?)", text);
    return this.ctx.storage.sql.exec("SELECT count(*) AS n FROM notes WHERE id > ?", 10).one().n;
  }
}
export default { async fetch(req, env) {
  const { pathname } = new URL(req.url);
  if (pathname === "/hello") return new Response("hello");
  return new Response(String(await env.ROOM.getByName(pathname).note("a note")));
} };`

// cpuOf is the CPU time that a process has used: the sum over its threads, of which Go
// ends none.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("the CPU time of %d: %v", pid, err)
	}
	var sum int64
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(b), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return time.Duration(sum)
}

// measured is a server under a steady load.
type measured struct {
	server
	session control.Session

	mu   sync.Mutex
	some *sync.Cond // on mu: a request was answered, or failed
	done int        // requests that were answered; guarded by mu
	ends bool       // one has failed; guarded by mu
}

// answered counts a request.
func (m *measured) answered(well bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if well {
		m.done++
	}
	m.ends = m.ends || !well
	m.some.Broadcast()
}

// more waits until n more requests were answered.
func (m *measured) more(t *testing.T, n int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for n += m.done; m.done < n && !m.ends; {
		m.some.Wait()
	}
	if m.ends {
		t.Fatal("the load has ended")
	}
}

func measure(t *testing.T, flags ...string) *measured {
	t.Helper()
	sessions := t.TempDir()
	dir := project(t, map[string]string{"worker.js": measuredWorker, "wrangler.json": `{"name": "measured", "main": "worker.js", "compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}]}`})
	s, err := launch(t, process.Options{Env: []string{"MINIDO_CONTROL_DIR=" + sessions}, Command: append([]string{minido, "dev", "--ip", "127.0.0.1",
		"-c", filepath.Join(dir, "wrangler.json"), "--port", "0", "--persist-to", filepath.Join(t.TempDir(), "state")}, flags...)})
	if err != nil {
		t.Fatal(err)
	}
	m := &measured{server: s}
	m.some = sync.NewCond(&m.mu)
	if slices.Contains(flags, "--no-control") {
		return m
	}
	found, err := control.Sessions(sessions)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d sessions, %v", len(found), err)
	}
	m.session = found[0]
	return m
}

// load sends rate requests a second, evenly, until the context ends.
func (m *measured) load(ctx context.Context, t *testing.T, path string, rate int) {
	var all sync.WaitGroup
	defer all.Wait()
	const connections = 8
	for i := range connections {
		all.Go(func() {
			every := time.Second * connections / time.Duration(rate)
			next := time.NewTicker(every)
			defer next.Stop()
			for n := 0; ; n++ {
				select {
				case <-ctx.Done():
					return
				case <-next.C:
				}
				to := path
				if path != "/hello" {
					to = fmt.Sprintf("%s%d", path, i)
				}
				status, body, err := tryAsk("GET", m.url+to)
				m.answered(err == nil && status == 200)
				if err != nil || status != 200 {
					t.Errorf("%s: %d %s %v", to, status, body, err)
					return
				}
			}
		})
	}
}

// window is the CPU time in microseconds of the server for each of n requests.
func (m *measured) window(t *testing.T, n int) float64 {
	t.Helper()
	before := cpuOf(t, m.Pid())
	m.more(t, n)
	return float64((cpuOf(t, m.Pid()) - before).Nanoseconds()) / 1000 / float64(n)
}

// follower asks what an open page asks, until it is stopped; lines counts what came.
func (m *measured) follower(t *testing.T, page string, lines *atomic.Int64) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	ask := func(path string, read func(io.Reader)) {
		req, err := http.NewRequestWithContext(ctx, "GET", m.session.URL+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+m.session.Token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
		read(resp.Body)
	}
	poll := func(path string, every time.Duration) {
		all.Go(func() {
			for {
				ask(path, func(r io.Reader) { _, _ = io.Copy(io.Discard, r) }) // it ends with the context
				select {
				case <-ctx.Done():
					return
				case <-time.After(every):
				}
			}
		})
	}
	poll("/v1/status", 2*time.Second)
	switch page {
	case "objects":
		poll("/v1/objects", time.Second)
	default:
		detail := page == "timeline"
		all.Go(func() {
			ask(fmt.Sprintf("/v1/feed?after=0&points=%t&turns=%t&records=true", detail, detail), func(r io.Reader) {
				buffer := make([]byte, 64<<10)
				for {
					n, err := r.Read(buffer)
					lines.Add(int64(bytes.Count(buffer[:n], []byte{'\n'})))
					if err != nil {
						return
					}
				}
			})
		})
	}
	return func() { cancel(); all.Wait() }
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// An open dashboard costs the server at most 5 % of CPU for each request, and one that
// is closed nothing: windows with and without it alternate on one server, and the median
// of their pairs counts. `make dashboard-cost` runs it.
func TestDashboardCost(t *testing.T) {
	seconds, err := strconv.ParseFloat(os.Getenv("MINIDO_COST_SECONDS"), 64)
	if err != nil {
		t.Skip("make dashboard-cost sets MINIDO_COST_SECONDS, how long each row is measured")
	}
	pairs := max(4, int(seconds/2))
	for _, row := range []struct {
		path, page string
		rate       int
	}{
		{"/hello", "timeline", 1300}, {"/note", "timeline", 200}, {"/hello", "logs", 500}, {"/hello", "objects", 500}, {"/hello", "closed", 500},
	} {
		t.Run(strings.TrimPrefix(row.path, "/")+" "+row.page, func(t *testing.T) {
			m := measure(t)
			other := m
			if row.page == "closed" {
				other = measure(t, "--no-control", "--no-record")
			}
			ctx, cancel := context.WithCancel(context.Background())
			var all sync.WaitGroup
			for _, s := range []*measured{m, other} {
				all.Go(func() { s.load(ctx, t, row.path, row.rate) })
				if other == m {
					break
				}
			}
			defer all.Wait()
			defer cancel()
			m.more(t, 3*row.rate) // it has warmed up
			var without, with, ratios []float64
			var lines atomic.Int64
			var perSecond []float64
			for i := range pairs {
				var a, b float64
				one := func() { a = other.window(t, row.rate) }
				two := func() {
					if row.page == "closed" {
						b = m.window(t, row.rate)
						return
					}
					stop := m.follower(t, row.page, &lines)
					defer stop()
					m.more(t, row.rate/2) // it has been sent what was kept
					before, began := lines.Load(), time.Now()
					b = m.window(t, row.rate)
					perSecond = append(perSecond, float64(lines.Load()-before)/time.Since(began).Seconds())
				}
				if i%2 == 0 { // what grows or falls with time is in both
					one()
					two()
				} else {
					two()
					one()
				}
				without, with, ratios = append(without, a), append(with, b), append(ratios, b/a)
			}
			ratio := median(ratios)
			report, err := json.Marshal(map[string]any{"row": t.Name(), "pairs": pairs, "without_us": median(without), "with_us": median(with), "more_percent": 100 * (ratio - 1),
				"lines_per_second": median(perSecond), "quartiles_percent": []float64{100 * (quantile(ratios, 0.25) - 1), 100 * (quantile(ratios, 0.75) - 1)}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", report)
			if ratio > 1.05 {
				t.Errorf("%.1f %% more CPU for each request", 100*(ratio-1))
			}
		})
	}
}

func quantile(list []float64, q float64) float64 {
	return slices.Sorted(slices.Values(list))[int(q*float64(len(list)-1))]
}
