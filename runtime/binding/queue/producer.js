// The queue binding (workerd: api/queue.h, WorkerQueue). Messages leave as calls
// of the queue's broker (broker.js).
function (native, p) {
  "use strict";
  const { ArrayBufferIsView, ArrayPrototypePush, JSONStringify, ObjectDefineProperty, StringPrototypeToLowerCase, MathTrunc, MathMax, NumberIsNaN } = p;
  const types = { __proto__: null, text: true, bytes: true, json: true, v8: true };
  const maxMessageBytes = 128000, maxBatchMessages = 100, maxBatchBytes = 288000, maxDelaySeconds = 86400;

  const contentType = (given) => {
    const type = StringPrototypeToLowerCase(`${given}`);
    if (!types[type]) throw new p.TypeError(`Unsupported queue message content type: ${given}`);
    return type;
  };
  const requires = (type, what, body) => new p.TypeError(`Content Type "${type}" requires a value of type ${what}, but received: ${typeof body}`);
  const serialize = (body, type) => {
    switch (type) {
      case "text":
        if (typeof body !== "string") throw requires(type, "string", body);
        return native.utf8(body);
      case "bytes": {
        if (!ArrayBufferIsView(body)) throw requires(type, "ArrayBufferView", body);
        return native.bytes(body);
      }
      case "json": {
        const text = JSONStringify(body);
        // What JSON has no text for is sent, and refused by the broker, as in the reference.
        return text === undefined ? undefined : native.utf8(text);
      }
      default:
        return native.serialize(body);
    }
  };
  const delay = (given) => {
    if (given === undefined) return undefined;
    const n = +given;
    return NumberIsNaN(n) ? 0 : MathTrunc(n);
  };
  const validDelay = (seconds) => seconds === undefined || (seconds >= 0 && seconds <= maxDelaySeconds);

  return (stub, byDefault, exposesCodes, producerDelay) => {
    const refuse = (method, status) => {
      throw new p.Error(exposesCodes ? "Unknown Internal Error (15000)" : `Queue ${method} failed: ${status}`);
    };
    const options = (given, method) => {
      if (given === undefined || given === null) return {};
      if (typeof given !== "object" && typeof given !== "function") {
        throw new p.TypeError(`Failed to execute '${method}' on 'WorkerQueue': parameter 2 is not of type '${method === "send" ? "SendOptions" : "SendBatchOptions"}'.`);
      }
      return given;
    };
    const message = (body, type, delaySeconds) => {
      if (body === undefined) throw new p.TypeError("Message body cannot be undefined");
      const t = type === undefined ? byDefault : contentType(type);
      return { type: t, body: serialize(body, t), delay: delay(delaySeconds) };
    };
    // Metrics have a Date; none is undefined.
    const dated = (m) => {
      m.oldestMessageTimestamp = m.oldestMessageTimestamp === undefined ? undefined : new p.Date(m.oldestMessageTimestamp);
      return m;
    };
    const sent = (m) => ({ metadata: { metrics: dated({ backlogCount: m[0], backlogBytes: m[1], oldestMessageTimestamp: m[2] }) } });
    class WorkerQueue {
      async metrics() {
        const m = await stub.metrics();
        return dated({ backlogCount: m[0], backlogBytes: m[1], oldestMessageTimestamp: m[2] });
      }
      async send(body, given) {
        if (arguments.length === 0) throw new p.TypeError("Failed to execute 'send' on 'WorkerQueue': parameter 1 is not of type 'Value'.");
        const o = options(given, "send");
        const m = message(body, o.contentType, o.delaySeconds);
        if (m.body === undefined || !validDelay(m.delay)) refuse("send", "Bad Request");
        if (m.body.byteLength > maxMessageBytes) refuse("send", `message length of ${m.body.byteLength} bytes exceeds limit of ${maxMessageBytes}`);
        return sent(await native.sendOne(m.type, m.body, m.delay ?? producerDelay));
      }
      async sendBatch(given, batchOptions) {
        if (given === null || given === undefined || typeof given !== "object" || typeof given[p.SymbolIterator] !== "function") {
          throw new p.TypeError("Failed to execute 'sendBatch' on 'WorkerQueue': parameter 1 is not of type 'Sequence'.");
        }
        const fallback = delay(options(batchOptions, "sendBatch").delaySeconds);
        const requests = [];
        for (const one of given) {
          if (one === null || (typeof one !== "object" && typeof one !== "function")) {
            throw new p.TypeError("Incorrect type: the provided value is not of type 'MessageSendRequest'.");
          }
          ArrayPrototypePush(requests, { body: one.body, contentType: one.contentType, delaySeconds: one.delaySeconds });
        }
        if (requests.length === 0) throw new p.TypeError("sendBatch() requires at least one message");
        let total = 0, largest = 0, bad = !validDelay(fallback);
        const messages = [];
        for (let i = 0; i < requests.length; i++) {
          const m = message(requests[i].body, requests[i].contentType, requests[i].delaySeconds);
          ArrayPrototypePush(messages, m);
          if (m.body === undefined || !validDelay(m.delay)) { bad = true; continue; }
          total += m.body.byteLength;
          largest = MathMax(largest, m.body.byteLength);
        }
        if (messages.length > maxBatchMessages) refuse("sendBatch", `batch message count of ${messages.length} exceeds limit of ${maxBatchMessages}`);
        if (largest > maxMessageBytes) refuse("sendBatch", `message in batch has length ${largest} bytes which exceeds single message size limit of ${maxMessageBytes}`);
        if (total > maxBatchBytes) refuse("sendBatch", `batch size of ${total} bytes exceeds limit of ${maxBatchBytes}`);
        if (bad) refuse("sendBatch", "Bad Request");
        return sent(await native.send(messages, fallback ?? producerDelay));
      }
    }
    for (const name of ["metrics", "send", "sendBatch"]) ObjectDefineProperty(WorkerQueue.prototype, name, { enumerable: true });
    p.tag(WorkerQueue, "WorkerQueue");
    return new WorkerQueue();
  };
}
