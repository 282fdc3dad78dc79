package cfapi_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// An import of what a cloudflare: module lacks keeps the worker from starting, with
// workerd's text and the place of the import; what is there can be imported.
func TestNamesOfModules(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`import { Nope } from "cloudflare:workers"; export default { fetch() { return new Response(String(Nope)); } };`,
			`bundle: w.js:1:10: The requested module 'cloudflare:workers' does not provide an export named 'Nope'`},
		{`import { EmailMassage } from "cloudflare:email"; export default { fetch() { return new Response(String(EmailMassage)); } };`,
			`bundle: w.js:1:10: The requested module 'cloudflare:email' does not provide an export named 'EmailMassage'`},
		{`import { env, withEnv, RpcTarget, WorkerEntrypoint } from "cloudflare:workers"; import { connect } from "cloudflare:sockets";
import { EmailMessage } from "cloudflare:email"; import { NonRetryableError } from "cloudflare:workflows";
export default { fetch() { return new Response(String([env, withEnv, RpcTarget, WorkerEntrypoint, connect, EmailMessage, NonRetryableError].includes(undefined))); } };`, "false"},
	} {
		dir := t.TempDir()
		minidotest.WriteFiles(t, dir, map[string]string{"w.js": c.code, "wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-08-01"}`})
		w, err := minidotest.Open(t, minidotest.Options{Project: dir})
		got := ""
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		} else {
			got = w.Do("GET", "http://localhost/", "").Text()
		}
		if got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}
