import { get, post } from "./api";
import { button, fill, h, message, span } from "./dom";
import { List } from "./list";
import { story } from "./story";

export type Case = { number: number; outcome: string; plan: string; pace?: string; seed?: number; cause: string };
type Ask = { verb: string; scenario?: string; call?: string[]; chat?: string[]; fetch?: string[]; mode?: string; [flag: string]: unknown };
type Campaign = {
  number: number; request: Ask; command: string; state: "running" | "stopping" | "passed" | "failed" | "missed" | "stopped" | "broken"; phase: string;
  done: number; planned: number; failed: number; kills: number; cases: Case[]; unlisted: number; notes: string[];
  started_ms: number; ended_ms?: number; code: number; error?: string; dir?: string;
};
type Chaos = { unavailable?: string; scenarios: string[]; faults: string[]; campaign: Campaign | null };
export type Again = (verb: "replay" | "shrink", of: Case) => Promise<void>;

const verbs: Record<string, string> = {
  enumerate: "a fault at every effect point, one run each", random: "plans that a seed draws from all faults",
  run: "one kill", replay: "one plan", shrink: "a smaller plan that still fails",
};
// Which fields a verb has.
const fields: Record<string, string[]> = {
  enumerate: ["fault", "max", "depth", "schedules", "jobs"], random: ["runs", "jobs"], run: ["kill_at"], replay: ["plan", "runs", "jobs"], shrink: ["plan", "jobs"],
};
export const tone: Record<string, string> = { passed: "good", failed: "bad", violated: "bad", restless: "bad", broken: "bad", missed: "warn", unreached: "faint", stopped: "warn", stopping: "warn" };
const own = " (steps written here)";
const remembered = "minido-chaos";

// chaos is the page of campaigns: one is started on the project, watched, and its cases
// are looked at. None touches the state of the running server.
export function chaos(main: HTMLElement, signal: AbortSignal): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const verdict = h("b", { role: "status" }), meter = h("progress", { "aria-label": "Runs" }), count = h("span", {}), facts = h("div", {});
  const detail = h("aside", { class: "card place", "aria-label": "The chosen case" }, h("p", { class: "note" }, "Choose a case."));
  const list = new List<Case>("Cases", [
    { title: "Outcome", width: "6.5rem", show: c => h("span", { class: tone[c.outcome] ?? "" }, c.outcome) },
    { title: "Plan", show: c => h("span", { title: c.plan }, c.plan + (c.pace ? ` (clients wait ${c.pace})` : "")) },
    { title: "Cause", width: "9rem", show: c => h("span", { title: c.cause }, c.cause) },
  ], c => void story(detail, c, again, fault), (a, b) => a.number === b.number);
  const form = new Form(() => start.click());
  let cases: Case[] = [], last: Campaign | null = null;

  const begin = async (ask: Ask): Promise<void> => { show(await post<Chaos>("/v1/chaos/start", ask), 0); };
  const start = button("Start", async () => {
    const ask = form.request();
    localStorage.setItem(remembered, JSON.stringify(ask));
    await begin(ask);
    sheet.open = false;
  }, fault, { class: "main" });
  const stop = button("Stop", async () => show(await post<Chaos>("/v1/chaos/stop", {}), 0), fault);
  const progress = h("section", { class: "card progress", "aria-label": "Progress" }, h("div", { class: "bar" }, verdict, meter, count, stop), facts);
  const again: Again = (verb, of) => {
    const { scenario, call, chat, fetch, mode, effects, mock_ai } = last!.request;
    return begin({ verb, scenario, call, chat, fetch, mode, effects, mock_ai, plan: of.plan, pace: of.pace, seed: of.seed });
  };

  function draw(c: Campaign): void {
    const runs = c.state === "running" || c.state === "stopping";
    const words = [c.planned > 0 ? `${c.done} of ${c.planned} runs` : `${c.done} runs`, `${c.kills} kills`, c.failed ? `${c.failed} failed` : c.state === "broken" ? "" : "no failure",
      span(Math.max(0, (c.ended_ms ?? Date.now()) - c.started_ms)), c.phase].filter(Boolean);
    const name = runs ? c.state : c.state.toUpperCase();
    if (verdict.textContent !== name) fill(verdict, name); // what is the same is not announced again
    verdict.className = tone[c.state] ?? "accent";
    meter.hidden = stop.hidden = !runs;
    meter.max = Math.max(1, c.planned);
    meter.value = Math.min(c.done, c.planned);
    fill(count, words.join(", "));
    const causes = new Map<string, number>();
    for (const one of cases) if (one.cause) causes.set(one.cause, (causes.get(one.cause) ?? 0) + 1);
    fill(facts,
      h("code", {}, c.command),
      c.error && h("pre", { class: "bad" }, c.error),
      causes.size > 0 && h("ul", {}, ...[...causes].sort((a, b) => b[1] - a[1]).slice(0, 10).map(([cause, n]) => h("li", {}, `${n} × ${cause}`))),
      h("p", { class: "note" }, [...c.notes, c.unlisted > 0 ? `${c.unlisted} further cases are in report.json alone.` : "", c.dir ? `Evidence: ${c.dir}` : ""].filter(Boolean).join(" ")));
  }

  function show(state: Chaos, after: number): void {
    if (signal.aborted) return;
    form.offer(state);
    const c = state.campaign;
    const runs = c?.state === "running" || c?.state === "stopping";
    start.disabled = runs || state.unavailable !== undefined;
    stop.disabled = c?.state === "stopping";
    progress.hidden = c === null;
    if (c === null) return;
    if (c.state === "broken" && last?.number === c.number && last.state !== "broken") sheet.open = true;
    const other = last?.number !== c.number;
    if (last !== null && other) fill(detail, h("p", { class: "note" }, "Choose a case."));
    if (other) cases = [];
    last = c;
    if (!other || after === 0) cases.push(...c.cases.filter(one => one.number > cases.length)); // of another campaign, the first cases come next time
    found.hidden = cases.length === 0;
    draw(c);
    list.set([...cases]);
  }

  const sheet = h("details", { class: "card", open: true }, h("summary", {}, "A new campaign"), form.element,
    h("div", { class: "bar" }, start, h("span", { class: "note" }, "It runs in processes of its own, on empty state: what this server stores is not touched.")));
  const found = h("div", { class: "split halves" }, list.element, detail);
  progress.hidden = found.hidden = true;
  fill(main, h("h1", {}, "Chaos"), h("div", { class: "scrolls" }, sheet, fault, progress, found));
  void (async () => {
    try {
      const first = await get<Chaos>("/v1/chaos");
      show(first, 0);
      form.recall();
      sheet.open = first.campaign === null;
      if (first.unavailable) fill(fault, first.unavailable);
    } catch (error) { fill(fault, message(error)); }
    while (!signal.aborted) {
      await new Promise(done => setTimeout(done, 1000));
      if (document.hidden || signal.aborted) continue;
      const after = cases.length;
      try { show(await get<Chaos>(`/v1/chaos?after=${after}`), after); } catch (error) { fill(fault, message(error)); }
    }
  })();
}

// Form is what a campaign is asked for.
class Form {
  readonly element: HTMLFormElement;
  private readonly scenario = h("select", { name: "scenario", change: () => this.choose() });
  private readonly verb = h("select", { name: "verb", change: () => this.choose() }, ...Object.entries(verbs).map(([name, text]) => h("option", { value: name }, `${name}: ${text}`)));
  private readonly mode = h("select", { name: "mode" }, h("option", { value: "sim" }, "simulation: virtual time, fast"), h("option", { value: "process" }, "real processes, SIGKILL, real time"));
  private readonly steps = h("textarea", { rows: 2, spellcheck: false, class: "mono", placeholder: "fetch POST /orders {\"id\": 1}\ncall Room/lobby.join(\"ann\")\nchat ChatAgent/c1: hello" });
  private readonly model = h("input", { name: "mock_ai", type: "checkbox" });
  private readonly kinds = h("datalist", { id: "faults" });
  private offered = "";

  constructor(submit: () => void) {
    const input = (name: string, label: string, more: Record<string, string | number>) => h("label", { "data-field": name }, label, h("input", { name, class: "mono", ...more }));
    const numeric = (name: string, label: string, placeholder: string) => input(name, label, { type: "number", min: 0, placeholder });
    this.element = h("form", { "aria-label": "A new campaign", submit: (e: Event) => { e.preventDefault(); submit(); } },
      h("div", { class: "fields" },
        h("label", {}, "Scenario", this.scenario), h("label", {}, "What", this.verb), h("label", {}, "Where", this.mode),
        h("label", { class: "wide", "data-steps": "" }, "What clients do, a step a line: fetch, call or chat", this.steps),
        input("fault", "Fault at each point", { list: "faults", placeholder: "kill" }), input("plan", "Plan", { placeholder: "kill@commit:after(Room/a)/rpc#1" }), input("kill_at", "Kill at", { placeholder: "commit:after#1" }),
        numeric("max", "At most points", "all"), numeric("depth", "Depth", "1"), numeric("schedules", "Orders of messages", "none"), numeric("runs", "Runs", "default"), numeric("jobs", "At a time", "default"),
        h("label", { "data-steps": "" }, "Variable for the address of effects", h("input", { name: "effects", class: "mono", placeholder: "none" })),
        h("label", { class: "tick", "data-steps": "" }, this.model, "With a scripted model"),
        h("label", {}, "Seed", h("input", { name: "seed", type: "number", min: 1, placeholder: "1", class: "mono" })), this.kinds),
      h("input", { type: "submit", hidden: true }));
  }

  // offer lists what there is to choose from.
  offer(state: Chaos): void {
    const now = JSON.stringify([state.scenarios, state.faults]);
    if (now === this.offered) return;
    this.offered = now;
    const before = this.scenario.value;
    fill(this.scenario, ...state.scenarios.map(name => h("option", { value: name, selected: name === before }, name)), h("option", { value: "" }, state.scenarios.length > 0 ? "none" + own : "the project has none" + own));
    fill(this.kinds, ...state.faults.map(name => h("option", { value: name })));
    this.choose();
  }

  // choose shows the fields that go with what is chosen.
  private choose(): void {
    for (const label of this.element.querySelectorAll<HTMLElement>("[data-field]")) label.hidden = !fields[this.verb.value]!.includes(label.dataset.field!);
    for (const label of this.element.querySelectorAll<HTMLElement>("[data-steps]")) label.hidden = this.scenario.value !== "";
  }

  // recall fills in what was asked for before.
  recall(): void {
    let before: Record<string, unknown>;
    try { before = JSON.parse(localStorage.getItem(remembered) ?? "{}"); } catch { return; }
    for (const [name, value] of Object.entries(before)) {
      const field = this.element.elements.namedItem(name);
      if (field instanceof HTMLSelectElement && [...field.options].some(o => o.value === value)) field.value = String(value);
      else if (field === this.model) this.model.checked = value === true;
      else if (field instanceof HTMLInputElement) field.value = String(value);
    }
    this.choose();
  }

  request(): Ask {
    const out: Ask = { verb: this.verb.value, mode: this.mode.value };
    if (this.scenario.value) out.scenario = this.scenario.value;
    else for (const line of this.steps.value.split("\n").map(l => l.trim()).filter(Boolean)) {
      const [, kind, text] = /^(fetch|call|chat)\s+(.+)$/.exec(line) ?? [];
      if (!kind) throw new Error(`"${line}" is no step: write fetch POST /path body, call Class/name.method(args) or chat Class/name: text`);
      ((out[kind] ??= []) as string[]).push(text!);
    }
    if (!out.scenario && this.model.checked) out.mock_ai = true;
    if (!out.scenario && !out.fetch && !out.call && !out.chat) throw new Error("Write what clients do, a step a line. minido chaos init writes a first scenario.");
    for (const field of this.element.querySelectorAll<HTMLInputElement>("label:not([hidden]) > input")) {
      if (field === this.model) continue;
      if (field.value.trim() !== "") out[field.name] = field.type === "number" ? Number(field.value) : field.value.trim();
    }
    return out;
  }
}
