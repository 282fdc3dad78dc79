package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"minido.dev/minido/chaos"
)

func parse(t *testing.T, args ...string) (*Once, error) {
	t.Helper()
	var c struct {
		Chaos Chaos `cmd:""`
	}
	parser, err := kong.New(&c, kong.Exit(func(int) { t.Fatal("kong wants to exit") }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(append([]string{"chaos"}, args...))
	return &c.Chaos.Once, err
}

// The command lines of the help, and those that a failed run prints, parse.
func TestParse(t *testing.T) {
	c, err := parse(t, "fixtures/fibers", "--call", `ResearchAgent/r1.startResearch("tides")`,
		"--kill-at", "commit:after(ResearchAgent/r1)/timer#2", "--recover", "request", "--var", "A:1,2", "--var", "B:2", "--timeout", "1m0s")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.plan()
	if err != nil || plan.String() != "kill@commit:after(ResearchAgent/r1)/timer#2" || c.Project != "fixtures/fibers" || len(c.Call) != 1 ||
		c.Timeout != time.Minute || c.Recover != "request" || len(c.Var) != 2 || c.Var[0] != "A:1,2" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, args := range [][]string{{".", "--recover", "prayer"}, {".", "--kill-after", "soon"}} {
		if _, err := parse(t, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// The flags of run make a plan; without any it kills at the second checkpoint.
func TestPlanOfRun(t *testing.T) {
	for want, c := range map[string]Once{
		"kill@checkpoint#2":                       {Kills: 1},
		"kill@checkpoint#3; kill@checkpoint#3":    {Kills: 2, KillAtCheckpoint: 3},
		"kill@after(2s)":                          {Kills: 1, KillAfter: 2 * time.Second},
		"kill@commit:after#1":                     {Kills: 1, KillAt: "commit:after#1"},
		"choose one of --kill-at, --kill-after":   {KillAt: "1", KillAfter: time.Second},
		"times and counts must not be negative":   {Kills: -1},
		"--kill-at: fault \"kill@comit:after#1\"": {KillAt: "comit:after#1"},
	} {
		plan, err := c.plan()
		if err != nil && !strings.HasPrefix(err.Error(), want) || err == nil && plan.String() != want {
			t.Errorf("want %q, got %s, %v", want, plan, err)
		}
	}
}

// A call in the notation of earlier versions is refused with the one to write.
func TestOldNotation(t *testing.T) {
	for want, args := range map[string][]string{
		`--call 'ResearchAgent/r1.startResearch("tides")'`: {".", `["tides"]`, "--call", "startResearch", "--on", "research-agent/r1"},
		`--call 'Worker/w1.start()'`:                       {".", "--call", "start", "--on", "Worker/w1"},
		`--chat 'ChatAgent/c1: hello'`:                     {".", "--chat", "hello", "--on", "chat-agent/c1"},
	} {
		c, err := parse(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		var exit *ExitError
		if err := c.run(io.Discard); !errors.As(err, &exit) || exit.ExitCode() != chaos.Usage || !strings.HasSuffix(exit.Error(), "write "+want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A mistake is an exit code and a text, both for a run and for a list.
func TestRunReportsUsage(t *testing.T) {
	for _, list := range []bool{false, true} {
		c := Once{Common: Common{Project: filepath.Join(t.TempDir(), "nowhere"), Call: []string{"A/b.m()"}, Mode: "process"}, Kills: 1, ListPoints: list}
		var exit *ExitError
		if err := c.run(io.Discard); !errors.As(err, &exit) || exit.ExitCode() != chaos.Usage || !strings.Contains(exit.Error(), "there is no project") {
			t.Errorf("err = %v", err)
		}
	}
}

// A signal decides the exit code, whatever the run had come to.
func TestSignalled(t *testing.T) {
	ctx, number, stop := untilSignal()
	defer stop()
	if n := number(); n != 0 {
		t.Fatalf("signal %d before any", n)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Skip("this system cannot signal a process: ", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the signal did not end the context")
	}
	if n := number(); n != int(syscall.SIGINT) {
		t.Errorf("signal %d, want %d", n, syscall.SIGINT)
	}
}

// Colours are for terminals only.
func TestColor(t *testing.T) {
	if Color(&bytes.Buffer{}) {
		t.Error("a buffer is no terminal")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Color(f) {
		t.Error("a file is no terminal")
	}
}

// `init` writes a scenario and its types, and touches nothing that is there.
func TestInit(t *testing.T) {
	dir := t.TempDir()
	config := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "wrangler.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string) {
		t.Helper()
		err := (&Init{Project: dir}).run(io.Discard)
		var exit *ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != chaos.Usage || !strings.Contains(exit.Error(), want) {
			t.Errorf("err = %v, want a usage error with %q", err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a.js"), []byte("export class Cart extends AIChatAgent {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config(`{"main": "a.js", "compatibility_date": "2026-01-01"}`)
	refused("binds no Durable Object")
	config(`{"name": "shop", "main": "a.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "CART", "class_name": "Cart"}]}}`)
	var out bytes.Buffer
	if err := (&Init{Project: dir}).run(&out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"shop.chaos.ts": `await chat(subject, "hello")`, "minido-chaos.d.ts": `declare module "minido:chaos"`} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) || !strings.Contains(out.String(), name) {
			t.Errorf("%s: %v: %s", name, err, text)
		}
	}
	refused("is there already")
}

// merge writes report.json where --out says, and nowhere without it.
func TestMergeWritesWhereItIsTold(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, shard := range map[string]string{"a.json": "1/2", "b.json": "2/2"} {
		text := `{"verb": "enumerate", "project": "p", "shard": "` + shard + `", "cases": [{"name": "kill@1", "outcome": "passed"}], "dir": "x"}`
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for out, want := range map[string]string{"": "", "all": "all/report.json", "merged.json": "merged.json"} {
		var b bytes.Buffer
		if err := (&Merge{Files: []string{"a.json", "b.json"}, Out: out}).run(&b); err != nil || !strings.Contains(b.String(), "PASS  2 runs") {
			t.Fatalf("--out %q: %v\n%s", out, err, b.String())
		}
		if _, err := os.Stat("report.json"); err == nil {
			t.Errorf("--out %q wrote report.json into the current directory", out)
		}
		if want != "" {
			if data, err := os.ReadFile(want); err != nil || !strings.Contains(string(data), `"outcome": "passed"`) {
				t.Errorf("--out %q: %v: %s", out, err, data)
			}
		}
	}
	if err := (&Merge{Files: []string{"a.json"}, Reporter: []string{"junit"}}).run(io.Discard); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("a report that goes nowhere: %v", err)
	}
}
