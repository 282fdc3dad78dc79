// Package zlib holds node:zlib.
package zlib

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
	s.JS("zlib", "zlib.js", zlibModule).Flag(compat.NodejsZlib)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
