import { follow, get, post, type Entry } from "./api";
import { bytes, button, fill, h, message, span, time } from "./dom";

type Content = { text: string; base64?: string; bytes: number; truncated: boolean };
type Frame = Content & { at_ms: number; sent: boolean };
export type Exchange = {
  record: number; from: "client" | "worker"; at_ms: number; method: string; url: string; headers: [string, string][]; body: Content;
  status: number; response_headers: [string, string][]; response: Content; object?: string; sent_us: number; head_us: number; first_us: number; end_us: number;
  failure?: string; socket?: { open: boolean; code?: number; reason?: string; frames: Frame[]; lost: number };
};

export const recorded = (record: number): Promise<Exchange> => post<Exchange>("/v1/record", { record });

const shown = 100000; // characters of a body

export const pretty = (text: string): string => { try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; } };

const body = (c: Content): string => (c.base64 !== undefined ? `(bytes, base64) ${c.base64}` : pretty(c.text)).slice(0, shown) + (c.truncated || c.text.length > shown ? `\n(the beginning of ${bytes(c.bytes)})` : "");

// replayable are the headers that a repeated request is sent with: the rest belongs to
// the connection, or is added on the way in.
const replayable = (headers: [string, string][]): [string, string][] =>
  headers.filter(([name]) => !/^(host|connection|upgrade|content-length|transfer-encoding|accept-encoding|cf-|sec-websocket-|proxy-|keep-alive)/i.test(name));

// again is a recorded request as POST /v1/request takes it.
export function again(x: Exchange): { method: string; path: string; headers: [string, string][]; body?: string; base64?: string } {
  if (x.body.truncated) throw new Error(`Of the request's body only the beginning was kept (${bytes(x.body.bytes)} in all).`);
  const to = new URL(x.url);
  return { method: x.method, path: to.pathname + to.search, headers: replayable(x.headers), ...(x.body.base64 !== undefined ? { base64: x.body.base64 } : { body: x.body.text }) };
}

// phases are what an exchange spent its time with.
function phases(x: Exchange): Node {
  const all: [string, number, number][] = [["request's body read", 0, x.sent_us], ["until the response's head", 0, x.head_us], ["until its first byte", x.head_us, x.first_us], ["until its end", x.first_us || x.head_us, x.end_us]];
  const longest = Math.max(1, ...all.map(p => p[2]));
  return h("dl", { class: "phases" }, ...all.filter(p => p[2] > 0).flatMap(([name, from, to]) => [h("dt", {}, name), h("dd", {}, h("meter", { min: 0, max: longest, value: Math.max(to - from, longest / 200), "aria-label": name }), ` ${exact(to - from)}`)]));
}

const exact = (us: number): string => us < 1000 ? `${us} µs` : us < 1e6 ? `${(us / 1000).toFixed(1)} ms` : span(us / 1000);

// exchange shows what was recorded of a request, with what happened meanwhile.
export async function exchange(main: HTMLElement, record: number, meanwhile: (from: number, to: number) => Node[]): Promise<void> {
  const fault = h("p", { class: "fault", role: "alert" }), answer = h("p", { role: "status" });
  try {
    const x = await recorded(record);
    const headers = (list: [string, string][]) => h("pre", { class: "faint" }, list.map(([name, value]) => `${name}: ${value}`).join("\n"));
    const replay = x.from === "client" && !x.socket && button("Replay", async () => {
      const a = await post<{ status: number; took_us: number; text: string }>("/v1/request", again(x));
      fill(answer, `Answered ${a.status} after ${exact(a.took_us)}: ${a.text.slice(0, 200)}`);
    }, fault);
    fill(main, h("h2", { class: "mono" }, `${x.method} ${x.url}`),
      h("div", { class: "bar" }, h("b", { class: x.status >= 500 || !x.status ? "bad" : x.status >= 400 ? "warn" : "good" }, x.status ? String(x.status) : "no answer"), x.from === "worker" && "sent by the worker", x.object && `answered by ${x.object}`,
        replay, x.from === "client" && !x.socket && h("a", { href: `#/client/record/${record}` }, "Edit and send"), x.socket && h("a", { href: `#/sockets/${record}` }, "Frames")),
      fault, answer, x.failure && h("p", { class: "fault" }, x.failure), phases(x),
      h("h2", {}, "Request"), headers(x.headers), x.body.bytes > 0 && h("pre", { class: "answer" }, body(x.body)),
      h("h2", {}, "Response"), headers(x.response_headers), x.response.bytes > 0 && h("pre", { class: "answer" }, body(x.response)),
      h("h2", {}, "Meanwhile"), ...meanwhile(x.at_ms, x.at_ms + Math.max(1, (x.end_us || x.head_us) / 1000)));
  } catch (error) {
    fill(main, h("p", { class: "fault" }, message(error)));
  }
}

// stack shows a stack with links: each opens the place in the source below it.
export function stack(text: string): Node {
  const place = h("div");
  const lines = text.split("\n").map(line => {
    const found = /^\s*at (?:(.*) \()?([^()\s]+):(\d+):(\d+)\)?$/.exec(line);
    if (!found) return h("div", {}, line);
    const [, name, file, row] = found;
    return h("div", {}, "at ", name && `${name} `, h("button", { type: "button", class: "link mono", click: () => source(place, file!, Number(row)) }, `${file}:${row}:${found[4]}`));
  });
  return h("div", {}, ...lines, place);
}

async function source(place: HTMLElement, file: string, row: number): Promise<void> {
  try {
    const s = await post<{ path: string; text: string }>("/v1/source", { file });
    const lines = s.text.split("\n"), first = Math.max(0, row - 6);
    fill(place, h("h2", {}, `${file} `, s.path && h("a", { href: `vscode://file${s.path.startsWith("/") ? "" : "/"}${encodeURI(s.path)}:${row}` }, "Open in VS Code")),
      h("pre", { class: "answer", tabindex: 0 }, ...lines.slice(first, row + 5).map((line, i) => h("div", { class: first + i + 1 === row ? "hit" : "" }, `${String(first + i + 1).padStart(5)}  ${line}`))));
  } catch (error) {
    fill(place, h("p", { class: "fault" }, message(error)));
  }
}

// sockets is the page of all WebSockets: those that clients opened, and those that the
// worker opened, with what goes over them while somebody watches.
export function sockets(main: HTMLElement, signal: AbortSignal, record: string): void {
  const fault = h("p", { class: "fault", role: "status" });
  const rows = h("tbody"), frames = h("tbody"), about = h("p", { class: "note" }, "Choose a socket."), detail = h("pre", { class: "card", tabindex: 0, "aria-label": "The chosen frame" }, "Choose a frame.");
  let chosen = Number(record), drawn = "";
  const choose = (n: number) => { chosen = n; drawn = ""; fill(detail, "Choose a frame."); draw(); };
  async function draw(): Promise<void> {
    try {
      const list = (await get<{ sockets: Exchange[] }>("/v1/sockets")).sockets.reverse();
      if (signal.aborted) return;
      fill(fault);
      fill(rows, ...list.slice(0, 500).map(x => h("tr", { "aria-selected": String(x.record === chosen) },
        h("td", {}, h("button", { type: "button", class: "link mono", click: () => choose(x.record) }, new URL(x.url).pathname)),
        h("td", {}, x.from === "client" ? x.object ?? "worker" : new URL(x.url).host), h("td", {}, x.from), h("td", { class: x.socket!.open ? "good" : "faint" }, x.socket!.open ? "open" : `closed ${x.socket!.code}`), h("td", {}, time(x.at_ms)))));
      if (list.length === 0) fill(rows, h("tr", {}, h("td", { colspan: 5, class: "note" }, "No socket has been open.")));
      if (!chosen) return;
      const x = await recorded(chosen), s = x.socket!;
      const last = `${s.frames.length} ${s.lost} ${s.open}`;
      if (last === drawn || signal.aborted) return;
      drawn = last;
      fill(about, `${x.url}: ${s.frames.length} frames${s.lost ? `, ${s.lost} older ones are not kept` : ""}${s.open ? "" : `; closed with ${s.code} ${s.reason ?? ""}`}. Frames are recorded while this page or one that shows requests is open.`);
      fill(frames, ...s.frames.slice().reverse().map(f => h("tr", {}, h("td", {}, time(f.at_ms)), h("td", { class: f.sent ? "warn" : "good" }, f.sent ? "→" : "←"), h("td", {}, bytes(f.bytes)),
        h("td", {}, h("button", { type: "button", class: "link mono", click: () => fill(detail, body(f)) }, (f.base64 ?? f.text).slice(0, 120))))));
    } catch (error) {
      if (!signal.aborted) fill(fault, message(error));
    }
  }
  fill(main, h("h1", {}, "Sockets"), fault, h("div", { class: "split" },
    h("div", { class: "place" }, h("div", { class: "card" }, h("table", {}, h("thead", {}, h("tr", {}, ...["Path", "With", "Opened by", "State", "Since"].map(t => h("th", {}, t)))), rows)),
      about, h("div", { class: "card tall" }, h("table", {}, h("thead", {}, h("tr", {}, ...["Time", "", "Size", "Frame"].map(t => h("th", {}, t)))), frames))), detail));
  follow(false, signal, () => {}, () => {}).catch(error => fill(fault, message(error))); // who follows has them recorded
  void draw();
  const again = setInterval(draw, 1000);
  signal.addEventListener("abort", () => clearInterval(again));
}

// statements are what a turn has asked of its object's storage.
export const statements = (e: Entry): Node[] => !e.statements ? [] : [h("h2", {}, "Asked of its storage"),
  ...e.statements.map(s => h("div", { class: "statement" },
    h("pre", { class: s.failed ? "bad" : "" }, s.text),
    h("div", { class: "note" }, [exact(s.took_us), s.rows_read && `${s.rows_read} rows read`, s.rows_written && `${s.rows_written} written`, s.failed].filter(Boolean).join(", ")),
    s.where && stack(s.where))),
  e.unlisted ? h("p", { class: "note" }, `${e.unlisted} more are not listed.`) : ""].filter(n => n !== "") as Node[];

// related are entries in short; each opens by itself.
export const related = (entries: Entry[], says: (e: Entry) => string, tone: (e: Entry) => string, open: (e: Entry) => void): Node[] =>
  entries.length === 0 ? [h("p", { class: "note" }, "Nothing that was recorded.")]
    : entries.slice(0, 200).map(e => h("button", { type: "button", class: "line mono " + tone(e), click: () => open(e) }, `${time(e.at_ms)} ${e.object ?? e.kind}  ${says(e).slice(0, 200)}`));
