package webapi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// Headers: case-insensitive, values trimmed and joined, iteration sorted and in
// lower case, Set-Cookie apart, errors in workerd's words.
func TestHeaders(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`new Headers({a: " b "}).get("A")`, "b"},
		{`[...new Headers([["b","2"],["A","1"],["B"," 3 "]])]`, `[["a","1"],["b","2, 3"]]`},
		{`[...new Headers([["Set-Cookie","1"],["z","2"],["set-cookie","3"],["B","4"]])]`, `[["b","4"],["set-cookie","1"],["set-cookie","3"],["z","2"]]`},
		{`new Headers([["Set-Cookie","1"],["set-cookie","3"]]).getSetCookie()`, `["1","3"]`},
		{`new Headers([["Set-Cookie","1"],["set-cookie","3"]]).getAll("SET-cookie")`, `["1","3"]`},
		{`new Headers().getAll("x")`, `TypeError: getAll() can only be used with the header name "Set-Cookie".`},
		{`new Headers({"b c": "1"})`, `TypeError: Invalid header name.`},
		{`new Headers({"b": "1\n2"})`, `TypeError: Invalid header value.`},
		{`new Headers([1])`, `TypeError: Incorrect type: the provided value is not of type 'Sequence'.`},
		{`new Headers([{}])`, `TypeError: Incorrect type: the provided value is not of type 'Sequence'.`},
		{`[new Headers().get(""), new Headers().has("")]`, `[null,false]`},
		{`new Headers().get("a b")`, `TypeError: Invalid header name.`},
		{`new Headers([["b"]])`, `TypeError: To initialize a Headers object from a sequence, each inner sequence must have exactly two elements.`},
		{`new Headers(5)`, `TypeError: Failed to construct 'Headers': constructor parameter 1 is not of type 'Headers or Sequence or object'.`},
		{`new Headers(null)`, `TypeError: Failed to construct 'Headers': constructor parameter 1 is not of type 'Headers or Sequence or object'.`},
		{`new Headers().get()`, `TypeError: Failed to execute 'get' on 'Headers': parameter 1 is not of type 'string'.`},
		{`(() => { const h = new Headers({a: 1}), g = new Headers(h); g.set("A", 2); g.append("b", 3); return [[...h], [...g.keys()], [...g.values()], g.has("B"), g.get("c")] })()`,
			`[[["a","1"]],["a","b"],["2","3"],true,null]`},
		{`(() => { const h = new Headers([["a","1"],["b","2"],["a","3"]]); h.set("a","9"); h.delete("B"); const out = []; h.forEach((v, k, o) => out.push(k, v, o === h)); return out })()`, `["a","9",true]`},
		{`Object.prototype.toString.call(new Headers) + (Headers.prototype[Symbol.iterator].name === "")`, `[object Headers]true`},
	})
}

// Response: constructor rules, statics and their errors, as workerd has them.
func TestResponse(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`new Response("x", {status: 99})`, `RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.`},
		{`new Response("x", {status: 204})`, `TypeError: Response with null body status (101, 204, 205, or 304) cannot have a body.`},
		{`new Response(null, {status: 204}).status`, `204`},
		{`new Response("x", {status: "201"}).status`, `201`},
		{`new Response("x", {status: NaN})`, `RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.`},
		{`new Response("x", {statusText: "a\nb"})`, `TypeError: Invalid statusText`},
		{`new Response("a", 5)`, `TypeError: Failed to construct 'Response': constructor parameter 2 is not of type 'InitializerDict or Response'.`},
		{`new Response("x", {headers: null})`, `TypeError: Incorrect type for the 'headers' field on 'InitializerDict': the provided value is not of type 'Headers or Sequence or object'.`},
		{`new Response("x", {encodeBody: "x"})`, `TypeError: encodeBody: unexpected value: x`},
		{`Response.redirect("/x")`, `TypeError: Unable to parse URL: /x`},
		{`Response.redirect("http://a/b", 200)`, `RangeError: 200 is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308.`},
		{`(r => [r.status, r.headers.get("location")])(Response.redirect("http://a/b"))`, `[302,"http://a/b"]`},
		{`Response.redirect("http://a/b").headers.set("a", "b")`, `TypeError: Can't modify immutable headers.`},
		{`(r => [r.status, r.type])(Response.error())`, `[0,"error"]`},
		{`(async r => [r.headers.get("content-type"), await r.json()])(Response.json({a: 1}, {status: 404}))`, `["application/json",{"a":1}]`},
		{`Response.json({}, {headers: {"Content-Type": "x/y"}}).headers.get("content-type")`, `x/y`},
		{`(r => [r.url, r.redirected, r.type, r.ok, r.status, r.statusText, r.cf, r.webSocket, r.body])(new Response())`, `["",false,"default",true,200,"",null,null,null]`},
		{`new Response("a").headers.get("content-type")`, `text/plain;charset=UTF-8`},
		{`new Response(new Uint8Array(1)).headers.get("content-type")`, `null`},
		{`new Response(5).text()`, `5`},
		{`new Response({}).text()`, `[object Object]`},
		{`new Response(new String("x")).text()`, `x`},
		{`new Response(null).text()`, ``},
		{`new Response("\uFEFFabc").text()`, `abc`},
		{`new Response(new Uint8Array([0xff,0xc3,0x28,0xe2,0x82])).text().then(escape)`, `%uFFFD%uFFFD%28%uFFFD`},
		{`new Response(new Uint16Array([65,66])).arrayBuffer().then(b => [b instanceof ArrayBuffer, b.byteLength])`, `[true,4]`},
		{`new Response(new DataView(new Uint8Array([65,66,67]).buffer, 1, 2)).bytes().then(b => [b.constructor.name, ...b])`, `["Uint8Array",66,67]`},
		{`new Response("{").json().catch(e => e.name)`, `SyntaxError`},
		{`(async r => { r.text(); return r.text() })(new Response("a"))`, `TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice.`},
		{`(async r => { const c = r.clone(); return [await r.text(), await c.text(), r.bodyUsed] })(new Response("a"))`, `["a","a",true]`},
		{`(r => { const q = new Response("b", r); return [q.status, q.headers.get("x"), q.statusText] })(new Response("a", {status: 404, statusText: "No", headers: {x: "1"}}))`, `[404,"1","No"]`},
		{`(r => r.cf.a)(new Response("a", {cf: {a: [1]}}))`, `[1]`},
	})
	w.Run(`class R extends Response { get twice() { return this.status * 2 } }; const r = new R("x", {status: 201}); say([r.twice, r instanceof Response, await r.text()])`)
	w.Said("402,true,x")
}

// Request: constructor rules and their errors, as workerd has them.
func TestRequest(t *testing.T) {
	w := webapitest.New(t)
	post := `new Request("http://x/", {method: "POST", body: "abc"})`
	w.Tries([][2]string{
		{`new Request("/x")`, `TypeError: Invalid URL: /x`},
		{`new Request("http://x/", {method: "GET", body: "x"})`, `TypeError: Request with a GET or HEAD method cannot have a body.`},
		{`new Request("http://x/", {method: "foo"})`, `TypeError: Invalid HTTP method string: foo`},
		{`new Request("http://x/", {method: "post"}).method`, `POST`},
		{`new Request("http://x/", {redirect: "error"})`, `TypeError: Invalid redirect value, must be one of "follow" or "manual" ("error" won't be implemented since it does not make sense at the edge; use "manual" and check the response status code).`},
		{`new Request("HTTP://u:p@X/#f").url`, `http://u:p@x/#f`},
		{`new Request("http://x/", 5)`, `TypeError: Failed to construct 'Request': constructor parameter 2 is not of type 'RequestInitializerDict or Request'.`},
		{`new Request("http://x/", {headers: null})`, `TypeError: Incorrect type for the 'headers' field on 'RequestInitializerDict': the provided value is not of type 'Headers or Sequence or object'.`},
		{`new Request("http://x/", {integrity: "foo"})`, `TypeError: Subrequest integrity checking is not implemented. The integrity option must be either undefined or an empty string.`},
		{`new Request("http://x/", {cache: "foo"})`, `TypeError: Unsupported cache mode: foo`},
		{`new Request("http://x/", {cache: "no-store"}).cache`, `no-store`},
		{`(r => [r.url, r.cache, r.redirect, r.integrity, r.keepalive, r.fetcher, r.cf, r.body, r.method])(new Request("http://x/", {duplex: "half", mode: "cors"}))`, `["http://x/",null,"follow","",false,null,null,null,"GET"]`},
		{`(async r => { const q = new Request(r); return [r.bodyUsed, q.bodyUsed, await q.text()] })(` + post + `)`, `[true,false,"abc"]`},
		{`(async r => { const q = new Request(r, {body: "new", headers: {a: "b"}}); return [r.bodyUsed, await q.text(), [...q.headers]] })(` + post + `)`, `[false,"new",[["a","b"],["content-type","text/plain;charset=UTF-8"]]]`},
		{`(async r => { await r.text(); return new Request(r) })(` + post + `)`, `TypeError: Cannot reconstruct a Request with a used body.`},
		{`(async r => { const c = r.clone(); return [await r.text(), await c.text(), c.method] })(` + post + `)`, `["abc","abc","POST"]`},
		{`(async r => { const c = new Request(r.clone()); return [await c.text(), await r.text()] })(new Request("http://x/", {method: "POST", body: new ReadableStream({start(c) { c.enqueue(new TextEncoder().encode("abc")); c.close() }})}))`, `["abc","abc"]`},
	})
}

// fetch: the request as the network sees it, the answer as JavaScript sees it.
func TestFetch(t *testing.T) {
	w := webapitest.New(t)
	var saw []string
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		event.ReadAll(req.Body, 0, func(body []byte, err error) {
			saw = append(saw, fmt.Sprint(req.Method, " ", req.URL, " ", req.Header, " ", string(body)))
			done(&event.Response{Status: 200, StatusText: "OK", Header: event.Header{{Name: "X", Value: "1"}}, Body: event.Bytes([]byte(`{"a":1}`))}, nil)
		})
		return func(error) {}
	}
	w.Tries([][2]string{
		{`fetch("http://x/a#f", {method: "PUT", body: "b", headers: {q: 1}}).then(async r => [r.url, r.redirected, r.status, r.statusText, r.headers.get("x"), await r.json()])`, `["http://x/a",false,200,"OK","1",{"a":1}]`},
		{`fetch("http://x/").then(r => r.headers.set("a", "b"))`, `TypeError: Can't modify immutable headers.`},
		{`fetch("/x")`, `TypeError: Invalid URL: /x`},
		{`fetch("x:y")`, `TypeError: Fetch API cannot load: x:y`},
		{`fetch("data:text/plain;base64,aGk=").then(async r => [await r.text(), r.headers.get("content-type")])`, `["hi","text/plain"]`},
		{`fetch("data:,a%20b").then(async r => [await r.text(), r.headers.get("content-type")])`, `["a b","text/plain;charset=US-ASCII"]`},
	})
	if len(saw) != 2 || saw[0] != "PUT http://x/a [{q 1} {Content-Type text/plain;charset=UTF-8}] b" {
		t.Errorf("the network saw %q", saw)
	}
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		done(nil, errors.New("connection refused"))
		return func(error) {}
	}
	w.Tries([][2]string{{`fetch("http://x/")`, `Error: connection refused`}})
}

// Redirects are followed up to 20 times, with the methods of the standard, a
// buffered body is sent again, a streamed one cannot be, Authorization stays
// at its origin.
func TestRedirects(t *testing.T) {
	w := webapitest.New(t)
	var saw []string
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		event.ReadAll(req.Body, 0, func(body []byte, err error) {
			saw = append(saw, strings.TrimSpace(fmt.Sprint(req.Method, " ", req.URL, " ", req.Header.Get("authorization"), " ", string(body))))
			var code int
			var target string
			if n, _ := fmt.Sscanf(req.URL, "http://a/%d/%s", &code, &target); n == 2 {
				done(&event.Response{Status: code, Header: event.Header{{Name: "Location", Value: strings.ReplaceAll(target, "_", "/")}}}, nil)
				return
			}
			done(&event.Response{Status: 200, Body: event.Bytes([]byte("end"))}, nil)
		})
		return func(error) {}
	}
	get := func(path, init string) string {
		return `fetch("http://a` + path + `", ` + init + `).then(async r => [r.status, r.url, r.redirected, await r.text()])`
	}
	init := `{method: "POST", body: "x", headers: {authorization: "me"}}`
	w.Tries([][2]string{
		{get("/302/_end", init), `[200,"http://a/end",true,"end"]`},
		{get("/307/_end", init), `[200,"http://a/end",true,"end"]`},
		{get("/303/http:__b_end", init), `[200,"http://b/end",true,"end"]`},
		{get("/302/_end", `{redirect: "manual"}`), `[302,"http://a/302/_end",false,""]`},
		{get("/302/_302__302__end", `{}`), `[200,"http://a/end",true,"end"]`},
		{get("/301/ftp:__x", `{}`), `TypeError: Invalid Location header; unable to follow redirect.`},
	})
	want := []string{"POST http://a/302/_end me x", "GET http://a/end me", "POST http://a/307/_end me x", "POST http://a/end me x",
		"POST http://a/303/http:__b_end me x", "GET http://b/end", "GET http://a/302/_end"}
	if fmt.Sprint(saw[:len(want)]) != fmt.Sprint(want) {
		t.Errorf("the network saw\n%q, want\n%q", saw[:len(want)], want)
	}
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		saw = append(saw, req.URL)
		done(&event.Response{Status: 302, Header: event.Header{{Name: "Location", Value: req.URL}}}, nil)
		return func(error) {}
	}
	saw = nil
	w.Tries([][2]string{{get("/", `{}`), "TypeError: Too many redirects.http://a/" + strings.Repeat(", http://a/", exchange.MaxRedirects)}})
	if len(saw) != 21 {
		t.Errorf("%d requests, want 21", len(saw))
	}
}

// A native body is read once, by whichever method, also when it arrives in
// pieces or breaks.
func TestNativeBodies(t *testing.T) {
	w := webapitest.New(t)
	pipe := event.NewPipe(-1)
	w.Turn(func() {
		w.Platform.VM.Set("request", w.Platform.Fetch.RequestFromEvent(&event.Request{Method: "POST", URL: "http://x/", Body: pipe,
			Header: event.Header{{Name: "Content-Type", Value: "text/plain"}}, CF: []byte(`{"colo":"X"}`)}))
	})
	w.Run(`say(request.bodyUsed); const p = request.text(); say(request.bodyUsed); say(await p); say(request.cf.colo); say(request.headers.get("content-type"))
		try { await request.text() } catch (e) { say(e.message.slice(0, 27)) }
		try { request.headers.set("a", "b") } catch (e) { say(e.message) }`)
	pipe.Write([]byte("ab\xc3"), func(error) {})
	for w.Sched.Step() {
	}
	pipe.Write([]byte("\xa9"), func(error) {})
	pipe.Close(nil)
	for w.Sched.Step() {
	}
	w.Said("false", "true", "abé", "X", "text/plain", "Body has already been used.", "Can't modify immutable headers.")
	broken := event.NewPipe(-1)
	broken.Close(errors.New("connection reset"))
	w.Turn(func() {
		w.Platform.VM.Set("response", w.Platform.Fetch.ResponseFromEvent(&event.Response{Status: 200, Body: broken}))
	})
	w.Run(`try { await response.json() } catch (e) { say(e.message) }`)
	w.Said("connection reset")
}

// What a handler returns becomes an event; anything but a Response is the
// TypeError of the reference; a foreign body passes through untouched.
func TestResponseToEvent(t *testing.T) {
	w := webapitest.New(t)
	w.Turn(func() {
		v, _ := w.Platform.VM.RunString(`5`)
		if _, err := w.Platform.Fetch.ResponseToEvent(v, nil); err == nil || err.Error() != "TypeError: Incorrect type for Promise: the Promise did not resolve to 'Response'." {
			t.Errorf("error: %v", err)
		}
		foreign := event.NewPipe(7)
		w.Platform.VM.Set("r", w.Platform.Fetch.ResponseFromEvent(&event.Response{Status: 201, Body: foreign, Header: event.Header{{Name: "A", Value: "b"}}}))
		v, _ = w.Platform.VM.RunString(`r.headers.get("a"); new Response("x"); r`)
		ev, err := w.Platform.Fetch.ResponseToEvent(v, nil)
		if err != nil || ev.Body != event.Body(foreign) || ev.Status != 201 {
			t.Errorf("%+v, %v", ev, err)
		}
		if _, err := w.Platform.Fetch.ResponseToEvent(v, nil); err == nil || !strings.Contains(err.Error(), "already been used") {
			t.Errorf("twice: %v", err)
		}
		v, _ = w.Platform.VM.RunString(`new Response("x", {status: 404, headers: {q: "1"}, encodeBody: "manual"})`)
		ev, err = w.Platform.Fetch.ResponseToEvent(v, nil)
		whole, _ := event.Buffered(ev.Body)
		if err != nil || string(whole) != "x" || ev.Status != 404 || ev.EncodeBody != "manual" || fmt.Sprint(ev.Header) != "[{q 1} {Content-Type text/plain;charset=UTF-8}]" {
			t.Errorf("%+v, %v", ev, err)
		}
	})
}

// What belongs to one request is refused to another; I/O in the global scope
// is refused; a part that is missing names itself.
func TestForeignContext(t *testing.T) {
	w := webapitest.New(t)
	w.Turn(func() {
		for _, name := range []string{"r", "s"} {
			w.Platform.VM.Set(name, w.Platform.Fetch.RequestFromEvent(&event.Request{Method: "POST", URL: "http://x/", Body: event.NewPipe(-1)}))
		}
	})
	w.Run(`const [a] = Object.values(new WebSocketPair()); a.accept(); Object.assign(globalThis, { a, made: ["a", "b", "c"].map((text) => new Response(text)), empty: new Response(null) }); r.body; s.body`)
	w.Context = w.Platform.Engine.NewContext(engine.RequestContext, "")
	w.Run(`for (const f of [() => r.text(), () => s.body.getReader().read(), () => a.send("x"), () => made[0].text(), () => made[1].clone()]) try { await f() } catch (e) { say(e.message.slice(0, 58)) }`)
	const refused = "Cannot perform I/O on behalf of a different request. I/O o"
	w.Said(refused, refused, refused, refused, refused)
	// As in workerd 1.20261117.1 the body is used then, and the text is that of who reads.
	w.Run(`say(made[0].bodyUsed + await empty.text()); try { await made[0].text() } catch (e) { say(e.message.slice(0, 27)) }`)
	w.Said("true", "Body has already been used.")
	w.Context = w.Platform.Engine.NewContext(engine.ObjectContext, "")
	w.Run(`try { await made[2].text() } catch (e) { say(e.message.slice(0, 59)); say(e.message.slice(-34)) }`)
	w.Said("Cannot perform I/O on behalf of a different Durable Object.", " (I/O type: ReadableStreamSource>)")
	w.Platform.Engine.Post(engine.GlobalFrame, "test", func() {
		w.Platform.VM.RunString(`fetch("http://x/").catch(e => say(e.message.slice(0, 42))); try { new WebSocketPair() } catch (e) { say(e.message.slice(0, 42)) } try { new Response("x") } catch (e) { say(e.message.slice(0, 42)) } new Response(null).text().then(s => say("none" + s))`)
	})
	for w.Sched.Step() {
	}
	const global = "Disallowed operation called within global "
	w.Said(global, global, global, "none")
	w.Run(`try { await caches.default.match("http://x") } catch (e) { say(e.message.slice(0, 40)) } try { await caches.keys() } catch (e) { say(e.message) }`)
	w.Said("No Cache was configured", "Failed to execute 'keys' on 'CacheStorage': the method is not implemented.")
}

// Beacon, section 3: a POST leaves, and nobody hears of its end; as in workerd a
// URL that cannot be fetched is no error. Navigator's languages are one frozen array.
func TestBeacon(t *testing.T) {
	w := webapitest.New(t)
	var saw []string
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		saw = append(saw, req.Method+" "+req.URL)
		done(nil, errors.New("gone"))
		return func(error) {}
	}
	w.Tries([][2]string{
		{`navigator.sendBeacon("http://a.test/x", new Blob(["z"]))`, `true`},
		{`navigator.sendBeacon("ftp://a.test/")`, `true`},
		{`navigator.sendBeacon("http://a.test/", new ReadableStream())`, `TypeError: Failed to execute 'sendBeacon' on 'Navigator': a ReadableStream cannot be sent.`},
		{`(() => { for (const url of ["http://[", "/relative"]) try { navigator.sendBeacon(url); } catch (e) { return url } return "as in workerd" })()`, `as in workerd`},
		{`[navigator.languages === navigator.languages, Object.isFrozen(navigator.languages), ...navigator.languages]`, `[true,true,"en"]`},
	})
	if want := []string{"POST http://a.test/x"}; !slices.Equal(saw, want) {
		t.Errorf("%q, want %q", saw, want)
	}
}

// DOM, "abort" of a fetch (Fetch, section 5.6): the promise rejects with the
// signal's reason and the body that is sent is cancelled with it, whatever the
// network says when it is cancelled.
func TestAbortBeforeTheResponse(t *testing.T) {
	w := webapitest.New(t)
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		return func(error) { done(nil, errors.New("the network's own error")) }
	}
	const abort = `const c = new AbortController(), p = fetch("http://a.test/", { signal: c.signal }); `
	w.Tries([][2]string{
		{`(() => { ` + abort + `c.abort(); return p })()`, `AbortError: The operation was aborted`},
		{`(() => { ` + abort + `c.abort("text"); return p.catch((e) => ["rejected", String(e)]) })()`, `["rejected","Error: text"]`},
		{`(() => { const why = new RangeError("why"); ` + abort + `c.abort(why); return p.catch((e) => e === why) })()`, `true`},
		{`fetch("http://a.test/", { signal: AbortSignal.timeout(5) })`, `TimeoutError: The operation was aborted due to timeout`},
		{`(async () => {
			const c = new AbortController(), why = { why: 1 }; let told;
			const told1 = new Promise((resolve) => { told = resolve });
			const body = new ReadableStream({ pull(k) { k.enqueue(new Uint8Array(1)) }, cancel: told });
			const p = fetch("http://a.test/", { method: "POST", body, signal: c.signal });
			c.abort(why);
			return [await p.catch((e) => e === why), await told1 === why];
		})()`, `[true,true]`},
	})
	w.Platform.Engine.Post(engine.GlobalFrame, "load", func() {
		if v, err := w.Platform.VM.RunString(`navigator.sendBeacon("http://a.test/")`); err != nil || v.ToBoolean() {
			t.Errorf("a beacon in the global scope: %v %v", v, err)
		}
	})
	for w.Sched.Step() {
	}
}

// What cannot be fetched: before fetch_standard_url a text that is no URL is found when
// it is fetched. Keys of caches are read by workerd's older rules at every date.
func TestUnfetchable(t *testing.T) {
	for _, off := range []bool{false, true} {
		w := webapitest.New(t)
		w.Off[compat.FetchStandardUrl] = off
		rows := [][2]string{
			{`await fetch("ftp://x/y")`, `TypeError: Fetch API cannot load: ftp://x/y`},
			{`await fetch("mailto:a@b")`, `TypeError: Fetch API cannot load: mailto:a@b`},
			{`await fetch("data:,ok").then((r) => r.text())`, `ok`},
		}
		if off {
			for _, text := range []string{"/rel", "data", "", "http://", "http://a b/", "http://[::1", "http://a:x/", "foo://bar baz"} {
				rows = append(rows, [2]string{`await fetch("` + text + `")`, `TypeError: Invalid URL string.`})
			}
			rows = append(rows, [2]string{`await fetch("http:x")`, `TypeError: Fetch API cannot load: http:x`})
		}
		w.Tries(rows)
	}
}

// A header's value beyond ASCII is told, with its bytes, each time that code gives it;
// not where it is copied. Compared with workerd 1.20261117.1.
func TestHeadersBeyondASCII(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`const h = new Headers({ "X-Up": "aé\t" }); new Headers(h).get("x-up"); new Response("", h); h.append("x-plain", "a");
		new Response("", { headers: [["x-b", "ü"]] });
		try { h.set("x é", "é\n.") } catch (e) { say(e.message) }; try { h.set("x", "é\0") } catch (e) { say(e.message) }`)
	logs := w.Logs
	w.Logs = nil
	w.Said("Invalid header value.", "Invalid header value.")
	const rest = `As a quirk to support Unicode, we are encoding values as UTF-8 in the header, but in a browser this would likely result in a TypeError exception. ` +
		`Consider encoding this string in ASCII for compatibility with browser implementations of the Fetch specification.`
	want := []string{
		"A header value for \"X-Up\" contains non-ASCII characters: \"aé\t\" (raw bytes: \"\\x61\\xc3\\xa9\\x9\"). " + rest,
		`A header value for "x-b" contains non-ASCII characters: "ü" (raw bytes: "\xc3\xbc"). ` + rest,
		"A header value for \"x é\" contains non-ASCII characters: \"é\n.\" (raw bytes: \"\\xc3\\xa9\\xa\\x2e\"). " + rest,
	}
	if !slices.Equal(logs, want) {
		t.Errorf("%q\nwant\n%q", logs, want)
	}
}
