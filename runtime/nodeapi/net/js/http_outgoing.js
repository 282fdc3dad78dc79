// What a program writes of an HTTP message: http.OutgoingMessage
// (nodejs.org/api/http.html#class-httpoutgoingmessage). The head is rendered as
// Node renders it, into `_header`; what becomes of head and body a subclass says
// through the methods `sent` and `data`, for nothing is written to a socket.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Writable } = native.require("stream");
  const { Buffer } = native.require("buffer");
  const EventEmitter = native.require("events");
  const tick = native.nextTick;

  const token = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/;
  const badValue = /[^\t\u0020-\u007e\u0080-\u00ff]/;
  const chunked = /(?:^|\W)chunked(?:$|\W)/i, close = /(?:^|\W)close(?:$|\W)/i;
  const validateHeaderName = (name, label = "Header name") => {
    if (typeof name !== "string" || !token.test(name)) throw errors.make("TypeError", "ERR_INVALID_HTTP_TOKEN", `${label} must be a valid HTTP token ["${name}"]`);
  };
  const validateHeaderValue = (name, value) => {
    if (value === undefined) throw errors.make("TypeError", "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "${value}" for header "${name}"`);
    checkCharacters(name, value);
  };
  const checkCharacters = (name, value) => {
    if (badValue.test(`${value}`)) throw errors.make("TypeError", "ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`);
  };
  const afterSent = (doing) => errors.make("Error", "ERR_HTTP_HEADERS_SENT", `Cannot ${doing} headers after they are sent to the client`);

  const kOutHeaders = p.Symbol("kOutHeaders"), kUniqueHeaders = p.Symbol("kUniqueHeaders"), kHighWaterMark = p.Symbol("kHighWaterMark");
  const kCorked = p.Symbol("corked"), kErrored = p.Symbol("kErrored"), kWaiting = p.Symbol("kNeedDrain");
  // What a subclass does with the rendered head, and with each chunk after it.
  const kSent = p.Symbol("sent"), kData = p.Symbol("data"), kFinished = p.Symbol("finished");

  const parseUniqueHeadersOption = (headers) => {
    if (!p.ArrayIsArray(headers)) return null;
    return new p.Set(headers.map((h) => (p.ArrayIsArray(h) ? h.map((x) => x.toLowerCase()) : h.toLowerCase())).flat());
  };

  const nothing = () => {};
  // An error of write() or end() is told to the callback first.
  const report = (message, error, callback) => {
    tick(() => {
      (typeof callback === "function" ? callback : nothing)(error);
      if (!message.destroyed) message.emit("error", error);
    });
  };

  class OutgoingMessage extends Writable {
    [kOutHeaders] = null;
    [kUniqueHeaders] = null;
    [kCorked] = 0;
    [kErrored] = null;
    [kWaiting] = false;
    #waiting = 0;
    constructor(req, options) {
      super({ highWaterMark: options?.highWaterMark, autoDestroy: false });
      p.ObjectAssign(this, {
        req, outputData: [], outputSize: 0, writtenHeaderBytes: 0, strictContentLength: false, chunkedEncoding: false, sendDate: false,
        shouldKeepAlive: true, finished: false, useChunkedEncodingByDefault: true, maxRequestsOnConnectionReached: false, _closed: false,
        _headerSent: false, _header: null, _contentLength: null, _hasBody: true, _removedContLen: false, _removedConnection: false,
        _removedTE: false, _last: false, _defaultKeepAlive: true, _maxRequestsPerSocket: undefined, _keepAliveTimeout: 0,
      });
      p.ObjectDefineProperty(this, "writable", { value: true, writable: true, enumerable: true, configurable: true });
    }
    get headersSent() { return !!this._header; }
    get errored() { return this[kErrored]; }
    get closed() { return this._closed; }
    get writableEnded() { return this.finished; }
    get writableCorked() { return this[kCorked]; }
    get writableLength() { return this.#waiting; }
    get writableNeedDrain() { return !this.destroyed && !this.finished && this[kWaiting]; }

    _implicitHeader() { throw errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", "The _implicitHeader() method is not implemented"); /* the reference's text */ }
    _renderHeaders() {
      if (this._header) throw afterSent("render");
      const out = {};
      for (const key of p.ObjectKeys(this[kOutHeaders] ?? {})) out[this[kOutHeaders][key][0]] = this[kOutHeaders][key][1];
      return out;
    }
    setHeader(name, value) {
      if (this._header) throw afterSent("set");
      validateHeaderName(name);
      validateHeaderValue(name, value);
      this[kOutHeaders] ??= { __proto__: null };
      this[kOutHeaders][name.toLowerCase()] = [name, value];
      return this;
    }
    setHeaders(headers) {
      if (this._header) throw afterSent("set");
      if (headers === null || typeof headers !== "object" || p.ArrayIsArray(headers) || typeof headers.keys !== "function" || typeof headers.get !== "function") {
        throw errors.argType("headers", "an instance of Headers or Map", headers);
      }
      const cookies = []; // Headers gives them one by one
      for (const [name, value] of headers) {
        if (name === "set-cookie") cookies.push(...[].concat(value)); else this.setHeader(name, value);
      }
      if (cookies.length > 0) this.setHeader("set-cookie", cookies);
      return this;
    }
    appendHeader(name, value) {
      if (this._header) throw afterSent("append");
      validateHeaderName(name);
      validateHeaderValue(name, value);
      const entry = this[kOutHeaders]?.[name.toLowerCase()];
      if (!entry) return this.setHeader(name, value);
      if (!p.ArrayIsArray(entry[1])) entry[1] = [entry[1]];
      entry[1].push(...[].concat(value));
      return this;
    }
    getHeader(name) { errors.string(name, "name"); return this[kOutHeaders]?.[name.toLowerCase()]?.[1]; }
    getHeaderNames() { return p.ObjectKeys(this[kOutHeaders] ?? {}); }
    getRawHeaderNames() { return p.ObjectKeys(this[kOutHeaders] ?? {}).map((key) => this[kOutHeaders][key][0]); }
    getHeaders() {
      const out = {};
      for (const key of p.ObjectKeys(this[kOutHeaders] ?? {})) out[key] = this[kOutHeaders][key][1];
      return out;
    }
    hasHeader(name) { errors.string(name, "name"); return !!this[kOutHeaders]?.[name.toLowerCase()]; }
    removeHeader(name) {
      errors.string(name, "name");
      if (this._header) throw afterSent("remove");
      const key = name.toLowerCase();
      if (key === "connection") this._removedConnection = true;
      else if (key === "content-length") this._removedContLen = true;
      else if (key === "transfer-encoding") this._removedTE = true;
      else if (key === "date") this.sendDate = false;
      if (this[kOutHeaders]) delete this[kOutHeaders][key];
    }
    flushHeaders() {
      if (!this._header) this._implicitHeader();
      this._send("");
    }

    // _storeHeader renders the head: what the program set, then what HTTP needs besides.
    _storeHeader(firstLine, headers) {
      const has = { __proto__: null }, lines = [];
      this._sentHeaders = [];
      const line = (name, value) => {
        lines.push(`${name}: ${value}\r\n`);
        this._sentHeaders.push([name, `${value}`]);
        this.#note(name.toLowerCase(), value, has);
      };
      const add = (name, value, check) => {
        if (check) validateHeaderName(name);
        const key = `${name}`.toLowerCase();
        if (p.ArrayIsArray(value)) {
          if ((value.length < 2 || key !== "cookie") && !this[kUniqueHeaders]?.has(key)) {
            for (const one of value) { if (check) checkCharacters(name, one); line(name, one); }
            return;
          }
          value = value.join("; ");
        }
        if (check) checkCharacters(name, value);
        line(name, value);
      };
      if (headers && headers === this[kOutHeaders]) {
        for (const key of p.ObjectKeys(headers)) add(headers[key][0], headers[key][1], false);
      } else if (p.ArrayIsArray(headers)) {
        if (p.ArrayIsArray(headers[0])) for (const [name, value] of headers) add(name, value, true);
        else {
          if (headers.length % 2 !== 0) throw errors.argValue("headers", headers);
          for (let i = 0; i < headers.length; i += 2) add(headers[i], headers[i + 1], true);
        }
      } else for (const name of p.ObjectKeys(headers ?? {})) add(name, headers[name], true);

      if (this.sendDate && !has.date) line("Date", new Date().toUTCString());
      if (this.chunkedEncoding && (this.statusCode === 204 || this.statusCode === 304)) this.chunkedEncoding = this.shouldKeepAlive = false;
      if (this._removedConnection) this._last = !this.shouldKeepAlive;
      else if (!has.connection) {
        const alive = this.shouldKeepAlive && (has["content-length"] || this.useChunkedEncodingByDefault || this.agent);
        if (!alive) this._last = true;
        line("Connection", alive && !this.maxRequestsOnConnectionReached ? "keep-alive" : "close");
      }
      if (!has["content-length"] && !has["transfer-encoding"]) {
        if (!this._hasBody) this.chunkedEncoding = false;
        else if (!this.useChunkedEncodingByDefault) this._last = true;
        else if (!has.trailer && !this._removedContLen && typeof this._contentLength === "number") line("Content-Length", this._contentLength);
        else if (!this._removedTE) line("Transfer-Encoding", "chunked");
      }
      if (has.trailer && !this.chunkedEncoding) throw errors.make("Error", "ERR_HTTP_TRAILER_INVALID", "Trailers are invalid with this transfer encoding");
      this._header = `${firstLine}${lines.join("")}\r\n`;
      this._headerSent = false;
      if (has.expect) this._send("");
    }
    // #note keeps what the head says about the connection and the body.
    #note(key, value, has) {
      has[key] = true;
      if (key === "connection") {
        this._removedConnection = false;
        if (close.test(value)) this._last = true; else this.shouldKeepAlive = true;
      } else if (key === "transfer-encoding") {
        this._removedTE = false;
        if (chunked.test(value)) this.chunkedEncoding = true;
      } else if (key === "content-length") {
        this._removedContLen = false;
        this._contentLength = +value;
      } else if (key === "keep-alive") this._defaultKeepAlive = false;
    }

    write(chunk, encoding, callback) {
      if (typeof encoding === "function") { callback = encoding; encoding = null; }
      return this.#write(chunk, encoding, callback, false);
    }
    #write(chunk, encoding, callback, last) {
      if (chunk === null) throw errors.make("TypeError", "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
      if (typeof chunk !== "string" && !(chunk instanceof p.Uint8Array)) throw errors.argType("chunk", "of type string or an instance of Buffer or Uint8Array", chunk);
      if (this.finished) {
        report(this, errors.make("Error", "ERR_STREAM_WRITE_AFTER_END", "write after end"), callback);
        return false;
      }
      if (this.destroyed) {
        tick(typeof callback === "function" ? callback : nothing, errors.make("Error", "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed"));
        return false;
      }
      if (!this._header) {
        if (last) this._contentLength = typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
        this._implicitHeader();
      }
      if (!this._hasBody) {
        if (typeof callback === "function") tick(callback);
        return true;
      }
      return this._send(chunk, encoding, callback);
    }
    end(chunk, encoding, callback) {
      if (typeof chunk === "function") { callback = chunk; chunk = encoding = null; }
      else if (typeof encoding === "function") { callback = encoding; encoding = null; }
      if (chunk) {
        if (this.finished) {
          report(this, errors.make("Error", "ERR_STREAM_WRITE_AFTER_END", "write after end"), callback);
          return this;
        }
        this.#write(chunk, encoding, null, true);
      } else if (this.finished) {
        if (typeof callback === "function") {
          if (this.writableFinished) callback(errors.make("Error", "ERR_STREAM_ALREADY_FINISHED", "Cannot call end after a stream was finished"));
          else this.on("finish", callback);
        }
        return this;
      } else if (!this._header && !this.destroyed) {
        this._contentLength = 0;
        this._implicitHeader();
      }
      if (typeof callback === "function") this.once("finish", callback);
      this[kCorked] = 0;
      if (!this.destroyed) this._send("");
      this.finished = true;
      this._finish();
      return this;
    }
    _finish() {
      const s = this._writableState;
      s.ending = s.ended = s.prefinished = true;
      this.emit("prefinish");
      if (this.destroyed) return;
      s.finished = true;
      tick(() => this[kFinished]());
    }
    [kFinished]() {
      this.emit("finish");
      tick(() => this.#closed());
    }
    // #closed is the end of a message, which nothing more happens to.
    #closed() {
      if (this._closed) return;
      const s = this._writableState;
      this._closed = s.closed = s.closeEmitted = s.destroyed = true;
      this.emit("close");
    }
    _flush() {}
    _flushOutput() { return undefined; }
    // _send passes a chunk on, after the head; what has been written in this
    // turn counts as waiting.
    _send(data, encoding, callback) {
      if (!this._headerSent && this._header !== null) {
        this._headerSent = true;
        this.writtenHeaderBytes = this._header.length;
        this.#wait(this._header.length);
        this[kSent]?.(this._sentHeaders);
      }
      return this._writeRaw(data, encoding, callback);
    }
    _writeRaw(data, encoding, callback) {
      if (this.destroyed) return false;
      const bytes = typeof data === "string" ? Buffer.from(data, encoding ?? "utf8") : data;
      let room = true;
      if (bytes.byteLength > 0) {
        this.#wait(bytes.byteLength);
        room = this[kData]?.(bytes) !== false;
      }
      if (typeof callback === "function") tick(callback);
      if (!room) this[kWaiting] = true;
      return room;
    }
    #wait(n) {
      if (this.#waiting === 0) tick(() => { this.#waiting = 0; });
      this.#waiting += n;
    }
    cork() { this[kCorked]++; }
    uncork() { if (this[kCorked] > 0) this[kCorked]--; }
    destroy(error, _callback) {
      if (this.destroyed) return this;
      this._writableState.destroyed = true;
      this[kErrored] = error ?? null;
      if (error) { this._writableState.errored = error; tick(() => this.emit("error", error)); }
      return this;
    }
    // pipe has nothing to read.
    pipe(_destination) { this.emit("error", errors.make("Error", "ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable")); return this; }
    [EventEmitter.captureRejectionSymbol](error) { this.destroy(error); }
  }
  // What _http_outgoing exports; the rest is for requests and responses alone.
  const exports = { OutgoingMessage, kHighWaterMark, kUniqueHeaders, parseUniqueHeadersOption, validateHeaderName, validateHeaderValue };
  return { exports, OutgoingMessage, validateHeaderName, validateHeaderValue, afterSent, token, parseUniqueHeadersOption,
    kOutHeaders, kUniqueHeaders, kErrored, kSent, kData, kWaiting, kFinished };
}
