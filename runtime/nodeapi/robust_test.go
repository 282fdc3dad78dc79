package nodeapi

import (
	"runtime/debug"
	"testing"
)

// Whatever the arguments and the receiver, a function of a module returns or
// throws: it never takes the isolate down.
func TestHostileArguments(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // worlds that live for a moment: two fifths of the time otherwise
	for i, name := range Names() {
		if testing.Short() && i%5 > 0 {
			continue
		}
		if name[0] == '_' || name == "sys" {
			continue // other names of what is attacked already
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.in(`
				const gone = new Uint8Array(8); try { structuredClone(gone.buffer, { transfer: [gone.buffer] }); } catch {}
				const hostile = { get length() { throw new Error("length"); }, toString() { throw new Error("toString"); }, [Symbol.toPrimitive]() { throw new Error("primitive"); } };
				const values = () => [undefined, null, 0, -1, 1.5, NaN, "", "x", 5n, Symbol("s"), true, {}, [], [1], () => {}, new Proxy({}, {}), Buffer.alloc(4), gone, new DataView(new ArrayBuffer(2)), hostile, Object.create(null)];
				const skip = new Set(["exit", "abort", "reallyExit", "setInterval"]);
				let calls = 0;
				const quiet = (v) => { if (v && typeof v === "object") { try { if (typeof v.then === "function") v.then(() => {}, () => {}); if (typeof v.on === "function") v.on("error", () => {}); } catch {} } };
				const attack = (fn, self, key) => {
					if (skip.has(key)) return;
					for (const a of values()) {
						for (const args of [[a], [a, a], ["sha1", a, a, 1, "md5"], [a, 1, () => {}], [Buffer.alloc(3), a, a]]) {
							calls++;
							try { quiet(fn.apply(self, args)); } catch {}
						}
						try { quiet(fn.call(a, 1, "x", 2)); } catch {}
						try { quiet(new fn(a, a)); } catch {}
					}
				};
				const seen = new Set();
				const walk = (object, depth) => {
					if (seen.has(object) || object === globalThis || object === Object.prototype || object === Function.prototype) return;
					seen.add(object);
					for (const key of Reflect.ownKeys(object)) {
						let v;
						try { v = object[key]; } catch { continue; }
						if (typeof v === "function") {
							attack(v, object, key);
							if (depth > 0 && v.prototype) walk(v.prototype, depth - 1);
						} else if (depth > 0 && v && typeof v === "object") {
							walk(v, depth - 1);
						}
					}
				};
				const exports = require("node:" + ` + "`" + name + "`" + `);
				if (typeof exports === "function") attack(exports, undefined, "default");
				walk(exports, 1);
				say("done");
			`)
			if err := w.e.Health.CondemnedBy(); err != nil {
				t.Fatal(err)
			}
			if len(w.out) != 1 || w.out[0] != "done" {
				t.Fatalf("said %q, logged %.300q", w.out, w.logs)
			}
		})
	}
}

// A buffer or a text that is larger than a value may be is refused before there is memory for it.
func TestBuffersAreBounded(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`
		const N = 2 ** 31 - 2, part = Buffer.alloc(2 ** 20);
		for (const [name, make] of Object.entries({
			alloc: () => Buffer.alloc(N), filled: () => Buffer.alloc(N, "x"), unsafe: () => Buffer.allocUnsafe(N), slow: () => Buffer.allocUnsafeSlow(N), constructed: () => new Buffer(N),
			from: () => Buffer.from({ length: N }), list: () => Buffer.concat(Array(1000).fill(part)), padded: () => Buffer.concat([part], N),
			derived: () => require("node:crypto").scryptSync("a", "b", N, { N: 2, r: 1, p: 1 }),
		})) {
			try { make(); say(name + ": made"); } catch (e) { if (String(e) !== "RangeError: Array buffer allocation failed") say(name + ": " + e); }
		}
		const long = "x".repeat(2 ** 20);
		try { require("node:util").format("%s".repeat(200), ...Array(200).fill(long)); say("format: made"); } catch (e) { if (String(e) !== "RangeError: Invalid string length") say("format: " + e); }
		say([Buffer.alloc(2 ** 20).length, Buffer.from({ length: 3, 1: 7 }).join(), Buffer.concat([part, part]).length].join());
	`)
	w.said("1048576,0,7,0,2097152")
}
