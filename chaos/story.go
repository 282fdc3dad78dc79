package chaos

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"minido.dev/minido/chaos/history"
)

// lineWidth is how much of a snapshot or result one line of a story shows, in
// characters.
const lineWidth = 100

// colour is an ANSI escape code.
type colour string

const (
	plain  colour = ""
	bold   colour = "\x1b[1m"
	dim    colour = "\x1b[2m"
	red    colour = "\x1b[31m"
	green  colour = "\x1b[32m"
	yellow colour = "\x1b[33m"
	cyan   colour = "\x1b[36m"
)

// story tells a run to a person, one line an event, each with its time. It is
// safe for concurrent use. A reader who has gone away does not stop the run.
type story struct {
	history *history.Recorder
	color   bool

	mu  sync.Mutex // guards out
	out io.Writer
}

// paint wraps text in a colour, if colours are on.
func (s *story) paint(c colour, text string) string {
	if !s.color || c == plain {
		return text
	}
	return string(c) + text + "\x1b[0m"
}

// say prints a line of its own.
func (s *story) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The story is for a person; what counts is in the history and the Report.
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

// tell prints an event: when, what, and the details.
func (s *story) tell(c colour, what, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	at := fmt.Sprintf("%7.2f s", s.history.Elapsed().Seconds())
	s.say("%s  %s %s", s.paint(dim, at), s.paint(c, fmt.Sprintf("%-11s", what)), text)
	s.history.Add(history.Event{Kind: history.Note, Who: "harness", Text: what + ": " + text})
}

// shorten fits text on a line. Of a snapshot both ends matter: what it is about
// stands at the front, what was done last at the back.
func shorten(text string) string {
	if text == "" {
		return "no snapshot"
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if utf8.RuneCountInString(text) <= lineWidth {
		return text
	}
	runes := []rune(text)
	return string(runes[:lineWidth*2/5]) + " … " + string(runes[len(runes)-lineWidth*3/5+3:])
}
