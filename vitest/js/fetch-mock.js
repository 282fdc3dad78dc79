// fetchMock of cloudflare:test in earlier versions: undici's MockAgent
// (https://undici.nodejs.org/#/docs/api/MockAgent), for fetch().
const original = globalThis.fetch;

class UndiciError extends Error {
  name = "UndiciError";
  code = "UND_ERR";
}

class InvalidArgumentError extends Error {
  name = "InvalidArgumentError";
  code = "UND_ERR_INVALID_ARG";
}

class MockNotMatchedError extends Error {
  name = "MockNotMatchedError";
  code = "UND_MOCK_ERR_MOCK_NOT_MATCHED";
}

const matches = (want, value) => typeof want === "string" ? want === value : want instanceof RegExp ? want.test(value) : typeof want === "function" ? want(value) === true : false;

// sorted is a path whose parameters are in order: theirs does not matter.
function sorted(path) {
  if (typeof path !== "string") return path;
  const parts = path.split("?");
  if (parts.length !== 2) return path;
  const query = new URLSearchParams(parts[1]);
  query.sort();
  return parts[0] + "?" + query;
}

function withQuery(path, query) {
  if (query === undefined) return path;
  if (typeof path !== "string") throw new InvalidArgumentError("Query params cannot be passed when the path is no string.");
  if (path.includes("?") || path.includes("#")) throw new Error('Query params cannot be passed when url already contains "?" or "#".');
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) for (const v of [].concat(value)) params.append(key, v);
  return params.size > 0 ? `${path}?${params}` : path;
}

const unslashed = (path) => typeof path === "string" ? path.replace(/\/+$/, "") || "/" : path;

function headersMatch(want, headers) {
  if (want === undefined) return true;
  if (typeof want === "function") return want(headers);
  return Object.entries(want).every(([name, value]) => matches(value, headers[name.toLowerCase()]));
}

class MockScope {
  #mock;
  constructor(mock) { this.#mock = mock; }
  delay(ms) {
    if (typeof ms !== "number" || !Number.isInteger(ms) || ms <= 0) throw new InvalidArgumentError("waitInMs must be a valid integer > 0");
    this.#mock.delay = ms;
    return this;
  }
  persist() { this.#mock.persist = true; return this; }
  times(n) {
    if (typeof n !== "number" || !Number.isInteger(n) || n <= 0) throw new InvalidArgumentError("repeatTimes must be a valid integer > 0");
    this.#mock.times = n;
    return this;
  }
}

class MockInterceptor {
  #pool;
  #key;
  #headers = {};
  #trailers = {};
  #length = false;
  constructor(pool, key) {
    this.#pool = pool;
    if (typeof key !== "object" || key === null) throw new InvalidArgumentError("opts must be an object");
    if (key.path === undefined) throw new InvalidArgumentError("opts.path must be defined");
    let path = key.path;
    if (typeof path === "string") {
      path = key.query === undefined ? new URL(path, "data://").pathname + new URL(path, "data://").search : withQuery(path, key.query);
    }
    this.#key = { ...key, path, method: typeof key.method === "string" ? key.method.toUpperCase() : key.method ?? "GET" };
  }
  defaultReplyHeaders(headers) {
    if (headers === undefined) throw new InvalidArgumentError("headers must be defined");
    this.#headers = headers;
    return this;
  }
  defaultReplyTrailers(trailers) {
    if (trailers === undefined) throw new InvalidArgumentError("trailers must be defined");
    this.#trailers = trailers;
    return this;
  }
  replyContentLength() { this.#length = true; return this; }
  #add(reply) {
    const mock = { ...this.#key, times: 1, invoked: 0, persist: false, consumed: false, pending: true, delay: 0, ignoreTrailingSlash: this.#pool.options?.ignoreTrailingSlash ?? this.#pool.ignoresSlash ?? false, ...reply };
    this.#pool.mocks.push(mock);
    return new MockScope(mock);
  }
  #answer(status, data, options) {
    if (status === undefined) throw new InvalidArgumentError("statusCode must be defined");
    if (typeof options !== "object" || options === null) throw new InvalidArgumentError("responseOptions must be an object");
    return { status, data, headers: { ...this.#headers, ...options.headers }, trailers: { ...this.#trailers, ...options.trailers }, length: this.#length };
  }
  reply(status, data = "", options = {}) {
    if (typeof status !== "function") return this.#add({ answer: this.#answer(status, data, options) });
    return this.#add({ callback: (request) => {
      const given = status(request);
      if (typeof given !== "object" || given === null) throw new InvalidArgumentError("reply options callback must return an object");
      return this.#answer(given.statusCode, given.data ?? "", given.responseOptions ?? {});
    } });
  }
  replyWithError(error) {
    if (error === undefined) throw new InvalidArgumentError("error must be defined");
    return this.#add({ error });
  }
}

class MockPool {
  mocks = [];
  constructor(origin, options) { Object.assign(this, { origin, options }); }
  intercept(match) { return new MockInterceptor(this, match); }
  async close() { this.mocks.length = 0; }
  dispatch() { throw new Error("minido's MockAgent does not have dispatch(): use fetch()"); }
  cleanMocks() { this.mocks.length = 0; }

  // find is the mock that answers a request; it throws if there is none.
  find({ path, method, body, headers }) {
    const own = sorted(path);
    let found = this.mocks.filter((m) => !m.consumed && (m.ignoreTrailingSlash ? matches(unslashed(sorted(m.path)), unslashed(own)) : matches(sorted(m.path), own)));
    const narrow = (fits, what) => {
      found = found.filter(fits);
      if (found.length === 0) throw new MockNotMatchedError(`Mock dispatch not matched for ${what}`);
    };
    narrow(() => true, `path '${own}'`);
    narrow((m) => matches(m.method, method), `method '${method}' on path '${own}'`);
    narrow((m) => m.body === undefined || matches(m.body, body), `body '${body}' on path '${own}'`);
    narrow((m) => headersMatch(m.headers, headers), `headers '${JSON.stringify(headers)}' on path '${own}'`);
    return found[0];
  }
}

const reasons = { 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
  403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 418: "I'm a Teapot", 422: "Unprocessable Entity", 429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented",
  502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout" };

function bodyOf(data) {
  if (data instanceof ArrayBuffer || data instanceof Uint8Array) return data;
  if (typeof data === "object") return JSON.stringify(data);
  return data ? String(data) : "";
}

const aborted = () => Object.assign(new Error("The operation was aborted"), { name: "AbortError", code: "ABORT_ERR" });

// A response of a mock has headers that cannot be changed, as one of the network.
function finished(response, url) {
  Object.defineProperty(response, "url", { value: url });
  for (const name of ["set", "append", "delete"]) {
    Object.defineProperty(response.headers, name, { value() { throw new TypeError("Can't modify immutable headers"); } });
  }
  return response;
}

export class MockAgent {
  #pools = new Map();
  #active = true;
  #net = true;
  #calls;
  #global;
  constructor(options) {
    if (options?.acceptNonStandardSearchParameters) throw new Error("minido's MockAgent does not have the option acceptNonStandardSearchParameters: write each parameter as name=value");
    this.#calls = options?.enableCallHistory ? [] : undefined;
    this.options = options;
  }
  get isMockActive() { return this.#active; }
  activate() {
    this.#active = true;
    if (this.#global) globalThis.fetch = this.#global;
  }
  deactivate() {
    this.#active = false;
    if (this.#global) globalThis.fetch = original;
  }
  // replaces has the agent replace the global fetch while it is active.
  replaces() {
    this.#global = (input, init) => this.fetch(input, init);
    this.deactivate();
    return this;
  }
  enableNetConnect(matcher) {
    if (matcher === undefined) this.#net = true;
    else if (typeof matcher === "string" || typeof matcher === "function" || matcher instanceof RegExp) this.#net = Array.isArray(this.#net) ? [...this.#net, matcher] : [matcher];
    else throw new InvalidArgumentError("Unsupported matcher. Must be one of String|Function|RegExp.");
  }
  disableNetConnect() { this.#net = false; }
  get(origin) {
    const key = typeof origin === "string" || origin instanceof URL ? String(origin).replace(/\/$/, "") : origin;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = new MockPool(key);
      pool.ignoresSlash = this.options?.ignoreTrailingSlash;
      this.#pools.set(key, pool);
    }
    return pool;
  }
  async close() { this.#pools.clear(); }
  dispatch() { throw new Error("minido's MockAgent does not have dispatch(): use fetch()"); }
  enableCallHistory() { this.#calls ??= []; return this; }
  disableCallHistory() { this.#calls = undefined; return this; }
  clearCallHistory() { if (this.#calls) this.#calls.length = 0; }
  clearAllCallHistory() { this.clearCallHistory(); }
  getCallHistory() {
    const calls = this.#calls;
    if (calls === undefined) return undefined;
    return { calls: () => [...calls], firstCall: () => calls[0], lastCall: () => calls.at(-1), nthCall: (n) => calls[n - 1], clear: () => { calls.length = 0; }, *[Symbol.iterator]() { yield* calls; } };
  }
  pendingInterceptors() {
    return [...this.#pools].flatMap(([origin, pool]) => pool.mocks.filter((m) => m.pending).map((m) => (
      { method: m.method, path: m.path, body: m.body, headers: m.headers, query: m.query, times: m.times, timesInvoked: m.invoked, persist: m.persist, consumed: m.consumed, pending: m.pending, data: { statusCode: m.answer?.status }, origin })));
  }
  assertNoPendingInterceptors({ pendingInterceptorsFormatter } = {}) {
    const pending = this.pendingInterceptors();
    if (pending.length === 0) return;
    const list = pendingInterceptorsFormatter !== undefined ? pendingInterceptorsFormatter.format(pending) : pending.map((p) => `- ${p.method} ${p.origin}${p.path} ${p.data.statusCode} { persist: ${p.persist}, invoked: ${p.timesInvoked}, remaining: ${p.persist ? "Infinity" : p.times - p.timesInvoked} }`).join("\n");
    throw new UndiciError(pending.length === 1 ? `1 interceptor is pending:\n\n${list}` : `${pending.length} interceptors are pending:\n\n${list}`);
  }

  async #dispatch(request, url, key, signal) {
    // Pools of one origin come before those that match several.
    const origin = url.origin, fits = [...this.#pools.values()].filter((p) => matches(p.origin, origin)).sort((a, b) => (typeof b.origin === "string") - (typeof a.origin === "string"));
    let unmatched = new MockNotMatchedError(`Mock dispatch not matched for path '${sorted(key.path)}'`), mock;
    for (const pool of fits) {
      try {
        mock = pool.find(key);
        break;
      } catch (e) {
        if (!(e instanceof MockNotMatchedError)) throw e;
        unmatched = e;
      }
    }
    if (mock === undefined) {
      if (this.#net === false) throw new MockNotMatchedError(`${unmatched.message}: subsequent request to origin ${origin} was not allowed (net.connect disabled)`);
      if (this.#net !== true && !this.#net.some((m) => matches(m, url.host))) throw new MockNotMatchedError(`${unmatched.message}: subsequent request to origin ${origin} was not allowed (net.connect is not enabled for this origin)`);
      return original(request);
    }
    mock.invoked++;
    const answer = mock.callback?.({ ...key, origin }) ?? mock.answer;
    mock.consumed = !mock.persist && mock.invoked >= mock.times;
    mock.pending = mock.invoked < mock.times;
    if (mock.error !== undefined) throw mock.error;
    if (mock.delay > 0) await new Promise((resolve) => setTimeout(resolve, mock.delay));
    const { status, data, headers, length } = answer;
    const body = bodyOf(await (typeof data === "function" ? data({ ...key, origin }) : data));
    if (signal?.aborted) throw aborted();
    const all = new Headers();
    if (length) all.set("content-length", String(typeof body === "string" ? new TextEncoder().encode(body).length : body.byteLength));
    for (const [name, value] of Object.entries(headers)) for (const v of [].concat(value)) all.append(name, v);
    return finished(new Response([101, 204, 205, 304].includes(status) ? null : body, { status, statusText: reasons[status] ?? "unknown", headers: all }), url.href);
  }

  async fetch(input, init) {
    const request = new Request(input, init), url = new URL(request.url);
    if (request.headers.get("Upgrade") !== null) return original(request);
    const bytes = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
    const headers = {};
    for (const [name, value] of request.headers) {
      if (name === "set-cookie") (headers[name] ??= []).push(value);
      else headers[name] = value;
    }
    const key = { origin: url.origin, path: url.pathname + url.search, method: request.method, body: bytes === null ? "" : new TextDecoder().decode(bytes), headers };
    this.#calls?.push({ ...key, protocol: url.protocol, host: url.host, port: url.port, hash: url.hash, searchParams: Object.fromEntries(url.searchParams), fullUrl: url.href });
    return this.#dispatch(bytes === null ? request : new Request(request, { body: bytes }), url, key, init?.signal);
  }
}
