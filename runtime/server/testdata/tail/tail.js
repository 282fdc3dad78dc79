// Keeps what it is told; fetch hands it out, without what differs from run to run.
const got = [], streams = new Map();
const long = (value) => (typeof value === "string" && value.length > 1000 ? `long: ${value.length}` : value);
const keep = (key, value) => {
  if (key === "timestamp" || key === "eventTimestamp" || key === "scheduledTime") return typeof value === "number" || !Number.isNaN(Date.parse(value)) ? "time" : value;
  if (key === "stack") return typeof value === "string" && value.startsWith("    at ") ? "frames" : long(value);
  if (key === "cf" || key === "cfJson") return undefined;
  if (key === "scriptName") return undefined; // null in workerd, which has no names
  if (key === "headers" && Array.isArray(value)) return value.filter((h) => h.name.startsWith("x-"));
  if (key === "headers") return Object.fromEntries(Object.entries(value).filter(([name]) => name.startsWith("x-") || name === "cookie" || name === "authorization"));
  if (key === "durableObjectId") return value === undefined ? undefined : "id";
  if (key === "traceId" || key === "spanId" || key === "invocationId") return /^[0-9a-f]+$/.test(value) ? value.length : value;
  if (key === "url") return value.replace(/\/\/[^/]*/, "//host");
  if (key === "message" && typeof value?.[0] === "string" && value[0].length > 1000) return ["long"];
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Map) return ["Map", ...value];
  if (value instanceof Error) return `an error, ${value}`;
  return long(value);
};
export default {
  async tail(events) {
    for (const e of events) {
      const shape = [e.constructor.name, String(e), Object.keys(e), e.event?.constructor.name, Object.keys(e.event ?? {}), e.logs[0]?.constructor.name, Object.keys(e.logs[0] ?? {}),
        e.exceptions[0]?.constructor.name, Object.keys(e.exceptions[0] ?? {}), e.event?.request?.constructor.name, Object.keys(e.event?.request ?? {})];
      const full = e.event?.request?.getUnredacted();
      got.push(JSON.stringify({ event: e, shape, full }, keep));
    }
  },
  tailStream(onset) {
    const all = [JSON.stringify(onset, keep)];
    streams.set(onset.invocationId, all);
    return (e) => {
      // Spans are not compared: nothing here has any.
      if (!["spanOpen", "spanClose", "attributes"].includes(e.event.type)) all.push(JSON.stringify({ ...e, sequence: undefined }, keep));
    };
  },
  async fetch() {
    const ended = [...streams].filter(([, all]) => all.at(-1).includes('"type":"outcome"'));
    for (const [id] of ended) streams.delete(id);
    return Response.json({ events: got.splice(0), streams: ended.map(([, all]) => all) });
  },
};
