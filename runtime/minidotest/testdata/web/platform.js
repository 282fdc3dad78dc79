check("url", () => {
  const u = new URL("http://u:p@ex.com:80/a/../b?q=1#h");
  return [
    u.href,
    u.origin,
    u.host,
    u.port,
    u.pathname,
    u.search,
    u.hash,
    u.username,
    u.password,
    JSON.stringify(u),
    String(u),
    threw(() => new URL("x")),
    threw(() => new URL()),
    URL.canParse("x"),
    URL.canParse("x", "http://a"),
    URL.parse("x"),
    URL.parse("/q", "http://a/b").href,
    threw(() => URL.canParse()),
    threw(() => URL.parse()),
    threw(() => new URL("x", "y")),
    new URL("a", undefined + "://b").href,
  ];
});
check("url live params", () => {
  const u = new URL("http://a/?x=1");
  const p = u.searchParams;
  p.append("y", "2 3");
  const a = u.search;
  u.search = "?z=%20";
  const b = [...p];
  p.delete("z");
  return [a, b, u.href, p === u.searchParams, u.search];
});
check("url setters", () => {
  const u = new URL("http://a:8080/p?q#h");
  u.port = "99999";
  u.port = "81x";
  const a = u.port;
  u.port = "";
  u.protocol = "https";
  u.protocol = "foo";
  u.host = "b:9";
  u.hostname = "c:1";
  u.pathname = "x y";
  u.hash = "é";
  u.search = "a'b";
  u.username = "ü";
  u.password = ":";
  return [
    a,
    u.href,
    threw(() => {
      u.href = "nope";
    }),
    u.href,
  ];
});
check("url hosts", () =>
  [
    "http://0x7f.1/",
    "http://1.2.3/",
    "http://[::1]:80/",
    "http://EXAMPLE.com./",
    "http://ex%41mple/",
    "http://a..b/",
    "http://xn--/",
    "http://ü.com/",
    "file:///C|/a",
    "file://localhost/x",
    "http://a b/",
    "http://a^b/",
    "http://a|b",
    "foo://a b/",
    "foo://A%zz",
    "javascript:a b",
    "http:\\\\x\\y",
    "http://a@b@c/",
    "//x",
    "http://[1::2::3]",
    "http://256.1.1.1",
    "data:a b#c d",
    "blob:http://a/b",
    "non-special:opaque  ?hi",
    "http://ho\tst/",
    "  http://x  ",
  ].map((s) =>
    threw(() => {
      const u = new URL(s);
      return u.href + " " + u.origin;
    }),
  ),
);
check("usp", () => {
  const p = new URLSearchParams("?a=1&b=2&a=3&c");
  return [
    p.get("a"),
    p.getAll("a"),
    p.has("a", "3"),
    p.has("a", "9"),
    p.size,
    p.toString(),
    (p.delete("a", "1"), p.toString()),
    (p.set("b", "x+y &"), p.toString()),
    (p.sort(), p.toString()),
    [...new URLSearchParams([["a", "b"]])],
    [...new URLSearchParams({ q: 1 })],
    threw(() => new URLSearchParams([["a"]])),
    threw(() => new URLSearchParams([1])),
    new URLSearchParams(null).toString(),
    new URLSearchParams(undefined).toString(),
    new URLSearchParams("a=%F0%9F%98&b=%zz+").toString(),
    threw(() => p.append("a")),
    threw(() => p.get()),
    threw(() => p.forEach()),
    new URLSearchParams(new FormData() instanceof Object ? "x=1" : "").toString(),
    new URLSearchParams("a\ud800=1").toString(),
    new URLSearchParams(new URLSearchParams("z=1")).toString(),
    new URLSearchParams({ "a\ud800": "b" }).toString(),
  ];
});
check("usp sort", () => {
  const p = new URLSearchParams("z=1&\uFFFD=2&\u{1F600}=3&a=4&z=0");
  p.sort();
  return [...p];
});
check("usp live iter", () => {
  const p = new URLSearchParams("a=1&b=2&c=3");
  const l = [];
  for (const [k] of p) {
    l.push(k);
    p.delete(k);
  }
  return l;
});
check("urlpattern", () => {
  const p = new URLPattern({ pathname: "/a/:id{.:ext}?" });
  const r = p.exec("http://x/a/1.txt");
  return [
    p.test("http://x/a/1"),
    p.test("http://x/b"),
    r.pathname,
    r.inputs,
    p.pathname,
    p.hostname,
    p.hasRegExpGroups,
    threw(() => new URLPattern("/x")),
    new URLPattern("/x/*", "http://h:80").pathname,
    p.exec("nope"),
    threw(() => new URLPattern({ pathname: "(" })),
    new URLPattern({ pathname: "/(\\d+)" }).hasRegExpGroups,
    new URLPattern("https://*.ex.com/:a+").exec("https://q.ex.com/b/c")?.pathname.groups,
    new URLPattern({ pathname: "/A" }, { ignoreCase: true }).test({ pathname: "/a" }),
    new URLPattern().test("http://any/"),
    threw(() => new URLPattern({ pathname: "/:a/:a" })),
    new URLPattern({ search: "q=:v" }).exec({ search: "q=1" })?.search.groups,
  ];
});
check("td labels", () =>
  [
    "utf8",
    "UTF-8",
    " utf-8\n",
    "unicode-1-1-utf-8",
    "latin1",
    "ascii",
    "l1",
    "iso-8859-1",
    "utf-16",
    "utf-16be",
    "ucs-2",
    "sjis",
    "shift_jis",
    "gbk",
    "gb18030",
    "gb2312",
    "big5",
    "euc-jp",
    "euc-kr",
    "ksc5601",
    "iso-2022-jp",
    "windows-1251",
    "cp1251",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "x-mac-cyrillic",
    "ibm866",
    "iso-8859-8-i",
    "iso-8859-16",
    "windows-874",
    "x-user-defined",
    "utf-7",
    "replacement",
    "iso-2022-kr",
    "",
    "foo",
    "utf-8\0",
    "\u00a0utf-8",
    "hz-gb-2312",
  ].map((l) => threw(() => new TextDecoder(l).encoding)),
);
check("td options", () => {
  const d = new TextDecoder("utf-8", { fatal: 1, ignoreBOM: "x" });
  return [
    d.fatal,
    d.ignoreBOM,
    threw(() => d.decode(new Uint8Array([0xff]))),
    threw(() => new TextDecoder("utf-8", 1)),
    threw(() => new TextDecoder("utf-8", null).fatal),
    threw(() => d.decode("x")),
    threw(() => d.decode(null)),
    d.decode(),
    threw(() => d.decode(new Uint8Array(1), 1)),
    threw(() => new TextDecoder(null)),
  ];
});
check("td bom", () => {
  const b = new Uint8Array([0xef, 0xbb, 0xbf, 97]);
  const d = new TextDecoder();
  const s = new TextDecoder();
  return [
    d.decode(b).length,
    d.decode(b).length,
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(b).length,
    s.decode(b.subarray(0, 2), { stream: true }) + s.decode(b.subarray(2)),
    new TextDecoder("utf-16le").decode(new Uint8Array([0xff, 0xfe, 97, 0])).length,
    new TextDecoder("utf-16be").decode(new Uint8Array([0xfe, 0xff, 0, 97])),
  ];
});
check("td stream", () => {
  const d = new TextDecoder();
  let o = "";
  for (const x of [0xf0, 0x9f, 0x98, 0x80, 0xf0]) o += d.decode(new Uint8Array([x]), { stream: true });
  o += d.decode();
  return [o.length, escape(o)];
});
check("td invalid", () =>
  [
    [0xc0, 0x80],
    [0xe0, 0x80, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf0, 0x9f],
    [0xe2, 0x28, 0xa1],
    [0xff, 0xfe],
    [0xf0, 0x9f, 97],
  ].map((b) => escape(new TextDecoder().decode(new Uint8Array(b)))),
);
check("td utf16 invalid", () =>
  [[0, 0xd8], [0, 0xd8, 97, 0], [97], [0, 0xdc, 98, 0]].map((b) => escape(new TextDecoder("utf-16le").decode(new Uint8Array(b)))),
);
check("td legacy", () =>
  [
    ["windows-1252", [0x80, 0x81, 0x9f, 0xe9]],
    ["shift_jis", [0x82, 0xa0, 0x81, 0xff, 0x41]],
    ["euc-jp", [0xa4, 0xa2, 0x8f, 0xb0, 0xa1]],
    ["gbk", [0xc4, 0xe3, 0x80]],
    ["gb18030", [0x81, 0x30, 0x81, 0x30, 0x84, 0x31, 0xa4, 0x37]],
    ["big5", [0xa4, 0xa4, 0x88, 0x62]],
    ["euc-kr", [0xb0, 0xa1]],
    ["iso-2022-jp", [0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42, 0x41]],
    ["x-user-defined", [0x80, 0xff]],
    ["iso-8859-8", [0xe0, 0xa1]],
    ["koi8-u", [0xae, 0xbe]],
    ["macintosh", [0xdb]],
    ["ibm866", [0x80]],
    ["windows-1253", [0xaa, 0xd2]],
    ["iso-8859-7", [0xa4]],
    ["windows-874", [0xdb]],
  ].map(([l, b]) => threw(() => escape(new TextDecoder(l).decode(new Uint8Array(b))))),
);
check("td sab/view", () => [
  new TextDecoder().decode(new DataView(new Uint8Array([97, 98]).buffer, 1)),
  new TextDecoder().decode(new Uint16Array([0x6261])),
]);
check("te", () => {
  const e = new TextEncoder();
  return [
    e.encoding,
    e.encode("é\ud800"),
    e.encode(),
    e.encode(undefined),
    e.encode(null),
    e.encode(1),
    e.encodeInto("aé😀", new Uint8Array(4)),
    e.encodeInto("", new Uint8Array(0)),
    threw(() => e.encodeInto("a")),
    threw(() => e.encodeInto("a", new Uint16Array(1))),
    threw(() => e.encodeInto("a", new ArrayBuffer(1))),
    threw(() => e.encodeInto()),
    e.encodeInto("\ud800x", new Uint8Array(3)),
  ];
});
check("atob", () =>
  [
    "",
    "YQ",
    "YQ==",
    "YQ=",
    " Y Q = = ",
    "YQ===",
    "Y",
    "YR==",
    "ab\u0100",
    "abcd=",
    "====",
    undefined,
    null,
    "-_",
    "ab\n\f\r\t cd",
    "\u00a0ab",
    "=",
    "ab=c",
  ].map((x) => threw(() => atob(x))),
);
check("btoa", () =>
  ["", "a", "é", "\u0100", undefined, null, "\0", 12]
    .map((x) => threw(() => btoa(x)))
    .concat(
      threw(() => btoa()),
      threw(() => atob()),
    ),
);
check("perf", () => [
  typeof performance.now(),
  typeof performance.timeOrigin,
  performance.toJSON && typeof performance.toJSON().timeOrigin,
  threw(() => performance.mark()),
  threw(() => performance.mark("a").name),
  threw(() => performance.measure("m", "nope")),
]);
check("nav", () => [navigator.userAgent, typeof navigator.hardwareConcurrency, Object.prototype.toString.call(navigator)]);
check("global", () => [
  self === globalThis,
  Object.prototype.toString.call(globalThis),
  typeof location,
  typeof origin,
  globalThis instanceof EventTarget,
  globalThis instanceof WorkerGlobalScope,
  typeof caches,
]);

// Encoding, sections 10 to 13: every pair of each encoding, as a hash: what is
// malformed, and which byte after it is read again.
check("td pairs", () =>
  ["gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"].map((label) => {
    let hash = 0;
    const d = new TextDecoder(label);
    for (let lead = 0x7f; lead <= 0xff; lead++) {
      const bytes = [];
      for (let trail = 0x21; trail <= 0xff; trail += 2) bytes.push(lead, trail, 0x41);
      const text = d.decode(new Uint8Array(bytes));
      for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
    }
    return label + " " + hash;
  }),
);
// Encoding, sections 10.2.1 and 12.2.1: four bytes, escapes, and both in pieces.
check("td sequences", () =>
  [
    ["gb18030", "81 35 f4 37 84 31 a4 37 81 30 81 41 81 30 7f 90 30 81 30 fe 59 a1 40"],
    ["euc-jp", "8f a2 af 8e df 8e e0 8f a1 41 8f a1"],
    ["iso-2022-jp", "1b 28 4a 5c 7e 1b 24 42 24 22 24 1b 28 42 41 0e 1b 24 1b 28 49 21 60 1b 28 42 1b 28 42 42 1b 24 42 24"],
    ["iso-8859-8-i", "80 9f e0 ff"],
    ["x-user-defined", "00 7f 80 ff"],
  ].map(([label, hex]) => {
    const bytes = hex.split(" ").map((x) => parseInt(x, 16));
    const d = new TextDecoder(label);
    let pieces = "";
    for (const b of bytes) pieces += d.decode(new Uint8Array([b]), { stream: true });
    pieces += d.decode();
    return [escape(pieces), pieces === new TextDecoder(label).decode(new Uint8Array(bytes)), threw(() => new TextDecoder(label, { fatal: true }).decode(new Uint8Array(bytes)).length)];
  }),
);
// URL, sections 1.3 (path percent-encode set) and 4.4 (opaque path state).
check("url path ^ and opaque spaces", () => {
  const u = new URL("foo:a  ?q#f");
  const hrefs = [u.href, new URL("foo:a  ").href, new URL("foo:a ??").href, new URL("#f", "foo:a ?q").href, new URL("http://x/^?^#^").href, new URL("foo:^").href];
  u.search = u.hash = "";
  return [...hrefs, u.href, u.pathname, threw(() => new URL("http://x", "").href), threw(() => new URL("http://x", Symbol()))];
});

// URL Pattern, sections 3.1 and 1.2: canonical ports and addresses, a constructor
// string that is none, and a broken one beside a base.
check("urlpattern inputs", () => [
  threw(() => new URLPattern({ port: "8\t0x" }).port),
  threw(() => new URLPattern({ port: "x80" })),
  threw(() => new URLPattern("https://[:a]/").hostname),
  threw(() => new URLPattern({ hostname: "[:\\:AB]" })),
  threw(() => new URLPattern(5)),
  threw(() => new URLPattern(5, "https://x/").pathname),
  threw(() => new URLPattern("(", "https://x/")),
]);
// URL, section 5.1, and Encoding, section 4.1: each maximal subpart of what is not UTF-8 is one U+FFFD.
check("usp not utf-8", async () => [
  [...new URLSearchParams("a=%ff%ff&b=%e4%bd&c=%f0%9f%98%ff&d=%c3%28&e=%ed%a0%80")],
  new URL("http://x/?a=%ff%ff").searchParams.get("a"),
  [...(await new Response(new Uint8Array([97, 61, 255, 0xe4]), { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData())],
]);
// URL Pattern, sections 1.1 and 1.4 (match): inputs are the arguments after their conversion; no input is an empty init.
check("urlpattern result's inputs", () => {
  const all = new URLPattern({});
  const given = { pathname: "/a", hash: 5, other: 1 };
  const [shown] = all.exec(given).inputs;
  return [all.exec().inputs, all.exec(undefined).inputs, all.exec(null).inputs, shown !== given, shown.pathname, shown.hash, "other" in shown, all.exec(new URL("http://q/z")).inputs[0].hostname, all.exec("/a\ud800", "http://b").inputs];
});
// Console, section 1: the prototype of the namespace is an empty object of its own.
check("console prototype", () => {
  const proto = Object.getPrototypeOf(console);
  return [proto === Object.prototype, Object.getPrototypeOf(proto) === Object.prototype, Reflect.ownKeys(proto).length, Object.hasOwn(console, "log")];
});
// workerd: a text that is no URL is matched by what it says as a path, a search or a hash, without a scheme.
each("urlpattern texts that are no URLs", () => {
  const patterns = { path: new URLPattern({ pathname: "/a/:b" }), all: new URLPattern({}), host: new URLPattern({ hostname: "a" }), search: new URLPattern({ search: "x=1" }), scheme: new URLPattern({ protocol: "http" }) };
  const texts = ["/a/1", "a/1", "", "?x=1", "#h", "/a/1?x=1#h", "//a/a/1", "///a", "\\a", "//HOST%41/", "//[", "//u:p@host:80/a", "//host:99999", "..", "?a'b\"<>", " a ", "1:2", "-a:b", "a:b", "http:", "http:a", " http:", "file:", ":", "\ud800"];
  return texts.map((t) => [t, Object.entries(patterns).filter(([, p]) => p.test(t)).map(([n]) => n), (({ protocol: a, username: b, password: c, hostname: d, port: e, pathname: f, search: g, hash: h } = {}) => [a, b, c, d, e, f, g, h].map((x) => x?.input))(patterns.all.exec(t) ?? {})]);
});
