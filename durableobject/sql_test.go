package durableobject_test

// sqlWorker asks storage.sql for what docs/semantics.md 14 to 16 say.
const sqlWorker = `
const t = (fn) => attempt(fn);
export class Q extends DurableObject {
  st = this.ctx.storage; sql = this.ctx.storage.sql;
  async cursor() {
    const log = [];
    this.sql.exec("CREATE TABLE IF NOT EXISTS c (id INTEGER PRIMARY KEY, v); DELETE FROM c; INSERT INTO c VALUES (1,'a'),(2,'b'),(3,'c')");
    const c = this.sql.exec("SELECT * FROM c ORDER BY id"); log.push(c.next(), c.rowsRead);
    await scheduler.wait(1);
    this.sql.exec("INSERT INTO c VALUES (4,'d')"); this.sql.exec("DELETE FROM c WHERE id = 2");
    log.push([...c], c.rowsRead, c.next(), c.toArray());
    log.push(await t(() => this.sql.exec("SELECT * FROM c").one()), await t(() => this.sql.exec("SELECT * FROM c WHERE 0").one()), await t(() => this.sql.exec("SELECT id FROM c LIMIT 1").one()));
    const d = this.sql.exec("SELECT 1 AS a, 2 AS a, 3 AS b"); log.push(d.columnNames, [...d.raw()]); log.push(this.sql.exec("SELECT 1 AS a, 2 AS a, 3 AS b").toArray(), this.sql.exec("SELECT 1 AS a, 2 AS a").raw().toArray());
    const w = this.sql.exec("INSERT INTO c VALUES (5,'e'),(6,'f') RETURNING id"); log.push(w.rowsWritten, w.toArray(), w.rowsWritten);
    const x = this.sql.exec("SELECT * FROM c"); const r = x.raw(); log.push(r.next(), x.next(), r.next(), x.toArray().length);
    const y = this.sql.exec("SELECT id FROM c"); this.sql.exec("SELECT id FROM c"); log.push(await t(() => y.next()));
    const z = this.sql.exec("SELECT id FROM c"); z.next(); this.sql.exec("DROP TABLE IF EXISTS nope"); log.push(await t(() => z.next()));
    const q = this.sql.exec("SELECT id FROM c"); q.next(); log.push(await t(() => this.sql.exec("DROP TABLE c")));
    return log;
  }
  async binds() {
    const q = (...a) => attempt(() => this.sql.exec("SELECT typeof(?1) AS t, ?1 AS v", ...a).one());
    class C { toString() { return "C!"; } }
    return [await q(1), await q(1.5), await q(true), await q("s"), await q(null), await q(undefined), await q(10n), await q(new Uint8Array([1, 2])), await q(new Uint8Array([1, 2]).buffer), await q(new DataView(new ArrayBuffer(3), 1)), await q(new Date(5)), await q({}), await q(new C()), await q([1, 2]), await q(Symbol("x")), await q(() => 1), await q(NaN), await q(Infinity), await q(2 ** 53), await q("a\\0b"), await q(1, 2), await q(), await q(-0),
      await attempt(() => this.sql.exec("SELECT 9007199254740993 AS a, 1.0 AS b, x'0102' AS c, 'x' AS d, null AS e, 9223372036854775807 as f").one()), await attempt(() => this.sql.exec("SELECT x'0102' AS c").one().c instanceof ArrayBuffer)];
  }
  async refused() {
    return [await attempt(() => this.sql.exec("SELECT ?, ?", 1).toArray()), await attempt(() => this.sql.exec("SELECT ?", 1, 2).toArray()), await attempt(() => this.sql.exec("SELECT 1; SELECT ?", 7).toArray()), await attempt(() => this.sql.exec("SELECT ?; SELECT 1", 7).toArray()), await attempt(() => this.sql.exec("SELECT 1; -- c").toArray()), await attempt(() => this.sql.exec("SELECT 1; /* c */ ").toArray()), await attempt(() => this.sql.exec("-- c").toArray()), await attempt(() => this.sql.exec("").toArray()), await attempt(() => this.sql.exec(";;").toArray()), await attempt(() => this.sql.exec().toArray()), await attempt(() => this.sql.exec(5).toArray()), await attempt(() => this.sql.exec("SELECT :a", 1).toArray()), await attempt(() => this.sql.exec("BEGIN").toArray()), await attempt(() => this.sql.exec("COMMIT").toArray()), await attempt(() => this.sql.exec("SAVEPOINT x").toArray()), await attempt(() => this.sql.exec("SELECT * FROM _cf_KV").toArray()), await attempt(() => this.sql.exec("CREATE TABLE _cf_x (a)")), await attempt(() => this.sql.exec("ATTACH 'x' AS y").toArray()), await attempt(() => this.sql.exec("PRAGMA journal_mode").toArray()), await attempt(() => this.sql.exec("PRAGMA table_info(c)").toArray()), await attempt(() => this.sql.exec("VACUUM").toArray()), await attempt(() => this.sql.exec("SELEC 1").toArray()), await attempt(() => this.sql.exec("SELECT * FROM nope").toArray()), await attempt(() => { this.sql.exec("CREATE TABLE IF NOT EXISTS u (a UNIQUE); DELETE FROM u"); this.sql.exec("INSERT INTO u VALUES (1)"); this.sql.exec("INSERT INTO u VALUES (1)"); })];
  }
  make() { this.sql.exec("CREATE TABLE IF NOT EXISTS r (id INTEGER PRIMARY KEY, v)"); }
  unread() { this.sql.exec("INSERT INTO r (v) VALUES (1),(2),(3) RETURNING id"); return "x"; }
  halfRead() { const c = this.sql.exec("INSERT INTO r (v) VALUES (4),(5),(6) RETURNING id"); c.next(); return c.rowsWritten; }
  async readLater() { const c = this.sql.exec("INSERT INTO r (v) VALUES (8),(9),(10) RETURNING id"); const a = c.next(); await this.st.sync(); return [a, ...c]; }
  one() { return this.sql.exec("INSERT INTO r (v) VALUES (7) RETURNING id").one(); }
  count() { return this.sql.exec("SELECT count(*) c FROM r").one().c; }
  written() { const c = this.sql.exec("UPDATE r SET v = 0"); const d = this.sql.exec("DELETE FROM r WHERE id < 3"); return [c.rowsWritten, d.rowsWritten, c.rowsRead, this.sql.exec("INSERT INTO r VALUES (100, 1)").rowsWritten, this.sql.exec("SELECT 1").rowsRead, this.sql.exec("INSERT INTO r (v) VALUES (1) RETURNING id").toArray()]; }
}
export default serve({});
`
