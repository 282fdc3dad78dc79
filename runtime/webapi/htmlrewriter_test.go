package webapi_test

import (
	"testing"

	"minido.dev/minido/runtime/webapi/webapitest"
)

// HTMLRewriter selects, mutates and passes through as the reference does; each
// answer was also given by workerd.
func TestHTMLRewriter(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`globalThis.rw = (html, selector, handlers, doc) => {
		const r = new HTMLRewriter();
		if (selector) r.on(selector, handlers);
		if (doc) r.onDocument(doc);
		return r.transform(new Response(html)).text();
	};
	globalThis.mark = (selector) => rw('<div class="d"><p class="a b" x="abc">1</p><b id="i">2</b><p x="1">3</p></div>', selector, { element(e) { e.setAttribute("M", ""); } })
		.then((s) => [...s.matchAll(/<[^>]* m="">(\d?)/g)].map((m) => m[1]).join());`)
	w.Tries([][2]string{
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
		{`new HTMLRewriter().on("a:hover", {})`, `TypeError: Parser error: Unsupported pseudo-class or pseudo-element in selector.`},
	})
}

// Of attributes with one name all are kept and the first counts; what was put in
// the place of something stays when it is removed as well; an element within
// removed content is removed; foreign content ends where HTML does not allow it
// to go on (HTML, section 13.2.6.5). Each answer was also given by workerd.
func TestHTMLRewriterOddDocuments(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`globalThis.rw = (html, selector, handlers) => new HTMLRewriter().on(selector, handlers).transform(new Response(html)).text();
	globalThis.spaces = async (html) => { const seen = []; await rw(html, "*", { element(e) { seen.push(e.tagName + " " + e.namespaceURI.slice(-4)); } }); return seen.join(); };
	globalThis.odd = (fn) => rw("<div a=1 class=x CLASS='y' b class=z>t</div>", "div", { element: fn })`)
	w.Tries([][2]string{
		{`odd((e) => e.setAttribute("class", "N"))`, `<div a=1 class="N" CLASS='y' b class=z>t</div>`},
		{`odd((e) => e.removeAttribute("class"))`, `<div a=1 b>t</div>`},
		{`odd((e) => e.prepend(JSON.stringify([...e.attributes, e.getAttribute("class")])))`, `<div a=1 class=x CLASS='y' b class=z>[["a","1"],["class","x"],["class","y"],["b",""],["class","z"],"x"]t</div>`},
		{`odd((e) => { const it = e.attributes; e.removeAttribute("none"); it.next(); })`, `Error: The attributes of this element have been modified during iteration. You must create a new iterator after modifying attributes.`},
		{`Promise.all(["[class=x]", "[class=y]", ".z"].map((s) => rw("<i class=x class=y class=z>", s, { element(e) { e.before("m"); } })))`, `["m<i class=x class=y class=z>","<i class=x class=y class=z>","<i class=x class=y class=z>"]`},
		{`rw("<p>a<b>c</b>d</p>", "b", { element(e) { e.replace("R"); e.remove(); } })`, `<p>aRd</p>`},
		{`rw("<p>a<b>c</b>d</p>", "b", { element(e) { e.replace("R"); e.removeAndKeepContent(); e.setInnerContent("I"); } })`, `<p>aRId</p>`},
		{`rw("<p>a<!--c--></p>", "p", { text(t) { if (t.text) t.replace("R").remove(); }, comments(c) { c.replace("C"); c.remove(); } })`, `<p>RC</p>`},
		{`(async (seen) => { await rw("<p><b><i></i></b></p><u></u>", "*", { element(e) { if (e.tagName === "p") e.setInnerContent(""); seen.push(e.tagName + e.removed); } }); return seen; })([])`, `["pfalse","btrue","itrue","ufalse"]`},
		{`(async (seen) => { for (const s of ["<!--a--!>", "<!-->", "<!--->", "<!---->", "<!--a--->", "<!--a--!b-->", "<!--a-", "<!--a--", "<!--a"]) await rw("<p>" + s, "p", { comments(c) { seen.push(c.text); } }); return seen; })([])`, `["a","","","","a-","a--!b","a","a","a"]`},
		{`spaces("<svg><g></g><div></div><g></g></svg><b></b>")`, `svg /svg,g /svg,div html,g html,b html`},
		{`spaces("<svg><font></font><font color=red></font><g></g></svg>")`, `svg /svg,font /svg,font html,g html`},
		{`spaces("<math><mi><b></b></mi><mo></mo><p></p><mo></mo></math>")`, `math thML,mi thML,b html,mo thML,p html,mo html`},
		{`spaces("<svg><foreignObject><div><svg></svg></div></foreignObject><g></g></p><g></g></svg>")`, `svg /svg,foreignobject /svg,div html,svg /svg,g /svg,g html`},
	})
}
