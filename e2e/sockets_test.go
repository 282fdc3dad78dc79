package e2e

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"minido.dev/minido/chaos/process"
)

const socketsWorker = `import { connect } from "cloudflare:sockets";
import net from "node:net";
import tls from "node:tls";
const once = (s, name) => new Promise((resolve, reject) => { s.once(name, resolve); s.once("error", reject); });
const all = async (s) => { let text = ""; for await (const chunk of s) text += Buffer.from(chunk); return text; };
const tried = {
  async web({ ECHO }) {
    const s = connect(ECHO), w = s.writable.getWriter();
    await w.write(new TextEncoder().encode("hello"));
    await w.close();
    return [await all(s.readable), (await s.opened).remoteAddress === ECHO, await s.closed];
  },
  async tls({ SECURE }) {
    const s = connect(SECURE, { secureTransport: "on" }), w = s.writable.getWriter();
    await w.write("secret");
    await w.close();
    return all(s.readable);
  },
  async starttls({ STARTTLS }) {
    const s = connect(STARTTLS, { secureTransport: "starttls" });
    let w = s.writable.getWriter(), r = s.readable.getReader();
    await w.write("STARTTLS\n");
    const answer = new TextDecoder().decode((await r.read()).value);
    w.releaseLock(); r.releaseLock();
    const t = s.startTls({ expectedServerHostname: "example.com" });
    w = t.writable.getWriter();
    await w.write("secret");
    await w.close();
    return [answer, await all(t.readable), s.upgraded];
  },
  async node({ ECHO }) {
    const [host, port] = ECHO.split(":"), s = net.connect(port, host);
    await once(s, "connect");
    const peer = s.remotePort === Number(port);
    s.setEncoding("utf8");
    s.end("héllo");
    return [await all(s), s.bytesRead, s.bytesWritten, peer];
  },
  async nodetls({ STARTTLS }) {
    const [host, port] = STARTTLS.split(":"), plain = net.connect({ host, port });
    plain.write("STARTTLS\n");
    const answer = String(await once(plain, "data"));
    const s = tls.connect({ socket: plain, servername: "example.com" });
    await once(s, "secureConnect");
    s.end("secret");
    return [answer, await all(s), s.authorized, s.encrypted];
  },
  async large({ ECHO }) {
    const [host, port] = ECHO.split(":"), s = net.connect(port, host);
    let got = 0;
    s.on("data", (d) => { got += d.length; });
    for (let i = 0; i < 40; i++) s.write(Buffer.alloc(50_000, i));
    s.end();
    await once(s, "close");
    return got;
  },
  async refused({ CLOSED }) {
    const [host, port] = CLOSED.split(":");
    const node = await once(net.connect(port, host), "connect").catch((e) => [e.code, e.syscall, e.address]);
    return [node, await connect(CLOSED).opened.catch((e) => e.message)];
  },
};
export default {
  async fetch(request, env) {
    try { return Response.json(await tried[new URL(request.url).pathname.slice(1)](env) ?? null); }
    catch (e) { return new Response(String(e && e.stack), { status: 500 }); }
  },
};
`

// listen is a TCP server for as long as the test runs.
func listen(t *testing.T, serve func(c net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			served.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		served.Wait()
	})
	return l.Addr().String()
}

// Workers talk to servers over TCP, through cloudflare:sockets, node:net and
// node:tls; certificates are checked against the system's.
func TestSockets(t *testing.T) {
	t.Parallel()
	https := httptest.NewUnstartedServer(nil)
	https.StartTLS()
	conf := &tls.Config{Certificates: https.TLS.Certificates}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: https.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	https.Close()
	echo := func(c net.Conn) { io.Copy(c, c) }
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{
		"ECHO":   listen(t, echo),
		"SECURE": listen(t, func(c net.Conn) { secure := tls.Server(c, conf); echo(secure); secure.Close() }),
		"STARTTLS": listen(t, func(c net.Conn) {
			if line, err := bufio.NewReaderSize(c, 16).ReadString('\n'); err != nil || line != "STARTTLS\n" {
				t.Errorf("%q, %v", line, err)
				return
			}
			io.WriteString(c, "go on")
			secure := tls.Server(c, conf)
			echo(secure)
			secure.Close()
		}),
		"CLOSED": closed.Addr().String(),
	}
	closed.Close()
	dir := project(t, map[string]string{
		"wrangler.jsonc": `{"name": "sockets", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"]}`,
		"worker.js":      socketsWorker,
	})
	command := []string{minido, "dev", "--ip", "127.0.0.1", "--config", filepath.Join(dir, "wrangler.jsonc"), "--port", "0", "--persist-to", filepath.Join(t.TempDir(), "state")}
	for name, value := range vars {
		command = append(command, "--var", name+":"+value)
	}
	s, err := launch(t, process.Options{Command: command, Env: []string{"SSL_CERT_FILE=" + roots}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"web":      `["hello",true,null]`,
		"tls":      `"secret"`,
		"starttls": `["go on","secret",true]`,
		"node":     `["héllo",6,6,true]`,
		"nodetls":  `["go on","secret",true,true]`,
		"large":    `2000000`,
		"refused":  `[["ECONNREFUSED","connect","127.0.0.1"],"proxy request failed, cannot connect to the specified address"]`,
	} {
		if status, got := ask(t, "GET", s.url+"/"+name); status != 200 || got != want {
			t.Errorf("%s: %d\n got %s\nwant %s", name, status, got, want)
		}
	}
}
