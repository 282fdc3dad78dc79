import { follow, get, type Entry, type ObjectInfo } from "./api";
import { button, bytes, fill, h, message, span, time } from "./dom";
import { List } from "./list";
import { exchange, related, stack, statements } from "./record";

const kept = 20000; // entries in the page
const mostLanes = 12;

const levels = ["debug", "info", "log", "warn", "error"];
const answered = (e: Entry): boolean => e.kind === "request" || e.kind === "fetch";
// A request is as severe as its status.
const severity = (e: Entry): number => answered(e) ? (!e.status || e.status >= 500 ? 4 : e.status >= 400 ? 3 : 2) : levels.indexOf(e.level ?? "log");

const tone = (e: Entry): string =>
  answered(e) ? (!e.status || e.status >= 500 ? "bad" : e.status >= 400 ? "warn" : "good")
    : e.level === "error" ? "bad" : e.level === "warn" ? "warn" : e.kind === "point" && e.effect === "commit" ? "good" : "";

// Frames are in the lane of the other end.
const lane = (e: Entry): string =>
  e.kind === "frame" ? (e.out ? "upstreams" : "clients") : e.object ? e.object : e.kind === "fetch" ? "upstreams" : e.kind === "request" ? "clients" : e.kind === "event" ? "server" : "worker";

const many = (n: number | undefined, what: string): string => n ? `, ${n} ${what}${n > 1 ? "s" : ""}` : "";

function says(e: Entry): string {
  switch (e.kind) {
    case "request": return `${e.method} ${e.path} ${e.status} (${span(e.took_us! / 1000)})`;
    case "fetch": return `fetch ${e.method} ${e.path} ${e.status || e.text || "failed"} (${span((e.took_us ?? 0) / 1000)})`;
    case "point": return `${e.effect}:${e.side} /${e.cause}`;
    case "turn": return `turn of ${e.cause}: computed ${span(e.computed_us! / 1000)}, took ${span(e.took_us! / 1000)}${many((e.statements?.length ?? 0) + (e.unlisted ?? 0), "storage call")}${many(e.held, "output")}${e.held ? " held until its commit" : ""}`;
    case "sync": return `synced after ${span(e.took_us! / 1000)}${many(e.held, "output")}${e.held ? " let go" : ""}`;
    case "frame": return `${e.from === "worker" ? "←" : "→"} frame from the ${e.from}${e.object ? ` (${e.object})` : ""}, ${bytes(e.bytes ?? 0)}: ${e.text ?? "bytes"}`;
    default: return (e.text ?? "") + (e.where ? `  (${e.where})` : "");
  }
}

// dataOf goes to the data of "Class/name".
async function dataOf(label: string): Promise<void> {
  const { objects } = await get<{ objects: ObjectInfo[] }>("/v1/objects");
  const found = objects.find(o => `${o.class}/${o.name ?? o.id}` === label);
  if (!found) throw new Error(`${label} is not there any more.`);
  location.hash = `#/data/${encodeURIComponent(found.class)}/${found.id}`;
}

// lanesOf are clients and the stateless worker, the objects that were active last,
// upstreams and the server itself.
function lanesOf(entries: Entry[]): string[] {
  const found = new Set<string>(), fixed = ["clients", "worker", "upstreams", "server"];
  for (let i = entries.length - 1; i >= 0 && i >= entries.length - 1000 && found.size < mostLanes - fixed.length; i--) {
    const name = lane(entries[i]!);
    if (!fixed.includes(name)) found.add(name);
  }
  return ["clients", "worker", ...[...found].sort(), "upstreams", "server"];
}

// live is the page of what happens: lanes for clients, the worker and each object,
// or requests and logs alone.
export function live(main: HTMLElement, signal: AbortSignal, timeline: boolean): void {
  const fault = h("p", { class: "fault", role: "status" });
  const count = h("span", { class: "note" });
  const detail = h("div", { class: "card", "aria-label": "The chosen entry", tabindex: 0 }, "Choose an entry.");
  const search = h("input", { type: "search", placeholder: "Filter", "aria-label": "Show entries that contain", input: () => refresh() });
  const least = h("select", { "aria-label": "Least severe level", change: () => refresh() }, ...levels.map(level => h("option", level === "debug" ? { selected: true, value: level } : { value: level }, level === "debug" ? "all levels" : `from ${level}`)));
  const pause = h("button", { type: "button", "aria-pressed": "false", click: () => { frozen = frozen ? null : all.slice(); pause.setAttribute("aria-pressed", String(frozen !== null)); refresh(); } }, "Pause");
  const clear = h("button", { type: "button", click: () => { all = []; lost = arrived = 0; if (frozen) frozen = []; refresh(); } }, "Clear");
  const legend = h("div", { class: "bar note" });
  let all: Entry[] = [], lost = 0, waiting = false;
  let frozen: Entry[] | null = null, arrived = 0; // what is shown while the page is paused, and how many came since
  let lanes: string[] = [];

  const dots = (e: Entry): Node => h("span", { class: "lanes " + tone(e) }, ...lanes.map(name => h("span", { class: name === lane(e) ? "lane hit" : "lane", title: name })));
  const list = new List<Entry>(timeline ? "Timeline" : "Requests and logs", [
    { title: "Time", width: "8.5rem", show: e => time(e.at_ms) },
    ...(timeline ? [{ title: "Lanes", width: "calc(var(--lanes) * 16px + 20px)", show: dots }] : []),
    { title: "Where", minor: true, width: "9rem", show: (e: Entry) => h("span", { title: lane(e) }, lane(e)) },
    { title: "What", show: (e: Entry) => h("span", { class: tone(e) }, says(e).slice(0, 300).replaceAll("\n", " ⏎ ")) },
  ], e => choose(e), (a, b) => a.seq === b.seq);

  const turnsOf = (e: Entry): Entry[] => all.filter(t => t.kind === "turn" && (t.object ?? "") === (e.object ?? ""));
  const began = (turn: Entry): number => turn.at_ms - turn.took_us! / 1000 - 1;
  // turnOf is the turn in which an entry came: it is told of when it has ended.
  const turnOf = (e: Entry): Entry | undefined => {
    const turn = e.kind === "point" || e.kind === "log" ? turnsOf(e).find(t => t.seq > e.seq) : undefined;
    return turn && began(turn) <= e.at_ms ? turn : undefined;
  };
  // within are the entries of a turn: they came behind the turn before.
  const within = (turn: Entry): Entry[] => {
    const before = turnsOf(turn).findLast(t => t.seq < turn.seq)?.seq ?? 0;
    return all.filter(e => e.seq > before && e.seq < turn.seq && e.kind !== "turn" && e.kind !== "frame" && e.kind !== "sync" && (e.object ?? "") === (turn.object ?? "") && e.at_ms >= began(turn));
  };

  // choose shows an entry: an exchange with its bodies, a log with its stack, a turn with
  // what it has asked of storage, and what was logged and done in it.
  function choose(e: Entry): void {
    const around = (from: number, to: number) => related(all.filter(e => e.kind !== "request" && e.at_ms >= from && e.at_ms <= to + 1), says, tone, choose);
    if (answered(e) && e.record) return void exchange(detail, e.record, around);
    const turn = turnOf(e);
    fill(detail, e.kind === "request" && h("a", { href: `#/client/${encodeURIComponent(`${e.method} ${e.path}`)}` }, "Send it again"),
      h("pre", {}, `${new Date(e.at_ms).toISOString()}  ${lane(e)}  ${e.kind}${e.level ? " " + e.level : ""}\n\n${says(e)}`), e.stack && stack(e.stack),
      h("div", { class: "bar" }, e.object && button("Its data", () => dataOf(e.object!), fault), turn && button("Its turn", () => choose(turn), fault),
        e.kind === "frame" && e.record && h("a", { href: `#/sockets/${e.record}` }, "Its socket")),
      ...(e.kind === "turn" ? [...statements(e), h("h2", {}, "In this turn"), ...related(within(e), says, tone, choose)] : []));
  }

  function refresh(): void {
    if (waiting || signal.aborted) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const text = search.value.toLowerCase();
      const from = levels.indexOf(least.value);
      if (!frozen) arrived = 0;
      const shown = frozen ?? all;
      const rows = text || from > 0 ? shown.filter(e => (from === 0 || severity(e) >= from) && (lane(e) + " " + says(e)).toLowerCase().includes(text)) : shown;
      list.set(rows, true);
      fill(count, `${rows.length} entries${arrived ? `, ${arrived} more have come` : ""}${lost ? `, ${lost} came too fast to be shown` : ""}`);
      if (!timeline) return;
      lanes = lanesOf(rows);
      list.element.style.setProperty("--lanes", String(lanes.length));
      fill(legend, "Lanes from left to right:", ...lanes.map(name => h("span", { class: "mono" }, name)));
    });
  }

  fill(main, h("div", { class: "bar" }, h("h1", {}, timeline ? "Timeline" : "Requests and logs"), search, !timeline && least, pause, clear, count), fault, timeline && legend,
    h("div", { class: "split" }, list.element, detail));
  follow(timeline, signal, (entries, missed) => {
    lost += missed;
    for (const e of entries) {
      if (!timeline && ["point", "turn", "sync", "frame"].includes(e.kind)) continue;
      all.push(e);
      arrived++;
    }
    if (all.length > kept) all = all.slice(-kept);
    refresh();
  }, text => fill(fault, text)).catch(error => fill(fault, message(error)));
}
