import type { Result } from "./api";
import { button, fill, h, message } from "./dom";

// Base is a database whose rows can be edited: an object's, or one of D1.
export type Base = {
  read(sql: string, limit: number): Promise<Result>;
  write(sql: string): Promise<Result>;
};

// Way is how a table's rows are told apart, and which columns may be written; a text
// says why they are not edited.
export type Way = { keys: string[]; fixed: Set<string> };

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const text = (s: string): string => `'${s.replaceAll("'", "''")}'`;

// wayOf asks what a table is. Rows are written by their primary key or rowid alone.
export async function wayOf(base: Base, table: string): Promise<Way | string> {
  const kinds = (await base.read(`SELECT type, wr FROM pragma_table_list WHERE name = ${text(table)} AND schema = 'main'`, 1)).rows[0];
  if (!kinds) return "SQLite does not list it as a table.";
  const [kind, without] = kinds;
  if (kind !== "table") return `Its rows are not edited: it is a ${kind} table.`.replace("view table", "view");
  if (/^(_cf_|sqlite_|d1_)/i.test(table)) return "Its rows are the platform's own.";
  const columns = (await base.read(`SELECT name, pk, hidden FROM pragma_table_xinfo(${text(table)})`, 2000)).rows as [string, number, number][];
  const fixed = new Set(columns.filter(c => c[2] !== 0).map(c => c[0]));
  if (without) return { keys: columns.filter(c => c[1] > 0).sort((a, b) => a[1] - b[1]).map(c => c[0]), fixed };
  const names = new Set(columns.map(c => c[0].toLowerCase()));
  const rowid = ["rowid", "_rowid_", "oid"].find(name => !names.has(name));
  return rowid ? { keys: [rowid], fixed } : "Its columns hide every name of the rowid.";
}

type Kind = "null" | "number" | "text" | "base64";
const kindOf = (v: unknown): Kind => v === null ? "null" : typeof v === "number" ? "number" : typeof v === "object" && v !== null ? ("int64" in v ? "number" : "base64") : "text";
const shown = (v: unknown): string => v === null ? "" : typeof v === "object" ? (v as any).int64 ?? (v as any).base64 : String(v);

// literal is a value as SQL has it.
function literal(kind: Kind, value: string): string {
  switch (kind) {
    case "null": return "NULL";
    case "number":
      if (!/^\s*[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?\s*$/i.test(value)) throw new Error(`${JSON.stringify(value)} is no number`);
      return value.trim();
    case "base64": {
      let bytes: string;
      try { bytes = atob(value.trim()); } catch { throw new Error("This is not base64."); }
      return `X'${[...bytes].map(c => c.charCodeAt(0).toString(16).padStart(2, "0")).join("")}'`;
    }
    case "text":
      if (value.includes("\0")) throw new Error("Text with a NUL character is not edited here.");
      return text(value);
  }
}
const same = (v: unknown): string => literal(kindOf(v), shown(v));

// ask shows a dialog, until it is closed or done says that it may be.
export function ask(title: string, body: Node[], actions: (close: () => void, fault: HTMLElement) => Node[]): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const dialog = h("dialog", { "aria-label": title });
  const close = () => dialog.close();
  dialog.addEventListener("close", () => dialog.remove());
  fill(dialog, h("h2", {}, title), ...body, fault, h("div", { class: "bar" }, ...actions(close, fault), h("button", { type: "button", click: close }, "Cancel")));
  document.body.append(dialog);
  dialog.showModal();
}

const longest = 100_000;

// editRow opens the fields of a row; undefined is a new one. done is told what happened.
export function editRow(base: Base, table: string, way: Way, columns: string[], row: { keys: unknown[]; values: unknown[] } | undefined, done: (what: string) => void): void {
  const fields = columns.map((name, i) => {
    const value = row?.values[i] ?? null;
    const before = row ? kindOf(value) : "default";
    const kinds = [...(row ? [] : ["default"]), "text", "number", "null", "base64"];
    const kind = h("select", { "aria-label": `Type of ${name}` }, ...kinds.map(k => h("option", { value: k, selected: k === before }, k)));
    const field = h("textarea", { "aria-label": name, rows: 1, spellcheck: false, class: "mono", input: () => { if (kind.value === "default" || kind.value === "null") kind.value = "text"; } });
    field.value = shown(value);
    if (way.fixed.has(name) || field.value.length > longest) field.disabled = kind.disabled = true;
    return { name, kind, field, value, changed: () => !kind.disabled && (kind.value !== before || (kind.value !== "null" && kind.value !== "default" && field.value !== shown(value))) };
  });
  const where = row && way.keys.map((k, i) => `${quoted(k)} IS ${same(row.keys[i])}`);
  const written = async (sql: string, what: string, close: () => void) => {
    if (row?.keys.some(k => typeof k === "number" && !Number.isSafeInteger(k) && Number.isInteger(k))) throw new Error("The row's key is too large for this page: write it with SQL.");
    const result = await base.write(sql);
    if (result.rows.length === 0) throw new Error("The row is not as it was shown any more: look at it again.");
    close();
    done(what);
  };
  ask(row ? `Edit a row of ${table}` : `A new row of ${table}`, [h("div", { class: "grid" }, ...fields.flatMap(f => [h("label", {}, f.name), f.kind, f.field]))], (close, fault) => [
    button(row ? "Save" : "Insert", async () => {
      const changed = fields.filter(f => f.changed());
      if (row && changed.length === 0) { close(); return; }
      const values = changed.map(f => literal(f.kind.value as Kind, f.field.value));
      if (row) {
        await written(`UPDATE ${quoted(table)} SET ${changed.map((f, i) => `${quoted(f.name)} = ${values[i]}`).join(", ")} WHERE ${[...where!, ...changed.map(f => `${quoted(f.name)} IS ${same(f.value)}`)].join(" AND ")} RETURNING 1`, "The row is saved.", close);
      } else {
        await written(changed.length === 0 ? `INSERT INTO ${quoted(table)} DEFAULT VALUES RETURNING 1`
          : `INSERT INTO ${quoted(table)} (${changed.map(f => quoted(f.name)).join(", ")}) VALUES (${values.join(", ")}) RETURNING 1`, "The row is inserted.", close);
      }
    }, fault, { class: "main" }),
    row ? button("Delete the row", () => written(`DELETE FROM ${quoted(table)} WHERE ${where!.join(" AND ")} RETURNING 1`, "The row is deleted.", close), fault) : "",
  ].filter(n => n !== "") as Node[]);
}

// Rows are a page of a table with a button to edit each; note says why there is none.
export async function rowsOf(base: Base, name: string, limit: number, offset: number, editable: boolean, cell: (v: unknown) => Node, again: (what: string) => void): Promise<{ table: HTMLElement; count: number; bar: Node[] }> {
  const why = editable ? await wayOf(base, name).catch(error => message(error)) : "The past is not edited: restore it, and edit the present.";
  const way = typeof why === "string" ? undefined : why;
  const keys = way?.keys ?? [];
  const result = await base.read(`SELECT ${keys.map(k => quoted(k) + ", ").join("")}* FROM ${quoted(name)} LIMIT ${limit} OFFSET ${offset}`, limit);
  const columns = result.columns.slice(keys.length);
  const edit = (row: unknown[]) => h("button", {
    type: "button", class: "small", "aria-label": `Edit the row ${keys.map((k, i) => `${k} ${shown(row[i])}`).join(", ")}`,
    click: () => editRow(base, name, way!, columns, { keys: row.slice(0, keys.length), values: row.slice(keys.length) }, again),
  }, "Edit");
  return {
    table: h("table", {}, h("thead", {}, h("tr", {}, way && h("th", {}, h("span", { class: "hidden" }, "Edit")), ...columns.map(c => h("th", { scope: "col" }, c)))),
      h("tbody", { class: "mono" }, ...result.rows.map(row => h("tr", {}, way && h("td", {}, edit(row)), ...row.slice(keys.length).map(v => h("td", {}, cell(v))))))),
    count: result.rows.length,
    bar: way ? [h("button", { type: "button", click: () => editRow(base, name, way, columns, undefined, again) }, "Insert a row")] : [h("span", { class: "note" }, why as string)],
  };
}
