// Package timers holds node:timers.
package timers

import (
	"embed"

	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Go("timers", makeTimers)
	s.JS("timers/promises", "timers_promises.js", timersPromisesModule)
	s.Globals(installTimers)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules

	timers *timerClasses
}
