package socket_test

import (
	"errors"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// mirror is a peer that sends back what it gets, and hangs up when its client has.
// It runs in the test's world.
type mirror struct {
	w       *webapitest.World
	back    *event.Pipe
	queue   [][]byte
	busy    bool
	over    bool
	name    string // that TLS was begun with
	refuses bool   // TLS
	closed  int
	stalled func(error) // a write that the peer does not take
}

func newMirror(w *webapitest.World) *mirror { return &mirror{w: w, back: event.NewPipe(-1)} }

func (m *mirror) response() *event.Response {
	return &event.Response{Status: 200, Body: m.back, Tunnel: m}
}

func (m *mirror) RemoteAddress() string { return "192.0.2.1:7" }

func (m *mirror) Write(chunk []byte, done func(error)) {
	if string(chunk) == "break" {
		done(errors.New("it broke"))
		return
	}
	if string(chunk) == "stall" {
		m.stalled = done
		return
	}
	if string(chunk) == "hangup" {
		m.over = true
	} else {
		m.queue = append(m.queue, chunk)
	}
	m.pump()
	m.w.Sched.Go("written", func() { done(nil) })
}

func (m *mirror) pump() {
	if m.busy {
		return
	}
	if len(m.queue) == 0 {
		if m.over {
			m.back.Close(nil)
		}
		return
	}
	chunk := m.queue[0]
	m.queue, m.busy = m.queue[1:], true
	m.back.Write(chunk, func(error) { m.busy = false; m.pump() })
}

func (m *mirror) CloseWrite(done func(error)) {
	m.over = true
	m.pump()
	m.w.Sched.Go("closed", func() { done(nil) })
}

func (m *mirror) Close() {
	m.closed++
	if m.stalled != nil {
		m.stalled(errors.New("closed"))
		m.stalled = nil
	}
}

func (m *mirror) Secure(name string, done func(*event.Response, error)) {
	m.w.Sched.Go("secured", func() {
		if m.name = name; m.refuses {
			done(nil, errors.New("no TLS"))
			return
		}
		m.back = event.NewPipe(-1)
		done(m.response(), nil)
	})
}

// newTCPWorld has connect() as a global, and a network whose hosts are mirrors,
// but for "nobody".
func newTCPWorld(t *testing.T) (w *webapitest.World, asked *[]string, last func() *mirror) {
	w = webapitest.New(t)
	asked = &[]string{}
	var m *mirror
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		*asked = append(*asked, req.Method+" "+req.URL)
		w.Sched.Go("connected", func() {
			if req.URL == "tcp://nobody:1" {
				done(nil, errors.New("nobody is there"))
				return
			}
			if req.URL == "tcp://web:80" {
				done(&event.Response{Status: 404}, nil)
				return
			}
			m = newMirror(w)
			done(m.response(), nil)
		})
		return func(error) {}
	}
	w.Platform.Engine.Global("connect", w.Platform.Engine.Func("connect", 2, func(call goja.FunctionCall) goja.Value {
		return w.Platform.TCP.Connect(call.Argument(0), call.Argument(1))
	}))
	w.Run(`globalThis.bytes = (s) => new TextEncoder().encode(s); globalThis.text = (b) => new TextDecoder().decode(b);`)
	return w, asked, func() *mirror { return m }
}

// connect() takes the addresses and options that workerd's does (api/sockets.c++),
// and refuses others in its words.
func TestConnectArguments(t *testing.T) {
	w, asked, _ := newTCPWorld(t)
	const unsupported = "TypeError: Specified address is empty string, contains unsupported characters or is too long."
	w.Tries([][2]string{
		{`connect("")`, "TypeError: Specified address is missing hostname."},
		{`connect("127.0.0.1")`, "TypeError: Specified address is missing port."},
		{`connect(5)`, "TypeError: Specified address is missing port."},
		{`connect("a b:1")`, "TypeError: Specified address could not be parsed."},
		{`connect("127.0.0.1:70000")`, "TypeError: Specified address could not be parsed."},
		{`connect("localhost:80/x")`, unsupported},
		{`connect({ hostname: "a/b", port: 5 })`, unsupported},
		{`connect("a".repeat(300) + ":5")`, unsupported},
		{`connect({ hostname: "", port: 5 })`, unsupported},
		{`connect()`, "TypeError: Cannot initialize N7workerd3api13SocketAddressE with required members from an undefined or null value."},
		{`connect(null)`, "TypeError: Failed to execute 'connect' on 'SocketsModule': parameter 1 is not of type 'SocketAddress or string'."},
		{`connect({})`, "TypeError: The value cannot be converted because it is not an integer."},
		{`connect({ hostname: "a", port: 99999 })`, "TypeError: Value out of range. Must be less than or equal to 65535."},
		{`connect({ hostname: "a", port: -1 })`, "TypeError: The value cannot be converted because it is negative and this API expects a positive number."},
		{`connect("a:1", { secureTransport: "x" })`, "TypeError: Unsupported value in secureTransport socket option: x"},
		{`connect("a:1", 5)`, "TypeError: Failed to execute 'connect' on 'SocketsModule': parameter 2 is not of type 'SocketOptions'."},
	})
	if len(*asked) > 0 {
		t.Errorf("the network was asked for %q", *asked)
	}
	w.Tries([][2]string{
		{`[connect("a:443"), connect("[::1]:5"), connect({ hostname: "b", port: "7" }, null), connect("c:1", { secureTransport: "on" })].map((s) => s.secureTransport)`, `["off","off","off","on"]`},
	})
	for i, want := range []string{"CONNECT tcp://a:443", "CONNECT tcp://[::1]:5", "CONNECT tcp://b:7", "CONNECT tls://c:1"} {
		if (*asked)[i] != want {
			t.Errorf("asked for %s, want %s", (*asked)[i], want)
		}
	}
}

// A Socket carries bytes both ways and ends as workerd's does.
func TestSocket(t *testing.T) {
	w, _, last := newTCPWorld(t)
	w.Tries([][2]string{
		{`Object.prototype.toString.call(connect("a:1"))`, "[object Socket]"},
		{`new (connect("a:1").constructor)()`, "TypeError: Illegal constructor"},
		{`Object.getOwnPropertyDescriptor(Object.getPrototypeOf(connect("a:1")), "closed").get.call({})`, "TypeError: Illegal invocation"},
		{`connect("a:1").opened`, `{"remoteAddress":"192.0.2.1:7"}`},
		// Writes wait for the connection; reading ends when the peer has hung up, and so does the socket.
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(); w.write(bytes("a")); w.write("b"); w.write(new Uint8Array()); w.close();
			let got = "", r = s.readable.getReader(), c; while (!(c = await r.read()).done) got += text(c.value); return [got, await s.closed, await w.closed]; })()`, `["ab",null,null]`},
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(), r = s.readable.getReader({ mode: "byob" }); w.write(bytes("hello"));
			const one = await r.read(new Uint8Array(3)), two = await r.read(new Uint8Array(3)); return [text(one.value), text(two.value)]; })()`, `["hel","lo"]`},
		// As workerd: a read gives 4,096 bytes at the most, and one is pending at a time.
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(), r = s.readable.getReader(); w.write(new Uint8Array(5000)); return [(await r.read()).value.length, (await r.read()).value.length]; })()`, `[4096,904]`},
		{`(async () => { const r = connect("a:1").readable.getReader(); r.read().catch(() => {}); return r.read(); })()`, "TypeError: This ReadableStream only supports a single pending read request at a time."},
		// When the peer has hung up, the socket is closed to writers.
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(), r = s.readable.getReader(); w.write("hangup"); while (!(await r.read()).done); return [await w.write("y").catch(String), await w.close()]; })()`, `["TypeError: This WritableStream has been closed.",null]`},
		// close() lets what was written leave, and refuses what reads.
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(), r = s.readable.getReader(); await s.opened; await w.write("x"); await r.read();
			const waiting = r.read().catch(String); await s.close(); return [await waiting, await s.closed, await w.write("y").catch(String)]; })()`,
			`["TypeError: This socket has been closed.",null,"TypeError: This WritableStream has been closed."]`},
		{`(async () => { const s = connect("a:1"); const a = s.close(), b = s.close(); return [a === b, await a, await b, (await s.opened).remoteAddress]; })()`, `[false,null,null,"192.0.2.1:7"]`},
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(); return w.write(7); })()`,
			"TypeError: This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/ArrayBufferView type on its writable side."},
		// Half open, the peer's end is not this side's.
		{`(async () => { const s = connect("a:1", { allowHalfOpen: true }), w = s.writable.getWriter(); let over = false; s.closed.then(() => { over = true; });
			await w.write("z"); const first = text((await s.readable.getReader().read()).value); const before = over; await w.close(); return [first, before]; })()`, `["z",false]`},
	})
	if last().closed == 0 && !last().over {
		t.Error("the last socket's end did not leave")
	}
	w.Run(`const s = connect("a:1"); await s.opened; await s.close();`)
	if last().closed != 1 {
		t.Errorf("close() closed the connection %d times", last().closed)
	}
	w.Run(`const s = connect("a:1"); await s.opened; s.readable.getReader().read();`)
	open := last()
	w.Turn(func() { w.Context.Kill(errors.New("the test is over")) })
	if open.closed == 0 {
		t.Error("the connection outlived its context")
	}
}

// What cannot be reached, and what breaks, is told by every promise.
func TestSocketFails(t *testing.T) {
	w, _, _ := newTCPWorld(t)
	const refused = "Error: proxy request failed, cannot connect to the specified address"
	w.Tries([][2]string{
		{`(async () => { const s = connect("nobody:1"); return [await s.opened.catch((e) => String(e) + " (" + e.cause.message + ")"), await s.closed.catch(String), await s.readable.getReader().read().catch(String),
			await s.writable.getWriter().write("x").catch(String), await s.close().catch(String)]; })()`,
			`["` + refused + ` (nobody is there)","` + refused + `",{"done":true},"Error: jsg.` + refused + `",null]`},
		// What has begun before is told, too, and then the writer is closed.
		{`(async () => { const s = connect("nobody:1"), r = s.readable.getReader(), w = s.writable.getWriter(); return [await Promise.all([r.read(), w.write("a"), w.write("b"), w.closed].map((p) => p.catch(String))),
			await w.write("c").catch(String), await w.close().catch(String)]; })()`,
			`[["Error: Stream was cancelled.","Error: jsg.` + refused + `","Error: jsg.` + refused + `","Error: jsg.` + refused + `"],"TypeError: This WritableStream has been closed.","TypeError: This WritableStream has been closed."]`},
		{`(async () => { const s = connect("nobody:1"); await s.opened.catch(() => {}); const w = s.writable.getWriter(); return [await w.close(), await w.closed.catch(String)]; })()`, `[null,"Error: jsg.` + refused + `"]`},
		{`(async () => { const s = connect("nobody:1"); return [await s.writable.getWriter().close().catch(String), await s.close()]; })()`, `[null,null]`},
		{`connect("web:80").opened`, refused + ". It looks like you might be trying to connect to a HTTP-based service — consider using fetch instead"},
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(), r = s.readable.getReader(); const read = r.read().catch(String); return [await w.write("break").catch(String), await read, await s.closed.catch(String)]; })()`,
			`["Error: it broke","Error: it broke",null]`},
	})
}

// An abort does not wait for a peer that takes nothing: what is queued is rejected,
// and the connection ends (workerd's api/streams/internal.c++, doAbort).
func TestSocketAbortWhileWriting(t *testing.T) {
	w, _, last := newTCPWorld(t)
	w.Tries([][2]string{
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(); await s.opened; const all = [w.write(bytes("stall")), w.write(bytes("more"))].map((p) => p.catch((e) => e.message));
			return [await w.abort(new Error("stop")) === undefined, ...await Promise.all(all), await w.closed.catch((e) => e.message), await s.closed === undefined]; })()`, `[true,"stop","stop","stop",true]`},
		{`(async () => { const s = connect("a:1"), w = s.writable.getWriter(), all = [w.write(bytes("early")).catch((e) => e.message)]; return [await w.abort(new Error("stop")) === undefined, ...await Promise.all(all), await s.closed === undefined]; })()`, `[true,"stop",true]`},
	})
	if m := last(); m.closed == 0 || len(m.queue) > 0 {
		t.Error("the connection was closed", m.closed, "times, and got", m.queue)
	}
}

// startTls() gives a socket that goes on under TLS (workerd's api/sockets.c++,
// Socket::startTls).
func TestStartTls(t *testing.T) {
	w, _, last := newTCPWorld(t)
	w.Tries([][2]string{
		{`connect("a:1").startTls()`, "TypeError: The `secureTransport` socket option must be set to 'starttls' for startTls to be used."},
		{`connect("a:1", { secureTransport: "on" }).startTls()`, "TypeError: Cannot startTls on a TLS socket."},
		{`(async () => { const s = connect("a:1", { secureTransport: "starttls" }), w = s.writable.getWriter(); w.write("hello"); w.releaseLock();
			const r = s.readable.getReader(); await r.read(); r.releaseLock();
			const t = s.startTls(); let again; try { s.startTls(); } catch (e) { again = String(e); }
			await t.opened; const tw = t.writable.getWriter(); tw.write("secret"); const got = text((await t.readable.getReader().read()).value);
			return [s.secureTransport, t.secureTransport, s.upgraded, t.upgraded, again, got, await s.closed]; })()`,
			`["starttls","on",true,false,"TypeError: startTls has already been called on this socket, or the socket was transferred over RPC.","secret",null]`},
	})
	if last().name != "a" {
		t.Errorf("TLS began with the name %q", last().name)
	}
	w.Tries([][2]string{
		{`(async () => { const s = connect("a:1", { secureTransport: "starttls" }); s.readable.getReader(); const t = s.startTls({ expectedServerHostname: "b" }); return t.opened; })()`,
			"TypeError: This ReadableStream is currently locked to a reader."},
		{`(async () => { const t = connect("a:1", { secureTransport: "starttls" }).startTls({ expectedServerHostname: "b" }); await t.opened; return "secure"; })()`, "secure"},
	})
	if last().name != "b" {
		t.Errorf("TLS began with the name %q", last().name)
	}
}
