// stream.Writable (nodejs.org/api/stream.html#class-streamwritable).
function (native, p) {
  "use strict";
  const { errors } = native;
  const base = native.require("internal/stream_base");
  const { Stream, tick, fail, accessors, methods } = base;
  const { ReflectApply, ObjectSetPrototypeOf } = p;
  const { Buffer } = native.require("buffer");

  function WritableState(options, duplex) {
    p.ObjectAssign(this, base.shared(options));
    this.objectMode = !!(options?.objectMode || duplex && options?.writableObjectMode);
    this.highWaterMark = base.highWaterMark(options, this.objectMode, duplex ? "writableHighWaterMark" : "highWaterMark");
    this.decodeStrings = options?.decodeStrings !== false;
    this.defaultEncoding = options?.defaultEncoding ?? "utf8";
    this.length = this.corked = this.pendingcb = 0;
    this.writing = this.sync = this.flushing = this.needDrain = false;
    this.ending = this.ended = this.finished = this.prefinished = this.finalCalled = false;
    this.buffered = []; // {chunk, encoding, callback, size}
    this.writeSize = 0;
    this.writeCallback = null;
    this.onFinished = [];
    this.writable = true;
  }

  const init = (stream, options, duplex) => {
    stream._writableState = new WritableState(options, duplex);
    if (!options) return;
    if (typeof options.write === "function") stream._write = options.write;
    if (typeof options.writev === "function") stream._writev = options.writev;
    if (typeof options.destroy === "function") stream._destroy = options.destroy;
    if (typeof options.final === "function") stream._final = options.final;
    if (typeof options.construct === "function") stream._construct = options.construct;
    if (options.signal && !duplex) native.require("stream").addAbortSignal(options.signal, stream);
  };
  const started = (stream) => {
    const s = stream._writableState;
    if (!s.writing) flush(stream, s);
    maybeFinish(stream, s);
  };

  function Writable(options) {
    if (!(this instanceof Writable)) return new Writable(options);
    this._events ??= { close: undefined, error: undefined, prefinish: undefined, finish: undefined, drain: undefined };
    init(this, options, false);
    ReflectApply(Stream, this, [options]);
    base.construct(this, () => started(this));
  }
  ObjectSetPrototypeOf(Writable.prototype, Stream.prototype);
  ObjectSetPrototypeOf(Writable, Stream);
  p.ObjectDefineProperty(Writable, p.SymbolHasInstance, {
    value(x) {
      if (p.FunctionPrototypeSymbolHasInstance(this, x)) return true;
      return this === Writable && x?._writableState instanceof WritableState;
    },
    configurable: true,
  });

  const nothing = () => {};

  const write = (stream, chunk, encoding, callback) => {
    const s = stream._writableState;
    if (typeof encoding === "function") { callback = encoding; encoding = s.defaultEncoding; }
    else if (!encoding) encoding = s.defaultEncoding;
    else if (encoding !== "buffer" && !Buffer.isEncoding(encoding)) throw errors.make("TypeError", "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    if (typeof callback !== "function") callback = nothing;
    if (chunk === null) throw errors.make("TypeError", "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
    if (!s.objectMode) {
      if (typeof chunk === "string") {
        if (s.decodeStrings) { chunk = Buffer.from(chunk, encoding); encoding = "buffer"; }
      } else if (native.isView(chunk)) {
        if (!Buffer.isBuffer(chunk)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        encoding = "buffer";
      } else {
        throw errors.argType("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
      }
    }
    let error;
    if (s.ending) error = errors.make("Error", "ERR_STREAM_WRITE_AFTER_END", "write after end");
    else if (s.destroyed) error = errors.make("Error", "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed");
    if (error) {
      tick(callback, error);
      fail(stream, error, true);
      return error;
    }
    s.pendingcb++;
    const size = s.objectMode ? 1 : chunk.length;
    s.length += size;
    const room = s.length < s.highWaterMark;
    if (!room) s.needDrain = true;
    if (s.writing || s.corked || s.errored || !s.constructed) s.buffered.push({ chunk, encoding, callback, size });
    else run(stream, s, size, callback, () => stream._write(chunk, encoding, (e) => written(stream, e)));
    return room && !s.errored && !s.destroyed;
  };

  const run = (stream, s, size, callback, call) => {
    s.writeSize = size;
    s.writeCallback = callback;
    s.writing = s.sync = true;
    if (s.destroyed) written(stream, errors.make("Error", "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed"));
    else call();
    s.sync = false;
  };

  // written is the callback of _write and _writev.
  const written = (stream, error) => {
    const s = stream._writableState, callback = s.writeCallback, sync = s.sync;
    if (typeof callback !== "function") {
      fail(stream, errors.make("Error", "ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
      return;
    }
    s.writing = false;
    s.writeCallback = null;
    s.length -= s.writeSize;
    s.writeSize = 0;
    if (error) {
      s.errored ??= error;
      if (stream._readableState && !stream._readableState.errored) stream._readableState.errored = error;
      const report = () => {
        s.pendingcb--;
        callback(error);
        dropBuffered(stream, s);
        fail(stream, error);
      };
      if (sync) tick(report); else report();
      return;
    }
    if (s.buffered.length > 0) flush(stream, s);
    const after = () => {
      const drain = !s.ending && !stream.destroyed && s.length === 0 && s.needDrain;
      if (drain) {
        s.needDrain = false;
        stream.emit("drain");
      }
      s.pendingcb--;
      callback(null);
      if (s.destroyed) dropBuffered(stream, s);
      maybeFinish(stream, s);
    };
    if (sync) tick(after); else after();
  };

  const dropBuffered = (stream, s) => {
    if (s.writing) return;
    const list = s.buffered;
    s.buffered = [];
    for (const b of list) {
      s.length -= b.size;
      s.pendingcb--;
      b.callback(s.errored ?? errors.make("Error", "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed"));
    }
    const waiting = s.onFinished;
    s.onFinished = [];
    for (const fn of waiting) fn(s.errored ?? errors.make("Error", "ERR_STREAM_DESTROYED", "Cannot call end after a stream was destroyed"));
  };

  const flush = (stream, s) => {
    if (s.corked || s.flushing || s.destroyed || !s.constructed || s.buffered.length === 0) return;
    s.flushing = true;
    if (s.buffered.length > 1 && typeof stream._writev === "function") {
      const list = s.buffered;
      s.buffered = [];
      s.pendingcb -= list.length - 1;
      const size = list.reduce((n, b) => n + b.size, 0);
      run(stream, s, size, (error) => { for (const b of list) b.callback(error); },
        () => stream._writev(list.map(({ chunk, encoding }) => ({ chunk, encoding })), (e) => written(stream, e)));
    } else {
      while (s.buffered.length > 0 && !s.writing) {
        const { chunk, encoding, callback, size } = s.buffered.shift();
        run(stream, s, size, callback, () => stream._write(chunk, encoding, (e) => written(stream, e)));
      }
    }
    s.flushing = false;
  };

  const needsFinish = (s) => s.ending && !s.destroyed && s.constructed && s.length === 0 && !s.errored &&
    s.buffered.length === 0 && !s.finished && !s.writing;

  const maybeFinish = (stream, s, later) => {
    if (!needsFinish(s)) return;
    if (!s.prefinished && !s.finalCalled) {
      if (typeof stream._final === "function" && !s.destroyed) {
        s.finalCalled = true;
        final(stream, s);
      } else {
        s.prefinished = true;
        stream.emit("prefinish");
      }
    }
    if (s.prefinished && s.pendingcb === 0) {
      s.pendingcb++;
      const now = () => { if (needsFinish(s)) finish(stream, s); else s.pendingcb--; };
      if (later) tick(now); else now();
    }
  };

  const final = (stream, s) => {
    s.pendingcb++;
    let called = false;
    const done = (error) => {
      if (called) {
        fail(stream, error ?? errors.make("Error", "ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
        return;
      }
      called = true;
      s.pendingcb--;
      if (error) {
        const waiting = s.onFinished;
        s.onFinished = [];
        for (const fn of waiting) fn(error);
        fail(stream, error, s.sync);
      } else if (needsFinish(s)) {
        s.prefinished = true;
        stream.emit("prefinish");
        s.pendingcb++;
        tick(finish, stream, s);
      }
    };
    s.sync = true;
    try { stream._final(done); } catch (error) { done(error); }
    s.sync = false;
  };

  const finish = (stream, s) => {
    s.pendingcb--;
    s.finished = true;
    const waiting = s.onFinished;
    s.onFinished = [];
    for (const fn of waiting) fn(null);
    stream.emit("finish");
    if (s.autoDestroy) {
      const r = stream._readableState;
      if (!r || r.autoDestroy && (r.endEmitted || r.readable === false)) stream.destroy();
    }
  };

  methods(Writable.prototype, {
    pipe() { fail(this, errors.make("Error", "ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable")); },
    write(chunk, encoding, callback) { return write(this, chunk, encoding, callback) === true; },
    _write(chunk, encoding, callback) {
      if (typeof this._writev !== "function") throw errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", "The _write() method is not implemented"); // the reference's text
      this._writev([{ chunk, encoding }], callback);
    },
    _writev: null,
    cork() { this._writableState.corked++; },
    uncork() {
      const s = this._writableState;
      if (s.corked === 0) return;
      s.corked--;
      if (!s.writing) flush(this, s);
    },
    setDefaultEncoding(encoding) {
      if (!Buffer.isEncoding(encoding)) throw errors.make("TypeError", "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
      this._writableState.defaultEncoding = String(encoding).toLowerCase();
      return this;
    },
    end(chunk, encoding, callback) {
      const s = this._writableState;
      if (typeof chunk === "function") { callback = chunk; chunk = encoding = undefined; }
      else if (typeof encoding === "function") { callback = encoding; encoding = undefined; }
      let error;
      if (chunk !== undefined && chunk !== null) {
        const result = write(this, chunk, encoding);
        if (result instanceof Error) error = result;
      }
      if (s.corked) { s.corked = 1; this.uncork(); }
      if (!error && !s.errored && !s.ending) {
        s.ending = true;
        maybeFinish(this, s, true);
        s.ended = true;
      } else if (s.finished) {
        error ??= errors.make("Error", "ERR_STREAM_ALREADY_FINISHED", "Cannot call end after a stream was finished");
      } else if (s.destroyed) {
        error ??= errors.make("Error", "ERR_STREAM_DESTROYED", "Cannot call end after a stream was destroyed");
      }
      if (typeof callback === "function") {
        if (error) tick(callback, error);
        else if (s.errored) tick(callback, s.errored);
        else if (s.finished) tick(callback, null);
        else s.onFinished.push(callback);
      }
      return this;
    },
    destroy(error, callback) {
      const s = this._writableState;
      if (!s.destroyed && (s.buffered.length > 0 || s.onFinished.length > 0)) tick(dropBuffered, this, s);
      return ReflectApply(base.destroy, this, [error, callback]);
    },
    async [p.SymbolAsyncDispose]() {
      if (!this.destroyed) this.destroy(this.writableFinished ? null : base.aborted());
      await new p.Promise((resolve, reject) => native.require("internal/stream_pipeline").finished(this, (error) => (error && error.name !== "AbortError" ? reject(error) : resolve(null))));
    },
    _undestroy() {},
    _destroy(error, callback) { callback(error); },
  });

  accessors(Writable.prototype, {
    writable: {
      get() { const s = this._writableState; return !!s && s.writable !== false && !s.destroyed && !s.errored && !s.ending && !s.ended; },
      set(v) { if (this._writableState) this._writableState.writable = !!v; },
    },
    writableFinished() { return this._writableState?.finished ?? false; },
    writableObjectMode() { return this._writableState?.objectMode ?? false; },
    writableBuffer() { return this._writableState?.buffered; },
    writableEnded() { return this._writableState?.ending ?? false; },
    writableNeedDrain() { const s = this._writableState; return !!s && !s.destroyed && !s.ending && s.needDrain; },
    writableHighWaterMark() { return this._writableState?.highWaterMark; },
    writableCorked() { return this._writableState?.corked ?? 0; },
    writableLength() { return this._writableState?.length ?? 0; },
    writableAborted() { const s = this._writableState; return s.writable !== false && (s.destroyed || !!s.errored) && !s.finished; },
    errored() { return this._writableState?.errored ?? this._readableState?.errored ?? null; },
    closed() { return this._writableState?.closed ?? false; },
    destroyed: {
      get() { return this._writableState?.destroyed ?? false; },
      set(v) { for (const s of base.sides(this)) s.destroyed = v; },
    },
  });

  Writable.fromWeb = (web, options) => native.require("internal/stream_web").writableFromWeb(web, options);
  Writable.toWeb = (stream) => native.require("internal/stream_web").writableToWeb(stream);
  Writable.WritableState = WritableState;
  Writable._init = init;
  Writable._started = started;
  return Writable;
}
