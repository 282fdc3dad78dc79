// Package util holds node:util and the modules that compare and print values: assert,
// console, test.
package util

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
	s.Internal("internal/assert_message", "assert_message.js", nil)
	s.Internal("internal/comparisons", "comparisons.js", comparisonsModule)
	s.Internal("internal/mime", "mime.js", nil)
	s.JS("assert", "assert.js", nil)
	s.Property("assert/strict", "assert", "strict")
	s.JS("console", "console.js", consoleModule).Flag(compat.EnableNodejsConsoleModule)
	s.Alias("sys", "util")
	s.JS("test", "test.js", nil)
	s.JS("util", "util.js", utilModule)
	s.JS("util/types", "util_types.js", typesModule)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
