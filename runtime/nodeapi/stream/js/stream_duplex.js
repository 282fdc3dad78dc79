// stream.Duplex, Transform and PassThrough (nodejs.org/api/stream.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const base = native.require("internal/stream_base");
  const Readable = native.require("internal/stream_readable");
  const Writable = native.require("internal/stream_writable");
  const { Stream, tick, methods } = base;
  const { ReflectApply, ObjectSetPrototypeOf, ObjectDefineProperty } = p;

  const init = (stream, options) => {
    Readable._init(stream, options, true);
    Writable._init(stream, options, true);
    stream.allowHalfOpen = options?.allowHalfOpen !== false;
    if (options?.readable === false) {
      const s = stream._readableState;
      s.readable = false;
      s.ended = s.endEmitted = true;
    }
    if (options?.writable === false) {
      const s = stream._writableState;
      s.writable = false;
      s.ending = s.ended = s.finished = true;
    }
  };

  // What streams with two sides have as _events before anybody listens.
  const unheard = () => ({ close: undefined, error: undefined, prefinish: undefined, finish: undefined, drain: undefined, data: undefined, end: undefined, readable: undefined });
  function Duplex(options) {
    if (!(this instanceof Duplex)) return new Duplex(options);
    this._events ??= unheard();
    init(this, options);
    ReflectApply(Stream, this, [options]);
    base.construct(this, () => { Readable._started(this); Writable._started(this); });
  }
  ObjectSetPrototypeOf(Duplex.prototype, Readable.prototype);
  ObjectSetPrototypeOf(Duplex, Readable);
  native.mixin(Duplex.prototype, Writable.prototype, Readable.prototype);
  for (const name of ["destroyed", "closed"]) {
    ObjectDefineProperty(Duplex.prototype, name, {
      configurable: true,
      get() { return !!this._readableState?.[name] && !!this._writableState?.[name]; },
      set(v) { for (const s of base.sides(this)) s[name] = v; },
    });
  }
  Duplex.from = (body) => native.require("internal/stream_compose").from(body);
  Duplex.fromWeb = (pair, options) => native.require("internal/stream_web").duplexFromWeb(pair, options);
  Duplex.toWeb = (stream) => native.require("internal/stream_web").duplexToWeb(stream);
  Duplex._init = init;

  // Transform: a write becomes pushes; its callback waits until there is room.
  const waiting = p.Symbol("waiting");

  const initTransform = (stream, options) => {
    init(stream, options && options.readableHighWaterMark === 0
      ? { ...options, highWaterMark: undefined, writableHighWaterMark: options.writableHighWaterMark ?? 0 } : options);
    stream._readableState.sync = false;
    stream[waiting] = null;
    if (typeof options?.transform === "function") stream._transform = options.transform;
    if (typeof options?.flush === "function") stream._flush = options.flush;
    stream.on("prefinish", prefinish);
  };
  function Transform(options) {
    if (!(this instanceof Transform)) return new Transform(options);
    this._events ??= unheard();
    initTransform(this, options);
    ReflectApply(Stream, this, [options]);
    base.construct(this, () => { Readable._started(this); Writable._started(this); });
  }
  ObjectSetPrototypeOf(Transform.prototype, Duplex.prototype);
  ObjectSetPrototypeOf(Transform, Duplex);

  const flushed = (stream, callback) => {
    if (typeof stream._flush !== "function" || stream.destroyed) {
      stream.push(null);
      callback?.();
      return;
    }
    stream._flush((error, data) => {
      if (error) {
        if (callback) callback(error); else stream.destroy(error);
        return;
      }
      if (data !== undefined && data !== null) stream.push(data);
      stream.push(null);
      callback?.();
    });
  };
  function prefinish() { if (this._final !== final) flushed(this); }
  function final(callback) { flushed(this, callback); }

  methods(Transform.prototype, {
    _final: final,
    _transform() { throw errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", "The _transform() method is not implemented"); /* the reference's text */ },
    _write(chunk, encoding, callback) {
      const r = this._readableState, before = r.length;
      this._transform(chunk, encoding, (error, value) => {
        if (error) { callback(error); return; }
        if (value !== undefined && value !== null) this.push(value);
        if (r.ended) { tick(callback); return; }
        if (this._writableState.ended || before === r.length || r.length < r.highWaterMark) callback();
        else this[waiting] = callback;
      });
    },
    _read() {
      const callback = this[waiting];
      if (callback) {
        this[waiting] = null;
        callback();
      }
    },
  });

  function PassThrough(options) {
    if (!(this instanceof PassThrough)) return new PassThrough(options);
    ReflectApply(Transform, this, [options]);
  }
  ObjectSetPrototypeOf(PassThrough.prototype, Transform.prototype);
  ObjectSetPrototypeOf(PassThrough, Transform);
  methods(PassThrough.prototype, { _transform(chunk, encoding, callback) { callback(null, chunk); } });

  // LazyTransform: a Transform whose state is made when it is first used as a
  // stream; what crypto's classes are, most of which never stream.
  function lazyTransform(proto) {
    for (const side of ["_readableState", "_writableState"]) {
      ObjectDefineProperty(proto, side, {
        configurable: true,
        get() {
          if (this === proto || !typeof this === "object") return undefined;
          for (const s of ["_readableState", "_writableState"]) {
            ObjectDefineProperty(this, s, { value: undefined, writable: true, enumerable: true, configurable: true });
          }
          this._events ??= unheard();
          initTransform(this, this._options);
          ReflectApply(Stream, this, []);
          return this[side];
        },
        set(v) { ObjectDefineProperty(this, side, { value: v, writable: true, enumerable: true, configurable: true }); },
      });
    }
  }

  return { Duplex, Transform, PassThrough, lazyTransform };
}
