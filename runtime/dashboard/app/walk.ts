import { post } from "./api";
import { button, fill, h } from "./dom";

type Moment = { events: string[]; objects: string[]; timers: string[]; waiting: string[]; rows: string[] };
type Walk = { moments: Moment[]; truncated: boolean };

// walk replays a case in a simulation, and shows how everything is at each event: one
// steps forwards and backwards, and sees what is new (+). SQL is asked at each of them.
export function walk(number: number, fault: HTMLElement): HTMLElement {
  const sql = h("input", { class: "mono wide", "aria-label": "SQL, asked of an object at each event", placeholder: "Class/name SELECT * FROM table", keydown: (e: KeyboardEvent) => { if (e.key === "Enter") go.click(); } });
  const place = h("div", { class: "walk" });
  let now = 0;
  const go = button("Walk through it", async () => {
    fill(place, h("p", { class: "note", role: "status" }, "Replaying..."));
    try { show(await post<Walk>("/v1/chaos/walk", { case: number, sql: sql.value })); } catch (error) { fill(place); throw error; }
  }, fault, { title: "Replays it in a simulation and stops at each event" });

  function show({ moments, truncated }: Walk): void {
    const where = h("output", { class: "mono" });
    const events = h("pre", { class: "moment", tabindex: 0, "aria-label": "What happened", "aria-live": "polite" }), panes = h("div", { class: "panes" });
    const slider = h("input", { type: "range", min: 0, max: moments.length - 1, class: "wide", "aria-label": "Moment of the replay", input: () => stand(Number(slider.value)) });
    const pane = (title: string, of: (m: Moment) => string[]): HTMLElement | false => {
      const lines = of(moments[now]!), before = new Set(now > 0 ? of(moments[now - 1]!) : []);
      return lines.length > 0 && h("section", {}, h("h2", {}, title), h("pre", { tabindex: 0, "aria-label": title }, ...lines.map(line => before.has(line) ? `  ${line}\n` : h("span", { class: "accent" }, `+ ${line}\n`))));
    };
    function stand(to: number): void {
      now = Math.max(0, Math.min(moments.length - 1, to));
      const m = moments[now]!;
      slider.value = String(now);
      fill(where, `${now + 1} of ${moments.length}${truncated ? ", and it goes on" : ""}`);
      fill(events, ...m.events.map(line => h("span", { class: / killed /.test(` ${line} `) ? "bad" : "" }, line + "\n")));
      fill(panes, pane("Objects", x => x.objects), pane("Timers and alarms", x => x.timers), pane("Who waits", x => x.waiting), pane("Rows", x => x.rows));
    }
    const step = (text: string, by: number) => h("button", { type: "button", click: () => stand(now + by) }, text);
    fill(place, h("div", { class: "bar past" }, step("◀ Event", -1), slider, step("Event ▶", 1), where), events, panes);
    stand(0);
  }
  return h("section", {}, h("h2", {}, "Walk"), h("div", { class: "bar" }, go, sql), place);
}
