// The control API (docs/control.md), as the pages use it.

export type Live = {
  events: number; busy?: string; awake?: string; timers: number; kept_alive: number; operations?: string[];
  alarm_running: boolean; idle_ms: number; facets?: Facet[]; database_bytes: number; cache_bytes: number;
};
export type ObjectInfo = {
  worker: string; class: string; name?: string; id: string; state: "running" | "idle" | "hibernated" | "stored";
  sockets: number; alarm_ms: number | null; live?: Live;
};
export type Facet = { name: string; class: string; database_bytes: number; facets?: Facet[] };
export type Status = {
  version: string; pid: number; worker: string; other_workers: string[]; worker_url: string; persist_dir: string;
  heap_bytes: number; objects_in_memory: number;
};
export type Clock = { now_ms: number; mode: "real" | "virtual" | "auto"; next_ms?: number };
export type Result = { columns: string[]; rows: unknown[][]; truncated: boolean };
// StorageCall is SQL, or a verb of ctx.storage with a key, that a turn has run.
export type StorageCall = { text: string; where?: string; took_us: number; rows_read?: number; rows_written?: number; failed?: string };
export type Entry = {
  seq: number; at_ms: number; kind: "log" | "request" | "event" | "point" | "turn" | "fetch" | "sync" | "frame"; object?: string; level?: string; text?: string; where?: string; stack?: string; record?: number;
  method?: string; path?: string; status?: number; took_us?: number; computed_us?: number; effect?: string; side?: string; cause?: string;
  held?: number; statements?: StorageCall[]; unlisted?: number; from?: "client" | "worker" | "upstream"; out?: boolean; bytes?: number; skipped?: number;
};

export class Refusal extends Error {
  constructor(readonly status: number, readonly code: string, message: string) { super(message); }
}

const key = "minido-session";
let token = sessionStorage.getItem(key) ?? "";

// enter exchanges the ticket of the address for a token of this page's own.
export async function enter(): Promise<boolean> {
  const ticket = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(ticket)) {
    history.replaceState(null, "", location.pathname + "#/objects");
    token = (await post<{ token: string }>("/v1/dashboard/session", { ticket })).token;
    sessionStorage.setItem(key, token);
  }
  if (token === "") token = await askOtherTabs();
  if (token !== "") tabs.onmessage = e => { if (e.data === "token?") tabs.postMessage({ token }); };
  return token !== "";
}

// Tabs of this very origin, port included, share a token: a link from the error page
// opens a tab of its own.
const tabs = new BroadcastChannel(key);

function askOtherTabs(): Promise<string> {
  return new Promise(done => {
    const give = (text: string) => { clearTimeout(late); if (text) sessionStorage.setItem(key, text); done(text); };
    const late = setTimeout(give, 300, "");
    tabs.onmessage = e => { if (typeof e.data?.token === "string") give(e.data.token); };
    tabs.postMessage("token?");
  });
}

async function ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { authorization: "Bearer " + token };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal });
  if (response.ok) return response;
  const failure = await response.json().catch(() => undefined);
  throw new Refusal(response.status, failure?.error?.code ?? "unknown", failure?.error?.message ?? response.statusText);
}

export const get = async <T>(path: string): Promise<T> => (await ask("GET", path)).json();
export const post = async <T>(path: string, body: unknown): Promise<T> => (await ask("POST", path, body)).json();
export const download = async (path: string, body: unknown): Promise<Blob> => (await ask("POST", path, body)).blob();

// follow reads the feed until the signal aborts, and starts again when the server
// went away. give gets what has come at once, and how many entries were lost.
export async function follow(points: boolean, signal: AbortSignal, give: (entries: Entry[], lost: number) => void, state: (text: string) => void): Promise<void> {
  let after = 0;
  while (!signal.aborted) {
    try {
      const response = await ask("GET", `/v1/feed?after=${after}&points=${points}&turns=${points}&records=true`, undefined, signal);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      state("");
      for (let rest = ""; ;) {
        const { done, value } = await reader.read();
        if (done) break;
        const lines = (rest + value).split("\n");
        rest = lines.pop()!;
        const entries: Entry[] = [];
        let lost = 0;
        for (const line of lines) {
          const entry = JSON.parse(line);
          lost += entry.lost ?? entry.skipped ?? 0;
          if (entry.seq) entries.push(entry), after = entry.seq;
        }
        give(entries, lost);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && error.status === 401) throw error;
    }
    state("The server does not answer. Trying again...");
    await new Promise(done => setTimeout(done, 1000));
  }
}
