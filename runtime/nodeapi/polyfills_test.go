package nodeapi

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/compat"
)

// at answers for the flags of a project with nodejs_compat and a date.
func at(date string, flags ...string) func(compat.Flag) bool {
	return compat.Set{Date: date, Asked: append(flags, "nodejs_compat")}.On
}

// Until workerd's process is bundled as it is, a program gets wrangler's polyfill:
// as the module, as the global, not by getBuiltinModule. Each line was observed with
// wrangler 4.164.0 at the dates from 2024-09-23 to 2026-02-18.
func TestProcessPolyfill(t *testing.T) {
	for _, x := range []struct{ date, builtin string }{{"2024-09-23", "6"}, {"2025-09-01", "6"}, {"2025-09-15", "true"}, {"2026-02-18", "true"}} {
		w := newWorld(t, Options{Compat: at(x.date), Env: func() map[string]string { return map[string]string{"V": "1"} }})
		w.in(`const process = require("node:process"), e = (f) => { try { return String(f()); } catch (x) { return x.message; } };
			say(process === globalThis.process, Object.keys(process).length, String(process), process.version, JSON.stringify(process.versions), process.platform, "|" + process.arch + process.title + "|", process.pid, process.argv.length);
			for (const name of ["abort", "kill", "cpuUsage", "umask", "binding", "hasUncaughtExceptionCaptureCallback"]) say(e(() => process[name]()), process[name].name);
			say(e(() => process.report.getReport()), e(() => process.permission.has("fs")), process.cwd === undefined, e(() => { process.chdir("/nowhere"); return process.cwd(); }));
			say(process.getuid, process.exitCode, process._events, process.uptime(), JSON.stringify(process.memoryUsage()), process.memoryUsage.rss(), process.hrtime([5, 0])[0] < 0 || process.hrtime([5, 0]).length);
			const got = []; say(process.on("x", (...a) => got.push(...a)) === process, process.emit("x", 1, 2), got.join(), process.listenerCount("x"), process.emit("y"));
			say(process.stdout.write("out\n"), process.stdout.isTTY, process.stdout.columns, process.stdin.isTTY); process.emitWarning("careful", "Kind", "C1");
			const other = process.getBuiltinModule("node:process"); say(other !== process, "version" in other || Object.keys(other).length, other.env === process.env, process.env.V);`)
		if got := strings.Join(w.logs, "|"); got != "out\n|[C1] Kind: careful" {
			t.Errorf("%s: logged %q", x.date, got)
		}
		w.logs = nil
		env := map[bool]string{true: "1", false: "undefined"}[x.date >= "2025-04-01"]
		w.said(`true 107 [object Object] v22.14.0 {"node":"22.14.0"} linux || 200 0`,
			"[unenv] process.abort is not implemented yet! bound abort", "[unenv] process.kill is not implemented yet! bound kill",
			"[unenv] process.cpuUsage is not implemented yet! bound cpuUsage", "[unenv] process.umask is not implemented yet! bound umask",
			"[unenv] process.binding is not implemented yet! bound binding",
			"[unenv] process.hasUncaughtExceptionCaptureCallback is not implemented yet! bound hasUncaughtExceptionCaptureCallback",
			"[unenv] process.report.getReport is not implemented yet! [unenv] process.permission.has is not implemented yet! false /nowhere",
			`undefined undefined undefined 0 {"arrayBuffers":0,"rss":0,"external":0,"heapTotal":0,"heapUsed":0} 0 2`,
			"false true 1,2 1 false", "false false 80 false", "true "+x.builtin+" true "+env)
	}
	for _, c := range []func(compat.Flag) bool{at("2026-02-19"), at("2025-09-15", "fetch_iterable_type_support", "fetch_iterable_type_support_override_adjustment")} {
		w := newWorld(t, Options{Compat: c})
		w.in(`say(process.title, String(process), process.getBuiltinModule("process") === process)`)
		w.said("workerd [object process] true")
	}
}

// Before wrangler bundles anything, node:process is workerd's of that date, without a
// global (workerd with nodejs_compat and the date 2024-06-01).
func TestProcessBeforePolyfills(t *testing.T) {
	w := newWorld(t, Options{Compat: at("2024-06-01")})
	w.in(`const process = require("node:process"); process.env.A = 4;
		say(typeof globalThis.process, Object.keys(process).join(), process.getBuiltinModule("process") === process, process.getBuiltinModule("fs"), JSON.stringify(process.env), Object.isFrozen(process.features))`)
	w.said(`undefined nextTick,env,exit,getBuiltinModule,platform,features true undefined {"A":"4"} true`)
}

// What wrangler's polyfills of the modules that a date leaves out refuse is refused in
// their words (wrangler 4.164.0 at 2024-09-23); what is natively there by then works.
func TestPolyfillsRefuse(t *testing.T) {
	w := newWorld(t, Options{Compat: at("2024-09-23")})
	w.in(`const e = (f) => { try { const v = f(); return v instanceof Promise ? "a promise" : String(v); } catch (x) { return x.message; } }, need = (m) => require("node:" + m);
		say(e(() => need("fs").readFileSync("/bundle/x")), e(() => need("fs").promises.readFile("x")), e(() => need("fs/promises").readFile("x")), e(() => need("fs").readFile("x", () => {})), need("fs").existsSync("/"));
		say(e(() => need("http").request("http://a")), e(() => new (need("http").Server)()), e(() => need("https").get("https://a")), e(() => need("child_process").execSync("ls")), e(() => need("wasi").WASI()));
		say(need("os").hostname() === "", need("os").tmpdir(), need("os").cpus().length, e(() => need("os").setPriority(1)), need("tty").isatty(1), new (need("tty").WriteStream)(1).columns);
		say(need("console").default === undefined, need("console") === console, e(() => new console.Console()), need("perf_hooks").performance === performance, performance.mark("x").name, typeof PerformanceMark);
		say(process.getBuiltinModule("fs"), typeof process.getBuiltinModule("path"), need("path").join("a", "b"), need("http").STATUS_CODES[404], e(() => new (need("worker_threads").MessageChannel)()));`)
	w.said("[unenv] fs.readFileSync is not implemented yet! [unenv] fs.readFile is not implemented yet! [unenv] fs.readFile is not implemented yet! [unenv] fs.readFile is not implemented yet! false",
		"[unenv] http.request is not implemented yet! [unenv] http.Server is not implemented yet! [unenv] https.get is not implemented yet! [unenv] child_process.execSyn is not implemented yet! [unenv] wasi.WASI is not implemented yet!",
		"true /tmp 8 [unenv] os.setPriority is not implemented yet! false 80",
		"true true [unenv] console.Console is not implemented yet! true x function",
		"undefined object a/b Not Found minido lacks worker_threads.MessageChannel: it is there with a newer compatibility_date")
	// Every module can be imported at every date, and servers of node:http are missed in workerd's words.
	for _, date := range []string{"2024-06-01", "2024-09-23", "2025-08-20", "2025-09-16", "2026-02-01"} {
		w := newWorld(t, Options{Compat: at(date)})
		for _, name := range Names() {
			if _, err := w.m.Require("node:" + name); err != nil && w.m.Has("node:"+name) {
				t.Errorf("%s: %s: %v", date, name, err)
			}
		}
		if date == "2025-08-20" {
			w.in(`try { require("node:http").createServer(); } catch (e) { say(e.code, e.message.slice(0, 42)); } say(typeof require("node:http").Server, typeof require("node:http").request)`)
			w.said("ERR_METHOD_NOT_IMPLEMENTED The createServer method is not implemented", "function function")
		}
	}
}
