// node:string_decoder: text of bytes that come in pieces.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Buffer } = native.require("buffer");
  const names = { utf8: "utf8", "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
    latin1: "latin1", binary: "latin1", base64: "base64", base64url: "base64url", ascii: "ascii", hex: "hex" };

  function StringDecoder(encoding) {
    if (encoding !== undefined && encoding !== null && !names[String(encoding).toLowerCase()]) {
      throw errors.make("TypeError", "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    }
    this.encoding = names[String(encoding ?? "utf8").toLowerCase()];
    p.ObjectDefineProperty(this, "rest", { value: Buffer.alloc(0), writable: true });
  }
  p.ObjectAssign(StringDecoder.prototype, {
    write(chunk) {
      if (typeof chunk === "string") return chunk;
      if (!p.ArrayBuffer.isView(chunk)) {
        throw errors.argType("buf", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
      }
      let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (this.rest.length > 0) bytes = Buffer.concat([this.rest, bytes]);
      const whole = native.whole(bytes, this.encoding);
      this.rest = whole < bytes.length ? Buffer.from(bytes.subarray(whole)) : Buffer.alloc(0);
      return bytes.toString(this.encoding, 0, whole);
    },
    end(chunk) {
      const text = chunk === undefined ? "" : this.write(chunk);
      const rest = this.rest;
      this.rest = Buffer.alloc(0);
      return rest.length > 0 ? text + rest.toString(this.encoding) : text;
    },
    text(chunk, offset) {
      this.rest = Buffer.alloc(0);
      return this.write(chunk.slice(offset));
    },
  });
  p.ObjectDefineProperty(StringDecoder.prototype, "lastNeed", { get() { return this.rest.length > 0 ? native.need(this.rest, this.encoding) : 0; } });
  p.ObjectDefineProperty(StringDecoder.prototype, "lastTotal", { get() { return this.rest.length > 0 ? this.rest.length + this.lastNeed : 0; } });
  p.ObjectDefineProperty(StringDecoder.prototype, "lastChar", { get() { return this.rest; } });
  return { StringDecoder };
}
