package url

import "testing"

// Classes parse, serialize and change as workerd's do.
func TestURLAgainstReference(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`new URL("x")`, `TypeError: Invalid URL string.`},
		{`new URL("x", "y")`, `TypeError: Invalid URL string.`},
		{`(() => { const u = new URL("http://a/b"); u.href = "::"; return u.href })()`, `TypeError: Failed to set the 'href' property on 'URL': the provided value is not of type 'valid URL string'.`},
		{`new URL()`, `TypeError: Failed to construct 'URL': constructor parameter 1 is not of type 'USVString'.`},
		{`(() => { const u = new URL("http://a/b"); u.port = "99999"; u.host = "b c"; return u.href })()`, `http://a/b`},
		{`[URL.parse("x"), URL.parse("y", "http://a/x").href, URL.canParse("http://x"), URL.canParse("x"), URL.canParse("x", "http://a")]`, `[null,"http://a/y",true,false,true]`},
		{`[Object.keys(new URL("http://a")), Object.prototype.toString.call(new URL("http://x/")), JSON.stringify(new URL("http://a")), String(new URL("http://a"))]`, `[[],"[object URL]","\"http://a/\"","http://a/"]`},
		{`new URLSearchParams([[1]])`, `TypeError: Invalid URL search params sequence.`},
		{`new URLSearchParams([1])`, `TypeError: Incorrect type: the provided value is not of type 'Sequence'.`},
		{`[String(new URLSearchParams({ a: 1, b: "x y" })), String(new URLSearchParams("?a=1&b=%zz+")), new URLSearchParams(5).toString(), String(new URLSearchParams(null)), String(new URLSearchParams(undefined)), String(new URLSearchParams(new Map([["a", "b"]]))), String(new URLSearchParams(new URLSearchParams("q=1")))]`, `["a=1&b=x+y","a=1&b=%25zz+","5=","null=","","a=b","q=1"]`},
		{`new URLSearchParams("a=1").get()`, `TypeError: Failed to execute 'get' on 'URLSearchParams': parameter 1 is not of type 'USVString'.`},
		{`new URLSearchParams("a=1&a=2").size`, `2`},
		{`(() => { const p = new URLSearchParams("a=1&a=2&b=3"); p.delete("a", "2"); return p + "|" + p.has("a", "1") + p.has("a", "9") })()`, `a=1&b=3|truefalse`},
		{`(() => { const p = new URLSearchParams("b=1&a=2&b=0&\u{1F600}=x&\uFFFD=y"); p.sort(); return "" + p })()`, `a=2&b=1&b=0&%F0%9F%98%80=x&%EF%BF%BD=y`},
		{`(() => { const u = new URL("http://x/?a=1#h"); u.searchParams.append("b", "ü &"); return u.href })()`, `http://x/?a=1&b=%C3%BC+%26#h`},
		{`(() => { const u = new URL("http://x/?a=1"); const p = u.searchParams; u.search = "?z=9"; return p.get("z") + (u.searchParams === p) })()`, `9true`},
		{`(() => { const u = new URL("http://x/?a=1"); u.searchParams.delete("a"); return u.href })()`, `http://x/`},
		{`(() => { const u = new URL("http://x/?a=1"); u.href = "http://y/?b=2"; return u.searchParams.get("b") })()`, `2`},
		{`new URLSearchParams({}).forEach(5)`, `TypeError: Failed to execute 'forEach' on 'URLSearchParams': parameter 1 is not of type 'function'.`},
		{`[[...new URLSearchParams("a=1&b=2")], [...new URLSearchParams("a=1&b=2").keys()], [...new URLSearchParams("a=1&b=2").values()], Object.entries(new URLSearchParams("a=1").entries().next()).flat()]`, `[[["a","1"],["b","2"]],["a","b"],["1","2"],["done",false,"value",["a","1"]]]`},
		{`(() => { const l = []; new URLSearchParams("a=1&b=2").forEach(function (v, k, p) { l.push(v + k + this.t + (p instanceof URLSearchParams)) }, { t: 3 }); return l })()`, `["1a3true","2b3true"]`},
		{`(() => { const p = new URLSearchParams("a=1"); p.set("a", 2); p.set("c", null); p.append("c", undefined); return [p.getAll("c"), p.get("nope"), String(p)] })()`, `[["null","undefined"],null,"a=2&c=null&c=undefined"]`},
		{`["http://EXAMPLE.com:80/a/../b?q#f", "http://ünï.de/", "file:///C:/x", "blob:http://a/x", "data:a b", "http://a/b c?d e#f g", "http://a/%zz", "http://[::1]:3/", "http://1.2.3", "HTTP://a\tb", "ws://a:80", "http://a/./b/../../c/%2e%2e/d", "http://a?x'y", "foo://a/b?x'y", "mailto:x@y", "http://a:0/", "http://user:p%40ss@h", "http://h\\x", "http:a", "http://a/?#", "  http://a  ", "javascript:alert(1)", "http://0x7f.1/", "http://a.b./", "http://xn--n-nga1b.de/"].map(s => new URL(s).href)`, `["http://example.com/b?q#f","http://xn--n-nga1b.de/","file:///C:/x","blob:http://a/x","data:a b","http://a/b%20c?d%20e#f%20g","http://a/%zz","http://[::1]:3/","http://1.2.0.3/","http://ab/","ws://a/","http://a/d","http://a/?x%27y","foo://a/b?x'y","mailto:x@y","http://a:0/","http://user:p%40ss@h/","http://h/x","http://a/","http://a/?#","http://a/","javascript:alert(1)","http://127.0.0.1/","http://a.b./","http://xn--n-nga1b.de/"]`},
		{`["http://", "http://a b", "http://[1", "http://a:b", "http://a:65536", "//x", "", "http://%", "http://a<b", "http://256.256.256.256", "http://-"].map(s => URL.canParse(s))`, `[false,false,false,false,false,false,false,false,false,false,true]`},
		{`["//x/y", "/y", "y", "?y", "#y", "../y", "http:y", "\\y", "", ".", "./", "..", "y/../z"].map(s => new URL(s, "https://a/b/c?d#e").href)`, `["https://x/y","https://a/y","https://a/b/y","https://a/b/c?y","https://a/b/c?d#y","https://a/y","http://y/","https://a/y","https://a/b/c?d","https://a/b/","https://a/b/","https://a/","https://a/b/z"]`},
		{`(() => { const u = new URL("http://a"); u.protocol = "https"; u.pathname = "x y"; u.hash = "q"; u.port = "8080"; u.username = "u"; u.hostname = "b.c"; u.password = "p:/"; u.search = "a b"; return [u.href, u.origin, u.host, u.username, u.password] })()`, `["https://u:p%3A%2F@b.c:8080/x%20y?a%20b#q","https://b.c:8080","b.c:8080","u","p%3A%2F"]`},
		{`(() => { const u = new URL("http://a:81/p?q#f"); u.port = ""; u.hash = ""; u.search = ""; u.protocol = "mailto"; return u.href })()`, `http://a/p`},
		{`[new URL("http://a").origin, new URL("file:///x").origin, new URL("data:x").origin, new URL("blob:http://a/x").origin, new URL("foo://bar").origin]`, `["http://a","null","null","http://a","null"]`},
		{`URL.createObjectURL({})`, `Error: URL.createObjectURL() is not implemented`},
		{`(() => { class U extends URL { get x() { return 1 } } const u = new U("http://a/"); return [u.x, u.href, u instanceof URL] })()`, `[1,"http://a/",true]`},
		{`(() => { const p = new URLSearchParams("a=1&b=2&c=3"); const seen = []; for (const [k] of p) { seen.push(k); if (k === "a") p.delete("b") } return seen })()`, `["a","c"]`},
		{`String(new URLSearchParams("a=~!*()'-._&b=%F0%9F%98%80&c=\u20ac"))`, `a=%7E%21*%28%29%27-._&b=%F0%9F%98%80&c=%E2%82%AC`},
		{`[new URLSearchParams("a=b=c&&=x&d").toString(), new URLSearchParams("a+b=%2B").get("a b")]`, `["a=b%3Dc&=x&d=","+"]`},
		{`[new URLSearchParams("a=1&b=2").entries().map(([k]) => k).toArray(), new URLSearchParams("a=1").keys() instanceof Iterator]`, `[["a","b"],true]`},
	})
}
