package engine

import (
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// Sites says where in the user's source writes and outputs come from, if someone
// follows. Loop-confined.
type Sites struct {
	engine    *Engine
	to        Follower // nil: nobody asks
	statement string   // of the write that is told of next
}

// Follower gets to know where effects come from.
type Follower interface {
	// Wrote tells of a write that the next commit of object holds.
	Wrote(object, site string)
	// Sending tells of an output, before it leaves, and with "" after that.
	Sending(site string)
}

// Follow has f told from now on.
func (s *Sites) Follow(f Follower) { s.to = f }

// reads are statements that write nothing.
var reads = lazyregexp.New(`(?i)^\s*(SELECT|PRAGMA|EXPLAIN|VALUES)\b`)

// Statement says what the write does that is told of next: SQL, or a method and its key.
func (s *Sites) Statement(text string) {
	if s.to != nil && !reads.MatchString(text) {
		s.statement = text
	}
}

// wrote tells of a write of a context that happens now.
func (s *Sites) wrote(c *Context) {
	if s.to == nil || s.statement == "" {
		return
	}
	statement := oneLine(s.statement, 120)
	s.statement = ""
	s.to.Wrote(c.Label, statement+s.here())
}

// emits is release, which tells where in the source it comes from.
func (s *Sites) emits(release func()) func() {
	if s.to == nil {
		return release
	}
	site := strings.TrimSpace(s.here())
	if site == "" {
		return release
	}
	return func() {
		s.to.Sending(site)
		release()
		s.to.Sending("") // not after a death, which happens under the follower's lock
	}
}

// here is " at function (file:line:column)" of the innermost call of the user's own code
// that is active; of a package, if there is none; "" outside of JavaScript.
func (s *Sites) here() string {
	stack := s.engine.vm.CaptureCallStack(0, nil)
	first := ""
	for i := range stack {
		at := s.engine.Errors.where(stack[i : i+1])
		if at == "" {
			continue
		}
		at = " " + strings.TrimSpace(at)
		if !strings.Contains(at, "node_modules") {
			return at
		}
		if first == "" {
			first = at
		}
	}
	return first
}
