// Servers of node:http, which get the Worker's requests through cloudflare:node
// (nodejs.org/api/http.html; workerd: src/node/internal/internal_http_server.ts,
// src/cloudflare/node.ts). A port is a name within the Worker: nothing listens.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ReflectApply, ObjectSetPrototypeOf } = p;
  const EventEmitter = native.require("events");
  const { Buffer } = native.require("buffer");
  const { OutgoingMessage, IncomingMessage } = native.require("internal/http").http;
  const { status } = native.require("internal/constants");
  const ports = new p.Map();
  const bodiless = (code) => code === 204 || code === 205 || code === 304;

  // ServerResponse resolves the promise of a Response with its first write; what
  // follows flows as it is read.
  class ServerResponse extends OutgoingMessage {
    #resolve; #controller; #taken; #open = true;
    constructor(req, resolve) {
      super();
      this.req = req;
      this.#resolve = typeof resolve === "function" ? resolve : () => {}; // one that a program made by itself answers nobody
      this.statusCode = 200;
      this.statusMessage = undefined;
      this.sendDate = true;
      this.finished = false;
      this.socket = this.connection = req.socket;
    }
    writeHead(code, reason, headers) {
      if (this.headersSent) throw errors.make("Error", "ERR_HTTP_HEADERS_SENT", "Cannot write headers after they are sent to the client");
      if (typeof reason === "string") this.statusMessage = reason; else headers = reason;
      const n = code | 0;
      if (p.ArrayIsArray(headers) && headers.length % 2 !== 0 && !p.ArrayIsArray(headers[0])) throw errors.argValue("headers", headers);
      if (this.statusMessage !== undefined && /[^\t\x20-\x7e\x80-\xff]/.test(this.statusMessage)) throw errors.make("TypeError", "ERR_INVALID_CHAR", "Invalid character in statusMessage");
      if (n < 100 || n > 999) throw errors.make("RangeError", "ERR_HTTP_INVALID_STATUS_CODE", `Invalid status code: ${code}`);
      this.statusCode = n;
      if (p.ArrayIsArray(headers)) {
        const pairs = p.ArrayIsArray(headers[0]) ? headers.flat() : headers;
        for (let i = 0; i + 1 < pairs.length; i += 2) this.appendHeader(pairs[i], pairs[i + 1]);
      } else for (const [k, v] of p.ObjectEntries(headers ?? {})) this.setHeader(k, v);
      this.#respond();
      return this;
    }
    #respond() {
      const headers = new Headers();
      const all = this.getHeaders();
      for (const k of p.ObjectKeys(all)) for (const v of [].concat(all[k])) headers.append(k, `${v}`);
      this.headersSent = true;
      this.statusMessage ??= status[this.statusCode] ?? "unknown";
      const init = { status: this.statusCode, statusText: this.statusMessage, headers };
      if (this.req.method === "HEAD" || bodiless(this.statusCode)) {
        this.#open = false;
        this.#resolve(new Response(null, init));
        return;
      }
      const body = new ReadableStream({
        start: (controller) => { this.#controller = controller; },
        pull: () => { const taken = this.#taken; this.#taken = undefined; taken?.(); },
        cancel: () => { this.#open = false; this.#taken?.(); this.emit("close"); },
      }, { highWaterMark: 1 });
      this.#resolve(new Response(body, init));
    }
    _implicitHeader() { this.writeHead(this.statusCode); }
    flushHeaders() { if (!this.headersSent) this._implicitHeader(); }
    writeContinue(callback) { if (callback) native.nextTick(callback); }
    writeProcessing(callback) { if (callback) native.nextTick(callback); }
    writeEarlyHints(hints, callback) { if (callback) native.nextTick(callback); }
    assignSocket(socket) { this.socket = this.connection = socket; }
    detachSocket() { this.socket = this.connection = null; }
    _write(chunk, encoding, callback) {
      if (!this.headersSent) this._implicitHeader();
      if (!this.#open) { callback(); return; }
      this.#controller.enqueue(new p.Uint8Array(chunk));
      if (this.#controller.desiredSize > 0) callback(); else this.#taken = callback;
    }
    _final(callback) {
      if (!this.headersSent) this._implicitHeader();
      if (this.#open) { this.#open = false; this.#controller.close(); }
      this.finished = true;
      callback();
      native.nextTick(() => { if (!this.destroyed) this.emit("close"); });
    }
    end(chunk, encoding, callback) {
      if (typeof chunk === "function") { callback = chunk; chunk = encoding = undefined; }
      else if (typeof encoding === "function") { callback = encoding; encoding = undefined; }
      if (chunk !== undefined && chunk !== null && typeof chunk !== "string" && !(chunk instanceof p.Uint8Array)) {
        throw errors.argType("chunk", "of type string or an instance of Buffer or Uint8Array", chunk);
      }
      if (!this.headersSent && !this.hasHeader("content-length") && !this.hasHeader("transfer-encoding") && this.writableLength === 0 && !bodiless(this.statusCode)) {
        this.setHeader("Content-Length", chunk === undefined || chunk === null ? 0 : typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.length);
      }
      return super.end(chunk, encoding, callback);
    }
    _destroy(error, callback) {
      if (this.#open && this.#controller) this.#controller.error(error ?? new Error("The response was destroyed before its end."));
      else if (!this.headersSent) { this.headersSent = true; this.#resolve(p.Promise.reject(error ?? new Error("The response was destroyed before its end."))); }
      this.#open = false;
      callback(error);
    }
  }

  function Server(options, listener) {
    if (!(this instanceof Server)) return new Server(options, listener);
    ReflectApply(EventEmitter, this, []);
    if (typeof options === "function") { listener = options; options = undefined; }
    if (options !== undefined && options !== null) errors.object(options, "options");
    for (const name of ["requestTimeout", "headersTimeout", "keepAliveTimeout"]) if (options?.[name] !== undefined) errors.integer(options[name], name, 0);
    if (options?.insecureHTTPParser !== undefined) errors.bool(options.insecureHTTPParser, "options.insecureHTTPParser");
    p.ObjectAssign(this, { timeout: 0, keepAliveTimeout: 5000, headersTimeout: 60000, requestTimeout: 300000, maxHeadersCount: null, maxRequestsPerSocket: 0,
      httpAllowHalfOpen: false, ...options, _port: undefined });
    if (listener !== undefined) { errors.func(listener, "listener"); this.on("request", listener); }
  }
  ObjectSetPrototypeOf(Server, EventEmitter);
  ObjectSetPrototypeOf(Server.prototype, EventEmitter.prototype);
  let nextPort = 1024;
  native.methods(Server.prototype, {
    listen(...args) {
      if (this._port !== undefined) throw errors.make("Error", "ERR_SERVER_ALREADY_LISTEN", "Listen method has been called more than once without closing.");
      const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
      const wanted = typeof args[0] === "object" && args[0] !== null ? args[0].port : args[0];
      let port = p.Number(wanted ?? 0);
      if (!p.Number.isInteger(port) || port < 0 || port > 65535) throw errors.make("RangeError", "ERR_SOCKET_BAD_PORT", `options.port should be >= 0 and < 65536. Received ${errors.received(wanted)}.`);
      while (port === 0 || wanted === undefined && ports.has(port)) port = ports.has(nextPort) ? (nextPort++, 0) : nextPort;
      if (ports.has(port)) {
        throw p.ObjectAssign(new Error(`bind EADDRINUSE 127.0.0.1:${port}`), { errno: -98, code: "EADDRINUSE", syscall: "bind", address: "127.0.0.1", port });
      }
      ports.set(port, this);
      this._port = port;
      if (callback) this.once("listening", callback);
      native.nextTick(() => this.emit("listening"));
      return this;
    },
    close(callback) {
      if (typeof callback === "function") {
        const error = this._port === undefined ? errors.make("Error", "ERR_SERVER_NOT_RUNNING", "Server is not running.") : undefined;
        this.once("close", () => callback(error));
      }
      ports.delete(this._port);
      this._port = undefined;
      native.nextTick(() => this.emit("close"));
      return this;
    },
    closeAllConnections() {},
    closeIdleConnections() {},
    setTimeout(ms, callback) { this.timeout = ms; if (callback) this.on("timeout", callback); return this; },
    address() { return this._port === undefined ? null : { port: this._port, family: "IPv4", address: "127.0.0.1" }; },
    getConnections(callback) { native.nextTick(callback, null, 0); return this; },
    ref() { return this; },
    unref() { return this; },
    async [Symbol.asyncDispose]() { this.close(); },
  });
  p.ObjectDefineProperty(Server.prototype, "listening", { get() { return this._port !== undefined; }, configurable: true });

  const socketOf = (url) => p.ObjectAssign(new EventEmitter(), { remoteAddress: "127.0.0.1", remotePort: 80, remoteFamily: "IPv4", localAddress: "127.0.0.1",
    localPort: p.Number(url.port) || (url.protocol === "https:" ? 443 : 80), encrypted: url.protocol === "https:", readable: true, writable: true, destroyed: false,
    setTimeout() { return this; }, setKeepAlive() { return this; }, setNoDelay() { return this; }, ref() { return this; }, unref() { return this; },
    destroy() { this.destroyed = true; return this; } });

  const serve = (server, request, env, ctx) => new p.Promise((resolve, reject) => {
    const url = new URL(request.url);
    const req = new IncomingMessage(request);
    p.ObjectAssign(req, { method: request.method, url: url.pathname + url.search, statusMessage: null, cloudflare: { cf: request.cf, env, ctx } });
    req.socket = req.connection = socketOf(url);
    const res = new ServerResponse(req, resolve);
    res.on("error", reject);
    try {
      if (!server.emit("request", req, res)) reject(new Error("The server has no listener for \"request\"."));
    } catch (error) {
      reject(error);
      res.destroy(error);
    }
  });
  const notFound = (port) => errors.make("Error", "ERR_INVALID_ARG_VALUE",
    `Http server with port ${port} not found. This is likely a bug with your code. You should check if server.listen() was called with the same port (${port})`);
  const handleAsNodeRequest = async (target, request, env, ctx) => {
    const port = typeof target === "number" ? target : target?.port;
    const server = target instanceof Server ? target : ports.get(port);
    if (server === undefined) throw notFound(port);
    return serve(server, request, env, ctx);
  };
  const httpServerHandler = (target) => {
    if (!(target instanceof Server) && typeof target?.port !== "number") throw new Error("Failed to determine port for server");
    return { fetch: (request, env, ctx) => handleAsNodeRequest(target, request, env, ctx) };
  };
  const refuses = native.require("internal/missing");
  return {
    http: { Server, ServerResponse, createServer: (options, listener) => new Server(options, listener) },
    cloudflare: { httpServerHandler, handleAsNodeRequest, connectHandler: refuses("cloudflare:node.connectHandler"), handleAsNodeConnection: refuses("cloudflare:node.handleAsNodeConnection") },
  };
}
