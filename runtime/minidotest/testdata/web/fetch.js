check("headers ctor", () => [
  threw(() => new Headers(null)),
  threw(() => new Headers(1)),
  threw(() => new Headers("a")),
  threw(() => new Headers([["a"]])),
  threw(() => new Headers([["a", "b", "c"]])),
  threw(() => new Headers(["ab"])),
  threw(() => [...new Headers({ a: "1", B: 2 })]),
  threw(() => [
    ...new Headers([
      ["X", "1"],
      ["x", "2"],
    ]),
  ]),
  threw(() => [...new Headers(new Map([["q", "r"]]))]),
  threw(() => new Headers({ "a b": "1" })),
  threw(() => new Headers({ "": "1" })),
  threw(() => new Headers({ a: "x\ny" })),
  threw(() => new Headers({ a: "\u0100" })),
  threw(() => new Headers({ "\u0100": "a" })),
  threw(() => [...new Headers({ a: " \t v \r\n" })]),
  threw(() => [...new Headers({ [Symbol()]: 1 })]),
  threw(() => new Headers({ a: "\0" })),
  threw(() => [...new Headers([new Set(["a", "b"])])]),
  threw(() => [...new Headers({ a: null, b: undefined })]),
]);
check("headers record order", () => {
  const log = [];
  const px = new Proxy(
    { b: 1, a: 2 },
    {
      ownKeys(t) {
        log.push("own");
        return Reflect.ownKeys(t);
      },
      getOwnPropertyDescriptor(t, k) {
        log.push("d" + String(k));
        return Reflect.getOwnPropertyDescriptor(t, k);
      },
      get(t, k) {
        log.push("g" + String(k));
        return t[k];
      },
    },
  );
  new Headers(px);
  return log;
});
check("headers methods", () => {
  const h = new Headers({ a: "1" });
  return [
    h.get("A"),
    h.get("none"),
    h.has("a"),
    threw(() => h.get()),
    threw(() => h.get("")),
    threw(() => h.has("a b")),
    threw(() => h.set("a")),
    threw(() => h.append("a")),
    threw(() => h.delete()),
    threw(() => h.delete("é")),
    (h.append("a", "2"), h.get("a")),
    (h.set("a", " x "), h.get("a")),
    h.append("z", "1"),
    threw(() => h.forEach()),
    threw(() => h.forEach(1)),
  ];
});
check("headers iterate", () => {
  const h = new Headers([
    ["b", "1"],
    ["a", "2"],
    ["Set-Cookie", "x=1"],
    ["set-cookie", "y=2"],
    ["B", "3"],
  ]);
  const log = [];
  h.forEach(function (v, k, o) {
    log.push(v, k, o === h, this);
  }, 5);
  return [[...h], [...h.keys()], [...h.values()], h.getSetCookie(), h.get("set-cookie"), log.slice(0, 3)];
});
check("headers iterate live", () => {
  const h = new Headers([
    ["a", "1"],
    ["c", "3"],
  ]);
  const l = [];
  for (const [k] of h) {
    l.push(k);
    if (k === "a") {
      h.append("b", "2");
      h.delete("c");
    }
  }
  return l;
});
check("headers guard immutable", async () => {
  const r = Response.error();
  const s = Response.redirect("http://a/");
  return [
    threw(() => r.headers.set("a", "b")),
    threw(() => s.headers.append("a", "b")),
    threw(() => s.headers.delete("location")),
    threw(() => s.headers.set("a b", "c")),
  ];
});
check("request guard", () => {
  const r = new Request("http://a", { headers: { host: "x", cookie: "y", "content-length": "1", "x-a": "1" } });
  return [...r.headers];
});
check("request ctor", () => [
  threw(() => new Request()),
  threw(() => new Request("")),
  threw(() => new Request("/x")),
  threw(() => new Request("http://u:p@a/")),
  threw(() => new Request("http://a/#f").url),
  threw(() => new Request("http://a b/")),
  threw(() => new Request("http://a", 1)),
  threw(() => new Request("http://a", null).url),
  threw(() => new Request(new URL("http://q/")).url),
  threw(() => new Request({ toString: () => "http://z/" }).url),
]);
check("request method", () =>
  ["get", "post", "pAtCh", "patch", "PATCH", "delete", "CONNECT", "trace", "TRACK", "", "a b", "foo", "QUERY", "é"].map((m) =>
    threw(() => new Request("http://a", { method: m }).method),
  ),
);
check("request body get", () => [
  threw(() => new Request("http://a", { body: "x" })),
  threw(() => new Request("http://a", { method: "HEAD", body: "x" })),
  threw(() => new Request("http://a", { body: null }).method),
  threw(() => new Request("http://a", { method: "GET", body: undefined }).method),
]);
check("request props", () => {
  const r = new Request("http://a/?q");
  return [
    r.method,
    r.url,
    r.destination,
    r.referrer,
    r.referrerPolicy,
    r.mode,
    r.credentials,
    r.cache,
    r.redirect,
    r.integrity,
    r.keepalive,
    r.isReloadNavigation,
    r.isHistoryNavigation,
    r.duplex,
    r.body,
    r.bodyUsed,
    show(r.signal),
  ];
});
check("request init enums", () => [
  threw(() => new Request("http://a", { mode: "x" })),
  threw(() => new Request("http://a", { credentials: "x" })),
  threw(() => new Request("http://a", { cache: "x" })),
  threw(() => new Request("http://a", { redirect: "x" })),
  threw(() => new Request("http://a", { redirect: "error" }).redirect),
  threw(() => new Request("http://a", { redirect: "manual" }).redirect),
  threw(() => new Request("http://a", { referrerPolicy: "x" })),
  threw(() => new Request("http://a", { mode: "navigate" })),
  threw(() => new Request("http://a", { window: 1 })),
  threw(() => new Request("http://a", { window: null }).url),
  threw(() => new Request("http://a", { signal: 1 })),
  threw(() => new Request("http://a", { signal: null }).url),
  threw(() => new Request("http://a", { duplex: "full" }).url),
  threw(() => new Request("http://a", { integrity: "x" }).integrity),
  threw(() => new Request("http://a", { keepalive: 1 }).keepalive),
  threw(() => new Request("http://a", { cache: "default" }).cache),
  threw(() => new Request("http://a", { cache: "no-store" }).cache),
  threw(() => new Request("http://a", { cache: "force-cache" }).cache),
  threw(() => new Request("http://a", { priority: "x" })),
]);
check("request stream duplex", () => {
  const s = () => new ReadableStream();
  return [
    threw(() => new Request("http://a", { method: "POST", body: s() }).method),
    threw(() => new Request("http://a", { method: "POST", body: s(), duplex: "half" }).method),
  ];
});
check("body content types", async () => {
  const o = [];
  const fd = new FormData();
  fd.append("a", "b");
  for (const b of [
    "x",
    new URLSearchParams("a=b"),
    new Blob(["q"], { type: "t/q" }),
    new Blob(["q"]),
    fd,
    new Uint8Array(1),
    new ArrayBuffer(1),
    new DataView(new ArrayBuffer(1)),
    new ReadableStream(),
    5,
    {},
    [1],
    true,
  ]) {
    const r = new Response(b);
    o.push((r.headers.get("content-type") ?? "null").replace(/boundary=.*/, "boundary=?"));
  }
  return o;
});
check("body explicit content type", () => new Response("x", { headers: { "content-type": "a/b" } }).headers.get("content-type"));
check("response ctor", () => [
  threw(() => new Response("", { status: 199 })),
  threw(() => new Response("", { status: 600 })),
  threw(() => new Response(null, { status: 101 })),
  threw(() => new Response("x", { status: 204 })),
  threw(() => new Response("", { status: 204 })),
  threw(() => new Response(null, { status: 204 }).status),
  threw(() => new Response("", { status: 205 })),
  threw(() => new Response("", { status: 304 })),
  threw(() => new Response("", { statusText: "\n" })),
  threw(() => new Response("", { statusText: "é" }).statusText),
  threw(() => new Response("", { statusText: "Ā" })),
  threw(() => new Response("", 1)),
  threw(() => new Response("", null).status),
  threw(() => new Response("", { status: "201" }).status),
  threw(() => new Response("", { status: 65736 }).status),
  threw(() => new Response("", { status: NaN })),
  threw(() => new Response("", { headers: 1 })),
  threw(() => new Response("", { headers: null })),
  threw(() => new Response(Symbol())),
]);
check("response props", () => {
  const r = new Response("x");
  return [
    r.type,
    r.url,
    r.redirected,
    r.status,
    r.ok,
    r.statusText,
    r.bodyUsed,
    show(r.body),
    new Response().body,
    new Response(undefined).body,
    new Response(null).body,
  ];
});
check("response dict order", () => {
  const log = [];
  new Response(
    "",
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(String(k));
        },
      },
    ),
  );
  return log;
});
check("request dict order", () => {
  const log = [];
  new Request(
    "http://a",
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(String(k));
        },
      },
    ),
  );
  return log;
});
check("response error", () => {
  const r = Response.error();
  return [r.type, r.status, r.ok, r.statusText, r.body, [...r.headers], r.url];
});
check("response redirect", () => [
  Response.redirect("http://a/b c").headers.get("location"),
  Response.redirect("http://a/", 301).status,
  threw(() => Response.redirect("http://a", 200)),
  threw(() => Response.redirect("http://a", 304)),
  threw(() => Response.redirect("http:// a")),
  threw(() => Response.redirect("/x")),
  threw(() => Response.redirect()),
  threw(() => Response.redirect("http://a", "302").status),
  Response.redirect("http://a").status,
]);
check("response json", async () => [
  await Response.json({ a: 1 }).text(),
  Response.json(1).headers.get("content-type"),
  Response.json(1, { headers: { "content-type": "x/y" } }).headers.get("content-type"),
  threw(() => Response.json(undefined)),
  threw(() => Response.json(() => {})),
  threw(() => Response.json(Symbol())),
  threw(() => Response.json(1, { status: 204 })),
  threw(() => Response.json()),
  threw(() => Response.json(1n)),
  threw(() => {
    const o = {};
    o.o = o;
    Response.json(o);
  }),
  Response.json(1, { status: 201, statusText: "q" }).statusText,
  threw(() =>
    Response.json({
      toJSON() {
        throw new RangeError("x");
      },
    }),
  ),
]);
check("body readers", async () => {
  const R = (b, t) => new Response(b, t && { headers: { "content-type": t } });
  return [
    await R("\ufeffab").text(),
    await athrew(() => R("\ufeff{}").json()),
    await R("ab").bytes(),
    await R("ab").arrayBuffer(),
    (await R("ab", "X/Y; Charset=Q").blob()).type,
    (await R(new Uint8Array(1)).blob()).type,
    (await R(null).blob()).size,
    await R(null).text(),
    await athrew(() => R(null).json()),
    await athrew(() => R("{").json()),
    await R(null).arrayBuffer(),
    await athrew(() => R("x").formData()),
    await athrew(() => R(null).formData()),
    await athrew(() => R("", "application/x-www-form-urlencoded").formData()),
    await athrew(() => R("", "multipart/form-data").formData()),
    await athrew(() => R("", "multipart/form-data; boundary=a").formData()),
    await athrew(() => R("--a--", "multipart/form-data; boundary=a").formData()),
    await athrew(() => R("--a--\r\n", "multipart/form-data; boundary=a").formData()),
    await athrew(() => R("x=1", "text/plain").formData()),
  ];
});
check("body used", async () => {
  const r = new Response("x");
  const p = r.text();
  const u = r.bodyUsed;
  await p;
  const n = new Response(null);
  await n.text();
  const e = new Response("");
  await e.text();
  return [
    u,
    await athrew(() => r.text()),
    await athrew(() => r.blob()),
    threw(() => r.clone()),
    n.bodyUsed,
    await athrew(() => n.text()),
    e.bodyUsed,
  ];
});
check("body locked", async () => {
  const r = new Response("x");
  r.body.getReader();
  return [
    r.bodyUsed,
    await athrew(() => r.text()),
    threw(() => r.clone()),
    threw(() => new Request("http://a", { method: "POST", body: r.body, duplex: "half" })),
    threw(() => new Response(r.body)),
  ];
});
check("body disturbed", async () => {
  const s = new ReadableStream({
    start(c) {
      c.enqueue(new Uint8Array(1));
    },
  });
  const rd = s.getReader();
  await rd.read();
  rd.releaseLock();
  return [threw(() => new Response(s)), threw(() => new Request("http://a", { method: "POST", body: s, duplex: "half" }))];
});
check("body stream non-bytes", async () => {
  const o = [];
  for (const v of ["x", 1, null, {}, new ArrayBuffer(1)]) {
    o.push(
      await athrew(() =>
        new Response(
          new ReadableStream({
            start(c) {
              c.enqueue(v);
              c.close();
            },
          }),
        ).text(),
      ),
    );
  }
  return o;
});
check("body stream error", async () =>
  athrew(() =>
    new Response(
      new ReadableStream({
        start(c) {
          c.error(new RangeError("q"));
        },
      }),
    ).text(),
  ),
);
check("body byob", async () => {
  const r = new Response("abc");
  return threw(() => r.body.getReader({ mode: "byob" }));
});
check("clone", async () => {
  const r = new Response("abc", { status: 201, headers: { a: "b" } });
  const c = r.clone();
  return [await c.text(), await r.text(), c.status, c.headers.get("a"), c.headers === r.headers, r.body === r.body];
});
check("clone request", async () => {
  const r = new Request("http://a", { method: "POST", body: "abc" });
  const c = r.clone();
  return [await c.text(), await r.text(), c.signal === r.signal];
});
check("request from request", async () => {
  const a = new Request("http://a", { method: "POST", body: "abc", headers: { x: "y" } });
  const b = new Request(a);
  const c = new Request(b, { method: "PUT", headers: { z: "1" } });
  return [
    a.bodyUsed,
    b.bodyUsed,
    await c.text(),
    c.method,
    [...c.headers],
    threw(() => new Request(a)),
    threw(() => new Request(a, { body: "n" }).method),
  ];
});
check("request signal", () => {
  const c = new AbortController();
  const r = new Request("http://a", { signal: c.signal });
  const same = r.signal === c.signal;
  const d = new Request(r);
  const e = r.clone();
  let log = [];
  r.signal.addEventListener("abort", () => log.push("r"));
  d.signal.addEventListener("abort", () => log.push("d"));
  e.signal.addEventListener("abort", () => log.push("e"));
  c.abort("why");
  return [same, r.signal.aborted, d.signal.aborted, e.signal.reason, log];
});
check("formdata", async () => {
  const f = new FormData();
  f.append("a", "1");
  f.append("a", 2);
  f.append("b", new Blob(["x"]));
  f.append("c", new Blob(["y"]), "n.txt");
  f.append("d", new File(["z"], "orig", { type: "t/t", lastModified: 3 }), "new");
  f.set("a", null);
  const o = [...f].map(([k, v]) => [k, typeof v === "string" ? v : [v.constructor.name, v.name, v.type]]);
  return [
    o,
    f.get("zz"),
    f.getAll("zz"),
    f.has("a"),
    threw(() => f.append("a")),
    threw(() => f.append("a", "b", "c")),
    threw(() => f.set("a", {}, "x")),
    threw(() => new FormData(1)),
    threw(() => new FormData(null)),
    threw(() => new FormData(undefined)),
    typeof f.get("d").lastModified,
    threw(() => f.get()),
    threw(() => f.delete()),
  ];
});
check("formdata usv", () => {
  const f = new FormData();
  f.append("a\ud800", "\udc00");
  return [...f];
});
check("formdata foreach live", () => {
  const f = new FormData();
  f.append("a", "1");
  f.append("b", "2");
  const l = [];
  for (const [k] of f) {
    l.push(k);
    if (k === "a") (f.delete("b"), f.append("c", "3"));
  }
  return l;
});
check("multipart ser", async () => {
  const f = new FormData();
  f.append('a"\r\nb', "l1\nl2\rl3\r\nl4");
  f.append("f", new File(["x\ny"], 'n"\r.txt'));
  f.append("g", new File(["q"], "é.bin", { type: "a/b" }));
  const r = new Response(f);
  const t = await r.text();
  const b = r.headers.get("content-type").match(/boundary=(.*)/)[1];
  return t.replaceAll(b, "B");
});
check("multipart parse", async () => {
  const p = async (body, b = "B") => {
    try {
      const f = await new Response(body, { headers: { "content-type": `multipart/form-data; boundary=${b}` } }).formData();
      return [...f].map(([k, v]) => [k, typeof v === "string" ? v : [v.name, v.type, v.size]]);
    } catch (e) {
      return e.name;
    }
  };
  const N = "\r\n";
  return [
    await p(`--B${N}Content-Disposition: form-data; name="a"${N}${N}1${N}--B--${N}`),
    await p(`--B${N}Content-Disposition: form-data; name="a"; filename="f"${N}Content-Type: x/y${N}${N}1${N}--B--`),
    await p(`--B${N}content-disposition: form-data; name="a%22b%0D%0A"${N}${N}${N}--B--${N}`),
    await p(`--B${N}Content-Disposition: form-data; name=a${N}${N}1${N}--B--${N}`),
    await p(`--B${N}Content-Disposition: form-data; name="a"; filename=""${N}${N}1${N}--B--${N}`),
    await p(`--B${N}${N}1${N}--B--${N}`),
    await p(`pre${N}--B${N}Content-Disposition: form-data; name="a"${N}${N}1${N}--B--${N}`),
    await p(`--B${N}Content-Disposition: form-data; name="a"${N}${N}1${N}--B--${N}trailing`),
    await p(`--B${N}Content-Disposition: form-data; name="a"${N}${N}1`),
    await p(`--B\nContent-Disposition: form-data; name="a"\n\n1\n--B--\n`),
    await p(`--B${N}Content-Disposition: form-data; name="é"${N}${N}é${N}--B--${N}`),
    await p(`--B${N}Content-Disposition: form-data; name="a"; filename*=UTF-8''x${N}${N}1${N}--B--${N}`),
    await p(`--B${N}Content-Disposition: form-data; name="a"${N}X-Other: 1${N}${N}1${N}--B--${N}`),
  ];
});
check("urlencoded parse", async () => {
  const f = await new Response("a=1&b=%20+&c&=d&%E9=x", {
    headers: { "content-type": "application/x-www-form-urlencoded;charset=utf-8" },
  }).formData();
  return [...f];
});
check("blob", async () => {
  const b = new Blob(["a", new Uint8Array([98]), new Blob(["c"]), new ArrayBuffer(1), 5, {}, null], { type: "A/B; X=Y" });
  return [
    b.size,
    b.type,
    await b.text(),
    await b.slice(1, 2).text(),
    await b.slice(-2).text(),
    b.slice(0, 1, "x\u0000").type,
    b.slice(0, 1, "TeXt").type,
    threw(() => new Blob("x")),
    threw(() => new Blob(null)),
    threw(() => new Blob(1)),
    threw(() => new Blob({})),
    threw(() => new Blob(undefined).size),
    threw(() => new Blob([], 1)),
    threw(() => new Blob([], null).size),
    threw(() => new Blob(new Set(["q"])).size),
    threw(() => new Blob([Symbol()])),
    threw(() => new Blob([], { endings: "x" })),
    await new Blob(["a\r\nb\nc\rd"], { endings: "native" }).text(),
    await b.bytes(),
    threw(() => b.slice(2, 1).size),
    threw(() => b.slice(NaN, Infinity).size),
    threw(() => new Blob([], { type: "é" }).type),
  ];
});
check("blob dict order", () => {
  const log = [];
  new Blob(
    [],
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(k);
        },
      },
    ),
  );
  return log;
});
check("blob bom", async () => await new Blob([new Uint8Array([0xef, 0xbb, 0xbf, 97])]).text());
check("blob stream", async () => {
  const r = new Blob(["abc"]).stream();
  return [threw(() => r.getReader({ mode: "byob" })), show(r)];
});
check("file", () => {
  const f = new File(["x"], "a/b", { type: "T/X", lastModified: 1.9 });
  return [
    f.name,
    f.type,
    f.lastModified,
    f.size,
    threw(() => new File()),
    threw(() => new File([])),
    threw(() => new File("x", "n")),
    threw(() => new File([], null).name),
    typeof new File([], "x").lastModified,
    new File([], "x", { lastModified: undefined }).lastModified > 0,
    new File([], "x", { lastModified: NaN }).lastModified,
    new File([], "x", { lastModified: new Date(7) }).lastModified,
    f instanceof Blob,
    threw(() => new File([], "\ud800").name),
    f.webkitRelativePath,
  ];
});
check("fetch args", async () => [
  await athrew(() => fetch()),
  await athrew(() => fetch("/x")),
  await athrew(() => fetch("http://a", { method: "é" })),
  await athrew(() => fetch("about:blank")),
  await athrew(() => fetch("data:,x", { signal: AbortSignal.abort("R") })),
  await athrew(() => fetch("data:,x", { signal: AbortSignal.abort() })),
]);
check("data urls", async () => {
  const o = [];
  for (const u of [
    "data:,Hello%20World",
    "data:text/html;charset=x,%3Cp%3E",
    "data:;base64,aGk=",
    "data:;base64,aGk",
    "data:;base64,a",
    "data:;BASE64 ,aGk",
    "data:x,y",
    "data:text/plain ; charset=utf-8,x",
    "data:",
    "data:,%ZZ%41",
    "data:image/png;base64;base64,aGk=",
  ])
    o.push(
      await (async () => {
        try {
          const r = await fetch(u);
          return [r.status, r.headers.get("content-type"), await r.text(), r.url.slice(0, 12), r.type];
        } catch (e) {
          return e.name;
        }
      })(),
    );
  return o;
});
check("ws ctor", () => [
  threw(() => new WebSocket()),
  threw(() => new WebSocket("x")),
  threw(() => new WebSocket("http:// x")),
  threw(() => new WebSocket("ftp://a")),
  threw(() => new WebSocket("ws://a/#x")),
  threw(() => new WebSocket("ws://a", ["a", "a"])),
  threw(() => new WebSocket("ws://a", "a b")),
  [WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSING, WebSocket.CLOSED],
]);
check("request form", async () => {
  const f = new FormData();
  f.append("a", "b");
  const r = new Request("http://a", { method: "POST", body: f });
  const g = await r.formData();
  return [...g];
});
check("text decode invalid", async () => await new Response(new Uint8Array([0xff, 97, 0xe2, 0x82])).text());
check("init body used response", async () => {
  const a = new Response("x");
  const b = new Response(a.body);
  return [await b.text(), a.bodyUsed];
});
check("stream tee response", async () => {
  const r = new Response(
    new ReadableStream({
      start(c) {
        c.enqueue(new TextEncoder().encode("hey"));
        c.close();
      },
    }),
  );
  const c = r.clone();
  return [await r.text(), await c.text()];
});

// HTML, section 4.10.22.8, and Fetch, section 5.3: what is sent is read back, but
// for newlines, which are CRLF in names and values.
check("multipart names", async () => {
  const form = new FormData();
  form.append('a\\b"c\r', "v\n\r\nw\r");
  form.append("f\\", new File(["x\n"], 'q\\w"\n.txt'));
  const goClient = '--B\r\nContent-Disposition: form-data; name="a\\"b"; x="\\"\r\n\r\n1\r\n--B--';
  const read = async (r) => [...(await r.formData())].map(([k, v]) => [k, v.name ?? v]);
  return [await read(new Response(form)), await read(new Response(goClient, { headers: { "content-type": "multipart/form-data; boundary=B" } }))];
});
// File API, section 3.3.1: the positions are [Clamp] long long.
check("blob slice clamp", async () => {
  const b = new Blob(["abcdef"]);
  return Promise.all([b.slice(1.9, 3.9), b.slice(0.5, 1.5), b.slice(-1.6), b.slice(0, 1e20)].map((x) => x.text()));
});
// Fetch, section 2.2.4 (fully read) and 5.3: who reads a body locks its stream for ever.
check("body locked after use", async () => {
  const bodies = ["x", "", new Uint8Array(3), new Blob(["x"]), new Blob(["x"]).stream(), new URLSearchParams("a=b")];
  const out = [];
  for (const init of bodies) {
    const r = new Response(init);
    const before = r.body;
    const read = r.text();
    out.push([r.body.locked, threw(() => r.body.getReader()), before === r.body]);
    await read;
    const used = new Response(await new Response("x").text());
    await used.bytes();
    out.push([used.body.locked, await athrew(() => used.body.cancel())]);
  }
  return out;
});
// MIME Sniffing, section 4.4: the first of several parameters with a name, values that are malformed are left out.
check("form types", async () => {
  const part = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B--';
  const out = [];
  for (const [type, ...params] of [
    ["multipart/form-data", "; boundary=B; boundary=C", "; boundary=B; x", "; ; boundary=B", "; a=b c; boundary=B", '; boundary="B', "; boundary =B", "; boundary= B", ";boundary=B c"],
    ["application/x-www-form-urlencoded", ";charset=utf-8;charset=latin1", ' ;charset="utf-8"', "x", ";charset=latin1"],
  ])
    for (const p of params) out.push(await athrew(async () => [...(await new Response(type[0] === "m" ? part : "a=1", { headers: { "content-type": type + p } }).formData())]));
  return out;
});
// Fetch, section 5.3 (parse multipart/form-data headers): a header has a colon, a name two quotation marks.
check("form headers", async () => {
  const read = (head) => athrew(async () => [...(await new Response(`--B\r\n${head}\r\n\r\n1\r\n--B--`, { headers: { "content-type": "multipart/form-data; boundary=B" } }).formData())]);
  const disposition = 'Content-Disposition: form-data; name="a"';
  return [await read("Foo\r\n" + disposition), await read("Foo:\r\n" + disposition), await read('Content-Disposition: form-data; name="a'), await read(disposition + ";x=y")];
});
// Web IDL, section 3.7.9.2: a default iterator's next() is for iterators of its own interface.
check("iterator brands", () => {
  const all = { headers: new Headers({ a: "1" }), form: new FormData(), params: new URLSearchParams("a=1") };
  const out = [];
  for (const a in all) for (const b in all) out.push([a, b, threw(() => all[a].keys().next.call(all[b].entries()).done)]);
  return [out, threw(() => new Headers().keys().next.call([].values()))];
});
// workerd (api/http.c++): what JSON.stringify gives no text for is sent as "undefined"; Fetch, section 5.5, throws.
check("response json without text", () => Promise.all([undefined, Symbol(), () => {}, { toJSON() {} }].map((v) => Response.json(v).text())));
// WebSockets, section 3.1 (close): code and reason are checked whatever the state.
check("ws close arguments", () => {
  const out = [];
  const { 0: fresh, 1: peer } = new WebSocketPair();
  peer.accept();
  for (const args of [[5000], [1000, "x".repeat(124)], [undefined, "x"], []]) out.push(threw(() => fresh.close(...args)));
  for (const args of [[1005], [2000, "é"], [5000], [1000, "é".repeat(62)], [undefined, "x"], []]) out.push(threw(() => peer.close(...args)));
  return [...out, peer.readyState];
});
