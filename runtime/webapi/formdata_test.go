package webapi_test

import (
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// XMLHttpRequest standard, section 5: the list of a FormData.
func TestFormData(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`globalThis.form = (...pairs) => { const f = new FormData(); for (const p of pairs) f.append(...p); return f }`)
	w.Tries([][2]string{
		{`[...form(["a", 1], ["b", "2"], ["a", null])]`, `[["a","1"],["b","2"],["a","null"]]`},
		{`(f => [f.get("a"), f.get("x"), f.getAll("a"), f.getAll("x"), f.has("a"), f.has("x")])(form(["a", 1], ["b", 2], ["a", 3]))`, `["1",null,["1","3"],[],true,false]`},
		{`(f => { f.set("a", 9); f.set("c", 4); return [...f] })(form(["b", 0], ["a", 1], ["b", 2], ["a", 3]))`, `[["b","0"],["a","9"],["b","2"],["c","4"]]`},
		{`(f => { f.delete("a"); f.delete("x"); return [...f] })(form(["a", 1], ["b", 2], ["a", 3]))`, `[["b","2"]]`},
		{`(f => [[...f.keys()], [...f.values()], [...f.entries()], f[Symbol.iterator].name])(form(["a", 1], ["b", 2]))`, `[["a","b"],["1","2"],[["a","1"],["b","2"]],""]`},
		{`(f => { const seen = []; f.forEach(function (v, k, o) { seen.push(k + v + this + (o === f)) }, "t"); return seen })(form(["a", 1], ["b", 2]))`, `["a1ttrue","b2ttrue"]`},
		{`(f => { const seen = []; for (const [k] of f) { seen.push(k); if (seen.length < 3) f.append("n" + seen.length, "") } return seen })(form(["a", 1]))`, `["a","n1","n2"]`},
		{`[...form(["\ud800", "\udc00"])]`, "[[\"\ufffd\",\"\ufffd\"]]"},
		{`new FormData().forEach()`, `TypeError: Failed to execute 'forEach' on 'FormData': parameter 1 is not of type 'function'.`},
		{`new FormData().append("a")`, `TypeError: Failed to execute 'append' on 'FormData': parameter 2 is not of type 'File or Blob or string'.`},
		{`new FormData().get()`, `TypeError: Failed to execute 'get' on 'FormData': parameter 1 is not of type 'string'.`},
		{`Object.prototype.toString.call(new FormData())`, `[object FormData]`},
	})
}

// XMLHttpRequest standard, section 5, create an entry: a Blob becomes a File,
// and a filename renames a File.
func TestFormDataFiles(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`(async f => { f.append("a", new Blob(["x"], {type: "t/u"}), "n.txt"); const v = f.get("a"); return [v instanceof File, v.name, v.type, await v.text(), f.get("a") === v] })(new FormData())`, `[true,"n.txt","t/u","x",true]`},
		{`(f => { f.set("a", new Blob([])); return f.get("a").name })(new FormData())`, `a`},
		{`((f, x) => { f.append("a", x); f.append("a", x, "m"); return [f.getAll("a")[0] === x, f.getAll("a")[1].name] })(new FormData(), new File([], "n"))`, `[true,"m"]`},
		{`(f => { f.append("a", "s", "ignored"); return f.get("a") })(new FormData())`, `s`},
	})
}

// Fetch, section 5.3: a form as a body, and formData() of what arrives.
func TestFormDataBody(t *testing.T) {
	w := webapitest.New(t)
	const sent = `(() => { const f = new FormData(); f.append("a", "1\n2"); f.append("f", new File(["xy"], 'q".txt', {type: "t/u"})); return new Response(f) })()`
	w.Tries([][2]string{
		{`(async r => { const f = await r.formData(), x = f.get("f"); return [f.get("a"), x.name, x.type, await x.text(), x.lastModified === Date.now()] })(` + sent + `)`, `["1\n2","q%22.txt","t/u","xy",true]`},
		{`(r => /^multipart\/form-data; boundary=[0-9a-f]{32}$/.test(r.headers.get("content-type")))(` + sent + `)`, `true`},
		{`(async r => [...await r.formData()])(new Response("a=1&b=%C3%A9+x&a=", {headers: {"content-type": "application/x-www-form-urlencoded"}}))`, `[["a","1"],["b","é x"],["a",""]]`},
		{`(async f => { f.append("a\\b", "c\\"); return [...await new Response(f).formData()] })(new FormData())`, `[["a\\b","c\\"]]`},
		{`(f => { f.append("a\\", ""); return typeof new Response(f) })(new FormData())`, `TypeError: Name or filename can't end with backslash`},
		{`new Response("x", {headers: {"content-type": "text/plain"}}).formData()`, "TypeError: Unrecognized Content-Type header value. FormData can only parse the following MIME types: multipart/form-data, application/x-www-form-urlencoded"},
	})
	w.Off[compat.FormdataParserSupportsFiles] = true
	w.Tries([][2]string{{`(async r => (await r.formData()).get("f"))(` + sent + `)`, `xy`}})
}
