package nodeapi

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dop251/goja"

	goldens "minido.dev/minido/internal/golden"
	"minido.dev/minido/runtime/nodeapi/node"
)

// docs/compatibility.md has each module and what it refuses, as the table of
// refusals has it.
func TestCompatibility(t *testing.T) {
	goldens.Section(t, "../../docs/compatibility.md", "node", compatibilityTable())
}

func compatibilityTable() string {
	var out strings.Builder
	var full []string
	fmt.Fprintln(&out, "| module | refuses | so does workerd | instead |\n|---|---|---|---|")
	for _, name := range append(Names(), "cloudflare:node") {
		before := out.Len()
		for _, r := range node.Refusals() {
			if r.Module == name {
				as := ""
				if r.Text != "" {
					as = "yes"
				}
				for _, names := range rowsOfNames(r.Names) {
					fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", name, names, as, strings.ReplaceAll(r.Advice, "|", "\\|"))
				}
			}
		}
		if same := node.SameAs(name); same != "" {
			fmt.Fprintf(&out, "| `%s` | as `%s` | | |\n", name, same)
		} else if out.Len() == before {
			full = append(full, "`"+name+"`")
		}
	}
	fmt.Fprintf(&out, "\nNothing is refused in %s.\n", strings.Join(full, ", "))
	return out.String()
}

// rowsOfNames lists names as code, in as many cells as keep each short enough
// for a table (internal/house bounds the length of a cell).
func rowsOfNames(names []string) []string {
	const longest = 160
	rows := []string{""}
	for _, name := range names {
		last := &rows[len(rows)-1]
		switch {
		case *last == "":
			*last = "`" + name + "`"
		case len(*last)+len(name) > longest:
			rows = append(rows, "`"+name+"`")
		default:
			*last += ", `" + name + "`"
		}
	}
	return rows
}

// How APIs are called that are not functions of their module.
var refusedCalls = map[string]string{
	"async_hooks.enterWith":               `new m.AsyncLocalStorage().enterWith(1)`,
	"async_hooks.disable":                 `new m.AsyncLocalStorage().disable()`,
	"buffer.resolveObjectURL":             `m.resolveObjectURL("blob:x")`,
	"fs.FileHandle.readLines":             `(m.promises ?? m).FileHandle.prototype.readLines()`,
	"http.Agent.createConnection":         `new m.Agent().createConnection()`,
	"stream.finished(a web stream)":       `m.finished(new ReadableStream(), () => {})`,
	"dns.Resolver.cancel":                 `new m.Resolver().cancel()`,
	"dns.Resolver.setLocalAddress":        `new m.Resolver().setLocalAddress()`,
	"stream.addAbortSignal(a web stream)": `m.addAbortSignal(new AbortController().signal, new ReadableStream())`,
	"process.report.writeReport":          `m.report.writeReport()`,
}

// Every API of the table throws, called or constructed, with the table's text;
// so does the same API of a module that is another one.
func TestRefusalsThrow(t *testing.T) {
	w := newWorld(t, Options{})
	w.e.Global("refuses", w.e.Func("refuses", 3, func(c goja.FunctionCall) goja.Value {
		call, api := c.Argument(0), c.Argument(1).String()
		thrown := w.e.Try(func() { w.e.Call(call, goja.Undefined()) })
		if want := w.m.Refused(api).Get("message").String(); thrown == nil || !strings.Contains(thrown.String(), want) {
			t.Errorf("%s: threw %v, want %q", api, thrown, want)
		}
		return goja.Undefined()
	}))
	cloudflare, err := w.m.CloudflareNode()
	if err != nil {
		t.Fatal(err)
	}
	w.e.Global("cloudflare", cloudflare)
	for _, r := range node.Refusals() {
		for _, name := range r.Names {
			api := r.Module + "." + name
			call := refusedCalls[api]
			if call == "" {
				call = "m." + name + "()"
			}
			module := fmt.Sprintf("require(\"node:%s\")", r.Module)
			if r.Module == "cloudflare:node" {
				module = "cloudflare"
			}
			w.in(fmt.Sprintf(`const m = %s; refuses(() => { %s }, %q)`, module, call, api))
		}
	}
}

// What Workers export and minido lacks is in the table, and what the preludes
// and the code refuse is, too.
func TestRefusalsAreListed(t *testing.T) {
	w := newWorld(t, Options{})
	for _, name := range Names() {
		if _, err := w.m.Require("node:" + name); err != nil {
			t.Fatal(err)
		}
	}
	refused := regexp.MustCompile(`(?:errors\.refused|m\.refused|missing)\("([a-z0-9_/]+\.[^"]+)"\)`)
	files, err := filepath.Glob("*/js/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal("no preludes: ", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range refused.FindAllSubmatch(b, -1) {
			if node.RefusalOf(string(x[1])) == nil {
				t.Errorf("%s refuses %s, which is not in refused.txt", f, x[1])
			}
		}
	}
	for _, name := range Names() {
		of := name
		if same := node.SameAs(name); same != "" {
			of = same
		}
		w.in(fmt.Sprintf(`const m = require("node:%s"), fill = require("process").kill.toString();
			for (const k of %q.split(" ")) if (k in m && typeof m[k] === "function" && m[k].toString() === fill) say(k)`, name, strings.Join(node.Surface(name), " ")))
		for _, key := range w.out {
			if node.RefusalOf(of+"."+key) == nil {
				t.Errorf("%s.%s throws and is not in refused.txt", name, key)
			}
		}
		w.out = nil
	}
}

// What is refused within a module that is there throws an error that names it, and
// has its row in docs/compatibility.md.
func TestRefusedMembers(t *testing.T) {
	b, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(b), "Options and members that are refused")
	w := newWorld(t, Options{})
	for _, group := range []struct{ call, names string }{
		{`require("http").request({ host: "a", NAME: { createConnection() {}, lookup() {}, socketPath: "x", maxHeaderSize: 1 }.NAME })`, "createConnection lookup socketPath maxHeaderSize"},
		{`new (require("http").ServerResponse)({ method: "GET" }).NAME({})`, "addTrailers assignSocket detachSocket writeContinue writeProcessing writeEarlyHints"},
		{`require("http").createServer({ NAME: 1 })`, "maxHeaderSize keepAliveTimeout connectionsCheckingInterval"},
		{`new (require("https").Server)().NAME()`, "setSecureContext getTicketKeys setTicketKeys addContext"},
		{`new (require("net").Socket)({ NAME: 1 })`, "fd objectMode readableObjectMode writableObjectMode"},
		{`new (require("tls").TLSSocket)(undefined, { NAME: "NAME" === "rejectUnauthorized" ? false : ["x"] })`,
			"rejectUnauthorized ALPNProtocols enableTrace pskCallback isServer requestCert server requestOCSP SNICallback"},
		{`require("tls").connect({ port: 1, NAME: 1 })`, "minDHSize"},
		{`new (require("tls").TLSSocket)().NAME(1)`, "getPeerCertificate getCertificate getPeerX509Certificate getX509Certificate setKeyCert exportKeyingMaterial"},
	} {
		for _, name := range strings.Fields(group.names) {
			check(t, w, "", [][2]string{{`(async () => { try { ` + strings.ReplaceAll(group.call, "NAME", name) + `; return "it is taken"; } catch (e) { return e.message.includes("` + name + `") || e.message; } })()`, "true"}})
			if !strings.Contains(rows, "`"+name+"`") && !strings.Contains(rows, "`"+name+":") {
				t.Errorf("%s has no row", name)
			}
		}
	}
	check(t, w, "", [][2]string{{`(async () => { try { require("crypto").createPublicKey({ key: { kty: "oct", k: "AA" }, format: "jwk" }); } catch (e) { return e.message; } })()`,
		`"JWK public key import is not implemented for this key type"`}})
}
