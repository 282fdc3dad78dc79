package nodeapi

import (
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// What is written to process.stdout and stderr becomes log lines, once they are
// whole, or the jobs are done that wrote them; warnings become log lines too
// (nodejs.org/api/process.html#processstdout).
func TestProcessOutput(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`process.stdout.write("one\ntw"); process.stdout.write("o\nrest"); process.stderr.write(Buffer.from("err\n"));
		process.emitWarning("careful", "DeprecationWarning", "DEP1"); process.on("warning", (e) => say(e.name, e.code));`)
	want := []string{"stdout: one", "stdout: two", "stderr: err", "stdout: rest", "(workerd) [DEP1] DeprecationWarning: careful"}
	if fmt.Sprint(w.logs) != fmt.Sprint(want) || strings.Join(w.out, "|") != "DeprecationWarning DEP1" {
		t.Fatalf("logged %q, said %q", w.logs, w.out)
	}
}

// The descriptors 0 to 2 are open, as in workerd: what is written to 1 and 2 is logged by
// whole lines or when the code is done, nothing can be read, and to close one has no effect.
func TestStandardDescriptors(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`const fs = require("fs"), code = (f) => { try { return f(); } catch (e) { return e.code; } };
		fs.writeSync(1, "one\ntw"); fs.writeSync(1, Buffer.from([0x6f, 0xff, 10])); fs.writeSync(2, "err\n"); fs.writeSync(1, "rest");
		(async () => { await 0; fs.writeFileSync(1, "file"); fs.appendFileSync(1, "+\n"); fs.writevSync(1, [Buffer.from("v\n")]);
		for (const fd of [0, 1, 2]) {
			fs.closeSync(fd);
			const s = fs.fstatSync(fd);
			say(s.isFile(), s.mode, s.size, s.mtimeMs, fs.readSync(fd, Buffer.alloc(5)), fs.readFileSync(fd).length, code(() => fs.ftruncateSync(fd)), code(() => fs.futimesSync(fd, 1, 1)));
		}
		say(fs.writeSync(0, "nowhere"), code(() => fs.fstatSync(3)), fs.openSync("/tmp/next", "w")); })()`)
	if want := []string{"stdout: one", "stdout: two\ufffd", "stderr: err", "stdout: rest", "stdout: file+", "stdout: v"}; fmt.Sprint(w.logs) != fmt.Sprint(want) {
		t.Errorf("logged %q, want %q", w.logs, want)
	}
	w.logs = nil
	w.said("true 33206 0 0 0 0 EPERM EPERM", "true 33206 0 0 0 0 EPERM EPERM", "true 33206 0 0 0 0 EPERM EPERM", "7 EBADF 3")
}

// process.env begins with the environment that was handed in, sorted; without
// the flag it begins empty.
func TestProcessEnv(t *testing.T) {
	env := func() map[string]string { return map[string]string{"B": "2", "A": "1"} }
	w := newWorld(t, Options{Env: env})
	w.in(`say(JSON.stringify(process.env))`)
	w.said(`{"A":"1","B":"2"}`)
	off := newWorld(t, Options{Env: env, Compat: func(flag compat.Flag) bool { return flag != compat.NodejsCompatPopulateProcessEnv }})
	off.in(`say(JSON.stringify(process.env))`)
	off.said(`{}`)
}

// A rejection that nobody handles reaches process (nodejs.org/api/process.html,
// event "unhandledRejection"), and process.exit says what to do instead.
func TestProcessEvents(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`process.on("unhandledRejection", (reason, promise) => say(reason.message, promise instanceof Promise));
		Promise.reject(new Error("nobody cares"));
		try { process.exit(3); } catch (e) { say(e.message.includes("process.exit(3)"), process.exitCode); }`)
	w.said("true 3", "nobody cares true")
}

// Module code gets no randomness and no timers (docs/semantics.md 32).
func TestGlobalScope(t *testing.T) {
	w := newWorld(t, Options{})
	w.global(`const crypto = require("crypto");
		for (const f of [() => crypto.randomBytes(4), () => crypto.randomUUID(), () => crypto.randomInt(5), () => setImmediate(() => {}), () => setTimeout(() => {}, 1)]) {
			try { f(); say("allowed"); } catch (e) { say(e.message.slice(0, 20)); }
		}
		say(crypto.createHash("sha1").update("x").digest("hex").length);`)
	w.said("Disallowed operation", "Disallowed operation", "Disallowed operation", "Disallowed operation", "Disallowed operation", "40")
}

// Random values come from the engine's entropy: the same seed gives the same.
func TestSeededRandom(t *testing.T) {
	var seen []string
	for range 2 {
		w := newWorld(t, Options{})
		w.in(`const c = require("crypto"); say(c.randomUUID(), c.randomInt(1e9), c.randomBytes(4).toString("hex"), require("fs").mkdtempSync("/tmp/x"))`)
		seen = append(seen, strings.Join(w.out, ""))
	}
	if seen[0] != seen[1] || len(seen[0]) < 50 {
		t.Fatalf("%q", seen)
	}
}

// /tmp belongs to a context and ends with it; /bundle shows the worker's files
// and is read only (workerd: src/workerd/io/worker-fs.h).
func TestDiskContexts(t *testing.T) {
	w := newWorld(t, Options{Files: func() map[string][]byte {
		return map[string][]byte{"main.js": []byte("code"), "lib/a.txt": []byte("text")}
	}})
	w.in(`const fs = require("fs"); fs.writeFileSync("/tmp/a", "mine"); say(fs.readFileSync("/tmp/a", "utf8"), fs.readdirSync("/bundle", { recursive: true }), fs.readFileSync("/bundle/lib/a.txt", "utf8"));
		try { fs.writeFileSync("/bundle/main.js", ""); } catch (e) { say(e.code); }`)
	other := w.e.NewContext(engine.RequestContext, "")
	w.turn(other.Frame(), `say(require("fs").existsSync("/tmp/a"))`)
	w.said("mine bundle/lib,bundle/lib/a.txt,bundle/main.js text", "EPERM", "false")
	w.c.Finish(fmt.Errorf("done"))
	w.turn(other.Frame(), `const fs = require("fs"); fs.writeFileSync("/tmp/all", Buffer.alloc(128 << 20)); say(fs.statSync("/tmp/all").size >> 20)`)
	w.said("128") // all of it: the other context's bytes are given back
}

// A full /tmp refuses writes with ENOSPC and keeps what it has.
func TestDiskFull(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`const fs = require("fs"); const mb = Buffer.alloc(1 << 20); let n = 0;
		try { for (;;) { fs.appendFileSync("/tmp/big", mb); n++; } } catch (e) { say(e.code, n, fs.statSync("/tmp/big").size >> 20); }
		fs.rmSync("/tmp/big"); fs.writeFileSync("/tmp/small", "x"); say(fs.readFileSync("/tmp/small", "utf8"));`)
	w.said("ENOSPC 128 128", "x")
}

// An eleventh listener is told of once (nodejs.org/api/events.html,
// emitter.setMaxListeners).
func TestMaxListeners(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`const e = new (require("events"))(); for (let i = 0; i < 13; i++) e.on("x", () => {});`)
	if len(w.logs) != 1 || !strings.Contains(w.logs[0], "11 x listeners added to EventEmitter") {
		t.Fatalf("%q", w.logs)
	}
}

// Code that patches built-ins before a module is first used does not reach into
// its promises and maps.
func TestPatchedBuiltins(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`
		const bad = () => { throw new Error("patched"); };
		Promise.prototype.then = bad; Map.prototype.get = bad; JSON.parse = bad; Object.keys = bad; Reflect.apply = bad;
		globalThis.Promise = bad; globalThis.Proxy = bad;
		const e = new (require("events"))(); e.on("x", () => say("event")); e.emit("x");
		process.nextTick(() => say("tick"));
		say(require("path").join("a", "b"), Buffer.from("x").toString("hex"), require("crypto").createHash("md5").update("").digest("hex"));
		say(require("util").inspect({ a: [1] }));
	`)
	w.said("event", "a/b 78 d41d8cd98f00b204e9800998ecf8427e", "{ a: [ 1 ] }", "tick")
}

// What Node.js has removed stays exported, undefined, once the flag of its
// version is on; measured in workerd 1.20261117.
func TestRemovedAPIs(t *testing.T) {
	const typesOf = `say([require("crypto").createCipher, require("crypto").Decipher, require("util").isBoolean, require("util").isArray, process.assert, require("tls").createSecurePair].map((v) => typeof v).join(" "),
		"Cipher" in require("crypto"), "isNull" in require("util"), "assert" in process);`
	for flag, want := range map[compat.Flag]string{
		compat.NodejsCompat:             "function function function function function function true true true",
		compat.RemoveNodejsCompatEolV22: "undefined undefined function function function function true true true",
		compat.RemoveNodejsCompatEolV23: "function function undefined function undefined function true true true",
		compat.RemoveNodejsCompatEolV24: "function function function function function undefined true true true",
	} {
		usual := compat.Set{Date: "2026-09-01", Asked: []string{"nodejs_compat"}}
		w := newWorld(t, Options{Compat: func(f compat.Flag) bool { return f == flag || usual.On(f) }})
		w.in(typesOf)
		w.said(want)
	}
}
