// node:url (nodejs.org/api/url.html). The WHATWG classes are the platform's;
// here stand the legacy API and file paths.
function (native, p) {
  "use strict";
  const { errors } = native;
  const slashed = new p.Set(["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"]);
  const hostless = new p.Set(["javascript", "javascript:"]);
  const qs = () => native.require("querystring");

  function Url() {
    for (const k of ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path", "href"]) this[k] = null;
  }

  const escapes = { __proto__: null, "\t": "%09", "\n": "%0A", "\r": "%0D", " ": "%20", '"': "%22", "'": "%27", "<": "%3C", ">": "%3E", "\\": "%5C", "^": "%5E", "`": "%60", "{": "%7B", "|": "%7C", "~": "%7E", "}": "%7D" };
  const unwise = /[\t\n\r "'<>\\^`{|}]/g;

  const invalid = () => errors.make("Error", "ERR_INVALID_URL", "Invalid URL");
  const isV6 = (host) => host.startsWith("[") && host.endsWith("]");

  Url.prototype.parse = function parse(text, parseQuery, slashesDenoteHost) {
    errors.string(text, "url");
    let rest = text.trim();
    // Backslashes before the query are slashes, as browsers have it.
    const q = rest.search(/[?#]/);
    rest = q < 0 ? rest.replaceAll("\\", "/") : rest.slice(0, q).replaceAll("\\", "/") + rest.slice(q);
    const plain = !slashesDenoteHost && !/[#@]/.test(rest) && /^(\/\/?(?!\/)[^?\s]*)(\?\S*)?$/.exec(rest);
    if (plain) {
      this.path = this.href = rest;
      this.pathname = plain[1];
      takeSearch(this, plain[2] ?? "", parseQuery);
      return this;
    }
    let lower = "";
    const proto = /^[a-z0-9.+-]+:/i.exec(rest);
    if (proto) {
      lower = proto[0].toLowerCase();
      this.protocol = lower;
      rest = rest.slice(proto[0].length);
    }
    let slashes = false;
    if (slashesDenoteHost || proto || /^\/\/[^@/]+@[^@/]+/.test(rest)) {
      slashes = rest.startsWith("//");
      if (slashes && !hostless.has(lower)) {
        rest = rest.slice(2);
        this.slashes = true;
      }
    }
    if (!hostless.has(lower) && (slashes || proto && !slashed.has(proto[0]))) rest = takeAuthority(this, rest);
    if (!hostless.has(lower)) rest = rest.replace(unwise, (c) => escapes[c]);
    const hash = rest.indexOf("#");
    if (hash >= 0) { this.hash = rest.slice(hash); rest = rest.slice(0, hash); }
    const query = rest.indexOf("?");
    takeSearch(this, query < 0 ? "" : rest.slice(query), parseQuery);
    if (query >= 0) rest = rest.slice(0, query);
    if (rest) this.pathname = rest;
    if (slashed.has(lower) && this.hostname && !this.pathname) this.pathname = "/";
    setPath(this);
    this.href = this.format();
    return this;
  };
  const takeSearch = (url, search, parseQuery) => {
    if (search !== "") {
      url.search = search;
      url.query = parseQuery ? qs().parse(search.slice(1)) : search.slice(1);
    } else if (parseQuery) {
      url.query = { __proto__: null };
    }
  };
  const setPath = (url) => { if (url.pathname || url.search) url.path = (url.pathname ?? "") + (url.search ?? ""); };

  // takeAuthority takes user, host and port off the front.
  const takeAuthority = (url, rest) => {
    let end = rest.search(/[/?#]/);
    if (end < 0) end = rest.length;
    let host = rest.slice(0, end).replace(/[\t\n\r]/g, "");
    rest = rest.slice(end);
    const at = host.lastIndexOf("@");
    if (at >= 0) {
      url.auth = native.decodeComponent(host.slice(0, at));
      host = host.slice(at + 1);
    }
    const stop = host.search(/[ "%';<>\\^`{|}]/);
    if (stop >= 0) { rest = host.slice(stop) + rest; host = host.slice(0, stop); }
    url.host = host;
    url.parseHost();
    let name = url.hostname ??= "";
    const v6 = isV6(name);
    if (!v6) {
      const bad = name.search(/[/\\#?:]/);
      if (bad >= 0) { rest = `/${name.slice(bad)}${rest}`; name = name.slice(0, bad); }
    }
    name = name.length > 255 ? "" : name.toLowerCase();
    if (!v6 && name !== "") {
      if (/[^\0-\x7f]|xn--/.test(name)) name = native.domain(name, true);
      if (name === "" || /[\0\t\n\r #%/:<>?@[\\\]^|]/.test(name)) throw invalid();
    }
    url.host = name + (url.port ? `:${url.port}` : "");
    if (v6) {
      name = name.slice(1, -1);
      if (/[\0\t\n\r #%/<>?@\\^|]/.test(name)) throw invalid();
      if (!rest.startsWith("/")) rest = `/${rest}`;
    }
    url.hostname = name;
    return rest;
  };
  Url.prototype.parseHost = function parseHost() {
    let host = this.host;
    const port = /:\d*$/.exec(host)?.[0];
    if (port) {
      if (port !== ":") this.port = port.slice(1);
      host = host.slice(0, host.length - port.length);
    }
    if (host) this.hostname = host;
  };

  Url.prototype.format = function format() {
    const auth = this.auth ? `${p.String(native.encodeAuth(this.auth))}@` : "";
    let protocol = this.protocol || "", pathname = this.pathname || "", hash = this.hash || "", host = "";
    if (this.host) host = auth + this.host;
    else if (this.hostname) {
      host = auth + (this.hostname.includes(":") && !isV6(this.hostname) ? `[${this.hostname}]` : this.hostname);
      if (this.port) host += `:${this.port}`;
    }
    const query = this.query !== null && typeof this.query === "object" ? qs().stringify(this.query) : "";
    let search = this.search || (query && `?${query}`);
    if (protocol && !protocol.endsWith(":")) protocol += ":";
    pathname = pathname.replace(/[?#]/g, (c) => (c === "?" ? "%3F" : "%23"));
    if (this.slashes || slashed.has(protocol)) {
      if (this.slashes || host) {
        if (pathname && !pathname.startsWith("/")) pathname = `/${pathname}`;
        host = `//${host}`;
      } else if (protocol.startsWith("file")) {
        host = "//";
      }
    }
    search = search.replaceAll("#", "%23");
    if (hash && !hash.startsWith("#")) hash = `#${hash}`;
    if (search && !search.startsWith("?")) search = `?${search}`;
    return protocol + host + pathname + search + hash;
  };

  const parse = (url, parseQuery, slashesDenoteHost) => (url instanceof Url ? url : new Url().parse(url, parseQuery, slashesDenoteHost));

  Url.prototype.resolve = function resolve(relative) { return this.resolveObject(parse(relative, false, true)).format(); };
  Url.prototype.resolveObject = function resolveObject(relative) {
    if (typeof relative === "string") relative = parse(relative, false, true);
    const out = p.ObjectAssign(new Url(), this);
    out.hash = relative.hash;
    if (relative.href !== "") {
      if (relative.slashes && !relative.protocol) {
        for (const k of p.ObjectKeys(relative)) if (k !== "protocol") out[k] = relative[k];
        if (slashed.has(out.protocol) && out.hostname && !out.pathname) out.path = out.pathname = "/";
      } else if (relative.protocol && relative.protocol !== out.protocol) {
        moveTo(out, relative);
      } else {
        descend(out, relative);
      }
    }
    out.href = out.format();
    return out;
  };
  // moveTo makes of a URL one with the other protocol.
  const moveTo = (out, relative) => {
    if (!slashed.has(relative.protocol)) { p.ObjectAssign(out, relative); return; }
    let { host, pathname } = relative;
    if (!host && relative.protocol !== "file:" && !hostless.has(relative.protocol)) {
      const parts = (pathname || "").split("/");
      while (parts.length > 0 && !(host = parts.shift())) { /* the first part that is not empty is the host */ }
      if (parts[0] !== "") parts.unshift("");
      if (parts.length < 2) parts.unshift("");
      pathname = parts.join("/");
    }
    const { protocol, search, query, auth, port } = relative;
    p.ObjectAssign(out, { protocol, pathname, search, query, auth, port, host: host || "", hostname: relative.hostname || host, slashes: out.slashes || relative.slashes });
    setPath(out);
  };
  // In a URL whose protocol has no "//", the host stands as the path's first part.
  const hostToPath = (host, path) => { if (host) { if (path[0] === "") path[0] = host; else path.unshift(host); } };
  const pathToHost = (out, host) => {
    out.hostname = out.host = host;
    const at = host?.indexOf("@") ?? -1;
    if (at > 0) { out.auth = host.slice(0, at); out.host = out.hostname = host.split("@")[1]; }
  };
  // descend is the resolution of a path, with host or without, in the same protocol.
  const descend = (out, relative) => {
    const rooted = !!(relative.host || relative.pathname?.startsWith("/"));
    let absolute = !!(rooted || out.pathname?.startsWith("/") || out.host && relative.pathname);
    const keepsUps = !absolute, bare = out.protocol && !slashed.has(out.protocol);
    let path = out.pathname?.split("/") ?? [];
    const steps = relative.pathname?.split("/") ?? [];
    let { host, hostname, port } = relative;
    if (bare) {
      out.hostname = "";
      out.port = null;
      hostToPath(out.host, path);
      out.host = "";
      if (relative.protocol) {
        out.auth = null;
        hostToPath(host, steps);
        host = hostname = port = null;
      }
      absolute &&= steps[0] === "" || path[0] === "";
    }
    const takeSearchOf = () => { out.search = relative.search; out.query = relative.query; };
    if (rooted) {
      if (typeof host === "string") { if (out.host !== host) out.auth = null; out.host = host; out.port = port; }
      if (typeof hostname === "string") { if (out.hostname !== hostname) out.auth = null; out.hostname = hostname; }
      takeSearchOf();
      path = steps;
    } else if (steps.length > 0) {
      path.pop();
      path = path.concat(steps);
      takeSearchOf();
    } else if (relative.search !== null && relative.search !== undefined) {
      if (bare) pathToHost(out, path.shift());
      takeSearchOf();
      if (out.pathname !== null || out.search !== null) out.path = (out.pathname || "") + (out.search || "");
      return;
    }
    if (path.length === 0) {
      out.pathname = null;
      out.path = out.search ? `/${out.search}` : null;
      return;
    }
    path = withoutDots(path, !!(out.host || host), keepsUps, absolute);
    const fromRoot = path[0] === "" || path[0]?.startsWith("/");
    if (bare) pathToHost(out, fromRoot || path.length === 0 ? "" : path.shift());
    if ((absolute || out.host && path.length > 0) && !fromRoot) path.unshift("");
    out.pathname = path.length > 0 ? path.join("/") : null;
    if (path.length === 0) out.path = null;
    if (out.pathname !== null || out.search !== null) out.path = (out.pathname || "") + (out.search || "");
    out.auth = relative.auth || out.auth;
    out.slashes = out.slashes || relative.slashes;
  };
  const withoutDots = (path, hasHost, keepsUps, absolute) => {
    const last = path[path.length - 1], out = [];
    const trailing = last === "" || (hasHost || path.length > 1) && (last === "." || last === "..");
    let up = 0;
    for (let i = path.length - 1; i >= 0; i--) {
      if (path[i] === ".") continue;
      if (path[i] === "..") up++; else if (up > 0) up--; else out.unshift(path[i]);
    }
    if (keepsUps) for (; up > 0; up--) out.unshift("..");
    if (absolute && out[0] !== "" && !out[0]?.startsWith("/")) out.unshift("");
    if (trailing && !out.join("/").endsWith("/")) out.push("");
    return out;
  };

  const formatURL = (url, options) => {
    if (options !== undefined && options !== null) errors.object(options, "options");
    const copy = new globalThis.URL(url.href);
    const without = (name) => options?.[name] !== undefined && options[name] !== null && !options[name];
    if (without("fragment")) copy.hash = "";
    if (without("search")) copy.search = "";
    if (without("auth")) { copy.username = ""; copy.password = ""; }
    let href = copy.href;
    if (options?.unicode) href = href.replace(copy.hostname, native.domain(copy.hostname, false));
    return href;
  };

  const fileURLToPath = (value, options) => {
    let url = value;
    if (typeof value === "string") url = new globalThis.URL(value);
    else if (typeof value?.href !== "string" || typeof value.protocol !== "string") throw errors.argType("path", "of type string or an instance of URL", value);
    if (url.protocol !== "file:") throw errors.make("Error", "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    if (options?.windows) {
      let path = url.pathname.replaceAll("/", "\\");
      if (/%2f|%5c/i.test(path)) throw errors.make("Error", "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded \\ or / characters");
      path = native.decodeComponent(path);
      if (url.hostname !== "") return `\\\\${native.domain(url.hostname, false)}${path}`;
      if (!/^\\[a-z]:/i.test(path)) throw errors.make("Error", "ERR_INVALID_FILE_URL_PATH", "File URL path must be absolute");
      return path.slice(1);
    }
    if (url.hostname !== "") throw errors.make("Error", "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
    if (/%2f/i.test(url.pathname)) throw errors.make("Error", "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
    return native.decodeComponent(url.pathname);
  };
  const pathToFileURL = (path, options) => {
    errors.string(path, "filepath");
    if (options?.windows && path.startsWith("\\\\")) {
      const unc = path.startsWith("\\\\?\\UNC\\") ? `\\\\${path.slice(8)}` : path;
      if (!unc.startsWith("\\\\?\\")) {
        const cut = unc.indexOf("\\", 2);
        if (cut < 0) throw errors.argValue("path", path, "Missing UNC resource path");
        if (cut === 2) throw errors.argValue("path", path, "Empty UNC servername");
        const shared = new globalThis.URL("file:///");
        shared.hostname = native.domain(unc.slice(2, cut), true);
        shared.pathname = unc.slice(cut).replaceAll("\\", "/").replaceAll("%", "%25");
        return shared;
      }
      path = path.slice(4);
    }
    const flavour = options?.windows ? native.require("path").win32 : native.require("path").posix;
    let full = flavour.resolve(path);
    if ((path.endsWith("/") || options?.windows && path.endsWith("\\")) && !full.endsWith(flavour.sep)) full += flavour.sep;
    if (options?.windows) full = `${full.startsWith("\\") ? "" : "/"}${full.replaceAll("\\", "/")}`;
    const escaped = full.replace(options?.windows ? /[%\n\r\t?#|~]/g : /[%\\\n\r\t?#|~]/g, (c) => ({ "|": "%7C", "~": "%7E", "%": "%25", "\\": "%5C", "\n": "%0A", "\r": "%0D", "\t": "%09", "?": "%3F", "#": "%23" })[c]);
    return new globalThis.URL(`file://${escaped}`);
  };

  // hostOf is a domain as the host of a URL, or "" if it cannot be one.
  const hostOf = (given, domain) => {
    if (given < 1) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "domain" argument must be specified');
    try { return new globalThis.URL(`ws://${domain}`).hostname; } catch { return ""; }
  };

  const exports = {
    Url,
    parse,
    format(value, options) {
      if (typeof value === "string") value = parse(value);
      else if (typeof value !== "object" || value === null) throw errors.argType("urlObject", "one of type object or string", value);
      else if (typeof globalThis.URL === "function" && value instanceof globalThis.URL) return formatURL(value, options);
      return p.ReflectApply(Url.prototype.format, p.ObjectAssign(new Url(), value), []);
    },
    resolve: (from, to) => parse(from, false, true).resolve(to),
    resolveObject: (from, to) => (from ? parse(from, false, true).resolveObject(to) : to),
    fileURLToPath,
    toPathIfFileURL: (v) => (v instanceof globalThis.URL ? fileURLToPath(v) : v),
    pathToFileURL,
    domainToASCII(domain) { return hostOf(arguments.length, domain); },
    domainToUnicode(domain) { return native.domain(hostOf(arguments.length, domain), false); },
    urlToHttpOptions(url) {
      if (url === undefined || url === null) throw new p.TypeError(`Cannot destructure property 'hostname' of 'url' as it is ${url}.`);
      const out = { __proto__: null, ...url, protocol: url.protocol, hostname: url.hostname?.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
        hash: url.hash, search: url.search, pathname: url.pathname, path: `${url.pathname || ""}${url.search || ""}`, href: url.href };
      if (url.port !== "") out.port = p.Number(url.port);
      if (url.username || url.password) out.auth = `${native.decodeComponent(url.username)}:${native.decodeComponent(url.password)}`;
      return out;
    },
  };
  for (const name of ["URL", "URLSearchParams", "URLPattern"]) native.lazy(exports, name, () => globalThis[name]);
  return exports;
}
