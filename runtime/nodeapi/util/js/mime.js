// util.MIMEType (nodejs.org/api/util.html#class-utilmimetype; mimesniff.spec.whatwg.org).
function (native, p) {
  "use strict";
  const { errors } = native;
  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  const quotable = /^[\t\u0020-\u007E\u0080-\u00FF]*$/;
  // bad is the error of what does not fit a pattern: part begins at a place in text.
  const bad = (what, text, part, fits) => {
    const at = part === "" ? -1 : [...part].findIndex((c) => !fits.test(c));
    return errors.make("TypeError", "ERR_INVALID_MIME_SYNTAX", `The MIME syntax for a ${what} in "${text}" is invalid${at < 0 ? "" : ` at ${at}`}`);
  };
  const invalid = (what) => errors.make("TypeError", "", `Not a valid MIME ${what}`);
  const shown = (v) => (token.test(v) ? v : `"${v.replace(/["\\]/g, "\\$&")}"`);

  class MIMEParams {
    #map = new p.Map();
    delete(name) { this.#map.delete(`${name}`.toLowerCase()); }
    get(name) { return this.#map.get(`${name}`.toLowerCase()) ?? null; }
    has(name) { return this.#map.has(`${name}`); } // as it is written, in the reference
    set(name, value) {
      name = `${name}`.toLowerCase();
      value = `${value}`;
      if (!token.test(name)) throw bad("parameter name", name, name, token);
      if (!quotable.test(value)) throw bad("parameter value", value, value, quotable);
      this.#map.set(name, value);
    }
    entries() { return this.#map.entries(); }
    keys() { return this.#map.keys(); }
    values() { return this.#map.values(); }
    [p.SymbolIterator]() { return this.#map.entries(); }
    toString() { return [...this.#map].map(([k, v]) => `${k}=${shown(v)}`).join(";"); }
    toJSON() { return this.toString(); }
  }

  const params = (text) => {
    const out = new MIMEParams();
    let rest = text;
    while (rest !== "") {
      const m = /^;[\t\n\r ]*([^;=]*)(?:=(?:"((?:[^"\\]|\\.)*)"?[^;]*|([^;]*)))?/.exec(rest);
      if (m === null) break;
      rest = rest.slice(m[0].length);
      const name = m[1].toLowerCase(), quoted = m[2] !== undefined;
      const value = quoted ? m[2].replace(/\\(.)/g, "$1") : m[3]?.replace(/[\t\n\r ]+$/, "");
      if (value === undefined || !quoted && value === "" || !token.test(name) || !quotable.test(value) || out.has(name)) continue;
      out.set(name, value);
    }
    return out;
  };

  class MIMEType {
    #type; #subtype; #params;
    constructor(text) {
      text = `${text}`;
      const trimmed = text.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
      const m = /^([^/]*)\/([^;]*)(;.*)?$/s.exec(trimmed);
      const subtype = m?.[2].replace(/[\t\n\r ]+$/, "");
      if (m === null || !token.test(m[1]) || !token.test(subtype)) throw new p.TypeError(`Not a valid MIME type: ${text}`);
      this.#type = m[1].toLowerCase();
      this.#subtype = subtype.toLowerCase();
      this.#params = params(m[3] ?? "");
    }
    get type() { return this.#type; }
    set type(v) { if (!token.test(`${v}`)) throw invalid("type"); this.#type = `${v}`.toLowerCase(); }
    get subtype() { return this.#subtype; }
    set subtype(v) { if (!token.test(`${v}`)) throw invalid("subtype"); this.#subtype = `${v}`.toLowerCase(); }
    get essence() { return `${this.#type}/${this.#subtype}`; }
    get params() { return this.#params; }
    toString() {
      const list = this.#params.toString();
      return this.essence + (list === "" ? "" : `;${list}`);
    }
    toJSON() { return this.toString(); }
  }
  p.tag(MIMEParams, "MIMEParams");
  p.tag(MIMEType, "MIMEType");
  return { MIMEType, MIMEParams };
}
