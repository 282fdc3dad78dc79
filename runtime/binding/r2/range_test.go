package r2_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// Objects have the members of workerd's, what was not given as undefined, and calls need their
// arguments (wrangler 4.164.0).
func TestShapes(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(request, { B, K }) {
  const out = [], members = (o) => { const names = []; for (const name in o) names.push(name); return names.join(); };
  for (const f of [() => B.get(), () => B.head(), () => B.put(), () => B.put("x"), () => B.delete(), () => B.createMultipartUpload(), () => B.resumeMultipartUpload("a"), () => K.get(), () => K.getWithMetadata()]) {
    try { await f(); out.push("ok"); } catch (e) { out.push(e.name + ": " + e.message); }
  }
  await B.put("k", "v", { httpMetadata: { contentType: "a/b" } });
  const o = await B.get("k");
  out.push(Object.keys(o.httpMetadata).join(), JSON.stringify(o.httpMetadata), members(o), members(B), members(o.checksums), Object.keys(o.checksums).join(), Object.keys(o.checksums.toJSON()).join());
  return new Response(out.join("\n"));
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "r2_buckets": [{"binding": "B", "bucket_name": "bucket"}], "kv_namespaces": [{"binding": "K", "id": "k"}]}`,
	}, minidotest.Options{})
	want := `TypeError: Failed to execute 'get' on 'R2Bucket': parameter 1 is not of type 'string'.
TypeError: Failed to execute 'head' on 'R2Bucket': parameter 1 is not of type 'string'.
TypeError: Failed to execute 'put' on 'R2Bucket': parameter 1 is not of type 'string'.
TypeError: Failed to execute 'put' on 'R2Bucket': parameter 2 is not of type 'JsReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'.
TypeError: Failed to execute 'delete' on 'R2Bucket': parameter 1 is not of type 'string or Array'.
TypeError: Failed to execute 'createMultipartUpload' on 'R2Bucket': parameter 1 is not of type 'string'.
TypeError: Failed to execute 'resumeMultipartUpload' on 'R2Bucket': parameter 2 is not of type 'string'.
TypeError: Failed to execute 'get' on 'KvNamespace': parameter 1 is not of type 'string or Array'.
TypeError: Failed to execute 'getWithMetadata' on 'KvNamespace': parameter 1 is not of type 'Array or string'.
contentType,contentLanguage,contentDisposition,contentEncoding,cacheControl,cacheExpiry
{"contentType":"a/b"}
ssecKeyMd5,storageClass,range,customMetadata,httpMetadata,uploaded,checksums,httpEtag,etag,size,version,key,body,bodyUsed,arrayBuffer,bytes,text,json,blob,writeHttpMetadata
head,get,put,createMultipartUpload,resumeMultipartUpload,delete,list
sha512,sha384,sha256,sha1,md5,toJSON
sha512,sha384,sha256,sha1,md5
md5,sha1,sha256,sha384,sha512`
	if got := w.Do("GET", "http://localhost/", "").Body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The Blob of an object has its content type, letter by letter (wrangler 4.164.0).
func TestBlobHasTheContentType(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(request, { B }) {
  const out = [];
  for (const contentType of [undefined, "Text/PLAIN; charset=UTF-8", "", "image/png"]) {
    await B.put("k", "x", { httpMetadata: contentType === undefined ? undefined : { contentType } });
    const blob = await (await B.get("k")).blob();
    out.push(blob.type, await blob.text());
  }
  return Response.json(out);
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "r2_buckets": [{"binding": "B", "bucket_name": "bucket"}]}`,
	}, minidotest.Options{})
	if got, want := w.Do("GET", "http://localhost/", "").Body, `["","x","Text/PLAIN; charset=UTF-8","x","","x","image/png","x"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A Range header that cannot be satisfied gives the whole object, a range as an object is
// refused (wrangler 4.164.0).
func TestUnsatisfiableRanges(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(request, { B }) {
  await B.put("a", "hello");
  const out = [];
  for (const range of [...["bytes=1-2", "bytes=9-", "bytes=3-1", "bytes=9-12", "bytes=-0"].map((range) => new Headers({ range })), { offset: 9 }, { suffix: 0 }]) {
    try { const o = await B.get("a", { range }); out.push(o.range.offset + "+" + o.range.length + " " + await o.text()); } catch (e) { out.push(e.message); }
  }
  return Response.json(out);
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "r2_buckets": [{"binding": "B", "bucket_name": "bucket"}]}`,
	}, minidotest.Options{})
	refused := `"get: The requested range is not satisfiable (10039)"`
	whole := `"0+5 hello"`
	want := `["1+2 el",` + whole + "," + whole + "," + whole + "," + whole + "," + refused + "," + refused + "]"
	if got := w.Do("GET", "http://localhost/", "").Body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What is undefined is a member of workerd's structs from 2025-12-03 on
// (enable_fast_jsg_struct; wrangler 4.164.0 at both dates).
func TestStructs(t *testing.T) {
	for date, want := range map[string]string{ // order-independent: a test of each
		"2025-03-10": `[["offset","length"],[],["objects","truncated","delimitedPrefixes"],["kty","key_ops","alg","ext","k"],["done"]]`,
		"2026-08-01": `[["offset","length","suffix"],["contentType","contentLanguage","contentDisposition","contentEncoding","cacheControl","cacheExpiry"],` +
			`["objects","truncated","cursor","delimitedPrefixes"],` +
			`["kty","use","key_ops","alg","ext","crv","x","y","d","n","e","p","q","dp","dq","qi","oth","k","pub","priv"],["done","value"]]`,
	} {
		w := minidotest.NewWorldFrom(t, map[string]string{
			"w.js": `import { DurableObject } from "cloudflare:workers";
export class O extends DurableObject { end() { const rows = this.ctx.storage.sql.exec("SELECT 1"); rows.next(); return Object.keys(rows.next()); } }
export default { async fetch(request, { B, O }) {
  const { range, httpMetadata } = await B.put("a", "hello").then(() => B.get("a"));
  const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"]);
  return Response.json([...[range, httpMetadata, await B.list(), await crypto.subtle.exportKey("jwk", key)].map((o) => Object.keys(o)), await O.get(O.idFromName("o")).end()]);
} };`,
			"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "` + date + `", "r2_buckets": [{"binding": "B", "bucket_name": "bucket"}],
"durable_objects": {"bindings": [{"name": "O", "class_name": "O"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["O"]}]}`,
		}, minidotest.Options{})
		if got := w.Do("GET", "http://localhost/", "").Body; got != want {
			t.Errorf("%s: got  %s\nwant %s", date, got, want)
		}
	}
}
