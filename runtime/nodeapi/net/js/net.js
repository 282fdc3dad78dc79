// node:net without its sockets, which are in net_socket.js: addresses, block lists
// and the form of arguments
// (nodejs.org/api/net.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const inspect = Symbol.for("nodejs.util.inspect.custom");
  const isIPv4 = (s) => native.family(`${s}`) === 4, isIPv6 = (s) => native.family(`${s}`) === 6;

  const familyOf = (family, name) => {
    errors.string(family, name);
    const known = family.toLowerCase();
    if (known !== "ipv4" && known !== "ipv6") throw errors.argValue(name, family, "must be one of: 'ipv4', 'ipv6'");
    return known;
  };

  class SocketAddress {
    #value;
    constructor(options = {}) {
      if (options === null || typeof options !== "object") throw errors.argType("options", "of type object", options);
      const family = familyOf(options.family ?? "ipv4", "options.family"), v6 = family === "ipv6";
      const { address = v6 ? "::" : "127.0.0.1", port = 0, flowlabel = 0 } = options;
      errors.string(address, "options.address");
      if (!/^\d+$/.test(`${port}`) || port > 65535) {
        throw errors.make("Error", "ERR_SOCKET_BAD_PORT", `options.port should be >= 0 and < 65536. Received ${typeof port}.`);
      }
      if (typeof flowlabel !== "number") throw errors.argType("options.flowlabel", "of type number", flowlabel);
      if (flowlabel % 1 !== 0) throw errors.range("options.flowlabel", "an integer", flowlabel);
      if (flowlabel < 0 || flowlabel > 4294967295) throw errors.range("options.flowlabel", ">= 0 && < 4294967296", flowlabel);
      if (native.family(address) !== (v6 ? 6 : 4)) throw errors.make("TypeError", "ERR_INVALID_ADDRESS", "Invalid socket address");
      this.#value = { address: native.canonical(address), port: p.Number(port), family, flowlabel: v6 ? flowlabel : 0 };
    }
    get address() { return this.#value.address; }
    get port() { return this.#value.port; }
    get family() { return this.#value.family; }
    get flowlabel() { return this.#value.flowlabel; }
    toJSON() { return { ...this.#value }; }
    [inspect](depth, options) { return depth < 0 ? this : `SocketAddress ${native.require("util").inspect(this.toJSON(), options)}`; }
    static isSocketAddress(value) { return value !== null && typeof value === "object" && #value in value; }
    static parse(input) {
      errors.string(input, "input");
      let url;
      try { url = new URL(`http://${input}`); } catch { return undefined; }
      const v6 = url.hostname.startsWith("["), address = v6 ? url.hostname.slice(1, -1) : url.hostname;
      if (native.family(address) === 0) return undefined;
      return new SocketAddress({ address, port: url.port || 0, family: v6 ? "ipv6" : "ipv4" });
    }
  }

  // An address of a BlockList: [text, family].
  const addressOf = (address, family, name) => {
    if (SocketAddress.isSocketAddress(address)) return [address.address, address.family];
    errors.string(address, name);
    family = familyOf(family, "family");
    if (native.family(address) !== (family === "ipv6" ? 6 : 4)) {
      throw errors.make("TypeError", "ERR_INVALID_IP_ADDRESS", `Invalid IP address: Invalid IPv${family[3]} address`);
    }
    return [address, family];
  };
  const label = { ipv4: "IPv4", ipv6: "IPv6" };

  class BlockList {
    #rules = []; // {text, matches(address)}
    addAddress(address, family = "ipv4") {
      const [a, f] = addressOf(address, family, "address");
      this.#rules.push({ text: `Address: ${label[f]} ${a}`, matches: (x) => native.compare(x, a) === 0 });
    }
    addRange(start, end, family = "ipv4") {
      const [a, f] = addressOf(start, family, "start"), [b] = addressOf(end, family, "end");
      if (native.compare(a, b) > 0) throw errors.argValue("start", start, "must come before end");
      this.#rules.push({ text: `Range: ${label[f]} ${a}-${b}`, matches: (x) => native.compare(a, x) <= 0 && native.compare(x, b) <= 0 });
    }
    addSubnet(network, prefix, family = "ipv4") {
      const [a, f] = addressOf(network, family, "network"), bits = f === "ipv6" ? 128 : 32;
      if (typeof prefix !== "number") throw errors.argType("prefix", "of type number", prefix);
      if (prefix % 1 !== 0) throw errors.range("prefix", "an integer", prefix);
      if (prefix < 0 || prefix > bits) throw errors.range("prefix", `between 0 and ${bits}`, prefix);
      this.#rules.push({ text: `Subnet: ${label[f]} ${a}/${prefix}`, matches: (x) => native.within(x, a, prefix) });
    }
    check(address, family = "ipv4") {
      if (!SocketAddress.isSocketAddress(address)) {
        errors.string(address, "address");
        if (native.family(address) !== (familyOf(family, "family") === "ipv6" ? 6 : 4)) return false;
      }
      const text = address.address ?? address;
      return this.#rules.some((rule) => rule.matches(text));
    }
    get rules() { return this.#rules.map((rule) => rule.text); }
    toJSON() { return this.rules; }
    fromJSON(data) {
      if (typeof data === "string") data = p.JSONParse(data);
      if (!p.ArrayIsArray(data)) throw errors.argType("data", "an instance of Array", data);
      for (const text of data) {
        const [, kind, family, from, , to] = /^(Address|Range|Subnet): (IPv[46]) ([^-/]+)(([-/])(.+))?$/.exec(text)?.toSpliced(5, 1) ?? [];
        if (kind === "Address") this.addAddress(from, family);
        else if (kind === "Range") this.addRange(from, to, family);
        else if (kind === "Subnet") this.addSubnet(from, p.Number(to), family);
      }
    }
    [inspect](depth, options) { return depth < 0 ? this : `BlockList ${native.require("util").inspect({ rules: this.rules }, options)}`; }
    static isBlockList(value) { return value !== null && typeof value === "object" && #rules in value; }
  }

  let timeout = 10, autoSelect = false;
  const net = {
    isIP: (s) => native.family(`${s}`), isIPv4, isIPv6, SocketAddress, BlockList,
    getDefaultAutoSelectFamily: () => autoSelect,
    setDefaultAutoSelectFamily(value) {
      if (typeof value !== "boolean") throw errors.argValue("val", value);
      autoSelect = value;
    },
    getDefaultAutoSelectFamilyAttemptTimeout: () => timeout,
    setDefaultAutoSelectFamilyAttemptTimeout(value) {
      errors.integer(value, "val", 1, 2147483647);
      timeout = p.MathMax(value, 10);
    },
    // The arguments of connect and listen: [options, callback].
    _normalizeArgs(args) {
      const first = args[0], last = args[args.length - 1];
      let options = {};
      if (typeof first === "object" && first !== null) options = first;
      else if (typeof first === "string" && !(p.Number(first) >= 0)) options = { path: first };
      else if (args.length > 0) {
        options = { port: first };
        if (typeof args[1] === "string") options.host = args[1];
      }
      return [options, typeof last === "function" ? last : null];
    },
  };
  for (const [name, from] of [["Socket", "Socket"], ["Stream", "Socket"], ["connect", "connect"], ["createConnection", "connect"]]) {
    native.lazy(net, name, () => native.require("internal/net_socket")[from]);
  }
  return net;
}
