// What a program reads of an HTTP message: http.IncomingMessage
// (nodejs.org/api/http.html#class-httpincomingmessage). The body is that of a
// Response or Request of fetch, read as the program reads.
function (native, p) {
  "use strict";
  const { Readable } = native.require("stream");
  const { Buffer } = native.require("buffer");
  const tick = native.nextTick;

  // What is done with a header that came twice: those of `once` keep the first,
  // cookies are joined with semicolons, set-cookie is a list, others are joined.
  const once = new p.Set(["age", "host", "from", "etag", "server", "referer", "expires", "location", "user-agent", "retry-after", "content-type",
    "max-forwards", "authorization", "last-modified", "proxy-authorization", "content-length", "if-modified-since", "if-unmodified-since"]);

  // Only this module and those of clients and servers fill a message in.
  let fillResponse, fillRequest;

  class IncomingMessage extends Readable {
    #headers = null; #distinct = null; #count = 0;
    #socket; #body = null; #reader; #reading = false;
    static {
      fillResponse = (message, response) => {
        message.#headers = {};
        message.#distinct = {};
        for (const name of response.headers.keys()) {
          if (name in message.#headers) continue;
          const value = response.headers.get(name);
          message.#headers[name] = value;
          message.#distinct[name] = [value];
        }
        message.url = response.url;
        message.statusCode = response.status;
        message.statusMessage = response.statusText;
        message.#body = response.body;
      };
      fillRequest = (message, request, socket) => { message.#body = request.body; message.#socket = socket; };
    }
    constructor() {
      super();
      p.ObjectAssign(this, { aborted: false, url: "", method: null, statusCode: null, statusMessage: null, httpVersionMajor: 1, httpVersionMinor: 1,
        httpVersion: "1.1", complete: false, rawHeaders: [], joinDuplicateHeaders: false, cloudflare: { cf: undefined }, _dumped: false, _consuming: false });
    }
    _read(_size) {
      this._consuming = true;
      if (this.#body === null) { this.complete = true; this.push(null); } else this.#pump();
    }
    async #pump() {
      if (this.#reading) return;
      this.#reading = true;
      try {
        this.#reader ??= this.#body.getReader();
        while (!this.destroyed) {
          const { value, done } = await this.#reader.read();
          if (this.destroyed) break;
          if (done) { this.complete = true; this.push(null); break; }
          if (!this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) break;
        }
      } catch (error) {
        this.destroy(error);
      } finally {
        this.#reading = false;
      }
    }
    _destroy(error, callback) {
      if (!this.readableEnded || !this.complete) {
        this.aborted = true;
        this.emit("aborted");
        const cancelled = this.#reader ? this.#reader.cancel() : this.#body?.locked ? undefined : this.#body?.cancel();
        cancelled?.catch(() => {}); // the stream may have failed by itself, which is why this is destroyed
      }
      tick(() => callback(this.listenerCount("error") === 0 ? null : error));
    }
    _addHeaderLine(field, value, dest) {
      const key = field.toLowerCase();
      if (key === "set-cookie") (dest[key] ??= []).push(value);
      else if (once.has(key) && !this.joinDuplicateHeaders) dest[key] ??= value;
      else dest[key] = dest[key] === undefined ? value : `${dest[key]}${key === "cookie" ? "; " : ", "}${value}`;
    }
    _addHeaderLineDistinct(field, value, dest) { (dest[field.toLowerCase()] ??= []).push(value); }
    _addHeaderLines(headers, n) {
      if (!p.ArrayIsArray(headers) || this.complete) return;
      this.rawHeaders = headers;
      this.#count = n;
      if (this.#headers) for (let i = 0; i < n; i += 2) this._addHeaderLine(headers[i], headers[i + 1], this.#headers);
    }
    get headers() {
      if (!this.#headers) {
        this.#headers = {};
        for (let i = 0; i < this.#count; i += 2) this._addHeaderLine(this.rawHeaders[i], this.rawHeaders[i + 1], this.#headers);
      }
      return this.#headers;
    }
    set headers(value) { this.#headers = value; }
    get headersDistinct() {
      if (!this.#distinct) {
        this.#distinct = {};
        for (let i = 0; i < this.#count; i += 2) this._addHeaderLineDistinct(this.rawHeaders[i], this.rawHeaders[i + 1], this.#distinct);
      }
      return this.#distinct;
    }
    set headersDistinct(value) { this.#distinct = value; }
    // fetch knows no trailers.
    get trailers() { return {}; }
    set trailers(_value) {}
    get trailersDistinct() { return {}; }
    set trailersDistinct(_value) {}
    _dump() {
      if (this._dumped) return;
      this._dumped = true;
      this.removeAllListeners("data");
      this.resume();
    }
    setTimeout(_ms, callback) { if (callback) this.on("timeout", callback); return this; }
    get connection() { return this.#socket; }
    set connection(value) { this.#socket = value; }
    get socket() { return this.#socket; }
  }
  return { IncomingMessage, fillResponse, fillRequest };
}
