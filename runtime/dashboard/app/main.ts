import { enter, get, Refusal, type Status } from "./api";
import { chaos } from "./chaos";
import { client } from "./client";
import { clock } from "./clock";
import { data } from "./data";
import { bytes, fill, h, message } from "./dom";
import { live } from "./live";
import { objects } from "./objects";
import { sockets } from "./record";
import { stores } from "./stores";

const pages: [path: string, title: string, show: (main: HTMLElement, signal: AbortSignal, ...rest: string[]) => void][] = [
  ["objects", "Objects", objects],
  ["data", "Data", (main, signal, name = "", id = "", ...facet) => data(main, signal, name, id, facet)],
  ["stores", "Stores", (main, signal, kind = "", id = "") => stores(main, signal, kind, id)],
  ["timeline", "Timeline", (main, signal) => live(main, signal, true)],
  ["logs", "Requests and logs", (main, signal) => live(main, signal, false)],
  ["sockets", "Sockets", (main, signal, record = "") => sockets(main, signal, record)],
  ["client", "Client", (main, signal, again = "", record = "") => client(main, signal, again, record)],
  ["chaos", "Chaos", (main, signal) => chaos(main, signal)],
  ["time", "Time", clock],
];

const main = h("main", { tabindex: -1 });
const nav = h("nav", { "aria-label": "Pages" });
const facts = h("div", { class: "facts" });
let page = new AbortController();

function go(): void {
  page.abort();
  page = new AbortController();
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const found = pages.find(p => p[0] === name) ?? pages[0]!;
  fill(nav, ...pages.map(([path, title]) => h("a", { href: "#/" + path, "aria-current": path === found[0] && "page" }, title)));
  document.title = `${found[1]} · minido`;
  found[2](main, page.signal, ...rest);
}

const schemes = ["light dark", "light", "dark"];
const theme = h("button", { type: "button", title: "Light or dark", click: () => paint(schemes[(schemes.indexOf(localStorage.getItem("minido-scheme") ?? schemes[0]!) + 1) % schemes.length]!) });
function paint(scheme: string): void {
  localStorage.setItem("minido-scheme", scheme);
  document.documentElement.style.colorScheme = scheme;
  fill(theme, scheme === "light dark" ? "Theme: system" : `Theme: ${scheme}`);
}

async function status(): Promise<void> {
  const s = await get<Status>("/v1/status");
  fill(facts, h("span", {}, s.worker), h("a", { href: s.worker_url, target: "_blank", rel: "noreferrer" }, s.worker_url),
    h("span", {}, `${s.objects_in_memory} objects in memory`), h("span", {}, `heap ${bytes(s.heap_bytes)}`), h("span", { title: s.persist_dir }, `pid ${s.pid}`));
}

const refused = "This page has no access. Run `minido dashboard`, or press d where `minido dev` runs, and open the address that it prints.";

async function start(): Promise<void> {
  if (!await enter()) throw new Refusal(401, "forbidden", refused);
  await status();
  fill(document.body, h("header", {}, h("b", {}, "minido"), facts, h("span", { class: "fill" }), theme), nav, main);
  paint(localStorage.getItem("minido-scheme") ?? schemes[0]!);
  addEventListener("hashchange", go);
  go();
  setInterval(() => { if (!document.hidden) status().catch(error => fill(facts, h("span", { class: "bad" }, message(error)))); }, 2000);
}

start().catch(error => fill(document.body, h("p", { class: "lost", role: "alert" }, error instanceof Refusal && error.status === 401 ? refused : message(error))));
