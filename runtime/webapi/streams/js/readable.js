// Readable streams (WHATWG Streams, section 4), written from the standard.
//
// Public objects are thin: their state is a plain record behind a private
// field. S is a stream's record, R a reader's, C a controller's; a byte
// controller has C.bytes. Chunks reach readers through read requests, objects
// with chunk(v), close(v) and error(e). A stream whose bytes come from Go has
// C.src: it is pulled by callbacks, without promises.
function (native, p) {
  "use strict";
  const {
    Promise, TypeError, RangeError, Uint8Array, ArrayBuffer, PromiseResolve: resolved, PromiseReject: rejected,
    PromisePrototypeThen: then, ArrayPrototypeShift: shift, ReflectApply: apply,
    TypedArrayPrototypeGetTag: tagOf, TypedArrayPrototypeGetBuffer, TypedArrayPrototypeGetByteOffset,
    TypedArrayPrototypeGetByteLength, DataViewPrototypeGetBuffer, DataViewPrototypeGetByteOffset,
    DataViewPrototypeGetByteLength, ArrayBufferIsView: isView, ArrayBufferPrototypeGetByteLength: byteLength,
  } = p;
  const { transfer, detached, copy } = native;
  const KEY = {};
  const READABLE = 0, CLOSED = 1, ERRORED = 2;
  const LOCKED = "This ReadableStream is currently locked to a reader.";
  const RELEASED = "This ReadableStream reader has been released.";
  const ILLEGAL = "Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details.";
  const PARTIAL = "Insufficient bytes to fill elements in the given buffer.";
  const nothing = () => {};
  const illegal = () => { throw new TypeError(ILLEGAL); };
  const defer = () => {
    const d = {};
    d.promise = new Promise((res, rej) => { d.res = res; d.rej = rej; });
    return d;
  };
  const handled = (promise) => { then(promise, undefined, nothing); return promise; };
  // VOID stands for what is done already: one promise for all of it.
  const VOID = resolved();
  const attempt = (fn, self, ...args) => {
    try {
      const v = apply(fn, self, args);
      return v === undefined ? VOID : resolved(v);
    } catch (e) { return rejected(e); }
  };

  // ---- arguments, as Web IDL converts them
  const member = (dict, name, owner) => {
    const v = dict[name];
    if (v !== undefined && typeof v !== "function") {
      throw new TypeError(`Incorrect type for the '${name}' field on '${owner}': the provided value is not of type 'function'.`);
    }
    return v;
  };
  const isNothing = (v) => v === undefined || v === null;
  const isObject = (v) => typeof v === "object" && v !== null || typeof v === "function";
  // object is an argument that is an object or missing.
  const object = (v, n, owner, type) => {
    if (v === undefined) return {};
    if (!isObject(v)) throw new TypeError(`Failed to construct '${owner}': constructor parameter ${n} is not of type '${type}'.`);
    return v;
  };
  // options is an argument that is a dictionary.
  const options = (v, n, owner, method, type) => {
    if (isNothing(v)) return {};
    if (!isObject(v)) throw new TypeError(`Failed to execute '${method}' on '${owner}': parameter ${n} is not of type '${type}'.`);
    return v;
  };
  // strategy is an argument that is a QueuingStrategy.
  const strategy = (v, n, owner) => {
    const dict = v === null ? {} : object(v, n, owner, "StreamQueuingStrategy");
    let mark = dict.highWaterMark;
    if (mark !== undefined) mark = +mark;
    return { mark, size: member(dict, "size", "StreamQueuingStrategy") };
  };
  const highWaterMark = ({ mark }, otherwise) => {
    if (mark === undefined) return otherwise;
    if (!(mark >= 0)) throw new RangeError("The strategy's highWaterMark must be a number that is not negative.");
    return mark;
  };
  const natural = (v, what) => {
    const n = p.MathTrunc(+v);
    if (!(n >= 0 && n <= 9007199254740991)) throw new TypeError(`${what} must be an integer that is not negative.`);
    return n;
  };
  const VIEWS = { Uint8Array };
  for (const name of ["Int8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "Float32", "Float64", "BigInt64", "BigUint64"]) {
    VIEWS[name + "Array"] = globalThis[name + "Array"];
  }
  const describe = (view) => {
    const tag = tagOf(view);
    if (tag === undefined) {
      return { buf: DataViewPrototypeGetBuffer(view), off: DataViewPrototypeGetByteOffset(view), len: DataViewPrototypeGetByteLength(view), es: 1, ctor: p.DataView };
    }
    const ctor = VIEWS[tag];
    return { buf: TypedArrayPrototypeGetBuffer(view), off: TypedArrayPrototypeGetByteOffset(view), len: TypedArrayPrototypeGetByteLength(view), es: ctor.BYTES_PER_ELEMENT, ctor };
  };

  // ---- queues: C.q holds the entries from C.h on, C.n is their total size
  const resetQueue = (C) => { C.q = []; C.h = 0; C.n = 0; };
  const take = (C) => {
    const e = C.q[C.h];
    C.q[C.h++] = undefined;
    if (C.h === C.q.length) { C.q = []; C.h = 0; } else if (C.h > 256 && C.h * 2 > C.q.length) { C.q = p.ArrayPrototypeSlice(C.q, C.h); C.h = 0; }
    return e;
  };

  // ---- streams
  const newStream = () => ({ st: READABLE, err: undefined, reader: undefined, disturbed: false, C: undefined, obj: undefined });
  const waiting = (S) => S.reader !== undefined && S.reader.reqs.length > 0;
  const closeStream = (S) => {
    S.st = CLOSED;
    const R = S.reader;
    if (R === undefined) return;
    if (R.d) R.d.res();
    if (R.byob) return;
    const reqs = R.reqs;
    R.reqs = [];
    for (let i = 0; i < reqs.length; i++) reqs[i].close();
  };
  const errorReqs = (R, e) => {
    const reqs = R.reqs;
    R.reqs = [];
    for (let i = 0; i < reqs.length; i++) reqs[i].error(e);
  };
  const errorStream = (S, e) => {
    S.st = ERRORED;
    S.err = e;
    const R = S.reader;
    if (R === undefined) return;
    if (R.d) { R.d.rej(e); handled(R.d.promise); }
    errorReqs(R, e);
  };
  const cancelStream = (S, reason) => {
    S.disturbed = true;
    if (S.st === CLOSED) return resolved();
    if (S.st === ERRORED) return rejected(S.err);
    closeStream(S);
    const R = S.reader;
    if (R !== undefined && R.byob) {
      const reqs = R.reqs;
      R.reqs = [];
      for (let i = 0; i < reqs.length; i++) reqs[i].close(undefined);
    }
    const C = S.C, cancel = C.cancel;
    if (C.bytes) { C.pend = []; invalidate(C); }
    resetQueue(C);
    let result = cancel ? cancel(reason) : resolved();
    forget(C);
    return then(result, nothing);
  };

  // ---- readers
  const acquire = (S, byob) => {
    if (S.reader !== undefined) throw new TypeError(LOCKED);
    if (byob && !S.C.bytes) throw new TypeError("This ReadableStream does not support BYOB reads.");
    return S.reader = { S, byob: !!byob, reqs: [], d: undefined, gone: undefined };
  };
  const closedOf = (R) => {
    if (!R.d) {
      const d = R.d = defer();
      const S = R.S;
      if (R.gone) { d.rej(R.gone); handled(d.promise); }
      else if (S.st === CLOSED) d.res();
      else if (S.st === ERRORED) { d.rej(S.err); handled(d.promise); }
    }
    return R.d.promise;
  };
  const release = (R) => {
    const S = R.S;
    if (S === undefined) return;
    const gone = R.gone = new TypeError(RELEASED);
    if (R.d) {
      if (S.st === READABLE) { R.d.rej(gone); handled(R.d.promise); } else R.d = undefined;
    }
    const C = S.C;
    if (C.bytes && C.pend.length > 0) {
      const first = C.pend[0];
      first.type = 2;
      C.pend = [first];
    }
    S.reader = R.S = undefined;
    errorReqs(R, gone);
  };
  const cancelReader = (R, reason) => R.S === undefined ? rejected(new TypeError(RELEASED)) : cancelStream(R.S, reason);
  const read = (R, req) => {
    const S = R.S;
    S.disturbed = true;
    if (S.st === CLOSED) req.close();
    else if (S.st === ERRORED) req.error(S.err);
    else if (S.C.bytes) bytePull(S.C, req);
    else {
      const C = S.C;
      if (C.h === C.q.length) { R.reqs[R.reqs.length] = req; callPull(C); return; }
      const e = take(C);
      C.n = C.h === C.q.length ? 0 : C.n - e.n;
      if (C.closeReq && C.h === C.q.length) { forget(C); closeStream(S); } else callPull(C);
      req.chunk(e.v);
    }
  };
  // A request remembers what comes before its promise is made.
  const gotChunk = function (value) { this.got({ value, done: false }); };
  const gotClose = function (value) { this.got({ value, done: true }); };
  const gotResult = function (x) { if (this.d) this.d.res(x); else this.x = x; };
  const gotError = function (e) { if (this.d) this.d.rej(e); else this.e = { e }; };
  const request = () => ({ d: undefined, x: undefined, e: undefined, got: gotResult, chunk: gotChunk, close: gotClose, error: gotError });
  const promiseOf = (req) => {
    if (req.x) return resolved(req.x);
    if (req.e) return rejected(req.e.e);
    return (req.d = defer()).promise;
  };

  // ---- both controllers
  const forget = (C) => { C.pull = C.cancel = C.size = undefined; };
  const open = (C) => !C.closeReq && C.S.st === READABLE;
  const desired = (C) => C.S.st === ERRORED ? null : C.S.st === CLOSED ? 0 : C.hwm - C.n;
  const wanted = (C) => C.started && open(C) && (waiting(C.S) || C.hwm > C.n);
  const errorC = (C, e) => {
    if (C.S.st !== READABLE) return;
    if (C.bytes) { C.pend = []; invalidate(C); }
    resetQueue(C);
    forget(C);
    errorStream(C.S, e);
  };
  const callPull = (C) => {
    if (!C.pull || !wanted(C)) return;
    if (C.pulling) { C.again = true; return; }
    C.pulling = true;
    if (C.src) { C.pull(); return; }
    then(C.pull(), C.pulled || (C.pulled = () => {
      C.pulling = false;
      if (C.again) { C.again = false; callPull(C); }
    }), (e) => errorC(C, e));
  };
  const controller = (S, hwm) => S.C = {
    S, q: [], h: 0, n: 0, hwm, started: false, closeReq: false, pulling: false, again: false,
    pull: undefined, cancel: undefined, size: undefined, bytes: false, src: undefined, obj: undefined,
  };
  const start = (C, fn, source) => {
    if (!fn) { then(VOID, () => { C.started = true; callPull(C); }); return; }
    then(resolved(apply(fn, source, [C.obj])), () => { C.started = true; callPull(C); }, (e) => errorC(C, e));
  };

  // ---- default controller
  const enqueue = (C, v) => {
    if (!open(C)) throw new TypeError("Unable to enqueue");
    const S = C.S;
    if (waiting(S)) shift(S.reader.reqs).chunk(v);
    else {
      let n = 1;
      if (C.size) {
        try {
          n = +(0, C.size)(v);
          if (!(n >= 0) || n === Infinity) throw new RangeError("The strategy's size() must return a finite number that is not negative.");
        } catch (e) { errorC(C, e); throw e; }
      }
      C.q[C.q.length] = { v, n };
      C.n += n;
    }
    callPull(C);
  };
  const close = (C) => {
    if (!open(C)) throw new TypeError("This ReadableStream is closed.");
    C.closeReq = true;
    if (C.h === C.q.length) { forget(C); closeStream(C.S); }
  };
  // create makes a stream for use inside the platform; pull and cancel return promises.
  // With late they start in a microtask, as the standard's streams do.
  const create = ({ pull, cancel, hwm = 1, size, bytes, late }) => {
    const S = newStream(), C = controller(S, hwm);
    C.pull = pull; C.cancel = cancel; C.size = size; C.started = !late;
    if (late) then(VOID, () => { C.started = true; callPull(C); });
    if (bytes) { C.bytes = true; C.pend = []; C.breq = undefined; C.auto = undefined; }
    new ReadableStream(KEY, S);
    return S;
  };

  // ---- byte controller
  const push = (C, buf, off, len) => { C.q[C.q.length] = { buf, off, len }; C.n += len; };
  const pushCopy = (C, buf, off, len) => {
    const b = new ArrayBuffer(len);
    copy(b, 0, buf, off, len);
    push(C, b, 0, len);
  };
  const invalidate = (C) => {
    if (C.breq) { C.breq.C = undefined; C.breq.view = null; C.breq = undefined; }
  };
  const drained = (C) => {
    if (C.n === 0 && C.closeReq) { forget(C); closeStream(C.S); } else callPull(C);
  };
  const fromQueue = (C, req) => {
    const e = take(C);
    C.n -= e.len;
    drained(C);
    req.chunk(new Uint8Array(e.buf, e.off, e.len));
  };
  const bytePull = (C, req) => {
    if (C.n > 0) { fromQueue(C, req); return; }
    if (C.auto) {
      let buf;
      try { buf = new ArrayBuffer(C.auto); } catch (e) { req.error(e); return; }
      C.pend[C.pend.length] = { buf, bl: C.auto, off: 0, len: C.auto, filled: 0, min: 1, es: 1, ctor: Uint8Array, type: 0 };
    }
    const reqs = C.S.reader.reqs;
    reqs[reqs.length] = req;
    callPull(C);
  };
  const convert = (D) => new D.ctor(transfer(D.buf), D.off, D.filled / D.es);
  const commit = (S, D) => {
    const v = convert(D), req = shift(S.reader.reqs);
    if (S.st === CLOSED) req.close(D.type === 0 ? undefined : v); else req.chunk(v);
  };
  const fill = (C, D) => {
    const max = D.filled + (C.n < D.len - D.filled ? C.n : D.len - D.filled), aligned = max - max % D.es;
    const ready = aligned >= D.min;
    let left = (ready ? aligned : max) - D.filled;
    while (left > 0) {
      const e = C.q[C.h], n = left < e.len ? left : e.len;
      copy(D.buf, D.off + D.filled, e.buf, e.off, n);
      if (n === e.len) take(C); else { e.off += n; e.len -= n; }
      C.n -= n; D.filled += n; left -= n;
    }
    return ready;
  };
  const fillPending = (C) => {
    const done = [];
    while (C.pend.length > 0 && C.n > 0) {
      const D = C.pend[0];
      if (fill(C, D)) { shift(C.pend); done[done.length] = D; }
    }
    for (let i = 0; i < done.length; i++) commit(C.S, done[i]);
  };
  const releaseDetached = (C, D) => {
    if (D.filled > 0) pushCopy(C, D.buf, D.off, D.filled);
    shift(C.pend);
  };
  const byteEnqueue = (C, buf, off, len) => {
    const S = C.S;
    if (!open(C)) return;
    if (C.pend.length > 0) {
      const first = C.pend[0];
      if (detached(first.buf)) throw new TypeError("The BYOB request's buffer has been detached and so cannot be filled with an enqueued chunk");
      invalidate(C);
      first.buf = transfer(first.buf);
      if (first.type === 2) releaseDetached(C, first);
    }
    const R = S.reader;
    if (R === undefined) push(C, buf, off, len);
    else if (R.byob) { push(C, buf, off, len); fillPending(C); }
    else {
      while (R.reqs.length > 0 && C.n > 0) fromQueue(C, shift(R.reqs));
      if (R.reqs.length === 0) push(C, buf, off, len);
      else {
        if (C.pend.length > 0) shift(C.pend);
        shift(R.reqs).chunk(new Uint8Array(buf, off, len));
      }
    }
    callPull(C);
  };
  const byteClose = (C) => {
    if (!open(C)) return;
    if (C.n > 0) { C.closeReq = true; return; }
    if (C.pend.length > 0 && C.pend[0].filled % C.pend[0].es !== 0) {
      const e = new TypeError(PARTIAL);
      errorC(C, e);
      throw e;
    }
    forget(C);
    closeStream(C.S);
  };
  const pullInto = (C, view, min, req) => {
    const S = C.S, d = describe(view);
    let buf;
    try { buf = transfer(d.buf); } catch (e) { req.error(e); return; }
    const D = { buf, bl: byteLength(buf), off: d.off, len: d.len, filled: 0, min: min * d.es, es: d.es, ctor: d.ctor, type: 1 };
    const reqs = S.reader.reqs;
    if (C.pend.length > 0) { C.pend[C.pend.length] = D; reqs[reqs.length] = req; return; }
    if (S.st === CLOSED) { req.close(new D.ctor(buf, D.off, 0)); return; }
    if (C.n > 0) {
      if (fill(C, D)) { const v = convert(D); drained(C); req.chunk(v); return; }
      if (C.closeReq) {
        const e = new TypeError(PARTIAL);
        errorC(C, e);
        req.error(e);
        return;
      }
    }
    C.pend[C.pend.length] = D;
    reqs[reqs.length] = req;
    callPull(C);
  };
  const respondNow = (C, n) => {
    const S = C.S, D = C.pend[0];
    invalidate(C);
    if (S.st === CLOSED) {
      if (D.type === 2) shift(C.pend);
      if (S.reader !== undefined && S.reader.byob) {
        while (S.reader.reqs.length > 0) commit(S, shift(C.pend));
      }
    } else {
      D.filled += n;
      if (D.type === 2) { releaseDetached(C, D); fillPending(C); }
      else if (D.filled >= D.min) {
        shift(C.pend);
        const rest = D.filled % D.es;
        if (rest > 0) pushCopy(C, D.buf, D.off + D.filled - rest, rest);
        D.filled -= rest;
        commit(S, D);
        fillPending(C);
      }
    }
    callPull(C);
  };
  const respond = (C, n) => {
    const D = C.pend[0];
    if (C.S.st === CLOSED) {
      if (n !== 0) throw new TypeError("bytesWritten must be zero after the stream is closed.");
    } else {
      if (n === 0) throw new TypeError("bytesWritten must be more than zero while the stream is open.");
      if (D.filled + n > D.len) throw new RangeError("Too many bytes in response to a BYOB read request.");
    }
    D.buf = transfer(D.buf);
    respondNow(C, n);
  };
  const respondWithView = (C, view) => {
    const D = C.pend[0], d = describe(view);
    if (detached(d.buf)) throw new TypeError("The given view's buffer has been detached.");
    if (C.S.st === CLOSED ? d.len !== 0 : d.len === 0) throw new TypeError("The given view has an invalid length.");
    if (D.off + D.filled !== d.off || D.bl !== byteLength(d.buf) || D.filled + d.len > D.len) {
      throw new RangeError("The given view is not part of the BYOB request's buffer.");
    }
    D.buf = transfer(d.buf);
    respondNow(C, d.len);
  };

  // ---- sources in Go: native.pull(src, settle) calls settle once, perhaps
  // before it returns, with (0, buffer), (1) at the end or (2, error)
  const fromSource = (src) => {
    const S = create({ bytes: true, hwm: 0 }), C = S.C;
    C.src = src;
    const settle = (kind, v) => {
      C.pulling = false;
      if (C.S.st !== READABLE) return;
      if (kind === 0) {
        byteEnqueue(C, v, 0, byteLength(v));
        if (C.again) { C.again = false; callPull(C); }
        return;
      }
      C.src = undefined;
      if (kind === 1 && C.pend.length > 0 && C.pend[0].filled % C.pend[0].es !== 0) {
        kind = 2;
        v = new TypeError(PARTIAL);
      }
      if (kind === 2) { errorC(C, v); return; }
      byteClose(C);
      if (C.pend.length > 0) respond(C, 0);
    };
    C.pull = () => {
      try { native.pull(C.src, settle); } catch (e) {
        // Another context's code asked: it fails, the stream does not.
        C.pulling = false;
        const R = C.S.reader;
        if (R !== undefined) { C.pend = []; errorReqs(R, e); }
      }
    };
    C.cancel = (reason) => { const s = C.src; C.src = undefined; if (s) native.cancel(s, reason); return resolved(); };
    return S;
  };

  // ---- the classes
  let streamOf;
  class ReadableStream {
    #r;
    static { streamOf = (o) => typeof o === "object" && o !== null && #r in o ? o.#r : undefined; }
    constructor(source = undefined, queuing = undefined) {
      if (source === KEY) { this.#r = queuing; queuing.obj = this; return; }
      source = object(source, 1, "ReadableStream", "UnderlyingSource");
      const { mark, size } = strategy(queuing, 2, "ReadableStream");
      const S = newStream();
      this.#r = S;
      S.obj = this;
      let auto = source.autoAllocateChunkSize;
      if (auto !== undefined) auto = natural(auto, "autoAllocateChunkSize");
      const cancel = member(source, "cancel", "UnderlyingSource"), pull = member(source, "pull", "UnderlyingSource"), startFn = member(source, "start", "UnderlyingSource");
      let { type } = source, C;
      if (type === undefined) {
        C = controller(S, highWaterMark({ mark }, 1));
        C.size = size;
        C.obj = new ReadableStreamDefaultController(KEY, C);
      } else if ((type = `${type}`) === "bytes") {
        if (size !== undefined) throw new RangeError("The strategy of a byte stream cannot have a size().");
        C = controller(S, highWaterMark({ mark }, 0));
        C.bytes = true; C.pend = []; C.breq = undefined;
        if (auto === 0) throw new TypeError("The autoAllocateChunkSize option cannot be zero.");
        C.auto = auto;
        C.obj = new ReadableByteStreamController(KEY, C);
      } else throw new TypeError(`"${type}" is not a valid type of ReadableStream.`);
      if (pull) C.pull = () => attempt(pull, source, C.obj);
      if (cancel) C.cancel = (reason) => attempt(cancel, source, reason);
      start(C, startFn, source);
    }
    get locked() { return (streamOf(this) || illegal()).reader !== undefined; }
    cancel(reason = undefined) {
      const S = streamOf(this);
      if (!S) return attempt(illegal);
      return S.reader !== undefined ? rejected(new TypeError(LOCKED)) : cancelStream(S, reason);
    }
    getReader(choice = undefined) {
      const S = streamOf(this) || illegal();
      const { mode } = options(choice, 1, "ReadableStream", "getReader", "ReadableStreamGetReaderOptions");
      if (mode === undefined) return new ReadableStreamDefaultReader(KEY, acquire(S));
      if (`${mode}` !== "byob") throw new TypeError("mode must be undefined or 'byob' in call to getReader().");
      return new ReadableStreamBYOBReader(KEY, acquire(S, true));
    }
    pipeThrough(pair, choice = undefined) { return native.pipes().through(streamOf(this) || illegal(), pair, choice); }
    pipeTo(destination, choice = undefined) {
      const S = streamOf(this);
      return S ? native.pipes().to(S, destination, choice) : attempt(illegal);
    }
    tee() {
      const S = streamOf(this) || illegal(), [a, b] = tee(S);
      return [a.obj, b.obj];
    }
    values(choice = undefined) {
      const S = streamOf(this) || illegal();
      const { preventCancel } = options(choice, 1, "ReadableStream", "values", "ReadableStreamValuesOptions");
      return iterate(acquire(S), !!preventCancel);
    }
    static from(iterable) { return native.pipes().from(iterable).obj; }
  }
  const hidden = { writable: true, configurable: true, enumerable: false };
  p.ObjectDefineProperty(ReadableStream.prototype, p.SymbolAsyncIterator, { __proto__: null, ...hidden, value: ReadableStream.prototype.values });
  const tee = (S) => { if (S.reader !== undefined) throw new TypeError(LOCKED); return native.pipes().tee(S); };

  // ---- async iterators (Web IDL, section 3.7.10)
  const iteratorOf = (o) => p.WeakMapPrototypeGet(iterators, o);
  const iterators = new p.WeakMap();
  const IteratorPrototype = {
    __proto__: p.AsyncIteratorPrototype,
    next() { const it = iteratorOf(this); return it ? it.next() : attempt(illegal); },
    return(v) { const it = iteratorOf(this); return it ? it.return(v) : attempt(illegal); },
  };
  p.ObjectDefineProperty(IteratorPrototype, p.SymbolToStringTag, { __proto__: null, value: "ReadableStream AsyncIterator", writable: false, enumerable: false, configurable: true });
  const END = {};
  const iterate = (R, keep) => {
    let ongoing, finished = false;
    const next = () => {
      if (finished) return resolved({ value: undefined, done: true });
      const d = defer();
      read(R, {
        chunk(value) { d.res({ __proto__: null, value }); },
        close() { release(R); d.res(END); },
        error(e) { release(R); d.rej(e); },
      });
      return then(d.promise, (v) => {
        ongoing = undefined;
        if (v !== END) return { value: v.value, done: false };
        finished = true;
        return { value: undefined, done: true };
      }, (e) => { ongoing = undefined; finished = true; throw e; });
    };
    const it = p.ObjectCreate(IteratorPrototype);
    p.WeakMapPrototypeSet(iterators, it, {
      next: () => ongoing = ongoing ? then(ongoing, next, next) : next(),
      return(value) {
        const steps = () => {
          if (finished) return VOID;
          finished = true;
          const result = keep ? VOID : cancelReader(R, value);
          release(R);
          return result;
        };
        ongoing = ongoing ? then(ongoing, steps, steps) : steps();
        return then(ongoing, () => ({ value, done: true }));
      },
    });
    return it;
  };

  const construct = (name, key, x, byob) => {
    if (key === KEY) return x;
    const S = streamOf(key);
    if (!S) throw new TypeError(`Failed to construct '${name}': constructor parameter 1 is not of type 'ReadableStream'.`);
    return acquire(S, byob);
  };
  // The readers share closed, cancel() and releaseLock() as a mixin does: each
  // class has its own, with its own check of the receiver.
  let defaultOf, byobOf;
  class ReadableStreamDefaultReader {
    #r;
    static { defaultOf = (o) => typeof o === "object" && o !== null && #r in o ? o.#r : undefined; }
    constructor(stream, x = undefined) { this.#r = construct("ReadableStreamDefaultReader", stream, x); }
    get closed() { const R = defaultOf(this); return R ? closedOf(R) : attempt(illegal); }
    cancel(reason = undefined) { const R = defaultOf(this); return R ? cancelReader(R, reason) : attempt(illegal); }
    read() {
      const R = defaultOf(this);
      if (!R) return attempt(illegal);
      if (R.S === undefined) return rejected(new TypeError(RELEASED));
      const req = request();
      read(R, req);
      return promiseOf(req);
    }
    releaseLock() { release(defaultOf(this) || illegal()); }
  }
  class ReadableStreamBYOBReader {
    #r;
    static { byobOf = (o) => typeof o === "object" && o !== null && #r in o ? o.#r : undefined; }
    constructor(stream, x = undefined) { this.#r = construct("ReadableStreamBYOBReader", stream, x, true); }
    get closed() { const R = byobOf(this); return R ? closedOf(R) : attempt(illegal); }
    cancel(reason = undefined) { const R = byobOf(this); return R ? cancelReader(R, reason) : attempt(illegal); }
    read(view, choice = undefined) {
      const R = byobOf(this);
      return R ? attempt(readInto, undefined, R, view, choice) : attempt(illegal);
    }
    readAtLeast(min, view) { const R = byobOf(this); return R ? attempt(readInto, undefined, R, view, { min }) : attempt(illegal); }
    releaseLock() { release(byobOf(this) || illegal()); }
  }
  const readInto = (R, view, choice) => {
    if (!isView(view)) throw new TypeError("Failed to execute 'read' on 'ReadableStreamBYOBReader': parameter 1 is not of type 'ArrayBufferView'.");
    let { min } = options(choice, 2, "ReadableStreamBYOBReader", "read", "ReadableStreamBYOBReaderReadOptions");
    min = min === undefined ? 1 : natural(min, "min");
    const { buf, len, es } = describe(view);
    if (len === 0) throw new TypeError('You must call read() on a "byob" reader with a positive-sized TypedArray object.');
    if (detached(buf)) throw new TypeError("The given view's buffer has been detached.");
    if (min === 0) throw new TypeError(`Requested invalid minimum number of bytes to read (${min}).`);
    if (min * es > len) throw new RangeError(`Minimum bytes to read (${min * es}) exceeds size of buffer (${len}).`);
    if (R.S === undefined) throw new TypeError(RELEASED);
    const S = R.S, req = request();
    S.disturbed = true;
    if (S.st === ERRORED) req.error(S.err); else pullInto(S.C, view, min, req);
    return promiseOf(req);
  };
  class ReadableStreamDefaultController {
    #r;
    constructor(key = undefined, C = undefined) { if (key !== KEY) throw new TypeError("Illegal constructor"); this.#r = C; }
    get desiredSize() { return desired(this.#r); }
    close() { close(this.#r); }
    enqueue(chunk = undefined) { enqueue(this.#r, chunk); }
    error(e = undefined) { errorC(this.#r, e); }
  }
  const byobRequest = (C) => {
    if (!C.breq) {
      if (C.pend.length === 0) return null;
      const D = C.pend[0];
      C.breq = { C, view: new Uint8Array(D.buf, D.off + D.filled, D.len - D.filled), at: D.min > D.filled ? D.min - D.filled : 1, obj: undefined };
      C.breq.obj = new ReadableStreamBYOBRequest(KEY, C.breq);
    }
    return C.breq.obj;
  };
  class ReadableByteStreamController {
    #r;
    constructor(key = undefined, C = undefined) { if (key !== KEY) throw new TypeError("Illegal constructor"); this.#r = C; }
    get byobRequest() { return byobRequest(this.#r); }
    get desiredSize() { return desired(this.#r); }
    close() {
      if (!open(this.#r)) throw new TypeError("This ReadableByteStreamController is closed.");
      byteClose(this.#r);
    }
    enqueue(chunk) {
      const C = this.#r, isBuffer = native.isBuffer(chunk);
      if (!isBuffer && !isView(chunk)) throw new TypeError("Failed to execute 'enqueue' on 'ReadableByteStreamController': parameter 1 is not of type 'BufferSource'.");
      const d = isBuffer ? { buf: chunk, off: 0, len: byteLength(chunk) } : describe(chunk);
      if (d.len === 0) throw new TypeError("Cannot enqueue a zero-length ArrayBuffer.");
      if (!open(C)) throw new TypeError("This ReadableByteStreamController is closed.");
      byteEnqueue(C, transfer(d.buf), d.off, d.len);
    }
    error(e = undefined) { errorC(this.#r, e); }
  }
  class ReadableStreamBYOBRequest {
    #r;
    constructor(key = undefined, req = undefined) { if (key !== KEY) throw new TypeError("Illegal constructor"); this.#r = req; }
    get view() { return this.#r.view; }
    get atLeast() { return this.#r.C ? this.#r.at : null; }
    respond(n) {
      const { C, view } = this.#r;
      if (arguments.length === 0) throw new TypeError("Failed to execute 'respond' on 'ReadableStreamBYOBRequest': parameter 1 is not of type 'integer'.");
      n = natural(n, "bytesWritten");
      if (!C) throw new TypeError("This BYOB request has been invalidated.");
      if (detached(describe(view).buf)) throw new TypeError("The BYOB request's buffer has been detached.");
      respond(C, n);
    }
    respondWithNewView(view) {
      const { C } = this.#r;
      if (!isView(view)) throw new TypeError("Failed to execute 'respondWithNewView' on 'ReadableStreamBYOBRequest': parameter 1 is not of type 'ArrayBufferView'.");
      if (!C) throw new TypeError("This BYOB request has been invalidated.");
      respondWithView(C, view);
    }
  }
  const classes = { ReadableStream, ReadableStreamDefaultReader, ReadableStreamBYOBReader, ReadableStreamDefaultController, ReadableByteStreamController, ReadableStreamBYOBRequest };
  // expose gives classes the shape of Web IDL's interfaces: their members are
  // enumerable, and each has its tag.
  const expose = (classes) => {
    for (const name in classes) {
      const { prototype } = classes[name];
      for (const [object, except] of [[prototype, "constructor"], [classes[name], "prototype"]]) {
        for (const key of p.ReflectOwnKeys(object)) {
          if (typeof key !== "string" || key === except || key === "length" || key === "name") continue;
          const d = p.ObjectGetOwnPropertyDescriptor(object, key);
          d.enumerable = true;
          p.ObjectDefineProperty(object, key, d);
        }
      }
      p.ObjectDefineProperty(prototype, p.SymbolToStringTag, { __proto__: null, value: name, writable: false, enumerable: false, configurable: true });
    }
  };
  expose(classes);

  // ---- for Go: a loop that calls itself only when a chunk comes later
  const drain = (S, onChunk, onClose, onError) => {
    const R = acquire(S);
    let busy = false, again = false;
    const step = () => {
      if (busy) { again = true; return; }
      busy = true;
      do { again = false; if (R.S !== undefined) read(R, req); } while (again);
      busy = false;
    };
    const req = { chunk: (v) => onChunk(v), close: () => onClose(), error: (e) => onError(e) };
    return { step, cancel(reason) { handled(cancelReader(R, reason)); } };
  };
  const detach = (S) => {
    if (S.reader !== undefined) throw new TypeError(LOCKED);
    const T = newStream(), C = S.C;
    T.st = S.st; T.err = S.err; T.C = C; C.S = T;
    new ReadableStream(KEY, T);
    S.C = controller(S, 0);
    S.disturbed = true;
    acquire(S);
    return T;
  };
  const untouched = (S) => S.C.src !== undefined && !S.disturbed && S.reader === undefined && S.C.n === 0 && !S.C.pulling;
  // feed makes a stream of bytes, which come from Go, and what tells of them.
  const feed = (pull, cancel) => {
    const S = create({ bytes: true, hwm: 0, pull, cancel }), C = S.C;
    return {
      obj: S.obj,
      push: (buffer) => byteEnqueue(C, buffer, 0, byteLength(buffer)),
      end() { byteClose(C); if (C.pend.length > 0) respond(C, 0); },
      fail: (e) => errorC(C, e),
      open: () => S.st === READABLE,
      lock() { acquire(S); },
    };
  };
  // spend leaves a stream as reading all of it does: closed, and locked for ever.
  const spend = (S) => { S.disturbed = true; S.C.src = undefined; if (S.st === READABLE) { forget(S.C); closeStream(S); } acquire(S); };
  return {
    classes, READABLE, CLOSED, ERRORED, LOCKED,
    streamOf, acquire, release, read, cancelReader, cancelStream, closedOf, create, enqueue, close, byteEnqueue, byteClose,
    errorC, desired, callPull, respond, describe, defer, handled, attempt, VOID, member, object, options, strategy, highWaterMark, illegal, nothing, isNothing, isObject, expose, pullInto, respondWithView, byobRequest,
    isStream: (o) => streamOf(o) !== undefined,
    transferable: (o) => streamOf(o).reader === undefined,
    transfer: (o) => native.pipes().transfer(streamOf(o)).obj,
    pipeTo: (o, destination) => native.pipes().to(streamOf(o), destination),
    from: (iterable) => ReadableStream.from(iterable),
    disturbed: (o) => streamOf(o).disturbed,
    locked: (o) => streamOf(o).reader !== undefined,
    fromSource: (src) => fromSource(src).obj,
    source: (o) => { const S = streamOf(o); return untouched(S) ? S.C.src : undefined; },
    spend: (o) => spend(streamOf(o)),
    detach: (o) => detach(streamOf(o)).obj,
    tee: (o) => { const [a, b] = tee(streamOf(o)); return [a.obj, b.obj]; },
    drain: (o, a, b, c) => drain(streamOf(o), a, b, c),
    feed,
  };
}
