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

  const escapes = { __proto__: null, "\t": "%09", "\n": "%0A", "\r": "%0D", " ": "%20", '"': "%22", "'": "%27", "<": "%3C", ">": "%3E", "\\": "%5C", "^": "%5E", "`": "%60", "{": "%7B", "|": "%7C", "}": "%7D" };
  const unwise = /[\t\n\r "'<>\\^`{|}]/g;

  Url.prototype.parse = function (text, parseQuery, slashesDenoteHost) {
    errors.string(text, "url");
    let rest = text.trim();
    // Backslashes before the query are slashes, as browsers have it.
    const q = rest.search(/[?#]/);
    rest = q < 0 ? rest.replaceAll("\\", "/") : rest.slice(0, q).replaceAll("\\", "/") + rest.slice(q);
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
      if (slashes && !(lower && hostless.has(lower))) {
        rest = rest.slice(2);
        this.slashes = true;
      }
    }
    if (!hostless.has(lower) && (slashes || proto && !slashed.has(lower))) rest = this.authority(rest, text);
    if (!hostless.has(lower)) rest = rest.replace(unwise, (c) => escapes[c]);
    const hash = rest.indexOf("#");
    if (hash >= 0) { this.hash = rest.slice(hash); rest = rest.slice(0, hash); }
    const query = rest.indexOf("?");
    if (query >= 0) {
      this.search = rest.slice(query);
      this.query = parseQuery ? qs().parse(rest.slice(query + 1)) : rest.slice(query + 1);
      rest = rest.slice(0, query);
    } else if (parseQuery) {
      this.search = null;
      this.query = { __proto__: null };
    }
    if (rest) this.pathname = rest;
    if (slashed.has(lower) && this.hostname && !this.pathname) this.pathname = "/";
    if (this.pathname || this.search) this.path = (this.pathname ?? "") + (this.search ?? "");
    this.href = this.format();
    return this;
  };

  // authority takes user, host and port off the front.
  Url.prototype.authority = function (rest, text) {
    let end = rest.search(/[/?#]/);
    if (end < 0) end = rest.length;
    let host = rest.slice(0, end);
    const after = rest.slice(end);
    const at = host.lastIndexOf("@");
    if (at >= 0) {
      this.auth = native.decodeComponent(host.slice(0, at));
      host = host.slice(at + 1);
    }
    const stop = host.search(/[\t\n\r "%'<>\\^`{|}]/);
    let tail = "";
    if (stop >= 0) { tail = `/${host.slice(stop)}`; host = host.slice(0, stop); }
    const port = /:(\d*)$/.exec(host);
    if (port) {
      if (port[1] !== "") this.port = port[1];
      host = host.slice(0, host.length - port[0].length);
    }
    const v6 = host.startsWith("[") && host.endsWith("]");
    if (host.length > 255) host = "";
    if (!v6 && host !== "") {
      host = host.toLowerCase();
      if (/[^\0-\x7f]/.test(host)) host = native.require("punycode").toASCII(host);
      if (/[:\s#?@/[\]]/.test(host)) throw errors.make("TypeError", "ERR_INVALID_URL", "Invalid URL");
    }
    this.hostname = v6 ? host.slice(1, -1) : host;
    this.host = host + (this.port !== null ? `:${this.port}` : "");
    return tail + after;
  };

  Url.prototype.format = function () {
    const auth = this.auth ? `${p.String(native.encodeAuth(this.auth))}@` : "";
    let protocol = this.protocol ?? "", pathname = this.pathname ?? "", hash = this.hash ?? "", host = "";
    if (this.host) host = auth + this.host;
    else if (this.hostname) {
      host = auth + (this.hostname.includes(":") && !this.hostname.startsWith("[") ? `[${this.hostname}]` : this.hostname);
      if (this.port) host += `:${this.port}`;
    }
    let query = "";
    if (this.query !== null && typeof this.query === "object") query = qs().stringify(this.query);
    let search = this.search ?? (query && `?${query}`) ?? "";
    if (protocol && !protocol.endsWith(":")) protocol += ":";
    pathname = pathname.replace(/[?#]/g, (c) => (c === "?" ? "%3F" : "%23"));
    if (this.slashes || (!protocol || slashed.has(protocol)) && host !== "") {
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

  Url.prototype.resolve = function (relative) { return this.resolveObject(parse(relative, false, true)).format(); };
  Url.prototype.resolveObject = function (relative) {
    if (typeof relative === "string") relative = parse(relative, false, true);
    const out = p.ObjectAssign(new Url(), this);
    out.hash = relative.hash;
    if (relative.href === "") { out.href = out.format(); return out; }
    if (relative.protocol && relative.protocol !== out.protocol || relative.slashes && !relative.protocol) {
      for (const k of p.ObjectKeys(relative)) if (k !== "protocol" || relative.protocol) out[k] = relative[k];
      if (out.hostname && !out.pathname && slashed.has(out.protocol)) out.path = out.pathname = "/";
      if (out.pathname?.startsWith("/") && slashed.has(out.protocol)) out.pathname = dots(out.pathname);
      out.href = out.format();
      return out;
    }
    if (relative.host) {
      out.host = relative.host; out.hostname = relative.hostname; out.port = relative.port; out.auth = relative.auth;
      out.pathname = dots(relative.pathname ?? "/");
      out.search = relative.search; out.query = relative.query;
    } else if (relative.pathname) {
      const base = out.pathname ?? (out.host ? "/" : "");
      out.pathname = relative.pathname.startsWith("/") ? dots(relative.pathname) : dots(base.slice(0, base.lastIndexOf("/") + 1) + relative.pathname);
      out.search = relative.search; out.query = relative.query;
    } else if (relative.search !== null) {
      out.search = relative.search; out.query = relative.query;
    }
    if (out.pathname !== null || out.search !== null) out.path = (out.pathname ?? "") + (out.search ?? "");
    out.slashes ||= relative.slashes;
    out.href = out.format();
    return out;
  };
  const dots = (path, rooted = path.startsWith("/")) => {
    const out = [], parts = path.split("/");
    const trailing = /(^|\/)\.{0,2}$/.test(path);
    for (const part of parts) {
      if (part === "." || part === "" && out.length === 0) continue;
      if (part === "..") {
        if (out.length > 0 && out[out.length - 1] !== "..") out.pop(); else if (!rooted) out.push("..");
      } else {
        out.push(part);
      }
    }
    if (trailing && out[out.length - 1] !== "") out.push("");
    const joined = out.join("/");
    return rooted ? `/${joined}` : joined;
  };

  const formatURL = (url, options = {}) => {
    const copy = new globalThis.URL(url.href);
    if (options.fragment === false) copy.hash = "";
    if (options.search === false) copy.search = "";
    let href = copy.href;
    if (options.auth === false) { copy.username = ""; copy.password = ""; href = copy.href; }
    if (options.unicode) href = href.replace(copy.hostname, native.domain(copy.hostname, false));
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
    errors.string(path, "path");
    const flavour = options?.windows ? native.require("path").win32 : native.require("path").posix;
    let full = flavour.resolve(path);
    if ((path.endsWith("/") || options?.windows && path.endsWith("\\")) && !full.endsWith(flavour.sep)) full += flavour.sep;
    if (options?.windows) full = `/${full.replaceAll("\\", "/")}`;
    const escaped = full.replace(/[%\\\n\r\t?#]/g, (c) => ({ "%": "%25", "\\": "%5C", "\n": "%0A", "\r": "%0D", "\t": "%09", "?": "%3F", "#": "%23" })[c]);
    return new globalThis.URL(`file://${escaped}`);
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
    domainToASCII: (name) => native.domain(`${name}`, true),
    domainToUnicode: (name) => native.domain(`${name}`, false),
    urlToHttpOptions(url) {
      const out = { __proto__: null, ...url, protocol: url.protocol, hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
        hash: url.hash, search: url.search, pathname: url.pathname, path: `${url.pathname || ""}${url.search || ""}`, href: url.href };
      if (url.port !== "") out.port = p.Number(url.port);
      if (url.username || url.password) out.auth = `${native.decodeComponent(url.username)}:${native.decodeComponent(url.password)}`;
      return out;
    },
  };
  for (const name of ["URL", "URLSearchParams", "URLPattern"]) native.lazy(exports, name, () => globalThis[name]);
  return exports;
}
