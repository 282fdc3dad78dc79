package kv_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

// project is a worker whose POST runs the function in the body with a namespace.
var project = map[string]string{
	"w.js": `const operations = {
  put: (K, key, value, options) => K.put(key, value, options), get: (K, ...a) => K.get(...a), delete: (K, key) => K.delete(key),
  list: async (K, o) => (await K.list(o)).keys.map((k) => k.name),
  race: async (K) => { const puts = []; for (let i = 0; i < 20; i++) puts.push(K.put("race", "" + i)); const seen = await K.get("race"); await Promise.all(puts); return [seen, await K.get("race")]; },
};
export default { async fetch(request, env) {
  const [name, ...args] = await request.json();
  try { return Response.json(await operations[name](env.K, ...args) ?? null); } catch (e) { return new Response(String(e)); }
} };`,
	"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "kv_namespaces": [{"binding": "K", "id": "n"}]}`,
}

func ask(t *testing.T, w *minidotest.World, call, want string) {
	t.Helper()
	if got := w.Do("POST", "http://localhost/", call); got.Body != want {
		t.Errorf("%s: %q, want %q", call, got.Body, want)
	}
}

// A value is there until its time by the session's clock is over, also after a
// restart; then its key is neither got nor listed, and its file is gone.
func TestExpiry(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{})
	ask(t, w, `["put", "a", "short", {"expirationTtl": 60}]`, "null")
	ask(t, w, `["put", "b", "long", {"expirationTtl": 3600}]`, "null")
	ask(t, w, `["put", "c", "listed", {"expirationTtl": 120}]`, "null")
	w.Advance(58 * time.Second)
	w = w.Restart()
	ask(t, w, `["get", "a"]`, `"short"`)
	w.Advance(2 * time.Second)
	ask(t, w, `["get", "a"]`, "null")
	ask(t, w, `["list"]`, `["b","c"]`)
	w.Advance(2 * time.Minute)
	ask(t, w, `["list"]`, `["b"]`)
	ask(t, w, `["get", "b"]`, `"long"`)
	blobs, err := os.ReadDir(filepath.Join(w.Dir(), "v3", "kv", "n", "blobs"))
	if err != nil || len(blobs) != 1 {
		t.Errorf("%d files of values, want that of b; %v", len(blobs), err)
	}
}

// What a worker starts without waiting for it happens in its order.
func TestOrder(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{})
	ask(t, w, `["race"]`, `["19","19"]`)
}

// A death at any effect point of a put, an overwriting put, a delete and an expiry
// loses no answer that the client had: what was answered is there, what was not
// is there whole or not at all.
func TestDeathAtEachPoint(t *testing.T) {
	calls := []string{`["put", "a", "one"]`, `["put", "a", "two"]`, `["put", "b", "three", {"expirationTtl": 60}]`, `["delete", "a"]`, `["get", "b"]`}
	// What a may be, before the first call, and after each.
	values := []string{"null", `"one"`, `"two"`, `"two"`, "null", "null"}
	points := 0
	run := func(n int) (reached bool) {
		seen := 0
		w := minidotest.NewWorldFrom(t, project, minidotest.Options{Kill: func(p killpoint.Point) bool {
			if p.Kind != killpoint.Store {
				return false
			}
			seen++
			return seen == n
		}})
		done, now := 0, w.Now()
		for _, call := range calls {
			if done == 4 {
				w.Advance(time.Minute)
			}
			r := w.Send("POST", "http://localhost/", call)
			if err := w.Until(r.Done); errors.Is(err, minidotest.ErrKilled) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			done++
		}
		points = max(points, seen)
		if !w.Dead() {
			return false
		}
		w = w.Revive()
		got := w.Do("POST", "http://localhost/", `["get", "a"]`).Body
		if allowed := values[done:min(done+2, len(values))]; !slices.Contains(allowed, got) {
			t.Errorf("death at point %d, after %d answers: a is %s, want one of %s", n, done, got, allowed)
		}
		if got := w.Do("POST", "http://localhost/", `["get", "b"]`).Body; done == 3 && w.Now().Sub(now) < time.Minute && got != `"three"` {
			t.Errorf("death at point %d: b is %s although it was put", n, got)
		}
		return true
	}
	n := 1
	for run(n) {
		n++
	}
	// Three puts of a blob, a commit and once an unlink; two removals; the opening.
	if points < 20 {
		t.Errorf("%d points, want those of every operation", points)
	}
}

// A damaged namespace is refused with the name of the file.
func TestDamage(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{})
	ask(t, w, `["put", "a", "one"]`, "null")
	w.Stop()
	dir := filepath.Join(w.Dir(), "v3", "kv")
	blobs, err := filepath.Glob(filepath.Join(dir, "n", "blobs", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatal(blobs, err)
	}
	databases, err := filepath.Glob(filepath.Join(dir, "miniflare-KVNamespaceObject", "*.sqlite"))
	if err != nil || len(databases) != 1 {
		t.Fatal(databases, err)
	}
	for _, c := range []struct{ path, what string }{{blobs[0], "it is missing"}, {databases[0], "it is missing or empty"}} {
		moved := c.path + ".away"
		if err := os.Rename(c.path, moved); err != nil {
			t.Fatal(err)
		}
		if c.path == databases[0] { // something that it would have named
			if err := os.WriteFile(blobs[0], nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again := w.Again(minidotest.Options{Dir: w.Dir()})
		got := again.Do("POST", "http://localhost/", `["get", "a"]`).Body
		if want := fmt.Sprintf("the file %s of the namespace n is damaged", c.path); !strings.Contains(got, want) || !strings.Contains(got, c.what) {
			t.Errorf("without %s: %q", c.path, got)
		}
		again.Stop()
	}
}
