import { get, post } from "./api";
import { button, fill, h, message, span } from "./dom";
import { List } from "./list";
import { story } from "./story";

export type Case = { number: number; outcome: string; plan: string; pace?: string; cause: string };
type Campaign = {
  number: number; command: string; state: "running" | "stopping" | "passed" | "failed" | "stopped" | "broken"; phase: string;
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
const tone: Record<string, string> = { passed: "good", failed: "bad", violated: "bad", restless: "bad", broken: "bad", missed: "warn", unreached: "faint", stopped: "warn", stopping: "warn" };
const remembered = "minido-chaos";

// chaos is the page of campaigns: one is started on the project, watched, and its cases
// are looked at. None touches the state of the running server.
export function chaos(main: HTMLElement, signal: AbortSignal): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const form = h("form", { class: "card", "aria-label": "A campaign", submit: (e: Event) => { e.preventDefault(); if (!start.disabled) start.click(); } });
  const progress = h("div", { class: "card progress", role: "region", "aria-label": "Progress" });
  const detail = h("aside", { class: "card place", "aria-label": "The chosen case" }, h("p", { class: "note" }, "Choose a case."));
  const list = new List<Case>("Cases", [
    { title: "Outcome", width: "6.5rem", show: c => h("span", { class: tone[c.outcome] ?? "" }, c.outcome) },
    { title: "Plan", show: c => h("span", { title: c.plan }, c.plan + (c.pace ? ` (clients wait ${c.pace})` : "")) },
    { title: "Cause", show: c => h("span", { title: c.cause }, c.cause) },
  ], c => void story(detail, c, again, fault), (a, b) => a.number === b.number);
  let shown = 0, cases: Case[] = [], last: Campaign | null = null;

  const input = (name: string, label: string, more: Record<string, string | number> = {}) =>
    h("label", { "data-field": name }, label, h("input", { name, class: "mono", ...more }));
  const numeric = (name: string, label: string, placeholder: string) => input(name, label, { type: "number", min: 0, placeholder });
  const scenario = h("select", { name: "scenario" });
  const kinds = h("datalist", { id: "faults" });
  const verb = h("select", { name: "verb", change: () => choose() }, ...Object.entries(verbs).map(([name, text]) => h("option", { value: name }, `${name}: ${text}`)));
  const mode = h("select", { name: "mode" }, h("option", { value: "sim" }, "simulation: virtual time, fast"), h("option", { value: "process" }, "real processes, SIGKILL, real time"));

  function choose(): void {
    for (const label of form.querySelectorAll<HTMLElement>("[data-field]")) label.hidden = !fields[verb.value]!.includes(label.dataset.field!);
  }

  function request(): Record<string, unknown> {
    const out: Record<string, unknown> = { verb: verb.value, mode: mode.value };
    if (scenario.value) out.scenario = scenario.value;
    for (const field of form.querySelectorAll<HTMLInputElement>("[data-field]:not([hidden]) input, [data-always] input")) {
      if (field.value.trim() !== "") out[field.name] = field.type === "number" ? Number(field.value) : field.value.trim();
    }
    return out;
  }

  const begin = async (ask: Record<string, unknown>): Promise<void> => { show(await post<Chaos>("/v1/chaos/start", ask), 0); };
  const start = button("Start", async () => {
    const ask = request();
    localStorage.setItem(remembered, JSON.stringify(ask));
    await begin(ask);
  }, fault, { class: "main" });
  const stop = button("Stop", async () => show(await post<Chaos>("/v1/chaos/stop", {}), 0), fault);
  const again: Again = async (what, of) => {
    const { scenario: file, mode: where } = asked();
    await begin({ verb: what, plan: of.plan, ...(of.pace && { pace: of.pace }), ...(file ? { scenario: file } : {}), mode: where });
  };
  // asked is what the last campaign was started with, as far as the page knows.
  const asked = (): { scenario?: unknown; mode?: unknown } => { try { return JSON.parse(localStorage.getItem(remembered) ?? ""); } catch { return request(); } };

  function recall(): void {
    for (const [name, value] of Object.entries(asked())) {
      const field = form.elements.namedItem(name);
      if (field instanceof HTMLSelectElement && [...field.options].some(o => o.value === value)) field.value = String(value);
      else if (field instanceof HTMLInputElement) field.value = String(value);
    }
    choose();
  }

  function draw(c: Campaign): void {
    const runs = c.state === "running" || c.state === "stopping";
    const spent = (c.ended_ms ?? Date.now()) - c.started_ms;
    const words = [c.planned > 0 ? `${c.done} of ${c.planned} runs` : `${c.done} runs`, `${c.kills} kills`, c.failed ? `${c.failed} failed` : "no failure", span(Math.max(0, spent))];
    fill(progress,
      h("div", { class: "bar" }, h("b", { class: tone[c.state] ?? "accent", role: "status" }, runs ? c.state : c.state.toUpperCase()),
        runs && h("progress", { max: Math.max(1, c.planned), value: c.planned > 0 ? Math.min(c.done, c.planned) : 0, "aria-label": "Runs" }), h("span", {}, words.join(", "))),
      c.phase && h("p", { class: "note" }, c.phase),
      h("code", {}, c.command),
      c.error && h("pre", { class: "bad" }, c.error),
      ...c.notes.map(text => h("p", { class: "note" }, text)),
      c.unlisted > 0 && h("p", { class: "note" }, `${c.unlisted} further cases are in report.json alone.`),
      c.dir && h("p", { class: "note" }, "Evidence: ", h("code", {}, c.dir)));
  }

  function show(state: Chaos, after: number): void {
    if (signal.aborted) return;
    const c = state.campaign;
    if (c && (last?.number !== c.number || after === 0)) {
      if (last !== null && last.number !== c.number) fill(detail, h("p", { class: "note" }, "Choose a case."));
      cases = [];
    }
    last = c;
    if (c && after > 0 && shown !== c.number) { shown = c.number; return; } // another campaign: its first cases come next time
    const runs = c?.state === "running" || c?.state === "stopping";
    start.hidden = runs;
    stop.hidden = !runs;
    stop.disabled = c?.state === "stopping";
    progress.hidden = c === null;
    if (c === null) return;
    shown = c.number;
    cases.push(...c.cases.filter(n => n.number > cases.length));
    draw(c);
    list.set(cases);
  }

  async function load(): Promise<void> {
    const after = cases.length;
    show(await get<Chaos>(`/v1/chaos?after=${after}`), after);
  }

  stop.hidden = progress.hidden = true;
  fill(form,
    h("div", { class: "fields" },
      h("label", {}, "Scenario", scenario), h("label", {}, "What", verb), h("label", {}, "Where", mode),
      input("fault", "Fault at each point", { list: "faults", placeholder: "kill" }), input("plan", "Plan", { placeholder: "kill@commit:after(Room/a)/rpc#1" }), input("kill_at", "Kill at", { placeholder: "commit:after#1" }),
      numeric("max", "At most points", "all"), numeric("depth", "Depth", "1"), numeric("schedules", "Orders of messages", "none"), numeric("runs", "Runs", "default"), numeric("jobs", "At a time", "default"),
      h("label", { "data-always": "" }, "Seed", h("input", { name: "seed", type: "number", min: 1, placeholder: "1", class: "mono" })), kinds),
    h("div", { class: "bar" }, start, stop, h("span", { class: "note" }, "It runs in processes of its own, on empty state: what this server stores is not touched.")));
  fill(main, h("h1", {}, "Chaos"), form, fault, progress, h("div", { class: "split halves" }, list.element, detail));
  void (async () => {
    try {
      const first = await get<Chaos>("/v1/chaos");
      fill(scenario, ...first.scenarios.map(name => h("option", { value: name }, name)));
      fill(kinds, ...first.faults.map(name => h("option", { value: name })));
      start.disabled = first.unavailable !== undefined || first.scenarios.length === 0;
      if (first.unavailable) fill(fault, first.unavailable);
      else if (first.scenarios.length === 0) fill(fault, "The project has no scenario (*.chaos.ts in its directory, in chaos/ or test/): minido chaos init writes the first.");
      recall();
      show(first, 0);
    } catch (error) { fill(fault, message(error)); }
    while (!signal.aborted) {
      await new Promise(done => setTimeout(done, 1000));
      if (document.hidden || signal.aborted) continue;
      try { await load(); } catch (error) { fill(fault, message(error)); }
    }
  })();
}
