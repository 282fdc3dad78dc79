// stream.Readable (nodejs.org/api/stream.html#class-streamreadable).
function (native, p) {
  "use strict";
  const { errors } = native;
  const base = native.require("internal/stream_base");
  const { Stream, tick, fail, accessors, methods } = base;
  const { Uint8Array, Promise, PromiseResolve, PromiseReject, ReflectApply, ObjectSetPrototypeOf, SymbolAsyncIterator, SymbolIterator } = p;
  const { Buffer } = native.require("buffer");

  function ReadableState(options, duplex) {
    p.ObjectAssign(this, base.shared(options));
    this.objectMode = !!(options?.objectMode || duplex && options?.readableObjectMode);
    this.highWaterMark = base.highWaterMark(options, this.objectMode, duplex ? "readableHighWaterMark" : "highWaterMark");
    this.buffer = [];
    this.length = 0;
    this.pipes = [];
    this.waiting = []; // destinations that asked to wait for drain
    this.flowing = null;
    this.ended = this.endEmitted = this.reading = this.dataEmitted = false;
    this.sync = true;
    this.needReadable = this.emittedReadable = this.readableListening = this.resumeScheduled = this.readingMore = false;
    this.paused = false;
    this.defaultEncoding = options?.defaultEncoding ?? "utf8";
    this.decoder = this.encoding = null;
    this.readable = true;
    if (options?.encoding) useEncoding(this, options.encoding);
  }

  const useEncoding = (state, encoding) => {
    const { StringDecoder } = native.require("string_decoder");
    state.decoder = new StringDecoder(encoding);
    state.encoding = state.decoder.encoding;
  };

  function Readable(options) {
    if (!(this instanceof Readable)) return new Readable(options);
    this._events ??= { close: undefined, error: undefined, data: undefined, end: undefined, readable: undefined };
    init(this, options, false);
    ReflectApply(Stream, this, [options]);
    base.construct(this, () => { if (this._readableState.needReadable) readMore(this, this._readableState); });
  }
  ObjectSetPrototypeOf(Readable.prototype, Stream.prototype);
  ObjectSetPrototypeOf(Readable, Stream);

  const init = (stream, options, duplex) => {
    stream._readableState = new ReadableState(options, duplex);
    if (!options) return;
    if (typeof options.read === "function") stream._read = options.read;
    if (typeof options.destroy === "function") stream._destroy = options.destroy;
    if (typeof options.construct === "function") stream._construct = options.construct;
    if (options.signal) native.require("stream").addAbortSignal(options.signal, stream);
  };

  const size = (state, chunk) => (state.objectMode ? 1 : chunk.length);

  const add = (stream, chunk, encoding, front) => {
    const s = stream._readableState;
    if (chunk === null) {
      s.reading = false;
      end(stream, s);
      return false;
    }
    if (!s.objectMode) {
      if (typeof chunk === "string") {
        encoding ||= s.defaultEncoding;
        if (s.encoding !== encoding) {
          if (front && s.encoding) chunk = Buffer.from(chunk, encoding).toString(s.encoding);
          else { chunk = Buffer.from(chunk, encoding); encoding = ""; }
        }
      } else if (native.isView(chunk)) {
        chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      } else if (chunk !== undefined) {
        fail(stream, errors.argType("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk));
        return false;
      }
    }
    if (!s.objectMode && (chunk === undefined || chunk.length <= 0)) {
      if (!front) {
        s.reading = false;
        readMore(stream, s);
      }
    } else if (front) {
      if (s.endEmitted) fail(stream, errors.make("Error", "ERR_STREAM_UNSHIFT_AFTER_END_EVENT", "stream.unshift() after end event"));
      else if (s.destroyed || s.errored) return false;
      else put(stream, s, chunk, true);
    } else if (s.ended) {
      fail(stream, errors.make("Error", "ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF"));
    } else if (s.destroyed || s.errored) {
      return false;
    } else {
      s.reading = false;
      if (s.decoder && !encoding) {
        chunk = s.decoder.write(chunk);
        if (chunk.length !== 0) put(stream, s, chunk, false); else readMore(stream, s);
      } else {
        put(stream, s, chunk, false);
      }
    }
    return !s.ended && (s.length < s.highWaterMark || s.length === 0);
  };

  const put = (stream, s, chunk, front) => {
    if (s.flowing && s.length === 0 && !s.sync && stream.listenerCount("data") > 0) {
      s.waiting.length = s.waiting.length && !s.pipes.length ? 0 : s.waiting.length;
      s.dataEmitted = true;
      stream.emit("data", chunk);
    } else {
      s.length += size(s, chunk);
      if (front) s.buffer.unshift(chunk); else s.buffer.push(chunk);
      if (s.needReadable) announce(stream);
    }
    readMore(stream, s);
  };

  const end = (stream, s) => {
    if (s.ended) return;
    if (s.decoder) {
      const rest = s.decoder.end();
      if (rest?.length) {
        s.buffer.push(rest);
        s.length += size(s, rest);
      }
    }
    s.ended = true;
    if (s.sync) announce(stream);
    else { s.needReadable = false; s.emittedReadable = true; tellReadable(stream); }
  };

  // announce tells of data once, after the present code.
  const announce = (stream) => {
    const s = stream._readableState;
    s.needReadable = false;
    if (s.emittedReadable) return;
    s.emittedReadable = true;
    tick(tellReadable, stream);
  };
  const tellReadable = (stream) => {
    const s = stream._readableState;
    if (!s.destroyed && !s.errored && (s.length > 0 || s.ended)) {
      stream.emit("readable");
      s.emittedReadable = false;
    }
    s.needReadable = !s.flowing && !s.ended && s.length <= s.highWaterMark;
    flow(stream);
  };

  // readMore asks for chunks until the buffer is full.
  const readMore = (stream, s) => {
    if (s.readingMore || !s.constructed) return;
    s.readingMore = true;
    tick(() => {
      while (!s.reading && !s.ended && (s.length < s.highWaterMark || s.flowing && s.length === 0)) {
        const before = s.length;
        stream.read(0);
        if (before === s.length) break;
      }
      s.readingMore = false;
    });
  };

  const flow = (stream) => {
    const s = stream._readableState;
    while (s.flowing && stream.read() !== null);
  };

  const wanted = (s, n) => {
    if (n <= 0 || s.length === 0 && s.ended) return 0;
    if (s.objectMode) return 1;
    if (n !== n) return s.flowing && s.length ? s.buffer[0].length : s.length;
    if (n <= s.length) return n;
    return s.ended ? s.length : 0;
  };

  const take = (s, n) => {
    if (s.length === 0) return null;
    if (s.objectMode) return s.buffer.shift();
    if (n >= s.length) {
      const all = s.buffer;
      s.buffer = [];
      if (all.length === 1) return all[0];
      return s.decoder ? all.join("") : Buffer.concat(all);
    }
    const parts = [];
    while (n > 0) {
      const first = s.buffer[0];
      if (first.length <= n) {
        parts.push(first);
        s.buffer.shift();
        n -= first.length;
      } else {
        parts.push(first.slice(0, n));
        s.buffer[0] = first.slice(n);
        n = 0;
      }
    }
    if (parts.length === 1) return parts[0];
    return s.decoder ? parts.join("") : Buffer.concat(parts);
  };

  const finish = (stream, s) => {
    if (s.endEmitted) return;
    s.ended = true;
    tick(() => {
      if (s.errored || s.closeEmitted || s.endEmitted || s.length > 0) return;
      s.endEmitted = true;
      stream.emit("end");
      if (stream.writable && stream.allowHalfOpen === false) {
        tick(() => { if (stream.writable && !stream.writableEnded && !stream.destroyed) stream.end(); });
      } else if (s.autoDestroy) {
        const w = stream._writableState;
        if (!w || w.autoDestroy && (w.finished || w.writable === false)) stream.destroy();
      }
    });
  };

  const schedule = (stream, s) => {
    if (s.resumeScheduled) return;
    s.resumeScheduled = true;
    tick(() => {
      if (!s.reading) stream.read(0);
      s.resumeScheduled = false;
      stream.emit("resume");
      flow(stream);
      if (s.flowing && !s.reading) stream.read(0);
    });
  };
  const listening = (stream) => {
    const s = stream._readableState;
    s.readableListening = stream.listenerCount("readable") > 0;
    if (s.resumeScheduled && !s.paused) s.flowing = true;
    else if (stream.listenerCount("data") > 0) stream.resume();
    else if (!s.readableListening) s.flowing = null;
  };

  methods(Readable.prototype, {
    destroy: base.destroy,
    _undestroy() {},
    _destroy(error, callback) { callback(error); },
    push(chunk, encoding) { return add(this, chunk, encoding, false); },
    unshift(chunk, encoding) { return add(this, chunk, encoding, true); },
    isPaused() { return this._readableState.paused === true || this._readableState.flowing === false; },
    setEncoding(encoding) {
      const s = this._readableState;
      useEncoding(s, encoding);
      let text = "";
      if (s.buffer.length > 0) text = s.buffer.map((b) => s.decoder.write(b)).join("");
      s.buffer = text === "" ? [] : [text];
      s.length = text.length;
      return this;
    },
    read(n) {
      if (n === undefined) n = NaN;
      else if (typeof n !== "number" || n % 1 !== 0 && n === n) n = p.Number.parseInt(n, 10);
      const s = this._readableState, asked = n;
      if (n > s.highWaterMark && !s.objectMode) s.highWaterMark = n;
      if (n !== 0) s.emittedReadable = false;
      if (n === 0 && s.needReadable && ((s.highWaterMark !== 0 ? s.length >= s.highWaterMark : s.length > 0) || s.ended)) {
        if (s.length === 0 && s.ended) finish(this, s); else announce(this);
        return null;
      }
      n = wanted(s, n);
      if (n === 0 && s.ended) {
        if (s.length === 0) finish(this, s);
        return null;
      }
      let ask = s.needReadable || s.length === 0 || s.length - n < s.highWaterMark;
      if (s.ended || s.reading || s.destroyed || s.errored || !s.constructed) ask = false;
      if (ask) {
        s.reading = s.sync = true;
        if (s.length === 0) s.needReadable = true;
        try { this._read(s.highWaterMark); } catch (error) { fail(this, error); }
        s.sync = false;
        if (!s.reading) n = wanted(s, asked);
      }
      const chunk = n > 0 ? take(s, n) : null;
      if (chunk === null) {
        s.needReadable = s.length <= s.highWaterMark;
        n = 0;
      } else {
        s.length -= n;
      }
      if (s.length === 0) {
        if (!s.ended) s.needReadable = true;
        if (asked !== n && s.ended) finish(this, s);
      }
      if (chunk !== null && !s.errored && !s.closeEmitted) {
        s.dataEmitted = true;
        this.emit("data", chunk);
      }
      return chunk;
    },
    _read() { throw errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", "The _read() method is not implemented"); /* the reference's text */ },
    pipe(dest, options) {
      const source = this, s = this._readableState;
      s.pipes.push(dest);
      const release = () => {
        const i = s.waiting.indexOf(dest);
        if (i >= 0) s.waiting.splice(i, 1);
      };
      const onData = (chunk) => {
        if (dest.write(chunk) !== false) return;
        if (!s.waiting.includes(dest) && s.pipes.includes(dest)) s.waiting.push(dest);
        source.pause();
      };
      const onDrain = () => {
        release();
        if (s.waiting.length === 0 && source.listenerCount("data") > 0) source.resume();
      };
      const onError = (error) => {
        unpipe();
        dest.off("error", onError);
        if (dest.listenerCount("error") === 0) {
          const w = dest._writableState ?? dest._readableState;
          if (w && !w.errorEmitted) fail(dest, error); else dest.emit("error", error);
        }
      };
      const onEnd = () => dest.end();
      const unpipe = () => source.unpipe(dest);
      const onUnpipe = (from, info) => {
        if (from !== source || info?.hasUnpiped !== false) return;
        info.hasUnpiped = true;
        dest.off("close", unpipe);
        dest.off("finish", unpipe);
        dest.off("drain", onDrain);
        dest.off("error", onError);
        dest.off("unpipe", onUnpipe);
        source.off("end", onEnd);
        source.off("end", unpipe);
        source.off("data", onData);
        if (s.waiting.includes(dest)) onDrain();
      };
      const closes = options?.end !== false && !dest._isStdio;
      if (s.endEmitted) tick(closes ? onEnd : unpipe); else source.once("end", closes ? onEnd : unpipe);
      dest.on("unpipe", onUnpipe);
      dest.on("drain", onDrain);
      source.on("data", onData);
      dest.prependListener("error", onError);
      dest.once("close", unpipe);
      dest.once("finish", unpipe);
      dest.emit("pipe", source);
      if (dest.writableNeedDrain === true) { s.waiting.push(dest); source.pause(); }
      else if (!s.flowing) source.resume();
      return dest;
    },
    unpipe(dest) {
      const s = this._readableState;
      if (s.pipes.length === 0) return this;
      if (!dest) {
        const all = s.pipes;
        s.pipes = [];
        this.pause();
        for (const d of all) d.emit("unpipe", this, { hasUnpiped: false });
        return this;
      }
      const i = s.pipes.indexOf(dest);
      if (i < 0) return this;
      s.pipes.splice(i, 1);
      if (s.pipes.length === 0) this.pause();
      dest.emit("unpipe", this, { hasUnpiped: false });
      return this;
    },
    on(event, fn) {
      const result = ReflectApply(Stream.prototype.on, this, [event, fn]);
      const s = this._readableState;
      if (event === "data") {
        s.readableListening = this.listenerCount("readable") > 0;
        if (s.flowing !== false) this.resume();
      } else if (event === "readable" && !s.endEmitted && !s.readableListening) {
        s.readableListening = s.needReadable = true;
        s.flowing = false;
        s.emittedReadable = false;
        if (s.length) announce(this); else if (!s.reading) tick(() => this.read(0));
      }
      return result;
    },
    removeListener(event, fn) {
      const result = ReflectApply(Stream.prototype.removeListener, this, [event, fn]);
      if (event === "readable") tick(listening, this);
      else if (event === "data" && this.listenerCount("data") === 0) {
        const s = this._readableState;
        if (s.flowing && s.pipes.length === 0 && s.readableListening) s.flowing = false;
      }
      return result;
    },
    removeAllListeners(...args) {
      const result = ReflectApply(Stream.prototype.removeAllListeners, this, args);
      if (args[0] === "readable" || args[0] === undefined) tick(listening, this);
      return result;
    },
    resume() {
      const s = this._readableState;
      if (!s.flowing) {
        s.flowing = !s.readableListening;
        schedule(this, s);
      }
      s.paused = false;
      return this;
    },
    pause() {
      const s = this._readableState;
      if (s.flowing !== false) {
        s.flowing = false;
        this.emit("pause");
      }
      s.paused = true;
      return this;
    },
    wrap(stream) {
      let paused = false;
      stream.on("data", (chunk) => { if (!this.push(chunk) && stream.pause) { paused = true; stream.pause(); } });
      stream.on("end", () => this.push(null));
      stream.on("error", (error) => fail(this, error));
      stream.on("close", () => this.destroy());
      stream.on("destroy", () => this.destroy());
      this._read = () => { if (paused && stream.resume) { paused = false; stream.resume(); } };
      return this;
    },
    [SymbolAsyncIterator]() { return iterate(this, true); },
    iterator(options) { base.checkOptions(options); return iterate(this, options?.destroyOnReturn !== false); },
  });
  Readable.prototype.addListener = Readable.prototype.on;
  Readable.prototype.off = Readable.prototype.removeListener;
  if (p.SymbolAsyncDispose) {
    methods(Readable.prototype, { [p.SymbolAsyncDispose]() {
      const error = this.destroyed ? undefined : base.aborted();
      this.destroy(error);
      return new Promise((resolve, reject) => {
        native.require("internal/stream_pipeline").finished(this, (er) => (er && er !== error ? reject(er) : resolve()));
      });
    } });
  }

  // The async iterator: chunks in order, one promise at a time.
  const iterate = (stream, destroys) => {
    let wake = null, outcome, waiting = 0, last = PromiseResolve();
    const onReadable = () => { const fn = wake; wake = null; fn?.(); };
    stream.on("readable", onReadable);
    const cleanup = native.require("internal/stream_pipeline").finished(stream, { writable: false }, (error) => {
      outcome = error ? { error } : { done: true };
      onReadable();
    });
    let closed = false;
    const close = (error) => {
      if (closed) return;
      closed = true;
      stream.off("readable", onReadable);
      cleanup();
      if ((error !== undefined || destroys) && (outcome?.error === undefined || !stream.destroyed)) stream.destroy(error ?? null);
    };
    const step = async () => {
      for (;;) {
        if (closed) return { value: undefined, done: true };
        const chunk = stream.destroyed ? null : stream.read();
        if (chunk !== null) return { value: chunk, done: false };
        if (outcome?.error) {
          const { error } = outcome;
          close();
          throw error;
        }
        if (outcome?.done) {
          close();
          return { value: undefined, done: true };
        }
        await new Promise((resolve) => { wake = resolve; });
      }
    };
    return {
      next() {
        const result = waiting++ === 0 ? step() : last.then(step, step);
        const done = () => { waiting--; };
        last = result.then(done, done);
        return result;
      },
      return(value) { close(); onReadable(); return PromiseResolve({ value, done: true }); },
      throw(error) { close(error); onReadable(); return PromiseReject(error); },
      [SymbolAsyncIterator]() { return this; },
    };
  };

  accessors(Readable.prototype, {
    readable: {
      get() { const s = this._readableState; return !!s && s.readable !== false && !s.destroyed && !s.endEmitted && !s.errorEmitted; },
      set(v) { if (this._readableState) this._readableState.readable = !!v; },
    },
    readableDidRead() { return this._readableState.dataEmitted; },
    readableAborted() { const s = this._readableState; return s.readable !== false && (s.destroyed || !!s.errored) && !s.endEmitted; },
    readableHighWaterMark() { return this._readableState.highWaterMark; },
    readableBuffer() { return this._readableState.buffer; },
    readableFlowing: { get() { return this._readableState.flowing; }, set(v) { this._readableState.flowing = v === null || v === undefined ? null : !!v; } },
    readableLength() { return this._readableState.length; },
    readableObjectMode() { return this._readableState.objectMode; },
    readableEncoding() { return this._readableState.encoding; },
    errored() { return this._readableState?.errored ?? this._writableState?.errored ?? null; },
    closed() { return this._readableState?.closed ?? false; },
    destroyed: {
      get() { return this._readableState?.destroyed ?? false; },
      set(v) { for (const s of base.sides(this)) s.destroyed = v; },
    },
    readableEnded() { return this._readableState.endEmitted; },
  });

  // Readable.from(iterable): one chunk per value.
  Readable.from = (iterable, options) => {
    if (typeof iterable === "string" || iterable instanceof Uint8Array) {
      return new Readable({ objectMode: true, ...options, read() { this.push(iterable); this.push(null); } });
    }
    const get = iterable?.[SymbolAsyncIterator] ?? iterable?.[SymbolIterator];
    if (typeof get !== "function") throw errors.argType("iterable", "an instance of Iterable", iterable);
    const iterator = ReflectApply(get, iterable, []);
    let running = false, over = false;
    const stream = new Readable({ objectMode: true, highWaterMark: 1, ...options });
    const pump = async () => {
      try {
        for (;;) {
          const step = await iterator.next();
          if (step.done) { over = true; stream.push(null); return; }
          const value = await step.value;
          if (value === null) throw errors.make("TypeError", "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
          if (!stream.push(value)) { running = false; return; }
        }
      } catch (error) { over = true; stream.destroy(error); }
    };
    stream._read = () => { if (!running) { running = true; pump(); } };
    stream._destroy = (error, callback) => {
      if (over || typeof iterator.return !== "function") { callback(error); return; }
      over = true;
      PromiseResolve(error && typeof iterator.throw === "function" ? iterator.throw(error) : iterator.return())
        .then(() => callback(error), (e) => callback(error ?? e));
    };
    return stream;
  };
  Readable.wrap = (source, options) => new Readable({ objectMode: source.readableObjectMode ?? source.objectMode ?? true, ...options }).wrap(source);
  Readable.fromWeb = (web, options) => native.require("internal/stream_web").readableFromWeb(web, options);
  Readable.toWeb = (stream, options) => native.require("internal/stream_web").readableToWeb(stream, options);

  native.require("internal/stream_operators")(Readable);
  Readable.ReadableState = ReadableState;
  Readable._init = init;
  Readable._started = (stream) => { if (stream._readableState.needReadable) readMore(stream, stream._readableState); };
  return Readable;
}
