package events_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// Events behave as workerd's do, also where it departs from the DOM standard:
// what a listener throws reaches the dispatcher and ends the dispatch, the
// `on...` property is called first, and no event is immune to preventDefault.
func TestEvents(t *testing.T) {
	w := webapitest.New(t)
	w.Off[compat.SpecCompliantDispatchExceptions] = true
	w.Tries([][2]string{
		{`(()=>{const t=new EventTarget(), l=[]; t.addEventListener("x",()=>{l.push(1); throw new Error("boo")}); t.addEventListener("x",()=>l.push(2)); try { t.dispatchEvent(new Event("x")) } catch (e) { l.push("T"+e.message) } return l})()`, `[1,"Tboo"]`},
		{`(()=>{const t=new EventTarget(), l=[]; t.addEventListener("x",()=>l.push(1)); t.onx=()=>l.push("on"); t.dispatchEvent(new Event("x")); return l})()`, `["on",1]`},
		{`(()=>{const t=new EventTarget(), l=[]; t.addEventListener("x",function(e){l.push(this===t, e.target===t, e.currentTarget===t, e.eventPhase, e.composedPath().length)}); const e=new Event("x"); t.dispatchEvent(e); return l.concat(e.target===t, String(e.currentTarget), e.eventPhase)})()`, `[true,true,true,2,1,true,"[object EventTarget]",0]`},
		{`(()=>{const t=new EventTarget(); t.addEventListener("x",e=>e.preventDefault()); return t.dispatchEvent(new Event("x",{cancelable:true}))})()`, `false`},
		{`(()=>{const t=new EventTarget(); t.addEventListener("x",e=>e.preventDefault(),{passive:true}); return t.dispatchEvent(new Event("x",{cancelable:true}))})()`, `true`},
		{`(()=>{const t=new EventTarget(),l=[]; t.addEventListener("x",{handleEvent(e){l.push(e.type, this.me)},me:"o"}); t.dispatchEvent(new Event("x")); return l})()`, `["x","o"]`},
		{`(()=>{const t=new EventTarget(),l=[]; const f=()=>l.push(1); t.addEventListener("x",f); t.addEventListener("x",f); t.dispatchEvent(new Event("x")); t.removeEventListener("x",f); t.dispatchEvent(new Event("x")); return l})()`, `[1]`},
		{`(()=>{const t=new EventTarget(),l=[]; t.addEventListener("x",()=>l.push(1),{once:true}); t.dispatchEvent(new Event("x")); t.dispatchEvent(new Event("x")); return l})()`, `[1]`},
		{`(()=>{const t=new EventTarget(),l=[],c=new AbortController(); t.addEventListener("x",()=>l.push(1),{signal:c.signal}); t.dispatchEvent(new Event("x")); c.abort(); t.dispatchEvent(new Event("x")); t.addEventListener("x",()=>l.push(2),{signal:c.signal}); t.dispatchEvent(new Event("x")); return l})()`, `[1]`},
		{`(()=>{const t=new EventTarget(),l=[]; const b=()=>l.push("b"); t.addEventListener("x",e=>{l.push("a"); t.removeEventListener("x",b); t.addEventListener("x",()=>l.push("late"))}); t.addEventListener("x",b); t.dispatchEvent(new Event("x")); return l})()`, `["a"]`},
		{`(()=>{const t=new EventTarget(),l=[]; t.addEventListener("x",e=>{l.push(1); e.stopImmediatePropagation()}); t.addEventListener("x",()=>l.push(2)); t.dispatchEvent(new Event("x")); return l})()`, `[1]`},
		{`(()=>{const t=new EventTarget(); const e=new Event("x"); let x; t.addEventListener("x",()=>{try{t.dispatchEvent(e)}catch(y){x=y}}); t.dispatchEvent(e); throw x})()`, `InvalidStateError: The event is already being dispatched.`},
		{`(()=>{const t=new EventTarget(); t.addEventListener("x",()=>{},true)})()`, `TypeError: addEventListener(): useCapture must be false.`},
		{`new EventTarget().addEventListener("x",5)`, `TypeError: Failed to execute 'addEventListener' on 'EventTarget': parameter 2 is not of type 'function or HandlerObject'.`},
		{`new EventTarget().addEventListener("x",null)`, `undefined`},
		{`new EventTarget().dispatchEvent(5)`, `TypeError: Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type 'Event'.`},
		{`new Event()`, `TypeError: Failed to construct 'Event': constructor parameter 1 is not of type 'string'.`},
		{`new Event("x",5)`, `TypeError: Failed to construct 'Event': constructor parameter 2 is not of type 'Init'.`},
		{`(()=>{class E extends Event{#d; constructor(d){super("mine",{bubbles:true}); this.#d=d} get d(){return this.#d}} class T extends EventTarget{} const t=new T(); let got; t.addEventListener("mine",e=>got=[e.d,e.bubbles,e instanceof Event,e.constructor.name]); t.dispatchEvent(new E(7)); return got})()`, `[7,true,true,"E"]`},
		{`[new CustomEvent("c",{detail:{a:1}}).detail.a, new MessageEvent("m",{data:"d",origin:"o"}).data, new CloseEvent("c",{code:1001,reason:"r",wasClean:true}).code, new ErrorEvent("e",{message:"q",error:4}).error]`, `[1,"d",1001,4]`},
		{`Object.prototype.toString.call(new MessageEvent("x"))`, `[object MessageEvent]`},
	})
}

// A signal aborts once, dependents included, with the reason it was given or
// an AbortError; what listens for it is called in order.
func TestAbort(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`[AbortSignal.abort().reason.name, AbortSignal.abort().reason.message, AbortSignal.abort(3).reason, AbortSignal.abort().reason.code]`, `["AbortError","The operation was aborted",3,20]`},
		{`AbortSignal.abort(new TypeError("t")).throwIfAborted()`, `TypeError: t`},
		{`(()=>{const a=new AbortController(), l=[]; a.signal.addEventListener("abort",()=>l.push(1)); a.signal.onabort=()=>l.push("on"); a.abort(5); a.abort(6); return l.concat(a.signal.reason, typeof a.signal.onabort)})()`, `[1,"on",5,"function"]`},
		{`(()=>{const a=new AbortController(); a.signal.onabort=5; return String(a.signal.onabort)})()`, `null`},
		{`(async()=>{const s=AbortSignal.timeout(10); await new Promise(r=>s.addEventListener("abort",r)); return s.reason.name+s.reason.message})()`, `TimeoutErrorThe operation was aborted due to timeout`},
		{`(()=>{const a=new AbortController(); const s=AbortSignal.any([a.signal, new AbortController().signal]), s2=AbortSignal.any([s]); let l=[]; s2.addEventListener("abort",()=>l.push(s.aborted,a.signal.aborted)); a.abort("r"); return l.concat(s2.reason)})()`, `[true,true,"r"]`},
		{`AbortSignal.any([5])`, `TypeError: Incorrect type for array element 0: the provided value is not of type 'AbortSignal'.`},
		{`AbortSignal.any(5)`, `TypeError: Failed to execute 'any' on 'AbortSignal': parameter 1 is not of type 'Array'.`},
		{`new AbortSignal()`, `TypeError: Illegal constructor`},
	})
}

// DOMExceptions carry name, message, code and stack as workerd's do: read-only
// own properties.
func TestDOMException(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`Object.keys(new DOMException("a","AbortError"))`, `["code","name","message","stack"]`},
		{`String(new DOMException("m","AbortError"))`, `AbortError: m`},
		{`[new DOMException("m","DataCloneError").code, DOMException.DATA_CLONE_ERR, new DOMException().name, new DOMException("m") instanceof Error, Object.prototype.toString.call(new DOMException())]`, `[25,25,"Error",true,"[object DOMException]"]`},
		{`(function f(){ return new DOMException("m","AbortError").stack.split("\n").slice(0,2).map(l=>l.replace(/\(.*/,"").trim()) })()`, `["AbortError: m","at f"]`},
		{`(()=>{ const c = structuredClone(new DOMException("m","AbortError")); return [c instanceof DOMException, c.name, c.message, c.code] })()`, `[true,"AbortError","m",20]`},
		{`(()=>{ class E extends DOMException { constructor(){ super("q","TimeoutError") } } const e=new E(); return [e instanceof E, e instanceof DOMException, e.name] })()`, `[true,true,"TimeoutError"]`},
	})
}

// What nobody catches becomes an event on globalThis; without a listener that
// calls preventDefault it is logged.
func TestGlobalEvents(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`
		addEventListener("unhandledrejection", e => { say(e.type + " " + e.reason + " " + (e.promise instanceof Promise)); e.preventDefault() });
		addEventListener("rejectionhandled", e => say(e.type + " " + e.reason));
		self.addEventListener("error", e => { say(e.message + " " + e.error?.message + " " + (e.lineno > 0)); e.preventDefault() });
		globalThis.late = Promise.reject(7);
		reportError(new TypeError("r"));
		queueMicrotask(() => { throw new Error("mt") });
	`)
	w.Run(`late.catch(() => {})`)
	w.Said("Uncaught TypeError: r r true", "Uncaught Error: mt mt true", "unhandledrejection 7 true", "rejectionhandled undefined")
	w.Run(`removeEventListener("error", null); dispatchEvent(new Event("error")); addEventListener("error", () => { throw new Error("listener") }); reportError(new Error("seen"))`)
	w.Out = nil
	if got := strings.Join(w.Logs, "\n"); !strings.Contains(got, "listener") {
		t.Errorf("log: %s", got)
	}
}

// Timers need a context, pass arguments and are cleared by id; scheduler.wait
// heeds its signal; microtasks run before them.
func TestTimers(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`
		setTimeout((a, b) => say("t" + a + b), 5, 1, 2);
		queueMicrotask(() => say("micro"));
		clearTimeout(setTimeout(() => say("never"), 1)); clearTimeout(undefined); clearTimeout("x");
		let n = 0; const id = setInterval(() => { say("i" + ++n); if (n == 2) clearInterval(id) }, 10);
		await scheduler.wait(30); say("waited");
		const c = new AbortController(); setTimeout(() => c.abort("stop"), 1);
		await scheduler.wait(1e6, { signal: c.signal }).catch(say);
	`)
	w.Said("micro", "t12", "i1", "i2", "waited", "Error: stop")
	w.Tries([][2]string{
		{`setTimeout("code")`, `TypeError: Failed to execute 'setTimeout' on 'ServiceWorkerGlobalScope': parameter 1 is not of type 'function'.`},
		{`queueMicrotask(5)`, `TypeError: Failed to execute 'queueMicrotask' on 'ServiceWorkerGlobalScope': parameter 1 is not of type 'function'.`},
	})
}

// structuredClone copies, transfers and refuses with DataCloneError.
func TestStructuredClone(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`structuredClone({a:[1,new Date(5)],b:new Map([[1,{c:2}]]).size})`, `{"a":[1,"1970-01-01T00:00:00.005Z"],"b":1}`},
		{`structuredClone(()=>1)`, `DataCloneError: ()=>1 could not be cloned.`},
		{`structuredClone()`, `TypeError: Failed to execute 'structuredClone' on 'ServiceWorkerGlobalScope': parameter 1 is not of type 'Value'.`},
		{`structuredClone({},{transfer:[{}]})`, `TypeError: Object is not transferable`},
		{`(()=>{const b=new Uint8Array([1,2]).buffer; const c=structuredClone(b,{transfer:[b]}); return [b.byteLength,c.byteLength]})()`, `[0,2]`},
		{`(()=>{const v=new Uint8Array(8).subarray(2,4); const c=structuredClone(v,{transfer:[v]}); return [v.length,c.length,c.byteOffset]})()`, `[0,2,2]`},
		{`(()=>{const b=new ArrayBuffer(3); const c=structuredClone(b,{transfer:[b,b]}); return [b.byteLength,c.byteLength]})()`, `[0,3]`},
		{`structuredClone(1,{transfer:new Set()})`, `TypeError: Incorrect type for the 'transfer' field on 'StructuredCloneOptions': the provided value is not of type 'Array'.`},
		{`(()=>{const t=new EventTarget(), e=new Event("x"); t.onx=e=>e.preventDefault(); return [t.dispatchEvent(e), e.defaultPrevented, e.returnValue]})()`, `[false,false,true]`},
		{`(async()=>{const c=new MessageChannel(), l=[]; c.port2.onmessageerror=e=>l.push(e.type+e.data); c.port2.onmessage=e=>{l.push(e.data+"", e.origin===null, e.source===c.port2); throw new Error("x"+e.data)}; Promise.resolve().then(()=>l.push("job")); c.port1.postMessage(1); addEventListener("unhandledrejection",e=>e.preventDefault(),{once:true}); await scheduler.wait(1); return l})()`, `["job","1",true,true,"messageerrorError: x1"]`},
		{`(()=>{const c=new MessageChannel(), l=[]; for (const n of [1,2]) c["port"+n].addEventListener("close", ()=>l.push(n)); c.port1.close(); l.push("after"); return l})()`, `[2,1,"after"]`},
		{`new MessageChannel().port1.postMessage(1,[new ArrayBuffer(1)])`, `Error: Transfer list is not supported`},
		{`new CloseEvent("x",{code:1e10})`, `TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive).`},
		{`(()=>{"use strict"; new Request("http://x").url = 1})()`, `TypeError: Cannot assign to read only property 'url' of object '#<Request>'`},
		{`crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"]).then((k) => structuredClone(k))`, `DataCloneError: Could not serialize object of type "CryptoKey". This type does not support serialization.`},
		{`structuredClone(new Event("x"))`, `DataCloneError: Could not serialize object of type "Event". This type does not support serialization.`},
	})
}

// The clock of performance is Date's, as in workerd.
func TestPerformance(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`[performance.now()-Date.now(), performance.timeOrigin]`, `[0,0]`},
		{`(()=>{ performance.mark("a"); const m=performance.measure("q","a"); return [m.duration, performance.getEntriesByType("mark").length, performance.getEntriesByName("q")[0].entryType, JSON.stringify(performance.mark("z",{startTime:3,detail:{d:1}})), (performance.clearMarks(), performance.getEntries().length)] })()`,
			`[0,1,"measure","{\"name\":\"z\",\"entryType\":\"mark\",\"startTime\":3,\"duration\":0}",1]`},
	})
}

// A MessageEvent's source is a port or null (HTML, section 9.1); the platform's
// PromiseRejectionEvents are trusted (DOM, section 2.9); scheduler.wait needs a
// number, and an AbortSignal or nothing for its signal (Web IDL, section 3.2.24).
func TestEventArguments(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`new MessageEvent("m", { source: {} })`, `TypeError: Incorrect type for the 'source' field on 'Initializer': the provided value is not of type 'MessagePort'.`},
		{`(({ port1 }) => [new MessageEvent("m", { source: port1 }).source === port1, new MessageEvent("m", { source: undefined }).source])(new MessageChannel())`, `[true,null]`},
		{`new Promise((resolve) => { addEventListener("unhandledrejection", (e) => { e.preventDefault(); resolve([e.isTrusted, e.reason]); }, { once: true }); Promise.reject(4); })`, `[true,4]`},
		{`scheduler.wait()`, `TypeError: Failed to execute 'wait' on 'Scheduler': parameter 1 is not of type 'number'.`},
		{`scheduler.wait(1, { signal: 5 })`, `TypeError: Incorrect type for the 'signal' field on 'WaitOptions': the provided value is not of type 'AbortSignal'.`},
		{`scheduler.wait(1, { signal: undefined })`, `undefined`},
	})
}
