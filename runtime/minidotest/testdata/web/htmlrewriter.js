const rw = async (html, f) => {
  const r = new HTMLRewriter();
  f(r);
  return await r.transform(new Response(html, { headers: { "content-type": "text/html" } })).text();
};
const at = (html, f) => athrew(() => rw(html, f));
check("attr", () =>
  at(`<a href="x&amp;y" B='2' c>t</a>`, (r) =>
    r.on("a", {
      element(e) {
        e.setAttribute("href", `q"` + e.getAttribute("href"));
        e.setAttribute("Zed", "1");
        e.removeAttribute("c");
        e.append([...e.attributes].join(";"));
      },
    }),
  ),
);
check("ins", () =>
  at(`<p>x</p>`, (r) =>
    r.on("p", {
      element(e) {
        e.before("b1").before("<b2>", { html: true }).after("a1").after("a2").prepend("p1").prepend("p2").append("z1").append("<z2>");
      },
    }),
  ),
);
check("replace", () =>
  at(`<div><p>x<b>y</b></p>z</div>`, (r) =>
    r.on("p", {
      element(e) {
        e.before("B");
        e.after("A");
        e.replace("<i>", { html: true });
      },
    }),
  ),
);
check("inner", () =>
  at(`<div>1<p>x</p>2</div>`, (r) =>
    r.on("div", {
      element(e) {
        e.setInnerContent("<>");
        e.append("A");
        e.prepend("P");
      },
    }),
  ),
);
check("remove", () =>
  at(`<div>1<p>x</p>2</div>`, (r) =>
    r.on("p", {
      element(e) {
        e.remove();
      },
    }),
  ),
);
check("keep", () =>
  at(`<div>1<p>x</p>2</div>`, (r) =>
    r.on("p", {
      element(e) {
        e.removeAndKeepContent();
      },
    }),
  ),
);
check("tag", () =>
  at(`<div>1<p>x</p>2</div>`, (r) =>
    r.on("p", {
      element(e) {
        e.tagName = "q";
      },
    }),
  ),
);
check("text", () =>
  at(`<p>a &amp; b<i>c</i></p>d`, (r) =>
    r.on("p", {
      text(t) {
        t.replace(`[${t.text}|${t.lastInTextNode}]`);
      },
    }),
  ),
);
check("comment", () =>
  at(`<p><!--c--></p><!--d-->`, (r) =>
    r
      .on("p", {
        comments(c) {
          c.text = c.text + "!";
        },
      })
      .onDocument({
        comments(c) {
          if (c.text === "d") c.remove();
        },
      }),
  ),
);
check("doc", () =>
  at(`<!DOCTYPE html PUBLIC "a" "b"><p>`, (r) => {
    let s;
    r.onDocument({
      doctype(d) {
        s = [d.name, d.publicId, d.systemId];
      },
      end(e) {
        e.append("END" + s);
      },
    });
  }),
);
check("endtag", () =>
  at(`<p>x</p>`, (r) =>
    r.on("p", {
      element(e) {
        e.onEndTag((t) => {
          t.before("B" + t.name);
          t.after("A");
        });
      },
    }),
  ),
);
check("async", () =>
  at(`<p>x</p><p>y</p>`, (r) =>
    r.on("p", {
      async element(e) {
        await tick(1);
        e.append("!");
      },
    }),
  ),
);
check("throws", () =>
  at(`<p>x</p>`, (r) =>
    r.on("p", {
      element() {
        throw new RangeError("q");
      },
    }),
  ),
);
check("rejects", () =>
  at(`<p>x</p>`, (r) =>
    r.on("p", {
      async element() {
        throw new RangeError("q");
      },
    }),
  ),
);
check("expired", () =>
  athrew(async () => {
    let s;
    await rw(`<p>x</p>`, (r) =>
      r.on("p", {
        element(e) {
          s = e;
        },
      }),
    );
    return s.tagName;
  }),
);
check("void", () =>
  at(`<img src=a><br/>x`, (r) =>
    r
      .on("img", {
        element(e) {
          e.after("A");
          e.append("no");
          e.setAttribute("alt", "é");
        },
      })
      .on("br", {
        element(e) {
          e.setAttribute("k", "v");
        },
      }),
  ),
);
for (const s of [
  "p",
  "*",
  "div > p",
  "div p",
  ".a",
  "#i",
  "[x]",
  '[x="1"]',
  "[x^=a]",
  "[x$='c']",
  "[x*=b]",
  "[x~=b]",
  "[x|=en]",
  '[x="AB" i]',
  "p:nth-child(2)",
  "p:nth-child(odd)",
  "p:first-child",
  "p:nth-of-type(2n+1)",
  "p:first-of-type",
  "p:not(.a)",
  "p.a.b",
  "p, b",
  "div>*",
  "a:hover",
  "p + p",
  "",
  "p >",
  "[",
  "p:last-child",
])
  check("sel " + s, () =>
    at(
      `<div class="d"><p class="a b" x="abc">1</p><b id="i" x="a b">2</b><p x="1">3</p><section><p x="en-US">4</p><p x="ab">5</p></section></div>`,
      (r) =>
        r.on(s, {
          element(e) {
            e.setAttribute("M", "");
          },
        }),
    ),
  );
check("ctor", () => [
  threw(() => HTMLRewriter()),
  threw(() => new HTMLRewriter().on("p")),
  threw(() => new HTMLRewriter().on("p", 1)),
  threw(() => new HTMLRewriter().transform(1)),
  new HTMLRewriter().transform(new Response(null)).body,
]);
check("headers", () => {
  const r = new HTMLRewriter().transform(new Response("x", { status: 201, headers: { "content-length": "1", a: "b" } }));
  return [r.status, [...r.headers]];
});
check("script", () =>
  at(`<script>if (a < b) "</p>"</script><p>x</p>`, (r) =>
    r
      .on("p", {
        element(e) {
          e.append("!");
        },
      })
      .on("script", {
        text(t) {
          if (t.text) t.after("//");
        },
      }),
  ),
);
check("unclosed", () =>
  at(`<div><p>x<p>y</div>z`, (r) =>
    r.on("p", {
      element(e) {
        e.append("!");
        e.after("@");
      },
    }),
  ),
);
check("content resp", () =>
  at(`<p></p>`, (r) =>
    r.on("p", {
      element(e) {
        e.append(new Response("<b>"), { html: true });
      },
    }),
  ),
);
