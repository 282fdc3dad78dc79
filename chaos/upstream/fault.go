package upstream

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"minido.dev/minido/internal/lazyregexp"
)

// Verb says what is done to one answer.
type Verb string

// What can be done to an answer.
const (
	Refuse Verb = "refuse" // the connection ends by a reset, before any answer
	Cut    Verb = "cut"    // the connection ends by a reset after Byte bytes of the answer's body
	Stall  Verb = "stall"  // nothing comes for the time For before piece Piece, counted from 0
	Slow   Verb = "slow"   // the time For before each piece
	Status Verb = "status" // the answer is an error with this status
	// Truncate has the answer's body end after Byte bytes as if that were all of it;
	// Slice sends it in parts of Byte bytes, wherever that cuts a line or a letter.
	Truncate Verb = "truncate"
	Slice    Verb = "slice"
)

// Fault is what is done to the answer of one request. Immutable.
type Fault struct {
	Verb Verb
	// Request is the request's number since Begin, counted from 1.
	Request     int
	Byte, Piece int
	For         time.Duration
	Status      int
}

// String is the fault's text form: verb(argument)@request#number.
func (f Fault) String() string {
	arg := ""
	switch f.Verb {
	case Cut, Truncate, Slice:
		arg = fmt.Sprintf("(%d)", f.Byte)
	case Status:
		arg = fmt.Sprintf("(%d)", f.Status)
	case Slow:
		arg = fmt.Sprintf("(%v)", f.For)
	case Stall:
		arg = fmt.Sprintf("(%v,%d)", f.For, f.Piece)
	}
	return fmt.Sprintf("%s%s@request#%d", f.Verb, arg, f.Request)
}

var faultForm = lazyregexp.New(`^([a-z]+)(?:\(([^(),]*)(?:,([0-9]+))?\))?@request#([1-9][0-9]*)$`)

// ParseFault reads what Fault.String wrote; the piece of a stall may be left out.
func ParseFault(text string) (f Fault, err error) {
	bad := fmt.Errorf("write refuse, cut(900), truncate(900), slice(7), stall(2s,5), slow(50ms) or status(429), and @request#2; not %q", text)
	m := faultForm.FindStringSubmatch(text)
	if m == nil {
		return f, bad
	}
	f.Verb = Verb(m[1])
	f.Request, err = strconv.Atoi(m[4])
	number := func(least, most int) (n int) {
		if n, err = strconv.Atoi(m[2]); err == nil && (n < least || n > most) {
			err = bad
		}
		return n
	}
	switch f.Verb {
	case Refuse:
		if m[2] != "" {
			err = bad
		}
	case Cut, Truncate:
		f.Byte = number(0, math.MaxInt32)
	case Slice:
		f.Byte = number(1, math.MaxInt32)
	case Status:
		f.Status = number(400, 599)
	case Slow, Stall:
		if f.For, err = time.ParseDuration(m[2]); err == nil && m[3] != "" {
			f.Piece, err = strconv.Atoi(m[3])
		}
	default:
		err = bad
	}
	if err != nil || f.For < 0 || m[3] != "" && f.Verb != Stall {
		return Fault{}, bad
	}
	return f, nil
}

// Faults are what is done to the answers of a server, whose requests it counts.
// The zero value does nothing; its owner guards it.
type Faults struct {
	list    []Fault
	arrived int
}

// NewFaults is a Faults that has counted nothing yet.
func NewFaults(list []Fault) Faults { return Faults{list: append([]Fault(nil), list...)} }

// Next counts a request and returns what is done to its answer, nil for nothing.
func (f *Faults) Next() *Fault {
	f.arrived++
	for i := range f.list {
		if f.list[i].Request == f.arrived {
			return &f.list[i]
		}
	}
	return nil
}

// Arrived is how many requests were counted.
func (f *Faults) Arrived() int { return f.arrived }

// Arrived is how many answers were asked for since Begin.
func (s *Server) Arrived() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.Arrived()
}

// Is reports whether the fault, which may be nil, is of this kind.
func (f *Fault) Is(v Verb) bool { return f != nil && f.Verb == v }

// Begin forgets all requests and stored answers, so that the next request is
// number 1, and says what is done to which. Answers under way go on.
func (s *Server) Begin(pace time.Duration, faults []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made, s.pace = 0, pace
	s.stored, s.requests, s.held, s.refusals = map[string]*generation{}, nil, nil, nil
	s.faults = NewFaults(faults)
}

// Apply returns a writer that writes what the fault, which may be nil, lets
// through of an answer, as it says. After Refuse there is nothing to write to.
func (f *Fault) Apply(w http.ResponseWriter) http.ResponseWriter {
	switch {
	case f.Is(Refuse):
		reset(w)
	case f.Is(Cut), f.Is(Truncate):
		return &cutWriter{ResponseWriter: w, left: f.Byte, quietly: f.Verb == Truncate}
	case f.Is(Slice):
		return &sliceWriter{ResponseWriter: w, size: f.Byte}
	}
	return w
}

// reset ends a connection as a peer does that has crashed: by RST where the
// system can. A connection that is gone already is what was wanted.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// sliceWriter sends each so many bytes by themselves. Confined to the handler's
// goroutine.
type sliceWriter struct {
	http.ResponseWriter
	size int
}

// Unwrap is for http.ResponseController.
func (s *sliceWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Write implements io.Writer.
func (s *sliceWriter) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, s.size) {
		m, err := s.ResponseWriter.Write(part)
		n += m
		if err == nil {
			err = http.NewResponseController(s.ResponseWriter).Flush()
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// cutWriter passes so many bytes on, and then resets the connection or drops the
// rest. Confined to the handler's goroutine.
type cutWriter struct {
	http.ResponseWriter
	left    int
	quietly bool
}

// Unwrap is for http.ResponseController.
func (c *cutWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Write implements io.Writer.
func (c *cutWriter) Write(p []byte) (int, error) {
	if c.quietly {
		part := p[:min(len(p), c.left)]
		c.left -= len(part)
		_, err := c.ResponseWriter.Write(part)
		return len(p), err
	}
	if c.left < 0 {
		return 0, net.ErrClosed
	}
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	n, err := c.ResponseWriter.Write(p[:c.left])
	c.left = -1
	if err == nil {
		err = http.NewResponseController(c.ResponseWriter).Flush()
	}
	reset(c.ResponseWriter)
	if err == nil {
		err = net.ErrClosed
	}
	return n, err
}
