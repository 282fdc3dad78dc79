import { post } from "./api";
import { button, bytes, fill, h, message } from "./dom";
import { List } from "./list";

type Answer = { status: number; headers: [string, string][]; text: string; base64?: string };
type Envelope<T> = { success: boolean; errors: { message: string }[]; result: T; result_info?: { cursor?: string } };

// ask asks the explorer API of the worker's listener (docs/compatibility.md, local explorer).
async function raw(method: string, path: string, body = "", headers: [string, string][] = []): Promise<Answer> {
  const answer = await post<Answer>("/v1/request", { method, path: "/cdn-cgi/local/explorer/api" + path, headers, body });
  if (answer.status >= 400) {
    let text = answer.text;
    try { text = JSON.parse(text).errors[0].message; } catch { /* it is no envelope: the text says it */ }
    throw new Error(text);
  }
  return answer;
}
async function ask<T>(method: string, path: string, body?: unknown): Promise<Envelope<T>> {
  return JSON.parse((await raw(method, path, body === undefined ? "" : JSON.stringify(body), body === undefined ? [] : [["content-type", "application/json"]])).text);
}
const part = encodeURIComponent;

type Store = { kind: "KV" | "D1" | "R2" | "Workflow"; id: string; title: string };

// stores is the page of what bindings store: KV, D1, R2, and Workflows.
export function stores(main: HTMLElement, signal: AbortSignal, kind: string, id: string): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const tabs = h("div", { class: "bar" });
  const place = h("div", { class: "place" });
  fill(main, h("h1", {}, "Stores"), tabs, fault, place);
  void (async () => {
    try {
      const [kv, d1, r2, flows] = await Promise.all([
        ask<{ id: string; title: string }[]>("GET", "/storage/kv/namespaces"), ask<{ uuid: string; name: string }[]>("GET", "/d1/database"),
        ask<{ buckets: { name: string }[] }>("GET", "/r2/buckets"), ask<{ name: string }[]>("GET", "/workflows"),
      ]);
      const all: Store[] = [
        ...kv.result.map(n => ({ kind: "KV" as const, id: n.id, title: n.title })), ...d1.result.map(d => ({ kind: "D1" as const, id: d.uuid, title: d.name })),
        ...r2.result.buckets.map(b => ({ kind: "R2" as const, id: b.name, title: b.name })), ...flows.result.map(w => ({ kind: "Workflow" as const, id: w.name, title: w.name })),
      ];
      if (signal.aborted) return;
      const chosen = all.find(s => s.kind === kind && s.id === id) ?? all[0];
      fill(tabs, ...all.map(s => h("a", { class: "tab", href: `#/stores/${s.kind}/${part(s.id)}`, "aria-current": s === chosen && "page" }, h("span", { class: "faint" }, s.kind + " "), s.title)),
        all.length === 0 && h("p", { class: "note" }, "The workers have no KV, D1, R2 or Workflow bindings. Queues are among the objects."));
      if (!chosen) return;
      if (chosen.kind === "D1") database(place, chosen.id);
      else if (chosen.kind === "Workflow") workflow(place, chosen.id);
      else keys(place, chosen, fault);
    } catch (error) { fill(fault, message(error)); }
  })();
}

type Key = { name: string; note: string };

// keys is a KV namespace or an R2 bucket: what it has, by prefix, and the value chosen.
function keys(place: HTMLElement, store: Store, fault: HTMLElement): void {
  const base = store.kind === "KV" ? `/storage/kv/namespaces/${part(store.id)}` : `/r2/buckets/${part(store.id)}`;
  const at = (key: string) => base + (store.kind === "KV" ? "/values/" : "/objects/") + part(key);
  const prefix = h("input", { type: "search", placeholder: "Prefix", "aria-label": "Keys that begin with", change: () => void load("") });
  const name = h("input", { class: "mono wide", "aria-label": "Key" });
  const value = h("textarea", { class: "mono tall", "aria-label": "Value", spellcheck: false });
  const facts = h("p", { class: "note mono", role: "status" });
  let all: Key[] = [], cursor = "";
  const list = new List<Key>("Keys", [{ title: "Key", show: k => h("span", { title: k.name }, k.name) }, { title: "", width: "12rem", show: k => k.note }], k => void show(k.name), (a, b) => a.name === b.name);
  const guarded = (work: () => Promise<void>) => async () => { fill(fault); try { await work(); } catch (error) { fill(fault, message(error)); } };

  async function load(from: string): Promise<void> {
    await guarded(async () => {
      const query = `?prefix=${part(prefix.value)}${from && `&cursor=${part(from)}`}`;
      const page = store.kind === "KV"
        ? await ask<{ name: string; expiration?: number; metadata?: unknown }[]>("GET", `${base}/keys${query}`)
        : await ask<{ key: string; size: number; last_modified: string }[]>("GET", `${base}/objects${query}`);
      const found = page.result.map(k => "key" in k ? { name: k.key, note: bytes(k.size) }
        : { name: k.name, note: (k.expiration ? `until ${new Date(k.expiration * 1000).toISOString().slice(0, 19)} ` : "") + (k.metadata === undefined ? "" : JSON.stringify(k.metadata)) });
      all = from ? [...all, ...found] : found;
      cursor = page.result_info?.cursor ?? "";
      more.disabled = cursor === "";
      list.set(all);
    })();
  }
  async function show(key: string): Promise<void> {
    await guarded(async () => {
      const answer = await raw("GET", at(key));
      name.value = key;
      value.value = answer.text;
      value.disabled = put.disabled = answer.base64 !== undefined;
      fill(facts, answer.base64 !== undefined ? "This value is not text, and is not edited here." : answer.headers.filter(([n]) => /etag|content-type|x-r2/i.test(n)).map(([n, v]) => `${n}: ${v}`).join("  "));
    })();
  }
  const more = button("More", () => load(cursor), fault, { disabled: true });
  const put = button("Put", async () => {
    if (!name.value) throw new Error("Write a key first.");
    await raw("PUT", at(name.value), value.value, store.kind === "R2" ? [["content-type", "text/plain"]] : []);
    await load("");
    fill(facts, h("span", { class: "good" }, "Stored."));
  }, fault, { title: "Stores the value under the key; its metadata and expiration go" });
  const remove = button("Delete", async () => {
    await raw("DELETE", at(name.value));
    await load("");
    name.value = value.value = "";
    fill(facts, "Deleted.");
  }, fault);
  fill(place, h("div", { class: "split" }, h("div", { class: "place" }, h("div", { class: "bar" }, prefix, more), list.element),
    h("div", { class: "card place" }, name, value, h("div", { class: "bar" }, put, remove, button("New", () => { name.value = value.value = ""; value.disabled = put.disabled = false; fill(facts); name.focus(); }, fault)), facts)));
  void load("");
}

type Rows = { results: { columns: string[]; rows: unknown[][] }; meta: { changes: number; rows_read: number; rows_written: number; duration: number } };

// database is a D1 database: SQL that reads and writes, as the worker's own does.
function database(place: HTMLElement, id: string): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const sql = h("textarea", { "aria-label": "SQL", spellcheck: false, keydown: (e: KeyboardEvent) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run.click(); } });
  const out = h("div", { class: "tables", tabindex: 0, "aria-label": "Rows" });
  const note = h("span", { class: "note", role: "status" });
  const run = button("Run", async () => {
    const all = (await ask<Rows[]>("POST", `/d1/database/${part(id)}/raw`, { sql: sql.value })).result;
    const last = all[all.length - 1]!;
    fill(note, `${last.results.rows.length} rows, ${last.meta.rows_read} read, ${last.meta.rows_written} written`);
    fill(out, h("table", {}, h("thead", {}, h("tr", {}, ...last.results.columns.map(c => h("th", { scope: "col" }, c)))),
      h("tbody", { class: "mono" }, ...last.results.rows.slice(0, 1000).map(row => h("tr", {}, ...row.map(v => h("td", {}, v === null ? h("span", { class: "faint" }, "NULL") : String(v).slice(0, 400))))))));
  }, fault, { title: "Ctrl+Enter" });
  sql.value = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
  fill(place, sql, h("div", { class: "bar" }, run, note), fault, out);
  run.click();
}

// workflow is the instances of a Workflow. Each is an object: its steps are its rows.
function workflow(place: HTMLElement, name: string): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const list = new List<{ id: string; status: string; created_on: string }>("Instances", [
    { title: "Instance", show: i => i.id }, { title: "Status", width: "8rem", show: i => h("span", { class: i.status === "errored" ? "bad" : i.status === "complete" ? "good" : "warn" }, i.status) },
    { title: "Created", width: "15rem", show: i => i.created_on },
  ], () => undefined, (a, b) => a.id === b.id);
  const load = async () => list.set((await ask<{ id: string; status: string; created_on: string }[]>("GET", `/workflows/${part(name)}/instances?per_page=1000`)).result);
  fill(place, h("div", { class: "bar" }, button("Look again", load, fault), h("span", { class: "note" }, `An instance's steps are rows of its object, workflow-${name}, on the page of objects.`)), fault, list.element);
  load().catch(error => fill(fault, message(error)));
}
