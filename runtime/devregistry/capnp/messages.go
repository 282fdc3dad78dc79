package capnp

import (
	"errors"
	"fmt"
)

// The kinds of messages (rpc.capnp, Message).
const (
	msgNotKnown   = 0
	msgAbort      = 1
	msgCall       = 2
	msgReturn     = 3
	msgFinish     = 4
	msgResolve    = 5
	msgRelease    = 6
	msgBootstrap  = 8
	msgDisembargo = 13
)

// The kinds of capabilities in a message (CapDescriptor).
const (
	capNone           = 0
	capSenderHosted   = 1
	capSenderPromise  = 2
	capReceiverHosted = 3
	capReceiverAnswer = 4
)

// The types of exceptions.
const (
	Failed       = 0
	Overloaded   = 1
	Disconnected = 2
	NoMethod     = 3
)

// Exception is why a call failed, as it travels.
type Exception struct {
	Type    uint16
	Reason  string
	Details []Detail
}

// Detail is something that an exception carries, of a kind that ID says.
type Detail struct {
	ID   uint64
	Data []byte
}

// Error implements error.
func (e *Exception) Error() string { return e.Reason }

func readException(s Struct) *Exception {
	e := &Exception{Type: s.Uint16(4), Reason: s.Text(0)}
	for details, i := s.List(2), 0; i < details.Len(); i++ {
		d := details.Struct(i)
		e.Details = append(e.Details, Detail{d.Uint64(0), d.Data(0)})
	}
	return e
}

// putException writes an error into an object with 1 word and 3 pointers.
func putException(o Object, err error) {
	var e *Exception
	if !errors.As(err, &e) {
		e = &Exception{Reason: err.Error()}
	}
	o.PutUint16(4, e.Type)
	o.PutText(0, e.Reason)
	if len(e.Details) > 0 {
		list := o.Structs(2, len(e.Details), 1, 1)
		for i, d := range e.Details {
			list.At(i).PutUint64(0, d.ID)
			list.At(i).PutData(0, d.Data)
		}
	}
}

// handle does what a message says. An error ends the connection.
func (c *Conn) handle(m *Message) error {
	root := m.Root()
	var err error
	body := root.Struct(0)
	switch k := root.Uint16(0); k {
	case msgNotKnown: // of what is sent here, all peers know the calls; the rest needs no answer
	case msgAbort:
		return fmt.Errorf("the peer has ended the connection: %w", readException(body))
	case msgBootstrap:
		err = c.handleBootstrap(body)
	case msgCall:
		err = c.handleCall(m, body)
	case msgReturn:
		err = c.handleReturn(m, body)
	case msgFinish:
		err = c.handleFinish(body)
	case msgResolve:
		err = c.handleResolve(m, body)
	case msgRelease:
		c.mu.Lock()
		closing, bad := c.releaseExport(body.Uint32(0), uint64(body.Uint32(4)))
		c.mu.Unlock()
		if err = bad; err == nil {
			closing()
		}
	case msgDisembargo:
		err = errors.New("minido gives nobody its own objects back, so there is no embargo to lift")
	default:
		err = fmt.Errorf("minido does not know messages of the kind %d", k)
	}
	return errors.Join(err, m.Err())
}

func (c *Conn) handleBootstrap(s Struct) error {
	a := &answer{id: s.Uint32(0), fields: map[uint16]any{}}
	if c.opts.Bootstrap == nil {
		return errors.New("minido offers nothing on this connection")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers[a.id] != nil {
		return fmt.Errorf("the peer uses the question %d twice", a.id)
	}
	c.answers[a.id] = a
	a.fields[whole] = c.opts.Bootstrap
	b := newBuilder()
	payload := c.returning(b, a).Struct(0, 0, 2)
	payload.PutServer(0, c.opts.Bootstrap)
	c.keep(a, payload, b)
	a.returned = true
	c.send(b)
	return nil
}

// returning begins the Return of an answer.
func (c *Conn) returning(b *Builder, a *answer) Object {
	o := b.root(1, 1)
	o.PutUint16(0, msgReturn)
	ret := o.Struct(0, 2, 1)
	ret.PutUint32(0, a.id)
	ret.PutBool(32, true) // releaseParamCaps, which is true by default: they are released one by one
	return ret
}

// describe writes the table of a payload's capabilities, and returns the numbers of
// those of this side. Call it with mu held.
func (c *Conn) describe(payload Object, b *Builder) (exports []uint32) {
	if len(b.caps) == 0 {
		return nil
	}
	list := payload.Structs(1, len(b.caps), 1, 1)
	for i, held := range b.caps {
		o := list.At(i)
		switch held := held.(type) {
		case *Ref:
			held.describe(o)
		case Promise:
			o.PutUint16(0, capSenderPromise)
			id := c.export(held)
			o.PutUint32(4, id)
			exports = append(exports, id)
		case Server:
			o.PutUint16(0, capSenderHosted)
			id := c.export(held)
			o.PutUint32(4, id)
			exports = append(exports, id)
		}
	}
	return exports
}

// Promise is a Server that will be another object one day; the peer may wait for that.
type Promise interface {
	Server
	Promise()
}

func (c *Conn) export(s Server) uint32 {
	if id, ok := c.exported[s]; ok {
		c.exports.slots[id].refs++
		return id
	}
	id := c.exports.add(&export{s, 1})
	c.exported[s] = id
	return id
}

// receive makes references of the capabilities of a payload. Call it with mu held.
func (c *Conn) receive(payload Struct) ([]*Ref, error) {
	list := payload.List(1)
	refs := make([]*Ref, 0, list.Len())
	for i := range list.Len() {
		d := list.Struct(i)
		id := d.Uint32(4)
		switch k := d.Uint16(0); k {
		case capNone:
			refs = append(refs, nil)
		case capSenderHosted, capSenderPromise:
			refs = append(refs, c.take(id))
		case capReceiverHosted:
			e := c.exports.slots[id]
			if e == nil {
				return refs, fmt.Errorf("the peer sends back the object %d, which it does not hold", id)
			}
			refs = append(refs, &Ref{conn: c, own: e.server})
		case capReceiverAnswer:
			a, field, err := c.promised(d.Struct(0))
			if err != nil {
				return refs, err
			}
			own, _ := a.fields[field].(Server)
			refs = append(refs, &Ref{conn: c, own: own, lacks: own == nil})
		default:
			return refs, fmt.Errorf("minido does not know capabilities of the kind %d", k)
		}
	}
	return refs, nil
}

// take is a reference to an object of the peer's, which has sent it. Call it with mu
// held.
func (c *Conn) take(id uint32) *Ref {
	imp := c.imports[id]
	if imp == nil {
		imp = &imported{id: id}
		c.imports[id] = imp
	}
	imp.counts++
	imp.refs++
	return &Ref{conn: c, imp: imp}
}

// promised finds what a PromisedAnswer names.
func (c *Conn) promised(s Struct) (a *answer, field uint16, err error) {
	a = c.answers[s.Uint32(0)]
	if a == nil {
		return nil, 0, fmt.Errorf("the peer refers to its question %d, which is over", s.Uint32(0))
	}
	field = whole
	for ops, i := s.List(0), 0; i < ops.Len(); i++ {
		switch op := ops.Struct(i); {
		case op.Uint16(0) == 0:
		case op.Uint16(0) == 1 && field == whole:
			field = op.Uint16(2)
		default:
			return nil, 0, errors.New("minido knows only the fields of results, not those of what is in them")
		}
	}
	return a, field, nil
}

func (c *Conn) handleResolve(m *Message, s Struct) error {
	if s.Uint16(4) != 0 { // an exception: calls of the promise fail with it by themselves
		return nil
	}
	// The promise goes on to be called, so what it resolves to is not needed.
	d := s.Struct(0)
	if k := d.Uint16(0); k == capSenderHosted || k == capSenderPromise {
		c.mu.Lock()
		r := c.take(d.Uint32(4))
		c.mu.Unlock()
		r.Release()
	}
	return nil
}
