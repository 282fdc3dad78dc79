// Package path holds node:path, and the patterns of path.matchesGlob and fs.glob.
package path

import "minido.dev/minido/runtime/nodeapi/node"

// Define declares the modules.
func Define(r *node.Registry) {
	r.Go("path", makePath)
	r.Property("path/posix", "path", "posix")
	r.Property("path/win32", "path", "win32")
}

// module is node:path in one isolate. Loop-confined.
type module struct{ *node.Modules }
