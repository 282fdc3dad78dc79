import { download, get, post, type Facet, type ObjectInfo } from "./api";
import { button, bytes, fill, h, message, span } from "./dom";
import { ask } from "./edit";
import { List } from "./list";

const place = (o: ObjectInfo): string => `#/data/${encodeURIComponent(o.class)}/${o.id}`;
export const named = (o: ObjectInfo): string => `${o.class}/${o.name ?? o.id}`;
const colour = { running: "good", idle: "good", hibernated: "warn", stored: "faint" };

const alarm = (o: ObjectInfo): string => o.alarm_ms === null ? "" : o.alarm_ms > Date.now() ? `in ${span(o.alarm_ms - Date.now())}` : "due";

// tree are the facets that run, each with those below it; at is where the data of what they belong to are.
const tree = (facets: Facet[], at: string): HTMLElement => h("ul", {}, ...facets.map(f => {
  const own = `${at}/${encodeURIComponent(f.name)}`;
  return h("li", {}, h("a", { class: "mono", href: own, title: "Look at its data" }, f.name), " ", h("span", { class: "faint" }, `${f.class}, ${bytes(f.database_bytes)}`), f.facets && tree(f.facets, own));
}));

// objects is the page of Durable Objects: what is in memory and on disk, why it
// stays awake, and what may be done to it.
export function objects(main: HTMLElement, signal: AbortSignal): void {
  const fault = h("p", { class: "fault", role: "alert" });
  const count = h("span", { class: "note" });
  const detail = h("aside", { class: "card", "aria-label": "The chosen object" }, h("p", { class: "note" }, "Choose an object."));
  const search = h("input", { type: "search", placeholder: "Class/name", "aria-label": "Show objects whose name contains", input: () => show() });
  const attached = h("ol", { class: "attached" });
  let all: ObjectInfo[] = [];
  const list = new List<ObjectInfo>("Objects", [
    { title: "Object", show: o => h("span", { title: named(o) }, named(o)) },
    { title: "State", width: "6rem", show: o => h("span", { class: colour[o.state] }, o.state) },
    { title: "Sockets", minor: true, width: "5.6rem", show: o => o.sockets ? String(o.sockets) : "" },
    { title: "Alarm", width: "7.2rem", show: alarm },
    { title: "Database", minor: true, width: "6.8rem", show: o => o.live ? bytes(o.live.database_bytes) : "" },
    { title: "Kept awake by", minor: true, width: "9.6rem", show: o => h("span", { title: o.live?.awake ?? "" }, o.live?.awake ?? "") },
  ], o => describe(o), (a, b) => a.class === b.class && a.id === b.id);

  const show = () => {
    const text = search.value.toLowerCase();
    const rows = all.filter(o => named(o).toLowerCase().includes(text)).sort((a, b) => (a.live ? 0 : 1) - (b.live ? 0 : 1) || (named(a) < named(b) ? -1 : 1));
    fill(count, `${rows.length} of ${all.length} objects, ${all.filter(o => o.live).length} in memory`);
    list.set(rows);
    const chosen = list.selected;
    if (chosen && !detail.contains(document.activeElement)) describe(rows.find(o => o.id === chosen.id && o.class === chosen.class) ?? chosen);
  };

  const act = (o: ObjectInfo, verb: string, more: object = {}) => async () => {
    await post(`/v1/${verb}`, { class: o.class, object: o.id, ...more });
    await load();
  };

  function describe(o: ObjectInfo): void {
    const wrong = h("p", { class: "fault", role: "alert" });
    const fact = (name: string, value: string | undefined): Node[] => value ? [h("dt", {}, name), h("dd", {}, value)] : [];
    const point = h("input", { placeholder: "commit:before#2", "aria-label": "Effect point at which the object crashes", size: 18 });
    fill(detail,
      h("h2", { class: "mono" }, named(o)),
      h("dl", {},
        ...fact("State", o.state), ...fact("Id", o.id), ...fact("Worker", o.worker), ...fact("Alarm", alarm(o)),
        ...fact("Sockets", o.sockets ? String(o.sockets) : ""),
        ...(o.live ? [
          ...fact("Idle for", span(o.live.idle_ms)), ...fact("Events in progress", o.live.events ? String(o.live.events) : ""),
          ...fact("Not evicted: ", o.live.busy), ...fact("Not hibernating: ", o.live.awake),
          ...fact("Waits for", o.live.operations?.join(", ")), ...(o.live.facets ? [h("dt", {}, "Facets"), h("dd", {}, tree(o.live.facets, place(o)))] : []),
          ...fact("Database", bytes(o.live.database_bytes)), ...fact("Its cache", bytes(o.live.cache_bytes)),
        ] : [])),
      h("div", { class: "bar" },
        button("Evict", act(o, "evict"), wrong, { title: "Take it out of memory, as Cloudflare does with idle objects" }),
        button("Hibernate", act(o, "hibernate"), wrong, { title: "Its WebSockets stay connected" }),
        button("Reset", act(o, "reset"), wrong, { title: "What a deployment of new code does" }),
        button("Abort", act(o, "abort"), wrong, { title: "What ctx.abort() does" }),
        button("Crash", act(o, "crash"), wrong, { title: "What is not committed is lost" }),
        o.alarm_ms !== null && button("Fire alarm", act(o, "alarm"), wrong)),
      h("div", { class: "bar" }, point, button("Crash there", async () => {
        await act(o, "crash", { at: point.value })();
        fill(wrong, h("span", { class: "good" }, `It will crash at ${point.value}.`));
      }, wrong)),
      h("div", { class: "bar" },
        h("a", { href: place(o) }, "Look at its data"),
        button("Export the database", async () => {
          const url = URL.createObjectURL(await download("/v1/export", { class: o.class, object: o.id }));
          h("a", { href: url, download: `${o.class}-${o.id.slice(0, 8)}.sqlite` }).click();
          URL.revokeObjectURL(url);
        }, wrong),
        !o.class.includes("-") && button("Delete", () => ask(`Delete what ${named(o)} has stored?`, [h("p", {}, "All its tables, keys and its alarm go, as with deleteAll(). Its past stays: the page of its data can restore it.")],
          (close, fault) => [button("Delete it", async () => { await act(o, "delete")(); close(); }, fault, { class: "main" })]), wrong, { title: "All that it has stored, and its alarm" })),
      wrong, ...(o.sockets && !o.class.includes("-") ? [h("h2", {}, "Its sockets"), attached] : []));
    if (o.sockets) void seen(o);
  }

  // seen shows the sockets of the object that is chosen, with their tags and attachments.
  async function seen(o: ObjectInfo): Promise<void> {
    try {
      const { sockets } = await post<{ sockets: { tags: string[]; attachment?: string }[] }>("/v1/object/sockets", { class: o.class, object: o.id });
      const text = JSON.stringify([o.id, sockets]);
      if (attached.dataset.shown === text) return;
      attached.dataset.shown = text;
      fill(attached, ...sockets.map((s, i) => h("li", {}, s.tags.length > 0 ? `tags ${s.tags.join(", ")}` : "no tags", s.attachment && h("pre", { tabindex: 0, "aria-label": `Attachment of socket ${i + 1}` }, s.attachment))));
    } catch (error) { fill(attached, h("li", { class: "fault" }, message(error))); }
  }

  async function load(): Promise<number> {
    const began = performance.now();
    all = (await get<{ objects: ObjectInfo[] }>("/v1/objects")).objects;
    if (!signal.aborted) show();
    return performance.now() - began;
  }

  fill(main, h("div", { class: "bar" }, h("h1", {}, "Durable Objects"), search, count), fault, h("div", { class: "split" }, list.element, detail));
  void (async () => {
    while (!signal.aborted) {
      let took = 0;
      try {
        if (!document.hidden) took = await load();
        fill(fault);
      } catch (error) { fill(fault, String((error as Error).message)); }
      await new Promise(done => setTimeout(done, Math.max(1000, 10 * took))); // at most a tenth of the server's time
    }
  })();
}
