// HTMLRewriter: what content handlers see and do (Cloudflare's documentation of
// HTMLRewriter; workerd's api/html-rewriter.h). A document comes as those tokens
// that handlers ask for; native `run` splits it and holds what is written.
function (native, p) {
  "use strict";
  const { TypeError, Error, ReflectApply: apply } = p;
  const EXPIRED = "This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.";
  const MODIFIED = "The attributes of this element have been modified during iteration. You must create a new iterator after modifying attributes.";
  const START = 2, END = 3, TEXT = 1, COMMENT = 5;
  const getReader = native.ReadableStream.prototype.getReader;
  const global = globalThis;

  const push = (list, v) => { list[list.length] = v; };
  const first = (list, v) => { for (let i = list.length; i > 0; i--) list[i] = list[i - 1]; list[0] = v; };
  const escaped = (s, what, by) => s.split(what).join(by);
  const escape = (s) => escaped(escaped(escaped(s, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
  const bad = (tag, method, n, type) => { throw new TypeError(`Failed to execute '${method}' on '${tag}': parameter ${n} is not of type '${type}'.`); };
  const parserError = (text) => { throw new TypeError("Parser error: " + text); };

  // A piece of content to insert is text that is written already, or a promise of it.
  const content = (args, tag, method) => {
    if (args.length === 0) bad(tag, method, 1, "string or JsReadableStream or Response");
    const [v, options] = args, source = native.isBodySource(v), s = source ? native.textOf(v) : `${v}`;
    if (source) s.then(undefined, () => {}); // it is awaited when its place comes
    if (options !== undefined && options !== null && typeof options !== "object" && typeof options !== "function") bad(tag, method, 2, "ContentOptions");
    const html = !!options?.html;
    return source ? s.then((text) => html ? text : escape(text)) : html ? s : escape(s);
  };
  // What handlers make of one token: what comes before and after it, and in its place.
  const mutations = () => ({ before: [], after: [], instead: [], removed: false });
  const remove = (m) => { m.removed = true; }; // what was put in its place stays

  const KEY = {};
  class Token {
    #x;
    constructor(x, key) { if (key !== KEY) throw new TypeError("Illegal constructor"); this.#x = x; }
    static of(o) { return o.#x; }
    static has(o) { return #x in o; }
  }
  const peek = (o) => { if (typeof o !== "object" || o === null || !Token.has(o)) throw new TypeError("Illegal invocation"); return Token.of(o); };
  const of = (o) => { const x = peek(o); if (x.done) throw new TypeError(EXPIRED); return x; };
  const attributes = { Element: ["namespaceURI", "removed", "attributes", "tagName"], Text: ["removed", "lastInTextNode", "text"], Comment: ["removed", "text"], Doctype: ["systemId", "publicId", "name"] };
  const shape = (tag, members) => {
    const C = ({ [tag]: class { constructor() { throw new TypeError("Illegal constructor"); } } })[tag], proto = C.prototype;
    const given = p.ObjectGetOwnPropertyDescriptors(members(tag)), ordered = {};
    for (const name of attributes[tag] ?? []) ordered[name] = given[name]; // first, as workerd has them
    p.ObjectDefineProperties(proto, p.ObjectAssign(ordered, given));
    p.tag(C, tag);
    return (x) => { const o = new Token(x, KEY); p.ReflectSetPrototypeOf(o, proto); return o; };
  };
  // before, after, replace and remove, as comments and texts have them; x.m is what they change.
  const mutators = (tag) => ({
    before(v) { const c = content(arguments, tag, "before"); push(of(this).m.before, c); return this; },
    after(v) { const c = content(arguments, tag, "after"); first(of(this).m.after, c); return this; },
    replace(v) { const c = content(arguments, tag, "replace"), { m } = of(this); remove(m); m.instead = [c]; return this; },
    remove() { remove(of(this).m); return this; },
    get removed() { return of(this).m.removed; },
  });

  const forbidden = (s, chars) => { for (const c of s) if (chars.includes(c)) return c; };
  const checkTagName = (s) => {
    if (s === "") parserError("Tag name can't be empty.");
    const lower = native.lower(s[0]);
    if (!(lower >= "a" && lower <= "z")) parserError("The first character of the tag name should be an ASCII alphabetical character.");
    const c = forbidden(s, " \n\r\t\f/>");
    if (c) parserError(`\`${c}\` character is forbidden in the tag name`);
    return s;
  };
  const checkAttributeName = (s) => {
    if (s === "") parserError("Attribute name can't be empty.");
    const c = forbidden(s, " \n\r\t\f/>=");
    if (c) parserError(`\`${c}\` character is forbidden in the attribute name`);
    return native.lower(s);
  };
  const attribute = (x, name) => { name = native.lower(`${name}`); return x.attrs.find((a) => a.name === name); };
  const named = (args, n, method) => { for (let i = 0; i < n; i++) if (args.length <= i) bad("Element", method, i + 1, "string"); };

  const iteratorProto = p.ObjectGetPrototypeOf(p.ObjectGetPrototypeOf([].values()));
  const attributesIterator = shape("AttributesIterator", () => ({
    next() {
      const x = peek(this);
      if (x.element.done) throw new TypeError(EXPIRED);
      if (x.version !== x.element.version) throw new Error(MODIFIED);
      const a = x.element.attrs[x.at++];
      return a ? { value: [a.name, a.value], done: false } : { value: undefined, done: true };
    },
  }));
  p.ReflectSetPrototypeOf(p.ObjectGetPrototypeOf(attributesIterator({})), iteratorProto);

  // x.m is of the start tag; x.end of the end tag that closes the element, once there is something for it.
  const endOf = (x) => x.end ??= mutations();
  const drop = (x) => { x.m.after = []; endOf(x).before = []; x.hides = true; };
  const gone = (x) => { remove(x.m); if (!x.alone) { drop(x); remove(x.end); } };
  const element = shape("Element", (tag) => ({
    get tagName() { return native.lower(of(this).name); },
    set tagName(v) { const x = of(this); x.name = checkTagName(`${v}`); x.changed = x.renamed = true; },
    get attributes() { const x = of(this); return attributesIterator({ element: x, version: x.version, at: 0 }); },
    get namespaceURI() { return of(this).space; },
    get removed() { const x = of(this); return x.m.removed || x.hidden; },
    getAttribute(name) { const x = of(this); named(arguments, 1, "getAttribute"); return attribute(x, name)?.value ?? null; },
    hasAttribute(name) { const x = of(this); named(arguments, 1, "hasAttribute"); return attribute(x, name) !== undefined; },
    setAttribute(name, value) {
      const x = of(this);
      named(arguments, 2, "setAttribute");
      name = `${name}`; value = `${value}`;
      name = checkAttributeName(name);
      const a = attribute(x, name);
      x.changed = true; x.version++;
      if (a) { a.value = value; a.raw = undefined; } else push(x.attrs, { name, value, raw: undefined });
      return this;
    },
    removeAttribute(name) {
      const x = of(this);
      named(arguments, 1, "removeAttribute");
      const a = attribute(x, name);
      x.version++;
      if (a) { x.attrs = x.attrs.filter((b) => b.name !== a.name); x.changed = true; }
      return this;
    },
    before(v) { const x = of(this); push(x.m.before, content(arguments, tag, "before")); return this; },
    after(v) { const x = of(this), c = content(arguments, tag, "after"); first((x.alone ? x.m : endOf(x)).after, c); return this; },
    prepend(v) { const x = of(this), c = content(arguments, tag, "prepend"); if (!x.alone) first(x.m.after, c); return this; },
    append(v) { const x = of(this), c = content(arguments, tag, "append"); if (!x.alone) push(endOf(x).before, c); return this; },
    setInnerContent(v) { const x = of(this), c = content(arguments, tag, "setInnerContent"); if (!x.alone) { drop(x); x.m.after = [c]; } return this; },
    replace(v) { const x = of(this), c = content(arguments, tag, "replace"); gone(x); x.m.instead = [c]; return this; },
    remove() { gone(of(this)); return this; },
    removeAndKeepContent() { const x = of(this); remove(x.m); if (!x.alone) remove(endOf(x)); return this; },
    onEndTag(fn) {
      const x = of(this);
      if (typeof fn !== "function") bad(tag, "onEndTag", 1, "function");
      if (x.alone) parserError("No end tag.");
      x.onEnd = fn;
    },
  }));
  const endTag = shape("EndTag", (tag) => {
    const { before, after, remove } = mutators(tag);
    return {
      get name() { return native.lower(of(this).name); },
      set name(v) { const x = of(this); x.name = checkTagName(`${v}`); x.changed = true; },
      before, after, remove,
    };
  });
  const mutable = (tag, members) => p.ObjectDefineProperties(members, p.ObjectGetOwnPropertyDescriptors(mutators(tag)));
  const comment = shape("Comment", (tag) => mutable(tag, {
    get text() { return of(this).text; },
    set text(v) {
      const x = of(this), s = `${v}`;
      if (s.includes("-->") || s.includes("--!>")) parserError("Comment text shouldn't contain a comment-closing sequence.");
      x.text = s; x.changed = true;
    },
  }));
  const text = shape("Text", (tag) => mutable(tag, {
    get text() { return of(this).text; },
    get lastInTextNode() { return of(this).last; },
  }));
  const doctype = shape("Doctype", () => ({
    get name() { return of(this).name || null; },
    get publicId() { return of(this).publicId; },
    get systemId() { return of(this).systemId; },
  }));
  const documentEnd = shape("DocumentEnd", (tag) => ({
    append(v) { const x = of(this); push(x.append, content(arguments, tag, "append")); return this; },
  }));

  const startTag = (x) => {
    let s = "<" + x.name;
    for (const a of x.attrs) s = s.concat(" ", a.raw === undefined ? `${a.name}="${escaped(a.value, '"', "&quot;")}"` : a.raw);
    return s + (!x.slash ? ">" : x.attrs.length ? " />" : "/>");
  };

  // rewrite walks over the tokens of a document; flush waits until there is
  // room for more, and more gives false when nothing more comes in.
  const rewrite = async (run, elements, documents, more, flush) => {
    const open = new p.Map(); // the elements that handlers have seen, by their ids
    let hidden = 0; // how many removed contents the token stands in
    const hide = (n) => { hidden += n; run.hide(n); };
    const call = async (x, object, handlers, name) => {
      for (const h of handlers) {
        if (h[name] === undefined) continue;
        const v = apply(h[name], h.self, [object]);
        if (v !== undefined && native.settles(v)) await v;
      }
      x.done = true;
    };
    const put = async (list) => { for (const v of list) run.write(typeof v === "string" ? v : await v); };
    const write = async (m, own) => {
      await put(m.before);
      if (m.removed) await put(m.instead); else own();
      await put(m.after);
    };
    const handle = async (token) => {
      const handlers = token.matches.map((i) => elements[i]);
      if (token.kind !== START) for (const h of documents) push(handlers, h);
      switch (token.kind) {
        case START: {
          const x = token;
          x.m = mutations(); x.version = 0; x.hidden = hidden > 0;
          await call(x, element(x), handlers, "element");
          await write(x.m, () => { if (x.changed) run.write(startTag(x)); else run.raw(); });
          if (x.alone) return;
          if (x.hides) hide(1);
          open.set(x.id, x);
          return;
        }
        case END: {
          const y = { name: token.name, m: mutations(), changed: false, done: false };
          for (const id of token.closes) {
            const x = open.get(id);
            open.delete(id);
            if (x.hides) hide(-1);
            if (x.renamed) { y.name = x.name; y.changed = true; }
            if (x.end) y.m = x.end;
            if (!x.onEnd) continue;
            y.done = false;
            const v = apply(x.onEnd, global, [endTag(y)]);
            if (v !== undefined && native.settles(v)) await v;
            y.done = true;
          }
          return write(y.m, () => { if (y.changed) run.write(`</${y.name}>`); else run.raw(); });
        }
        case TEXT:
          token.m = mutations();
          await call(token, text(token), handlers, "text");
          return write(token.m, () => run.write(token.text));
        case COMMENT:
          token.m = mutations();
          await call(token, comment(token), handlers, "comments");
          return write(token.m, () => { if (token.changed) run.write(`<!--${token.text}-->`); else run.raw(); });
        default:
          await call(token, doctype(token), documents, "doctype");
          run.raw();
      }
    };
    for (let on = true; on;) {
      on = await more();
      for (let token; (token = run.next()) !== undefined;) await handle(token);
      if (on) await flush();
    }
    for (const [, left] of open) if (left.hides) hide(-1); // what was to come at its end tag is lost
    const x = { append: [] };
    await call(x, documentEnd(x), documents.toReversed(), "end");
    await put(x.append);
    await flush();
  };

  // The stream of what becomes of a document.
  return (run, stream, elements, documents) => {
    const reader = apply(getReader, stream, []);
    let controller, wake, canceled = false;
    const more = async () => {
      const { value, done } = await reader.read();
      run.feed(done ? undefined : value);
      return !done;
    };
    const flush = () => {
      const bytes = run.take();
      if (canceled) return;
      if (bytes) controller.enqueue(bytes);
      if (controller.desiredSize <= 0) return new p.Promise((resolve) => { wake = resolve; });
    };
    const room = () => { const w = wake; wake = undefined; if (w) w(); };
    const out = new native.ReadableStream({
      type: "bytes",
      start(c) { controller = c; },
      pull: room,
      cancel(reason) { canceled = true; room(); return reader.cancel(reason); },
    }, { highWaterMark: 1 });
    rewrite(run, elements, documents, more, flush).then(
      () => { if (!canceled) controller.close(); },
      (e) => { if (!canceled) { controller.error(e); reader.cancel(e).then(undefined, () => {}); } },
    );
    return out;
  };
}
