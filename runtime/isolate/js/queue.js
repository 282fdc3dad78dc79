// The argument of a queue handler (workerd: api/queue.h, QueueController and
// QueueMessage). What is said of a batch is collected in a result, which leaves
// as JSON.
function (native, p) {
  "use strict";
  const { JSONStringify, ObjectDefineProperty, ObjectKeys, MathTrunc, NumberIsNaN } = p;

  const own = (object, name, value) => ObjectDefineProperty(object, name, { value, enumerable: true, configurable: true, writable: false });
  const delayOf = (options) => {
    const given = options === undefined || options === null ? undefined : options.delaySeconds;
    if (given === undefined) return undefined;
    const n = +given;
    return NumberIsNaN(n) ? 0 : MathTrunc(n);
  };
  const late = (what, id, first) => {
    const message = id === undefined ? "" : ` on message ${id}`;
    const on = id === undefined ? "" : " on a message";
    native.warn(`Received a call to ${what}()${message} after ${first}() was already called. Calling ${what}()${on} after calling ${first}() has no effect.`);
  };

  class QueueMessage {
    #result;
    constructor(result, message) {
      this.#result = result;
      own(this, "attempts", message.attempts);
      own(this, "body", message.body);
      own(this, "timestamp", message.timestamp);
      own(this, "id", message.id);
    }
    retry(options) {
      const r = this.#result;
      const delaySeconds = delayOf(options);
      if (r.retryAll) return;
      if (r.ackAll) return late("retry", this.id, "ackAll");
      if (r.acks[this.id]) return late("retry", this.id, "ack");
      const known = r.retries[this.id] ?? (r.retries[this.id] = { msgId: this.id });
      if (delaySeconds !== undefined) known.delaySeconds = delaySeconds;
    }
    ack() {
      const r = this.#result;
      if (r.ackAll) return;
      if (r.retryAll) return late("ack", this.id, "retryAll");
      if (r.retries[this.id]) return late("ack", this.id, "retry");
      r.acks[this.id] = true;
    }
  }

  class QueueController {
    #result;
    constructor(result, queue, messages, metadata) {
      this.#result = result;
      own(this, "metadata", metadata);
      own(this, "queue", queue);
      own(this, "messages", messages);
    }
    retryAll(options) {
      const r = this.#result;
      const delaySeconds = delayOf(options);
      if (r.ackAll) return late("retryAll", undefined, "ackAll");
      r.retryAll = true;
      if (delaySeconds !== undefined) r.delaySeconds = delaySeconds;
    }
    ackAll() {
      const r = this.#result;
      if (r.retryAll) return late("ackAll", undefined, "retryAll");
      r.ackAll = true;
    }
  }
  for (const C of [QueueMessage, QueueController]) {
    ObjectDefineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true });
  }

  return (queue, incoming, metrics) => {
    const result = { ackAll: false, retryAll: false, delaySeconds: undefined, acks: p.ObjectCreate(null), retries: p.ObjectCreate(null) };
    const messages = [];
    for (let i = 0; i < incoming.length; i++) messages[i] = new QueueMessage(result, incoming[i]);
    metrics.oldestMessageTimestamp = metrics.oldestMessageTimestamp === undefined ? undefined : new p.Date(metrics.oldestMessageTimestamp);
    const read = (outcome) => {
      const retryMessages = [];
      const ids = ObjectKeys(result.retries);
      for (let i = 0; i < ids.length; i++) retryMessages[i] = result.retries[ids[i]];
      return JSONStringify({
        outcome, ackAll: result.ackAll, retryBatch: { retry: result.retryAll, delaySeconds: result.delaySeconds },
        retryMessages, explicitAcks: ObjectKeys(result.acks),
      });
    };
    return { batch: new QueueController(result, queue, messages, { metrics }), read };
  };
}
