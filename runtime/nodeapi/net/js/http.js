// node:http and node:https: requests through fetch (nodejs.org/api/http.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Buffer } = native.require("buffer");
  const { status, methods } = native.require("internal/constants");
  const { OutgoingMessage, validateHeaderName, validateHeaderValue, afterSent, token, parseUniqueHeadersOption, kOutHeaders, kUniqueHeaders, kErrored, kSent, kData } = native.require("internal/http_outgoing");
  const { IncomingMessage, fillResponse } = native.require("internal/http_incoming");
  const { Agent, SecureAgent, globalAgent, secureGlobalAgent } = native.require("internal/http_agent");
  const tick = native.nextTick;

  // A path that would name another host than the request's.
  const otherHost = /^(?:[a-z][a-z\d+.-]*:|[\\/]{2})/i;
  const badPath = (path) => errors.argValue("options.path", path, "must be a path-only request target");
  const hostOf = (host, name) => {
    if (host !== undefined && host !== null && typeof host !== "string") throw errors.argType(`options.${name}`, "of type string or one of undefined or null", host);
    return host;
  };
  const duration = (ms, name) => {
    if (typeof ms !== "number") throw errors.argType(name, "of type number", ms);
    if (!(ms >= 0 && ms < Infinity)) throw errors.range(name, "a non-negative finite number", ms);
    return p.MathMin(ms, 2147483647);
  };
  const reset = (message) => p.ObjectAssign(new Error(message), { code: "ECONNRESET" });
  // Options that need a socket: their types are checked, and then they are refused, as the reference does.
  const needSocket = { createConnection: "func", lookup: "func", socketPath: "string" };

  class ClientRequest extends OutgoingMessage {
    #chunks = []; #stop = new AbortController(); #timer = null; #response; #sent = false;
    constructor(input, options, callback) {
      super();
      if (typeof input === "string") input = native.require("url").urlToHttpOptions(new URL(input));
      else if (input && typeof input.href === "string" && typeof input.searchParams === "object") input = native.require("url").urlToHttpOptions(input);
      else { callback = options; options = input; input = null; }
      if (typeof options === "function") { callback = options; options = undefined; }
      const o = { ...input, ...options };
      if (o.path) {
        if (/[^\u0021-\u00ff]/.test(o.path)) throw errors.make("TypeError", "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
        if (otherHost.test(o.path)) throw badPath(o.path);
      }
      this._ended = false;
      this.timeout = undefined;
      this.#destination(o);
      if (o.timeout !== undefined) this.timeout = duration(o.timeout, "timeout");
      if (o.signal) this.#obey(o.signal);
      if (o.method !== undefined && o.method !== null && typeof o.method !== "string") throw errors.argType("options.method", "of type string", o.method);
      if (o.method && !token.test(o.method)) throw errors.make("TypeError", "ERR_INVALID_HTTP_TOKEN", `Method must be a valid HTTP token ["${o.method}"]`);
      this.method = o.method ? o.method.toUpperCase() : "GET";
      if (o.maxHeaderSize !== undefined) {
        errors.integer(o.maxHeaderSize, "maxHeaderSize", 0);
        throw errors.make("Error", "ERR_OPTION_NOT_IMPLEMENTED", "The options.maxHeaderSize option is not implemented"); // the reference's text
      }
      if (o.insecureHTTPParser !== undefined) errors.bool(o.insecureHTTPParser, "options.insecureHTTPParser");
      for (const name of p.ObjectKeys(needSocket)) {
        if (o[name] === undefined) continue;
        errors[needSocket[name]](o[name], `options.${name}`);
        throw errors.make("Error", "ERR_OPTION_NOT_IMPLEMENTED", `The options.${name} option is not implemented`); // the reference's text
      }
      if (o.joinDuplicateHeaders !== undefined) errors.bool(o.joinDuplicateHeaders, "options.joinDuplicateHeaders");
      p.ObjectAssign(this, { path: o.path || "/", joinDuplicateHeaders: o.joinDuplicateHeaders, aborted: false, reusedSocket: false, maxHeadersCount: Infinity, connection: null, socket: null });
      if (callback) this.once("response", callback);
      this.#headers(o);
      this[kUniqueHeaders] = parseUniqueHeadersOption(o.uniqueHeaders);
      this.on("finish", () => this.#fetch());
    }
    // #obey lets a signal end the request as long as its response lasts.
    #obey(signal) {
      if (typeof signal !== "object" || !("aborted" in signal)) throw errors.argType("signal", "an instance of AbortSignal", signal);
      const stop = () => this.destroy(native.require("internal/abort_error")(signal.reason));
      if (signal.aborted) { stop(); return; }
      signal.addEventListener("abort", stop, { once: true });
      this.once("close", () => signal.removeEventListener("abort", stop));
    }
    // #destination sets agent, protocol, host and port.
    #destination(o) {
      const own = o._defaultAgent || globalAgent;
      let { agent } = o;
      if (agent === false) agent = new own.constructor();
      else if (agent === undefined || agent === null) agent = own;
      else if (typeof agent === "object" && typeof agent.addRequest !== "function") throw errors.argType("options.agent", "one of Agent-like Object, undefined, or false", agent);
      this.agent = agent;
      const expected = agent.protocol ?? own.protocol;
      this.protocol = o.protocol || own.protocol;
      if (this.protocol !== expected) throw errors.make("TypeError", "ERR_INVALID_PROTOCOL", `Protocol "${this.protocol}" not supported. Expected "${expected}"`);
      this.port = `${o.port || o.defaultPort || agent.defaultPort || 80}`;
      this.host = hostOf(o.hostname, "hostname") || hostOf(o.host, "host") || "localhost";
    }
    #headers(o) {
      if (p.ArrayIsArray(o.headers)) {
        if (o.headers.length % 2 !== 0) throw errors.argValue("headers", o.headers);
        for (let i = 0; i < o.headers.length; i += 2) this.setHeader(o.headers[i], o.headers[i + 1]);
        return;
      }
      if (o.headers && "host" in o.headers) errors.string(o.headers.host, "host");
      for (const [name, value] of p.ObjectEntries(o.headers ?? {})) this.setHeader(name, value);
      const setHost = o.setHost === undefined ? o.setDefaultHeaders !== false : !!o.setHost;
      if (setHost && !this.getHeader("host")) {
        const name = this.host.indexOf(":") !== this.host.lastIndexOf(":") && !this.host.startsWith("[") ? `[${this.host}]` : this.host;
        const usual = o.defaultPort || this.agent.defaultPort || 80;
        this.setHeader("Host", +this.port === usual ? name : `${name}:${this.port}`);
      }
      if (o.auth && !this.getHeader("authorization")) this.setHeader("Authorization", `Basic ${Buffer.from(o.auth).toString("base64")}`);
    }
    [kSent]() {}
    [kData](bytes) { if (this.method !== "GET" && this.method !== "HEAD") this.#chunks.push(bytes); return true; }
    _implicitHeader() {
      if (this._header) throw afterSent("render");
      this._storeHeader(`${this.method} ${this.path} HTTP/1.1\r\n`, this[kOutHeaders]);
    }
    end(chunk, encoding, callback) {
      if (this.destroyed) return this;
      this._ended = true;
      if (typeof chunk === "function") { callback = chunk; chunk = encoding = null; }
      else if (typeof encoding === "function") { callback = encoding; encoding = null; }
      if (this.finished || typeof callback !== "function") return super.end(chunk, encoding, callback);
      this.prependOnceListener("finish", callback);
      return super.end(chunk, encoding);
    }
    // A request is finished when it has been sent, and closes with its response.
    _finish() {
      const s = this._writableState;
      s.ending = s.ended = s.prefinished = true;
      this.emit("prefinish");
      tick(() => { if (!this.destroyed) { s.finished = true; this.emit("finish"); } });
    }
    #fetch() {
      if (this.destroyed) return;
      const headers = [];
      const all = this[kOutHeaders] ?? {};
      for (const key of p.ObjectKeys(all)) {
        const [name, value] = all[key];
        if (!p.ArrayIsArray(value)) headers.push([name, `${value}`]);
        else if (this.joinDuplicateHeaders || key === "cookie") headers.push([name, value.join(", ")]);
        else for (const one of value) headers.push([name, `${one}`]);
      }
      this.#sent = true;
      this.#arm();
      if (headers.length === 0) { // HTTP/1.1 needs a Host: a server would answer so (RFC 7230, 5.4)
        tick(() => this.#respond(new Response(null, { status: 400, statusText: "Bad Request", headers: { connection: "close" } })));
        return;
      }
      let url;
      try {
        if (otherHost.test(this.path)) throw badPath(this.path);
        const host = this.host.includes(":") && !this.host.startsWith("[") ? `[${this.host}]` : this.host;
        url = new URL(this.path, `${this.protocol}//${host}:${this.port}/`);
      } catch (error) {
        this.destroy(error);
        return;
      }
      const body = this.#chunks.length > 0 ? Buffer.concat(this.#chunks) : null;
      p.PromisePrototypeThen(new p.Promise((resolve) => resolve(fetch(url, { method: this.method, headers, body, signal: this.#stop.signal, redirect: "manual", encodeResponseBody: "manual" }))),
        (response) => this.#respond(response), (error) => { if (!this.destroyed) this.destroy(error); });
    }
    #respond(response) {
      if (this.destroyed) {
        response.body?.cancel().catch(() => {}); // nobody will read it, nor hear that it failed
        return;
      }
      const message = new IncomingMessage();
      fillResponse(message, response);
      message.on("error", (error) => { if (!this.destroyed) this.emit("error", error); });
      message.once("close", () => this.#close());
      this.#response = this.res = message;
      this.emit("response", message);
    }
    #close() {
      if (this._closed) return;
      const s = this._writableState;
      this._closed = s.closed = s.closeEmitted = s.destroyed = true;
      this.#disarm();
      this.emit("close");
    }
    destroy(error, _callback) {
      if (this.destroyed) return this;
      this._writableState.destroyed = true;
      this[kErrored] = error ?? null;
      this.#disarm();
      const response = this.#response;
      if (!response && !error && !this.aborted) error = reset("socket hang up");
      if (error) { this._writableState.errored = error; tick(() => this.emit("error", error)); }
      if (!response) this.#stop.abort();
      else if (!response.complete) response.destroy(reset("aborted"));
      tick(() => this.#close());
      return this;
    }
    abort() {
      if (this.aborted) return;
      this.aborted = true;
      tick(() => this.emit("abort"));
      this.destroy();
    }
    onSocket(_socket) {}
    addTrailers(_headers) { throw errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", "The addTrailers method is not implemented"); /* the reference's text */ }
    setNoDelay(noDelay) { errors.bool(noDelay, "noDelay"); }
    setSocketKeepAlive(enable, initialDelay) {
      errors.bool(enable, "enable");
      if (typeof initialDelay !== "number") throw errors.argType("initialDelay", "of type number", initialDelay);
    }
    clearTimeout(callback) { this.setTimeout(0, callback); }
    setTimeout(ms, callback) {
      this.timeout = duration(ms, "msecs");
      this.#arm();
      if (callback) this.once("timeout", callback);
      return this;
    }
    #disarm() { if (this.#timer !== null) clearTimeout(this.#timer); this.#timer = null; }
    // #arm starts the time that a request that was sent has.
    #arm() {
      this.#disarm();
      if (!this.timeout || !this.#sent || this.destroyed) return;
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.emit("timeout");
        this.#response?.emit("timeout");
        this.destroy(native.require("internal/abort_error")());
      }, this.timeout);
    }
  }

  const request = (url, options, callback) => new ClientRequest(url, options, callback);
  const http = {
    request,
    get(url, options, callback) { const r = request(url, options, callback); r.end(); return r; },
    globalAgent, Agent, ClientRequest, IncomingMessage, OutgoingMessage, METHODS: methods, STATUS_CODES: status, maxHeaderSize: 16384,
    validateHeaderName, validateHeaderValue, setMaxIdleHTTPParsers(max) { errors.integer(max, "max", 1); },
  };
  const secureRequest = (...args) => {
    let given = {};
    if (typeof args[0] === "string") given = native.require("url").urlToHttpOptions(new URL(args.shift()));
    else if (args[0] && typeof args[0].href === "string" && typeof args[0].searchParams === "object") given = native.require("url").urlToHttpOptions(args.shift());
    if (args[0] && typeof args[0] !== "function") given = { ...given, ...args.shift() };
    return new ClientRequest({ ...given, _defaultAgent: secureGlobalAgent }, args[0]);
  };
  const https = {
    request: secureRequest,
    get(url, options, callback) { const r = secureRequest(url, options, callback); r.end(); return r; },
    globalAgent: secureGlobalAgent, Agent: SecureAgent,
  };
  // Wrangler's polyfill of the whole module has a ServerResponse, too.
  if (native.compat("enable_nodejs_http_server_modules") || !native.compat("enable_nodejs_http_modules")) {
    const server = () => native.require("internal/http_server");
    for (const name of ["Server", "createServer"]) native.lazy(http, name, () => server().http[name]);
    for (const name of ["Server", "createServer"]) native.lazy(https, name, () => server().https[name]);
    native.lazy(http, "ServerResponse", () => server().http.ServerResponse);
  } else {
    const refuse = (name) => p.ObjectDefineProperty(function () {
      throw errors.make("Error", "ERR_METHOD_NOT_IMPLEMENTED", `The ${name} method is not implemented: it needs the compatibility flag enable_nodejs_http_server_modules (or a compatibility_date from 2025-09-01 on)`); // the reference's text
    }, "name", { value: name });
    for (const name of ["Server", "createServer", "ServerResponse"]) http[name] = refuse(name);
    for (const name of ["Server", "createServer"]) https[name] = http[name];
  }
  for (const name of ["WebSocket", "CloseEvent", "MessageEvent"]) native.lazy(http, name, () => globalThis[name]);
  return { http, https };
}
