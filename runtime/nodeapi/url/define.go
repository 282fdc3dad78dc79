// Package url holds node:url, node:querystring and node:punycode.
package url

import (
	"embed"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.JS("punycode", "punycode.js", punycodeModule).Flag(compat.EnableNodejsPunycodeModule)
	s.JS("querystring", "querystring.js", querystringModule)
	s.JS("url", "url.js", urlModule)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
