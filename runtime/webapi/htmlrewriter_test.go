package webapi

import "testing"

// HTMLRewriter selects, mutates and passes through as the reference does; each
// answer was also given by workerd.
func TestHTMLRewriter(t *testing.T) {
	w := newFetchWorld(t)
	w.run(`globalThis.rw = (html, selector, handlers, doc) => {
		const r = new HTMLRewriter();
		if (selector) r.on(selector, handlers);
		if (doc) r.onDocument(doc);
		return r.transform(new Response(html)).text();
	};
	globalThis.mark = (selector) => rw('<div class="d"><p class="a b" x="abc">1</p><b id="i">2</b><p x="1">3</p></div>', selector, { element(e) { e.setAttribute("M", ""); } })
		.then((s) => [...s.matchAll(/<[^>]* m="">(\d?)/g)].map((m) => m[1]).join());`)
	w.tries([][2]string{
		{`rw('<a href="x&amp;y" c>t</a>', "a", { element(e) { e.setAttribute("href", 'q"' + e.getAttribute("href")).removeAttribute("c"); } })`, `<a href="q&quot;x&amp;y">t</a>`},
		{`rw("<p>x</p>", "p", { element(e) { e.before("1").before("<2>", { html: true }).after("3").after("4").prepend("5").prepend("6").append("7").append("<8>"); } })`, `1<2><p>65x7&lt;8&gt;</p>43`},
		{`rw("<div>1<p>x<b>y</b></p>2</div>", "p", { element(e) { e.replace("<i>", { html: true }); } })`, `<div>1<i>2</div>`},
		{`rw("<div>1<p>x</p>2</div>", "div", { element(e) { e.setInnerContent("<>"); e.append("A"); } })`, `<div>&lt;&gt;A</div>`},
		{`rw("<div>1<p>x</p>2</div>", "p", { element(e) { e.removeAndKeepContent(); } })`, `<div>1x2</div>`},
		{`rw("<p>a &amp; b</p>", "p", { text(t) { t.replace("[" + t.text + "|" + t.lastInTextNode + "]"); } })`, `<p>[a &amp;amp; b|false][|true]</p>`},
		{`rw("<p>x</p>", "p", { async element(e) { await null; e.onEndTag((t) => { t.before(t.name); }); } })`, `<p>xp</p>`},
		{`rw("<!DOCTYPE html><p><!--c-->", "p", { comments(c) { c.text += "!"; } }, { doctype(d) { this.n = d.name; }, end(e) { e.append(this.n); } })`, `<!DOCTYPE html><p><!--c!-->html`},
		{`rw("<p>x</p>", "p", { element() { throw new RangeError("q"); } })`, `RangeError: q`},
		{`Promise.all(["p", "div > *", "p.a.b", "[x^=a]", '[x="ABC" i]', "p:nth-child(3)", "p:nth-of-type(2)", "p:not(.a)", "#i, .d"].map(mark))`, `["1,3","1,2,3","1","1","1","3","3","3",",2"]`},
		{`new HTMLRewriter().on("a:hover", {})`, `TypeError: Parser error: parse the selector "a:hover": the pseudo-class :hover is not supported`},
	})
}
