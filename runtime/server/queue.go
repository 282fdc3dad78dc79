package server

import (
	"minido.dev/minido/runtime/binding/queue"
	"minido.dev/minido/runtime/cfapi"
)

// AskQueue asks the broker of a queue of the session; done gets JSON. Safe for
// concurrent use.
//
// # Errors
//
// queue.ErrNoQueue.
func AskQueue(s *Server, name string, ask queue.Ask, done func([]byte, error)) {
	queue.Control(func(uniqueKey string) cfapi.Namespace {
		for _, m := range s.session.members {
			if space := m.space(uniqueKey); space != nil {
				return space
			}
		}
		return nil
	}, name, ask, done)
}
