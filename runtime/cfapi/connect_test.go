package cfapi_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// connect() of a stub gives a Socket that fails as that to a worker without a connect()
// handler (workerd 1.20261117.1), an object of a class that a call throws arrives as a plain one.
func TestConnectAndThrownObjects(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `import { WorkerEntrypoint } from "cloudflare:workers";
class Custom { a = 1; }
export class Ent extends WorkerEntrypoint { go() { throw new Custom(); } }
export default { async fetch(request, { SELF, CERT }) {
  const out = [], told = async (f) => { try { out.push(await f()); } catch (e) { out.push(e.name + ": " + e.message); } };
  await told(() => SELF.connect("example:80").opened);
  await told(() => SELF.connect("example:81").closed);
  await told(() => SELF.connect());
  await told(() => SELF.connect("nonsense"));
  await told(() => CERT.connect("example.com:443").opened);
  try { await SELF.go(); } catch (e) { out.push(e.constructor.name + JSON.stringify(e)); }
  return new Response(out.join("\n"));
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "services": [{"binding": "SELF", "service": "p", "entrypoint": "Ent"}], "mtls_certificates": [{"binding": "CERT", "certificate_id": "abc"}]}`,
	}, minidotest.Options{})
	const fails = "Error: proxy request failed, cannot connect to the specified address"
	want := fails + ". It looks like you might be trying to connect to a HTTP-based service — consider using fetch instead\n" + fails + `
TypeError: Failed to execute 'connect' on 'Fetcher': parameter 1 is not of type 'SocketAddress or string'.
TypeError: Specified address is missing port.
Error: Binding CERT needs to be run remotely
Object{"a":1,"remote":true}`
	if got := w.Do("GET", "http://localhost/", "").Text(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
