import { get } from "./api";
import { tone, type Again, type Case } from "./chaos";
import { button, fill, h, message } from "./dom";
import { List } from "./list";
import { walk } from "./walk";

type Moment = { at_us: number; lane: string; text: string; times: number; border: boolean };
type Detail = {
  case: Case; text?: string; violations: string[]; kills: string[]; replay: string; confirm?: string; same_as?: string; dir?: string; log?: string;
  timeline: Moment[]; left_out: number;
};

const mostLanes = 8;
const at = (m: Moment): string => `${(m.at_us / 1000).toFixed(1)} ms`;

// story shows a case: what is wrong, how to run it again, and its timeline, in which one
// steps forwards and backwards.
export async function story(place: HTMLElement, chosen: Case, again: Again, fault: HTMLElement): Promise<void> {
  let d: Detail;
  try { d = await get<Detail>(`/v1/chaos/case?n=${chosen.number}`); } catch (error) { fill(fault, message(error)); return; }
  const command = (text: string) => h("div", { class: "bar" }, h("code", { class: "wide" }, text), button("Copy", () => navigator.clipboard.writeText(text), fault, { "aria-label": `Copy ${text}` }));
  fill(place,
    h("h2", { class: "mono" }, d.case.plan),
    h("p", {}, h("b", { class: tone[d.case.outcome] ?? "" }, d.case.outcome), d.case.cause && ` ${d.case.cause}`),
    ...d.violations.map(text => h("pre", {}, text)), d.text && h("pre", {}, d.text),
    command(d.replay),
    h("div", { class: "bar" }, button("Replay it here", () => again("replay", d.case), fault), d.case.outcome !== "passed" && button("Shrink it", () => again("shrink", d.case), fault)),
    d.same_as && h("p", { class: "note" }, "It leaves the same world as this one, which was run in its place: ", h("code", {}, d.same_as)),
    ...timeline(d),
    walk(d.case.number, fault),
    d.log && h("details", {}, h("summary", {}, "The end of the servers' log"), h("pre", { class: "answer", tabindex: 0, "aria-label": "Log" }, d.log)),
    d.confirm && h("p", { class: "note" }, "With real processes:"), d.confirm && command(d.confirm),
    d.dir && h("p", { class: "note" }, "Evidence: ", h("code", {}, d.dir)));
}

// timeline has a lane for each client and object, and the moment at which one stands.
function timeline(d: Detail): HTMLElement[] {
  if (d.timeline.length === 0) return [h("p", { class: "note" }, "There is no history of this run: its evidence was deleted.")];
  const count = new Map<string, number>();
  for (const m of d.timeline) if (m.lane) count.set(m.lane, (count.get(m.lane) ?? 0) + 1);
  const lanes = [...count.keys()].sort((a, b) => count.get(b)! - count.get(a)!).slice(0, mostLanes);
  const here = h("output", { class: "mono moment", "aria-live": "polite" });
  let now = 0;
  const rows = d.timeline.map((m, i) => ({ ...m, i }));
  type Row = typeof rows[number];
  const dots = (m: Row): Node => h("span", { class: "lanes" + (m.border ? " bad" : "") }, ...lanes.map(name => h("span", { class: m.border || name === m.lane ? "lane hit" : "lane", title: name })));
  const list = new List<Row>("Timeline of the case", [
    { title: "Time", width: "6.5rem", show: at },
    { title: "Lanes", width: `${Math.max(3, lanes.length) * 16 + 20}px`, show: dots },
    { title: "Where", minor: true, width: "9rem", show: m => h("span", { title: m.lane }, m.lane) },
    { title: "What", show: m => h("span", { class: m.border ? "bad" : "", title: m.text }, m.text.slice(0, 300) + (m.times > 1 ? ` × ${m.times}` : "")) },
  ], m => stand(m), (a, b) => a.i === b.i);

  function stand(m: Row): void {
    now = m.i;
    fill(here, `${now + 1} of ${rows.length}, ${at(m)}  ${m.lane || "everything"}\n${m.text}${m.times > 1 ? ` × ${m.times}` : ""}`);
  }
  const border = (by: number) => () => {
    for (let i = now + by; i >= 0 && i < rows.length; i += by) if (rows[i]!.border) { list.pick(i); return; }
  };
  const step = (text: string, title: string, act: () => void) => h("button", { type: "button", title, "aria-label": title, click: act }, text);
  const bar = h("div", { class: "bar" }, step("« Death", "To the death or start before", border(-1)), step("◀ Back", "One moment back", () => list.pick(now - 1)),
    step("Forward ▶", "One moment forward", () => list.pick(now + 1)), step("Death »", "To the next death or start", border(1)),
    h("span", { class: "note" }, `Lanes: ${lanes.join(", ")}${d.left_out ? `; ${d.left_out} moments in the middle are left out` : ""}`));
  list.set(rows);
  requestAnimationFrame(() => list.pick(Math.max(0, rows.findIndex(m => m.border)))); // once it has a height
  return [bar, here, list.element];
}
