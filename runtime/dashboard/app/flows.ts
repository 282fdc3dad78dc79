import { get, post } from "./api";
import { button, bytes, fill, h, message, time } from "./dom";
import { ask as dialog } from "./edit";
import { List } from "./list";
import { ask, part } from "./explorer";

type Instance = { id: string; status: string; created_on?: string };
type Attempt = { start: string; end: string | null; success: boolean | null; error: { name: string; message: string } | null };
type Step = { name: string; start: string; end: string | null; type: "step" | "sleep" | "waitForEvent"; success?: boolean | null; finished?: boolean; error?: { name: string; message: string } | null; output?: unknown; attempts?: Attempt[] };
type Details = { status: string; params: unknown; queued: string | null; start: string | null; end: string | null; output: unknown; error: { name: string; message: string } | null; steps: Step[] };

const tone = (status: string): string => status === "errored" || status === "terminated" ? "bad" : status === "complete" ? "good" : "warn";
const json = (v: unknown): string => v === undefined ? "" : JSON.stringify(v, null, 1);
const when = (iso: string | null): string => iso ? time(Date.parse(iso)) : "";

function parsed(text: string): unknown {
  if (text.trim() === "") return undefined;
  try { return JSON.parse(text); } catch { throw new Error("This is not JSON."); }
}

// workflow is the page of a Workflow: its instances, and the steps of the one chosen.
export function workflow(place: HTMLElement, signal: AbortSignal, name: string): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const base = `/workflows/${part(name)}/instances`;
  const detail = h("aside", { class: "card", "aria-label": "The chosen instance" }, h("p", { class: "note" }, "Choose an instance."));
  const status = h("select", { "aria-label": "Status", change: () => again() }, ...["", "queued", "running", "paused", "waitingForPause", "complete", "errored", "terminated"].map(s => h("option", { value: s }, s || "every status")));
  const note = h("span", { class: "note" });
  let page = 1, chosen = "", seen = "";
  const list = new List<Instance>("Instances", [
    { title: "Instance", show: i => i.id }, { title: "Status", width: "9rem", show: i => h("span", { class: tone(i.status) }, i.status) },
    { title: "Created", width: "8.5rem", show: i => when(i.created_on ?? null) },
  ], i => { chosen = i.id; seen = ""; again(); }, (a, b) => a.id === b.id);
  const more = (by: number) => () => { page += by; return load(); };
  const before = button("Newer", more(-1), fault), next = button("Older", more(1), fault);

  const again = () => { load().catch(error => fill(fault, message(error))); };
  async function load(): Promise<void> {
    const found = await ask<Instance[]>("GET", `${base}?page=${page}&per_page=100${status.value && `&status=${status.value}`}`);
    if (signal.aborted) return;
    const { total_pages = 1, total_count = 0 } = found.result_info ?? {};
    before.disabled = page <= 1;
    next.disabled = page >= total_pages;
    fill(note, `${total_count} instances`);
    list.set(found.result);
    if (chosen) await describe();
  }

  async function describe(): Promise<void> {
    const d = (await ask<Details>("GET", `${base}/${part(chosen)}`)).result;
    const now = JSON.stringify([chosen, d]);
    if (now === seen || signal.aborted) return; // what has the focus keeps it
    seen = now;
    const id = chosen, wrong = h("p", { class: "fault", role: "alert" });
    const change = (text: string, verb: string, title: string, from?: Step) => button(text, async () => {
      const match = from && /^(.*)-(\d+)$/.exec(from.name);
      await ask("PATCH", `${base}/${part(id)}/status`, { status: verb, ...(match ? { from: { name: match[1], count: Number(match[2]), type: from.type === "step" ? "do" : from.type } } : {}) });
      await load();
    }, wrong, { title, ...(from ? { class: "small" } : {}) });
    const over = ["complete", "errored", "terminated"].includes(d.status);
    const fact = (label: string, value: string | null): Node[] => value ? [h("dt", {}, label), h("dd", {}, value)] : [];
    const event = h("input", { class: "mono", size: 12, "aria-label": "Type of the event", placeholder: "type" }), payload = h("input", { class: "mono wide", "aria-label": "Payload of the event, as JSON", placeholder: "payload, JSON" });
    fill(detail, h("h2", { class: "mono" }, id),
      h("dl", {}, h("dt", {}, "Status"), h("dd", { class: tone(d.status) }, d.status), ...fact("Queued", when(d.queued)), ...fact("Began", when(d.start)), ...fact("Ended", when(d.end)),
        ...fact("Parameters", json(d.params)), ...fact("Output", d.output === null ? "" : json(d.output)), ...fact("Error", d.error && `${d.error.name}: ${d.error.message}`)),
      h("div", { class: "bar" }, !over && d.status !== "paused" && change("Pause", "pause", "Steps that run are finished first"), d.status === "paused" && change("Resume", "resume", ""),
        !over && change("Terminate", "terminate", ""), change("Restart", "restart", "From its first step"),
        button("Delete", async () => { await ask("DELETE", `${base}/${part(id)}`); chosen = ""; fill(detail, h("p", { class: "note" }, "The instance is deleted.")); await load(); }, wrong)),
      !over && h("div", { class: "bar" }, event, payload, button("Send event", async () => { await ask("POST", `${base}/${part(id)}/events/${part(event.value)}`, parsed(payload.value) ?? null); await load(); }, wrong)),
      wrong, h("h2", {}, "Steps"),
      d.steps.length === 0 ? h("p", { class: "note" }, "None yet.") : h("table", { class: "steps" },
        h("thead", {}, h("tr", {}, ...["Step", "When", "What became of it", ""].map(t => h("th", { scope: "col" }, t)))),
        h("tbody", {}, ...d.steps.map(s => {
          const good = s.type === "step" ? s.success : s.finished ? !s.error : null;
          return h("tr", {}, h("td", {}, s.name, h("div", { class: "faint" }, s.type)), h("td", { class: "mono" }, when(s.start), s.end ? h("div", {}, when(s.end)) : ""),
            h("td", {}, h("span", { class: good === null ? "warn" : good ? "good" : "bad" }, good === null ? (s.type === "step" ? "runs or waits" : "waits") : good ? "done" : "failed"),
              ...(s.attempts ?? []).filter(a => a.error).map((a, i) => h("div", { class: "bad" }, `attempt ${i + 1}: ${a.error!.name}: ${a.error!.message}`)),
              s.error && h("div", { class: "bad" }, `${s.error.name}: ${s.error.message}`), s.output !== undefined && s.output !== null && h("pre", {}, json(s.output).slice(0, 4000))),
            h("td", {}, change("Restart here", "restart", "Earlier steps keep what they came to", s)));
        }))));
  }

  const create = () => {
    const id = h("input", { class: "mono wide", "aria-label": "Id", placeholder: "made up, if empty" }), params = h("textarea", { class: "mono", rows: 4, "aria-label": "Parameters, as JSON", spellcheck: false });
    dialog(`A new instance of ${name}`, [h("label", {}, "Id ", id), h("label", {}, "Parameters, JSON", params)], (close, wrong) => [button("Create", async () => {
      const made = await ask<{ id: string }>("POST", base, { ...(id.value ? { id: id.value } : {}), params: parsed(params.value) });
      close();
      chosen = made.result.id;
      await load();
    }, wrong, { class: "main" })]);
  };
  fill(place, h("div", { class: "bar" }, status, before, next, h("button", { type: "button", click: create }, "New instance"), note), fault, h("div", { class: "split halves" }, list.element, detail));
  poll(signal, load, fault);
}

// poll looks every two seconds, as long as the page is shown.
function poll(signal: AbortSignal, load: () => Promise<void>, fault: HTMLElement): void {
  void (async () => {
    while (!signal.aborted) {
      try { if (!document.hidden) await load(); } catch (error) { if (!signal.aborted) fill(fault, message(error)); }
      await new Promise(done => setTimeout(done, 2000));
    }
  })();
}

export type Queue = {
  name: string; producers: string[]; dead_letters_of: string[]; backlog: number; backlog_bytes: number; paused_since_ms: number | null;
  consumer: { worker: string; type: string; max_batch_size: number; max_batch_timeout: number; max_retries: number; max_concurrency: number; retry_delay: number; dead_letter_queue?: string } | null;
};
type Message = { seq: number; id: string; timestamp_ms: number; content_type: string; text: string; bytes: number; attempts: number; due_ms: number; dead: boolean; leased_until_ms: number | null };

export const queuesOf = async (): Promise<Queue[]> => (await get<{ queues: Queue[] }>("/v1/queues")).queues;

// queue is the page of a queue: its consumer, and the messages that wait.
export function queue(place: HTMLElement, signal: AbortSignal, name: string): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const facts = h("dl", {}), bar = h("div", { class: "bar" });
  const detail = h("aside", { class: "card", "aria-label": "The chosen message" }, h("p", { class: "note" }, "Choose a message."));
  const list = new List<Message>("Messages", [
    { title: "Came", width: "8.5rem", show: m => time(m.timestamp_ms) },
    { title: "Body", show: m => h("span", { title: m.id }, m.text.slice(0, 300).replaceAll("\n", " ")) },
    { title: "Type", minor: true, width: "5rem", show: m => m.content_type },
    { title: "Tries", minor: true, width: "4.5rem", show: m => String(m.attempts) },
    { title: "State", width: "9rem", show: m => h("span", { class: m.dead ? "bad" : "" }, m.dead ? "dead letter" : m.leased_until_ms ? "pulled" : m.due_ms > Date.now() ? `until ${time(m.due_ms).slice(0, 8)}` : "waits") },
  ], m => describe(m), (a, b) => a.seq === b.seq);
  const act = (path: string, more: object = {}) => async () => { await post(`/v1/queue/${path}`, { queue: name, ...more }); await load(); };
  let all: Message[] = [], more = false, behind = 0; // behind is where the page begins

  function describe(m: Message): void {
    const wrong = h("p", { class: "fault", role: "alert" });
    fill(detail, h("h2", { class: "mono" }, m.id),
      h("dl", {}, ...([["Came", new Date(m.timestamp_ms).toISOString()], ["Due", new Date(m.due_ms).toISOString()], ["Attempts", String(m.attempts)], ["Type", `${m.content_type}, ${bytes(m.bytes)}`]] as const).flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)])),
      h("div", { class: "bar" }, button("Deliver now", act("deliver", { seq: m.seq }), wrong, { title: "As if its delay or its batch's time were over" }), button("Delete", act("remove", { seq: m.seq }), wrong)), wrong,
      h("pre", { tabindex: 0, "aria-label": "Body" }, m.text, m.text.length >= 16384 && "…"));
  }
  async function load(): Promise<void> {
    const [queues, page] = await Promise.all([queuesOf(), post<{ messages: Message[]; more: boolean }>("/v1/queue/messages", { queue: name, after: behind })]);
    const q = queues.find(one => one.name === name);
    if (signal.aborted || !q) return;
    const chosen = list.selected;
    [all, more] = [page.messages, page.more];
    list.set(all);
    if (chosen) {
      const now = all.find(m => m.seq === chosen.seq);
      if (!now) fill(detail, h("p", { class: "note" }, "The message is gone."));
      else if (JSON.stringify(now) !== JSON.stringify(chosen)) describe(now);
    }
    const c = q.consumer, fact = (k: string, ...v: (string | Node)[]) => v.some(one => one !== "") ? [h("dt", {}, k), h("dd", {}, ...v)] : [];
    const link = (to: string) => h("a", { href: `#/stores/Queue/${part(to)}` }, to);
    fill(facts, ...fact("Waits", `${q.backlog} messages, ${bytes(q.backlog_bytes)}`), ...fact("Producers", q.producers.join(", ")),
      ...fact("Consumer", c ? `${c.worker} (${c.type}): batches of ${c.max_batch_size} or after ${c.max_batch_timeout} s, ${c.max_retries} retries${c.retry_delay ? ` after ${c.retry_delay} s` : ""}, ${c.max_concurrency} at a time` : "none: messages wait"),
      ...(c?.dead_letter_queue ? fact("Dead letters go to", link(c.dead_letter_queue)) : []), ...(q.dead_letters_of.length > 0 ? fact("Dead letters of", ...q.dead_letters_of.map(link)) : []),
      ...fact("Delivery", q.paused_since_ms === null ? "on" : `paused since ${time(q.paused_since_ms)}`));
    const focused = bar.contains(document.activeElement);
    if (!focused || bar.dataset.state !== `${q.paused_since_ms} ${more} ${behind}`) {
      bar.dataset.state = `${q.paused_since_ms} ${more} ${behind}`;
      fill(bar, q.paused_since_ms === null ? button("Pause", act("pause"), fault) : button("Resume", act("resume"), fault),
        button("Purge", () => dialog(`Delete every message of ${name}?`, [], (close, wrong) => [button("Delete them", async () => { await act("purge")(); close(); }, wrong, { class: "main" })]), fault),
        button("First", () => { behind = 0; return load(); }, fault, { disabled: behind === 0 }), button("Later", () => { behind = all.at(-1)?.seq ?? 0; return load(); }, fault, { disabled: !more }));
    }
  }
  fill(place, h("div", { class: "card" }, facts, bar), fault, h("div", { class: "split" }, list.element, detail));
  poll(signal, load, fault);
}
