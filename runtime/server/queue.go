package server

import "minido.dev/minido/runtime/binding/queue"

// AskQueue asks the broker of a queue of the session; done gets JSON. Safe for
// concurrent use.
//
// # Errors
//
// queue.ErrNoQueue.
func AskQueue(s *Server, name string, ask queue.Ask, done func([]byte, error)) {
	queue.Control(s.session.space, name, ask, done)
}
