package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
)

// TestMain doubles as the server under test: a stand-in for `minido dev` with an
// agent whose fiber takes five checkpoints, and with bugs to order.
func TestMain(m *testing.M) {
	if bug, ok := os.LookupEnv("MINIDO_TEST_AGENT"); ok {
		os.Exit(serveAgent(bug, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeAgent keeps its books in the tables of the agents SDK.
type fakeAgent struct {
	bug    string
	points *killpoint.Points
	mu     sync.Mutex // guards conn
	conn   *sqlite.Conn
	fibers int
}

func must(err error) {
	if err != nil {
		fmt.Println("fake agent:", err)
		os.Exit(1)
	}
}

// commit runs SQL as one transaction at a kill point.
func (a *fakeAgent) commit(cause, format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	must(a.points.Effect(killpoint.Commit, "ResearchAgent/r1", cause, func() error {
		return a.conn.Exec("BEGIN; " + fmt.Sprintf(format, args...) + "; COMMIT")
	}))
}

const alarmOn, alarmOff = "INSERT OR REPLACE INTO _cf_METADATA VALUES (1, 1000000000)", "DELETE FROM _cf_METADATA"

// fiber works from step done+1 to 5, replacing the row of an interrupted one.
func (a *fakeAgent) fiber(cause, replaces string, done int) {
	a.mu.Lock()
	a.fibers++
	id := fmt.Sprintf("fiber-%d-%d", os.Getpid(), a.fibers)
	a.mu.Unlock()
	alarm := alarmOn
	if a.bug == "no-alarm" {
		alarm = alarmOff
	}
	a.commit(cause, `%s; INSERT INTO cf_agents_runs VALUES ('%s', 'research', NULL, NULL); DELETE FROM cf_agents_runs WHERE id = '%s'`, alarm, id, replaces)
	go func() {
		for step := done + 1; step <= 5; step++ {
			if <-time.After(30 * time.Millisecond); a.bug == "waits" && cause == "message" && step == 3 {
				return // its first life ends here
			}
			a.commit("timer", `UPDATE cf_agents_runs SET snapshot = '{"step":%d}' WHERE id = '%s'`, step, id)
		}
		if a.bug == "restless" {
			return
		}
		a.commit("timer", "DELETE FROM cf_agents_runs WHERE id = '%s'; %s", id, alarmOff)
	}()
}

// recover does what the SDK does on an alarm after a restart.
func (a *fakeAgent) recover() {
	st, _, err := a.conn.Prepare("SELECT id, snapshot FROM cf_agents_runs", false)
	must(err)
	defer st.Finalize()
	row, err := st.Step()
	must(err)
	if !row {
		return
	}
	id, snapshot := st.ColumnText(0), st.ColumnText(1)
	st.Reset()
	step := 0
	if snapshot != "" {
		_, err = fmt.Sscanf(snapshot, `{"step":%d}`, &step)
		must(err)
	}
	note := fmt.Sprintf("INSERT INTO research_interruptions (fiber, snapshot) VALUES ('%s', '%s')", id, snapshot)
	switch a.bug {
	case "no-hook":
		note = "SELECT 1"
	case "old-snapshot":
		note = fmt.Sprintf(`INSERT INTO research_interruptions (fiber, snapshot) VALUES ('%s', '{"step":%d}')`, id, step-1)
	case "twice":
		note += ";" + note
	}
	a.commit("alarm", "%s", note)
	a.fiber("alarm", id, step)
}

func serveAgent(bug string, args []string) int {
	flags := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		flags[args[i]] = args[i+1]
	}
	if bug == "exit2" {
		fmt.Println("no such file: src/worker.ts")
		return 2
	}
	where, err := locate(Options{Project: flags["--config"], On: "research-agent/r1"})
	must(err)
	dir := where.namespaceDir(flags["--persist-to"])
	must(os.MkdirAll(dir, 0o700))
	conn, err := sqlite.Open(sqlite.Options{Path: filepath.Join(dir, where.id+".sqlite"), Now: clock.Real{}.Now, Rand: entropy.System{}})
	must(err)
	must(conn.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
		CREATE TABLE IF NOT EXISTS cf_agents_runs (id TEXT, name TEXT, snapshot TEXT, completed_at INTEGER);
		CREATE TABLE IF NOT EXISTS research_interruptions (fiber TEXT, snapshot TEXT);
		CREATE TABLE IF NOT EXISTS _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB)`))
	points, err := process.PointsFromEnvironment()
	must(err)
	a := &fakeAgent{bug: bug, conn: conn, points: points}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	fmt.Printf("Ready on http://%s\n", listener.Addr())
	a.recover()
	must(http.Serve(listener, http.HandlerFunc(a.serve)))
	return 0
}

func (a *fakeAgent) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	must(err)
	for {
		_, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var request struct{ ID, Method string }
		must(json.Unmarshal(data, &request))
		if request.Method != "startResearch" {
			must(conn.Write(r.Context(), websocket.MessageText, []byte(`{"type":"rpc","id":"`+request.ID+`","success":false,"error":"no such method"}`)))
			continue
		}
		a.fiber("message", "", 0)
		if a.bug == "crash" {
			os.Exit(7)
		}
		answer := []byte(`{"type":"rpc","id":"` + request.ID + `","success":true,"result":{"job":"job-1"}}`)
		must(a.points.Effect(killpoint.Frame, "ResearchAgent/r1", "message", func() error {
			return conn.Write(r.Context(), websocket.MessageText, answer)
		}))
	}
}

const oneAgent = `{"name": "w", "main": "x.ts", "compatibility_date": "2026-08-01",
	"durable_objects": {"bindings": [{"name": "ResearchAgent", "class_name": "ResearchAgent"}]}}`

// try runs the harness against the stand-in.
func try(t *testing.T, bug string, change func(*Options)) (Report, string, error) {
	t.Helper()
	dir := t.TempDir()
	project := writeProject(t, dir, oneAgent)
	t.Setenv("MINIDO_TEST_AGENT", bug)
	var out bytes.Buffer
	o := Options{Project: project, Call: "startResearch", Args: `["tides"]`, On: "research-agent/r1", Timeout: 20 * time.Second,
		Out: &out, Dir: filepath.Join(dir, "out"), Server: []string{os.Args[0]}}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	report, err := Run(ctx, o)
	return report, out.String(), err
}

// A sound agent passes: killed at a checkpoint, after a time, at a point before
// its answer, twice, and woken by an alarm or by a request; and the evidence is
// where the report says.
func TestRunPasses(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"checkpoint":       nil,
		"time":             func(o *Options) { o.KillAfter = 70 * time.Millisecond },
		"twice":            func(o *Options) { o.Kills, o.KillAtCheckpoint = 2, 1 },
		"request":          func(o *Options) { o.Recover = ByRequest },
		"before an answer": func(o *Options) { o.KillAt = "commit:after(ResearchAgent/r1)/message#1" },
		"after a commit":   func(o *Options) { o.KillAt = "commit:after(ResearchAgent/r1)/timer#3" },
		"before a commit":  func(o *Options) { o.KillAt = "commit:before(ResearchAgent/r1)/timer#3" },
		"by number":        func(o *Options) { o.KillAt = "6" },
	} {
		t.Run(name, func(t *testing.T) {
			bug := ""
			if name == "time" {
				bug = "waits" // for the kill, however late it comes
			}
			report, story, err := try(t, bug, change)
			if err != nil || report.Code != Pass {
				t.Fatalf("code %d, %v\n%s", report.Code, err, story)
			}
			last := report.Kills[len(report.Kills)-1]
			if len(last.Interrupted) != 1 || last.Point == "" || last.Recovered <= 0 || !report.HooksVisible {
				t.Errorf("report %+v", report)
			}
			if !strings.Contains(story, "SIGKILL") || !strings.Contains(story, "PASS") {
				t.Errorf("story:\n%s", story)
			}
			for _, file := range []string{"history.ndjson", "server.log", "points-1.ndjson", "death-1/v3/do/w-ResearchAgent", "end/v3/do/w-ResearchAgent"} {
				if _, err := os.Stat(filepath.Join(report.Dir, file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A kill at a point leaves what was committed before it, and nothing else.
func TestRunKillsAtThePoint(t *testing.T) {
	for at, want := range map[string]string{"commit:before(ResearchAgent/r1)/timer#3": `{"step":2}`, "commit:after(ResearchAgent/r1)/timer#3": `{"step":3}`} {
		report, story, err := try(t, "", func(o *Options) { o.KillAt = at })
		if err != nil || len(report.Kills) != 1 {
			t.Fatalf("%v\n%s", err, story)
		}
		if k := report.Kills[0]; !k.ByItself || k.Point != at || len(k.Interrupted) != 1 || k.Interrupted[0].Snapshot != want {
			t.Errorf("%s: %+v, want snapshot %s", at, k, want)
		}
	}
}

// Each bug is found, has its own exit code, and ends with the command that
// replays it.
func TestRunFindsBugs(t *testing.T) {
	for bug, want := range map[string]struct {
		code int
		text string
	}{
		"no-hook":      {Violated, "hook-once"},
		"old-snapshot": {Violated, "hook-snapshot"},
		"twice":        {Violated, "ran 2 times"},
		"no-alarm":     {Violated, "alarm-while-running"},
		"restless":     {Restless, "cf_agents_runs has research"},
		"crash":        {Broken, "exit status 7"},
		"exit2":        {Usage, "no such file: src/worker.ts"},
	} {
		t.Run(bug, func(t *testing.T) {
			report, story, err := try(t, bug, func(o *Options) {
				if bug == "restless" {
					o.Timeout = 6 * time.Second // it runs out, and a slow machine has to start the agent in it
				}
			})
			if report.Code != want.code {
				t.Fatalf("code %d, want %d; %v\n%s", report.Code, want.code, err, story)
			}
			if text := story + fmt.Sprint(err); !strings.Contains(text, want.text) {
				t.Errorf("%q is not in:\n%s", want.text, text)
			}
			if want.code == Violated && (err != nil || !strings.HasSuffix(story, report.Replay+"\n") || !strings.Contains(report.Replay, "--kill-at")) {
				t.Errorf("%v\n%s\nreplay: %s", err, story, report.Replay)
			}
		})
	}
}

// A kill whose moment never comes is missed, not passed; a method that the
// agent does not have is the caller's mistake.
func TestRunMissesAndRefusals(t *testing.T) {
	for want, change := range map[int]func(*Options){
		Missed: func(o *Options) { o.KillAt = "index:after#1" },
		Usage:  func(o *Options) { o.Call = "nonsense" },
	} {
		report, story, err := try(t, "", change)
		if report.Code != want || err == nil {
			t.Errorf("code %d, want %d; %v\n%s", report.Code, want, err, story)
		}
	}
}

// The points of a run without a kill are listed in order, and each is a target.
func TestListPoints(t *testing.T) {
	dir := t.TempDir()
	project := writeProject(t, dir, oneAgent)
	t.Setenv("MINIDO_TEST_AGENT", "")
	points, report, err := ListPoints(context.Background(), Options{Project: project, Call: "startResearch", On: "research-agent/r1",
		Timeout: 20 * time.Second, Dir: filepath.Join(dir, "out"), Server: []string{os.Args[0]}})
	if err != nil || report.Code != Pass {
		t.Fatalf("%+v, %v", report, err)
	}
	// Begin, five checkpoints, end: seven commits and one frame, two points each.
	if len(points) != 16 || points[1].Label != "commit:after(ResearchAgent/r1)/message#1" {
		t.Errorf("%d points: %v", len(points), points)
	}
	for _, p := range points {
		if _, err := killpoint.ParseTarget(p.Label); err != nil {
			t.Error(err)
		}
	}
}
