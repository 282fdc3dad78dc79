package minidotest

// limitsWorker walks to both sides of the limits that SQL and storage have, and
// through what the authorizer decides (SEMANTICS 16 and 17).
const limitsWorker = `
export class L extends DurableObject {
  st = this.ctx.storage; sql = this.ctx.storage.sql;
  async q(s, ...a) { const r = await attempt(() => this.sql.exec(s, ...a).raw().toArray()); return JSON.stringify(r).slice(0, 200); }
  async limits() {
    const n = (k, f) => Array.from({ length: k }, (_, i) => f(i));
    const out = [];
    for (const k of [100, 101]) out.push(await this.q("SELECT " + n(k, (i) => "?").join("+"), ...n(k, () => 1)), await this.q("SELECT count(*) FROM (SELECT " + n(k, (i) => i + " AS c" + i) + ")"), await this.q("CREATE TABLE IF NOT EXISTS c" + k + " (" + n(k, (i) => "c" + i) + ")"));
    out.push(await this.q("SELECT ?101", 1), await this.q("SELECT ?0", 1), await this.q("SELECT ?2", 1), await this.q("SELECT ?2", 1, 2), await this.q("SELECT :a, :a, @b, $c", 1, 2, 3));
    for (const k of [5, 6]) out.push(await this.q(n(k, (i) => "SELECT " + i).join(" UNION ALL ")));
    for (const k of [50, 51]) out.push(await this.q("SELECT 'x' LIKE ?", "y".repeat(k)), await this.q("SELECT 'x' GLOB ?", "y".repeat(k)));
    for (const k of [32, 33, 127, 128]) out.push(await this.q("SELECT max(" + n(k, (i) => i) + ")"));
    for (const k of [90, 101]) out.push(await this.q("SELECT " + "(1+".repeat(k) + "1" + ")".repeat(k)));
    for (const k of [99_990, 100_001]) out.push(await this.q("SELECT '" + "x".repeat(k - 9) + "'").then((s) => s.slice(0, 120)));
    for (const k of [2 ** 21 - 100, 2 ** 21 + 1, 4 * 2 ** 20, 8 * 2 ** 20, 8388642, 8388643, 2 ** 24]) out.push(await this.q("SELECT length(zeroblob(?))", k));
    this.sql.exec("CREATE TABLE big (v)");
    for (const k of [2 ** 21 - 100, 2 ** 21 + 1, 8388600, 8388643]) out.push(await this.q("INSERT INTO big VALUES (?) RETURNING length(v)", "x".repeat(k)), await attempt(() => this.st.put("k", "x".repeat(k))), await attempt(() => this.st.put("x".repeat(k), 1)));
    out.push(await attempt(() => this.st.put(Object.fromEntries(n(200, (i) => ["k" + i, i])))), await attempt(() => this.st.get(n(200, (i) => "k" + i)).then((m) => m.size)), await attempt(() => this.st.delete(n(200, (i) => "k" + i))), await attempt(() => this.st.put("x".repeat(2049), "y".repeat(131073))));
    out.push(await this.q("CREATE TABLE rt (a); CREATE TRIGGER rtt AFTER INSERT ON rt WHEN new.a < 20 BEGIN INSERT INTO rt VALUES (new.a + 1); END; PRAGMA recursive_triggers = 1"), await this.q("INSERT INTO rt VALUES (15)"), await this.q("INSERT INTO rt VALUES (1)"), await this.q("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000) SELECT count(*) FROM c"));
    return out;
  }
  async authorizer() {
    const out = [];
    for (const s of ["ATTACH ':memory:' AS x", "DETACH x", "PRAGMA user_version", "PRAGMA journal_mode = delete", "PRAGMA foreign_keys", "PRAGMA foreign_keys = off", "PRAGMA defer_foreign_keys = on", "PRAGMA cache_size", "PRAGMA page_count", "PRAGMA page_size", "PRAGMA freelist_count", "PRAGMA optimize", "PRAGMA quick_check", "PRAGMA integrity_check", "PRAGMA table_list", "PRAGMA table_info('x')", "PRAGMA table_info(_cf_KV)", "PRAGMA index_list(x)", "PRAGMA foreign_key_list(x)", "PRAGMA foreign_key_check", "PRAGMA compile_options", "PRAGMA function_list", "PRAGMA database_list", "PRAGMA encoding", "PRAGMA data_version", "PRAGMA writable_schema = 1", "PRAGMA case_sensitive_like = 1", "PRAGMA case_sensitive_like = 0", "PRAGMA recursive_triggers = 0", "PRAGMA wal_checkpoint", "SELECT * FROM pragma_page_count", "SELECT name FROM pragma_table_info('x')",
      "BEGIN", "begin immediate", "END", "COMMIT", "ROLLBACK", "SAVEPOINT a", "RELEASE a", "VACUUM", "VACUUM INTO 'x'", "REINDEX", "ANALYZE", "CREATE TEMP TABLE tt (a)", "CREATE TABLE temp.tt (a)", "CREATE TABLE main.mm (a)", "CREATE TABLE _cf_a (a)", "CREATE TABLE _CF_a (a)", "CREATE TABLE _cfa (a)", "CREATE INDEX _cf_i ON mm (a)", "CREATE VIEW _cf_v AS SELECT 1", "ALTER TABLE mm RENAME TO _cf_b", "ALTER TABLE mm RENAME COLUMN a TO b", "ALTER TABLE mm ADD COLUMN c", "ALTER TABLE mm DROP COLUMN c", "DROP TABLE _cf_KV", "DELETE FROM _cf_KV", "SELECT * FROM _cf_METADATA", "INSERT INTO sqlite_master VALUES (1,2,3,4,5)", "UPDATE sqlite_schema SET sql = ''", "DELETE FROM sqlite_sequence", "SELECT name FROM sqlite_schema WHERE name LIKE '\\_cf%' ESCAPE '\\'", "SELECT * FROM sqlite_temp_schema", "SELECT * FROM dbstat", "SELECT * FROM sqlite_dbpage", "SELECT * FROM sqlite_stmt",
      "CREATE VIRTUAL TABLE ft USING fts5(a, b)", "INSERT INTO ft VALUES ('one two', 'three')", "SELECT highlight(ft, 0, '<', '>'), snippet(ft, 1, '[', ']', '..', 4), bm25(ft) < 0, rank < 0 FROM ft WHERE ft MATCH 'one OR three'", "CREATE VIRTUAL TABLE fv USING fts5vocab(ft, 'row')", "SELECT * FROM fv", "INSERT INTO ft(ft) VALUES ('optimize')", "INSERT INTO ft(ft) VALUES ('integrity-check')", "SELECT * FROM ft_data LIMIT 0", "DELETE FROM ft_data", "CREATE VIRTUAL TABLE f4 USING fts4(a)", "CREATE VIRTUAL TABLE rr USING rtree(id, a, b)", "CREATE VIRTUAL TABLE gg USING geopoly(a)", "CREATE VIRTUAL TABLE cc USING csv(a)", "SELECT fts5(1)", "SELECT * FROM ft WHERE ft MATCH 'syntax AND'",
      "SELECT sqlite_version()", "SELECT sqlite_source_id()", "SELECT sqlite_compileoption_used('x')", "SELECT load_extension('x')", "SELECT fts3_tokenizer('x')", "SELECT randomblob(4) IS NOT NULL, random() IS NOT NULL", "SELECT sqrt(2), pow(2, 10), ln(10), pi(), mod(7, 3), trunc(-1.5), ceil(1.2), degrees(pi())", "SELECT json('{\"a\":1}'), json_extract('{\"a\":[1,2]}', '$.a[#-1]'), '{\"a\":{\"b\":2}}' ->> '$.a.b', json_type('[1]'), json_valid('{a:1}'), json_valid('{a:1}', 2), json_error_position('{x')", "SELECT json_group_array(value), json_group_object(key, value) FROM json_each('{\"a\":1,\"b\":2}')", "SELECT hex(jsonb('[1]')), json(jsonb('{\"k\":null}'))", "SELECT json_pretty('[1]')", "SELECT soundex('x')", "SELECT octet_length('\u00e9'), unhex('6162'), concat_ws('-', 1, null, 2), format('%05d', 7), string_agg(value, '+') FROM json_each('[1,2]')", "SELECT iif(1, 2), unistr('a')", "SELECT median(1)", "SELECT x'6162' LIKE 'a%', x'6162' GLOB 'a*'", "SELECT datetime('2024-02-30', '+1 month'), strftime('%J', '2000-01-01'), timediff('2024-01-02', '2024-01-01'), date('now', 'localtime') IS NOT NULL", "SELECT 1 = 1.0, '1' = 1, typeof(1 / 2), 7 / 2, 7 % -3, 9223372036854775807 + 1, 1e400, -1e400, 0.1 + 0.2", "SELECT upper('\u00e9'), length('\u{1F600}'), unicode('\u{1F600}'), substr('h\u00e9llo', 2, 2), instr('abc', 'c'), replace('aaa', 'a', 'b'), char(233, 128512), quote(x'00ff'), quote('it''s'), zeroblob(2) IS NOT NULL",
      "SELECT 1;", "SELECT 1; ", "SELECT 1;\n-- done", "SELECT 1 /* c */", "SELECT 1; SELECT 2", "SELECT 'a;b'; SELECT 3", "CREATE TRIGGER mt AFTER INSERT ON mm BEGIN SELECT 1; SELECT 2; END; SELECT 4", "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT * FROM mm", "SELECT", "SELECT 1 FROM", "SELECT * FROM mm WHERE nope = 1", "SELECT nope(1)", "SELECT max()", "INSERT INTO mm VALUES (1, 2, 3)", "SELECT \"dq\"", "SELECT 'unterminated", "CREATE TABLE mm (a)", "CREATE TABLE st (a INT) STRICT", "INSERT INTO st VALUES ('x')", "CREATE TABLE nn (a NOT NULL, b CHECK (b > 0), c REFERENCES nn(a))", "INSERT INTO nn VALUES (NULL, 1, NULL)", "INSERT INTO nn VALUES (1, 0, NULL)", "CREATE TABLE pp (id INTEGER PRIMARY KEY); CREATE TABLE ch (p REFERENCES pp)", "INSERT INTO ch VALUES (5)", "INSERT INTO pp VALUES (1); INSERT INTO pp VALUES (1)", "SELECT last_insert_rowid(), changes(), total_changes() > 0", "SELECT abs(-9223372036854775808)", "SELECT raise(abort, 'x')"]) {
      let r = await this.q(s); if (s.startsWith("EXPLAIN SELECT")) r = r.slice(0, 7); out.push(r + "  " + s);
    }
    return out;
  }
}
export default serve({});
`
