// Servers of node:http, which get the Worker's requests through cloudflare:node
// (nodejs.org/api/http.html; workerd: src/node/internal/internal_http_server.ts,
// src/cloudflare/node.ts). A port is a name within the Worker: nothing listens.
function (native, p) {
  "use strict";
  const { errors } = native;
  const EventEmitter = native.require("events");
  const { OutgoingMessage, afterSent, parseUniqueHeadersOption, kOutHeaders, kUniqueHeaders, kErrored, kSent, kData, kWaiting } = native.require("internal/http_outgoing");
  const { IncomingMessage, fillRequest } = native.require("internal/http_incoming");
  const { status } = native.require("internal/constants");
  const tick = native.nextTick;
  const ports = new p.Map();
  const notImplemented = (name) => errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", `The ${name} method is not implemented`); // the reference's text

  // The promise of the Response of a message, which only this module sees.
  let responseOf;

  // ServerResponse makes a Response of its head; the body flows as it is read.
  class ServerResponse extends OutgoingMessage {
    #promise; #resolve; #reject; #controller = null; #left = Infinity;
    static { responseOf = (response) => response.#promise; }
    constructor(req, options = {}) {
      const httpVersionMajor = req.httpVersionMajor, { httpVersionMinor } = req;
      super(req, options);
      this.statusCode = 200;
      this.statusMessage = "unknown";
      this.writeHeader = (code, reason, headers) => this.writeHead(code, reason, headers);
      if (req.method === "HEAD") this._hasBody = false;
      if (httpVersionMajor < 1 || httpVersionMinor < 1) {
        this.useChunkedEncodingByDefault = /(?:^|\W)chunked(?:$|\W)/i.test(req.headers?.te ?? "");
        this.shouldKeepAlive = false;
      }
      this.#promise = new p.Promise((resolve, reject) => { this.#resolve = resolve; this.#reject = reject; });
      p.PromisePrototypeThen(this.#promise, undefined, () => {}); // a response that a program made by itself answers nobody
      this.on("error", (error) => this.#fail(error));
    }
    writeHead(code, reason, headers) {
      if (this._header) throw afterSent("write");
      const n = code | 0;
      if (n < 200 || n > 999) throw errors.make("RangeError", "ERR_HTTP_INVALID_STATUS_CODE", `Invalid status code: ${code}`);
      if (typeof reason === "string") this.statusMessage = reason;
      else {
        this.statusMessage ||= status[n] || "unknown";
        headers ??= reason;
      }
      this.statusCode = n;
      let all = headers;
      if (this[kOutHeaders]) {
        if (p.ArrayIsArray(headers)) {
          const pairs = p.ArrayIsArray(headers[0]) ? headers.flat() : headers;
          if (pairs.length % 2 !== 0) throw errors.argValue("headers", headers);
          for (let i = 0; i < pairs.length; i += 2) this.removeHeader(`${pairs[i]}`);
          for (let i = 0; i < pairs.length; i += 2) this.appendHeader(`${pairs[i]}`, pairs[i + 1]);
        } else for (const name of p.ObjectKeys(headers ?? {})) if (headers[name]) this.setHeader(name, headers[name]);
        all = this[kOutHeaders];
      }
      if (/[^\t\x20-\x7e\x80-\xff]/.test(this.statusMessage)) throw errors.make("TypeError", "ERR_INVALID_CHAR", "Invalid character in statusMessage");
      if (n === 204 || n === 304) this._hasBody = false;
      this._storeHeader(`HTTP/1.1 ${n} ${this.statusMessage}\r\n`, all ?? null);
      return this;
    }
    _implicitHeader() { this.writeHead(this.statusCode); }
    [kSent](lines) {
      const headers = new Headers(lines);
      const length = lines.find(([name]) => name.toLowerCase() === "content-length");
      if (length) this.#left = p.NumberParseInt(length[1], 10);
      const body = this._hasBody ? new ReadableStream({
        type: "bytes",
        start: (controller) => { this.#controller = controller; },
        pull: () => {
          if (!this[kWaiting]) return;
          this[kWaiting] = false;
          this.emit("drain");
        },
        cancel: (reason) => { this.#controller = null; this.destroy(reason); },
      }, { highWaterMark: 65536 }) : null;
      this.#resolve(new Response(body, { status: this.statusCode, statusText: this.statusMessage, headers }));
    }
    // More than Content-Length says is not sent.
    [kData](bytes) {
      const chunk = bytes.byteLength > this.#left ? bytes.subarray(0, this.#left) : bytes;
      this.#left -= chunk.byteLength;
      if (this.#controller === null || chunk.byteLength === 0) return true;
      this.#controller.enqueue(new p.Uint8Array(chunk)); // a copy: enqueue takes the memory away
      return this.#controller.desiredSize > 0;
    }
    _finish() {
      super._finish();
      if (this.destroyed || this.#controller === null) return;
      this.#controller.close();
      this.#controller = null;
    }
    destroy(error) {
      if (this.destroyed) return this;
      const s = this._writableState;
      s.destroyed = true;
      this[kErrored] = error ?? null;
      if (error) s.errored = error;
      const why = error ?? errors.make("TypeError", "ERR_STREAM_PREMATURE_CLOSE", "Premature close");
      this.#fail(why);
      if (error) this.emit("error", error);
      tick(() => {
        if (this._closed) return;
        this._closed = s.closed = s.closeEmitted = true;
        this.emit("close");
      });
      return this;
    }
    #fail(error) {
      this.#reject(error);
      this.#controller?.error(error);
      this.#controller = null;
    }
    assignSocket(_socket) { throw notImplemented("assignSocket"); }
    detachSocket(_socket) { throw notImplemented("detachSocket"); }
    writeContinue(_callback) { throw notImplemented("writeContinue"); }
    writeProcessing(_callback) { throw notImplemented("writeProcessing"); }
    writeEarlyHints(_hints, _callback) { throw notImplemented("writeEarlyHints"); }
  }

  const bool = (options, name) => { if (options[name] !== undefined) errors.bool(options[name], `options.${name}`); return options[name] ?? false; };
  const integer = (options, name) => { if (options[name] !== undefined) errors.integer(options[name], name, 0); return options[name]; };
  // storeOptions are the options that a server keeps; those that need sockets are refused, as the reference does.
  const storeOptions = (server, o) => {
    const refuse = (name) => {
      if (integer(o, name) !== undefined) throw errors.make("Error", "ERR_OPTION_NOT_IMPLEMENTED", `The ${name} option is not implemented`); // the reference's text
    };
    server[kIncomingMessage] = o.IncomingMessage || IncomingMessage;
    server[kServerResponse] = o.ServerResponse || ServerResponse;
    refuse("maxHeaderSize");
    bool(o, "insecureHTTPParser");
    server.requestTimeout = integer(o, "requestTimeout") ?? 300000;
    server.headersTimeout = integer(o, "headersTimeout") ?? p.MathMin(60000, server.requestTimeout);
    if (server.requestTimeout > 0 && server.headersTimeout > server.requestTimeout) throw errors.range("headersTimeout", "<= requestTimeout", o.headersTimeout);
    refuse("keepAliveTimeout");
    refuse("connectionsCheckingInterval");
    bool(o, "requireHostHeader");
    server.requireHostHeader = o.requireHostHeader ?? true;
    server.joinDuplicateHeaders = bool(o, "joinDuplicateHeaders");
    server.rejectNonStandardBodyWrites = bool(o, "rejectNonStandardBodyWrites");
    if (o.highWaterMark !== undefined) server.highWaterMark = o.highWaterMark;
  };
  const kIncomingMessage = p.Symbol("IncomingMessage"), kServerResponse = p.Symbol("ServerResponse");

  let nextPort = 1024;
  class Server extends EventEmitter {
    #port = null;
    constructor(options, listener) {
      super({ captureRejections: true });
      p.ObjectAssign(this, { httpAllowHalfOpen: false, timeout: 0, maxHeadersCount: null, maxRequestsPerSocket: 0, connectionsCheckingInterval: 30000,
        requestTimeout: 300000, headersTimeout: 60000, requireHostHeader: false, joinDuplicateHeaders: false, rejectNonStandardBodyWrites: false,
        keepAliveTimeout: 5000, keepAliveTimeoutBuffer: 1000, highWaterMark: 65536 });
      for (const [key, made] of [[kIncomingMessage, IncomingMessage], [kServerResponse, ServerResponse]]) {
        p.ObjectDefineProperty(this, key, { value: made, writable: true, configurable: true });
      }
      if (typeof options === "function") { listener = options; options = undefined; }
      else if (options !== undefined && options !== null) {
        errors.object(options, "options");
        storeOptions(this, options);
      }
      if (listener) this.on("request", listener);
      this[kUniqueHeaders] = parseUniqueHeadersOption(options?.uniqueHeaders);
    }
    listen(...args) {
      const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
      const wanted = typeof args[0] === "object" && args[0] !== null ? args[0].port : args[0];
      // A path of a socket is no port: any port will do.
      let port = typeof wanted === "number" || typeof wanted === "string" && p.StringPrototypeTrim(wanted) !== "" && !p.NumberIsNaN(+wanted) ? +wanted : 0;
      if (port !== p.MathTrunc(port) || port < 0 || port > 65535) throw errors.make("Error", "ERR_SOCKET_BAD_PORT", `options.port should be >= 0 and < 65536. Received ${typeof wanted}.`);
      if (this.#port !== null) throw errors.make("Error", "ERR_SERVER_ALREADY_LISTEN", "Listen method has been called more than once without closing.");
      if (ports.has(port)) {
        throw p.ObjectAssign(new Error(`bind EADDRINUSE 127.0.0.1:${port}`), { errno: -98, code: "EADDRINUSE", syscall: "bind", address: "127.0.0.1", port });
      }
      while (port === 0) { if (ports.has(nextPort)) nextPort++; else port = nextPort++; }
      ports.set(port, this);
      this.#port = port;
      if (callback) this.once("listening", callback);
      tick(() => this.emit("listening"));
      return this;
    }
    close(callback) {
      if (this.#port !== null) ports.delete(this.#port);
      this.#port = null;
      if (typeof callback === "function") this.once("close", callback);
      tick(() => this.emit("close"));
      return this;
    }
    closeAllConnections() {}
    closeIdleConnections() {}
    setTimeout(ms, callback) {
      if (typeof ms === "function") callback = ms;
      else if (typeof ms === "number") this.timeout = ms;
      if (typeof callback === "function") this.once("timeout", callback);
      return this;
    }
    address() { return this.#port === null ? null : { port: this.#port, family: "IPv4", address: "127.0.0.1" }; }
    getConnections(callback) {
      if (callback) {
        errors.func(callback, "callback");
        tick(() => callback(null, 0));
      }
      return this;
    }
    ref() { return this; }
    unref() { return this; }
    get listening() { return this.#port !== null; }
    get maxConnections() { return Infinity; }
    get connections() { return 0; }
    async [p.SymbolAsyncDispose]() { await new p.Promise((resolve) => this.close(resolve)); }
    // A listener of "request" that fails later fails its response.
    [EventEmitter.captureRejectionSymbol](error, event, ...args) {
      if (event === "request") args[1].destroy(error); else this.emit("error", error);
    }
  }
  class SecureServer extends Server {
    setSecureContext() { throw notImplemented("setSecureContext"); }
    getTicketKeys() { throw notImplemented("getTicketKeys"); }
    setTicketKeys() { throw notImplemented("setTicketKeys"); }
    addContext() { throw notImplemented("addContext"); }
  }
  p.ObjectDefineProperty(SecureServer, "name", { value: "Server", configurable: true });

  // What stands for the socket of a request: its addresses, as far as the headers tell them.
  const socketOf = (req, headers, localPort) => {
    const address = headers.get("cf-connecting-ip") ?? "127.0.0.1";
    const live = (value) => () => (req.destroyed ? undefined : value);
    const socket = new EventEmitter(), self = () => socket;
    const members = { encrypted: () => headers.get("x-forwarded-proto") === "https", remoteFamily: live(address.includes(":") ? "IPv6" : "IPv4"), remoteAddress: live(address),
      remotePort: live(32768 + localPort % 32768), localAddress: () => headers.get("host") ?? "127.0.0.1", localPort: () => localPort,
      readable: () => !req.destroyed, writable: () => !req.destroyed, destroyed: () => req.destroyed };
    for (const name of p.ObjectKeys(members)) p.ObjectDefineProperty(socket, name, { get: members[name], configurable: true });
    for (const name of ["setTimeout", "setKeepAlive", "setNoDelay", "ref", "unref"]) p.ObjectDefineProperty(socket, name, { value: self, writable: true, configurable: true });
    p.ObjectDefineProperty(socket, "destroy", { value: (error) => req.destroy(error), writable: true, configurable: true });
    return socket;
  };

  const serve = async (server, request, env, ctx) => {
    const req = new server[kIncomingMessage]();
    const url = new URL(request.url);
    fillRequest(req, request, socketOf(req, request.headers, server.address()?.port ?? 0));
    const lines = [];
    for (const [name, value] of request.headers) lines.push(name, name === "host" ? value.split(", ", 1)[0] : value);
    req._addHeaderLines(lines, lines.length);
    p.ObjectAssign(req, { method: request.method, url: url.pathname + url.search, cloudflare: { env, ctx, cf: request.cf } });
    const res = new server[kServerResponse](req, { highWaterMark: server.highWaterMark });
    const answer = responseOf(res);
    try {
      server.emit("connection", server, req);
      if (!server.emit("request", req, res)) throw new Error("The server has no listener for \"request\".");
    } catch (error) {
      res.destroy(error);
      throw error;
    }
    return answer;
  };
  const notFound = (port) => errors.make("Error", "ERR_INVALID_ARG_VALUE",
    `Http server with port ${port} not found. This is likely a bug with your code. You should check if server.listen() was called with the same port (${port})`);
  const noPort = () => new Error("Failed to determine port for server");
  const handleAsNodeRequest = async (target, request, env, ctx) => {
    const port = typeof target === "number" ? target : target?.port;
    if (!(target instanceof Server) && typeof port !== "number") throw noPort();
    const server = target instanceof Server ? target : ports.get(port);
    if (server === undefined) throw notFound(port);
    return serve(server, request, env, ctx);
  };
  const httpServerHandler = (target) => {
    if (target === undefined || target === null) throw new Error("Server descriptor cannot be null or undefined");
    if (!(target instanceof Server) && typeof target.port !== "number") throw noPort();
    return { fetch: (request, env, ctx) => handleAsNodeRequest(target, request, env, ctx) };
  };
  const refuses = native.require("internal/missing");
  return {
    http: { Server, ServerResponse, createServer: (options, listener) => new Server(options, listener) },
    https: { Server: SecureServer, createServer: (options, listener) => new SecureServer(options, listener) },
    cloudflare: { httpServerHandler, handleAsNodeRequest, connectHandler: refuses("cloudflare:node.connectHandler"), handleAsNodeConnection: refuses("cloudflare:node.handleAsNodeConnection") },
  };
}
