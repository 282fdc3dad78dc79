import { post } from "./api";
import { button, fill, h } from "./dom";
import { pretty } from "./record";

type Part = { type: string; text?: string };
type Message = { id: string; role: string; parts: Part[] };
type Frame = { type?: string; id?: string; body?: string; done?: boolean; error?: boolean | string; success?: boolean; result?: unknown; state?: unknown; messages?: Message[] };

const said = (m: Message): string => m.parts.map(p => p.type === "text" ? p.text ?? "" : p.type === "step-start" ? "" : `[${p.type}]`).join("");

// Agent talks to an agent of the agents SDK, in the frames of its client: chat, methods
// that are @callable, state.
export class Agent {
  readonly element: HTMLElement;
  private readonly talk = h("div", { class: "talk", role: "log", "aria-label": "Conversation", tabindex: 0 });
  private readonly state = h("textarea", { class: "mono", rows: 2, spellcheck: false, "aria-label": "State of the agent, JSON", placeholder: "the agent has told no state" });
  private readonly answers = new Map<string, HTMLElement>(); // of what is in progress, by request

  // path is the agent's; send sends a frame, or throws.
  constructor(private readonly path: HTMLInputElement, send: (frame: string) => void, fault: HTMLElement) {
    const enter = (go: () => HTMLButtonElement) => (e: KeyboardEvent) => { if (e.key === "Enter") go().click(); };
    const words = h("input", { class: "wide", "aria-label": "Message", placeholder: "a message to a chat agent", keydown: enter(() => say) });
    const method = h("input", { class: "mono", "aria-label": "Method of the agent", placeholder: "method", size: 14, keydown: enter(() => call) });
    const args = h("input", { class: "mono wide", "aria-label": "Arguments, a JSON array", value: "[]", keydown: enter(() => call) });
    const say = button("Say", async () => {
      if (!words.value.trim()) throw new Error("Write a message first.");
      const mine: Message = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text: words.value }] };
      const messages = [...await this.before(), mine], id = crypto.randomUUID();
      send(JSON.stringify({ type: "cf_agent_use_chat_request", id, init: { method: "POST", body: JSON.stringify({ messages, trigger: "submit-message" }) } }));
      this.line("user", words.value);
      this.answers.set(id, this.line("assistant", ""));
      words.value = "";
    }, fault);
    const call = button("Call", () => {
      let list: unknown;
      try { list = JSON.parse(args.value || "[]"); } catch { /* said below */ }
      if (!method.value.trim() || !Array.isArray(list)) throw new Error("Write the name of a method that is @callable, and its arguments as a JSON array.");
      const id = crypto.randomUUID();
      send(JSON.stringify({ type: "rpc", id, method: method.value.trim(), args: list }));
      this.answers.set(id, this.line("call", `${method.value.trim()}(${args.value.trim().slice(1, -1)}) `));
    }, fault);
    const set = button("Set state", () => {
      let state: unknown;
      try { state = JSON.parse(this.state.value); } catch { throw new Error("The state is not JSON."); }
      send(JSON.stringify({ type: "cf_agent_state", state }));
      this.line("call", "the state is set");
    }, fault);
    this.element = h("section", { class: "agent", "aria-label": "Agent" }, this.talk,
      h("div", { class: "bar" }, words, say), h("div", { class: "bar" }, method, args, call), h("div", { class: "bar" }, this.state, set));
  }

  // clear forgets what an earlier connection has said.
  clear(): void {
    this.answers.clear();
    fill(this.talk);
    this.state.value = "";
  }

  // before are the messages of the conversation, as the agent has them.
  private async before(): Promise<Message[]> {
    const at = this.path.value.split("?")[0]!.replace(/\/$/, "");
    const answer = await post<{ status: number; text: string }>("/v1/request", { method: "GET", path: `${at}/get-messages` });
    if (answer.status !== 200) throw new Error(`${at}/get-messages answers ${answer.status}: it is no chat agent, or answers elsewhere.`);
    return JSON.parse(answer.text);
  }

  private line(role: string, text: string): HTMLElement {
    const words = h("span", {}, text);
    this.talk.append(h("p", { class: role }, h("b", {}, role), " ", words));
    this.talk.scrollTop = this.talk.scrollHeight;
    return words;
  }

  // received takes a frame of the agent.
  received(text: string): void {
    let f: Frame;
    try { f = JSON.parse(text); } catch { return; } // not one of the SDK's
    const place = this.answers.get(f.id ?? "");
    switch (f.type) {
      case "cf_agent_state":
        if (document.activeElement !== this.state) this.state.value = pretty(JSON.stringify(f.state));
        break;
      case "cf_agent_chat_messages":
        if (this.answers.size > 0) break; // it goes on, and is shown as it comes
        fill(this.talk);
        for (const m of f.messages ?? []) this.line(m.role, said(m));
        break;
      case "cf_agent_use_chat_response": {
        if (!place) break;
        const chunk = part(f.body ?? "");
        if (f.error) place.append(h("span", { class: "bad" }, f.body ?? "failed"));
        else if (chunk.type === "text-delta") place.append(chunk.delta ?? "");
        else if (chunk.type === "error") place.append(h("span", { class: "bad" }, chunk.errorText ?? "failed"));
        else if (chunk.toolName && chunk.type === "tool-input-start") place.append(`[${chunk.toolName}] `);
        if (f.done) this.answers.delete(f.id!), place.append(h("span", { class: "faint" }, " ∎"));
        this.talk.scrollTop = this.talk.scrollHeight;
        break;
      }
      case "rpc":
        if (!place) break;
        place.append(f.success === false ? h("span", { class: "bad" }, String(f.error)) : `→ ${JSON.stringify(f.result) ?? "undefined"} `);
        if (f.done !== false) this.answers.delete(f.id!);
        break;
    }
  }
}

function part(body: string): { type?: string; delta?: string; errorText?: string; toolName?: string } {
  try { return JSON.parse(body) ?? {}; } catch { return {}; }
}
