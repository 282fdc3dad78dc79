package nodeapi

import (
	"encoding/base64"
	"encoding/pem"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Whatever the bytes, a certificate and an SPKAC are read or refused, and what
// was read can be asked for everything.
func FuzzCertificate(f *testing.F) {
	probe, err := os.ReadFile("testdata/probe_x509.txt")
	if err != nil {
		f.Fatal(err)
	}
	blocks := regexp.MustCompile(`-----BEGIN CERTIFICATE-----[^"]*-----END CERTIFICATE-----`).FindAllString(string(probe), -1)
	if len(blocks) == 0 {
		f.Fatal("no certificates")
	}
	for _, text := range blocks {
		block, _ := pem.Decode([]byte(strings.ReplaceAll(text, `\n`, "\n")))
		if block == nil {
			f.Fatalf("no PEM: %.80s", text)
		}
		f.Add(block.Bytes)
		for i := range 40 { // bytes of names, keys and extensions
			changed := []byte(string(block.Bytes))
			changed[(i*len(changed)/40+7)%len(changed)] ^= byte(1 << (i % 8))
			f.Add(changed)
		}
	}
	w := newWorld(f, Options{})
	w.in(`const { X509Certificate, Certificate } = require("crypto"), { inspect } = require("util");
		const attempt = (fn) => { try { fn(); } catch {} };
		globalThis.read = (text) => {
			const data = Buffer.from(text, "base64");
			for (const form of [data, Buffer.from(text)]) for (const method of ["verifySpkac", "exportChallenge", "exportPublicKey"]) attempt(() => Certificate[method](form));
			let x;
			try { x = new X509Certificate(data); } catch { return; }
			for (const name of Object.getOwnPropertyNames(X509Certificate.prototype)) if (!name.startsWith("check") && name !== "verify" && name !== "constructor") typeof x[name] === "function" ? x[name]() : x[name];
			inspect(x); x.checkHost("a.b.c"); x.checkEmail("a@b"); x.checkIP("1.2.3.4"); x.checkIssued(x);
			attempt(() => { inspect(x.publicKey); x.publicKey.asymmetricKeyDetails; x.publicKey.export({ type: "spki", format: "pem" }); });
			attempt(() => x.verify(x.publicKey));
		};`)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.t = t
		w.in("read('" + base64.StdEncoding.EncodeToString(data) + "'); say('done')")
		if err := w.e.Health.CondemnedBy(); err != nil {
			t.Fatal(err)
		}
		if len(w.out) != 1 || len(w.logs) > 0 {
			t.Fatalf("said %q, logged %.300q", w.out, w.logs)
		}
		w.out = nil
	})
}
