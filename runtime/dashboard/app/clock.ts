import { get, post, type Clock } from "./api";
import { button, fill, h, message, span } from "./dom";

// clock is the page of time: its mode, how far it is, and what comes next.
export function clock(main: HTMLElement, signal: AbortSignal): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const facts = h("dl", {});
  const modes = h("div", { class: "bar" });
  const by = h("div", { class: "bar" });
  const units: Record<string, number> = { s: 1e3, min: 60e3, h: 3600e3, days: 86400e3 };
  const amount = h("input", { type: "number", min: 1, value: 30, "aria-label": "How much", size: 6 });
  const unit = h("select", { "aria-label": "Unit" }, ...Object.keys(units).map(name => h("option", name === "min" ? { selected: true } : {}, name)));

  const advance = (ms: number) => async () => show(await post<Clock>("/v1/clock/advance", { ms: Math.max(1, Math.round(ms)) }));
  let now: Clock | undefined;

  function show(c: Clock): void {
    now = c;
    fill(facts, h("dt", {}, "The workers' time"), h("dd", { class: "mono" }, new Date(c.now_ms).toISOString()), h("dt", {}, "Mode"), h("dd", {}, c.mode),
      h("dt", {}, "Next timer or alarm"), h("dd", {}, c.next_ms === undefined ? "none" : c.next_ms <= c.now_ms ? "due" : `in ${span(c.next_ms - c.now_ms)}`));
    for (const b of modes.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.mode === c.mode));
    for (const b of by.querySelectorAll("button")) b.disabled = c.mode === "real";
  }

  const texts = { real: "the machine's clock", virtual: "stands still until it is advanced", auto: "jumps to the next timer when nothing is left to do" };
  fill(modes, ...Object.entries(texts).map(([mode, text]) => button(mode, async () => show(await post<Clock>("/v1/clock", { mode })), fault, { "data-mode": mode, title: text })));
  fill(by, button("Advance by", () => advance(Number(amount.value) * units[unit.value]!)(), fault), amount, unit,
    button("To the next timer", async () => { if (now?.next_ms !== undefined) await advance(now.next_ms - now.now_ms)(); }, fault));
  fill(main, h("h1", {}, "Time"), h("div", { class: "card" }, facts, modes, h("p", { class: "note" }, "A clock in mode virtual or auto can be advanced: each timer fires at its own time, and the work that it starts is done before time goes on."), by), fault);
  void (async () => {
    while (!signal.aborted) {
      try { if (!document.hidden) show(await get<Clock>("/v1/clock")); } catch (error) { fill(fault, message(error)); }
      await new Promise(done => setTimeout(done, 1000));
    }
  })();
}
