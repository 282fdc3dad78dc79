import { post } from "./api";
import { cell } from "./data";
import { button, fill, h, message, time } from "./dom";

type Moment = { bookmark: string; at_ms: number };
type Changes = {
  name: string; change: "rows" | "created" | "dropped" | "altered"; columns: string[];
  added: unknown[][]; removed: unknown[][]; changed: { before: unknown[]; after: unknown[] }[]; truncated: boolean;
};

const day = (ms: number): string => `${new Date(ms).toLocaleDateString()} ${time(ms)}`;
const whole = { created: "The table is new.", dropped: "The table is gone.", altered: "Its definition changed; its rows are not compared." };

// changes shows what differs in each table: rows that came, went, or were and are.
function changes(tables: Changes[]): HTMLElement {
  const row = (kind: string, sign: string, values: unknown[], other?: unknown[]) =>
    h("tr", { class: kind }, h("td", {}, sign), ...values.map((v, i) => h("td", { class: other && JSON.stringify(other[i]) === JSON.stringify(v) ? "faint" : "" }, cell(v))));
  return h("div", { class: "changes" }, tables.length === 0 && h("p", { class: "note" }, "Nothing differs."), ...tables.map(t => h("section", {},
    h("h2", { class: "mono" }, t.name),
    t.change !== "rows" ? h("p", { class: "note" }, whole[t.change]) : h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Change"), ...t.columns.map(c => h("th", { scope: "col" }, c)))),
      h("tbody", { class: "mono" },
        ...t.removed.map(r => row("bad", "removed", r)), ...t.added.map(r => row("good", "added", r)),
        ...t.changed.flatMap(c => [row("bad", "before", c.before, c.after), row("good", "after", c.after, c.before)]))),
    t.truncated && h("p", { class: "note" }, "There are more rows than are listed."))));
}

// past is a bar with a slider over the states that an object has had. see shows the
// one that was chosen ("" is the present), show a difference in place of rows.
export function past(className: string, id: string, facet: string[], fault: HTMLElement, see: (bookmark: string) => Promise<void>, show: (what: Promise<HTMLElement>) => Promise<void>): HTMLElement {
  const object = { class: className, object: id, ...(facet.length > 0 ? { facet } : {}) };
  const when = h("output", { class: "mono" });
  const slider = h("input", { type: "range", min: 0, "aria-label": "Moment of the object's past", class: "wide", input: () => { label(); void choose(); } });
  let moments: Moment[] = [];
  let marked: number | undefined; // the moment that others are compared with; the present without one
  let sure = false;
  let choosing: Promise<void> | undefined; // until the rows of the chosen moment are shown
  const at = () => moments[Number(slider.value)]!;
  const present = () => Number(slider.value) === moments.length - 1;

  function label(): void {
    const text = present() ? "the present" : day(at().at_ms);
    slider.setAttribute("aria-valuetext", text);
    fill(when, `${text} (${Number(slider.value) + 1} of ${moments.length})`);
    fill(restore, "Restore");
    sure = false;
    restore.disabled = present();
    difference.disabled = Number(slider.value) === (marked ?? moments.length - 1);
    fill(difference, marked === undefined ? "Difference to the present" : `Difference to moment ${marked + 1}`);
    fill(mark, marked === Number(slider.value) ? "Unmark" : "Mark");
  }

  // choose shows where the slider is; what it passes while one is being read is left out.
  function choose(): Promise<void> {
    return choosing ??= follow().catch(error => fill(fault, message(error))).finally(() => { choosing = undefined; });
  }
  async function follow(): Promise<void> {
    fill(fault);
    for (let shown = ""; shown !== slider.value;) {
      shown = slider.value;
      await see(present() ? "" : at().bookmark);
    }
  }

  async function load(): Promise<void> {
    moments = (await post<{ moments: Moment[] }>("/v1/moments", object)).moments;
    slider.max = String(moments.length - 1);
    slider.value = slider.max;
    marked = undefined;
    fill(bar, slider, when, mark, difference, restore, again);
    label();
    await choose();
  }

  const mark = button("Mark", () => { marked = marked === Number(slider.value) ? undefined : Number(slider.value); label(); }, fault, { title: "Other moments are compared with this one" });
  const difference = button("Difference to the present", async () => {
    await choosing; // or the moment's rows would come in the difference's place
    const [from, to] = [Number(slider.value), marked ?? moments.length - 1].sort((a, b) => a - b);
    const compared = post<{ tables: Changes[] }>("/v1/difference", { ...object, from: moments[from!]!.bookmark, to: moments[to!]!.bookmark });
    await show(compared.then(({ tables }) => changes(tables)));
  }, fault);
  const restore = button("Restore", async () => {
    if (!sure) {
      sure = true;
      fill(restore, "Replace the present state");
      return;
    }
    await post("/v1/restore", { ...object, bookmark: at().bookmark });
    if (facet.length === 0) await load();
    else fill(bar, h("span", { class: "note", role: "status" }, "The object was evicted. The facet begins with this state when it runs again."));
  }, fault, { title: "The object is evicted and begins again with this state" });
  const again = button("Look again", load, fault, { title: "What was committed since" });
  const bar = h("div", { class: "bar past" }, button("Show its past", load, fault, { title: "Starts the object if it is not in memory" }));
  return bar;
}
