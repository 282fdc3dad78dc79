// node:stream/web: the platform's streams.
function (native, p) {
  "use strict";
  const exports = {};
  for (const name of ["ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableByteStreamController",
    "ReadableStreamDefaultController", "TransformStream", "TransformStreamDefaultController", "WritableStream", "WritableStreamDefaultWriter",
    "WritableStreamDefaultController", "ByteLengthQueuingStrategy", "CountQueuingStrategy", "TextEncoderStream", "TextDecoderStream", "CompressionStream",
    "DecompressionStream"]) {
    if (name in globalThis) native.lazy(exports, name, () => globalThis[name]);
  }
  return exports;
}
