// node:string_decoder: text of bytes that come in pieces.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Buffer } = native.require("buffer");
  const names = { utf8: "utf8", "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
    latin1: "latin1", binary: "latin1", base64: "base64", base64url: "base64url", ascii: "ascii", hex: "hex" };

  const numbers = ["ascii", "latin1", "utf8", "utf16le", "base64", "base64url", "hex"];
  const kNativeDecoder = Symbol("kNativeDecoder");
  const remember = (decoder, rest) => {
    const state = decoder[kNativeDecoder];
    decoder.rest = rest;
    state.set(rest);
    state[4] = rest.length > 0 ? native.need(rest, decoder.encoding) : 0;
    state[5] = rest.length;
  };

  function StringDecoder(encoding) {
    if (encoding !== undefined && encoding !== null && !names[String(encoding).toLowerCase()]) {
      throw errors.make("TypeError", "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    }
    if (this === undefined) throw new p.TypeError("Cannot set properties of undefined (setting 'Symbol(kNativeDecoder)')");
    // Four bytes of a character, how many of them lack, how many are there, the
    // encoding's number: what inspecting a decoder shows in the reference.
    this[kNativeDecoder] = Buffer.alloc(7);
    this.encoding = names[String(encoding ?? "utf8").toLowerCase()];
    this[kNativeDecoder][6] = numbers.indexOf(this.encoding);
    p.ObjectDefineProperty(this, "rest", { value: Buffer.alloc(0), writable: true });
  }
  p.ObjectAssign(StringDecoder.prototype, {
    write(chunk) {
      if (typeof chunk === "string") return chunk;
      if (!p.ArrayBuffer.isView(chunk)) {
        throw errors.argType("buf", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
      }
      let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (this.rest.length > 0) {
        this[kNativeDecoder].set(bytes.subarray(0, this.lastNeed), this.rest.length);
        bytes = Buffer.concat([this.rest, bytes]);
      }
      const whole = native.whole(bytes, this.encoding, this.rest.length);
      remember(this, Buffer.from(bytes.subarray(whole)));
      return bytes.toString(this.encoding, 0, whole);
    },
    end(chunk) {
      const text = chunk === undefined ? "" : this.write(chunk);
      const { rest } = this;
      remember(this, Buffer.alloc(0));
      return rest.length > 0 ? text + rest.toString(this.encoding) : text;
    },
    text(chunk, offset) {
      remember(this, Buffer.alloc(0));
      return this.write(chunk.slice(offset));
    },
  });
  const shows = (name, get) => p.ObjectDefineProperty(StringDecoder.prototype, name, { configurable: true, enumerable: true, get });
  shows("lastChar", function () { return this[kNativeDecoder].subarray(0, 4); });
  shows("lastNeed", function () { return this[kNativeDecoder][4]; });
  shows("lastTotal", function () { return this[kNativeDecoder][4] + this[kNativeDecoder][5]; });
  return { StringDecoder };
}
