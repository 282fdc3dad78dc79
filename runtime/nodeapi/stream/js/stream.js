// node:stream: the class Stream with everything on it.
function (native, p) {
  "use strict";
  const base = native.require("internal/stream_base");
  const Readable = native.require("internal/stream_readable");
  const Writable = native.require("internal/stream_writable");
  const { Duplex, Transform, PassThrough } = native.require("internal/stream_duplex");
  const flow = native.require("internal/stream_pipeline");
  const { Stream, tick } = base;

  const duplexPair = (options) => {
    const make = (other) => new Duplex({
      ...options,
      read() { const cb = this.pending; this.pending = undefined; cb?.(); },
      write(chunk, encoding, callback) {
        const to = other();
        if (chunk.length === 0) { tick(callback); return; }
        to.push(chunk);
        to.pending = callback;
      },
      final(callback) { const to = other(); to.on("end", callback); to.push(null); },
    });
    const a = make(() => b), b = make(() => a);
    return [a, b];
  };

  p.ObjectAssign(Stream, {
    Stream, Readable, Writable, Duplex, Transform, PassThrough,
    pipeline: flow.pipeline,
    finished: flow.finished,
    addAbortSignal: flow.addAbortSignal,
    duplexPair,
    compose: (...streams) => native.require("internal/stream_compose").compose(...streams),
    promises: flow.promises,
    destroy(stream, error) {
      if (stream && !base.isDestroyed(stream)) stream.destroy(error ?? (stream._readableState?.endEmitted === false ? base.aborted() : undefined));
      return stream;
    },
    isDestroyed: base.isDestroyed,
    isErrored: base.isErrored,
    isReadable: base.isReadable,
    isWritable: base.isWritable,
    isDisturbed: (x) => !!(x?._readableState?.dataEmitted || x?.readableDidRead || x?.readableAborted),
    getDefaultHighWaterMark: base.getDefaultHighWaterMark,
    setDefaultHighWaterMark: base.setDefaultHighWaterMark,
    _isUint8Array: (x) => x instanceof p.Uint8Array,
    _isArrayBufferView: p.ArrayBuffer.isView,
    _uint8ArrayToBuffer: (x) => native.require("buffer").Buffer.from(x.buffer, x.byteOffset, x.byteLength),
  });
  return Stream;
}
