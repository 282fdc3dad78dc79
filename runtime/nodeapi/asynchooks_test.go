package nodeapi

import (
	"minido.dev/minido/runtime/nodeapi/node"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// Values follow run and exit through awaits, timers and microtasks; bind and
// snapshot bring the values along and leave the caller's context in place
// (nodejs.org/api/async_context.html).
func TestAsyncLocalStorage(t *testing.T) {
	w := newWorld(t, Options{})
	w.global(`
		globalThis.ah = require("node:async_hooks");
		globalThis.als = new ah.AsyncLocalStorage({ defaultValue: "none", name: "test" });
		globalThis.outside = als.run("module", () => ah.AsyncLocalStorage.snapshot());
	`)
	w.in(`
		say(als.getStore(), als.name);
		als.run("a", async (x, y) => {
			say(als.getStore(), x, y);
			await null;
			say("await", als.getStore());
			als.exit(() => say("exit", als.getStore()));
			setTimeout(() => say("timer", als.getStore()), 1);
			Promise.resolve().then(() => say("then", als.getStore()));
			als.run("b", () => say("nested", als.getStore()));
		}, 1, 2);
		als.run("b", () => { globalThis.bound = ah.AsyncLocalStorage.bind(function (z) { say("bound", als.getStore(), z, typeof this); }); });
		say("after", als.getStore());
		bound("z");
		outside(() => { say("snapshot", als.getStore()); setTimeout(() => say("allowed"), 0); });
		try { als.run("x", () => { throw 1; }); } catch {}
		say("thrown", als.getStore());
	`)
	w.said("none test", "a 1 2", "after none", "bound b z object", "snapshot module", "thrown none", "await a", "exit undefined", "nested b", "then a",
		"allowed", "timer a")
}

// The then() of a thenable is called with the values of the code that awaits it,
// resolves a promise with it or returns it from a reaction, as in workerd, whatever
// ran before.
func TestAsyncContextOfThenables(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`als.run(1, async () => say(await t(0)));`, "1"},
		{`for (const n of [1, 2, 3]) als.run(n, async () => { const a = await t(10); await null; say(n, a, await t(20), als.getStore()); });`,
			"1 11 21 1|2 12 22 2|3 13 23 3"},
		{`als.run(1, () => { Promise.resolve(t(0)).then(say); new Promise((ok) => ok(t(1))).then(say); });
		  als.run(2, () => Promise.resolve().then(() => t(2)).then(say)); Promise.resolve(t(3)).then(say);`, "1|2|NaN|4"},
		{`als.run(1, () => Promise.resolve().then(() => t(0)).then(say)); als.run(2, () => Promise.resolve().then(() => {}));`, "1"},
		{`als.run(2, () => Promise.resolve().then(() => {})); als.run(1, () => Promise.resolve().then(() => t(0)).then(say));`, "1"},
		{`als.run(1, () => setTimeout(() => Promise.resolve(t(0)).then(say), 1)); als.run(2, () => queueMicrotask(() => Promise.resolve(t(0)).then(say)));`, "2|1"},
		{`als.run(1, () => Promise.any([t(0)]).then(say)); als.run(2, () => Promise.race([t(0)]).then(say));`, "1|2"},
		{`als.run(1, async () => { try { await { then() { throw als.getStore(); } }; } catch (e) { say(e, als.getStore()); } });`, "1 1"},
		{`(async () => { await als.run(1, async () => { say(await t(0), als.getStore()); }); })();`, "1 1"},
		{`als.run(1, async () => { say(await t(0), als.getStore()); });`, "1 1"},
		{`als.run(1, async () => { for (let i = 0; i < 300; i++) await t(i); say(await t(0)); }); als.run(2, async () => { for (let i = 0; i < 300; i++) await t(i); say(await t(0)); });`, "1|2"},
	} {
		w := newWorld(t, Options{})
		w.global(`
			globalThis.als = new (require("node:async_hooks").AsyncLocalStorage)();
			globalThis.t = (n) => ({ then(ok) { ok(als.getStore() + n); } });
		`)
		w.in(c.source)
		w.said(strings.Split(c.want, "|")...)
	}
}

// What a request has bound throws in another request, in the reference's words; what
// the global scope has bound does not.
func TestAsyncContextOfAnotherRequest(t *testing.T) {
	w := newWorld(t, Options{})
	w.global(`
		globalThis.ah = require("node:async_hooks");
		globalThis.als = new ah.AsyncLocalStorage();
		globalThis.outside = als.run("module", () => ah.AsyncLocalStorage.snapshot());
	`)
	w.in(`
		als.run("A", () => {
			globalThis.snap = ah.AsyncLocalStorage.snapshot();
			globalThis.resource = new ah.AsyncResource("x");
			globalThis.bound = [ah.AsyncLocalStorage.bind(() => als.getStore()), ah.AsyncResource.bind(() => als.getStore()), resource.bind(() => als.getStore())];
		});
		say(snap(() => als.getStore()), ...bound.map((f) => f()));
	`)
	w.c = w.e.NewContext(engine.RequestContext, "")
	w.in(`
		for (const f of [() => snap(() => 1), () => snap(3), ...bound, () => resource.runInAsyncScope(() => 1)]) {
			try { say("ran", f()); } catch (e) { say(e.name, e.message); }
		}
		say(outside(() => als.getStore()));
	`)
	refused := "Error Cannot call this AsyncLocalStorage bound function outside of the request in which it was created."
	w.said("A A A A", refused, refused, refused, refused, refused, refused, "module")
}

// AsyncResource runs functions with the values that were current when it was
// made (nodejs.org/api/async_context.html#class-asyncresource).
func TestAsyncResource(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`
		const { AsyncLocalStorage, AsyncResource } = require("async_hooks");
		const als = new AsyncLocalStorage();
		class Task extends AsyncResource { constructor(n) { super("TASK"); this.n = n; } go(fn) { return this.runInAsyncScope(fn, this, "arg"); } }
		const task = als.run("t", () => new Task(5));
		task.go(function (a) { say(this.n, a, als.getStore()); });
		const bound = als.run("u", () => AsyncResource.bind(function (a) { say(a, als.getStore(), this?.me); }, "X", { me: 1 }));
		bound("b");
		const own = task.bind(function () { return als.getStore(); });
		say(own(), own.asyncResource === task, task.asyncId(), als.getStore());
	`)
	w.said("5 arg t", "b u 1", "t true 0 undefined")
}

// What Workers lack says so (workerd: async-hooks.c++).
func TestAsyncHooksRefusals(t *testing.T) {
	w := newWorld(t, Options{})
	check(t, w, `const ah = require("async_hooks"), als = new ah.AsyncLocalStorage()`, [][2]string{
		{`als.enterWith(1)`, `Error: asyncLocalStorage.enterWith() is not implemented: use run(store, callback), and drop the AsyncLocalStorage when it is not needed`},
		{`als.run(1, 2)`, `TypeError: Failed to execute 'run' on 'AsyncLocalStorage': parameter 2 is not of type 'function'.`},
		{`ah.AsyncLocalStorage.bind(3)`, `TypeError: Failed to execute 'bind' on 'AsyncLocalStorage': parameter 1 is not of type 'Function'.`},
		{`ah.createHook({}).enable() instanceof Object`, `true`},
		{`als.getStore.call({})`, `TypeError: ` + engine.IllegalInvocation},
	})
}

// getStore is cheap enough to call at every step of an agent.
func BenchmarkGetStore(b *testing.B) {
	w := newWorld(b, Options{})
	program := `const { AsyncLocalStorage } = require("async_hooks"); const als = new AsyncLocalStorage();
		globalThis.bench = (n) => als.run(1, () => { let x; for (let i = 0; i < n; i++) x = als.getStore(); return x; });`
	w.in(program)
	w.e.Turns.Enter(w.c.Frame(), "bench", func() {
		b.ResetTimer()
		w.e.Call(w.e.VM().Get("bench"), nil, w.e.VM().ToValue(b.N))
	})
}

// A channel hands messages to its subscribers; what one throws, or what makes a store's
// value, ends publish(), as in workerd; stores are entered around runStores
// (nodejs.org/api/diagnostics_channel.html). In the global scope nothing is published,
// as in workerd.
func TestDiagnosticsChannel(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`
		const dc = require("node:diagnostics_channel");
		const { AsyncLocalStorage } = require("node:async_hooks");
		const ch = dc.channel("a");
		say(ch === dc.channel("a"), ch.hasSubscribers, dc.hasSubscribers("a"));
		const f = (m, name) => say("f", m, name);
		dc.subscribe("a", f);
		ch.publish(1);
		say(dc.unsubscribe("a", f), dc.unsubscribe("a", f), ch.hasSubscribers);
		const als = new AsyncLocalStorage();
		ch.bindStore(als, (m) => m.id);
		say(ch.runStores({ id: 9 }, function (x) { return this.k + x + als.getStore(); }, { k: "k" }, "x"));
		const tc = dc.tracingChannel("t");
		tc.subscribe({ start: () => say("start"), end: () => say("end"), error: (c) => say("error", c.error), asyncEnd: (c) => say("asyncEnd", c.result) });
		say(tc.traceSync((a) => a + 1, {}, null, 1));
		try { tc.traceSync(() => { throw "e"; }); } catch (e) { say("caught", e); }
		tc.tracePromise(async () => 5, {}).then((v) => say("promise", v));
		tc.traceCallback((cb) => cb(null, "r"), -1, {}, null, (err, v) => say("cb", v));
	`)
	w.said("true false false", "f 1 a", "undefined undefined false", "kx9", "start", "end", "2", "start", "error e", "end", "caught e",
		"start", "end", "start", "cb r", "asyncEnd r", "end", "asyncEnd 5", "promise 5")
	w.in(`
		const { channel } = require("node:diagnostics_channel");
		const bad = channel("b");
		bad.subscribe(() => { throw new Error("bad subscriber"); });
		bad.subscribe(() => say("never"));
		try { bad.publish(1); } catch (e) { say(e.message); }
		const bound = channel("bound");
		bound.bindStore(new (require("node:async_hooks").AsyncLocalStorage)(), () => { throw new Error("bad transform"); });
		try { bound.runStores(1, () => say("never")); } catch (e) { say(e.message); }
	`)
	w.said("bad subscriber", "bad transform")
	w.global(`
		const { channel, tracingChannel } = require("node:diagnostics_channel");
		const ch = channel("c");
		ch.subscribe((m) => say("got", m));
		for (const f of [() => ch.publish(1), () => ch.runStores(2, () => say("never")), () => tracingChannel("x").traceSync(() => say("never"))]) {
			try { f(); say("published"); } catch (e) { say(e.message.slice(0, 48)); }
		}
	`)
	w.said("got 1", "Disallowed operation called within global scope.", "got 2", "Disallowed operation called within global scope.", "Disallowed operation called within global scope.")
}

// A name that Workers do not have, or whose compatibility flag is off, is
// refused with a sentence that says which.
func TestRequire(t *testing.T) {
	w := newWorld(t, Options{})
	for _, c := range [][2]string{{"node:nope", "No such module"}, {"internal/errors", "No such module"}, {"node:internal/missing", "No such module"}, {"sqlite", "No such module"}} {
		if _, err := w.m.Require(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) || !strings.Contains(err.Error(), c[0]) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
	off := newWorld(t, Options{Compat: func(flag compat.Flag) bool { return flag == compat.NodejsAls }})
	if !off.m.Has("node:async_hooks") || off.m.Has("path") {
		t.Error("nodejs_als offers async_hooks alone")
	}
	if _, err := off.m.Require("path"); err == nil || !strings.Contains(err.Error(), "nodejs_compat") {
		t.Errorf("path: %v", err)
	}
	if off.e.VM().Get("Buffer") != nil {
		t.Error("Buffer is a global without nodejs_compat")
	}
	if a, _ := w.m.Require("fs"); a != nil {
		if b, _ := w.m.Require("node:fs"); a != b {
			t.Error("two modules for one name")
		}
	}
}

// Every module that Workers have loads in the global scope, and has every name
// that Workers export there.
func TestSurface(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.e.Turns.Enter(engine.GlobalFrame, "test", func() {
				v, err := w.m.Require("node:" + name)
				if err != nil {
					t.Fatal(err)
				}
				obj := v.ToObject(w.e.VM())
				for _, key := range node.Surface(name) {
					if obj.Get(key) == nil && !slices.Contains(obj.GetOwnPropertyNames(), key) {
						t.Errorf("no %s", key)
					}
				}
			})
		})
	}
}
