package report_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/vitest"
)

// project writes the files of a project that has the fixture's vitest.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	modules, err := filepath.Abs("../../fixtures/testing/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace replaces a file in one step, so that no run meets half of it.
func replace(t *testing.T, file, text string) {
	t.Helper()
	fresh := filepath.Join(t.TempDir(), "fresh")
	put(t, fresh, text)
	if err := os.Rename(fresh, file); err != nil {
		t.Fatal(err)
	}
}

const worker = `{"name": "w", "main": "w.ts", "compatibility_date": "2026-08-01"}`

// Watching runs again the files that a change reaches through imports or through the
// worker, and what the keys ask for.
func TestWatch(t *testing.T) {
	dir := project(t, map[string]string{
		"wrangler.jsonc": worker, "w.ts": `export default { fetch: () => new Response("one") }`, "lib.ts": `export const n = 1;`,
		"a.test.ts": `import { n } from "./lib"; import { it, expect } from "vitest"; it("has lib", () => expect(n).toBe(1));`,
		"b.test.ts": `import { it } from "vitest"; it("has nothing", () => {});`,
		"c.test.ts": `import { SELF } from "cloudflare:test"; import { it, expect } from "vitest"; it("has the worker", async () => expect(await (await SELF.fetch("http://x")).text()).toBe("one"));`,
	})
	in, keys := io.Pipe()
	s := sched.NewThreads(clock.Real{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reports := make(chan string)
	ended := make(chan error)
	s.Go("watch", func() {
		o := vitest.Options{Dir: dir, Retry: -1, Seed: 1, Clock: clock.Real{}, Out: io.Discard}
		ended <- vitest.Watch(ctx, o, in, s, func(r *vitest.Report) { reports <- strings.Join(lines(r), "\n") }, func(err error) { reports <- err.Error() })
	})
	key := func(line string) {
		if _, err := io.WriteString(keys, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	next := func(what string, want ...string) {
		t.Helper()
		got := <-reports
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is missing in\n%s", what, w, got)
			}
		}
		if files := strings.Count(got, ".test.ts failed="); files != len(want) && len(want) > 0 {
			t.Errorf("%s: %d files ran:\n%s", what, files, got)
		}
	}
	next("at first", "a.test.ts failed=false", "b.test.ts failed=false", "c.test.ts failed=false")
	replace(t, filepath.Join(dir, "lib.ts"), `export const n = 2;`)
	next("lib.ts changed", "a.test.ts failed=true")
	key("f")
	next("f", "a.test.ts failed=true")
	replace(t, filepath.Join(dir, "w.ts"), `export default { fetch: () => new Response("two") }`)
	next("w.ts changed", "c.test.ts failed=true")
	key("p b.test")
	next("p", "b.test.ts failed=false")
	key("x")
	if got := <-reports; !strings.Contains(got, `"x" is no key`) {
		t.Error(got)
	}
	key("q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := keys.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// The projects of a configuration run one after the other, each with its own settings;
// a repetition has the next seed, and ends at the first failure.
func TestProjectsAndRepeat(t *testing.T) {
	dir := project(t, map[string]string{
		"vitest.config.ts": `export default { define: { WHO: '"root"' }, test: { projects: ["packages/*", { extends: true, test: { name: "inline", include: ["own/*.test.ts"] } }] } };`,
		"wrangler.jsonc":   worker, "w.ts": `export default {}`,
		"own/o.test.ts":                 `import { it, expect } from "vitest"; declare const WHO: string; it("extends", () => expect(WHO).toBe("root"));`,
		"packages/p/wrangler.jsonc":     worker,
		"packages/p/w.ts":               `export default {}`,
		"packages/p/vitest.config.ts":   `export default { define: { WHO: '"p"' } };`,
		"packages/p/test/p.test.ts":     `import { it, expect } from "vitest"; declare const WHO: string; it("has its own", () => expect(WHO).toBe("p"));`,
		"packages/q/wrangler.jsonc":     worker,
		"packages/q/w.ts":               `export default {}`,
		"packages/q/deep/q.test.ts":     `import { seed } from "minido:test"; import { it, expect } from "vitest"; it("fails with seed 8", async () => expect(await seed()).not.toBe(8));`,
		"packages/q/node_modules/x.txt": "",
	})
	r := runIn(t, dir, vitest.Options{})
	if got, want := strings.Join(lines(r), "\n"), "test/p.test.ts failed=false\n  has its own: pass\ndeep/q.test.ts failed=false\n  fails with seed 8: pass\nown/o.test.ts failed=false\n  extends: pass"; got != want {
		t.Errorf("got\n%s", got)
	}
	r, err := vitest.Run(vitest.Options{Dir: dir, Retry: -1, Seed: 7, Repeat: 5, Clock: clock.Real{}, Out: io.Discard})
	if err != nil || !r.Failed() || r.Seed != 8 || len(r.Files) != 6 {
		t.Errorf("%v: seed %d, %d files", err, r.Seed, len(r.Files))
	}
}

// The globalSetup of a configuration with projects runs once before them, and is torn down once
// after them. Projects inject what it and test.provide give, beneath what they have of their own.
func TestProjectsInjectFromAbove(t *testing.T) {
	body := `import { inject, it, expect } from "vitest"; it("injects", () => expect([inject("a"), inject("b"), inject("c")]).toEqual(`
	files := map[string]string{
		"vitest.config.ts": `export default { test: { provide: { a: 1, b: 1 }, globalSetup: "./setup.ts", projects: ["packages/p", { test: { name: "inline", include: ["own/*.test.ts"] } }] } };`,
		"setup.ts":         `let n = 0; export default ({ provide }) => { provide("c", "root " + ++n); return () => { throw new Error("torn down"); }; };`,
		"wrangler.jsonc":   worker, "w.ts": `export default {}`,
		"own/o.test.ts":               body + `[1, 1, "root 1"]));`,
		"packages/p/wrangler.jsonc":   worker,
		"packages/p/w.ts":             `export default {}`,
		"packages/p/vitest.config.ts": `export default { test: { provide: { b: 2 } } };`,
		"packages/p/p.test.ts":        body + `[1, 2, "root 1"]));`,
	}
	dir := project(t, files)
	_, err := vitest.Run(vitest.Options{Dir: dir, Retry: -1, Clock: clock.Real{}, Out: io.Discard})
	if err == nil || strings.Count(err.Error(), "torn down") != 1 {
		t.Errorf("the end: %v", err)
	}
	put(t, filepath.Join(dir, "setup.ts"), strings.Replace(files["setup.ts"], `throw new Error("torn down");`, "", 1))
	if r := runIn(t, dir, vitest.Options{}); r.Failed() || len(r.Files) != 2 {
		t.Errorf("%s", strings.Join(lines(r), "\n"))
	}
}

// With coverage each run of Watch measures what it runs.
func TestWatchMeasures(t *testing.T) {
	dir := project(t, map[string]string{
		"wrangler.jsonc": worker, "w.ts": `export default {}`, "lib.ts": "export const one = () => 1;\nexport const two = () => 2;\n",
		"a.test.ts": `import { one } from "./lib"; import { it, expect } from "vitest"; it("one", () => expect(one()).toBe(1));`,
		"b.test.ts": `import { two } from "./lib"; import { it, expect } from "vitest"; it("two", () => expect(two()).toBe(2));`,
	})
	in, keys := io.Pipe()
	s := sched.NewThreads(clock.Real{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reports := make(chan string)
	ended := make(chan error)
	s.Go("watch", func() {
		o := vitest.Options{Dir: dir, Retry: -1, Seed: 1, Clock: clock.Real{}, Out: io.Discard, Coverage: []byte(`{"enabled":true,"reporter":[{"name":"text-summary","options":{}}]}`)}
		ended <- vitest.Watch(ctx, o, in, s, func(r *vitest.Report) {
			var sb strings.Builder
			if err := r.Coverage.Write(&sb, false, 80); err != nil {
				sb.WriteString(err.Error())
			}
			reports <- sb.String()
		}, func(err error) { reports <- err.Error() })
	})
	key := func(line string) {
		if _, err := io.WriteString(keys, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	next := func(what, want string) {
		t.Helper()
		if got := <-reports; !strings.Contains(got, want) {
			t.Errorf("%s: %q is missing in\n%s", what, want, got)
		}
	}
	next("at first", "Functions    : 100% ( 2/2 )")
	key("p a.test")
	next("one file", "Functions    : 50% ( 1/2 )")
	key("a")
	next("all", "Functions    : 100% ( 2/2 )")
	replace(t, filepath.Join(dir, "lib.ts"), "export const one = () => 1;\nexport const two = () => 2;\nexport const three = () => 3;\n")
	next("a function more", "Functions    : 66.66% ( 2/3 )")
	key("q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := keys.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// A run that is cancelled ends within a test that would never end, and other files do not begin.
func TestCancelledRun(t *testing.T) {
	dir := project(t, map[string]string{
		"wrangler.jsonc": worker, "w.ts": `export default {}`,
		"a.test.ts": `import { it } from "vitest"; it("waits on and on", async () => { for (;;) await new Promise((resolve) => setTimeout(resolve, 1)); }, 1e12);`,
		"b.test.ts": `import { it } from "vitest"; it("never begins", () => {});`,
	})
	asked := 0
	_, err := vitest.Run(vitest.Options{Dir: dir, Retry: -1, Seed: 1, Clock: clock.Real{}, Out: io.Discard,
		Cancelled: func() bool { asked++; return asked > 1000 },
		Progress:  func(f *vitest.File) { t.Errorf("%s has ended: %q", f.Path, f.Fatal) }})
	if !errors.Is(err, vitest.ErrCancelled) {
		t.Error(err)
	}
}
