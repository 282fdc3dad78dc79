// What tail workers get (workerd: api/trace.h): the classes of TraceItem and of the
// events, and the JSON of what console methods were given.
function (native, p) {
  "use strict";
  const { ArrayIsArray, ArrayPrototypeMap, ArrayPrototypePush, JSONStringify, JSONParse, ObjectCreate, ObjectDefineProperty, ObjectGetPrototypeOf } = p;
  const ObjectPrototype = ObjectGetPrototypeOf({});
  const classes = {};
  // instance makes an instance of a class that user code cannot construct.
  const instance = (name, fields) => {
    const C = classes[name] ??= { [name]: function () { throw new p.TypeError("Illegal constructor"); } }[name];
    p.tag(C, name);
    return p.ObjectAssign(ObjectCreate(C.prototype), fields);
  };

  const request = (r) => {
    const made = (url, redact) => {
      const headers = {};
      for (let i = 0; i < r.headers.length; i++) {
        const [name, value] = r.headers[i];
        headers[name] = redact && native.secret(name) ? "REDACTED" : name in headers ? headers[name] + ", " + value : value;
      }
      return instance("Request", { url, method: r.method, headers, cf: r.cf });
    };
    const shown = made(native.redact(r.url), true);
    ObjectDefineProperty(shown, "getUnredacted", { value: function getUnredacted() { return made(r.url, false); }, configurable: true, writable: true });
    return shown;
  };
  const info = (e) => {
    switch (e.type) {
      case "fetch":
        return instance("FetchEventInfo", { request: request(e.request), response: e.status ? instance("Response", { status: e.status }) : undefined });
      case "jsrpc": return instance("JsRpcEventInfo", { rpcMethod: e.rpcMethod ?? "" });
      case "connect": return instance("ConnectEventInfo", {});
      case "scheduled": return instance("ScheduledEventInfo", { cron: e.cron ?? "", scheduledTime: e.scheduledMs ?? 0 });
      case "alarm": return instance("AlarmEventInfo", { scheduledTime: new p.Date(e.scheduledMs ?? 0) });
      case "queue": return instance("QueueEventInfo", { batchSize: e.batchSize ?? 0, queue: e.queue ?? "" });
      case "email": return instance("EmailEventInfo", { rawSize: e.mail.rawSize, rcptTo: e.mail.rcptTo, mailFrom: e.mail.mailFrom });
      case "hibernatableWebSocket": return instance("HibernatableWebSocketEventInfo", { getWebSocketEvent: socket(e.socket) });
      case "trace": return instance("TailEventInfo", { consumedEvents: ArrayPrototypeMap(e.consumed, (c) => instance("TailItem", { scriptName: c.scriptName })) });
    }
    return null;
  };
  const socket = (s) => {
    const type = { webSocketEventType: s.webSocketEventType };
    if (s.webSocketEventType === "close") return instance("Close", { wasClean: s.wasClean ?? false, code: s.code ?? 0, ...type });
    return instance(s.webSocketEventType === "message" ? "Message" : "Error", type);
  };
  const message = (m) => (m.message === undefined ? undefined : native.message(m.message));
  const log = (l) => instance("TraceLog", { errorInfo: l.errorInfo, message: l.message, level: l.level, timestamp: l.timestamp });
  const item = (t) => instance("TraceItem", {
    wallTime: 0, cpuTime: 0, truncated: t.truncated, executionModel: t.executionModel, outcome: t.outcome, durableObjectId: t.durableObjectId,
    preview: undefined, tailAttributes: undefined, scriptTags: undefined, dispatchNamespace: undefined, scriptVersion: undefined,
    entrypoint: t.entrypoint, scriptName: t.scriptName, diagnosticsChannelEvents: ArrayPrototypeMap(t.diagnosticsChannelEvents ?? [], (m) => instance("TraceDiagnosticChannelEvent", { message: message(m), channel: m.channel, timestamp: m.timestamp })),
    exceptions: ArrayPrototypeMap(t.exceptions, (x) => instance("TraceException", { stack: x.stack, name: x.name, message: x.message, timestamp: x.timestamp })),
    logs: ArrayPrototypeMap(t.logs, log), eventTimestamp: t.eventTimestamp, event: info(t.event),
  });

  // onsetInfo is the event as a streaming tail worker sees it.
  const onsetInfo = (e) => {
    switch (e.type) {
      case "fetch":
        return { type: "fetch", method: e.request.method, url: e.request.url, cfJson: e.request.cf, headers: ArrayPrototypeMap(e.request.headers, ([name, value]) => ({ name, value })) };
      case "jsrpc": return { type: "jsrpc" };
      case "scheduled": return { type: "scheduled", scheduledTime: new p.Date(e.scheduledMs ?? 0), cron: e.cron ?? "" };
      case "alarm": return { type: "alarm", scheduledTime: new p.Date(e.scheduledMs ?? 0) };
      case "queue": return { type: "queue", queueName: e.queue ?? "", batchSize: e.batchSize ?? 0 };
      case "email": return { type: "email", mailFrom: e.mail.mailFrom, rcptTo: e.mail.rcptTo, rawSize: e.mail.rawSize };
      case "hibernatableWebSocket": {
        const s = e.socket;
        return { type: "hibernatableWebSocket", info: s.webSocketEventType === "close" ? { type: "close", code: s.code ?? 0, wasClean: s.wasClean ?? false } : { type: s.webSocketEventType } };
      }
      case "trace": return { type: "trace", traces: ArrayPrototypeMap(e.consumed, (c) => c.scriptName) };
    }
    return { type: e.type };
  };
  const streamed = (e) => {
    const t = e.trace;
    switch (e.type) {
      case "onset": {
        const onset = { type: "onset", executionModel: t.executionModel, spanId: e.spanId };
        if (t.entrypoint !== undefined) onset.entrypoint = t.entrypoint;
        if (t.durableObjectId !== undefined) onset.durableObjectId = t.durableObjectId;
        onset.scriptName = t.scriptName;
        onset.scriptTags = [];
        onset.info = onsetInfo(t.event);
        return onset;
      }
      case "log": {
        const log = { type: "log", level: e.log.level, message: e.log.message };
        if (e.log.errorInfo !== undefined) log.errorInfo = e.log.errorInfo;
        return log;
      }
      case "exception": return { type: "exception", name: e.exception.name, message: e.exception.message, stack: e.exception.stack };
      case "diagnosticChannel": return { type: "diagnosticChannel", channel: e.published.channel, message: message(e.published) };
      case "return": return e.status ? { type: "return", info: { type: "fetch", statusCode: e.status } } : { type: "return" };
    }
    return { type: "outcome", outcome: t.outcome, cpuTime: 0, wallTime: 0 };
  };

  // plain reports whether a value is shown as JSON: of objects those without a
  // class, and those that say how.
  const plain = (v) => {
    if (v === null || ArrayIsArray(v)) return true;
    if (typeof v !== "object") return typeof v !== "function" && typeof v !== "bigint" && typeof v !== "symbol";
    if (typeof v.toJSON === "function") return true;
    const proto = ObjectGetPrototypeOf(v);
    return proto === ObjectPrototype || proto === null;
  };
  return {
    events: (json) => ArrayPrototypeMap(JSONParse(json), item),
    streamed: (json) => {
      const e = JSONParse(json);
      const spanContext = { traceId: e.traceId };
      const spanId = e.type === "onset" ? e.parentSpanId : e.spanId;
      if (spanId !== undefined) spanContext.spanId = spanId;
      return { spanContext, invocationId: e.invocationId, timestamp: new p.Date(e.timestamp), sequence: e.sequence, event: streamed(e) };
    },
    // describe is the JSON of the arguments of a console method, and of the errors
    // among them ("" if there are none).
    describe: (args) => {
      let message = "[", errors = false;
      const infos = [];
      for (let i = 0; i < args.length; i++) {
        const v = args[i];
        let text;
        try { text = JSONStringify(plain(v) ? v : `${v}`) ?? "null"; } catch { text = "{}"; }
        message += (i > 0 ? "," : "") + text;
        const info = native.error(v);
        errors ||= info !== null;
        ArrayPrototypePush(infos, info);
      }
      return { message: message + "]", errors: errors ? JSONStringify(infos) : "" };
    },
  };
}
