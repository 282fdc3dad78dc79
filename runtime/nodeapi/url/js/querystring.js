// node:querystring (nodejs.org/api/querystring.html).
function (native, p) {
  "use strict";
  const primitive = (v) => {
    if (typeof v === "string") return v;
    if (typeof v === "number") return p.Number.isFinite(v) ? `${v}` : "";
    return typeof v === "bigint" || typeof v === "boolean" ? `${v}` : "";
  };
  const qs = {
    escape: (s) => native.escape(typeof s === "string" ? s : typeof s === "object" ? String(s) : `${s}`),
    unescape: (s) => native.unescape(`${s}`),
    unescapeBuffer: (s) => native.unescapeBuffer(`${s}`),
    stringify(object, sep, eq, options) {
      sep ||= "&";
      eq ||= "=";
      const encode = typeof options?.encodeURIComponent === "function" ? options.encodeURIComponent : qs.escape;
      if (object === null || typeof object !== "object") return "";
      const out = [];
      for (const key of p.ObjectKeys(object)) {
        const k = encode(primitive(key)) + eq, v = object[key];
        if (p.ArrayIsArray(v)) for (const item of v) out.push(k + encode(primitive(item)));
        else out.push(k + encode(primitive(v)));
      }
      return out.join(sep);
    },
    parse(text, sep, eq, options) {
      const out = { __proto__: null };
      if (typeof text !== "string" || text.length === 0) return out;
      sep = sep ? `${sep}` : "&";
      eq = eq ? `${eq}` : "=";
      let max = typeof options?.maxKeys === "number" ? options.maxKeys : 1000;
      if (max <= 0) max = Infinity;
      const own = typeof options?.decodeURIComponent === "function" ? options.decodeURIComponent : undefined;
      const decode = (s) => {
        s = s.replaceAll("+", " ");
        if (own === undefined) return qs.unescape(s);
        try { return own(s); } catch { return native.unescape(s); }
      };
      for (const pair of text.split(sep)) {
        if (pair === "") continue;
        if (max-- <= 0) break;
        const i = pair.indexOf(eq);
        const key = decode(i < 0 ? pair : pair.slice(0, i)), value = i < 0 ? "" : decode(pair.slice(i + eq.length));
        if (out[key] === undefined) out[key] = value;
        else if (p.ArrayIsArray(out[key])) out[key].push(value);
        else out[key] = [out[key], value];
      }
      return out;
    },
  };
  qs.encode = qs.stringify;
  qs.decode = qs.parse;
  return qs;
}
