package e2e

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/version"
)

// nodeSystems are the systems that have a package, as npm names them, by Go's names.
var nodeSystems = map[string]string{
	"darwin-amd64": "darwin-x64", "darwin-arm64": "darwin-arm64", "linux-amd64": "linux-x64", "linux-arm64": "linux-arm64",
	"windows-amd64": "win32-x64", "windows-arm64": "win32-arm64",
}

// npmPackages packs the binary under test as npm packages, with a few bytes in place
// of the other systems' binaries, and returns the directory of the tarballs.
func npmPackages(t *testing.T) string {
	t.Helper()
	dist := t.TempDir()
	host := runtime.GOOS + "-" + runtime.GOARCH
	for system := range nodeSystems { // order-independent: each has files of its own
		binary := "minido"
		if strings.HasPrefix(system, "windows") {
			binary = "minido.exe"
		}
		path := filepath.Join(dist, "bin", system, binary)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if system == host {
			err = os.Symlink(minido, path)
		} else {
			err = os.WriteFile(path, []byte("of another system"), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pack := exec.Command("node", filepath.Join("..", "npm", "pack.mjs"), dist)
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("pack: %v\n%s", err, out)
	}
	return filepath.Join(dist, "npm")
}

// registry serves the tarballs of a directory as an npm registry does.
func registry(t *testing.T, dir string) string {
	t.Helper()
	tarballs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(tarballs) != len(nodeSystems)+1 {
		t.Fatalf("%d tarballs in %s, %v", len(tarballs), dir, err)
	}
	documents := map[string]any{}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, path := range tarballs {
		manifest, integrity := manifestOf(t, path)
		name, number := manifest["name"].(string), manifest["version"].(string)
		manifest["dist"] = map[string]any{"tarball": server.URL + "/tarballs/" + filepath.Base(path), "integrity": integrity}
		documents["/"+name] = map[string]any{"name": name, "dist-tags": map[string]any{"latest": number}, "versions": map[string]any{number: manifest}}
	}
	mux.Handle("/tarballs/", http.StripPrefix("/tarballs/", http.FileServer(http.Dir(dir))))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		document, ok := documents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if err := json.NewEncoder(w).Encode(document); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

// manifestOf is the package.json of a tarball, and the hash that npm checks.
func manifestOf(t *testing.T, path string) (manifest map[string]any, integrity string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hash := sha512.New()
	z, err := gzip.NewReader(io.TeeReader(f, hash))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name == "package/package.json" {
			if err := json.NewDecoder(r).Decode(&manifest); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := io.Copy(hash, f); err != nil {
		t.Fatal(err)
	}
	return manifest, "sha512-" + base64.StdEncoding.EncodeToString(hash.Sum(nil))
}

// nodeClient is what a user's program does with the Node client.
const nodeClient = `
import assert from "node:assert/strict";
import { join } from "node:path";
import { ControlError, start } from "minido";

const lines = [];
const server = await start({ clock: "virtual", log: (line) => lines.push(line) });
assert.deepEqual(await (await server.fetch("/first", { method: "POST" })).json(), { steps: [], done: false });
await server.ctl.advance(1000);
assert.deepEqual(await (await server.fetch("/first")).json(), { steps: ["search", "read", "summarize"], done: true });
assert.deepEqual((await server.ctl.sql("Job", "first", "SELECT name FROM steps WHERE name > ?", "read")).rows, [["search"], ["summarize"]]);
assert.equal((await server.ctl.objects())[0].class, "Job");
assert.equal(Buffer.from((await server.ctl.export("Job", "first")).slice(0, 13)).toString(), "SQLite format");
assert.deepEqual(await server.ctl.crash("Job", "first"), { done: "crash" });
await assert.rejects(server.ctl.evict("Job", "never"), (error) => error instanceof ControlError && error.code !== undefined);
await assert.rejects(server.stub("Job", "first").start(), /no agent answers at \/agents\/job\/first/);
await server.stop();
await server.stop();
await assert.rejects(server.fetch("/first"));
assert.ok(lines.some((line) => line.startsWith("Ready on ")));
await assert.rejects(start({ script: "missing.ts" }), /ended \(2\) before it was ready:[^]*missing\.ts/);

const fibers = await start({ project: process.env.FIBERS, persistTo: join(process.cwd(), "fibers"), vars: { STEP_MS: "1" } });
const agent = fibers.stub("ResearchAgent", "r1");
assert.deepEqual(await agent.startResearch("tides"), { job: "job-1" });
await assert.rejects(agent.noSuchMethod(), /noSuchMethod/);
await fibers.stop();
console.log("client done");
`

// A project that has nothing but Node gets minido from a registry, with the executable
// of its system alone: the launcher passes arguments, output and exit codes, and the
// Node client drives a server. Nothing is left outside the project and its cache.
func TestNPMPackages(t *testing.T) {
	t.Parallel()
	packages := npmPackages(t)
	dir, home := filepath.Join(t.TempDir(), "jobs"), t.TempDir()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, ".cache"), "npm_config_registry="+registry(t, packages),
		"npm_config_cache="+filepath.Join(home, "npm"), "npm_config_update_notifier=false", "npm_config_userconfig="+filepath.Join(home, "npmrc"),
		"npm_config_audit=false", "npm_config_fund=false",
		"FIBERS="+fixture(t, "fibers"), "NODE_OPTIONS=--experimental-websocket") // Node 20 has WebSocket behind this flag, later ones anyway
	run := func(code int, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("%s %s: code %d (%v), want %d\n%s", name, strings.Join(args, " "), got, err, code, out)
		}
		return string(out)
	}
	wants := func(out, want string) {
		t.Helper()
		if !strings.Contains(out, want) {
			t.Fatalf("%q is not in:\n%s", want, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run(0, "npm", "install", "-D", "minido")
	installed, err := os.ReadDir(filepath.Join(dir, "node_modules", "@minido"))
	if err != nil || len(installed) != 1 || installed[0].Name() != nodeSystems[runtime.GOOS+"-"+runtime.GOARCH] {
		t.Fatalf("npm installed %v of %v, %v", installed, slices.Sorted(maps.Values(nodeSystems)), err)
	}
	wants(run(0, "npx", "minido", "version"), "minido "+version.Number())
	began := run(0, "npx", "minido", "init")
	wants(began, "wrote jobs.chaos.ts")
	wants(began, "  npx minido dev ")
	wants(run(2, "npx", "minido", "dev", "--no-such-flag"), "--no-such-flag")
	wants(run(0, "npx", "minido", "chaos", "enumerate", ".", "--mode", "sim", "--max", "3"), "PASS  3 runs")
	if err := os.WriteFile(filepath.Join(dir, "client.mjs"), []byte(nodeClient), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(run(0, "node", "client.mjs"), "client done")
	left, err := filepath.Glob(filepath.Join(home, ".cache", "minido", "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left outside the project: %v, %v", left, err)
	}
}
