import { get, post, type Status } from "./api";
import { button, fill, h, span, time } from "./dom";
import { Agent } from "./agent";
import { List } from "./list";
import { again as repeat, pretty, recorded } from "./record";

type Answer = { status: number; headers: [string, string][]; text: string; base64?: string; truncated: boolean; head_us: number; took_us: number };
type Frame = { seq: number; at_ms: number; sent: boolean; text: string };

const keptFrames = 5000;

// client is the page that talks to the worker: requests to any route, WebSockets, and
// over them the agents of the agents SDK. again is a request to fill in: "POST /path".
export function client(main: HTMLElement, signal: AbortSignal, again: string, record: string): void {
  const [first, ...rest] = again.split(" ");
  const requests = h("section", { class: "card" }), sockets = h("section", { class: "card sockets" });
  fill(main, h("h1", {}, "Client"), h("div", { class: "scrolls" }, requests, sockets));
  request(requests, first && rest.length > 0 ? first : "GET", rest.join(" ") || "/", Number(record));
  socket(sockets, signal);
}

function request(main: HTMLElement, verb: string, to: string, record: number): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
  const method = h("select", { "aria-label": "Method" }, ...verbs.map(v => h("option", v === verb ? { selected: true } : {}, v)));
  const path = h("input", { "aria-label": "Path", value: to, class: "mono wide", keydown: (e: KeyboardEvent) => { if (e.key === "Enter") send.click(); } });
  const headers = h("textarea", { "aria-label": "Headers, one a line", placeholder: "header: value", rows: 2, spellcheck: false });
  const body = h("textarea", { "aria-label": "Body", placeholder: "body", rows: 2, spellcheck: false });
  const out = h("pre", { class: "answer", tabindex: 0, "aria-label": "Response" });
  const send = button("Send", async () => {
    const lines = headers.value.split("\n").filter(line => line.trim() !== "").map(line => {
      const at = line.indexOf(":");
      if (at < 1) throw new Error(`"${line}" is no header: write name: value`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
    const a = await post<Answer>("/v1/request", { method: method.value, path: path.value, headers: lines, body: body.value });
    const text = a.base64 !== undefined ? `(bytes, base64) ${a.base64}` : a.text;
    fill(out, h("b", { class: a.status >= 500 ? "bad" : a.status >= 400 ? "warn" : "good" }, String(a.status)), `  head after ${span(a.head_us / 1000)}, all after ${span(a.took_us / 1000)}\n`,
      h("span", { class: "faint" }, a.headers.map(([name, value]) => `${name}: ${value}`).join("\n")), `\n\n${text.slice(0, 200000)}${a.truncated || text.length > 200000 ? "\n(cut)" : ""}`);
  }, fault);
  if (record) recorded(record).then(x => {
    const r = repeat(x);
    if (r.base64 !== undefined) throw new Error("The body is no text; Replay sends it as it was.");
    if (!verbs.includes(r.method)) method.append(h("option", {}, r.method));
    method.value = r.method, path.value = r.path, body.value = r.body ?? "", headers.value = r.headers.map(pair => pair.join(": ")).join("\n");
  }).catch(error => fill(fault, error.message));
  fill(main, h("h2", {}, "Request"), h("div", { class: "bar" }, method, path, send), h("div", { class: "two" }, headers, body), fault, out);
}

function socket(main: HTMLElement, signal: AbortSignal): void {
  const fault = h("p", { class: "fault", role: "status" });
  const path = h("input", { "aria-label": "Path of the WebSocket", value: localStorage.getItem("minido-socket") ?? "/agents/chat/lobby", class: "mono wide", keydown: (e: KeyboardEvent) => { if (e.key === "Enter") connect.click(); } });
  const text = h("textarea", { "aria-label": "Frame to send", rows: 3, spellcheck: false, keydown: (e: KeyboardEvent) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) send.click(); } });
  const detail = h("pre", { class: "card", tabindex: 0, "aria-label": "The chosen frame" }, "Choose a frame.");
  let frames: Frame[] = [], seq = 0;
  let open: WebSocket | undefined;
  const list = new List<Frame>("Frames", [
    { title: "Time", width: "8.5rem", show: f => time(f.at_ms) },
    { title: "", width: "2.5rem", show: f => h("span", { class: f.sent ? "warn" : "good", title: f.sent ? "sent" : "received" }, f.sent ? "→" : "←") },
    { title: "Frame", show: f => f.text.slice(0, 300).replaceAll("\n", " ") },
  ], f => fill(detail, pretty(f.text)), (a, b) => a.seq === b.seq);
  const agent = new Agent(path, frame => { if (open?.readyState !== 1) throw new Error("Connect first."); open.send(frame); add(true, frame); }, fault);
  const add = (sent: boolean, frame: string) => {
    frames.push({ seq: ++seq, at_ms: Date.now(), sent, text: frame });
    if (frames.length > keptFrames) frames = frames.slice(-keptFrames);
    list.set(frames, true);
  };
  const connect = button("Connect", async () => {
    open?.close();
    const { worker_url } = await get<Status>("/v1/status");
    localStorage.setItem("minido-socket", path.value);
    const ws = new WebSocket(worker_url.replace(/^http/, "ws") + path.value);
    open = ws;
    ws.binaryType = "arraybuffer";
    fill(fault, "Connecting...");
    ws.onopen = () => { fill(fault, h("span", { class: "good" }, `Connected to ${path.value}`)); send.disabled = false; };
    ws.onmessage = e => { add(false, typeof e.data === "string" ? e.data : `(${e.data.byteLength} bytes)`); if (typeof e.data === "string") agent.received(e.data); };
    agent.clear();
    ws.onclose = e => { if (open === ws) { fill(fault, `Closed: ${e.code} ${e.reason}`); send.disabled = true; } };
  }, fault);
  const send = button("Send", () => { open?.send(text.value); add(true, text.value); }, fault, { disabled: true, title: "Ctrl+Enter" });
  signal.addEventListener("abort", () => open?.close());
  fill(main, h("h2", {}, "WebSocket"), h("div", { class: "bar" }, path, connect, button("Close", () => open?.close(1000, "closed from the dashboard"), fault)), fault,
    agent.element, h("details", { open: true }, h("summary", {}, "Frames"), h("div", { class: "bar" }, text, send), h("div", { class: "split" }, list.element, detail)));
}
