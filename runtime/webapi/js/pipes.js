// What not every stream needs: tee, from, pipeTo and pipeThrough (WHATWG
// Streams, sections 4.9.1 and 4.2).
function (native, p) {
  "use strict";
  const r = native.readable, { defer, handled, VOID, acquire, release, read, create, READABLE, CLOSED, ERRORED } = r;
  const {
    TypeError, Promise, PromisePrototypeThen: then, PromiseResolve: resolved, PromiseReject: rejected, ReflectApply: apply,
    PromiseAll: all, SymbolAsyncIterator, SymbolIterator, Uint8Array, ArrayBuffer,
  } = p;

  // tee reads for both branches; a byte stream's branches get copies. It never
  // reads with BYOB requests from the source: views are filled by copying.
  const tee = (S) => {
    const bytes = S.C.bytes, R = acquire(S), canceled = [false, false], reasons = [undefined, undefined], done = defer();
    let reading = false, again = false, ended = false;
    const branches = [];
    const each = (f) => { for (let i = 0; i < 2; i++) if (!canceled[i]) f(branches[i].C, i); };
    const copyOf = (v) => {
      const d = r.describe(v), buf = new ArrayBuffer(d.len);
      native.copy(buf, 0, d.buf, d.off, d.len);
      return buf;
    };
    const give = (C, v, last) => {
      if (!bytes) { r.enqueue(C, v); return; }
      const d = r.describe(v), buf = last ? native.transfer(d.buf) : copyOf(v);
      r.byteEnqueue(C, buf, last ? d.off : 0, d.len);
    };
    const pull = () => {
      if (reading) { again = true; return VOID; }
      reading = true;
      read(R, {
        chunk(v) {
          native.microtask(() => {
            again = false;
            const both = !canceled[0] && !canceled[1];
            each((C, i) => give(C, v, !both || i === 1));
            reading = false;
            if (again) pull();
          });
        },
        close() {
          reading = false;
          ended = true;
          each((C) => {
            if (!bytes) { r.close(C); return; }
            r.byteClose(C);
            if (C.pend.length > 0) r.respond(C, 0);
          });
          if (!canceled[0] || !canceled[1]) done.res();
        },
        error() { reading = false; },
      });
      return VOID;
    };
    for (let i = 0; i < 2; i++) {
      branches[i] = create({
        pull, bytes, hwm: bytes ? 0 : 1,
        cancel(reason) {
          canceled[i] = true;
          reasons[i] = reason;
          if (canceled[1 - i]) done.res(r.cancelReader(R, reasons));
          return done.promise;
        },
      });
    }
    then(r.closedOf(R), undefined, (e) => {
      if (ended) return;
      ended = true;
      r.errorC(branches[0].C, e);
      r.errorC(branches[1].C, e);
      if (!canceled[0] || !canceled[1]) done.res();
    });
    if (!bytes) for (const b of branches) r.callPull(b.C);
    return branches;
  };

  const from = (iterable) => {
    const kind = iterable === null || iterable === undefined ? undefined : iterable[SymbolAsyncIterator] || iterable[SymbolIterator];
    if (typeof kind !== "function") throw new TypeError("Failed to execute 'from' on 'ReadableStream': parameter 1 is not of type 'AsyncGenerator'.");
    const sync = iterable[SymbolAsyncIterator] === undefined || iterable[SymbolAsyncIterator] === null;
    const it = apply(kind, iterable, []), next = it.next;
    const object = (v, what) => {
      if (typeof v !== "object" || v === null) throw new TypeError(`The iterator's ${what}() did not return an object.`);
      return v;
    };
    const S = create({
      hwm: 0,
      pull: () => then(r.attempt(next, it), (result) => {
        object(result, "next");
        if (result.done) { r.close(S.C); return; }
        if (!sync) { r.enqueue(S.C, result.value); return; }
        return then(resolved(result.value), (v) => r.enqueue(S.C, v));
      }),
      cancel: (reason) => {
        let method;
        try { method = it.return; } catch (e) { return rejected(e); }
        if (method === undefined || method === null) return resolved();
        return then(r.attempt(method, it, reason), (v) => { object(v, "return"); });
      },
    });
    return S;
  };

  const to = (S, destination, options) => {
    const w = native.writable(), W = w.streamOf(destination);
    if (!W) return rejected(new TypeError("Failed to execute 'pipeTo' on 'ReadableStream': parameter 1 is not of type 'WritableStream'."));
    let signal, preventClose, preventAbort, preventCancel;
    try {
      options = options === undefined || options === null ? {} : options;
      preventAbort = !!options.preventAbort; preventCancel = !!options.preventCancel; preventClose = !!options.preventClose;
      signal = options.signal;
      if (signal !== undefined && !native.isSignal(signal)) throw new TypeError("Incorrect type for the 'signal' field on 'PipeToOptions': the provided value is not of type 'AbortSignal'.");
    } catch (e) { return rejected(e); }
    if (W.writer !== undefined) return rejected(new TypeError(w.LOCKED));
    const R = acquire(S), X = w.acquire(W), result = defer();
    let shutting = false, unfinished = 0, idle, unlisten = r.nothing;
    S.disturbed = true;
    // Chunks that were read are written before the pipe ends.
    const wrote = () => { if (--unfinished === 0 && idle) idle(); };
    const written = { res: wrote, rej: wrote };
    const finalize = (failed, e) => {
      w.release(X);
      release(R);
      unlisten();
      if (failed) result.rej(e); else result.res();
    };
    const shutdown = (action, failed, e) => {
      if (shutting) return;
      shutting = true;
      const rest = () => {
        if (!action) { finalize(failed, e); return; }
        then(action(), () => finalize(failed, e), (e2) => finalize(true, e2));
      };
      if (unfinished > 0 && W.st === w.WRITABLE && !w.closing(W)) idle = () => then(VOID, rest); else rest();
    };
    if (signal !== undefined) {
      const abort = (reason) => shutdown(() => {
        const actions = [];
        if (!preventAbort) actions[0] = W.st === w.WRITABLE ? w.abort(W, reason) : resolved();
        if (!preventCancel) actions[actions.length] = S.st === READABLE ? r.cancelStream(S, reason) : resolved();
        return all(actions);
      }, true, reason);
      if (signal.aborted) { abort(signal.reason); return result.promise; }
      unlisten = native.onAbort(signal, abort);
    }
    const sourceFailed = (e) => shutdown(preventAbort ? undefined : () => w.abort(W, e), true, e);
    const destFailed = (e) => shutdown(preventCancel ? undefined : () => r.cancelStream(S, e), true, e);
    const sourceClosed = () => shutdown(preventClose ? undefined : () => w.closePropagating(X), false);
    if (S.st === ERRORED) sourceFailed(S.err); else then(r.closedOf(R), undefined, sourceFailed);
    if (W.st === w.ERRORED) destFailed(W.err); else then(X.closed.promise, undefined, destFailed);
    if (S.st === CLOSED) sourceClosed(); else then(r.closedOf(R), sourceClosed, r.nothing);
    if (w.closing(W) || W.st === w.CLOSED) {
      const e = new TypeError("This WritableStream has been closed.");
      shutdown(preventCancel ? undefined : () => r.cancelStream(S, e), true, e);
    }
    const req = {
      chunk(v) {
        unfinished++;
        // A write may call user code: not from within a read.
        then(VOID, () => { w.write(X, v, written); step(); });
      },
      close: r.nothing,
      error: r.nothing,
    };
    const next = () => { if (!shutting) read(R, req); };
    const step = () => {
      if (X.ready.done) next(); else then(X.ready.promise, next, r.nothing);
    };
    step();
    return handled(result.promise);
  };

  const through = (S, pair, options) => {
    const out = pair && pair.readable, into = pair && pair.writable, w = native.writable();
    if (!r.isStream(out)) throw new TypeError("Incorrect type for the 'readable' field on 'Transform': the provided value is not of type 'ReadableStream'.");
    const W = w.streamOf(into);
    if (!W) throw new TypeError("Incorrect type for the 'writable' field on 'Transform': the provided value is not of type 'WritableStream'.");
    if (W.writer !== undefined) throw new TypeError(w.LOCKED);
    handled(to(S, into, options));
    return out;
  };

  return { tee, from, to, through };
}
