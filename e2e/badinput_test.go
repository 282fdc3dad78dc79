package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/config"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/durableobject/objectid"
)

// project writes a worker project of the given files.
func project(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// refused starts the server, expects it to end with code 2 without ever having
// said that it answers, and returns what it wrote.
func refused(t *testing.T, flags ...string) string {
	t.Helper()
	s, err := tryDev(t, "", flags...)
	var exit *process.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the server did not refuse: %s, %v", s.url, err)
	}
	if exit.Exit.Code != 2 {
		t.Errorf("exit code %d, want 2", exit.Exit.Code)
	}
	if strings.Contains(exit.Tail, "goroutine ") {
		t.Errorf("a Go stack is no message to a user:\n%s", exit.Tail)
	}
	return exit.Tail
}

const wrangler = `{
  "name": "bad",
  "main": "src/worker.ts",
  "compatibility_date": "2026-08-01",
  "durable_objects": { "bindings": [{ "name": "ROOM", "class_name": "Room" }] },
  "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Room"] }]
}
`

const worker = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {}
export default { fetch() { return new Response("fine"); } };
`

// The mistakes of a project are reported with file, line and column, a code
// frame and what to do, and end with code 2; so does the harness, in either mode.
func TestBadProjects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"the entry file is missing": {
			map[string]string{"wrangler.jsonc": wrangler},
			[]string{"wrangler.jsonc:3:", `"src/worker.ts"`, "does not exist", `"main": "src/worker.ts"`},
		},
		"a syntax error": {
			map[string]string{"wrangler.jsonc": wrangler, "src/worker.ts": worker + "const x = ;\n"},
			[]string{"src/worker.ts:4:11", "Unexpected", "const x = ;", "^"},
		},
		"a binding names a class that is not exported": {
			map[string]string{"wrangler.jsonc": wrangler, "src/worker.ts": strings.ReplaceAll(worker, "Room", "Rome")},
			[]string{"wrangler.jsonc:5:", "ROOM", `"Room"`, "src/worker.ts", "Rome", "^"},
		},
		"npm packages are not installed": {
			map[string]string{
				"wrangler.jsonc": wrangler, "package.json": `{"dependencies": {"agents": "0.32.0"}}`,
				"src/worker.ts": worker + "import { Agent } from \"agents\";\nexport class A extends Agent {}\n",
			},
			[]string{"src/worker.ts:4:", `"agents"`, "npm install"},
		},
		"the worker throws while it loads": {
			map[string]string{"wrangler.jsonc": wrangler, "src/worker.ts": worker + "null.x;\n"},
			[]string{"src/worker.ts:4:", "TypeError"},
		},
		"the wrangler file is broken": {
			map[string]string{"wrangler.jsonc": "{\n  \"name\": \"bad\",\n  \"main\" \"x.ts\"\n}\n"},
			[]string{"wrangler.jsonc:3:"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t, c.files)
			contains(t, refused(t, "--config", filepath.Join(dir, "wrangler.jsonc"), "--port", "0"), c.want...)
			for _, mode := range []string{"process", "sim"} {
				cmd := exec.Command(minido, "chaos", "enumerate", dir, "--fetch", "GET /", "--mode", mode, "--dir", t.TempDir())
				out, _ := cmd.CombinedOutput() // its code tells
				if code := cmd.ProcessState.ExitCode(); code != chaos.Usage || strings.Contains(string(out), "goroutine ") {
					t.Errorf("%s: code %d\n%s", mode, code, out)
				}
				contains(t, string(out), c.want...)
			}
		})
	}
}

// A wrong flag, and a wrangler file that is not there, are said with code 2.
func TestBadFlags(t *testing.T) {
	t.Parallel()
	contains(t, refused(t, "--prot", "8787"), "--prot")
	contains(t, refused(t, "--config", filepath.Join(t.TempDir(), "missing.jsonc")), "missing.jsonc")
}

// A port that is taken is named, with the flag that chooses another.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	contains(t, refused(t, "--config", filepath.Join(fixture(t, "hello"), "wrangler.jsonc"), "--port", port, "--persist-to", t.TempDir()),
		"127.0.0.1:"+port, "in use", "--port")
}

// A persist directory that another minido holds is refused, with its process
// id; the holder goes on, and its end frees the directory, also by SIGKILL.
func TestPersistDirectoryInUse(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	flags := []string{"--config", filepath.Join(fixture(t, "counter"), "wrangler.jsonc"), "--port", "0", "--persist-to", state}
	holder := dev(t, flags...)
	contains(t, refused(t, flags...), state, fmt.Sprint(holder.Pid()), "--persist-to")
	if status, body := ask(t, "POST", holder.url+"/lobby/add"); status != http.StatusOK {
		t.Errorf("the holder answers %d %s", status, body)
	}
	if err := holder.Kill(); err != nil {
		t.Fatal(err)
	}
	next := dev(t, flags...)
	var books struct{ Rows int }
	if get(t, next.url+"/lobby", &books); books.Rows != 1 {
		t.Errorf("rows %d, want 1", books.Rows)
	}
}

// A damaged database is reported by its file to whoever asks for its object,
// and every other object goes on.
func TestCorruptDatabase(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	flags := []string{"--config", filepath.Join(fixture(t, "counter"), "wrangler.jsonc"), "--port", "0", "--persist-to", state}
	s := dev(t, flags...)
	for _, name := range []string{"good", "bad"} {
		if status, body := ask(t, "POST", s.url+"/"+name+"/add"); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	if err := s.Stop(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	id := objectid.NewNamespace(config.UniqueKey("counter", "Counter")).FromName("bad").String()
	file := filepath.Join(state, "v3", "do", "counter-Counter", id+".sqlite")
	if err := os.WriteFile(file, []byte(strings.Repeat("this is no database. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file + "-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	s = dev(t, flags...)
	status, body := ask(t, "GET", s.url+"/bad")
	if status != http.StatusInternalServerError {
		t.Errorf("the damaged object answers %d %s", status, body)
	}
	contains(t, body+s.Output(), id+".sqlite")
	var books struct{ Rows int }
	if get(t, s.url+"/good", &books); books.Rows != 1 {
		t.Errorf("rows %d, want 1", books.Rows)
	}
	if status, body := ask(t, "POST", s.url+"/other/add"); status != http.StatusOK {
		t.Errorf("a new object answers %d %s", status, body)
	}
}

// What a configuration attaches beside env, and nothing here offers, is named at
// the start with its line: a container.
func TestContainersAreNamed(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"wrangler.jsonc": "{ \"name\": \"c\", \"main\": \"w.js\", \"compatibility_date\": \"2026-01-01\",\n  \"containers\": [{ \"class_name\": \"Box\", \"image\": \"./Dockerfile\" }] }\n",
		"w.js":           "export default { fetch() { return new Response(\"ok\"); } };\n",
	})
	s := dev(t, "--config", filepath.Join(dir, "wrangler.jsonc"), "--port", "0")
	contains(t, s.Output(), "containers[0]: a container is not offered", "wrangler.jsonc:2:18")
}
