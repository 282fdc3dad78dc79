// Package reference runs workerd for differential tests: it gets the same input as
// minido, and the answers are compared. Only tests import it. They skip where the
// reference is not installed; `make differential` installs it.
package reference

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// EnvVar names the node_modules folder in which the reference is installed.
const EnvVar = "MINIDO_REFERENCE"

// Workerd is a running workerd. It belongs to the test that started it.
type Workerd struct {
	t    testing.TB
	cmd  *exec.Cmd
	port int
}

// Options describe one worker with Durable Objects.
type Options struct {
	Script  string            // the source of its one ES module
	Name    string            // the script's name: unique keys are NAME-CLASS
	Classes []string          // the Durable Object classes, each bound under its own name
	Wasm    map[string]string // WebAssembly modules by name: what they hold
	Date    string            // the compatibility date; "" is 2026-08-01
	Dir     string            // where state is kept, as --persist-to DIR/v3/do would; must exist
	Flags   []string          // compatibility flags
	// Tail is the source of a worker's one ES module; unless it is "", the worker is
	// the script's tail worker, streaming too, and bound as TAIL.
	Tail string
}

// config is the worker as Cap'n Proto text (workerd.capnp).
const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "disk", disk = (path = %q, writable = true))%s],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")%s],
  compatibilityDate = %q,
  compatibilityFlags = [%s],
  durableObjectNamespaces = [%s],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [%s],%s
);
`

const (
	tailService = `, (name = "tail", worker = (modules = [(name = "tail.js", esModule = embed "tail.js")], compatibilityDate = "2026-08-01"))`
	tailed      = `
  tails = ["tail"],
  streamingTails = ["tail"],`
)

// Start runs workerd until the test ends or Kill is called. It skips the test
// where the reference is not installed.
func Start(t testing.TB, o Options) *Workerd {
	t.Helper()
	modules := os.Getenv(EnvVar)
	if modules == "" {
		t.Skip("set " + EnvVar + ", or use make differential")
	}
	tmp := t.TempDir()
	namespaces, bindings := "", ""
	for _, class := range o.Classes {
		namespaces += fmt.Sprintf("(className = %q, uniqueKey = %q, enableSql = true), ", class, o.Name+"-"+class)
		bindings += fmt.Sprintf("(name = %q, durableObjectNamespace = %q), ", class, class)
	}
	modulesText := ""
	for _, name := range slices.Sorted(maps.Keys(o.Wasm)) {
		modulesText += fmt.Sprintf(", (name = %q, wasm = embed %q)", name, name)
		write(t, filepath.Join(tmp, name), o.Wasm[name])
	}
	service, tails := "", ""
	if o.Tail != "" {
		service, tails = tailService, tailed
		bindings += `(name = "TAIL", service = "tail")`
		write(t, filepath.Join(tmp, "tail.js"), o.Tail)
	}
	write(t, filepath.Join(tmp, "worker.js"), o.Script)
	write(t, filepath.Join(tmp, "config.capnp"),
		fmt.Sprintf(config, o.Dir, service, modulesText, cmp.Or(o.Date, "2026-08-01"), quoted(o.Flags), namespaces, bindings, tails))

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Workerd{t: t, cmd: exec.Command(filepath.Join(modules, ".bin", "workerd"), "serve", "--experimental", "--control-fd=3", "config.capnp")}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = tmp, os.Stderr, os.Stderr
	p.cmd.ExtraFiles = []*os.File{w}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("reference: %v", err)
	}
	t.Cleanup(p.Kill)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var event struct {
			Event, Socket string
			Port          int
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("reference: control message %q: %v", lines.Text(), err)
		}
		if event.Event == "listen" && event.Socket == "http" {
			p.port = event.Port
			return p
		}
	}
	t.Fatal("reference: workerd ended before it listened")
	return nil
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Get fetches a path and decodes the JSON of the answer into v.
func (p *Workerd) Get(path string, v any) {
	p.t.Helper()
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", p.port, path))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		p.t.Fatalf("reference: GET %s: %s\n%s", path, resp.Status, body)
	}
	if err := json.Unmarshal(body, v); err != nil {
		p.t.Fatalf("reference: GET %s: %v in %q", path, err, body)
	}
}

// Post sends a body to a path and returns the answer, whatever its status.
func (p *Workerd) Post(path, body string) (status int, answer string) {
	p.t.Helper()
	resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d%s", p.port, path), "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// Kill ends workerd by SIGKILL and waits until it is gone. Idempotent.
func (p *Workerd) Kill() {
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Errorf("reference: %v", err)
	}
	// The error says that it was killed, which is what was asked for.
	_ = p.cmd.Wait()
}

// quoted is a list of texts in Cap'n Proto's notation.
func quoted(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, strconv.Quote(text))
	}
	return strings.Join(out, ", ")
}
