package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
)

// TestMain doubles as the child: the tests start this very binary again.
func TestMain(m *testing.M) {
	if mode := os.Getenv("MINIDO_TEST_CHILD"); mode != "" {
		os.Exit(child(mode))
	}
	os.Exit(m.Run())
}

func child(mode string) int {
	switch mode {
	case "serve":
		fmt.Println("starting")
		fmt.Fprintln(os.Stderr, "a warning")
		fmt.Println("[minido] Ready on http://127.0.0.1:4711")
		<-time.After(time.Hour) // far beyond any test
	case "fail":
		fmt.Fprint(os.Stderr, "error: no such file")
		return 2
	case "silent":
		<-time.After(time.Hour) // far beyond any test
	case "points":
		target, err := killpoint.ParseTarget(os.Getenv(EnvKillPoint))
		if err != nil {
			panic(err)
		}
		log, err := os.OpenFile(os.Getenv(EnvKillPointLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		points := killpoint.New(killpoint.Options{Target: target, Record: func(p killpoint.Point) {
			line, _ := json.Marshal(Point{N: p.Number, Label: p.Label()})
			if _, err := log.Write(append(line, '\n')); err != nil {
				panic(err)
			}
		}})
		fmt.Println("Ready on http://127.0.0.1:4711")
		for {
			if err := points.Effect(killpoint.Commit, "A/a", "fetch", func() error { return nil }); err != nil {
				panic(err)
			}
		}
	}
	panic("unknown mode " + mode)
}

func start(t *testing.T, mode string, change func(*Options)) *Child {
	t.Helper()
	threads := sched.NewThreads(clock.Real{})
	o := Options{Command: []string{os.Args[0]}, Env: []string{"MINIDO_TEST_CHILD=" + mode}, Scheduler: threads}
	if change != nil {
		change(&o)
	}
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			t.Errorf("left running: %v", err)
		}
	})
	return c
}

// A child is ready when it says so; SIGKILL by the harness ends it at once,
// and what it had written is in the log.
func TestKill(t *testing.T) {
	var log bytes.Buffer
	c := start(t, "serve", func(o *Options) { o.Log = &log })
	url, err := c.Ready(context.Background(), 20*time.Second)
	if err != nil || url != "http://127.0.0.1:4711" {
		t.Fatalf("Ready = %q, %v", url, err)
	}
	if _, ended := c.Exit(); ended {
		t.Fatal("Exit says that a running child has ended")
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	exit, ended := c.Exit()
	if !ended || !exit.Killed || !exit.ByHarness || exit.SelfKilled() {
		t.Errorf("exit = %+v", exit)
	}
	if got := log.String(); !strings.Contains(got, "starting\n") || !strings.Contains(got, "a warning\n") {
		t.Errorf("log = %q", got)
	}
}

// A child that ends instead of getting ready gives its exit code and its words.
func TestReadyReportsExit(t *testing.T) {
	c := start(t, "fail", nil)
	_, err := c.Ready(context.Background(), 20*time.Second)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Exit.Code != 2 || !strings.Contains(err.Error(), "error: no such file") {
		t.Fatalf("err = %v", err)
	}
	if exit.Exit.Killed {
		t.Error("an exit code was taken for a kill")
	}
}

// A child that never gets ready is a timeout, not a hang.
func TestReadyTimesOut(t *testing.T) {
	c := start(t, "silent", nil)
	if _, err := c.Ready(context.Background(), 50*time.Millisecond); !errors.Is(err, wait.ErrTimeout) {
		t.Fatalf("err = %v", err)
	}
}

// A child armed with a kill point dies by its own SIGKILL, and the last point
// of its log is that point.
func TestSelfKillAtPoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "points.ndjson")
	c := start(t, "points", func(o *Options) { o.KillPoint, o.PointLog = "commit:after(A/a)#3", path })
	select {
	case <-c.Exited():
	case <-time.After(20 * time.Second):
		t.Fatal("the child did not die")
	}
	if exit, _ := c.Exit(); !exit.SelfKilled() {
		t.Errorf("exit = %+v", exit)
	}
	points, err := c.Points()
	if err != nil {
		t.Fatal(err)
	}
	if last := points[len(points)-1]; len(points) != 6 || last.Label != "commit:after(A/a)/fetch#3" || last.N != 6 {
		t.Errorf("points = %+v", points)
	}
}

// A torn last line of the log is left out; a damaged line is an error.
func TestPointsOfTornLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "points.ndjson")
	c := start(t, "silent", func(o *Options) { o.PointLog = path })
	if points, err := c.Points(); err != nil || points != nil {
		t.Fatalf("no file: %v, %v", points, err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"n\":1,\"label\":\"a\"}\n{\"n\":2,\"la")
	if points, err := c.Points(); err != nil || len(points) != 1 {
		t.Fatalf("torn: %v, %v", points, err)
	}
	write("{\"n\":1,\"label\":\"a\"}\nnonsense\n")
	if _, err := c.Points(); err == nil || !strings.Contains(err.Error(), ":2:") {
		t.Fatalf("damaged: %v", err)
	}
}

// Stop ends a child as Ctrl-C does; the default for SIGINT ends this one.
func TestStop(t *testing.T) {
	c := start(t, "serve", nil)
	if _, err := c.Ready(context.Background(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(context.Background(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if exit, ended := c.Exit(); !ended || exit.Killed {
		t.Errorf("exit = %+v, ended %v", exit, ended)
	}
}
