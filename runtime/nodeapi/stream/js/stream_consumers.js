// node:stream/consumers: whole bodies of Node's and the web's streams.
function (native, p) {
  "use strict";
  const { Buffer } = native.require("buffer");
  const { SymbolAsyncIterator, SymbolIterator } = p;

  const chunks = async (stream) => {
    const out = [];
    let iterator = (stream[SymbolAsyncIterator] ?? stream[SymbolIterator])?.call(stream);
    if (iterator === undefined) {
      const reader = stream.getReader();
      iterator = { next: () => reader.read() };
    }
    for (;;) {
      const step = await iterator.next();
      if (step.done) return out;
      out.push(typeof step.value === "string" ? Buffer.from(step.value) : step.value instanceof ArrayBuffer ? Buffer.from(step.value) : step.value);
    }
  };
  const buffer = async (stream) => Buffer.concat(await chunks(stream));
  const consumers = {
    buffer,
    arrayBuffer: async (stream) => (await buffer(stream)).buffer,
    blob: async (stream) => new Blob(await chunks(stream)),
    text: async (stream) => (await buffer(stream)).toString().replace(/^\ufeff/, ""),
    json: async (stream) => p.JSONParse(await consumers.text(stream)),
  };
  return consumers;
}
