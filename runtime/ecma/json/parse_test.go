package json

import (
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/runtime/engine"
)

// JSON.stringify and JSON.parse (ECMA-262, section 25.5); what V8 answers.
func TestJSON(t *testing.T) {
	w := newWorld()
	for _, c := range []struct{ source, want string }{
		{`JSON.stringify({b:1,2:2,a:3,1:1})`, `{"1":1,"2":2,"b":1,"a":3}`},
		{`JSON.stringify([1,,undefined,()=>1,Symbol(),NaN,Infinity,-0,null,true,"x"])`, `[1,null,null,null,null,null,null,0,null,true,"x"]`},
		{`JSON.stringify({u:undefined,f(){},s:Symbol(),[Symbol("k")]:1,n:null})`, `{"n":null}`},
		{`JSON.stringify("\ud800\udc00\ud800x\udfff\u0007\b\f\n\r\t\"\\\u2028é")`, "\"𐀀\\ud800x\\udfff\\u0007\\b\\f\\n\\r\\t\\\"\\\\ é\""},
		{`JSON.stringify({"\ud800":1,"é\ud83d\ude00":2,"\n":3})`, "{\"\\ud800\":1,\"é😀\":2,\"\\n\":3}"},
		{`JSON.stringify({a:[1,{b:2}],c:[],d:{}},null,2)`, "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": [],\n  \"d\": {}\n}"},
		{`JSON.stringify({a:[1]},null,"\u00e9--------------")`, "{\né---------\"a\": [\né---------é---------1\né---------]\n}"},
		{`JSON.stringify([1],null,new Number(3))+JSON.stringify([1],null,new String("ab"))+JSON.stringify([1],null,true)+JSON.stringify([1],null,11.9)+JSON.stringify([1],null,-1)`, "[\n   1\n][\nab1\n][1][\n          1\n][1]"},
		{`JSON.stringify([new Number(1),new String("s"),new Boolean(false),Object(Symbol())])`, `[1,"s",false,{}]`},
		{`JSON.stringify(Object(1n))`, `TypeError: Do not know how to serialize a BigInt`},
		{`JSON.stringify(1n)`, `TypeError: Do not know how to serialize a BigInt`},
		{`JSON.stringify({a:1n})`, `TypeError: Do not know how to serialize a BigInt`},
		{`JSON.stringify(undefined)+String(JSON.stringify(()=>1))+JSON.stringify(Symbol())+JSON.stringify()`, `undefinedundefinedundefinedundefined`},
		{`JSON.stringify({a:1,b:2,c:{a:3,d:4}},["c","a",new String("a"),1,{},null,"c"])`, `{"c":{"a":3},"a":1}`},
		{`JSON.stringify({1:1,"\ud800":2},[1,"\ud800"])`, `{"1":1,"\ud800":2}`},
		{`JSON.stringify({a:1,b:[2,3]},function(k,v){return Array.isArray(v)?v:typeof v==="number"?v+k.length:v})`, `{"a":2,"b":[3,4]}`},
		{`JSON.stringify({a:1},function(k,v){return this[k]===v&&k===""?{z:[undefined]}:undefined})`, `{}`},
		{`JSON.stringify({toJSON(k){return "k:"+k+":"+arguments.length}})+JSON.stringify({p:{toJSON(k){return k}},q:[{toJSON(k){return typeof k+k}}]})`, `"k::1"{"p":"p","q":["string0"]}`},
		{`(BigInt.prototype.toJSON=function(){"use strict";return typeof this+this}, [JSON.stringify({a:1n}), delete BigInt.prototype.toJSON][0])`, `{"a":"bigint1"}`},
		{`JSON.stringify(new Date(0))+JSON.stringify({d:new Date(NaN)})`, `"1970-01-01T00:00:00.000Z"{"d":null}`},
		{`JSON.stringify({r:/x/,m:new Map([[1,2]]),e:new Error("x"),b:new Uint8Array([1,2])})`, `{"r":{},"m":{},"e":{},"b":{"0":1,"1":2}}`},
		{`JSON.stringify(new Proxy([1,[2]],{}))+JSON.stringify(new Proxy({a:1},{ownKeys:()=>["a","b"],getOwnPropertyDescriptor:()=>({value:1,enumerable:true,configurable:true})}))`, `[1,[2]]{"a":1}`},
		{`JSON.stringify(Object.freeze({a:1,b:Object.freeze([1])}))`, `{"a":1,"b":[1]}`},
		{`JSON.stringify(Object.defineProperty({a:1,c:2},"b",{value:3,enumerable:false}))+JSON.stringify({get x(){return 5},y:1})`, `{"a":1,"c":2}{"x":5,"y":1}`},
		{`JSON.stringify(Object.create({inherited:1},{own:{value:2,enumerable:true}}))`, `{"own":2}`},
		{`(()=>{const o={get a(){delete this.b;this.d=9;return 1},b:2,c:3};return JSON.stringify(o)})()`, `{"a":1,"c":3}`},
		{`(()=>{const o={a:{toJSON(){o.b=5;delete o.c;return 1}},b:2,c:3,e:{}};return JSON.stringify(o)})()`, `{"a":1,"b":5,"e":{}}`},
		{`(()=>{const a=[{toJSON(){a.length=2;a[1]=7;return 0}},1,2];return JSON.stringify(a)})()`, `[0,7,null]`},
		{`(()=>{const a={x:1};a.self=a;return JSON.stringify(a)})()`, "TypeError: Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    --- property 'self' closes the circle"},
		{`(()=>{class Foo{};const a=new Foo();a.b={c:[{}]};a.b.c[0].d=a;return JSON.stringify(a)})()`, "TypeError: Converting circular structure to JSON\n    --> starting at object with constructor 'Foo'\n    |     property 'b' -> object with constructor 'Object'\n    |     property 'c' -> object with constructor 'Array'\n    |     index 0 -> object with constructor 'Object'\n    --- property 'd' closes the circle"},
		{`(()=>{class Foo{};const a=new Foo();a.b={c:[{x:{y:{}}}]};a.b.c[0].x.y.d=a;return JSON.stringify({in:[a]})})()`, "TypeError: Converting circular structure to JSON\n    --> starting at object with constructor 'Foo'\n    |     property 'b' -> object with constructor 'Object'\n    |     property 'c' -> object with constructor 'Array'\n    |     ...\n    |     property 'y' -> object with constructor 'Object'\n    --- property 'd' closes the circle"},
		{`(()=>{const a=[];a[0]=[a];return JSON.stringify(a)})()`, "TypeError: Converting circular structure to JSON\n    --> starting at object with constructor 'Array'\n    |     index 0 -> object with constructor 'Array'\n    --- index 0 closes the circle"},
		{`JSON.stringify(Proxy.revocable({},{}).proxy)`, `{}`},
		{`(()=>{const {proxy,revoke}=Proxy.revocable({},{});revoke();return JSON.stringify(proxy)})()`, `TypeError: Cannot perform 'get' on a proxy that has been revoked`},
		{`JSON.stringify({a:JSON.rawJSON("1e1000"),b:JSON.rawJSON('"é"')})`, "{\"a\":1e1000,\"b\":\"é\"}"},
		{`JSON.stringify({a:{b:1}},[])+JSON.stringify([1,{a:1}],[])`, `{}[1,{}]`},
		{`JSON.stringify(Object.assign(Object.create(null),{a:1}))`, `{"a":1}`},
		{`JSON.stringify({x:{toJSON:1}})+JSON.stringify({toJSON:undefined,a:1})`, `{"x":{"toJSON":1}}{"a":1}`},
		{`JSON.stringify(new (class A{ #p=1; q=2; get r(){return 1} })())`, `{"q":2}`},
		{`JSON.stringify({"01":1,"4294967295":2,"4294967294":3,"-1":4,"1.5":5,"7":6})`, `{"7":6,"4294967294":3,"01":1,"4294967295":2,"-1":4,"1.5":5}`},
		{`JSON.stringify(Object.assign([1,2],{x:3}))+JSON.stringify((function(){return arguments})(1,2))`, `[1,2]{"0":1,"1":2}`},
		{`JSON.stringify("abc")[1]+JSON.stringify("").length+JSON.stringify(-1e21)+JSON.stringify(1e-7)+JSON.stringify(123456789012345680000)`, `a2-1e+211e-7123456789012345680000`},
		{`(()=>{const log=[];JSON.stringify(new Proxy({a:1,b:{c:2}},{get(t,k){log.push("get "+String(k));return t[k]},ownKeys(t){log.push("keys");return Reflect.ownKeys(t)},getOwnPropertyDescriptor(t,k){log.push("desc "+k);return Reflect.getOwnPropertyDescriptor(t,k)}}));return log.join()})()`, `get toJSON,keys,desc a,desc b,get a,get b`},
		{`(()=>{const log=[];const num=Object.assign(new Number(4),{valueOf(){log.push("n");return 2}});const str=Object.assign(new String("x"),{toString(){log.push("s");return "y"}});return JSON.stringify([num,str],null,num)+log})()`, "[\n  2,\n  \"y\"\n]n,n,s"},
		{`JSON.stringify.length+JSON.stringify.name+Object.getOwnPropertyNames(JSON.stringify)+("prototype" in JSON.stringify)`, `3stringifylength,namefalse`},
		{`JSON.stringify({a:1},new Proxy(["a"],{}))+JSON.stringify({a:1},new Proxy(function(k,v){return k?2:v},{}))`, `{"a":1}{"a":2}`},
		{`JSON.stringify({"__proto__":1,["__proto__"]:2})+JSON.stringify(JSON.parse('{"__proto__":{"a":1},"b":1,"b":2,"1":3,"é":4}'))`, "{\"__proto__\":2}{\"1\":3,\"__proto__\":{\"a\":1},\"b\":2,\"é\":4}"},
		{`Object.keys(JSON.parse('{"z":1,"10":2,"a":3,"2":4,"z":5}')).join()+Object.getPrototypeOf(JSON.parse('{"__proto__":null}')).constructor.name`, `2,10,z,aObject`},
		{`JSON.stringify(JSON.parse('{"\\ud800":1,"a\\u0062":2,"ü":[[],[1,[2]],"é"]}'))`, "{\"\\ud800\":1,\"ab\":2,\"ü\":[[],[1,[2]],\"é\"]}"},
		{`JSON.parse('["\\ud83d\\ude00"," "," "]').map(s=>s.length).join()`, `2,1,1`},
		{`JSON.parse('{"a":[1,{"b":2}],"c":"x"}',function(k,v,x){return typeof v==="number"?x.source+"!":v}).a[1].b`, `2!`},
		{`JSON.stringify({a:new Array(3)})+JSON.stringify(Object.setPrototypeOf([1],null))+JSON.stringify(Object.defineProperty([1],0,{get(){return 8}}))`, `{"a":[null,null,null]}[1][8]`},
		{`JSON.stringify({a:1,b:2},(k,v)=>k==="a"?{toJSON(){return "no"}}:v)`, `{"a":{},"b":2}`},
		{`(()=>{"use strict";return JSON.stringify({k:"v"},function(k,v){return k===""?this:v})})()`, "TypeError: Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    --- <anonymous> closes the circle"},
	} {
		got := ""
		w.e.Post(engine.GlobalFrame, "test", func() {
			v, err := w.e.VM().RunString("try { String(" + c.source + ") } catch (e) { e.name + ': ' + e.message }")
			if err != nil {
				got = err.Error()
				return
			}
			got = v.String()
		})
		w.run()
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.source, got, c.want)
		}
	}
}

// A string made of Go's text is the one that JavaScript would have made.
func TestString(t *testing.T) {
	w := newWorld()
	for _, text := range []string{"", "a", "1234567", "12345678", "é", "12345678é", "😀", strings.Repeat("x", 100)} {
		a, b := w.e.String(text), w.e.VM().ToValue(text)
		if !a.StrictEquals(b) || a.Length() != b.(goja.String).Length() || a.String() != b.String() {
			t.Errorf("%q: %q (%d)", text, a, a.Length())
		}
	}
}

// What a program keeps of a long text does not keep the text in memory.
func TestParsedStringsAreTheirOwn(t *testing.T) {
	w := newWorld()
	long := strings.Repeat("long ", 300)
	text := `{"id":"a short string of many","empty":"","long":"` + long + `","rest":[` + strings.Repeat(`"another one, and another",`, 400) + `0]}`
	w.e.Post(engine.GlobalFrame, "test", func() {
		v, _ := parseText(w.e, w.e.String(text), false)
		o := v.(*goja.Object)
		for name, want := range map[string]string{"id": "a short string of many", "empty": "", "long": long} {
			got, ok := texts.AsciiOf(o.Get(name).(goja.String))
			if !ok || got != want {
				t.Errorf("%s is %q", name, got)
			}
			at, from := uintptr(unsafe.Pointer(unsafe.StringData(got))), uintptr(unsafe.Pointer(unsafe.StringData(text)))
			if at >= from && at < from+uintptr(len(text)) {
				t.Errorf("%s lies in the text", name)
			}
		}
		rest := o.Get("rest").(*goja.Object)
		for i := range 400 {
			if got := rest.Get(strconv.Itoa(i)).String(); got != "another one, and another" {
				t.Fatalf("%d is %q", i, got)
			}
		}
	})
	w.run()
}

// Objects of one text share the list of their names until one is changed, which no other shows.
func TestObjectsOfOneTextAreTheirOwn(t *testing.T) {
	w := newWorld()
	const source = `
		const changes = [
			o => { delete o.a }, o => { delete o.c }, o => { o.d = 4 }, o => { o[7] = 7 }, o => { delete o.b; o.b = 2 },
			o => { for (const k in o) delete o[k] }, o => { for (const k in o) { o.x = k; if (k === "b") break } },
			o => { for (const k in o) if (k === "a") break; o.e = 5 }, o => { Object.defineProperty(o, "a", { enumerable: false }) },
			o => { Object.freeze(o) }, o => { o.length = 1 }, o => { Object.assign(o, { z: 1, a: 9 }) },
			o => { for (const k of Object.keys(o)) { delete o[k]; o[k + "k"] = k } },
		]
		const told = o => JSON.stringify(o) + Object.getOwnPropertyNames(o) + Object.entries(o) + (() => { let s = ""; for (const k in o) s += k; return s })()
		const wrong = []
		let seed = 1
		const random = n => (seed = seed * 48271 % 2147483647) % n
		for (const [text, make] of [
			['{"a":1,"b":2,"c":3}', () => ({ a: 1, b: 2, c: 3 })],
			['{"a":1,"5":2,"b":3,"2":4,"c":5}', () => ({ a: 1, 5: 2, b: 3, 2: 4, c: 5 })],
			['{"c":1}', () => ({ c: 1 })],
			['{"b":0,"ü":1,"a":2,"c":3}', () => ({ b: 0, ü: 1, a: 2, c: 3 })],
			['[1,2]', () => [1, 2]],
			['[1,2,3,4,5,6,7]', () => [1, 2, 3, 4, 5, 6, 7]],
		]) {
			const list = JSON.parse("[" + Array(200).fill(text).join() + "]"), same = list.map(make)
			for (let round = 0; round < 3; round++) for (let i = 0; i < list.length; i++) {
				if (i % 4 === 0) continue
				const change = changes[random(changes.length)]
				for (const o of [list[i], same[i]]) try { change(o) } catch (e) {}
			}
			list.forEach((o, i) => { if (told(o) !== told(same[i])) wrong.push(told(o) + " for " + told(same[i])) })
		}
		wrong.slice(0, 5).join("\n")`
	got := ""
	w.e.Post(engine.GlobalFrame, "test", func() {
		v, err := w.e.VM().RunString(source)
		if err != nil {
			t.Error(err)
			return
		}
		got = v.String()
	})
	w.run()
	if got != "" {
		t.Error(got)
	}
}

// Numbers and strings of one text share pieces, in which each keeps its own.
func TestNeighboursOfOneTextAreTheirOwn(t *testing.T) {
	w := newWorld()
	const source = `
		const list = Array.from({ length: 1000 }, (_, i) => [i * 1000, i / 7, "text " + i, "ü" + i, "a longer text, in ASCII, of number " + i])
		list.push(...Array.from({ length: 300 }, (_, i) => [{ a: i, b: 1, c: 2 }, { x: i, y: 3, c: 4 }, { c: 5 }, { a: 6, c: 7 }][i % 64 < 40 ? 0 : i % 4]))
		const text = JSON.stringify(list)
		JSON.stringify(JSON.parse(text)) === text && JSON.stringify(JSON.parse(text.replaceAll("ü", "u"))) === text.replaceAll("ü", "u")`
	w.e.Post(engine.GlobalFrame, "test", func() {
		v, err := w.e.VM().RunString(source)
		if err != nil || !v.ToBoolean() {
			t.Errorf("%v, %v", v, err)
		}
	})
	w.run()
}
