// node:dns over HTTPS, as Workers have it (workerd: src/node/internal/internal_dns.ts):
// names are asked of Cloudflare's resolver by fetch() (developers.cloudflare.com/1.1.1.1).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { isIP } = native.require("net");
  const resolver = "https://cloudflare-dns.com/dns-query";
  const constants = native.require("internal/constants").dns;
  const codes = { 1: "FORMERR", 2: "SERVFAIL", 3: "NOTFOUND", 4: "NOTIMP", 5: "REFUSED" };

  const failure = (type, name, code) => native.require("internal/errors").dns(code, name, `query${type}`);
  const query = async (type, name, syscall = type) => {
    let answer;
    try {
      const response = await fetch(`${resolver}?${new URLSearchParams({ name, type })}`, { headers: { accept: "application/dns-json" } });
      answer = await response.json();
    } catch {
      throw failure(syscall, name, "EBADQUERY");
    }
    if (answer.Status !== 0) throw failure(syscall, name, `E${codes[answer.Status] ?? "BADRESP"}`);
    const wanted = types[type];
    const list = (answer.Answer ?? []).filter((a) => type === "ANY" || a.type === wanted);
    if (list.length === 0) throw failure(syscall, name, "ENODATA");
    return list;
  };
  const types = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, SRV: 33, NAPTR: 35, CAA: 257 };
  const bare = (s) => s.replace(/\.$/, "");
  const words = (s) => s.split(" ");
  const unquoted = (s) => s.replace(/^"|"$/g, "");
  const readers = {
    NS: bare, CNAME: bare, PTR: bare,
    MX: (d) => { const [priority, exchange] = words(d); return { exchange: bare(exchange), priority: p.Number(priority) }; },
    TXT: (d) => (d.match(/"(?:[^"\\]|\\.)*"/g) ?? [d]).map(unquoted),
    SRV: (d) => { const [priority, weight, port, name] = words(d); return { priority: p.Number(priority), weight: p.Number(weight), port: p.Number(port), name: bare(name) }; },
    CAA: (d) => { const [critical, tag, value] = words(d); return { critical: p.Number(critical), [tag]: unquoted(value) }; },
    NAPTR: (d) => { const [order, preference, flags, service, regexp, replacement] = words(d);
      return { flags: unquoted(flags), service: unquoted(service), regexp: unquoted(regexp), replacement: bare(replacement), order: p.Number(order), preference: p.Number(preference) }; },
    SOA: (d) => { const [nsname, hostmaster, ...n] = words(d);
      return { nsname: bare(nsname), hostmaster: bare(hostmaster), serial: p.Number(n[0]), refresh: p.Number(n[1]), retry: p.Number(n[2]), expire: p.Number(n[3]), minttl: p.Number(n[4]) }; },
  };
  const methods = { A: "resolve4", AAAA: "resolve6", ANY: "resolveAny", CAA: "resolveCaa", CNAME: "resolveCname", MX: "resolveMx", NAPTR: "resolveNaptr",
    NS: "resolveNs", PTR: "resolvePtr", SOA: "resolveSoa", SRV: "resolveSrv", TXT: "resolveTxt" };

  const records = async (type, name, options) => {
    errors.string(name, "name");
    if (options !== undefined && (options === null || typeof options !== "object")) throw errors.argType("options", "of type object", options);
    const list = await query(type, name);
    if (type === "A" || type === "AAAA") return list.map((a) => (options?.ttl ? { address: a.data, ttl: a.TTL } : a.data));
    if (type === "SOA") return readers.SOA(list[0].data);
    if (type === "ANY") return list.map((a) => ({ type: p.ObjectKeys(types).find((t) => types[t] === a.type), value: a.data, ttl: a.TTL }));
    return list.map((a) => readers[type](a.data));
  };

  const typeOf = (type) => {
    errors.string(type, "rrtype");
    if (!methods[type]) throw errors.argValue("rrtype", type);
    return type;
  };
  const reverseName = (ip) => (isIP(ip) === 4 ? `${ip.split(".").reverse().join(".")}.in-addr.arpa` : `${native.expand(ip).split("").reverse().join(".")}.ip6.arpa`);

  const lookupOptions = (options) => {
    if (typeof options === "number") options = { family: options };
    options ??= {};
    if (typeof options !== "object") throw errors.argType("options", "one of type integer or object", options);
    const family = options.family === "IPv4" ? 4 : options.family === "IPv6" ? 6 : options.family ?? 0;
    if (![0, 4, 6].includes(family)) throw errors.argValue("options.family", family, "must be one of: 0, 4, 6");
    if (options.all !== undefined && typeof options.all !== "boolean") throw errors.argType("options.all", "of type boolean", options.all);
    return { ...options, family };
  };
  const addresses = async (name, { family }) => {
    const found = [];
    let failed;
    for (const [n, type] of [[4, "A"], [6, "AAAA"]]) {
      if (family !== 0 && family !== n) continue;
      try { for (const a of await query(type, name)) found.push({ address: a.data, family: n }); } catch (error) { failed ??= error; }
    }
    if (found.length === 0) throw failed;
    return found;
  };
  const lookup = async (name, options) => {
    if (name) errors.string(name, "hostname");
    options = lookupOptions(options);
    if (!name) return options.all ? [] : { address: null, family: options.family === 6 ? 6 : 4 };
    const n = isIP(name), found = n ? [{ address: name, family: n }] : await addresses(name, options);
    return options.all ? found : found[0];
  };

  let order = "verbatim";
  const refuse = (name) => native.require("internal/missing")(`dns.${name}`);
  const shared = {
    getServers: () => ["1.1.1.1", "2606:4700:4700::1111", "1.0.0.1", "2606:4700:4700::1001"],
    setServers: refuse("setServers"),
  };
  const orders = {
    getDefaultResultOrder: () => order,
    setDefaultResultOrder(value) {
      if (!["verbatim", "ipv4first", "ipv6first"].includes(value)) throw errors.argValue("dnsOrder", value, "must be one of: 'verbatim', 'ipv4first', 'ipv6first'");
      order = value;
    },
  };
  const promised = {
    resolve: async (name, type = "A", options) => records(typeOf(type), name, options),
    reverse: async (ip) => {
      errors.string(ip, "name");
      if (!isIP(ip)) throw failure("PTR", ip, "EBADQUERY");
      return (await query("PTR", reverseName(ip))).map((a) => bare(a.data));
    },
  };
  for (const type of p.ObjectKeys(methods)) promised[methods[type]] = async (name, options) => records(type, name, options);
  // A promise's outcome as (error, ...values).
  const told = (promise, callback, values = (v) => [v]) => {
    promise.then((v) => native.nextTick(callback, null, ...values(v)), (error) => native.nextTick(callback, error));
  };
  const last = (args) => {
    const callback = args.pop();
    errors.func(callback, "last argument");
    return callback;
  };
  const called = {
    resolve(name, ...args) {
      const callback = last(args), type = typeOf(args[0] ?? "A");
      errors.string(name, "name");
      told(records(type, name), callback);
    },
    reverse(ip, ...args) { told(promised.reverse(ip), last(args)); },
  };
  for (const name of p.ObjectKeys(promised)) called[name] ??= (...args) => { const callback = last(args); errors.string(args[0], "name"); told(promised[name](...args), callback); };

  const resolverClass = (list) => {
    class Resolver {
      cancel() { throw errors.refused("dns.Resolver.cancel"); }
      setLocalAddress() { throw errors.refused("dns.Resolver.setLocalAddress"); }
    }
    native.methods(Resolver.prototype, { ...list, ...shared });
    return Resolver;
  };
  const service = async (address, port) => {
    if (!isIP(address)) throw errors.argValue("address", address);
    if (!(port >= 0 && port < 65536)) throw errors.make("RangeError", "ERR_SOCKET_BAD_PORT", `Port should be >= 0 and < 65536. Received ${errors.received(port)}.`);
    throw failure("PTR", address, "ENOTIMP");
  };

  const promises = { ...constants, ...orders, ...shared, ...promised, lookup, lookupService: service, Resolver: resolverClass(promised) };
  return {
    ...constants, ...orders, ...shared, ...called, promises, Resolver: resolverClass(called),
    lookup(name, options, callback) {
      if (typeof options === "function") { callback = options; options = undefined; }
      errors.func(callback, "callback");
      if (name) errors.string(name, "hostname");
      const o = lookupOptions(options);
      told(lookup(name, options), callback, (v) => (o.all ? [v] : [v.address, v.family]));
    },
    lookupService(address, port, callback) {
      errors.func(callback, "callback");
      told(service(address, port), callback, (v) => [v.hostname, v.service]);
    },
  };
}
