package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	c, err := parse(t, "fixtures/fibers", "--call", "startResearch", `["tides"]`, "--on", "research-agent/r1",
		"--kill-at", "commit:after(ResearchAgent/r1)/timer#2", "--recover", "request", "--var", "A:1,2", "--var", "B:2", "--timeout", "1m0s")
	if err != nil {
		t.Fatal(err)
	}
	if c.Project != "fixtures/fibers" || c.Args != `["tides"]` || c.Call != "startResearch" || c.Kills != 1 || c.Timeout != time.Minute ||
		c.Recover != "request" || len(c.Var) != 2 || c.Var[0] != "A:1,2" {
		t.Errorf("%+v", c)
	}
	for _, args := range [][]string{{"."}, {".", "--on", "a/b", "--recover", "prayer"}, {".", "--on", "a/b", "--kill-after", "soon"}} {
		if _, err := parse(t, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func none() int { return 0 }

// A mistake is an exit code and a text, both for a run and for a list.
func TestRunReportsUsage(t *testing.T) {
	for _, list := range []bool{false, true} {
		c := Once{Project: filepath.Join(t.TempDir(), "nowhere"), On: "a/b", Call: "m", Kills: 1, Recover: "alarm", ListPoints: list}
		var out bytes.Buffer
		err := c.run(context.Background(), none, &out)
		var exit *ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != chaos.Usage || !strings.Contains(exit.Error(), "there is no project") {
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
	c := Once{Project: "nowhere", On: "a/b", Call: "m"}
	var exit *ExitError
	if err := c.run(ctx, number, &bytes.Buffer{}); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("err = %v", err)
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
