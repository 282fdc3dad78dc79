// Package net holds the modules of the network: dns, net, tls, http and https.
package net

import (
	"embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/http_outgoing", "http_outgoing.js", nil)
	s.Internal("internal/http_incoming", "http_incoming.js", nil)
	s.Internal("internal/http_agent", "http_agent.js", nil)
	s.Internal("internal/http", "http.js", nil)
	s.Internal("internal/http_server", "http_server.js", nil)
	s.Internal("internal/net_socket", "net_socket.js", socketNatives)
	s.Internal("internal/tls_socket", "tls_socket.js", nil)
	s.JS("dns", "dns.js", addressNatives)
	s.Property("dns/promises", "dns", "promises")
	s.JS("net", "net.js", addressNatives)
	s.JS("tls", "tls.js", nil)
	s.Part("_tls_common", "tls")
	s.Part("_tls_wrap", "tls")
	s.Property("http", "internal/http", "http").Flag(compat.EnableNodejsHttpModules)
	s.Property("https", "internal/http", "https").Flag(compat.EnableNodejsHttpModules)
	s.Go("_http_server", func(m *node.Modules) goja.Value {
		exports := m.VM.NewObject()
		for _, name := range []string{"STATUS_CODES", "Server", "ServerResponse"} {
			m.Define(exports, name, m.Load("http").(*goja.Object).Get(name))
		}
		return exports
	}).Flag(compat.EnableNodejsHttpServerModules)
	s.Property("_http_outgoing", "internal/http_outgoing", "exports").Flag(compat.EnableNodejsHttpModules)
	for _, name := range []string{"_http_agent", "_http_client", "_http_incoming"} {
		s.Part(name, "http").Flag(compat.EnableNodejsHttpModules)
	}
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
