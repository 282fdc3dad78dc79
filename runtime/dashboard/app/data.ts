import { get, post, type ObjectInfo, type Result } from "./api";
import { button, fill, h, message } from "./dom";
import { named } from "./objects";
import { past } from "./past";

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
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

// data is the page of one object's database: its tables, rows by the page, and SQL
// that reads.
export function data(main: HTMLElement, signal: AbortSignal, className: string, id: string): void {
  if (!className) return choose(main, signal);
  const fault = h("p", { class: "fault", role: "alert" });
  const tables = h("div", { class: "bar" });
  const statement = h("textarea", { "aria-label": "SQL that reads", spellcheck: false, keydown: (e: KeyboardEvent) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run.click(); } });
  const history = h("select", { "aria-label": "Earlier statements", change: () => { statement.value = history.value; } });
  const out = h("div", { class: "tables", tabindex: 0, "aria-label": "Rows" });
  const note = h("span", { class: "note", role: "status" });
  let from: { table: string; offset: number } | undefined;
  let moment = ""; // the bookmark that is shown, "" for the present
  const behind = past(className, id, fault, async bookmark => {
    moment = bookmark;
    await (from ? showTable(from.table, Math.max(0, from.offset)) : execute(statement.value));
  }, shown => fill(out, shown));

  const query = (sql: string, limit: number) => post<Result>("/v1/sql", { class: className, object: id, sql, limit, ...(moment ? { bookmark: moment } : {}) });
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
    statement.value = `SELECT * FROM ${quoted(name)} LIMIT ${page} OFFSET ${offset}`;
    const [rows, count] = await Promise.all([query(statement.value, page), query(`SELECT count(*) FROM ${quoted(name)}`, 1)]);
    const total = Number(count.rows[0]![0]);
    fill(out, table(rows));
    fill(note, total === 0 ? "no rows" : `rows ${offset + 1}–${offset + rows.rows.length} of ${total}`);
    before.disabled = offset === 0;
    next.disabled = offset + page >= total;
    for (const b of tables.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.textContent === name));
  }

  async function execute(sql: string): Promise<void> {
    from = undefined;
    before.disabled = next.disabled = true;
    const result = await query(sql, 1000);
    fill(out, table(result));
    fill(note, `${result.rows.length} rows${result.truncated ? ", cut" : ""}`);
  }

  const before = button("Earlier", () => showTable(from!.table, Math.max(0, from!.offset - page)), fault, { disabled: true });
  const next = button("Later", () => showTable(from!.table, from!.offset + page), fault, { disabled: true });
  const run = button("Run", async () => { await execute(statement.value); remember(statement.value); }, fault, { title: "Ctrl+Enter" });
  const plan = button("Plan", () => execute("EXPLAIN QUERY PLAN " + statement.value), fault);

  fill(main, h("div", { class: "bar" }, h("h1", {}, `Data of ${className}/`, h("span", { class: "mono" }, id.slice(0, 16) + "…")), h("a", { href: "#/objects" }, "All objects")),
    behind, tables, statement, h("div", { class: "bar" }, run, plan, history, h("span", { class: "fill" }), note, before, next), fault, out);
  remember("SELECT name, sql FROM sqlite_schema");
  statement.value = "SELECT name, sql FROM sqlite_schema";
  void (async () => {
    try {
      const found = await query("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name", 1000);
      if (signal.aborted) return;
      fill(tables, ...found.rows.map(([name]) => button(String(name), () => showTable(String(name), 0), fault)));
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
