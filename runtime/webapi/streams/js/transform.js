// Transform streams (WHATWG Streams, section 6), written from the standard,
// and the transforms of the platform: identity, text and compression.
function (native, p) {
  "use strict";
  const r = native.readable, w = native.writable(), { defer, handled, attempt, VOID, member, object, strategy, illegal, create } = r;
  const { TypeError, RangeError, PromisePrototypeThen: then, PromiseResolve: resolved, PromiseReject: rejected, ReflectApply: apply, Uint8Array } = p;
  const KEY = {};

  // T is a transform's record; algorithms return promises.
  const errorT = (T, e) => { r.errorC(T.S.C, e); unblockWrite(T, e); };
  const unblockWrite = (T, e) => {
    forget(T);
    w.errorIfNeeded(T.W.C, e);
    if (T.bp) setPressure(T, false);
  };
  const forget = (T) => { T.transform = T.flush = T.cancel = undefined; };
  const setPressure = (T, bp) => {
    const d = T.change;
    T.change = undefined;
    T.bp = bp;
    if (d) d.res();
  };
  const enqueue = (T, v) => {
    const C = T.S.C;
    if (C.closeReq || T.S.st !== r.READABLE) throw new TypeError("Unable to enqueue");
    try { r.enqueue(C, v); } catch (e) { unblockWrite(T, e); throw T.S.err; }
    const bp = !(C.S.reader !== undefined && C.S.reader.reqs.length > 0) && C.hwm - C.n <= 0;
    if (bp !== T.bp) setPressure(T, true);
  };
  const terminate = (T) => {
    if (!T.S.C.closeReq && T.S.st === r.READABLE) r.close(T.S.C);
    unblockWrite(T, new TypeError("The transform stream has been terminated"));
  };
  const changed = (T) => (T.change || (T.change = defer())).promise;
  const perform = (T, v) => {
    const result = T.transform(v);
    return result === VOID ? VOID : then(result, undefined, (e) => { errorT(T, e); throw e; });
  };
  const write = (T, v) => {
    if (!T.bp) return perform(T, v);
    return then(changed(T), () => {
      if (T.W.st === w.ERRORING) throw T.W.err;
      return perform(T, v);
    });
  };
  const outcome = (T, result, done) => {
    const d = T.finish;
    forget(T);
    then(result, () => done(d), (e) => { r.errorC(T.S.C, e); unblockWrite(T, e); d.rej(e); });
    return handled(d.promise);
  };
  const close = (T) => {
    if (T.finish) return T.finish.promise;
    T.finish = defer();
    return outcome(T, T.flush ? T.flush() : VOID, (d) => {
      if (T.S.st === r.ERRORED) { d.rej(T.S.err); return; }
      if (!T.S.C.closeReq && T.S.st === r.READABLE) r.close(T.S.C);
      d.res();
    });
  };
  const abort = (T, reason) => {
    if (T.finish) return T.finish.promise;
    T.finish = defer();
    return outcome(T, T.cancel ? T.cancel(reason) : VOID, (d) => {
      if (T.S.st === r.ERRORED) { d.rej(T.S.err); return; }
      r.errorC(T.S.C, reason);
      d.res();
    });
  };
  const cancel = (T, reason) => {
    if (T.finish) return T.finish.promise;
    T.finish = defer();
    return outcome(T, T.cancel ? T.cancel(reason) : VOID, (d) => {
      if (T.W.st === w.ERRORED) { d.rej(T.W.err); return; }
      w.errorIfNeeded(T.W.C, reason);
      if (T.bp) setPressure(T, false);
      d.res();
    });
  };
  // wrapped is "a promise resolved with" another (Web IDL): a new one, two jobs later.
  const wrapped = (promise) => { const d = defer(); d.res(promise); return d.promise; };
  const setUp = (started, { writeHWM = 1, writeSize, readHWM = 0, readSize }) => {
    const T = { S: undefined, W: undefined, bp: undefined, change: undefined, finish: undefined, transform: undefined, flush: undefined, cancel: undefined };
    T.W = w.create({ write: (v) => write(T, v), close: () => close(T), abort: (e) => abort(T, e), hwm: writeHWM, size: writeSize, started });
    T.S = create({ pull: () => { setPressure(T, false); return changed(T); }, cancel: (e) => cancel(T, e), hwm: readHWM, size: readSize });
    if (started) {
      T.S.C.started = false;
      then(started, () => { T.S.C.started = true; r.callPull(T.S.C); }, (e) => errorT(T, e));
    }
    setPressure(T, true);
    return T;
  };

  let transformOf, isTransform;
  class TransformStream {
    #r;
    static {
      isTransform = (o) => typeof o === "object" && o !== null && #r in o;
      transformOf = (o) => isTransform(o) ? o.#r : illegal();
    }
    constructor(transformer = undefined, writableStrategy = undefined, readableStrategy = undefined) {
      if (transformer === KEY) { this.#r = writableStrategy(this); return; }
      transformer = object(transformer, 1, "TransformStream", "Transformer");
      const ws = strategy(writableStrategy, 2, "TransformStream"), rs = strategy(readableStrategy, 3, "TransformStream");
      const fn = {};
      for (const name of ["cancel", "flush"]) fn[name] = member(transformer, name, "Transformer");
      const readableType = transformer.readableType;
      for (const name of ["start", "transform"]) fn[name] = member(transformer, name, "Transformer");
      if (readableType !== undefined) throw new RangeError("transformer.readableType must be undefined.");
      if (transformer.writableType !== undefined) throw new RangeError("transformer.writableType must be undefined.");
      const started = defer();
      const readHWM = r.highWaterMark(rs, 0), writeHWM = r.highWaterMark(ws, 1);
      const T = this.#r = setUp(wrapped(started.promise), { readHWM, readSize: rs.size, writeHWM, writeSize: ws.size });
      const C = new TransformStreamDefaultController(KEY, T);
      T.transform = fn.transform ? (v) => attempt(fn.transform, transformer, v, C) : (v) => attempt(() => enqueue(T, v));
      if (fn.flush) T.flush = () => attempt(fn.flush, transformer, C);
      if (fn.cancel) T.cancel = (reason) => attempt(fn.cancel, transformer, reason);
      started.res(fn.start ? apply(fn.start, transformer, [C]) : undefined);
    }
    get readable() { return transformOf(this).S.obj; }
    get writable() { return transformOf(this).W.obj; }
  }
  class TransformStreamDefaultController {
    #r;
    constructor(key = undefined, T = undefined) { if (key !== KEY) throw new TypeError("Illegal constructor"); this.#r = T; }
    get desiredSize() { return r.desired(this.#r.S.C); }
    enqueue(chunk = undefined) { enqueue(this.#r, chunk); }
    error(e = undefined) { errorT(this.#r, e); }
    terminate() { terminate(this.#r); }
  }

  // ---- bytes pass through; a write is done once they have been read
  // a chunk of bytes, as which workerd takes a string too
  const bytes = (v) => typeof v === "string" ? native.encode(v) : native.bytes(v);
  const identity = (limit) => {
    let left = limit, pulled, written, pending, T;
    const failBoth = (e) => { r.errorC(T.S.C, e); pending = undefined; };
    const deliver = () => {
      if (pending === undefined || pulled === undefined) return;
      const d = pulled, buf = pending;
      pulled = pending = undefined;
      r.byteEnqueue(T.S.C, buf, 0, native.length(buf));
      d.res();
      if (T.S.C.n === 0 && written) { written.res(); written = undefined; }
    };
    T = {
      S: create({
        bytes: true, hwm: 0,
        pull() {
          if (written && pending === undefined) { written.res(); written = undefined; }
          pulled = defer();
          const { promise } = pulled;
          deliver();
          return promise;
        },
        cancel(reason) {
          const e = reason === undefined ? new TypeError("The readable side was canceled.") : reason;
          w.errorIfNeeded(T.W.C, e);
          if (written) { written.rej(e); written = undefined; }
          return resolved();
        },
      }),
      W: w.create({
        write(v) {
          if (v === undefined) return resolved();
          const buf = bytes(v);
          if (buf === undefined) {
            const e = new TypeError("This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/ArrayBufferView type on its writable side.");
            failBoth(e);
            return rejected(e);
          }
          const n = native.length(buf);
          if (left !== undefined && (left -= n) < 0) {
            const e = new TypeError("Attempt to write too many bytes through a FixedLengthStream.");
            failBoth(e);
            return rejected(e);
          }
          if (n === 0) return resolved();
          pending = buf;
          written = defer();
          const { promise } = written;
          deliver();
          return promise;
        },
        close() {
          if (left > 0) {
            const e = new TypeError("FixedLengthStream did not see all expected bytes before close().");
            failBoth(e);
            return rejected(e);
          }
          const C = T.S.C;
          r.byteClose(C);
          if (T.S.st === r.CLOSED && C.pend.length > 0) r.respond(C, 0);
          if (pulled) { pulled.res(); pulled = undefined; }
          return resolved();
        },
        abort(reason) { failBoth(reason); return resolved(); },
      }),
    };
    return T;
  };
  class IdentityTransformStream extends TransformStream {
    constructor(key = undefined, make = undefined) {
      native.io("IdentityTransformStream");
      super(KEY, key === KEY ? make : () => identity());
    }
  }
  const lengths = new p.WeakMap();
  class FixedLengthStream extends IdentityTransformStream {
    constructor(length) {
      if (length === undefined) throw new TypeError("Failed to construct 'FixedLengthStream': constructor parameter 1 is not of type 'bigint'.");
      const n = typeof length === "bigint" ? p.Number(length) : +length;
      if (n !== n || n % 1 !== 0) throw new TypeError("The value cannot be converted because it is not an integer.");
      if (n < 0) throw new TypeError("The value cannot be converted because it is negative and this API expects a positive bigint.");
      super(KEY, () => identity(n));
      p.WeakMapPrototypeSet(lengths, transformOf(this).S, n);
    }
  }

  // ---- transforms that map chunks: each returns a view, a string or undefined,
  // and hands to give what is to be seen even if it throws then
  const mapping = (transform, flush, readHWM = 0) => {
    const T = setUp(undefined, { writeHWM: 1, readHWM });
    if (readHWM) setPressure(T, false);
    const give = (v) => { if (v !== undefined) enqueue(T, v); };
    T.transform = (v) => attempt(() => give(transform(v, give)));
    T.flush = () => attempt(() => give(flush(give)));
    return T;
  };
  const view = (buf) => buf === undefined || native.length(buf) === 0 ? undefined : new Uint8Array(buf);
  const { StringPrototypeCharCodeAt: codeAt, StringPrototypeSlice: slice } = p;
  // Each has readable and writable of its own, as the mixin
  // GenericTransformStream gives them (section 8.2).
  class TextEncoderStream {
    #t;
    constructor() {
      let high = "";
      this.#t = mapping((v) => {
        v = high + `${v}`;
        high = "";
        const last = v.length && codeAt(v, v.length - 1);
        if (last >= 0xd800 && last < 0xdc00) { high = slice(v, -1); v = slice(v, 0, -1); }
        return view(native.encode(v));
      }, () => high ? view(native.encode(high)) : undefined);
    }
    get encoding() { return this.#t && "utf-8"; }
    get readable() { return this.#t.S.obj; }
    get writable() { return this.#t.W.obj; }
  }
  class TextDecoderStream {
    #t;
    #d;
    constructor(label = undefined, options = undefined) {
      const d = this.#d = native.newTextDecoder(label, options);
      const text = (s) => s === "" ? undefined : s;
      this.#t = mapping((v) => {
        if (native.bytes(v) === undefined) throw new TypeError("Failed to execute 'decode' on 'TextDecoder': parameter 1 is not of type 'BufferSource'.");
        return text(native.decode(d, v, true));
      }, () => text(native.decode(d, undefined, false)));
    }
    get encoding() { return this.#d.encoding; }
    get fatal() { return this.#d.fatal; }
    get ignoreBOM() { return this.#d.ignoreBOM; }
    get readable() { return this.#t.S.obj; }
    get writable() { return this.#t.W.obj; }
  }
  const codec = (name, format, decompress) => {
    if (format !== "gzip" && format !== "deflate" && format !== "deflate-raw") throw new TypeError("The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.");
    native.io(name);
    const c = native.newCodec(format, decompress);
    return mapping((v, give) => {
      const buf = bytes(v);
      if (buf === undefined) throw new TypeError(`Failed to execute 'write' on '${name}': the chunk is not of type 'BufferSource'.`);
      native.code(c, buf, false, (out) => give(view(out)));
    }, (give) => { native.code(c, undefined, true, (out) => give(view(out))); }, Infinity); // as workerd, whose writers wait for no reader
  };
  class CompressionStream {
    #t;
    constructor(format) { this.#t = codec("CompressionStream", `${format}`, false); }
    get readable() { return this.#t.S.obj; }
    get writable() { return this.#t.W.obj; }
  }
  class DecompressionStream {
    #t;
    constructor(format) { this.#t = codec("DecompressionStream", `${format}`, true); }
    get readable() { return this.#t.S.obj; }
    get writable() { return this.#t.W.obj; }
  }
  const classes = { TransformStream, TransformStreamDefaultController, IdentityTransformStream, FixedLengthStream, TextEncoderStream, TextDecoderStream, CompressionStream, DecompressionStream };
  r.expose(classes);
  return {
    classes,
    isStream: isTransform,
    transferable: (o) => { const T = transformOf(o); return T.S.reader === undefined && T.W.writer === undefined; },
    transfer(o) {
      const T = transformOf(o), S = native.pipes().transfer(T.S), W = w.transferStream(T.W);
      return new TransformStream(KEY, () => ({ S, W }));
    },
    fixedLength: (o) => { const n = p.WeakMapPrototypeGet(lengths, r.streamOf(o)); return n === undefined ? -1 : n; },
  };
}
