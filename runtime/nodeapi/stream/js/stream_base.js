// What all of node:stream stands on: the class Stream, destruction with its
// order of events, and questions about streams of any origin
// (nodejs.org/api/stream.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectSetPrototypeOf, ReflectApply, Symbol } = p;
  const EventEmitter = native.require("events");
  const tick = native.nextTick;

  function Stream(options) { ReflectApply(EventEmitter, this, [options]); }
  ObjectSetPrototypeOf(Stream.prototype, EventEmitter.prototype);
  ObjectSetPrototypeOf(Stream, EventEmitter);

  let bytesMark = 65536, objectsMark = 16;
  const highWaterMark = (options, objectMode, own) => {
    const value = options?.highWaterMark ?? options?.[own];
    if (value === undefined || value === null) return objectMode ? objectsMark : bytesMark;
    if (typeof value !== "number" || value !== value || value < 0 || value % 1 !== 0 && value !== Infinity) {
      throw errors.argValue(`options.${own}`, value);
    }
    return value;
  };

  const aborted = native.require("internal/abort_error");

  // The part of the state that both sides share.
  const shared = (options) => ({
    constructed: true, destroyed: false, closed: false, closeEmitted: false, errored: null, errorEmitted: false,
    emitClose: options?.emitClose !== false, autoDestroy: options?.autoDestroy !== false,
  });

  const sides = (stream) => [stream._readableState, stream._writableState].filter((s) => s !== undefined && s !== null);

  const emitClose = (stream) => {
    const states = sides(stream);
    for (const s of states) s.closeEmitted = true;
    if (states.some((s) => s.emitClose)) stream.emit("close");
  };
  const emitError = (stream, error) => {
    const states = sides(stream);
    if (states.some((s) => s.errorEmitted)) return;
    for (const s of states) s.errorEmitted = true;
    stream.emit("error", error);
  };
  const note = (stream, error) => { for (const s of sides(stream)) s.errored ??= error; };

  const runDestroy = (stream, given, callback) => {
    let called = false;
    const done = (error) => {
      if (called) return;
      called = true;
      if (error) note(stream, error);
      for (const s of sides(stream)) s.closed = true;
      if (typeof callback === "function") callback(error);
      if (error) tick(() => { emitError(stream, error); emitClose(stream); });
      else tick(emitClose, stream);
    };
    try { stream._destroy(given ?? null, done); } catch (error) { done(error); }
  };

  function destroy(error, callback) {
    const states = sides(this);
    if (states.some((s) => s.destroyed)) {
      if (typeof callback === "function") callback();
      return this;
    }
    if (error) note(this, error);
    for (const s of states) s.destroyed = true;
    if (states.every((s) => s.constructed)) runDestroy(this, error, callback);
    else this.once(constructedEvent, (er) => runDestroy(this, er ?? error, callback));
    return this;
  }

  const constructedEvent = Symbol("constructed");
  const construct = (stream, then) => {
    if (typeof stream._construct !== "function") return;
    for (const s of sides(stream)) s.constructed = false;
    stream.once(constructedEvent, (error) => { if (!error) then(); });
    if (stream.listenerCount(constructedEvent) > 1) return; // the other side waits for the same call
    let called = false;
    const done = (error) => {
      if (called) {
        fail(stream, errors.make("Error", "ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
        return;
      }
      called = true;
      for (const s of sides(stream)) s.constructed = true;
      if (sides(stream).some((s) => s.destroyed)) stream.emit(constructedEvent, error);
      else if (error) fail(stream, error, true);
      else tick(() => stream.emit(constructedEvent));
    };
    tick(() => { try { stream._construct((error) => tick(done, error)); } catch (error) { tick(done, error); } });
  };

  // An error that nobody asked for: it destroys the stream, or is only told
  // where autoDestroy is off.
  const fail = (stream, error, sync) => {
    const states = sides(stream);
    if (states.some((s) => s.destroyed)) return;
    if (states.some((s) => s.autoDestroy)) {
      stream.destroy(error);
      return;
    }
    note(stream, error);
    if (sync) tick(emitError, stream, error); else emitError(stream, error);
  };

  // Pipes of streams older than Readable.
  Stream.prototype.pipe = function (dest, options) {
    const source = this;
    const onData = (chunk) => { if (dest.writable && dest.write(chunk) === false) source.pause?.(); };
    const onDrain = () => { if (source.readable) source.resume?.(); };
    source.on("data", onData);
    dest.on("drain", onDrain);
    let ended = false;
    const onEnd = () => { if (!ended) { ended = true; dest.end(); } };
    const onClose = () => { if (!ended) { ended = true; dest.destroy?.(); } };
    const own = options?.end !== false && !dest._isStdio;
    if (own) { source.on("end", onEnd); source.on("close", onClose); }
    const cleanup = () => {
      source.off("data", onData); dest.off("drain", onDrain);
      source.off("end", onEnd); source.off("close", onClose);
      source.off("end", cleanup); source.off("close", cleanup); dest.off("close", cleanup);
    };
    source.on("end", cleanup);
    source.on("close", cleanup);
    dest.on("close", cleanup);
    dest.emit("pipe", source);
    return dest;
  };

  const isReadableNode = (x) => typeof x?.pipe === "function" && typeof x.on === "function" && (!x._writableState || x._readableState?.readable !== false) && (!!x._readableState || !x._writableState);
  const isWritableNode = (x) => typeof x?.write === "function" && typeof x.on === "function" && (!x._readableState || x._writableState?.writable !== false);
  const isNode = (x) => !!x && (!!x._readableState || !!x._writableState || (typeof x.write === "function" && typeof x.on === "function") || (typeof x.pipe === "function" && typeof x.on === "function"));
  const isWebReadable = (x) => !!x && !isNode(x) && typeof x.pipeThrough === "function" && typeof x.getReader === "function";
  const isWebWritable = (x) => !!x && !isNode(x) && typeof x.getWriter === "function" && typeof x.abort === "function";
  const isWebTransform = (x) => !!x && !isNode(x) && typeof x.readable === "object" && typeof x.writable === "object";
  const isIterable = (x) => !!x && (typeof x[p.SymbolAsyncIterator] === "function" || typeof x[p.SymbolIterator] === "function");

  // fromWeb is a web stream as one of Node's, and whatever else as it is.
  const fromWeb = (x) => {
    const web = native.require("internal/stream_web"), objects = { objectMode: true };
    if (isWebReadable(x)) return web.readableFromWeb(x, objects);
    if (isWebWritable(x)) return web.writableFromWeb(x, objects);
    if (isWebTransform(x) && isWebReadable(x.readable) && isWebWritable(x.writable)) return web.duplexFromWeb(x, objects);
    return x;
  };
  const bodyKinds = "of type function or an instance of Blob, ReadableStream, WritableStream, Stream, Iterable, AsyncIterable, or Promise or { readable, writable } pair";

  const checkOptions = (options, name = "options") => {
    if (options === undefined || options === null) return;
    if (typeof options !== "object") throw errors.argType(name, "of type object", options);
    const { signal } = options;
    if (signal !== undefined && signal !== null && (typeof signal !== "object" || !("aborted" in signal))) {
      throw errors.argType(`${name}.signal`, "an instance of AbortSignal", signal);
    }
  };

  const isDestroyed = (x) => (isNode(x) ? !!(x.destroyed || sides(x).some((s) => s.destroyed)) : null);
  const isErrored = (x) => sides(x ?? {}).some((s) => s.errored !== null);
  const isReadable = (x) => (x?.readable === undefined ? null : isDestroyed(x) ? false : x.readable === true && !x._readableState?.endEmitted);
  const isWritable = (x) => (x?.writable === undefined ? null : isDestroyed(x) ? false : x.writable === true && !x._writableState?.ended);

  // methods and accessors define what a literal lists on a prototype, where
  // they are enumerable and not, as Node's function classes have them.
  const { methods, accessors } = native;

  return {
    Stream, EventEmitter, tick, highWaterMark, aborted, shared, sides, destroy, construct, fail, accessors, methods,
    isReadableNode, isWritableNode, isNode, isWebReadable, isWebWritable, isWebTransform, isIterable,
    isDestroyed, isErrored, isReadable, isWritable, constructedEvent, fromWeb, bodyKinds, checkOptions,
    getDefaultHighWaterMark: (objectMode) => (objectMode ? objectsMark : bytesMark),
    setDefaultHighWaterMark(objectMode, value) {
      errors.integer(value, "value", 0);
      if (objectMode) objectsMark = value; else bytesMark = value;
    },
  };
}
