package server

import "minido.dev/minido/runtime/isolate"

// Evaluate runs code that a person typed in the isolate of the server's worker; see
// isolate.(*Isolate).Evaluate.
func Evaluate(s *Server, code string, o isolate.EvaluateOptions, done func(value isolate.Evaluated, thrown bool, err error)) {
	s.withWorker(func(w *worker, err error) {
		switch {
		case err != nil:
			done(isolate.Evaluated{}, false, err)
		case w.iso == nil:
			done(isolate.Evaluated{}, false, ErrNoIsolate)
		default:
			w.iso.Evaluate(code, o, done)
		}
	})
}
