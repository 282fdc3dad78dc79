// node:http and node:https: requests through fetch (nodejs.org/api/http.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ReflectApply, ObjectSetPrototypeOf, ObjectDefineProperty } = p;
  const { Readable, Writable } = native.require("stream");
  const { Buffer } = native.require("buffer");
  const EventEmitter = native.require("events");
  const { status, methods } = native.require("internal/constants");
  const token = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/;
  const badValue = /[^\t\u0020-\u007e\u0080-\u00ff]/;

  const validateHeaderName = (name, label = "Header name") => {
    if (typeof name !== "string" || !token.test(name)) throw errors.make("TypeError", "ERR_INVALID_HTTP_TOKEN", `${label} must be a valid HTTP token ["${name}"]`);
  };
  const validateHeaderValue = (name, value) => {
    if (value === undefined) throw errors.make("TypeError", "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "${value}" for header "${name}"`);
    if (badValue.test(`${value}`)) throw errors.make("TypeError", "ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`);
  };

  const number = (value, name) => { if (typeof value !== "number") throw errors.argType(name, "of type number", value); };
  const hostOf = (host, name) => {
    if (host !== undefined && host !== null && typeof host !== "string") throw errors.argType(`options.${name}`, "of type string or one of undefined or null", host);
    return host;
  };

  // Agent pools nothing: fetch does.
  function Agent(options) {
    if (!(this instanceof Agent)) return new Agent(options);
    ReflectApply(EventEmitter, this, []);
    this.options = { __proto__: null, ...options, path: null };
    this.options.noDelay ??= true;
    this.defaultPort = 80;
    this.protocol = "http:";
    this.maxSockets = options?.maxSockets ?? Infinity;
    this.maxTotalSockets = options?.maxTotalSockets ?? Infinity;
    number(this.maxTotalSockets, "maxTotalSockets");
    this.scheduling = options?.scheduling ?? "lifo";
    if (this.scheduling !== "fifo" && this.scheduling !== "lifo") throw errors.argValue("scheduling", this.scheduling, "must be one of: 'fifo', 'lifo'");
    this.keepAliveMsecs = options?.keepAliveMsecs ?? 1000;
    this.maxFreeSockets = options?.maxFreeSockets ?? 256;
    this.keepAlive = !!options?.keepAlive;
    this.agentKeepAliveTimeoutBuffer = options?.agentKeepAliveTimeoutBuffer ?? 1000;
    this.totalSocketCount = 0;
    this.requests = this.sockets = this.freeSockets = { __proto__: null };
  }
  ObjectSetPrototypeOf(Agent.prototype, EventEmitter.prototype);
  Agent.defaultMaxSockets = Infinity;
  p.ObjectAssign(Agent.prototype, {
    destroy() {},
    getName: (o = {}) => `${o.host ?? "localhost"}:${o.port ?? ""}:${o.localAddress ?? ""}`,
    createConnection() { throw errors.refused("http.Agent.createConnection"); },
  });

  class OutgoingMessage extends Writable {
    #headers = new p.Map();
    constructor(options) {
      super({ ...options, autoDestroy: false }); // a request lives until its response ends
      ObjectDefineProperty(this, "headersSent", { value: false, writable: true, enumerable: true, configurable: true });
      this.finished = this.chunkedEncoding = this.sendDate = this.strictContentLength = false;
      this.shouldKeepAlive = this.useChunkedEncodingByDefault = true;
    }
    write(chunk, encoding, callback) {
      if (chunk !== null && typeof chunk !== "string" && !(chunk instanceof p.Uint8Array)) throw errors.argType("chunk", "of type string or an instance of Buffer or Uint8Array", chunk);
      return super.write(chunk, encoding, callback);
    }
    _implicitHeader() { throw errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", "The _implicitHeader() method is not implemented"); /* the reference's text */ }
    setHeader(name, value) {
      if (this.headersSent) throw errors.make("Error", "ERR_HTTP_HEADERS_SENT", "Cannot set headers after they are sent to the client");
      validateHeaderName(name);
      validateHeaderValue(name, value);
      this.#headers.set(name.toLowerCase(), [name, value]);
      return this;
    }
    appendHeader(name, value) {
      const old = this.getHeader(name);
      return this.setHeader(name, old === undefined ? value : [].concat(old, value));
    }
    setHeaders(headers) {
      if (this.headersSent) throw errors.make("Error", "ERR_HTTP_HEADERS_SENT", "Cannot set headers after they are sent to the client");
      if (!(headers instanceof Headers) && !(headers instanceof p.Map)) throw errors.argType("headers", "an instance of Headers or Map", headers);
      for (const [k, v] of headers.entries()) this.setHeader(k, v);
      return this;
    }
    getHeader(name) { errors.string(name, "name"); return this.#headers.get(name.toLowerCase())?.[1]; }
    hasHeader(name) { errors.string(name, "name"); return this.#headers.has(name.toLowerCase()); }
    removeHeader(name) { errors.string(name, "name"); this.#headers.delete(name.toLowerCase()); }
    getHeaderNames() { return [...this.#headers.keys()]; }
    getRawHeaderNames() { return [...this.#headers.values()].map((h) => h[0]); }
    getHeaders() {
      const out = { __proto__: null };
      for (const [key, [, value]] of this.#headers) out[key] = value;
      return out;
    }
    flushHeaders() {}
    addTrailers() {}
    setTimeout(ms, callback) { number(ms, "msecs"); if (callback) this.once("timeout", callback); return this; }
  }

  // IncomingMessage is a response; its body flows as the program reads it.
  class IncomingMessage extends Readable {
    #reader; #response;
    constructor(response) {
      super({ highWaterMark: 65536 });
      this.#response = response;
      this.complete = false;
      this.httpVersion = response ? "1.1" : null;
      this.httpVersionMajor = this.httpVersionMinor = response ? 1 : null;
      this.statusCode = response?.status ?? null;
      this.statusMessage = response ? response.statusText || status[response.status] || "" : null;
      this.headers = {};
      this.rawHeaders = [];
      this.trailers = {};
      this.rawTrailers = [];
      this.url = "";
      this.socket = this.connection = {};
      this.aborted = false;
      if (!response) return;
      for (const [name, value] of response.headers) {
        if (name === "set-cookie") continue;
        this.headers[name] = value;
        this.rawHeaders.push(name, value);
      }
      const cookies = response.headers.getSetCookie();
      if (cookies.length > 0) {
        this.headers["set-cookie"] = cookies;
        for (const c of cookies) this.rawHeaders.push("set-cookie", c);
      }
    }
    get trailersDistinct() { return p.ObjectFromEntries(p.ObjectEntries(this.trailers).map(([k, v]) => [k, [].concat(v)])); }
    get headersDistinct() { return p.ObjectFromEntries(p.ObjectEntries(this.headers).map(([k, v]) => [k, [].concat(v)])); }
    setTimeout(ms, callback) { if (callback) this.once("timeout", callback); return this; }
    _read() {
      const body = this.#response?.body;
      if (!body) { this.complete = true; this.push(null); return; }
      this.#reader ??= body.getReader();
      this.#reader.read().then(({ value, done }) => {
        if (done) { this.complete = true; this.push(null); } else this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      }, (error) => this.destroy(error));
    }
    _destroy(error, callback) {
      if (!this.readableEnded && !this.complete) {
        this.aborted = true;
        const cancelled = this.#reader ? this.#reader.cancel() : this.#response?.body?.cancel();
        cancelled?.catch(() => {});
      }
      callback(error);
    }
  }

  const target = (input, options) => {
    let url;
    if (typeof input === "string") url = new URL(input);
    else if (input && typeof input.href === "string" && typeof input.searchParams === "object") url = input;
    else { options = input; url = undefined; }
    return { ...(url ? native.require("url").urlToHttpOptions(url) : undefined), ...options };
  };

  class ClientRequest extends OutgoingMessage {
    #chunks = []; #abort = new AbortController(); #timer;
    constructor(input, options, callback, secure) {
      if (typeof options === "function") { callback = options; options = undefined; }
      super();
      const o = target(input, options);
      const protocol = o.protocol ?? (secure ? "https:" : "http:");
      if (protocol !== "http:" && protocol !== "https:" || secure && protocol !== "https:" || !secure && o.agent === undefined && protocol === "https:") {
        throw errors.make("TypeError", "ERR_INVALID_PROTOCOL", `Protocol "${protocol}" not supported. Expected "${secure ? "https:" : "http:"}"`);
      }
      if (o.method !== undefined && typeof o.method !== "string") throw errors.argType("options.method", "of type string", o.method);
      if (o.path !== undefined && /[^\u0021-\u00ff]/.test(o.path)) throw errors.make("TypeError", "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
      this.method = o.method ?? "GET";
      if (!token.test(this.method)) throw errors.make("TypeError", "ERR_INVALID_HTTP_TOKEN", `Method must be a valid HTTP token ["${this.method}"]`);
      this.method = this.method.toUpperCase();
      this.path = o.path ?? "/";
      this.protocol = protocol;
      this.host = hostOf(o.hostname, "hostname") || hostOf(o.host, "host") || "localhost";
      const { agent } = o;
      if (agent !== undefined && agent !== null && agent !== false && typeof agent !== "object" && typeof agent !== "function") throw errors.argType("options.agent", "one of Agent-like Object, undefined, or false", agent);
      this.agent = agent === false ? new (secure ? https : http).Agent() : agent ?? (secure ? https : http).globalAgent;
      if (o.timeout !== undefined) number(o.timeout, "timeout");
      if (o.maxHeaderSize !== undefined) number(o.maxHeaderSize, "maxHeaderSize");
      if (o.insecureHTTPParser !== undefined) errors.bool(o.insecureHTTPParser, "options.insecureHTTPParser");
      this.aborted = false;
      this.maxHeadersCount = null;
      this.reusedSocket = false;
      const port = o.port ?? o.defaultPort;
      const name = this.host.includes(":") && !this.host.startsWith("[") ? `[${this.host}]` : this.host;
      this.authority = port === undefined || port === null || port === "" ? name : `${name}:${port}`;
      if (p.ArrayIsArray(o.headers)) for (let i = 0; i + 1 < o.headers.length; i += 2) this.appendHeader(o.headers[i], o.headers[i + 1]);
      else for (const [k, v] of p.ObjectEntries(o.headers ?? {})) this.setHeader(k, v);
      if (o.auth && !this.hasHeader("authorization")) this.setHeader("Authorization", `Basic ${Buffer.from(o.auth).toString("base64")}`);
      if (!this.hasHeader("host") && o.setHost !== false) this.setHeader("Host", this.authority);
      if (callback) this.once("response", callback);
      if (o.timeout) this.setTimeout(o.timeout);
      if (o.signal) native.require("stream").addAbortSignal(o.signal, this);
    }
    _write(chunk, encoding, callback) { this.#chunks.push(chunk); callback(); }
    _final(callback) {
      this.headersSent = this.finished = true;
      const headers = new Headers();
      const all = this.getHeaders();
      for (const k of p.ObjectKeys(all)) {
        if (k === "host" || k === "connection" || k === "transfer-encoding" || k === "content-length") continue;
        for (const v of [].concat(all[k])) headers.append(k, `${v}`);
      }
      const withBody = this.#chunks.length > 0 && this.method !== "GET" && this.method !== "HEAD";
      const init = { method: this.method, headers, redirect: "manual", signal: this.#abort.signal };
      if (withBody) init.body = Buffer.concat(this.#chunks);
      fetch(`${this.protocol}//${this.authority}${this.path}`, init).then((response) => this.#respond(response), (error) => this.#fail(error));
      native.nextTick(() => this.emit("socket", this.socket));
      callback();
    }
    #respond(response) {
      clearTimeout(this.#timer);
      if (this.destroyed && this.aborted) return;
      const message = new IncomingMessage(response);
      message.req = this;
      this.res = message;
      message.on("close", () => { if (!this.destroyed) this.destroy(); });
      if (!this.emit("response", message)) message.resume();
    }
    #fail(error) {
      clearTimeout(this.#timer);
      if (this.aborted) return;
      if (error instanceof Error && error.code === undefined) error.code = "ECONNREFUSED";
      this.emit("error", error);
      this.emit("close");
    }
    // The request itself lives until its response ends.
    get socket() { return { setKeepAlive() {}, setNoDelay() {}, setTimeout() {}, unref() {}, ref() {}, on() {}, once() {}, destroy: () => this.destroy() }; }
    get connection() { return this.socket; }
    setTimeout(ms, callback) {
      number(ms, "msecs");
      if (callback) this.once("timeout", callback);
      clearTimeout(this.#timer);
      if (ms > 0) this.#timer = setTimeout(() => this.emit("timeout"), ms);
      return this;
    }
    setNoDelay() {}
    setSocketKeepAlive() {}
    abort() { this.aborted = true; this.emit("abort"); this.destroy(); }
    _destroy(error, callback) {
      clearTimeout(this.#timer);
      if (!this.res) {
        this.aborted = true;
        this.#abort.abort();
        if (!error && !this.writableFinished) error = p.ObjectAssign(new Error("socket hang up"), { code: "ECONNRESET" });
      }
      callback(error);
    }
  }

  function SecureAgent(options) {
    if (!(this instanceof SecureAgent)) return new SecureAgent(options);
    ReflectApply(Agent, this, [options]);
    this.defaultPort = 443;
    this.protocol = "https:";
  }
  ObjectDefineProperty(SecureAgent, "name", { value: "Agent", configurable: true });
  ObjectSetPrototypeOf(SecureAgent.prototype, Agent.prototype);
  ObjectSetPrototypeOf(SecureAgent, Agent);

  const moduleFor = (secure) => {
    const globalAgent = secure ? new SecureAgent() : new Agent();
    const request = (url, options, callback) => new ClientRequest(url, options, callback, secure);
    const exports = {
      request,
      get(url, options, callback) {
        const r = request(url, options, callback);
        r.end();
        return r;
      },
      globalAgent,
    };
    if (!secure) return { ...exports, Agent, ClientRequest, IncomingMessage, OutgoingMessage, METHODS: methods, STATUS_CODES: status, maxHeaderSize: 16384, validateHeaderName, validateHeaderValue, setMaxIdleHTTPParsers(max) { errors.integer(max, "max", 1); } };
    return { ...exports, Agent: SecureAgent };
  };
  const http = moduleFor(false), https = moduleFor(true);
  if (native.compat("enable_nodejs_http_server_modules")) {
    for (const module of [http, https]) for (const name of ["Server", "createServer"]) native.lazy(module, name, () => native.require("internal/http_server").http[name]);
    native.lazy(http, "ServerResponse", () => native.require("internal/http_server").http.ServerResponse);
  }
  for (const name of ["WebSocket", "CloseEvent", "MessageEvent"]) native.lazy(http, name, () => globalThis[name]);
  return { http, https };
}
