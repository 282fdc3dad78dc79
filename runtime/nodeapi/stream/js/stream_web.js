// Bridges between Node's streams and the web's (stream.Readable.toWeb and its
// relatives; nodejs.org/api/stream.html, "Web Streams").
function (native, p) {
  "use strict";
  const { Promise, Uint8Array } = p;
  const { Buffer } = native.require("buffer");
  const streams = () => native.require("stream");
  const { errors } = native;
  const base = native.require("internal/stream_base");
  const { finished } = native.require("internal/stream_pipeline");

  const must = (ok, value, name, what) => { if (!ok) throw errors.argType(name, what, value); };
  const ofWeb = (web, is, kind, name, options) => { must(is(web), web, name, `an instance of ${kind}`); base.checkOptions(options); };

  const readableFromWeb = (web, options = {}) => {
    ofWeb(web, base.isWebReadable, "ReadableStream", "readableStream", options);
    const reader = web.getReader();
    let closed = false;
    const stream = new (streams().Readable)({
      ...options,
      read() {
        reader.read().then(({ value, done }) => {
          if (done) { closed = true; stream.push(null); } else stream.push(value);
        }, (error) => stream.destroy(error));
      },
      destroy(error, callback) {
        if (closed) { callback(error); return; }
        closed = true;
        reader.cancel(error ?? undefined).then(() => callback(error), () => callback(error));
      },
    });
    reader.closed.then(() => { closed = true; }, (error) => { closed = true; stream.destroy(error); });
    return stream;
  };

  const readableToWeb = (stream, options = {}) => {
    must(typeof stream?._readableState === "object", stream, "streamReadable", "an stream.Readable");
    const objects = stream.readableObjectMode;
    let cancelled = false;
    return new ReadableStream({
      start(controller) {
        stream.pause();
        stream.on("data", (chunk) => {
          if (cancelled) return;
          if (Buffer.isBuffer(chunk) && !objects) chunk = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength).slice();
          controller.enqueue(chunk);
          if (controller.desiredSize <= 0) stream.pause();
        });
        stream.pause();
        finished(stream, { writable: false }, (error) => {
          if (cancelled) return;
          cancelled = true;
          if (error) controller.error(error); else controller.close();
        });
      },
      pull() { stream.resume(); },
      cancel(reason) {
        cancelled = true;
        stream.destroy(reason instanceof Error ? reason : undefined);
      },
    }, options.strategy ?? { highWaterMark: objects ? stream.readableHighWaterMark : 1 });
  };

  const writableFromWeb = (web, options = {}) => {
    ofWeb(web, base.isWebWritable, "WritableStream", "writableStream", options);
    const writer = web.getWriter();
    let closed = false;
    const stream = new (streams().Writable)({
      ...options,
      write(chunk, encoding, callback) { writer.ready.then(() => writer.write(chunk)).then(() => callback(), callback); },
      final(callback) { closed = true; writer.close().then(() => callback(), callback); },
      destroy(error, callback) {
        if (closed) { callback(error); return; }
        closed = true;
        (error ? writer.abort(error) : writer.close()).then(() => callback(error), () => callback(error));
      },
    });
    writer.closed.then(() => { closed = true; }, (error) => { closed = true; stream.destroy(error); });
    return stream;
  };

  const writableToWeb = (stream) => must(typeof stream?._writableState === "object", stream, "streamWritable", "an stream.Writable") ?? new WritableStream({
    start(controller) {
      finished(stream, { readable: false }, (error) => { if (error) controller.error(error); });
    },
    write(chunk) {
      return new Promise((resolve, reject) => { stream.write(chunk, (error) => (error ? reject(error) : resolve())); });
    },
    close() { return new Promise((resolve, reject) => { stream.end((error) => (error ? reject(error) : resolve())); }); },
    abort(reason) { stream.destroy(reason instanceof Error ? reason : undefined); },
  });

  const duplexFromWeb = (pair, options = {}) => {
    must(pair !== null && typeof pair === "object", pair, "pair", "of type object");
    const { readable, writable } = pair;
    ofWeb(readable, base.isWebReadable, "ReadableStream", "pair.readable", options);
    ofWeb(writable, base.isWebWritable, "WritableStream", "pair.writable");
    const reader = readable.getReader(), writer = writable.getWriter();
    const duplex = new (streams().Duplex)({
      ...options,
      read() {
        reader.read().then(({ value, done }) => { duplex.push(done ? null : value); }, (error) => duplex.destroy(error));
      },
      write(chunk, encoding, callback) { writer.ready.then(() => writer.write(chunk)).then(() => callback(), callback); },
      final(callback) { writer.close().then(() => callback(), callback); },
      destroy(error, callback) {
        const over = [reader.cancel(error ?? undefined), error ? writer.abort(error) : undefined];
        Promise.allSettled(over).then(() => callback(error));
      },
    });
    writer.closed.catch((error) => duplex.destroy(error));
    return duplex;
  };

  const duplexToWeb = (stream) => must(stream?._readableState && stream._writableState, stream, "duplex", "an stream.Duplex") ?? ({ readable: readableToWeb(stream), writable: writableToWeb(stream) });

  return { readableFromWeb, readableToWeb, writableFromWeb, writableToWeb, duplexFromWeb, duplexToWeb };
}
