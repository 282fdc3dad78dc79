package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// The listener speaks TLS with a certificate for localhost, or with the files that it
// is given; requests say so, sockets work, and wrangler's texts name what is missing.
func TestLocalHTTPS(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"wrangler.json": `{"name": "secure", "main": "index.js", "compatibility_date": "2026-08-01", "dev": {"local_protocol": "https"}}`,
		"plain.json":    `{"name": "secure", "main": "index.js", "compatibility_date": "2026-08-01"}`,
		"index.js": `export default { async fetch(req) {
  if (req.headers.get("Upgrade") !== "websocket") return new Response(req.method + " " + req.url + " " + (await req.text()).length);
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.addEventListener("message", (e) => server.send("echo " + e.data));
  return new Response(null, { status: 101, webSocket: client });
} };`,
	})
	flags := func(file string, more ...string) []string {
		return append([]string{"-c", filepath.Join(dir, file), "--port", "0", "--no-watch"}, more...)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()

	s := dev(t, flags("wrangler.json")...)
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("the server is ready on %s", s.url)
	}
	resp, err := client.Post(s.url+"/p", "text/plain", strings.NewReader(strings.Repeat("x", 100000)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if want := "POST " + s.url + "/p 100000"; err != nil || string(body) != want {
		t.Errorf("%s, %v, not %s", body, err, want)
	}
	if cert := resp.TLS.PeerCertificates[0]; cert.VerifyHostname("localhost") != nil || cert.VerifyHostname("127.0.0.1") != nil || time.Until(cert.NotAfter) < 24*time.Hour {
		t.Errorf("the certificate: %v, %v, until %v", cert.DNSNames, cert.IPAddresses, cert.NotAfter)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "wss"+strings.TrimPrefix(s.url, "https"), &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageText, []byte("you")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := conn.Read(ctx); err != nil || string(text) != "echo you" {
		t.Errorf("the socket said %q, %v", text, err)
	}

	// Files of the user's, by flags.
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS()
	defer known.Close()
	key, cert := filepath.Join(dir, "key.pem"), filepath.Join(dir, "cert.pem")
	pair := known.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{key: {Type: "PRIVATE KEY", Bytes: secret}, cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = dev(t, flags("plain.json", "--local-protocol", "https", "--https-key-path", key, "--https-cert-path", cert)...)
	if resp, err = client.Get(s.url); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if !resp.TLS.PeerCertificates[0].Equal(known.Certificate()) {
		t.Error("the certificate is another one")
	}
	for text, more := range map[string][]string{
		"Must specify both certificate path and key path to use a Custom Certificate.": {"--https-key-path", key},
		"Missing Custom Certificate File at " + cert + "x":                             {"--https-key-path", key, "--https-cert-path", cert + "x"},
		"Missing Custom Certificate Key at " + key + "x":                               {"--https-key-path", key + "x", "--https-cert-path", cert},
	} {
		failed, err := tryDev(t, "", flags("wrangler.json", more...)...)
		if err == nil {
			t.Errorf("%v: the server has started", more)
		}
		contains(t, failed.Output(), text)
	}
}
