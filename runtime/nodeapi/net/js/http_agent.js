// http.Agent and https.Agent (nodejs.org/api/http.html#class-httpagent). An
// agent pools nothing: fetch does. It gives requests their protocol and port.
function (native, p) {
  "use strict";
  const { errors } = native;
  const EventEmitter = native.require("events");

  class Agent extends EventEmitter {
    static defaultMaxSockets = Infinity;
    constructor(options) {
      super();
      const given = { __proto__: null, ...options, path: null, proxyEnv: undefined };
      given.noDelay ??= true;
      const { maxTotalSockets = Infinity } = given;
      p.ObjectAssign(this, { defaultPort: 80, protocol: "http:", options: given, agentKeepAliveTimeoutBuffer: given.agentKeepAliveTimeoutBuffer ?? 1000,
        keepAliveMsecs: given.keepAliveMsecs || 1000, keepAlive: given.keepAlive || false, maxSockets: given.maxSockets || Agent.defaultMaxSockets,
        maxFreeSockets: given.maxFreeSockets || 256, scheduling: given.scheduling || "lifo", maxTotalSockets, totalSocketCount: 0,
        freeSockets: {}, sockets: {}, requests: {} });
      if (this.scheduling !== "fifo" && this.scheduling !== "lifo") throw errors.argValue("scheduling", this.scheduling, "must be one of: 'fifo', 'lifo'");
      if (typeof maxTotalSockets !== "number") throw errors.argType("maxTotalSockets", "of type number", maxTotalSockets);
      if (!(maxTotalSockets >= 1)) throw errors.range("maxTotalSockets", ">= 1", maxTotalSockets);
    }
    getName(options = {}) {
      const { host, port, localAddress, family, socketPath } = options;
      let name = `${host || "localhost"}:${port || ""}:${localAddress || ""}`;
      if (family === 4 || family === 6) name += `:${family}`;
      if (socketPath) name += `:${socketPath}`;
      return name;
    }
    createConnection(_options, _callback) { throw errors.refused("http.Agent.createConnection"); }
    addRequest(_request, _options) {}
    createSocket(_request, _options, _callback) {}
    removeSocket(_socket) {}
    keepSocketAlive(_socket) { return false; }
    reuseSocket(_socket, _request) {}
    destroy(_error) {}
  }

  // By these options connections of https differ, in the order of their places in a name.
  const parts = ["ca", "cert", "clientCertEngine", "ciphers", "key", "pfx", "rejectUnauthorized", "servername", "minVersion", "maxVersion", "secureProtocol",
    "crl", "honorCipherOrder", "ecdhCurve", "dhparam", "secureOptions", "sessionIdContext", "sigalgs", "privateKeyIdentifier", "privateKeyEngine"];
  const evenFalse = new p.Set(["rejectUnauthorized", "honorCipherOrder", "secureOptions"]);

  class SecureAgent extends Agent {
    constructor(options) {
      super(options);
      this.defaultPort = 443;
      this.protocol = "https:";
      this.maxCachedSessions = options?.maxCachedSessions ?? 100;
    }
    getName(options = {}) {
      let name = super.getName(options);
      for (const part of parts) {
        const value = options[part];
        const counts = part === "servername" ? value && value !== options.host : evenFalse.has(part) ? value !== undefined : value;
        name += `:${counts ? (part === "sigalgs" ? p.JSONStringify(value) : value) : ""}`;
      }
      return name;
    }
  }
  p.ObjectDefineProperty(SecureAgent, "name", { value: "Agent", configurable: true });
  const shared = { keepAlive: true, scheduling: "lifo", timeout: 5000 };
  return { Agent, SecureAgent, globalAgent: new Agent(shared), secureGlobalAgent: new SecureAgent(shared) };
}
