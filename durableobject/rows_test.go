package durableobject_test

// rowsWorker asks for rowsRead and rowsWritten at once and after the last row,
// and the number of rows between: these numbers are what production bills.
const rowsWorker = `
const QUERIES = [
 "SELECT 1","SELECT * FROM t","SELECT * FROM t WHERE id = 3","SELECT * FROM t WHERE id = 99","SELECT * FROM t WHERE a = 2","SELECT * FROM t WHERE a = 77","SELECT count(*) FROM t","SELECT count(*) FROM t WHERE b > 3",
 "SELECT * FROM t LIMIT 2","SELECT * FROM t ORDER BY b DESC","SELECT * FROM t ORDER BY id DESC LIMIT 1","SELECT max(id) FROM t","SELECT min(a) FROM t","SELECT t.id, u.v FROM t JOIN u ON u.tid = t.id","SELECT * FROM t, u","SELECT * FROM t WHERE id IN (1,3,5,77)",
 "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.tid = t.id)","SELECT a, count(*) FROM t GROUP BY a","SELECT DISTINCT a FROM t","SELECT * FROM t WHERE a = 1 UNION ALL SELECT * FROM t WHERE a = 2","SELECT * FROM t WHERE id > 3","SELECT * FROM t WHERE id BETWEEN 2 AND 4","WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 5) SELECT * FROM c",
 "SELECT * FROM f WHERE f MATCH 'hello'","SELECT * FROM w WHERE k = 'k2'","SELECT * FROM w","SELECT * FROM json_each('[1,2,3]')","SELECT id, (SELECT v FROM u WHERE tid = t.id) FROM t","SELECT * FROM t LEFT JOIN u ON u.v = t.b","SELECT a FROM t WHERE a > 1","SELECT row_number() OVER (ORDER BY b) FROM t","SELECT sum(b) FROM t WHERE id < 4",
 "INSERT INTO t VALUES (20, 9, 9)","INSERT INTO t(a,b) VALUES (1,1),(2,2),(3,3)","INSERT INTO t VALUES (20, 1, 1) ON CONFLICT DO UPDATE SET b = 100","INSERT OR REPLACE INTO t VALUES (20, 5, 5)","INSERT OR IGNORE INTO t VALUES (20, 5, 5)","UPDATE t SET b = b + 1","UPDATE t SET a = a + 1 WHERE id = 1","UPDATE t SET b = 0 WHERE a = 2","DELETE FROM t WHERE id = 1","DELETE FROM t WHERE a = 3","INSERT INTO u SELECT id + 100, id FROM t","INSERT INTO w VALUES ('k9', 1)","UPDATE w SET v = 2 WHERE k = 'k9'","DELETE FROM w WHERE k = 'k9'","INSERT INTO w VALUES ('k1', 5) ON CONFLICT(k) DO UPDATE SET v = excluded.v",
 "INSERT INTO f VALUES ('hello again')","DELETE FROM u","CREATE TABLE x (a PRIMARY KEY, b UNIQUE)","INSERT INTO x VALUES (1,2),(3,4) RETURNING a","CREATE INDEX xi ON x(b, a)","ALTER TABLE x ADD COLUMN c","DROP TABLE x","INSERT INTO g VALUES (1)","DELETE FROM t","CREATE TABLE y AS SELECT * FROM w","PRAGMA table_info(t)","INSERT INTO ai(v) VALUES (1)","UPDATE t SET a = 1 WHERE 0",
 "REPLACE INTO w VALUES ('k1', 7)","SELECT * FROM t INDEXED BY ta WHERE a IN (1,2,3)","SELECT * FROM w WHERE k > 'k0' AND k < 'k3'","SELECT group_concat(k) FROM w","SELECT * FROM (SELECT * FROM w LIMIT 2) ORDER BY v","SELECT * FROM w a JOIN w b USING (k)","DELETE FROM w WHERE v IN (SELECT v FROM w)",
];
export class R extends DurableObject {
  rows() {
    const sql = this.ctx.storage.sql;
    sql.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX ta ON t(a); CREATE TABLE u (tid INTEGER PRIMARY KEY, v); CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE VIRTUAL TABLE f USING fts5(x); CREATE TABLE g (a); CREATE TABLE gl (a); CREATE TRIGGER gt AFTER INSERT ON g BEGIN INSERT INTO gl VALUES (new.a); INSERT INTO gl VALUES (new.a); END; CREATE TABLE ai (id INTEGER PRIMARY KEY AUTOINCREMENT, v)");
    for (let i = 1; i <= 6; i++) sql.exec("INSERT INTO t VALUES (?, ?, ?)", i, i % 3, i * 2);
    for (let i = 1; i <= 4; i++) { sql.exec("INSERT INTO u VALUES (?, ?)", i, i * 2); sql.exec("INSERT INTO w VALUES (?, ?)", "k" + i, i); sql.exec("INSERT INTO f VALUES (?)", i % 2 ? "hello world" : "other"); }
    const out = [];
    for (const q of QUERIES) {
      let r; try { const c = sql.exec(q); const a = [c.rowsRead, c.rowsWritten]; const n = c.toArray().length; r = [...a, n, c.rowsRead, c.rowsWritten]; } catch (e) { r = [String(e.message)]; }
      out.push(r.join(" ") + "  " + q);
    }
    return out;
  }
}
export default serve({});
`
