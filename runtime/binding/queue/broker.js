// The broker of one queue: a Durable Object of the platform's own. A message is a
// row until its consumer has acknowledged it, it has gone to the dead letter
// queue, or its retention is over. Batches are delivered within the alarm: a
// death before their results are committed leaves the rows, and the alarm comes
// again. As in miniflare (workers/queues/broker.worker.ts) a batch is due when it
// is full, or when its first message has waited for the consumer's timeout.
function (native, p) {
  "use strict";
  const { ArrayPrototypePush, DateNow, MathMin, MathMax, JSONStringify, JSONParse } = p;
  const shownLength = 16384; // of a body that a person looks at
  const retentionMs = 4 * 24 * 3600 * 1000; // production's default

  return (DurableObject, Response, name, consumer, deadLetters) => class QueueBroker extends DurableObject {
    #sql;
    #storage;
    // What the tables say, for asking them would make sending slow. A transaction that
    // fails ends the object, and these with it.
    #count; // of messages that wait, and their bytes
    #bytes;
    #oldest; // the time of the first message, undefined if there is none
    #last; // the highest seq that was given
    #prompt = 0; // no prompt message has a smaller seq
    #dead; // whether there may be dead letters to move
    #paused;
    #alarmAt; // the time that the alarm has, undefined if that is not known
    constructor(ctx, env) {
      super(ctx, env);
      this.#storage = ctx.storage;
      this.#sql = ctx.storage.sql;
      // Each index costs a page of each send. A message that is due since it came, as most
      // are, is prompt: it is found by its seq and is in no index. Messages have random ids:
      // only those of dead letters can come twice.
      this.#sql.exec(`CREATE TABLE IF NOT EXISTS queued (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        content_type TEXT NOT NULL,
        body BLOB NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        due INTEGER NOT NULL,
        dead INTEGER NOT NULL DEFAULT 0,
        moved INTEGER NOT NULL DEFAULT 0
      );
      CREATE INDEX IF NOT EXISTS queued_late ON queued (dead, due) WHERE dead = 1 OR due <> timestamp;
      DROP INDEX IF EXISTS queued_due;
      CREATE UNIQUE INDEX IF NOT EXISTS queued_moved ON queued (id) WHERE moved = 1;
      CREATE TABLE IF NOT EXISTS leases (lease TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, until INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS paused (since INTEGER NOT NULL)`);
      this.#adopt();
      const [{ last }] = this.#sql.exec("SELECT max(coalesce((SELECT max(seq) FROM queued), 0), coalesce((SELECT max(seq) FROM leases), 0)) AS last").toArray();
      this.#last = last;
      this.#dead = true;
      this.#paused = this.#sql.exec("SELECT 1 FROM paused LIMIT 1").toArray().length > 0;
      this.#recount();
    }

    // adopt takes over the messages of the table that a queue had first.
    #adopt() {
      if (this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'messages'").toArray().length === 0) return;
      this.#sql.exec(`INSERT INTO queued SELECT seq, id, timestamp, content_type, body, attempts, due, dead, 1 FROM messages;
        DROP TABLE messages`);
    }

    #recount() {
      const [row] = this.#sql.exec("SELECT count(*) AS n, coalesce(sum(length(body)), 0) AS bytes FROM queued WHERE dead = 0").toArray();
      this.#count = row.n;
      this.#bytes = row.bytes;
      const [first] = this.#sql.exec("SELECT timestamp FROM queued ORDER BY seq LIMIT 1").toArray();
      this.#oldest = first?.timestamp;
    }

    // The backlog is what has not been acknowledged, what is delayed included.
    metrics() { return [this.#count, this.#bytes, this.#oldest]; }

    // send and sendOne answer with what there was before. They are no async functions:
    // most sends have nothing to wait for, and a promise would be a good part of their cost.
    send(messages, fallback) {
      const now = DateNow(), metrics = this.metrics();
      for (let i = 0; i < messages.length; i++) {
        const m = messages[i];
        // A dead letter that comes again, since its queue died before it forgot it, is there already.
        if (m.id !== undefined && this.#sql.exec("SELECT 1 FROM queued WHERE moved = 1 AND id = ?", m.id).toArray().length > 0) continue;
        this.#insert(m.type, m.body, m.delay ?? fallback, now, m.id, m.timestamp);
      }
      return this.#added(now, metrics);
    }
    sendOne(type, body, delay) {
      const now = DateNow(), metrics = this.metrics();
      this.#insert(type, body, delay, now);
      return this.#added(now, metrics);
    }
    #added(now, metrics) {
      if (metrics[2] < now - retentionMs) {
        this.#sql.exec("DELETE FROM queued WHERE timestamp < ?", now - retentionMs);
        this.#recount();
      }
      return this.#scheduled(now) ? metrics : p.PromisePrototypeThen(this.#schedule(now), () => metrics);
    }

    // id and timestamp are those of a dead letter.
    #insert(type, body, delay = 0, now, id, timestamp = now) {
      this.#sql.exec("INSERT INTO queued (seq, id, timestamp, content_type, body, due, moved) VALUES (?, ?, ?, ?, ?, ?, ?)",
        ++this.#last, id ?? native.id(), timestamp, type, body, now + 1000 * delay, id === undefined ? 0 : 1);
      this.#count++;
      this.#bytes += body.byteLength;
      this.#oldest ??= timestamp;
    }

    // When the next batch is due; undefined if nothing waits for one.
    #next() {
      if (this.#hasDead()) return 0;
      if (!this.#pushes()) return undefined;
      const rows = this.#first("seq, due", Infinity, consumer.maxBatchSize);
      if (rows.length === 0) return undefined;
      const waited = rows[0].due + 1000 * consumer.maxBatchTimeout;
      return rows.length === consumer.maxBatchSize ? MathMin(waited, rows[rows.length - 1].due) : waited;
    }

    // first is the first messages that are due by a time, in the order in which they are due.
    #first(columns, by, most) {
      const prompt = this.#sql.exec(`SELECT ${columns} FROM queued WHERE seq >= ? AND dead = 0 AND due = timestamp ORDER BY seq LIMIT ?`, this.#prompt, most).toArray();
      this.#prompt = prompt.length > 0 ? prompt[0].seq : this.#last + 1;
      const late = this.#sql.exec(`SELECT ${columns} FROM queued WHERE dead = 0 AND due <> timestamp AND due <= ? ORDER BY due, seq LIMIT ?`, by, most).toArray();
      const rows = [];
      for (let i = 0, j = 0; rows.length < most;) {
        const a = i < prompt.length && prompt[i].due <= by ? prompt[i] : undefined, b = j < late.length ? late[j] : undefined;
        if (a === undefined && b === undefined) break;
        const isPrompt = b === undefined || a !== undefined && (a.due < b.due || a.due === b.due && a.seq < b.seq);
        ArrayPrototypePush(rows, isPrompt ? a : b);
        if (isPrompt) i++;
        else j++;
      }
      return rows;
    }

    // due makes a message due at another time; at that of its coming it is prompt again.
    #due(row, at, attempts) {
      this.#sql.exec("UPDATE queued SET attempts = ?, due = ? WHERE seq = ?", attempts, at, row.seq);
      this.#prompt = MathMin(this.#prompt, row.seq);
    }

    #hasDead() {
      return this.#dead &&= this.#sql.exec("SELECT 1 FROM queued WHERE dead = 1 LIMIT 1").toArray().length > 0;
    }

    async #schedule(now) {
      const next = this.#next();
      if (next === undefined) return;
      const at = MathMax(next, now);
      this.#alarmAt ??= await this.#storage.getAlarm() ?? undefined;
      if (this.#alarmAt <= at) return;
      await this.#storage.setAlarm(at);
      this.#alarmAt = at;
    }

    // scheduled reports whether the alarm comes early enough for messages that have been
    // added now: none are delivered, it is due, or no batch is full and they wait longer
    // than what is there.
    #scheduled(now) {
      if (!this.#pushes()) return !this.#hasDead();
      if (!(this.#alarmAt <= now + 1000 * consumer.maxBatchTimeout)) return false;
      return this.#alarmAt <= now || this.#count < consumer.maxBatchSize;
    }

    async alarm() {
      this.#alarmAt = undefined;
      await this.#bury();
      if (this.#pushes()) {
        const batches = [];
        const taken = { __proto__: null };
        for (let i = 0; i < consumer.maxConcurrency; i++) {
          const batch = this.#take(taken);
          if (batch.length === 0) break;
          ArrayPrototypePush(batches, this.#deliver(batch));
        }
        for (let i = 0; i < batches.length; i++) await batches[i];
        await this.#bury();
      }
      await this.#schedule(DateNow());
    }

    // A batch that is due and not taken yet.
    #take(taken) {
      const now = DateNow();
      const ready = [];
      for (const row of this.#first("*", now, consumer.maxBatchSize * consumer.maxConcurrency)) {
        if (!taken[row.seq] && ready.length < consumer.maxBatchSize) ArrayPrototypePush(ready, row);
      }
      if (ready.length === 0) return ready;
      if (ready.length < consumer.maxBatchSize && ready[0].due + 1000 * consumer.maxBatchTimeout > now) return [];
      for (let i = 0; i < ready.length; i++) taken[ready[i].seq] = true;
      return ready;
    }

    async #deliver(batch) {
      const messages = [];
      for (let i = 0; i < batch.length; i++) {
        const row = batch[i];
        ArrayPrototypePush(messages, { id: row.id, timestamp: row.timestamp, type: row.content_type, body: row.body, attempts: row.attempts + 1 });
      }
      const [count, bytes, oldest] = this.metrics();
      let size = 0;
      for (let i = 0; i < batch.length; i++) size += batch[i].body.byteLength;
      const metrics = JSONStringify({ backlogCount: count - batch.length, backlogBytes: bytes - size, oldestMessageTimestamp: count > batch.length ? oldest : undefined });
      const began = DateNow();
      let result;
      try {
        result = JSONParse(await native.deliver(messages, metrics));
      } catch (e) {
        native.report(`queue ${name}: ${e.message}`);
        result = { outcome: "exception" };
      }
      this.#apply(batch, result, DateNow() - began);
    }

    // What the consumer said of a batch, in one transaction with all that follows from it.
    #apply(batch, result, tookMs) {
      const retryAll = result.outcome !== "ok" || result.retryBatch?.retry === true;
      const retries = { __proto__: null };
      for (const r of result.retryMessages ?? []) retries[r.msgId] = r;
      const acked = { __proto__: null };
      const batchDelay = result.retryBatch?.delaySeconds ?? consumer.retryDelay;
      const now = DateNow();
      let failed = 0;
      for (let i = 0; i < batch.length; i++) {
        const row = batch[i];
        if (!retryAll && retries[row.id] === undefined) {
          this.#sql.exec("DELETE FROM queued WHERE seq = ?", row.seq);
          continue;
        }
        failed++;
        const attempts = row.attempts + 1, most = consumer.maxRetries + 1;
        if (attempts < most) {
          const delay = retries[row.id]?.delaySeconds ?? batchDelay;
          this.#due(row, now + 1000 * delay, attempts);
        } else {
          this.#giveUp(row, attempts, most);
        }
      }
      this.#recount();
      native.delivered(`QUEUE ${name} ${batch.length - failed}/${batch.length} (${tookMs}ms)`);
    }

    // pushes reports whether batches go to a consumer now: it is a worker, and nobody
    // has paused the delivery.
    #pushes() {
      return consumer !== undefined && consumer.type !== "http_pull" && !this.#paused;
    }

    // fetch is for the control API: pause, resume, the pull and ack of consumers that
    // fetch messages themselves, and what a person sees of the messages and does to them.
    async fetch(request) {
      const ask = await request.json();
      switch (ask.op) {
        case "pause":
          this.#sql.exec("DELETE FROM paused");
          this.#sql.exec("INSERT INTO paused VALUES (?)", DateNow());
          this.#paused = true;
          return Response.json({});
        case "resume":
          this.#sql.exec("DELETE FROM paused");
          this.#paused = false;
          await this.#schedule(DateNow());
          return Response.json({});
        case "pull": return Response.json(await this.#pull(ask));
        case "ack": return Response.json(this.#ack(ask));
        case "list": return Response.json(this.#list(ask));
        case "remove": return Response.json(this.#changed("DELETE FROM queued WHERE seq = ?", ask.seq));
        case "purge": return Response.json(this.#changed("DELETE FROM queued WHERE dead = 0"));
        case "deliver": {
          // As due as one that has waited for its batch.
          this.#prompt = 0;
          const answer = this.#changed("UPDATE queued SET due = ? WHERE seq = ? AND dead = 0", DateNow() - 1000 * (consumer?.maxBatchTimeout ?? 0), ask.seq);
          await this.#schedule(DateNow());
          return Response.json(answer);
        }
      }
      return new Response("there is no operation " + ask.op, { status: 400 });
    }

    // What waits, in the order of its coming, behind a message: a page of it.
    #list(ask) {
      const most = ask.batchSize ?? 100, messages = [];
      const rows = this.#sql.exec("SELECT * FROM queued WHERE seq > ? ORDER BY seq LIMIT ?", ask.seq ?? 0, most + 1).toArray();
      for (let i = 0; i < MathMin(rows.length, most); i++) {
        const row = rows[i];
        const [lease] = this.#sql.exec("SELECT until FROM leases WHERE seq = ? AND until > ?", row.seq, DateNow()).toArray();
        const text = row.content_type === "bytes" ? native.base64(row.body) : row.content_type === "v8" ? native.show(row.body) : native.text(row.body);
        ArrayPrototypePush(messages, {
          seq: row.seq, id: row.id, timestamp_ms: row.timestamp, content_type: row.content_type, text: text.slice(0, shownLength), bytes: row.body.byteLength,
          attempts: row.attempts, due_ms: row.due, dead: row.dead === 1, leased_until_ms: lease === undefined ? null : lease.until,
        });
      }
      const [{ since }] = this.#sql.exec("SELECT max(since) AS since FROM paused").toArray();
      return { backlog: this.#count, backlog_bytes: this.#bytes, paused_since_ms: since, messages, more: rows.length > most };
    }
    #changed(sql, ...values) {
      const cursor = this.#sql.exec(sql, ...values);
      this.#sql.exec("DELETE FROM leases WHERE seq NOT IN (SELECT seq FROM queued)");
      this.#recount();
      return { rows: cursor.rowsWritten > 0 };
    }

    // A message that was pulled is visible again when its lease is over; one that was
    // delivered too often is not.
    async #pull(ask) {
      const now = DateNow();
      const until = now + (ask.visibilityTimeoutMs ?? consumer?.visibilityTimeoutMs ?? 30000);
      const most = (consumer?.maxRetries ?? 2) + 1;
      const messages = [];
      this.#sql.exec("DELETE FROM leases WHERE until <= ?", now);
      let rows, over;
      do {
        rows = this.#first("*", now, ask.batchSize ?? 5);
        over = 0;
        for (let i = 0; i < rows.length; i++) {
          if (rows[i].attempts < most) continue;
          this.#giveUp(rows[i], rows[i].attempts, most);
          over++;
        }
      } while (over > 0);
      for (const row of rows) {
        const lease = native.id();
        this.#due(row, until, row.attempts + 1);
        this.#sql.exec("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", lease, row.seq, until);
        ArrayPrototypePush(messages, {
          body: row.content_type === "text" ? native.text(row.body) : native.base64(row.body), id: row.id, timestamp_ms: row.timestamp,
          attempts: row.attempts + 1, metadata: { "CF-Content-Type": row.content_type }, lease_id: lease,
        });
      }
      this.#recount();
      await this.#schedule(now);
      return { message_backlog_count: this.#count, messages };
    }

    #ack(ask) {
      const now = DateNow(), warnings = {};
      let acked = 0, retried = 0;
      const leased = (lease) => {
        const [row] = this.#sql.exec("SELECT seq FROM leases WHERE lease = ? AND until > ?", lease, now).toArray();
        if (row === undefined) warnings[lease] = "the lease is not known, or is over";
        else this.#sql.exec("DELETE FROM leases WHERE lease = ?", lease);
        return row?.seq;
      };
      for (const { lease_id } of ask.acks ?? []) {
        const seq = leased(`${lease_id}`);
        if (seq === undefined) continue;
        this.#sql.exec("DELETE FROM queued WHERE seq = ?", seq);
        acked++;
      }
      for (const { lease_id, delay_seconds } of ask.retries ?? []) {
        const seq = leased(`${lease_id}`);
        if (seq === undefined) continue;
        this.#sql.exec("UPDATE queued SET due = ? WHERE seq = ?", now + 1000 * (delay_seconds ?? consumer?.retryDelay ?? 0), seq);
        this.#prompt = MathMin(this.#prompt, seq);
        retried++;
      }
      this.#recount();
      return { ackCount: acked, retryCount: retried, warnings };
    }

    // giveUp is for a message that has been delivered too often.
    #giveUp(row, attempts, most) {
      const after = `after ${most} failed attempt${most === 1 ? "" : "s"}`;
      if (deadLetters !== undefined) {
        native.report(`Moving message "${row.id}" on queue "${name}" to dead letter queue "${consumer.deadLetterQueue}" ${after}...`);
        this.#sql.exec("UPDATE queued SET attempts = ?, dead = 1 WHERE seq = ?", attempts, row.seq);
        this.#dead = true;
      } else {
        native.report(`Dropped message "${row.id}" on queue "${name}" ${after}!`);
        this.#sql.exec("DELETE FROM queued WHERE seq = ?", row.seq);
      }
    }

    // Dead letters keep their id and their time.
    async #bury() {
      if (!this.#hasDead()) return;
      const dead = this.#sql.exec("SELECT * FROM queued WHERE dead = 1 ORDER BY seq LIMIT 100").toArray();
      if (deadLetters !== undefined) {
        const messages = [];
        for (let i = 0; i < dead.length; i++) ArrayPrototypePush(messages, { id: dead[i].id, timestamp: dead[i].timestamp, type: dead[i].content_type, body: dead[i].body });
        await deadLetters.send(messages, 0);
      }
      for (let i = 0; i < dead.length; i++) this.#sql.exec("DELETE FROM queued WHERE seq = ?", dead[i].seq);
      this.#recount();
    }
  };
}
