// What not every stream needs: tee, from, pipeTo and pipeThrough (WHATWG
// Streams, sections 4.9.1 and 4.2).
function (native, p) {
  "use strict";
  const r = native.readable, { defer, handled, VOID, acquire, release, read, create, READABLE, CLOSED, ERRORED } = r;
  const {
    TypeError, Promise, PromisePrototypeThen: then, PromiseResolve: resolved, PromiseReject: rejected, ReflectApply: apply,
    PromiseAll: all, SymbolAsyncIterator, SymbolIterator, Uint8Array, ArrayBuffer,
  } = p;

  // branchesOf makes the two branches of a tee: pulls[i] pulls for branch i, and
  // state.R is the reader that cancels the source once both are canceled.
  const branchesOf = (state, pulls, bytes) => {
    const { canceled, reasons, done } = state;
    for (let i = 0; i < 2; i++) {
      state.branches[i] = create({
        pull: pulls[i], bytes, hwm: bytes ? 0 : 1, late: true,
        cancel(reason) {
          canceled[i] = true;
          reasons[i] = reason;
          if (canceled[1 - i]) done.res(r.cancelReader(state.R, reasons));
          return done.promise;
        },
      });
    }
    return state.branches;
  };
  const teeState = (S) => ({ R: acquire(S), canceled: [false, false], reasons: [undefined, undefined], done: defer(), branches: [] });

  // tee (section 4.9.1, ReadableStreamDefaultTee and ReadableByteStreamTee)
  const tee = (S) => S.C.bytes ? byteTee(S) : defaultTee(S);
  const defaultTee = (S) => {
    const state = teeState(S), { R, canceled, done, branches } = state;
    let reading = false, again = false;
    const each = (f) => { for (let i = 0; i < 2; i++) if (!canceled[i]) f(branches[i].C); };
    const pull = () => {
      if (reading) { again = true; return VOID; }
      reading = true;
      read(R, {
        chunk(v) {
          native.microtask(() => {
            again = false;
            each((C) => r.enqueue(C, v));
            reading = false;
            if (again) pull();
          });
        },
        close() {
          reading = false;
          each(r.close);
          if (!canceled[0] || !canceled[1]) done.res();
        },
        error() { reading = false; },
      });
      return VOID;
    };
    branchesOf(state, [pull, pull], false);
    then(r.closedOf(R), undefined, (e) => {
      for (const b of branches) r.errorC(b.C, e);
      if (!canceled[0] || !canceled[1]) done.res();
    });
    return branches;
  };

  const byteTee = (S) => {
    const state = teeState(S), { canceled, done, branches } = state;
    let reading = false, byob = false;
    const again = [false, false];
    const copyOf = (v) => {
      const d = r.describe(v), buf = new ArrayBuffer(d.len);
      native.copy(buf, 0, d.buf, d.off, d.len);
      return new Uint8Array(buf);
    };
    const give = (i, v) => {
      const d = r.describe(v);
      r.byteEnqueue(branches[i].C, native.transfer(d.buf), d.off, d.len);
    };
    const forward = (R) => then(r.closedOf(R), undefined, (e) => {
      if (R !== state.R) return;
      for (const b of branches) r.errorC(b.C, e);
      if (!canceled[0] || !canceled[1]) done.res();
    });
    const use = (asByob) => {
      if (byob === asByob) return;
      release(state.R);
      byob = asByob;
      forward(state.R = acquire(S, asByob));
    };
    const more = () => {
      reading = false;
      if (again[0]) pulls[0](); else if (again[1]) pulls[1]();
    };
    // clone gives a copy, or ends everything because there is no memory for one.
    const clone = (v) => {
      try { return copyOf(v); } catch (e) {
        for (const b of branches) r.errorC(b.C, e);
        done.res(r.cancelStream(S, e));
      }
    };
    const pullDefault = () => {
      use(false);
      read(state.R, {
        chunk(v) {
          native.microtask(() => {
            again[0] = again[1] = false;
            let other = v;
            if (!canceled[0] && !canceled[1] && (other = clone(v)) === undefined) return;
            if (!canceled[0]) give(0, v);
            if (!canceled[1]) give(1, other);
            more();
          });
        },
        close() {
          reading = false;
          for (let i = 0; i < 2; i++) if (!canceled[i]) r.byteClose(branches[i].C);
          for (let i = 0; i < 2; i++) if (branches[i].C.pend.length > 0) r.respond(branches[i].C, 0);
          if (!canceled[0] || !canceled[1]) done.res();
        },
        error() { reading = false; },
      });
    };
    const pullByob = (view, i) => {
      use(true);
      const own = branches[i].C, other = branches[1 - i].C;
      r.pullInto(S.C, view, 1, {
        chunk(v) {
          native.microtask(() => {
            again[0] = again[1] = false;
            const ownGone = canceled[i];
            if (!canceled[1 - i]) {
              const c = clone(v);
              if (c === undefined) return;
              if (!ownGone) r.respondWithView(own, v);
              give(1 - i, c);
            } else if (!ownGone) r.respondWithView(own, v);
            more();
          });
        },
        close(v) {
          reading = false;
          if (!canceled[i]) r.byteClose(own);
          if (!canceled[1 - i]) r.byteClose(other);
          if (v !== undefined) {
            if (!canceled[i]) r.respondWithView(own, v);
            if (!canceled[1 - i] && other.pend.length > 0) r.respond(other, 0);
          }
          if (!canceled[0] || !canceled[1]) done.res();
        },
        error() { reading = false; },
      });
    };
    const pullOf = (i) => () => {
      if (reading) { again[i] = true; return VOID; }
      reading = true;
      const request = r.byobRequest(branches[i].C);
      S.disturbed = true;
      if (request === null) pullDefault(); else pullByob(request.view, i);
      return VOID;
    };
    const pulls = [pullOf(0), pullOf(1)];
    branchesOf(state, pulls, true);
    forward(state.R);
    return branches;
  };

  const from = (iterable) => {
    let kind = r.isNothing(iterable) ? undefined : iterable[SymbolAsyncIterator];
    const sync = r.isNothing(kind);
    if (sync && !r.isNothing(iterable)) kind = iterable[SymbolIterator];
    if (typeof kind !== "function") throw new TypeError("Failed to execute 'from' on 'ReadableStream': parameter 1 is not of type 'AsyncGenerator'.");
    const it = apply(kind, iterable, []);
    if (!r.isObject(it)) throw new TypeError("Failed to execute 'from' on 'ReadableStream': the iterator is not an object.");
    const { next } = it;
    const object = (v, what) => {
      if (!r.isObject(v)) throw new TypeError(`The iterator's ${what}() did not return an object.`);
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
        if (r.isNothing(method)) return resolved();
        return then(r.attempt(method, it, reason), (v) => { object(v, "return"); });
      },
    });
    return S;
  };

  // pipeOptions converts StreamPipeOptions, its members in their order.
  const pipeOptions = (options, method) => {
    options = r.options(options, 2, "ReadableStream", method, "PipeToOptions");
    const preventAbort = !!options.preventAbort, preventCancel = !!options.preventCancel, preventClose = !!options.preventClose, { signal } = options;
    if (signal !== undefined && !native.isSignal(signal)) throw new TypeError("Incorrect type for the 'signal' field on 'PipeToOptions': the provided value is not of type 'AbortSignal'.");
    return { preventAbort, preventCancel, preventClose, signal };
  };

  const to = (S, destination, options) => {
    const w = native.writable(), W = w.streamOf(destination);
    if (!W) return rejected(new TypeError("Failed to execute 'pipeTo' on 'ReadableStream': parameter 1 is not of type 'WritableStream'."));
    try { options = pipeOptions(options, "pipeTo"); } catch (e) { return rejected(e); }
    if (S.reader !== undefined) return rejected(new TypeError(r.LOCKED));
    if (W.writer !== undefined) return rejected(new TypeError(w.LOCKED));
    return pipe(S, W, options);
  };

  const pipe = (S, W, { signal, preventClose, preventAbort, preventCancel }) => {
    const w = native.writable();
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
      if (W.st !== w.WRITABLE || w.closing(W)) rest();
      else if (unfinished > 0) idle = () => then(VOID, rest);
      else then(VOID, rest);
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
    if (!r.isObject(pair)) throw new TypeError("Failed to execute 'pipeThrough' on 'ReadableStream': parameter 1 is not of type 'Transform'.");
    const w = native.writable(), out = pair.readable;
    if (!r.isStream(out)) throw new TypeError("Incorrect type for the 'readable' field on 'Transform': the provided value is not of type 'ReadableStream'.");
    const into = pair.writable, W = w.streamOf(into);
    if (!W) throw new TypeError("Incorrect type for the 'writable' field on 'Transform': the provided value is not of type 'WritableStream'.");
    const choice = pipeOptions(options, "pipeThrough");
    if (S.reader !== undefined) throw new TypeError(r.LOCKED);
    if (W.writer !== undefined) throw new TypeError(w.LOCKED);
    pipe(S, W, choice);
    return out;
  };

  // transfer (section 4.2.5 and its likes) moves a stream to another object: its
  // chunks are cloned on their way. The old object stays locked.
  const transfer = (S) => {
    const R = acquire(S);
    const T = create({
      hwm: 0, late: true,
      pull() {
        const d = defer();
        read(R, {
          chunk(v) {
            try { r.enqueue(T.C, native.clone(v)); } catch (e) { handled(r.cancelReader(R, e)); r.errorC(T.C, e); }
            d.res();
          },
          close() { r.close(T.C); d.res(); },
          error(e) { r.errorC(T.C, e); d.res(); },
        });
        return d.promise;
      },
      cancel: (reason) => r.cancelReader(R, reason),
    });
    then(r.closedOf(R), undefined, (e) => r.errorC(T.C, e));
    return T;
  };

  return { tee, from, to, through, transfer };
}
