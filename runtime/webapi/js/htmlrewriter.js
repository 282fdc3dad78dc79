// HTMLRewriter: what content handlers see and do (Cloudflare's documentation of
// HTMLRewriter; workerd's api/html-rewriter.h). The document comes as tokens.
function (native, p) {
  "use strict";
  const { TypeError, ObjectDefineProperty: define, ReflectApply: apply } = p;
  const EXPIRED = "This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.";
  const START = 2, END = 3, TEXT = 1, COMMENT = 5, DOCTYPE = 6;

  // A piece of content to insert is text that is written already, or a promise.
  const content = (v, options, method) => {
    const html = !!(options && options.html);
    if (native.isBodySource(v)) return native.textOf(v).then((s) => html ? s : native.escape(s));
    const s = `${v}`;
    return html ? s : native.escape(s);
  };
  const check = (x) => { if (!x || x.done) throw new TypeError(EXPIRED); return x; };
  // A mutation of one token: what comes before and after it, and in its place.
  const fresh = (token) => ({ token, done: false, removed: false, before: [], after: [], instead: [] });
  const push = (list, v) => { list[list.length] = v; };

  class Token {
    #x;
    constructor(x, key) { if (key !== KEY) throw new TypeError("Illegal constructor"); this.#x = x; }
    static of(o) { return check(o.#x); }
    static has(o) { return #x in o; }
  }
  const KEY = {};
  const of = (o) => { if (typeof o !== "object" || o === null || !Token.has(o)) throw new TypeError("Illegal invocation"); return Token.of(o); };
  // before, after, replace and remove, as elements, comments and texts have them.
  const mutators = {
    before(v, options) { push(of(this).before, content(v, options)); return this; },
    after(v, options) { const x = of(this); x.after = [content(v, options), ...x.after]; return this; },
    replace(v, options) { const x = of(this); x.instead = [content(v, options)]; gone(x); return this; },
    remove() { gone(of(this)); return this; },
    get removed() { return of(this).removed; },
  };
  const gone = (x) => { x.removed = true; if (x.element) x.inner = []; };
  const make = (proto) => (x) => { const o = new Token(x, KEY); p.ReflectSetPrototypeOf(o, proto); return o; };
  const shape = (tag, members, ...parts) => {
    const proto = p.ObjectCreate({}, {});
    for (const part of [...parts, members]) p.ObjectDefineProperties(proto, p.ObjectGetOwnPropertyDescriptors(part));
    define(proto, p.SymbolToStringTag, { __proto__: null, value: tag, configurable: true });
    return make(proto);
  };

  const attribute = (x, name) => { name = native.lower(`${name}`); return x.attrs.find((a) => a.name === name); };
  const element = shape("Element", {
    get tagName() { return of(this).name; },
    set tagName(v) { const x = of(this); x.name = `${v}`; x.changed = true; },
    get attributes() { return of(this).attrs.map((a) => [a.name, a.value]).values(); },
    get namespaceURI() { of(this); return "http://www.w3.org/1999/xhtml"; },
    getAttribute(name) { const a = attribute(of(this), name); return a ? a.value : null; },
    hasAttribute(name) { return attribute(of(this), name) !== undefined; },
    setAttribute(name, value) {
      const x = of(this), a = attribute(x, name);
      name = native.lower(`${name}`);
      if (!native.isAttributeName(name)) throw new TypeError(`"${name}" is no name of an attribute.`);
      value = `${value}`;
      x.changed = true;
      if (a) { a.value = value; a.raw = undefined; } else push(x.attrs, { name, value, raw: undefined });
      return this;
    },
    removeAttribute(name) { const x = of(this), a = attribute(x, name); if (a) { x.attrs = x.attrs.filter((b) => b !== a); x.changed = true; } return this; },
    prepend(v, options) { const x = of(this); x.prepend = [content(v, options), ...x.prepend]; return this; },
    append(v, options) { push(of(this).append, content(v, options)); return this; },
    setInnerContent(v, options) { const x = of(this); x.inner = [content(v, options)]; x.prepend = []; x.append = []; return this; },
    removeAndKeepContent() { const x = of(this); x.removed = x.keep = true; return this; },
    onEndTag(fn) {
      const x = of(this);
      if (typeof fn !== "function") throw new TypeError("Failed to execute 'onEndTag' on 'Element': parameter 1 is not of type 'function'.");
      if (x.token.alone) throw new TypeError("Parser error: No end tag.");
      push(x.onEnd, fn);
    },
  }, mutators);
  const { before, after, remove } = mutators;
  const endTag = shape("EndTag", {
    get name() { return of(this).name; },
    set name(v) { const x = of(this); x.name = `${v}`; x.changed = true; },
  }, { before, after, remove });
  const comment = shape("Comment", {
    get text() { return of(this).text; },
    set text(v) { const x = of(this); x.text = `${v}`; x.changed = true; },
  }, mutators);
  const text = shape("Text", {
    get text() { return of(this).text; },
    get lastInTextNode() { return of(this).last; },
  }, mutators);
  const doctype = shape("Doctype", {
    get name() { return of(this).token.name || null; },
    get publicId() { return of(this).token.publicId; },
    get systemId() { return of(this).token.systemId; },
  });
  const documentEnd = shape("DocumentEnd", { append(v, options) { push(of(this).append, content(v, options)); return this; } });

  const startTag = (x) => {
    if (!x.changed) return x.token.raw;
    let s = "<" + x.name;
    for (const a of x.attrs) s = s.concat(" ", a.raw === undefined ? `${a.name}="${native.quote(a.value)}"` : a.raw);
    return s + (x.token.selfClosing ? " />" : ">");
  };

  // rewrite walks over the tokens; write gets what there is to write, in order,
  // and gives a promise when it wants to be waited for.
  const rewrite = async (tokens, elementHandlers, documentHandlers, write) => {
    const open = new p.Map(); // by the index of the start tag
    let hidden = 0;
    const put = async (list) => { for (const v of list) { const s = await v; if (hidden === 0 && s !== "") await write(s); } };
    const run = async (x, object, handlers, name) => {
      for (const h of handlers) {
        const fn = h[name];
        if (fn === undefined) continue;
        if (x.removed && name !== "element") break;
        await apply(fn, h, [object]);
      }
      x.done = true;
    };
    const concerned = (token) => [...documentHandlers, ...token.matches.map((i) => elementHandlers[i])];
    const simple = async (x, raw) => {
      await put(x.before);
      await put(x.removed ? x.instead : [raw()]);
      await put(x.after);
    };
    const finish = async (x, endRaw) => {
      const y = { ...fresh(undefined), name: x.name, changed: x.changed && x.name !== x.token.name };
      if (x.onEnd.length) {
        const object = endTag(y);
        for (const fn of x.onEnd) await fn(object);
        y.done = true;
      }
      await put(x.append);
      if (x.hides) hidden--;
      await put(y.before);
      if (!(x.removed || y.removed)) await put([y.changed ? `</${y.name}>` : endRaw]);
      await put(y.after);
      await put(x.after);
    };
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i];
      switch (token.kind) {
        case START: {
          if (token.matches.length === 0) { await put([token.raw]); break; }
          const x = { ...fresh(token), element: true, name: native.lower(token.name), attrs: token.attrs.map((a) => ({ ...a })), changed: false, prepend: [], append: [], inner: undefined, onEnd: [], keep: false, hides: false };
          await run(x, element(x), token.matches.map((k) => elementHandlers[k]), "element");
          await put(x.before);
          await put(x.removed ? x.instead : [startTag(x)]);
          if (token.alone) { await put(x.after); break; }
          if (!x.removed || x.keep) { await put(x.prepend); await put(x.inner || []); }
          if (x.removed && !x.keep) x.append = [];
          open.set(i, x);
          if (x.inner || x.removed && !x.keep) { x.hides = true; const { append } = x; x.append = []; if (append.length) x.late = append; hidden++; }
          break;
        }
        case END: {
          const x = open.get(token.opener);
          for (const [k, inside] of [...open]) {
            if (token.opener < 0 || k <= token.opener) continue;
            open.delete(k); // an element that ends with one around it has no end tag
            if (inside.hides) hidden--;
            await put(inside.append);
            await put(inside.after);
          }
          if (!x) { await put([token.raw]); break; }
          open.delete(token.opener);
          if (x.late) { hidden--; x.hides = false; await put(x.late); }
          await finish(x, token.raw);
          break;
        }
        case TEXT: {
          const handlers = concerned(token);
          if (!handlers.some((h) => h.text !== undefined)) { await put([token.raw]); break; }
          const next = tokens[i + 1];
          const parts = [[token.raw, false]];
          if (!next || next.kind !== TEXT) push(parts, ["", true]);
          for (const [s, last] of parts) {
            const x = { ...fresh(token), text: s, last };
            await run(x, text(x), handlers, "text");
            await simple(x, () => s);
          }
          break;
        }
        case COMMENT: {
          const x = { ...fresh(token), text: token.text, changed: false };
          await run(x, comment(x), concerned(token), "comments");
          await simple(x, () => x.changed ? `<!--${x.text}-->` : token.raw);
          break;
        }
        case DOCTYPE: {
          const x = fresh(token);
          await run(x, doctype(x), documentHandlers, "doctype");
          await put([token.raw]);
          break;
        }
        default: await put([token.raw]);
      }
    }
    const x = { ...fresh(undefined), append: [] };
    await run(x, documentEnd(x), documentHandlers, "end");
    hidden = 0;
    for (const [, left] of [...open]) { await put(left.append); await put(left.after); }
    await put(x.append);
  };
  // A stream of what becomes of a document, whose tokens are promised.
  return (tokens, elementHandlers, documentHandlers) => new native.ReadableStream({
    type: "bytes",
    async start(c) {
      try {
        await rewrite(await tokens, elementHandlers, documentHandlers, (s) => c.enqueue(native.encode(s)));
        c.close();
      } catch (e) { c.error(e); }
    },
  });
}
