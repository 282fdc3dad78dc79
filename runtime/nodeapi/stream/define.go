// Package stream holds node:stream, node:events and node:readline.
package stream

import (
	"embed"
	"strings"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/stream_base", "stream_base.js", nil)
	s.Internal("internal/stream_operators", "stream_operators.js", nil)
	s.Internal("internal/stream_readable", "stream_readable.js", nil)
	s.Internal("internal/stream_writable", "stream_writable.js", nil)
	s.Internal("internal/stream_duplex", "stream_duplex.js", nil)
	s.Internal("internal/stream_compose", "stream_compose.js", nil)
	s.Internal("internal/stream_pipeline", "stream_pipeline.js", nil)
	s.Internal("internal/stream_web", "stream_web.js", nil)
	s.JS("events", "events.js", eventsModule)
	s.JS("stream", "stream.js", nil)
	s.JS("stream/consumers", "stream_consumers.js", nil)
	s.Property("stream/promises", "stream", "promises")
	s.JS("stream/web", "stream_web_module.js", nil)
	s.JS("readline", "readline.js", nil).Flag(compat.EnableNodejsReadlineModule)
	s.Property("readline/promises", "readline", "promises").Flag(compat.EnableNodejsReadlineModule)
	for _, part := range []string{"Duplex", "PassThrough", "Readable", "Transform", "Writable"} {
		s.Property("_stream_"+strings.ToLower(part), "stream", part)
	}
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
