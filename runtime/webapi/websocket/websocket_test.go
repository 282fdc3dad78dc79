package websocket_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/webapitest"
	"minido.dev/minido/runtime/webapi/websocket"
)

const pairHelper = `globalThis.pair = () => Object.values(new WebSocketPair());
	globalThis.trace = (ws, name, ev) => { for (const t of ["open", "message", "close", "error"]) ws.addEventListener(t, (e) => ev.push(name + t, ...(t === "message" ? [typeof e.data === "string" ? e.data : Object.prototype.toString.call(e.data)] : t === "close" ? [e.code, e.reason, e.wasClean, ws.readyState] : t === "error" ? [e.message] : []))) };
`

// Misuse of a WebSocketPair fails as workerd's does: codes, reasons, order of
// calls, what send takes.
func TestWebSocketMisuse(t *testing.T) {
	w := webapitest.New(t)
	w.Run(pairHelper)
	const unaccepted = `TypeError: You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending messages.`
	cases := [][2]string{
		{`(([a, b]) => [Object.keys(new WebSocketPair()), [...new WebSocketPair()].length, a.readyState, a.binaryType, a.url, a.protocol, a instanceof EventTarget])(pair())`, `[["0","1"],2,1,"blob",null,"",true]`},
		{`[WebSocket.OPEN, WebSocket.READY_STATE_CLOSED, WebSocket.prototype.CLOSING]`, `[1,3,2]`},
		{`pair()[0].send("x")`, unaccepted},
		{`pair()[0].close()`, unaccepted},
		{`(([a]) => { a.accept(); a.accept(); a.close(1000, "bye"); a.close(); a.send("x") })(pair())`, `TypeError: Can't call WebSocket send() after close().`},
		{`(([a]) => { a.accept(); a.close(1000, "x".repeat(124)) })(pair())`, `SyntaxError: WebSocket close reason must not be longer than 123 bytes when UTF-8 encoded.`},
		{`(([a]) => { a.accept(); a.close(undefined, "x") })(pair())`, `InvalidAccessError: If you specify a WebSocket close reason, you must also specify a code.`},
		{`(([a]) => { a.accept(); a.send() })(pair())`, `TypeError: Failed to execute 'send' on 'WebSocket': parameter 1 is not of type 'ArrayBuffer or ArrayBufferView or string'.`},
		{`(([a]) => { a.accept(); a.send(Symbol()) })(pair())`, `TypeError: Cannot convert a Symbol value to a string`},
		{`(([a, b]) => new Promise((r) => { a.accept(); b.accept(); b.onmessage = (e) => r(e.data); a.send({}) }))(pair())`, `[object Object]`},
		{`(([a]) => new Response(null, {status: 200, webSocket: a}))(pair())`, `RangeError: Responses with a WebSocket must have status code 101.`},
		{`(([a]) => new Response("x", {status: 101, webSocket: a}))(pair())`, `TypeError: Response with null body status (101, 204, 205, or 304) cannot have a body.`},
		{`new Response(null, {status: 101})`, `RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.`},
		{`(([a]) => new Response(null, {status: 101, webSocket: a}).clone())(pair())`, `TypeError: Cannot clone a response to a WebSocket handshake.`},
		{`(([a]) => { a.serializeAttachment({a: [1n > 0]}); return a.deserializeAttachment() })(pair())`, `{"a":[true]}`},
		{`(([a]) => a.deserializeAttachment())(pair())`, `null`},
		{`(([a]) => a.serializeAttachment("x".repeat(20000)))(pair())`, `Error: A WebSocket 'attachment' cannot be larger than 16384 bytes.'attachment' was 20006 bytes.`},
		{`(([a]) => a.serializeAttachment(() => {}))(pair()).name`, `DataCloneError: () => {} could not be cloned.`},
		{`new WebSocket("http://x/")`, `SyntaxError: WebSocket Constructor: The url scheme must be ws or wss.`},
		{`new WebSocket("nope")`, `SyntaxError: WebSocket Constructor: The url is invalid.`},
		{`new WebSocket("ws://x/#f")`, `SyntaxError: WebSocket Constructor: The url fragment must be empty.`},
		{`new WebSocket("ws://x/#")`, `SyntaxError: WebSocket Constructor: The url fragment must be empty.`},
		{`new WebSocket("WS://X")` + ".url", `WS://X`}, // as it was given
		{`new WebSocket(" ws://x")`, `SyntaxError: WebSocket Constructor: The url is invalid.`},
		{`new WebSocket("ws://\u00e9.com/")`, `SyntaxError: WebSocket Constructor: The url is invalid.`},
		{`new WebSocket("mailto:x")`, `SyntaxError: WebSocket Constructor: The url is invalid.`},
		{`new WebSocket("ws:x")`, `SyntaxError: WebSocket Constructor: The url is invalid.`},
		{`new WebSocket("ws://x/", ["a", "a"])`, `SyntaxError: WebSocket Constructor: The protocols header cannot have repeating values.`},
		{`new WebSocket("ws://x/", { headers: {} })`, `SyntaxError: WebSocket Constructor: The protocol header token is invalid.`},
		{`new WebSocket("ws://x/", "a b")`, `SyntaxError: WebSocket Constructor: The protocol header token is invalid.`},
		{`new WebSocket("ws://x/").accept()`, `TypeError: Websockets obtained from the 'new WebSocket()' constructor cannot call accept`},
	}
	for code, ok := range map[int]bool{999: false, 1000: true, 1001: true, 1004: false, 1005: false, 1006: false, 1015: false, 2999: true, 3000: true, 4999: true, 5000: false} {
		want := fmt.Sprintf("InvalidAccessError: Invalid WebSocket close code: %d.", code)
		if ok {
			want = "ok"
		}
		cases = append(cases, [2]string{fmt.Sprintf(`(([a]) => { a.accept(); a.close(%d, "x"); return "ok" })(pair())`, code), want})
	}
	w.Tries(cases)
}

// Both ends of a pair in one context: messages in order, text and binary, the
// close is answered by itself, or by hand before the flag's date.
func TestWebSocketPair(t *testing.T) {
	const script = `const [a, b] = pair(), ev = []; trace(a, "a", ev); trace(b, "b", ev);
		a.accept(); b.accept(); b.send("hi"); b.send(new Uint8Array([1, 2])); b.send(new DataView(new ArrayBuffer(1))); a.send(7);
		a.close(3001, "bye"); ev.push(a.readyState); await new Promise(r => setTimeout(r, 20)); say(JSON.stringify([...ev, a.readyState, b.readyState]))`
	w := webapitest.New(t)
	w.Off[compat.WebsocketStandardBinaryType] = true
	w.Run(pairHelper)
	w.Run(script)
	const arrived = `[2,"amessage","hi","amessage","[object ArrayBuffer]","amessage","[object ArrayBuffer]","bmessage","7","bclose",3001,"bye",true,`
	w.Said(arrived + `3,"aclose",3001,"bye",true,3,"berror","Uncaught Error: Network connection lost.",3,3]`)
	if w.Context.Held() != 0 || len(w.Context.Ops()) != 0 {
		t.Errorf("after the close: %d holds, %d operations", w.Context.Held(), len(w.Context.Ops()))
	}
	w.Off[compat.WebSocketAutoReplyToClose] = true
	w.Run(script)
	w.Said(arrived + `2,2,2]`)
	w.Run(`const [a, b] = pair(), ev = []; a.onmessage = (e) => ev.push("on" + e.data); b.onclose = (e) => { ev.push(e.code, e.reason, e.wasClean); b.close() };
		a.accept(); b.accept(); b.send("x"); a.onmessage = (e) => ev.push("new" + e.data); a.close(); await new Promise(r => setTimeout(r, 1)); say(JSON.stringify(ev))`)
	w.Said(`["newx",1005,"",true]`)
}

// How two ends of a pair close, and what they hear when a listener throws (compared with
// workerd): who allows half-open connections answers by itself; an exception is an "error" event
// behind what the listener sent, and the end of the connection.
func TestWebSocketPairCloses(t *testing.T) {
	const (
		begin    = `["server close 3001 bye true `
		answered = `client close 3001 bye true 3","server `
		lost     = `error Uncaught Error: Network connection lost. 3"]`
		dropped  = `client close 1006 WebSocket disconnected without sending Close frame. false `
	)
	cases := []struct{ accept, server, client, want string }{
		{``, ``, `c.close(3001, "bye")`, begin + `3","` + answered + lost},
		{`{ allowHalfOpen: false }`, ``, `c.close(3001, "bye")`, begin + `3","` + answered + lost},
		{`{ allowHalfOpen: true }`, ``, `c.close(3001, "bye")`, begin + `2"]`},
		{`{ allowHalfOpen: 1 }`, `s.addEventListener("close", () => s.close(4001, "own"))`, `c.close(3001, "bye")`, begin + `2","client close 4001 own true 3","server ` + lost},
		{`{ allowHalfOpen: true }`, `s.addEventListener("close", () => { s.send("after"); s.close(4001, "own") })`, `c.close(3001, "bye")`, begin + `2","client message after 2","client close 4001 own true 3"]`},
		{``, `s.addEventListener("close", () => { throw new TypeError("boom") })`, `c.close(3001, "bye")`, begin + `3","` + answered + `error Uncaught TypeError: boom 3"]`},
		{`{ allowHalfOpen: true }`, `s.addEventListener("close", () => { throw new TypeError("boom") })`, `c.close(3001, "bye")`, begin + `2","server error Uncaught TypeError: boom 3","` + dropped + `2"]`},
		{`{ allowHalfOpen: true }`, `s.addEventListener("close", () => { s.close(4004, "x"); throw new TypeError("boom") })`, `c.close(3001, "bye")`,
			begin + `2","client close 4004 x true 3","server error Uncaught TypeError: boom 3"]`},
		{``, `s.addEventListener("message", () => { throw new TypeError("boom") })`, `c.send("1")`, `["server message 1 1","server error Uncaught TypeError: boom 3","` + dropped + `1"]`},
		{``, `s.addEventListener("message", () => { throw new TypeError("boom") })`, `c.send("1"); c.send("2")`,
			`["server message 1 1","server error Uncaught TypeError: boom 3","client error Uncaught Error: Network connection lost. 3","` + dropped + `3"]`},
		{``, `s.addEventListener("message", () => { s.send("reply"); throw new TypeError("boom") })`, `c.send("1")`,
			`["server message 1 1","client message reply 1","server error Uncaught TypeError: boom 3","` + dropped + `1"]`},
		{``, `s.addEventListener("message", () => { s.close(4000, "srv"); throw new TypeError("boom") })`, `c.send("1")`,
			`["server message 1 1","client close 4000 srv true 3","server error Uncaught TypeError: boom 3","client ` + lost},
		{``, `s.addEventListener("message", () => { throw new TypeError("boom") }); s.addEventListener("error", () => { throw new RangeError("again") })`, `c.send("1")`,
			`["server message 1 1","server error Uncaught TypeError: boom 3"]`},
		{``, `s.addEventListener("message", () => { s.send("reply"); throw new TypeError("boom") }); c.addEventListener("message", () => { throw new TypeError("mine") })`, `c.send("1")`,
			`["server message 1 1","client message reply 1","server error Uncaught TypeError: boom 3","client error Uncaught TypeError: mine 3"]`},
	}
	w := webapitest.New(t)
	w.Run(pairHelper)
	w.Run(`globalThis.watch = (ws, name, log) => { for (const t of ["message", "close", "error"]) ws.addEventListener(t, (e) => log.push([name, t, ...(t === "message" ? [e.data] : t === "close" ? [e.code, e.reason, e.wasClean] : [e.message]), ws.readyState].join(" "))) }`)
	for _, c := range cases {
		w.Run(`const [c, s] = pair(), log = []; s.accept(` + c.accept + `); c.accept(); watch(s, "server", log); watch(c, "client", log);
			` + c.server + `; ` + c.client + `; for (let i = 0; i < 5; i++) await new Promise((r) => setTimeout(r, 1)); say(JSON.stringify(log))`)
		w.Logs = nil // the exceptions
		w.Said(c.want)
	}
	if len(w.Context.Ops()) != 3 || w.Context.Held() != 3 { // both ends of the half-open pair, and the client whose peer threw twice
		t.Errorf("%d operations, %d holds", len(w.Context.Ops()), w.Context.Held())
	}
}

// What was thrown arrives in the "error" event as the structured clone that workerd passes on,
// or as an Error with its text.
func TestWebSocketThrownValues(t *testing.T) {
	w := webapitest.New(t)
	w.Run(pairHelper)
	for thrown, want := range map[string]string{
		`"text"`:                 `Uncaught Error: text Error {} text`,
		`null`:                   `Uncaught Error: null Error {} null`,
		`Symbol("s")`:            `Uncaught Error: Symbol(s) Error {} Symbol(s)`,
		`{ a: 1 }`:               `Uncaught #<Object> Object {"a":1} undefined`,
		`[1, 2]`:                 `Uncaught [object Array] Array [1,2] undefined`,
		`new class { x = 1 }()`:  `Uncaught #<Object> Object {"x":1} undefined`,
		`new Date(0)`:            `Uncaught [object Date] Date "1970-01-01T00:00:00.000Z" undefined`,
		`new TypeError("boom")`:  `Uncaught TypeError: boom TypeError {} boom`,
		`new DOMException("dm")`: `Uncaught  DOMException dm`,
		`new class extends Error { name = "Own"; code = 7 }("mine")`: `Uncaught Own: mine Error {"name":"Own","code":7} mine`,
	} {
		w.Run(`const [c, s] = pair(); s.accept(); c.accept(); s.onerror = (e) => say([e.message, e.error.constructor.name, ...(e.error instanceof DOMException ? [] : [JSON.stringify(e.error)]), e.error.message ?? "undefined"].join(" "));
			s.onmessage = () => { throw ` + thrown + ` }; c.send("1"); for (let i = 0; i < 3; i++) await new Promise((r) => setTimeout(r, 1))`)
		w.Logs = nil // the exception
		w.Said(want)
	}
}

// socketPeer is the other side of a socket, outside of the isolate.
type socketPeer struct{ got []string }

func (p *socketPeer) OnMessage(m event.Message) { p.got = append(p.got, string(m.Data)) }
func (p *socketPeer) OnClose(code int, reason string, clean bool) {
	p.got = append(p.got, fmt.Sprint("close ", code, " ", reason, clean))
}
func (p *socketPeer) OnError(err error) { p.got = append(p.got, "error "+err.Error()) }

// A socket returned in a 101 response leaves the isolate; what the other side
// does arrives at the end that was kept; a lost connection is 1006; the
// context stays alive until the end.
func TestWebSocketResponse(t *testing.T) {
	w := webapitest.New(t)
	w.Run(pairHelper)
	peer := &socketPeer{}
	var sock *event.Socket
	upgrade := func() {
		w.Turn(func() {
			v, err := w.Platform.VM.RunString(`(() => { const [client, server] = pair(), ev = globalThis.ev = []; trace(server, "", ev); server.accept(); server.send("welcome"); globalThis.server = server; globalThis.client = client;
				return new Response(null, {status: 101, webSocket: client}) })()`)
			if err != nil {
				t.Fatal(err)
			}
			ev, err := w.Platform.Fetch.ResponseToEvent(v, nil)
			if err != nil {
				t.Fatal(err)
			}
			if sock = ev.Socket; ev.Status != 101 {
				t.Errorf("status %d", ev.Status)
			}
			if _, err = w.Platform.Fetch.ResponseToEvent(v, nil); err == nil || !strings.Contains(err.Error(), "already used in a response") {
				t.Errorf("twice: %v", err)
			}
		})
		sock.Bind(peer)
	}
	upgrade()
	sock.Send(event.Message{Data: []byte("hello")})
	w.Run(`await 0; say(JSON.stringify(ev)); server.send("more"); server.close(4000, "done"); try { client.accept() } catch (e) { say(e.message) }`)
	w.Said(`["message","hello"]`, `Can't accept() WebSocket that was already used in a response.`)
	if fmt.Sprint(peer.got) != "[welcome more close 4000 donetrue]" || w.Context.Held() != 1 {
		t.Errorf("the peer got %q; %d holds", peer.got, w.Context.Held())
	}
	sock.Close(4000, "done")
	w.Run(`say(JSON.stringify(ev.slice(2)))`)
	w.Said(`["close",4000,"done",true,3]`)
	upgrade()
	sock.Drop(1006, "", errors.New("connection reset"))
	w.Run(`say(JSON.stringify(ev)); server.send("dropped silently")`)
	w.Said(`["error","Uncaught Error: connection reset","close",1006,"WebSocket disconnected without sending Close frame.",false,3]`)
	upgrade()
	sock.Drop(1006, "somebody's reason", nil)
	w.Run(`say(JSON.stringify([...ev, server.readyState])); server.send("dropped silently"); server.close(1000)`)
	w.Said(`["close",1006,"WebSocket disconnected without sending Close frame.",false,1,2]`)
	upgrade()
	sock.Close(1000, "bye")
	w.Run(`await new Promise(r => setTimeout(r, 1)); say(JSON.stringify([...ev, server.readyState]))`)
	w.Said(`["close",1000,"bye",true,3,"error","Uncaught Error: Network connection lost.",3]`)
	upgrade()
	sock.Connect() // the peer is a client from which only a Close frame comes
	sock.Close(1000, "r\xff")
	w.Run(`await new Promise(r => setTimeout(r, 1)); say(JSON.stringify([...ev, server.readyState]))`)
	w.Said(`["close",1000,"r�",true,3,3]`)
	upgrade()
	sock.Send(event.Message{Data: []byte("a\xe2\x82b")})
	sock.Drop(1006, "", &event.ProtocolError{Code: 1002, Description: "Unknown opcode 3"})
	w.Run(`await new Promise(r => setTimeout(r, 1)); say(JSON.stringify([...ev, server.readyState])); server.send("dropped silently")`)
	w.Said(`["message","a�b","error","Uncaught Error: WebSocket protocol error; protocolError.statusCode = 1002; protocolError.description = Unknown opcode 3",3]`)
	if w.Context.Held() != 0 {
		t.Errorf("%d holds", w.Context.Held())
	}
	upgrade()
	peer.got = nil
	w.Turn(func() { w.Context.Kill(errors.New("evicted")) })
	if fmt.Sprint(peer.got) != "[close 1006 false]" {
		t.Errorf("after the kill the peer got %q", peer.got)
	}
}

// A client socket connects through fetch with Upgrade; a refusal is an error
// and a close event.
func TestWebSocketClient(t *testing.T) {
	w := webapitest.New(t)
	w.Run(pairHelper)
	near, far := event.NewSocketPair()
	peer := &socketPeer{}
	far.Bind(peer)
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		if !req.Upgrade || req.Header.Get("upgrade") != "websocket" || req.URL != "https://x/chat" || req.Header.Get("sec-websocket-protocol") != "a, b" {
			t.Errorf("request %+v", req)
		}
		done(&event.Response{Status: 101, Socket: near, Header: event.Header{{Name: "Sec-WebSocket-Protocol", Value: "b"}}}, nil)
		return func(error) {}
	}
	w.Run(`const ws = globalThis.ws = new WebSocket("wss://x/chat", ["a", "b"]); say([ws.readyState, ws.url, ws.protocol]); const ev = globalThis.ev = []; trace(ws, "", ev);
		ws.onopen = () => { say([ws.readyState, ws.protocol]); ws.send("hi") }`)
	far.Send(event.Message{Data: []byte("yo")})
	far.Close(1000, "")
	w.Run(`say(JSON.stringify(ev))`)
	w.Said("0,wss://x/chat,", "1,b", `["open","message","yo","close",1000,"",true,3]`)
	if fmt.Sprint(peer.got) != "[hi close 1000 true]" {
		t.Errorf("the peer got %q", peer.got)
	}
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		done(&event.Response{Status: 200}, nil)
		return func(error) {}
	}
	w.Run(`const ws = new WebSocket("ws://x/"), ev = []; trace(ws, "", ev); await new Promise(r => setTimeout(r, 1)); say(JSON.stringify(ev))`)
	w.Said(`["error","Uncaught TypeError: Failed to establish the WebSocket connection: expected server to reply with HTTP status code 101 (switching protocols), but received 200 instead.","close",1006,"Failed to establish websocket connection",false,3]`)
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		done(&event.Response{Status: 101, Socket: near}, nil)
		return func(error) {}
	}
	near, far = event.NewSocketPair()
	w.Run(`const r = await fetch("http://x/", {headers: {Upgrade: "websocket"}}); say([r.status, r.webSocket.readyState]); globalThis.ws = r.webSocket; ws.accept(); ws.onmessage = (e) => say(e.data); ws.send("sent")`)
	far.Bind(&socketPeer{})
	far.Send(event.Message{Data: []byte("got")})
	for w.Sched.Step() {
	}
	w.Said("101,1", "got")
	// As in workerd: null without an answer to a subprotocol, and "" of a fetched socket.
	near, _ = event.NewSocketPair()
	w.Run(`const ws = new WebSocket("ws://x/"); say(JSON.stringify([ws.protocol, ws.extensions])); ws.onopen = () => say(JSON.stringify([ws.protocol, ws.extensions]))`)
	w.Said(`["",""]`, `[null,null]`)
	near, _ = event.NewSocketPair()
	w.Run(`const r = await fetch("http://x/", {headers: {Upgrade: "websocket"}}); say(JSON.stringify([r.webSocket.protocol, r.webSocket.extensions]))`)
	w.Said(`["",""]`)
}

// The signal of a fetch ends the socket that it has brought, a listener of "open" that throws
// the connection, and a fetch for a socket asks with GET (compared with workerd).
func TestWebSocketOfAbortedFetch(t *testing.T) {
	w := webapitest.New(t)
	w.Run(pairHelper)
	var peer *socketPeer
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		if req.Method != "GET" || req.Body != nil {
			t.Errorf("asked with %s %v", req.Method, req.Body)
		}
		near, far := event.NewSocketPair()
		peer = &socketPeer{}
		far.Bind(peer)
		done(&event.Response{Status: 101, Socket: near}, nil)
		return func(error) {}
	}
	const lost = `"close",1006,"WebSocket disconnected without sending Close frame.",false,1`
	for act, want := range map[string]string{
		`ws.accept(); c.abort()`:                       `[` + lost + `,2]`,
		`c.abort(); ws.accept()`:                       `[` + lost + `,2]`,
		`ws.accept(); c.abort(); ws.send("z")`:         `[` + lost + `,"error","Uncaught ",3]`,
		`ws.accept(); c.abort(new RangeError("mine"))`: `["error","Uncaught RangeError: mine",3]`,
	} {
		w.Run(`const c = new AbortController(), r = await fetch("http://x/", { method: "POST", body: "b", headers: { Upgrade: "websocket" }, signal: c.signal }), ws = r.webSocket, ev = []; trace(ws, "", ev);
			` + act + `; for (let i = 0; i < 3; i++) await new Promise((r) => setTimeout(r, 1)); say(JSON.stringify([...ev, ws.readyState]))`)
		w.Said(want)
		if fmt.Sprint(peer.got) != "[close 1006 false]" {
			t.Errorf("%s: the peer got %q", act, peer.got)
		}
	}
	w.Run(`const ws = new WebSocket("ws://x/"), ev = []; trace(ws, "", ev); ws.addEventListener("open", () => { throw new TypeError("lis") });
		for (let i = 0; i < 3; i++) await new Promise((r) => setTimeout(r, 1)); say(JSON.stringify([...ev, ws.readyState]))`)
	w.Logs = nil // the exception
	w.Said(`["open","error","Uncaught TypeError: lis","close",1006,"Failed to establish websocket connection",false,3,3]`)
	if fmt.Sprint(peer.got) != "[close 1006 false]" || w.Context.Held() != 0 {
		t.Errorf("the peer got %q, %d holds", peer.got, w.Context.Held())
	}
}

type storedAttachment struct{ b []byte }

func (s *storedAttachment) LoadAttachment() []byte   { return s.b }
func (s *storedAttachment) StoreAttachment(b []byte) { s.b = b }

// A socket taken for hibernation sends and closes, leaves its events to who
// took it, and comes back as an object with its attachment.
func TestWebSocketHibernation(t *testing.T) {
	w := webapitest.New(t)
	w.Run(pairHelper + `const [a, b] = pair(); globalThis.a = a; globalThis.b = b; a.serializeAttachment("early")`)
	peer, store := &socketPeer{}, &storedAttachment{}
	var sock *event.Socket
	w.Turn(func() {
		h, ok := w.Platform.WebSockets.Of(w.Platform.VM.Get("a"))
		if !ok {
			t.Fatal("no handle")
		}
		store.b = h.Attachment.LoadAttachment()
		sock = h.TakeForHibernation()
		h.Attachment = store
		if thrown := w.Platform.Engine.Try(func() { h.TakeForHibernation() }); thrown == nil || !strings.Contains(thrown.String(), "Cannot call `acceptWebSocket()`") {
			t.Errorf("twice: %v", thrown)
		}
	})
	sock.Peer().Bind(peer)
	w.Run(`a.send("out"); try { a.accept() } catch (e) { say(e.message) } say(a.deserializeAttachment()); a.serializeAttachment({n: 1})`)
	w.Said("Can't accept() WebSocket after enabling hibernation.", "early")
	if w.Context.Held() != 0 || len(w.Context.Ops()) != 0 {
		t.Error("a hibernatable socket keeps its context alive")
	}
	again := webapitest.New(t)
	again.Turn(func() {
		again.Platform.VM.Set("ws", again.Platform.WebSockets.Wrap(sock, websocket.Options{Hibernatable: true, Attachment: store}))
		h, _ := again.Platform.WebSockets.Of(again.Platform.VM.Get("ws"))
		h.MarkReceivedClose()
	})
	again.Run(`say([ws.readyState, ws.deserializeAttachment().n]); ws.send("back"); ws.close(1000); say(ws.readyState)`)
	again.Said("2,1", "3")
	if fmt.Sprint(peer.got) != "[out back close 1000 true]" {
		t.Errorf("the peer got %q", peer.got)
	}
}

// Aborting a fetch's signal cancels it, before and after the response.
func TestFetchAbort(t *testing.T) {
	w := webapitest.New(t)
	var canceled error
	var answer func(*event.Response, error)
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		answer = done
		return func(err error) { canceled = err }
	}
	w.Tries([][2]string{
		{`fetch()`, `TypeError: Failed to execute 'fetch' on 'ServiceWorkerGlobalScope': parameter 1 is not of type 'Request or string'.`},
		{`fetch("http://x/", {signal: AbortSignal.abort()})`, `AbortError: The operation was aborted`},
		{`(async c => { const p = fetch("http://x/", {signal: c.signal}); c.abort(new Error("mine")); return p })(new AbortController())`, `Error: mine`},
		{`(async c => { const p = fetch("http://x/", {signal: c.signal}); c.abort(Symbol("s")); return p })(new AbortController())`, `Error: Symbol(s)`},
		{`(async c => { const p = scheduler.wait(1000, {signal: c.signal}); c.abort(() => 1); return p })(new AbortController())`, `Error: () => 1`},
		{`new Request("http://x/", {signal: 5})`, `TypeError: Incorrect type for the 'signal' field on 'RequestInitializerDict': the provided value is not of type 'AbortSignal'.`},
		{`(s => [s.aborted, s instanceof AbortSignal])(new Request("http://x/").signal)`, `[false,true]`},
		{`(async () => { const c = new AbortController(); let source; const p = new ReadableStream({start(s) { source = s }}).pipeTo(new WritableStream(), {signal: c.signal}); c.abort(new Error("sig")); source.enqueue(1); return p })()`, `Error: sig`},
	})
	if canceled == nil {
		t.Error("the exchange was not cancelled")
	}
	pipe := event.NewPipe(-1)
	var why error
	pipe.OnCancel(func(err error) { why = err })
	w.Run(`const c = globalThis.c = new AbortController(); const r = await fetch("http://x/", {signal: c.signal}); say(r.status); try { await r.text() } catch (e) { say(e.message) }`)
	answer(&event.Response{Status: 200, Body: pipe}, nil)
	for w.Sched.Step() {
	}
	w.Run(`c.abort(new Error("late"))`)
	w.Said("200", "late")
	if why == nil {
		t.Error("the body was not cancelled")
	}
}

// WebSockets, section 3.1, close(): a socket that is still connecting gives up,
// and says so with "error" and "close".
func TestWebSocketClosedWhileConnecting(t *testing.T) {
	w := webapitest.New(t)
	var told error
	w.Net = func(*event.Request, func(*event.Response, error)) func(error) { return func(err error) { told = err } }
	w.Tries([][2]string{{`(async () => {
		const ws = new WebSocket("ws://x/"), seen = [ws.readyState];
		for (const type of ["open", "error", "close"]) ws.addEventListener(type, (e) => seen.push(type, ws.readyState, e.code));
		const closed = new Promise((resolve) => ws.addEventListener("close", resolve));
		try { ws.close(999) } catch (e) { seen.push(e.name) }
		seen.push(ws.readyState);
		await null; // the request leaves
		ws.close(1000, "bye");
		seen.push(ws.readyState);
		ws.close();
		const { wasClean } = await closed;
		return [...seen, wasClean];
	})()`, `[0,"InvalidAccessError",0,1,"error",3,null,"close",3,1006,false]`}})
	if told == nil {
		t.Error("the network was not told")
	}
}

// A server that names an extension which was not offered has failed the
// handshake (RFC 6455, section 4.1), and hears that its connection is lost.
func TestWebSocketUnaskedExtension(t *testing.T) {
	w := webapitest.New(t)
	w.Run(pairHelper)
	near, far := event.NewSocketPair()
	peer := &socketPeer{}
	far.Bind(peer)
	w.Net = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(&event.Response{Status: 101, Socket: near, Header: event.Header{{Name: "Sec-WebSocket-Extensions", Value: "x-unheard-of"}}}, nil)
		return func(error) {}
	}
	w.Run(`const ws = new WebSocket("ws://x/"), ev = []; trace(ws, "", ev); await new Promise(r => setTimeout(r, 1)); say(JSON.stringify(ev))`)
	w.Said(`["error","Uncaught Error: the server uses a WebSocket extension that it was not offered","close",1006,"Failed to establish websocket connection",false,3]`)
	if fmt.Sprint(peer.got) != "[close 1006 false]" {
		t.Errorf("the peer got %q", peer.got)
	}
}

// bufferedAmount counts the bytes that this task has sent (WebSockets, section
// 3.1): UTF-8 of text, and none before the next task.
func TestWebSocketBufferedAmount(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`const [a, b] = Object.values(new WebSocketPair()); a.accept(); b.accept(); const seen = [a.bufferedAmount];
		for (const m of ["\u00e9", "", new Uint8Array([1, 2, 3]).subarray(1), new ArrayBuffer(5)]) { a.send(m); seen.push(a.bufferedAmount); }
		await null; seen.push(a.bufferedAmount, b.bufferedAmount); await new Promise(r => setTimeout(r, 1)); say(seen.concat(a.bufferedAmount))`)
	w.Said("0,2,2,4,9,9,0,0")
}
