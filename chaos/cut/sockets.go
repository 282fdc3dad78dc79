package cut

import (
	"maps"
	"slices"
	"strings"

	"minido.dev/minido/chaos/history"
)

// openSocket is a socket of the clients.
type openSocket struct {
	number   int // among those that opened, from 1
	path     string
	sent     []string // the client's frames
	answered int      // how many of them had been sent when the last frame came back
}

// openSockets are those that are open at some point of a history. The zero value is the
// beginning.
type openSockets struct {
	opened int
	of     map[string]*openSocket // by the client's name
}

// take takes the next event in: its socket, nil if it is of none that is open, and those
// that it has cut, a death, in the order of their clients.
func (s *openSockets) take(e history.Event) (of *openSocket, cut []*openSocket) {
	of = s.of[e.Who]
	switch {
	case e.Kind == history.Connect && strings.HasPrefix(e.Who, history.SocketPrefix):
		if s.of == nil {
			s.of = map[string]*openSocket{}
		}
		s.opened++
		of = &openSocket{number: s.opened, path: e.Text}
		s.of[e.Who] = of
	case e.Kind == history.Send && of != nil:
		of.sent = append(of.sent, string(e.Data))
	case e.Kind == history.Receive && of != nil:
		of.answered = len(of.sent)
	case hungUp(e):
		delete(s.of, e.Who)
	case e.Kind == history.Kill:
		for _, who := range slices.Sorted(maps.Keys(s.of)) {
			cut = append(cut, s.of[who])
		}
		s.of = nil
	}
	return of, cut
}

// hungUp reports whether one side has closed a socket, so that no death cuts it.
func hungUp(e history.Event) bool {
	return e.Kind == history.Close && (strings.HasPrefix(e.Text, history.ByClient+":") || strings.Contains(e.Text, "received close frame"))
}
