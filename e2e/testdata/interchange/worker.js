// Stores a value of every kind, and tells what it finds, so that two runtimes
// can take turns on the same files.
import { DurableObject } from "cloudflare:workers";

const far = Date.UTC(2100, 0, 1);

// values are the keys and what is stored under them: everything that V8's
// serialization has a tag for and storage takes.
function values() {
  const loop = { name: "loop" };
  loop.self = loop;
  const shared = [1];
  const sparse = [0, , 2];
  sparse[9] = 9;
  const props = [1, 2];
  props.note = "an array's property";
  const buffer = new Uint8Array([0, 1, 127, 128, 254, 255, 0, 63]).buffer;
  const cause = new TypeError("why", { cause: { code: 7 } });
  return {
    undefined: { u: undefined }, null: null, true: true, false: false,
    zero: 0, negativeZero: -0, small: -5, int32: 2147483647, over: 2147483648, real: 1.5, tiny: 5e-324, huge: 1.7976931348623157e308,
    nan: NaN, infinity: Infinity, negativeInfinity: -Infinity, safe: Number.MAX_SAFE_INTEGER,
    bigZero: 0n, big: 2n ** 64n, bigNegative: -(2n ** 200n) - 1n, bigSmall: -1n,
    empty: "", latin: "caf\u00e9", wide: "\u0436\u6f22", emoji: "\ud83d\ude00", lone: "a\ud800b", nul: "a\0b", long: "x".repeat(5000), longWide: "\u0436".repeat(3000),
    date: new Date(1790000000123), dateInvalid: new Date(NaN), regexp: /a(?<n>b)\/c/giu,
    boxedBoolean: Object(false), boxedNumber: Object(-0), boxedString: Object("s\u0436"), boxedBigint: Object(12n),
    object: { b: 1, a: { deep: [{}] }, "": 0, 7: "seven", "__proto__x": 1 }, array: [1, "two", [3], null], sparse, props,
    map: new Map([[1, "one"], ["k", new Map([[{ o: 1 }, new Set(["s"])]])], [NaN, NaN]]), set: new Set([1, "1", null, [1]]),
    loop, shared: { a: shared, b: shared },
    buffer, views: [new Uint8Array(buffer, 1, 3), new Uint8ClampedArray(buffer), new Int8Array(buffer), new Int16Array(buffer), new Uint16Array(buffer, 2, 2), new Int32Array(buffer),
      new Uint32Array(buffer), new Float32Array([1.5, -0]), new Float64Array([Math.PI, NaN]), new BigInt64Array([-1n]), new BigUint64Array([2n ** 64n - 1n]), new DataView(buffer, 2, 4)],
    errors: [new Error("plain"), new RangeError("range"), new SyntaxError("syntax"), new ReferenceError("reference"), new EvalError("eval"), new URIError("uri"), cause],
    "key \u0436 with/every % kind\ud83d\ude00": 1,
  };
}

// tell writes any value as text, the kinds told apart.
function tell(v, seen = []) {
  if (typeof v === "string") return v.length > 200 ? `${JSON.stringify(v.slice(0, 5))}*${v.length}` : JSON.stringify(v);
  if (typeof v === "bigint") return v + "n";
  if (Object.is(v, -0)) return "-0";
  if (v === null || typeof v !== "object") return String(v);
  if (seen.includes(v)) return "^" + seen.indexOf(v);
  const inner = [...seen, v], kind = Object.prototype.toString.call(v).slice(8, -1);
  const proto = Object.getPrototypeOf(v)?.constructor?.name;
  const own = (skip) => Object.keys(v).filter((k) => !skip?.(k)).map((k) => `${JSON.stringify(k)}:${tell(v[k], inner)}`).join(",");
  if (v instanceof Date) return `Date(${v.getTime()})`;
  if (v instanceof RegExp) return `RegExp(${v} ${v.lastIndex})`;
  if (v instanceof Map) return `Map{${[...v].map(([k, x]) => tell(k, inner) + "=>" + tell(x, inner)).join(",")}}`;
  if (v instanceof Set) return `Set{${[...v].map((x) => tell(x, inner)).join(",")}}`;
  if (v instanceof ArrayBuffer) return `ArrayBuffer(${new Uint8Array(v).join(" ")})`;
  if (v instanceof DataView) return `DataView(${v.byteOffset}+${v.byteLength} of ${tell(v.buffer)})`;
  if (ArrayBuffer.isView(v)) return `${proto}(${[...v].map((x) => tell(x)).join(" ")} at ${v.byteOffset} of ${v.buffer.byteLength})`;
  if (v instanceof Error) return `${proto}(${v.name}: ${v.message}${"cause" in v ? ", cause " + tell(v.cause, inner) : ""})`;
  if (Array.isArray(v)) return `[${v.length}|${own()}]`;
  if (["Boolean", "Number", "String", "BigInt"].includes(kind)) return `${kind}(${tell(v.valueOf())})`;
  return `${proto}{${own()}}`;
}

function tellRows(sql, query) {
  const cursor = sql.exec(query);
  return [cursor.columnNames.join("|"), ...[...cursor.raw()].map((row) => row.map((v) => tell(v)).join("|"))];
}

export class Side extends DurableObject {
  put(k, v) { this.ctx.storage.kv.put(k, v); this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS side (n INTEGER PRIMARY KEY, t TEXT)"); this.ctx.storage.sql.exec("INSERT INTO side (t) VALUES (?)", k); }
  inner(name) { return this.ctx.facets.get(name, () => ({ class: this.ctx.exports.Side })); }
  async putInner(name, k, v) { await this.inner(name).put(k, v); }
  async look(inner) {
    const out = [...this.ctx.storage.kv.list()].map(([k, v]) => `${k}=${tell(v)}`);
    try { out.push(...tellRows(this.ctx.storage.sql, "SELECT * FROM side")); } catch (e) { out.push(e.message); }
    if (inner) out.push(`inner ${inner}: ${(await this.inner(inner).look()).join("; ")}`);
    return out;
  }
}

export class Box extends DurableObject {
  side(name) { return this.ctx.facets.get(name, () => ({ class: this.ctx.exports.Side })); }

  async fill() {
    const { storage } = this.ctx, { sql } = storage;
    Object.entries(values()).forEach(([k, v], i) => (i % 2 ? storage.kv.put(k, v) : storage.put(k, v)));
    sql.exec(`CREATE TABLE kinds (id INTEGER PRIMARY KEY AUTOINCREMENT, v, twice AS (v || v) STORED);
      CREATE TABLE parent (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
      CREATE TABLE child (a TEXT, b INTEGER, FOREIGN KEY (a, b) REFERENCES parent ON DELETE CASCADE);
      CREATE UNIQUE INDEX one ON kinds (v) WHERE id > 3;
      CREATE VIEW seen AS SELECT count(*) AS n FROM kinds;
      CREATE TABLE audit (text TEXT);
      CREATE TRIGGER watch AFTER INSERT ON child BEGIN INSERT INTO audit VALUES (new.a || new.b); END;
      CREATE VIRTUAL TABLE notes USING fts5(title, body);
      CREATE TABLE strict (i INTEGER, r REAL, t TEXT, b BLOB) STRICT;`);
    for (const v of [null, 0, -7, 1.5, 9007199254740991, "text", "\u0436\ud83d\ude00", "", new Uint8Array([0, 255, 1]), new Uint8Array(0)]) sql.exec("INSERT INTO kinds (v) VALUES (?)", v);
    sql.exec("INSERT INTO kinds (v) VALUES (9223372036854775807), (1e300), (x'00ff')");
    sql.exec("INSERT INTO parent VALUES ('p', 1), ('p', 2)");
    sql.exec("INSERT INTO child VALUES ('p', 1), ('p', 2)");
    sql.exec("INSERT INTO notes VALUES ('hello', 'the quick brown fox'), ('other', 'a lazy dog')");
    sql.exec("INSERT INTO strict VALUES (1, 2, 'three', x'04')");
    await storage.setAlarm(far);
    await this.side("left").put("k", new Map([["side", 1n]]));
    await this.side("r/\u0436 ight").put("k", "right");
    await this.side("left").putInner("left", "k", "inner");
    await this.side("gone").put("k", "gone");
    this.ctx.facets.delete("gone");
    await storage.sync();
  }

  // more is what the next runtime does to the state that it was given.
  async more() {
    const { storage } = this.ctx, { sql } = storage;
    storage.kv.put("null", new Map([["was", null]]));
    storage.kv.put("new", "from the next runtime");
    storage.kv.delete("big");
    await storage.delete(["zero", "loop"]);
    sql.exec("DELETE FROM parent WHERE b = 1");
    sql.exec("INSERT INTO parent VALUES ('q', 9)");
    sql.exec("INSERT INTO child VALUES ('q', 9)");
    sql.exec("INSERT INTO kinds (v) VALUES ('later')");
    sql.exec("INSERT INTO notes VALUES ('third', 'a quick reply')");
    sql.exec("ALTER TABLE strict ADD COLUMN more TEXT DEFAULT 'd'");
    await storage.setAlarm(far + 86400000);
    await this.side("left").put("k2", 2);
    await this.side("left").putInner("left", "k2", 3);
    await this.side("late").put("k", "late");
    this.ctx.facets.delete("r/\u0436 ight");
    await storage.sync();
  }

  async look() {
    const { storage } = this.ctx, { sql } = storage;
    const out = [`name ${tell(this.ctx.id.name)}`, `id ${this.ctx.id}`, `alarm ${tell(await storage.getAlarm())}`];
    for (const [k, v] of await storage.list()) out.push(`${JSON.stringify(k)}=${tell(v)}`);
    const same = await storage.get("shared");
    out.push(`shared once: ${same ? same.a === same.b : same}`);
    if (out.length > 5) {
      // __miniflare_do_name is a table that wrangler adds to each database for its own listings.
      out.push(...tellRows(sql, "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' AND name != '__miniflare_do_name' ORDER BY name"));
      for (const q of ["SELECT id, v, typeof(v), twice FROM kinds", "SELECT CAST(v AS TEXT) FROM kinds WHERE id = 11", "SELECT * FROM parent", "SELECT * FROM child", "SELECT * FROM seen", "SELECT * FROM audit",
        "SELECT title FROM notes WHERE notes MATCH 'quick' ORDER BY rank", "SELECT * FROM strict", "SELECT name, seq FROM sqlite_sequence"]) out.push(q, ...tellRows(sql, q));
      for (const [name, inner] of [["left", "left"], ["r/\u0436 ight"], ["gone"], ["late"]]) out.push(`facet ${name}: ${(await this.side(name).look(inner)).join("; ")}`);
    }
    return out;
  }

  async soon(ms) { await this.ctx.storage.setAlarm(Date.now() + ms); await this.ctx.storage.sync(); }
  alarm() {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS fired (who TEXT, name TEXT)");
    this.ctx.storage.sql.exec("INSERT INTO fired VALUES (?, ?)", this.env.WHO, this.ctx.id.name ?? null);
  }
  fired() { return tellRows(this.ctx.storage.sql, "SELECT * FROM fired").slice(1); }
}

// GET /NAME/METHOD?ARGUMENT; a name of 64 digits is an id.
export default {
  async fetch(request, env) {
    const url = new URL(request.url), [, name, method] = url.pathname.split("/");
    if (name === "new") return Response.json([String(env.BOX.newUniqueId())]);
    const stub = /^[0-9a-f]{64}$/.test(name) ? env.BOX.get(env.BOX.idFromString(name)) : env.BOX.getByName(decodeURIComponent(name));
    const result = await stub[method](...(url.search ? [Number(url.search.slice(1))] : []));
    return Response.json(result ?? []);
  },
};
