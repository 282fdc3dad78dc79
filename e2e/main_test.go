// Package e2e tests the binary that users get, as they use it: over its command
// line, HTTP and WebSocket, with SIGKILL.
package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/devregistry"
)

// minido is the path of the binary under test: MINIDO_BIN, or one built here.
var minido string

// scratch is a directory for what tests share; it goes when they have run.
var scratch string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	debug.SetGCPercent(400) // of this process: its simulated worlds are garbage soon
	for _, installed := range []string{"fibers/node_modules/agents", "strangers/notes/node_modules/hono"} {
		if _, err := os.Stat(filepath.Join("..", "fixtures", installed)); err != nil {
			fmt.Fprintf(os.Stderr, "fixtures/%s is not installed: run `make npm` first\n", installed)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "minido-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	// The servers of the tests find no session of the user's, nor do those find them.
	if err := os.Setenv(devregistry.DirVariable, filepath.Join(dir, "dev-registry")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if minido = os.Getenv("MINIDO_BIN"); minido != "" {
		return m.Run()
	}
	minido = filepath.Join(dir, "minido")
	if runtime.GOOS == "windows" {
		minido += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-o", minido, "minido.dev/minido/cmd/minido")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// fixture is the absolute path of a worker project.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

const readyLimit = 90 * time.Second // a first start transforms all npm packages

// server is a running `minido dev`.
type server struct {
	*process.Child
	url string
}

// dev starts `minido dev` with the given flags and waits until it answers.
// Whatever happens to the test, it does not outlive it.
func dev(t *testing.T, flags ...string) server {
	t.Helper()
	s, err := tryDev(t, "", flags...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tryDev is dev for a server that may refuse to start, or that is to kill
// itself at a point.
func tryDev(t *testing.T, killPoint string, flags ...string) (server, error) {
	t.Helper()
	// The packages of a fixture are transformed once, not for each state directory.
	cache := "--cache-dir=" + filepath.Join(scratch, "cache")
	return launch(t, process.Options{Command: append([]string{minido, "dev", "--ip", "127.0.0.1", cache}, flags...), KillPoint: killPoint})
}

// launch starts a server of whatever kind and waits until it answers.
func launch(t *testing.T, o process.Options) (server, error) {
	t.Helper()
	child := child(t, o)
	url, err := child.Ready(context.Background(), readyLimit)
	return server{child, url}, err
}

// child starts a process that does not outlive the test; what it wrote is told
// if the test fails.
func child(t *testing.T, o process.Options) *process.Child {
	t.Helper()
	threads := sched.NewThreads(clock.Real{})
	if o.Scheduler = threads; o.Dir == "" {
		o.Dir = t.TempDir() // nothing of a test may come from where it was started
	}
	child, err := process.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := child.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			t.Errorf("left running: %v", err)
		}
		if t.Failed() {
			t.Logf("pid %d wrote:\n%s", child.Pid(), child.Output())
		}
	})
	return child
}

// client goes through no proxy, whatever the environment says. Its timeout is for what
// hangs: beside three other tests on two cores an answer takes fifteen times as long as alone.
var client = &http.Client{Timeout: 3 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// ask sends a request and returns the status and the whole body.
func ask(t *testing.T, method, url string, header ...string) (int, string) {
	t.Helper()
	status, body, err := tryAsk(method, url, header...)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func tryAsk(method, url string, header ...string) (int, string, error) {
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		return 0, "", err
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// get asks for JSON and reads it into v.
func get(t *testing.T, url string, v any) {
	t.Helper()
	status, body := ask(t, "GET", url)
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", url, status, body)
	}
	if err := json.Unmarshal([]byte(body), v); err != nil {
		t.Fatalf("GET %s: %v in %s", url, err, body)
	}
}

// contains fails the test for each text that is not in got.
func contains(t *testing.T, got string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%q is not in:\n%s", text, got)
		}
	}
}
