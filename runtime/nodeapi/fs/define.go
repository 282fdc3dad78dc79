// Package fs holds node:fs: /bundle, /tmp and /dev, as in workerd.
package fs

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
	s.Internal("internal/fs_open", "fs_open.js", nil)
	s.JS("fs", "fs.js", fsModule).Flag(compat.EnableNodejsFsModule)
	s.Property("fs/promises", "fs", "promises").Flag(compat.EnableNodejsFsModule)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules

	disk *disk
}
