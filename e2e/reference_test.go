package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/reference"
)

// wranglerModules is where the reference is installed; it skips the test if
// nowhere.
func wranglerModules(t *testing.T) string {
	t.Helper()
	modules := os.Getenv(reference.EnvVar)
	if modules == "" {
		t.Skip("set " + reference.EnvVar + ", or use make differential")
	}
	return modules
}

// wranglerDev starts the real `wrangler dev` with flags that minido reads, too.
func wranglerDev(t *testing.T, flags ...string) server {
	t.Helper()
	s, err := launch(t, wranglerOptions(t, "", flags...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wranglerOptions are those of a `wrangler dev` in a folder.
func wranglerOptions(t *testing.T, dir string, flags ...string) process.Options {
	t.Helper()
	modules := wranglerModules(t)
	return process.Options{
		Command: append([]string{filepath.Join(modules, ".bin", "node"), filepath.Join(modules, "wrangler", "bin", "wrangler.js"), "dev", "--ip", "127.0.0.1",
			"--local", "--inspector-port", "0", "--show-interactive-dev-session=false"}, flags...),
		Env: []string{"WRANGLER_SEND_METRICS=false", "CI=1", "CLOUDFLARE_CF_FETCH_ENABLED=false"},
		Dir: dir,
	}
}

// runtimes are what a state directory changes hands between.
var runtimes = map[string]func(*testing.T, ...string) server{"minido": dev, "wrangler": wranglerDev}

// handovers are who writes, who takes over, and who gets it back.
var handovers = [][]string{{"minido", "wrangler", "minido"}, {"wrangler", "minido", "wrangler"}}

// A fiber, two at once, a managed one and a sub-agent's, all cut by SIGKILL of
// the process group under one runtime, are recovered by their alarms under the
// other with nobody asking; cut there, they end under the first one. Hooks get
// what stash() had returned with, and everything ends once.
func TestDifferentialFibersChangeHands(t *testing.T) {
	for _, hands := range handovers {
		t.Run(strings.Join(hands, " to "), func(t *testing.T) {
			wranglerModules(t)
			t.Parallel()
			l := beginOn(t, runtimes[hands[0]], "fibers", nil, "STEP_MS:1000", "KEEP_ALIVE_MS:700")
			call(t, l.dial("research-agent/r1"), nil, "startResearch", "tides")
			call(t, l.dial("research-agent/r2"), nil, "startPair", "moons")
			call(t, l.dial("delivery-agent/d1"), nil, "accept", "order-1", 6, "finish")
			call(t, l.dial("lead-agent/l1"), nil, "send", "north", 6)
			var before progress
			cuts := map[string]int64{} // by topic
			for i, next := range hands[1:] {
				// Read from the files: a request would wake the agents, and their
				// alarms alone are to do that.
				until(t, "everything goes on under "+hands[i], func() bool {
					now := l.progress()
					return now.tides > before.tides && now.moons > before.moons+1 && now.parts > 0 && now.miles > before.miles
				})
				l.kill()
				before = l.progress()
				for _, job := range l.rows("ResearchAgent", "research_jobs", "SELECT topic FROM research_jobs WHERE status = 'running'") {
					cuts[job.Text("topic")]++
				}
				cuts["walk"] += l.count("LeadAgent", "scout_jobs", "SELECT count(*) AS n FROM scout_jobs WHERE status = 'running'")
				l.start = runtimes[next]
				l.server = l.start(t, l.flags...)
			}
			until(t, "everything ends under "+hands[2], func() bool { return l.progress().done == 5 })
			checkHandedOver(t, l, cuts)
		})
	}
}

// progress is how far the fibers of TestDifferentialFibersChangeHands have come.
type progress struct {
	tides, moons, parts, miles int64 // checkpoints
	done                       int64 // jobs that ended well
}

func (l *lives) progress() progress {
	const steps = `SELECT count(*) AS n FROM research_log WHERE event = 'stash' AND EXISTS (SELECT 1 FROM research_jobs WHERE topic = ?)`
	p := progress{
		tides: l.count("ResearchAgent", "research_jobs", steps, "tides"), moons: l.count("ResearchAgent", "research_jobs", steps, "moons"),
		parts: l.count("DeliveryAgent", "delivery_parts", "SELECT count(*) AS n FROM delivery_parts"),
		miles: l.count("LeadAgent", "scout_notes", "SELECT count(*) AS n FROM scout_notes"),
	}
	p.done = l.count("ResearchAgent", "research_jobs", "SELECT count(*) AS n FROM research_jobs WHERE status = 'done'") +
		l.count("DeliveryAgent", "cf_agents_fibers", "SELECT count(*) AS n FROM cf_agents_fibers WHERE status = 'completed'") +
		l.count("LeadAgent", "scout_jobs", "SELECT count(*) AS n FROM scout_jobs WHERE status = 'done'")
	return p
}

// count adds up column n of a query in all databases of a class, facets
// included, that have the table.
func (l *lives) count(class, table, sql string, args ...any) (n int64) {
	for _, row := range l.rows(class, table, sql, args...) {
		n += row.Int("n")
	}
	return n
}

// rows is a query in all databases of a class, facets included, that have the
// table, read from the files. The server may be running.
func (l *lives) rows(class, table, sql string, args ...any) (rows []evidence.Row) {
	l.t.Helper()
	paths, err := filepath.Glob(filepath.Join(l.state, "v3", "do", "*-"+class, "*.sqlite"))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, path := range paths {
		if filepath.Base(path) == "metadata.sqlite" {
			continue
		}
		more, err := rowsOf(path, table, sql, args...)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.t.Fatal(err)
		}
		rows = append(rows, more...)
	}
	return rows
}

func rowsOf(path, table, sql string, args ...any) (rows []evidence.Row, err error) {
	db, err := evidence.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tables, err := db.Tables()
	if err != nil || !slices.Contains(tables, table) {
		return nil, err
	}
	return db.Query(sql, args...)
}

// checkHandedOver checks the books after two deaths that cut each job so often.
func checkHandedOver(t *testing.T, l *lives, cuts map[string]int64) {
	t.Helper()
	l.kill() // so that the files stand still
	for _, job := range l.rows("ResearchAgent", "research_jobs", "SELECT topic, completions, interruptions, answer FROM research_jobs") {
		topic := job.Text("topic")
		want := "search " + topic + " #1; read " + topic + " #2; compare " + topic + " #3; draft " + topic + " #4; review " + topic + " #5"
		if job.Text("answer") != want || job.Int("completions") != 1 || job.Int("interruptions") != cuts[topic] || cuts[topic] == 0 {
			t.Errorf("job %v, cut %d times, want answer %q", job, cuts[topic], want)
		}
	}
	var miles []string
	for _, note := range l.rows("LeadAgent", "scout_notes", "SELECT text FROM scout_notes ORDER BY seq") {
		miles = append(miles, note.Text("text"))
	}
	if got, want := strings.Join(miles, ", "), "mile 1, mile 2, mile 3, mile 4, mile 5, mile 6"; got != want {
		t.Errorf("the scout walked %q", got)
	}
	if n := l.count("LeadAgent", "scout_interruptions", "SELECT count(*) AS n FROM scout_interruptions"); n != cuts["walk"] || n == 0 {
		t.Errorf("the scout's hook ran %d times, it was cut %d times", n, cuts["walk"])
	}
	var parts []string
	for _, row := range l.rows("DeliveryAgent", "delivery_parts", "SELECT key || '/' || part AS text FROM delivery_parts ORDER BY seq") {
		parts = append(parts, row.Text("text"))
	}
	checkDelivered(t, parts, "order-1", 6)
	for _, class := range []string{"ResearchAgent", "DeliveryAgent", "LeadAgent"} {
		if n := l.count(class, "cf_agents_runs", "SELECT count(*) AS n FROM cf_agents_runs"); n != 0 {
			t.Errorf("%s: %d fibers are left in cf_agents_runs", class, n)
		}
	}
}
