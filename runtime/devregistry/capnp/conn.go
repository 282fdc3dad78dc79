package capnp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"minido.dev/minido/internal/sched"
)

// What a peer may have open on a connection; a connection that exceeds it ends.
const (
	maxCalls   = 10_000
	maxExports = 100_000
	maxQueued  = 256 << 20 // bytes that wait to be sent
)

// Server is an object of this side that the peer calls. Its dynamic type is
// comparable.
type Server interface {
	// Call answers c, now or later. It is called from the goroutine that reads the
	// connection, so it must not block. Calls of one reference arrive in the order in
	// which they were made.
	Call(c *Call)
	// Close says that the peer has given up the object, has gone, or has never got it. It may
	// be called more than once.
	Close()
}

// Options configure a Conn.
type Options struct {
	Scheduler sched.Scheduler // reads and writes
	Bootstrap Server          // what the peer gets first; nil: nothing
	// Lost turns the end of the connection into the error that calls fail with.
	Lost func(cause error) error
	// Ended, if not nil, is called once when the connection has ended.
	Ended func(cause error)
}

// Conn is a connection. Safe for concurrent use.
type Conn struct {
	opts Options
	rwc  io.ReadWriteCloser

	mu        sync.Mutex // guards everything below, and the state of questions, answers and imports
	questions table[*question]
	answers   map[uint32]*answer
	exports   table[*export]
	exported  map[Server]uint32
	imports   map[uint32]*imported
	queue     [][]byte
	queued    int
	writing   bool
	aborting  bool
	err       error // why it has ended
}

// table gives out numbers, the smallest free ones first.
type table[T any] struct {
	slots map[uint32]T
	free  []uint32
	next  uint32
}

func (t *table[T]) add(v T) uint32 {
	id := t.next
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.next++
	}
	t.slots[id] = v
	return id
}

func (t *table[T]) remove(id uint32) {
	delete(t.slots, id)
	t.free = append(t.free, id)
}

// export is an object of this side that the peer holds.
type export struct {
	server Server
	refs   uint64
}

// imported is an object of the peer that this side holds.
type imported struct {
	id     uint32
	refs   int    // of this side
	counts uint32 // how often the peer has sent it
}

// question is a call that this side has made.
type question struct {
	id       uint32
	done     func(Struct, *Results, error)
	returned bool
	canceled bool
	refs     int   // to its results; while there are any it is not finished
	err      error // why it was not sent
}

// answer is a call that the peer has made.
type answer struct {
	id       uint32
	call     *Call
	fields   map[uint16]any // what the results refer to; 0xffff is the results themselves
	exports  []uint32       // what the results have exported
	failed   error
	returned bool
	waiting  []*Call // of its results
	canceled bool    // the peer did not wait for it
	draining bool    // somebody delivers what waited
	cancel   func()
}

// whole is the field of an answer whose results are a capability.
const whole = 0xffff

// New speaks over rwc, which is the Conn's from then on.
func New(rwc io.ReadWriteCloser, o Options) *Conn {
	c := &Conn{
		opts: o, rwc: rwc, answers: map[uint32]*answer{}, exported: map[Server]uint32{}, imports: map[uint32]*imported{},
		questions: table[*question]{slots: map[uint32]*question{}}, exports: table[*export]{slots: map[uint32]*export{}},
	}
	sched.Attend(o.Scheduler, "capnp", c.read)
	return c
}

func (c *Conn) read() {
	r := bufio.NewReader(c.rwc)
	for {
		m, err := readMessage(r)
		if err == nil {
			err = c.handle(m)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				c.abort(err)
			}
			c.end(err)
			return
		}
	}
}

// abort tells the peer why the connection ends.
func (c *Conn) abort(err error) {
	b := newBuilder()
	o := b.root(1, 1)
	o.PutUint16(0, msgAbort)
	putException(o.Struct(0, 1, 3), err)
	c.mu.Lock()
	c.aborting = true
	c.send(b)
	c.mu.Unlock()
}

// Close ends the connection.
func (c *Conn) Close() { c.end(errClosed) }

var errClosed = errors.New("the connection was closed")

// end fails what is open; it does so once.
func (c *Conn) end(cause error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	err := c.opts.Lost(cause)
	c.err = err
	questions := slices.Collect(maps.Values(c.questions.slots)) // order-independent: each has a caller of its own
	answers := slices.Collect(maps.Values(c.answers))           // order-independent: each is canceled
	for _, a := range answers {
		a.canceled = !a.returned
		a.returned = true
	}
	exports := slices.Collect(maps.Values(c.exports.slots)) // order-independent: each is closed
	c.questions.slots, c.answers, c.exports.slots = map[uint32]*question{}, map[uint32]*answer{}, map[uint32]*export{}
	c.exported, c.imports = map[Server]uint32{}, map[uint32]*imported{}
	flush := c.aborting && c.writing
	c.mu.Unlock()
	if !flush { // else the writer closes it, when it has sent what is left
		_ = c.rwc.Close() // it has ended already
	}
	for _, q := range questions {
		if !q.returned && !q.canceled {
			q.done(Struct{}, nil, err)
		}
	}
	for _, a := range answers {
		if a.cancel != nil && a.canceled {
			a.cancel()
		}
	}
	for _, e := range exports {
		e.server.Close()
	}
	if c.opts.Ended != nil {
		c.opts.Ended(cause)
	}
}

// Err is why the connection has ended, nil if it has not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Open counts what both sides have open on the connection: calls that are not finished,
// objects that are held.
func (c *Conn) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.questions.slots) + len(c.answers) + len(c.exports.slots) + len(c.imports)
}

// send queues a message. Call it with mu held.
func (c *Conn) send(b *Builder) {
	if c.err != nil {
		return
	}
	data := b.bytes()
	c.queue = append(c.queue, data)
	if c.queued += len(data); c.queued > maxQueued {
		cause := fmt.Errorf("the peer does not read: %d bytes wait to be sent", c.queued)
		c.opts.Scheduler.Go("capnp", func() { c.end(cause) })
		c.queue = nil
		return
	}
	if !c.writing {
		c.writing = true
		c.opts.Scheduler.Go("capnp", c.write)
	}
}

// write sends what is queued.
func (c *Conn) write() {
	for {
		c.mu.Lock()
		batch, ended := c.queue, c.err != nil
		if c.queue, c.queued = nil, 0; len(batch) == 0 {
			c.writing = false
			c.mu.Unlock()
			if ended {
				_ = c.rwc.Close() // it has ended already
			}
			return
		}
		c.mu.Unlock()
		for _, data := range batch {
			if _, err := c.rwc.Write(data); err != nil {
				break // the reader gets to know it, and perhaps why
			}
		}
	}
}

// releaseExport gives up n references of the peer's to an object. Call it with mu
// held; call what it returns without.
func (c *Conn) releaseExport(id uint32, n uint64) (closing func(), err error) {
	e := c.exports.slots[id]
	if e == nil || n > e.refs {
		return nil, fmt.Errorf("the peer has given up the object %d, which it does not hold", id)
	}
	if e.refs -= n; e.refs > 0 {
		return func() {}, nil
	}
	c.exports.remove(id)
	delete(c.exported, e.server)
	return e.server.Close, nil
}
