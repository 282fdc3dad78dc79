// Package buffer holds node:buffer and node:string_decoder.
package buffer

import (
	"embed"

	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.JS("buffer", "buffer.js", bufferModule)
	s.JS("string_decoder", "string_decoder.js", decoderModule)
	s.Globals(func(m *node.Modules) { m.LazyGlobal("Buffer", "buffer") })
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
