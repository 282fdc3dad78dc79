package server

import (
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/isolate"
)

// Inspect gives fn the isolate of the server's worker, once there is one: at once, or
// when the worker has been loaded. Safe for concurrent use.
func Inspect(s *Server, fn func(i *isolate.Isolate, err error)) {
	s.withWorker(func(w *worker, err error) {
		switch {
		case err != nil:
			fn(nil, err)
		case w.iso == nil:
			fn(nil, pool.ErrNoIsolate)
		default:
			fn(w.iso, nil)
		}
	})
}
