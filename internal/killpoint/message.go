package killpoint

import "errors"

// Message is what goes from one part of the system to another: a call, its result, an
// alarm, a batch. Its two points are around its departure. Immutable once sent.
type Message struct {
	Kind          Kind
	Object, Cause string
	// To is the label of the object that gets it, "" for anyone else.
	To string
	// Send lets it go on; it must not wait.
	Send func()
	// Lose tells its sender that the connection was lost, with the message; nil: it
	// cannot be lost.
	Lose func(error)
	// Again sends it twice, as if the first answer were lost; nil: it arrives at most
	// once.
	Again func()
	// Crash is called if the object was armed to crash at one of its points; nil: it
	// cannot be.
	Crash func()
	// Post runs what a Detour does later where Send must run; nil: anywhere.
	Post func(func())

	departed int // the number of the point at which it left
}

// Detour is an error of Interfere's by which a message takes another way. It calls one
// or several of the message's functions, at once or later, from any goroutine. It is
// asked without the lock of the effects.
type Detour struct {
	Take func(m Message)
	// None is called, under the lock of the effects, where it is asked for at what is no
	// message, which then happens as always; nil: that fails.
	None func()
}

// Error implements error: what is no message fails with it, but for None.
func (*Detour) Error() string { return "a fault of messages at what is none" }

// Send is a message between its points. It reports whether the message left, or will
// leave, another way than at once.
func (p *Points) Send(m Message) (detoured bool) { return p.send(Before, m, true, p.leave) }

// Depart is Send for a message whose after-side is a point of its own: whoever gets
// the message's answer hits it.
func (p *Points) Depart(m Message) (detoured bool) {
	return p.send(Before, m, false, func(m Message) { m.Send() })
}

// Arrive is Depart for the answer to a message, whose only point here is an after-side.
func (p *Points) Arrive(m Message) (detoured bool) {
	return p.send(After, m, false, func(m Message) { m.Send() })
}

// send sends a message at its point of that side; closes says that its after-side comes
// when it has left.
func (p *Points) send(side Side, m Message, closes bool, leave func(Message)) (detoured bool) {
	if !p.On() {
		pt := Point{Kind: m.Kind, Side: side, Object: m.Object, Cause: m.Cause, To: m.To}
		p.tell(pt)
		m.Send()
		if closes {
			pt.Side = After
			p.tell(pt)
		}
		return false
	}
	p.mu.Lock()
	at, crashed := p.hitTo(m.Kind, side, m.Object, m.Cause, m.To)
	err := p.interfered(at)
	m.departed = at.Number
	p.mu.Unlock()
	var d *Detour
	switch {
	case crashed || errors.Is(err, ErrCrashed):
		m.crash()
		return false
	case errors.As(err, &d):
		d.Take(later(m, leave))
		return true
	}
	leave(m)
	return false
}

// Carry is Effect for a message of a stream, such as a frame: fn hands it over, between its
// two points and under the lock of all effects. A Detour takes m instead, whose Send and Lose
// are then to do what fn would have done; what the stream has after it must wait for them.
func (p *Points) Carry(m Message, fn func() error) (detoured bool, err error) {
	if !p.On() {
		return false, p.Effect(m.Kind, m.Object, m.Cause, fn)
	}
	p.mu.Lock()
	at, crashed := p.hitTo(m.Kind, Before, m.Object, m.Cause, m.To)
	if crashed {
		p.mu.Unlock()
		return false, ErrCrashed
	}
	err = p.interfered(at)
	var d *Detour
	if errors.As(err, &d) {
		m.departed = at.Number
		p.mu.Unlock()
		d.Take(later(m, p.leave))
		return true, nil
	}
	defer p.mu.Unlock()
	if err != nil {
		return false, err
	}
	return false, p.perform(m.Kind, m.Object, m.Cause, fn)
}

// Repeat is Hit at a point that was recorded, whose effect is not to be had.
func (p *Points) Repeat(at Point) {
	if !p.On() {
		p.tell(Point{Kind: at.Kind, Side: at.Side, Object: at.Object, Cause: at.Cause, To: at.To})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass(Point{Kind: at.Kind, Side: at.Side, Object: at.Object, Cause: at.Cause, To: at.To, Departed: at.Departed})
}

// leave sends m, and hits its after-side.
func (p *Points) leave(m Message) {
	m.Send()
	p.mu.Lock()
	at, crashed := p.pass(Point{Kind: m.Kind, Side: After, Object: m.Object, Cause: m.Cause, To: m.To, Departed: m.departed})
	err := p.interfered(at)
	p.mu.Unlock()
	if crashed || errors.Is(err, ErrCrashed) {
		m.crash()
	}
}

// later is m for a Detour: its functions run where they must.
func later(m Message, leave func(Message)) Message {
	post := m.Post
	if post == nil {
		post = func(fn func()) { fn() }
	}
	out := m
	out.Send = func() { post(func() { leave(m) }) }
	if m.Lose != nil {
		out.Lose = func(err error) { post(func() { m.Lose(err) }) }
	}
	if m.Again != nil {
		out.Again = func() { post(m.Again) }
	}
	return out
}

func (m Message) crash() {
	if m.Crash != nil {
		m.Crash()
	}
}
