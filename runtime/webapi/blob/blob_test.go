package blob_test

import (
	"encoding/hex"
	"testing"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// File API, section 3: parts, size, type and slices of Blobs.
func TestBlob(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`(b => [b.size, b.type])(new Blob())`, `[0,""]`},
		{`new Blob(["a€", new Uint8Array([98, 99]), new Uint8Array([100]).buffer, new Blob(["e"]), 5, null, "\ud800"]).text()`, "a€bcde5null\ufffd"},
		{`new Blob(new Set(["x", "y"]))`, `TypeError: Failed to construct 'Blob': constructor parameter 1 is not of type 'Array'.`},
		{`new File(new Set(["x"]), "n")`, `TypeError: Failed to construct 'File': constructor parameter 1 is not of type 'Array'.`},
		{`["Text/HTML; Charset=x", "a\u0001", "é", undefined, null].map(type => new Blob([], {type}).type)`, `["text/html; charset=x","","","","null"]`},
		{`new Blob("x")`, `TypeError: Failed to construct 'Blob': constructor parameter 1 is not of type 'Array'.`},
		{`new Blob({})`, `TypeError: Failed to construct 'Blob': constructor parameter 1 is not of type 'Array'.`},
		{`new Blob([], 5)`, `TypeError: Failed to construct 'Blob': constructor parameter 2 is not of type 'Options'.`},
		{`new Blob([Symbol()])`, `TypeError: Cannot convert a Symbol value to a string`},
		{`Promise.all([[], [2], [-2], [1, 3], [1, -1], [3, 1], [9], [0, 2**31-1], [NaN], [undefined, 2]].map(a => new Blob(["abcd"]).slice(...a).text()))`,
			`["abcd","cd","cd","bc","bc","","","abcd","abcd","ab"]`},
		{`[new Blob(["a"], {type: "x/y"}).slice().type, new Blob(["a"]).slice(0, 1, "X/Y").type]`, `["","x/y"]`},
		{`Object.prototype.toString.call(new Blob())`, `[object Blob]`},
		{`Blob.prototype.text.call({})`, `TypeError: ` + engine.IllegalInvocation},
		{`(async () => { class B extends Blob { more() { return this.text() } } return [await new B(["s"]).more(), new B() instanceof Blob] })()`, `["s",true]`},
	})
}

// File API, section 3.3: each way to read a Blob gives bytes of its own.
func TestBlobReading(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`(async b => { const x = await b.bytes(); x[0] = 0; const y = new Uint8Array(await b.arrayBuffer()); y[1] = 0; return [Array.from(x), Array.from(y), await b.text()] })(new Blob(["ab"]))`, `[[0,98],[97,0],"ab"]`},
		{`(async u => { const b = new Blob([u]); u[0] = 0; return b.text() })(new Uint8Array([97]))`, `a`},
		{`(async a => { const b = new Blob([a, "x"]), c = new Blob([a, "y"]), d = new Blob([a]); return [await b.text(), await c.text(), await d.text(), await a.text()] })(new Blob(["abcdef"]).slice(1, 3))`, `["bcx","bcy","bc","bc"]`},
		{`(async b => { const c = (await b.stream().getReader().read()).value, s = new TextDecoder().decode(c); c.fill(0); return [s, await b.text(), b.stream() !== b.stream()] })(new Blob(["hello"]))`, `["hello","hello",true]`},
		{`(async () => { const r = await new Blob([]).stream().getReader().read(); return r.done })()`, `true`},
		{`new Blob(["\ufeffa"]).text().then(s => s.length)`, `2`},
		{`(async b => [b.type, await b.text()])(await new Response("hi", {headers: {"content-type": "A/B"}}).blob())`, `["a/b","hi"]`},
		{`(async r => [r.headers.get("content-type"), await r.text()])(new Response(new Blob(["hi"], {type: "a/b"})))`, `["a/b","hi"]`},
	})
}

// File API, section 4: a File is a Blob with a name and a date.
func TestFile(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`(f => [f.name, f.lastModified, f.type, f.size, f instanceof Blob])(new File(["abc"], "n\ud800", {type: "A/B", lastModified: 12}))`, "[\"n\ufffd\",12,\"a/b\",3,true]"},
		{`[new File([], "n").lastModified === Date.now(), new File([], "n", {lastModified: NaN}).lastModified, new File([], undefined).name]`, `[true,0,"undefined"]`},
		{`new File(["ab"], "n").slice(1).text()`, `b`},
		{`new File(["ab"], "n").slice(1) instanceof File`, `false`},
		{`new File()`, `TypeError: Failed to construct 'File': constructor parameter 1 is not of type 'Array'.`},
		{`new File([])`, `TypeError: Failed to construct 'File': constructor parameter 2 is not of type 'string'.`},
		{`Object.getOwnPropertyDescriptor(File.prototype, "name").get.call(new Blob())`, `TypeError: ` + engine.IllegalInvocation},
	})
}

// HTML, section 2.7: a Blob can be cloned, as workerd's bytes (tag 15: type,
// then content); a File cannot.
func TestBlobCodec(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`(async b => [b instanceof Blob, b.type, await b.text()])(structuredClone(new Blob(["hé"], {type: "a/b"})))`, `[true,"a/b","hé"]`},
		{`structuredClone(new FormData())`, `DataCloneError: Could not serialize object of type "FormData". This type does not support serialization.`},
	})
	w.Turn(func() {
		v, err := w.Platform.VM.RunString(`new Blob(["hi"], {type: "a/b"})`)
		if err != nil {
			t.Fatal(err)
		}
		data, err := w.Platform.Clone.Serialize(v, clone.Options{})
		if got := hex.EncodeToString(data); err != nil || got != "ff0f5c0f03612f62026869" {
			t.Errorf("%s, %v", got, err)
		}
		for n := range data {
			if _, err := w.Platform.Clone.Deserialize(data[:n], clone.Options{}); err == nil {
				t.Errorf("%d of %d bytes were read", n, len(data))
			}
		}
	})
}

// As in workerd, a File is no serializable object.
func TestCloneFile(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`structuredClone({ f: new File(["a"], "n") })`, `DataCloneError: Could not serialize object of type "File". This type does not support serialization.`},
		{`structuredClone(new Blob(["a"])).size`, "1"},
	})
}
