// fetchMock of cloudflare:test: the part of undici's MockAgent that suites use.
const original = globalThis.fetch;

const matches = (want, value) => want instanceof RegExp ? want.test(value) : typeof want === "function" ? want(value) : want === undefined || want === value;

class Scope {
  constructor(mock) { this.mock = mock; }
  delay(ms) { this.mock.delay = ms; return this; }
  persist() { this.mock.left = Infinity; return this; }
  times(n) { this.mock.left = n; return this; }
}

class Interceptor {
  constructor(pool, match) { Object.assign(this, { pool, match, headers: {} }); }
  defaultReplyHeaders(headers) { this.headers = headers; return this; }
  #add(reply) {
    const mock = { match: this.match, reply, left: 1, delay: 0 };
    this.pool.mocks.push(mock);
    return new Scope(mock);
  }
  reply(status, body, options) {
    if (typeof status === "function") {
      return this.#add((request) => {
        const r = status(request);
        return [r.statusCode, r.data, r.responseOptions?.headers];
      });
    }
    return this.#add((request) => [status, typeof body === "function" ? body(request) : body, { ...this.headers, ...options?.headers }]);
  }
  replyWithError(error) { return this.#add(() => { throw error; }); }
}

class Pool {
  mocks = [];
  constructor(origin) { this.origin = origin; }
  intercept(match) { return new Interceptor(this, { method: "GET", ...match }); }
}

class MockAgent {
  #pools = [];
  #net = true;
  activate() { globalThis.fetch = (input, init) => this.#fetch(input, init); }
  deactivate() { globalThis.fetch = original; }
  enableNetConnect() { this.#net = true; }
  disableNetConnect() { this.#net = false; }
  get(origin) {
    let pool = this.#pools.find((p) => String(p.origin) === String(origin));
    if (pool === undefined) this.#pools.push(pool = new Pool(origin));
    return pool;
  }
  pendingInterceptors() {
    return this.#pools.flatMap((p) => p.mocks.filter((m) => m.left > 0 && m.left !== Infinity).map((m) => ({ origin: String(p.origin), method: m.match.method, path: m.match.path, pending: true })));
  }
  assertNoPendingInterceptors() {
    const pending = this.pendingInterceptors();
    if (pending.length > 0) throw new Error(`${pending.length} interceptor${pending.length > 1 ? "s are" : " is"} pending:\n${pending.map((p) => `  ${p.method} ${p.origin} ${p.path}`).join("\n")}`);
  }
  async #fetch(input, init) {
    const request = new Request(input, init), url = new URL(request.url);
    const body = await request.clone().text(), path = url.pathname + url.search;
    for (const pool of this.#pools.filter((p) => matches(p.origin, url.origin))) {
      const mock = pool.mocks.find((m) => m.left > 0 && m.match.method === request.method && matches(m.match.path, path) &&
        matches(m.match.body, body) && Object.entries(m.match.headers ?? {}).every(([k, v]) => matches(v, request.headers.get(k))) &&
        Object.entries(m.match.query ?? {}).every(([k, v]) => url.searchParams.get(k) === String(v)));
      if (mock === undefined) continue;
      mock.left--;
      if (mock.delay > 0) await new Promise((resolve) => setTimeout(resolve, mock.delay));
      const [status, data, headers] = mock.reply({ path, method: request.method, body, headers: Object.fromEntries(request.headers), origin: url.origin });
      const json = data !== null && typeof data === "object" && !(data instanceof ArrayBuffer) && !ArrayBuffer.isView(data);
      return new Response([101, 204, 205, 304].includes(status) ? null : json ? JSON.stringify(data) : data, { status, headers });
    }
    if (this.#net) return original(request);
    throw new Error(`Mock dispatch not matched for path '${path}' and method '${request.method}' of ${url.origin}, and net connect is disabled`);
  }
}

export const fetchMock = new MockAgent();
