import { get, post, type ObjectInfo, type Result } from "./api";
import { button, bytes, fill, h, message } from "./dom";
import { ask, quoted, rowsOf, type Base } from "./edit";
import { named } from "./objects";
import { past } from "./past";

const page = 100;
const kept = 30; // statements of the history
const memory = "minido-statements";

// cell shows a value as the API writes it: text, numbers, null, {base64}, {int64}.
export function cell(value: unknown): Node {
  if (value === null) return h("span", { class: "faint" }, "NULL");
  if (typeof value === "object") {
    const v = value as { base64?: string; int64?: string };
    if (v.base64 !== undefined) return h("span", { class: "faint", title: v.base64 }, `blob, ${Math.floor(v.base64.replace(/=+$/, "").length * 3 / 4)} bytes: ${v.base64.slice(0, 40)}`);
    if (v.int64 !== undefined) return document.createTextNode(v.int64);
  }
  const text = String(value);
  return h("span", { title: text.length > 40 ? text.slice(0, 4000) : "" }, text.slice(0, 400));
}

function table(result: Result): HTMLElement {
  return h("table", {}, h("thead", {}, h("tr", {}, ...result.columns.map(c => h("th", { scope: "col" }, c)))),
    h("tbody", { class: "mono" }, ...result.rows.map(row => h("tr", {}, ...row.map(v => h("td", {}, cell(v)))))));
}

type StoredFacet = { name: string; bytes: number; facets?: StoredFacet[] };
type Value = { key: string; bytes: number; text: string; json?: string };
const storage = "_cf_KV"; // the table of ctx.storage's keys

// data is the page of one object's database: its tables, rows by the page, which are
// edited, the keys of its storage with their values decoded, and SQL that reads.
// A facet's are read alone, whether it runs or not.
export function data(main: HTMLElement, signal: AbortSignal, className: string, id: string, facet: string[]): void {
  if (!className) return choose(main, signal);
  const fault = h("p", { class: "fault", role: "alert" });
  const tables = h("div", { class: "bar" });
  const statement = h("textarea", { "aria-label": "SQL that reads", spellcheck: false, keydown: (e: KeyboardEvent) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run.click(); } });
  const history = h("select", { "aria-label": "Earlier statements", change: () => { statement.value = history.value; } });
  const out = h("div", { class: "tables", tabindex: 0, "aria-label": "Rows" });
  const note = h("span", { class: "note", role: "status" });
  let from: { table: string; offset: number } | undefined;
  let moment = ""; // the bookmark that is shown, "" for the present
  let asked = 0;
  // latest draws what was asked for last: an answer that comes after a later question is left out.
  async function latest<T>(answer: Promise<T>, draw: (answer: T) => void): Promise<void> {
    const mine = ++asked;
    const found = await answer;
    if (mine === asked) draw(found);
  }
  const behind = past(className, id, facet, fault, async bookmark => {
    moment = bookmark;
    await (from ? showTable(from.table, Math.max(0, from.offset)) : execute(statement.value));
  }, difference => latest(difference, shown => fill(out, shown)));

  const facets = h("div", { class: "bar" }); // links to those of the object that have databases
  const bar = h("div", { class: "bar" }), name = h("span", { class: "mono" }, [id.slice(0, 16) + "…", ...facet].join("/"));
  const base: Base = {
    read: (sql, limit) => query(sql, limit),
    write: async sql => (await post<{ results: Result[] }>("/v1/execute", { class: className, object: id, statements: [{ sql }] })).results[0]!,
  };
  const query = (sql: string, limit: number) => post<Result>("/v1/sql", { class: className, object: id, sql, limit, ...(moment ? { bookmark: moment } : {}), ...(facet.length > 0 ? { facet } : {}) });
  const remember = (sql: string) => {
    const list = [sql, ...statements().filter(s => s !== sql)].slice(0, kept);
    localStorage.setItem(memory, JSON.stringify(list));
    fill(history, h("option", { value: "" }, "History"), ...list.map(s => h("option", { value: s }, s.slice(0, 60))));
  };
  const statements = (): string[] => {
    try { return JSON.parse(localStorage.getItem(memory) ?? "[]"); } catch { return []; }
  };

  async function showTable(name: string, offset: number): Promise<void> {
    from = { table: name, offset };
    for (const b of tables.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.table === name));
    if (name === storage && moment === "" && facet.length === 0) return showValues(offset === 0 ? "" : last);
    statement.value = `SELECT * FROM ${quoted(name)} LIMIT ${page} OFFSET ${offset}`;
    const again = (what: string) => { showTable(name, offset).then(() => bar.append(h("span", { class: "good", role: "status" }, what)), error => fill(fault, message(error))); };
    await latest(Promise.all([rowsOf(base, name, page, offset, moment === "" && !className.includes("-") && facet.length === 0, cell, again), query(`SELECT count(*) FROM ${quoted(name)}`, 1)]), ([rows, count]) => {
      const total = Number(count.rows[0]![0]);
      fill(out, rows.table);
      fill(bar, ...(className.includes("-") ? [h("span", { class: "note" }, "These rows are minido's own: they are edited as a queue or a Workflow.")] : facet.length > 0 ? [h("span", { class: "note" }, "A facet's rows are shown, and not edited.")] : rows.bar));
      fill(note, total === 0 ? "no rows" : `rows ${offset + 1}–${offset + rows.count} of ${total}`);
      before.disabled = offset === 0;
      next.disabled = offset + page >= total;
    });
  }

  let last = "";
  async function showValues(after: string): Promise<void> {
    const again = (what: string) => { showTable(storage, 0).then(() => bar.append(h("span", { class: "good", role: "status" }, what)), error => fill(fault, message(error))); };
    statement.value = "";
    await latest(post<{ values: Value[]; more: boolean }>("/v1/values", { class: className, object: id, after, limit: page }), found => {
      last = found.values.at(-1)?.key ?? "";
      fill(out, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "hidden" }, "Edit")), ...["key", "value", "bytes"].map(c => h("th", { scope: "col" }, c)))),
        h("tbody", { class: "mono" }, ...found.values.map(v => h("tr", {}, h("td", {}, h("button", { type: "button", class: "small", "aria-label": `Edit ${v.key}`, click: () => editValue(v, again) }, "Edit")),
          h("td", {}, cell(v.key)), h("td", {}, cell(v.text)), h("td", {}, bytes(v.bytes)))))));
      fill(bar, h("button", { type: "button", click: () => editValue(undefined, again) }, "Put a key"), h("span", { class: "note" }, "What ctx.storage.put() and storage.kv have stored."));
      fill(note, `${found.values.length} keys${found.more ? ", and more" : ""}`);
      before.disabled = after === "";
      next.disabled = !found.more;
    });
  }
  function editValue(v: Value | undefined, again: (what: string) => void): void {
    const key = h("input", { class: "mono wide", "aria-label": "Key", value: v?.key ?? "", disabled: v !== undefined });
    const value = h("textarea", { class: "mono", rows: 10, "aria-label": "Value, as JSON", spellcheck: false });
    const plain = !v || v.json !== undefined;
    value.value = v ? (plain ? JSON.stringify(JSON.parse(v.json!), null, 2) : v.text) : "";
    value.disabled = !plain;
    const about = { class: className, object: id };
    ask(v ? "Edit a key" : "A new key", [h("label", {}, "Key ", key), value, plain ? h("p", { class: "note" }, "The value is JSON.") : h("p", { class: "note" }, "JSON does not have this value: the object's own code is what writes it.")], (close, wrong) => [
      ...(plain ? [button("Save", async () => { await post("/v1/values/put", { ...about, key: key.value, json: value.value }); close(); again("The value is stored."); }, wrong, { class: "main" })] : []),
      ...(v ? [button("Delete the key", async () => { await post("/v1/values/delete", { ...about, key: v.key }); close(); again("The key is deleted."); }, wrong)] : []),
    ]);
  }

  async function execute(sql: string): Promise<void> {
    from = undefined;
    before.disabled = next.disabled = true;
    fill(bar);
    await latest(query(sql, 1000), result => {
      fill(out, table(result));
      fill(note, `${result.rows.length} rows${result.truncated ? ", cut" : ""}`);
    });
  }

  const before = button("Earlier", () => showTable(from!.table, Math.max(0, from!.offset - page)), fault, { disabled: true });
  const next = button("Later", () => showTable(from!.table, from!.offset + page), fault, { disabled: true });
  const run = button("Run", async () => { await execute(statement.value); remember(statement.value); }, fault, { title: "Ctrl+Enter" });
  const plan = button("Plan", () => execute("EXPLAIN QUERY PLAN " + statement.value), fault);

  fill(main, h("div", { class: "bar" }, h("h1", {}, `Data of ${className}/`, name), h("a", { href: "#/objects" }, "All objects")),
    facets, behind, tables, statement, h("div", { class: "bar" }, run, plan, history, h("span", { class: "fill" }), note, before, next), bar, fault, out);
  remember("SELECT name, sql FROM sqlite_schema");
  statement.value = "SELECT name, sql FROM sqlite_schema";
  get<{ objects: ObjectInfo[] }>("/v1/objects").then(all => {
    const one = all.objects.find(o => o.id === id && o.class === className);
    if (one?.name) fill(name, [one.name, ...facet].join("/"));
  }, error => fill(fault, message(error)));
  if (!className.includes("-")) post<{ facets: StoredFacet[] }>("/v1/facets", { class: className, object: id }).then(stored => {
    const links = (list: StoredFacet[], names: string[]): HTMLElement[] => list.flatMap(f => {
      const own = [...names, f.name];
      return [h("a", { class: "mono", href: "#/" + ["data", className, id, ...own].map(encodeURIComponent).join("/"), title: bytes(f.bytes) }, own.join("/")), ...links(f.facets ?? [], own)];
    });
    if (stored.facets.length > 0) fill(facets, h("span", { class: "note" }, "Facets"), ...links(stored.facets, []));
  }, error => fill(fault, message(error)));
  void (async () => {
    try {
      const found = await query("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name", 1000);
      if (signal.aborted) return;
      fill(tables, ...found.rows.map(([name]) => button(name === storage ? "keys" : String(name), () => showTable(String(name), 0), fault, { "data-table": String(name), title: name === storage ? "ctx.storage.put(), storage.kv" : "" })));
      if (found.rows.length > 0) await showTable(String(found.rows[0]![0]), 0);
      else fill(out, h("p", { class: "note" }, "This object has stored nothing."));
    } catch (error) { fill(fault, message(error)); }
  })();
}

// choose asks for an object.
function choose(main: HTMLElement, signal: AbortSignal): void {
  const list = h("ul", {});
  const fault = h("p", { class: "fault", role: "alert" });
  fill(main, h("h1", {}, "Data"), h("p", { class: "note" }, "Whose database?"), fault, h("div", { class: "card" }, list));
  get<{ objects: ObjectInfo[] }>("/v1/objects").then(all => {
    if (signal.aborted) return;
    const shown = all.objects.slice(0, 500);
    fill(list, ...shown.map(o => h("li", {}, h("a", { href: `#/data/${encodeURIComponent(o.class)}/${o.id}`, class: "mono" }, named(o)))),
      all.objects.length > shown.length && h("li", { class: "note" }, `${all.objects.length - shown.length} more: search for them on the page of objects.`),
      all.objects.length === 0 && h("li", { class: "note" }, "There are no objects yet."));
  }, error => fill(fault, message(error)));
}
