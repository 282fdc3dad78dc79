import type { Result } from "./api";
import { cell } from "./data";
import { button, bytes, fill, h, message } from "./dom";
import { quoted, rowsOf, type Base } from "./edit";
import { ask, part, raw } from "./explorer";
import { queue, queuesOf, workflow } from "./flows";
import { List } from "./list";

type Store = { kind: "KV" | "D1" | "R2" | "Queue" | "Workflow"; id: string; title: string };

// stores is the page of what bindings store: KV, D1, R2, queues and Workflows.
export function stores(main: HTMLElement, signal: AbortSignal, kind: string, id: string): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const tabs = h("div", { class: "bar" });
  const place = h("div", { class: "place" });
  fill(main, h("h1", {}, "Stores"), tabs, fault, place);
  void (async () => {
    try {
      const [kv, d1, r2, flows, queues] = await Promise.all([
        ask<{ id: string; title: string }[]>("GET", "/storage/kv/namespaces"), ask<{ uuid: string; name: string }[]>("GET", "/d1/database"),
        ask<{ buckets: { name: string }[] }>("GET", "/r2/buckets"), ask<{ name: string }[]>("GET", "/workflows"), queuesOf(),
      ]);
      const all: Store[] = [
        ...kv.result.map(n => ({ kind: "KV" as const, id: n.id, title: n.title })), ...d1.result.map(d => ({ kind: "D1" as const, id: d.uuid, title: d.name })),
        ...r2.result.buckets.map(b => ({ kind: "R2" as const, id: b.name, title: b.name })),
        ...queues.map(q => ({ kind: "Queue" as const, id: q.name, title: q.name })), ...flows.result.map(w => ({ kind: "Workflow" as const, id: w.name, title: w.name })),
      ];
      if (signal.aborted) return;
      const chosen = all.find(s => s.kind === kind && s.id === id) ?? all[0];
      fill(tabs, ...all.map(s => h("a", { class: "tab", href: `#/stores/${s.kind}/${part(s.id)}`, "aria-current": s === chosen && "page" }, h("span", { class: "faint" }, s.kind + " "), s.title)),
        all.length === 0 && h("p", { class: "note" }, "The workers have no KV, D1, R2, queue or Workflow bindings."));
      if (!chosen) return;
      if (chosen.kind === "D1") database(place, chosen.id);
      else if (chosen.kind === "Workflow") workflow(place, signal, chosen.id);
      else if (chosen.kind === "Queue") queue(place, signal, chosen.id);
      else keys(place, chosen, fault);
    } catch (error) { fill(fault, message(error)); }
  })();
}

type Key = { name: string; note: string; expiration?: number; metadata?: unknown };

// until is a moment as a field of the type datetime-local has it.
const until = (s: number): string => { const d = new Date(s * 1000); return new Date(d.getTime() - d.getTimezoneOffset() * 60000).toISOString().slice(0, 19); };

// keys is a KV namespace or an R2 bucket: what it has, by prefix, and the value chosen.
function keys(place: HTMLElement, store: Store, fault: HTMLElement): void {
  const base = store.kind === "KV" ? `/storage/kv/namespaces/${part(store.id)}` : `/r2/buckets/${part(store.id)}`;
  const at = (key: string) => base + (store.kind === "KV" ? "/values/" : "/objects/") + part(key);
  const prefix = h("input", { type: "search", placeholder: "Prefix", "aria-label": "Keys that begin with", change: () => void load("") });
  const name = h("input", { class: "mono wide", "aria-label": "Key" });
  const value = h("textarea", { class: "mono tall", "aria-label": "Value", spellcheck: false });
  const expires = h("input", { type: "datetime-local", step: 1, "aria-label": "Expires" }), metadata = h("input", { class: "mono wide", "aria-label": "Metadata, as JSON", placeholder: "none" });
  const facts = h("p", { class: "note mono", role: "status" });
  let all: Key[] = [], cursor = "";
  const list = new List<Key>("Keys", [{ title: "Key", show: k => h("span", { title: k.name }, k.name) }, { title: "", width: "12rem", show: k => k.note }], k => void show(k), (a, b) => a.name === b.name);
  const guarded = (work: () => Promise<void>) => async () => { fill(fault); try { await work(); } catch (error) { fill(fault, message(error)); } };

  async function load(from: string): Promise<void> {
    await guarded(async () => {
      const query = `?prefix=${part(prefix.value)}${from && `&cursor=${part(from)}`}`;
      const page = store.kind === "KV"
        ? await ask<{ name: string; expiration?: number; metadata?: unknown }[]>("GET", `${base}/keys${query}`)
        : await ask<{ key: string; size: number; last_modified: string }[]>("GET", `${base}/objects${query}`);
      const found = page.result.map(k => "key" in k ? { name: k.key, note: bytes(k.size) }
        : { ...k, note: (k.expiration ? `until ${new Date(k.expiration * 1000).toISOString().slice(0, 19)} ` : "") + (k.metadata === undefined ? "" : JSON.stringify(k.metadata)) });
      all = from ? [...all, ...found] : found;
      cursor = page.result_info?.cursor ?? "";
      more.disabled = cursor === "";
      list.set(all);
    })();
  }
  async function show(k: Key): Promise<void> {
    await guarded(async () => {
      const answer = await raw("GET", at(k.name));
      name.value = k.name;
      expires.value = k.expiration ? until(k.expiration) : "";
      metadata.value = k.metadata === undefined ? "" : JSON.stringify(k.metadata);
      value.value = answer.text;
      value.disabled = put.disabled = answer.base64 !== undefined;
      fill(facts, answer.base64 !== undefined ? "This value is not text, and is not edited here." : answer.headers.filter(([n]) => /etag|content-type|x-r2/i.test(n)).map(([n, v]) => `${n}: ${v}`).join("  "));
    })();
  }
  const more = button("More", () => load(cursor), fault, { disabled: true });
  const put = button("Put", async () => {
    if (!name.value) throw new Error("Write a key first.");
    if (store.kind === "R2") await raw("PUT", at(name.value), value.value, [["content-type", "text/plain"]]);
    else {
      let noted: unknown;
      try { noted = metadata.value.trim() === "" ? undefined : JSON.parse(metadata.value); } catch { throw new Error("The metadata is not JSON."); }
      const expiration = expires.value ? Math.floor(new Date(expires.value).getTime() / 1000) : undefined;
      await ask("PUT", base + "/bulk", [{ key: name.value, value: value.value, expiration, metadata: noted }]);
    }
    await load("");
    fill(facts, h("span", { class: "good" }, "Stored."));
  }, fault, { title: "Stores the value under the key" });
  const remove = button("Delete", async () => {
    await raw("DELETE", at(name.value));
    await load("");
    name.value = value.value = expires.value = metadata.value = "";
    fill(facts, "Deleted.");
  }, fault);
  fill(place, h("div", { class: "split" }, h("div", { class: "place" }, h("div", { class: "bar" }, prefix, more), list.element),
    h("div", { class: "card place" }, name, value, store.kind === "KV" && h("div", { class: "bar" }, h("label", {}, "Expires ", expires), h("label", { class: "wide bar" }, "Metadata ", metadata)), h("div", { class: "bar" }, put, remove, button("New", () => { name.value = value.value = expires.value = metadata.value = ""; value.disabled = put.disabled = false; fill(facts); name.focus(); }, fault)), facts)));
  void load("");
}

type Rows = { results: { columns: string[]; rows: unknown[][] }; meta: { changes: number; rows_read: number; rows_written: number; duration: number } };

const page = 100;

// database is a D1 database: its tables, whose rows are edited, and SQL that reads and
// writes, as the worker's own does.
function database(place: HTMLElement, id: string): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const sql = h("textarea", { "aria-label": "SQL", spellcheck: false, keydown: (e: KeyboardEvent) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run.click(); } });
  const out = h("div", { class: "tables", tabindex: 0, "aria-label": "Rows" });
  const note = h("span", { class: "note", role: "status" });
  const tables = h("div", { class: "bar" }), bar = h("div", { class: "bar" });
  const rows = async (statement: string) => (await ask<Rows[]>("POST", `/d1/database/${part(id)}/raw`, { sql: statement })).result.at(-1)!;
  // D1 writes bytes as numbers.
  const plain = (v: unknown) => Array.isArray(v) ? { base64: btoa(String.fromCharCode(...v)) } : v;
  const result = async (statement: string): Promise<Result> => {
    const { columns, rows: found } = (await rows(statement)).results;
    return { columns, rows: found.map(row => row.map(plain)), truncated: false };
  };
  const base: Base = { read: result, write: result };
  let offset = 0, table = "";
  const turn = (by: number) => () => show(table, offset + by);
  const before = button("Earlier", turn(-page), fault, { disabled: true }), next = button("Later", turn(page), fault, { disabled: true });

  async function show(name: string, from: number): Promise<void> {
    [table, offset] = [name, from];
    for (const b of tables.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.textContent === name));
    sql.value = `SELECT * FROM ${quoted(name)} LIMIT ${page} OFFSET ${from}`;
    const again = (what: string) => { show(name, from).then(() => fill(note, h("span", { class: "good" }, what)), error => fill(fault, message(error))); };
    const found = await rowsOf(base, name, page, from, true, cell, again);
    fill(out, found.table);
    fill(bar, ...found.bar);
    fill(note, found.count === 0 ? "no rows" : `rows ${from + 1}–${from + found.count}`);
    before.disabled = from === 0;
    next.disabled = found.count < page;
  }
  const run = button("Run", async () => {
    const last = await rows(sql.value);
    fill(note, `${last.results.rows.length} rows, ${last.meta.rows_read} read, ${last.meta.rows_written} written`);
    fill(bar);
    before.disabled = next.disabled = true;
    fill(out, h("table", {}, h("thead", {}, h("tr", {}, ...last.results.columns.map(c => h("th", { scope: "col" }, c)))),
      h("tbody", { class: "mono" }, ...last.results.rows.slice(0, 1000).map(row => h("tr", {}, ...row.map(v => h("td", {}, cell(plain(v)))))))));
    await list();
  }, fault, { title: "Ctrl+Enter" });
  async function list(): Promise<void> {
    const names = (await rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")).results.rows;
    fill(tables, ...names.map(([name]) => button(String(name), () => show(String(name), 0), fault)));
  }
  sql.value = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
  fill(place, tables, sql, h("div", { class: "bar" }, run, h("span", { class: "fill" }), note, before, next), bar, fault, out);
  run.click();
}
