package capnp

import (
	"errors"
	"fmt"
	"slices"
)

// Ref is a reference to an object: of the peer, of the results of a call that has
// perhaps not returned, or of this side, sent back by the peer. Safe for concurrent
// use; it is released once.
type Ref struct {
	conn  *Conn
	imp   *imported // of the peer
	q     *question // of the results of q
	field uint16
	own   Server // of this side
	lacks bool   // of results that have nothing there
	freed bool   // guarded by conn.mu
}

// Own is the object if it is one of this side, else nil.
func (r *Ref) Own() Server { return r.own }

// Dup is another reference to the same object.
func (r *Ref) Dup() *Ref {
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.imp != nil:
		r.imp.refs++
	case r.q != nil:
		r.q.refs++
	}
	return &Ref{conn: c, imp: r.imp, q: r.q, field: r.field, own: r.own, lacks: r.lacks}
}

// Release gives the reference up.
func (r *Ref) Release() {
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.freed {
		return
	}
	r.freed = true
	switch {
	case r.imp != nil:
		if r.imp.refs--; r.imp.refs == 0 && c.imports[r.imp.id] == r.imp {
			delete(c.imports, r.imp.id)
			b := newBuilder()
			o := b.root(1, 1)
			o.PutUint16(0, msgRelease)
			o = o.Struct(0, 1, 0)
			o.PutUint32(0, r.imp.id)
			o.PutUint32(4, r.imp.counts)
			c.send(b)
		}
	case r.q != nil:
		r.q.refs--
		c.finish(r.q)
	}
}

// finish tells the peer that the results of a call are not needed any more, if that
// is so. Call it with mu held.
func (c *Conn) finish(q *question) {
	if q.refs > 0 || !q.returned || c.questions.slots[q.id] != q {
		return
	}
	c.sendFinish(q, false)
	c.questions.remove(q.id)
}

func (c *Conn) sendFinish(q *question, releaseCaps bool) {
	b := newBuilder()
	o := b.root(1, 1)
	o.PutUint16(0, msgFinish)
	o = o.Struct(0, 1, 0)
	o.PutUint32(0, q.id)
	o.PutBool(32, !releaseCaps) // true by default
	o.PutBool(33, true)         // requireEarlyCancellationWorkaround, true by default, is for old versions
	c.send(b)
}

// describe writes what the peer knows the object as. Call it with mu held.
func (r *Ref) describe(o Object) {
	switch {
	case r.imp != nil:
		o.PutUint16(0, capReceiverHosted)
		o.PutUint32(4, r.imp.id)
	case r.q != nil && r.q.err == nil && !r.q.canceled:
		o.PutUint16(0, capReceiverAnswer)
		r.answer(o.Struct(0, 1, 1))
	}
}

// answer writes a PromisedAnswer.
func (r *Ref) answer(o Object) {
	o.PutUint32(0, r.q.id)
	if r.field != whole {
		op := o.Structs(0, 1, 1, 0).At(0)
		op.PutUint16(0, 1)
		op.PutUint16(2, r.field)
	}
}

// Results are what a call has returned; its capabilities are released with Release.
type Results struct{ refs []*Ref }

// Ref is a new reference to the capability at a pointer of the results or of
// something in them, nil if there is none.
func (r *Results) Ref(s Struct, i int) *Ref {
	if at, ok := s.Cap(i); ok && int(at) < len(r.refs) && r.refs[at] != nil {
		return r.refs[at].Dup()
	}
	return nil
}

func (r *Results) release() {
	for _, ref := range r.refs {
		if ref != nil {
			ref.Release()
		}
	}
}

// Bootstrap is what the peer gives first.
func (c *Conn) Bootstrap() *Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &question{done: func(Struct, *Results, error) {}, refs: 1, err: c.err}
	if c.err == nil {
		q.id = c.questions.add(q)
		b := newBuilder()
		o := b.root(1, 1)
		o.PutUint16(0, msgBootstrap)
		o.Struct(0, 1, 1).PutUint32(0, q.id)
		c.send(b)
	}
	return &Ref{conn: c, q: q, field: whole}
}

// Method is one of an interface.
type Method struct {
	Interface uint64
	Number    uint16
}

// Pending is a call on its way.
type Pending struct {
	conn *Conn
	q    *question
}

// Call calls a method. fill writes the parameters, with the words that it asks
// Payload.Content for; nil if there are none. done is called exactly once, from any
// goroutine and possibly before Call has returned: with what was returned, which is valid
// until done returns, or with an error.
func (r *Ref) Call(m Method, fill func(p Payload), done func(results Struct, caps *Results, err error)) Pending {
	c := r.conn
	b := newBuilder()
	o := b.root(1, 1)
	o.PutUint16(0, msgCall)
	call := o.Struct(0, 3, 3)
	call.PutUint64(8, m.Interface)
	call.PutUint16(4, m.Number)
	payload := call.Struct(1, 0, 2)
	if fill != nil {
		fill(Payload{payload, nil})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &question{done: done, refs: 1}
	err := c.err
	switch {
	case err != nil:
	case r.q != nil && r.q.err != nil:
		err = r.q.err
	case r.freed, r.q != nil && r.q.canceled, r.own != nil, r.lacks:
		err = errors.New("a call to an object that the peer does not have")
	case len(c.questions.slots) >= maxCalls:
		err = &Exception{Type: Overloaded, Reason: fmt.Sprintf("more than %d calls wait for another dev session", maxCalls)}
	}
	if err != nil {
		q.returned, q.err = true, err
		c.opts.Scheduler.Go("capnp", func() { done(Struct{}, nil, err) })
		return Pending{c, q}
	}
	q.id = c.questions.add(q)
	call.PutUint32(0, q.id)
	target := call.Struct(0, 1, 1)
	if r.imp != nil {
		target.PutUint32(0, r.imp.id)
	} else {
		target.PutUint16(4, 1)
		r.answer(target.Struct(0, 1, 1))
	}
	c.describe(payload, b)
	c.send(b)
	return Pending{c, q}
}

// Field is a reference to what will be at a pointer of the results; calls of it need
// not wait.
func (p Pending) Field(i int) *Ref {
	p.conn.mu.Lock()
	defer p.conn.mu.Unlock()
	p.q.refs++
	return &Ref{conn: p.conn, q: p.q, field: uint16(i)}
}

// Release says that no more references to fields will be asked for. It is called
// once for each call.
func (p Pending) Release() { (&Ref{conn: p.conn, q: p.q}).Release() }

// Cancel says that nobody waits for the call: done is called with an error, if it
// has not been.
func (p Pending) Cancel(reason error) {
	c, q := p.conn, p.q
	c.mu.Lock()
	if c.err != nil || q.returned || q.canceled {
		c.mu.Unlock()
		return
	}
	q.canceled = true
	c.sendFinish(q, true)
	c.mu.Unlock()
	q.done(Struct{}, nil, reason)
}

// Payload is the parameters or the results of a call.
type Payload struct {
	object Object
	fields *pipeline
}

// Content makes the struct of parameters or results; data and ptrs are words.
func (p Payload) Content(data, ptrs int) Object {
	o := p.object.Struct(0, data, ptrs)
	o.caps = p.fields
	return o
}

func (c *Conn) handleReturn(m *Message, s Struct) error {
	var failed error
	results := &Results{}
	var content Struct
	c.mu.Lock()
	q := c.questions.slots[s.Uint32(0)]
	if q == nil || q.returned {
		c.mu.Unlock()
		return fmt.Errorf("the peer answers the question %d, which nobody has asked", s.Uint32(0))
	}
	q.returned = true
	if q.canceled { // what it returns is released already
		c.questions.remove(q.id)
		c.mu.Unlock()
		return nil
	}
	switch k := s.Uint16(6); k {
	case 0:
		payload := s.Struct(0)
		results.refs, failed = c.receive(payload)
		if !payload.isCap(0) {
			content = payload.Struct(0)
		}
	case 1:
		failed = readException(s.Struct(0))
	case 2:
		failed = &Exception{Type: Failed, Reason: "the other dev session has canceled the call"}
	default:
		failed = fmt.Errorf("minido does not know answers of the kind %d", k)
	}
	c.mu.Unlock()
	if failed == nil {
		failed = m.Err()
	}
	q.done(content, results, failed)
	results.release()
	c.mu.Lock()
	c.finish(q)
	c.mu.Unlock()
	return nil
}

// Call is one that the peer makes.
type Call struct {
	Method
	Params Struct // valid until the call is answered

	conn      *Conn
	caps      Results
	answer    *answer
	target    *answer // whose results are called; nil for an object
	field     uint16
	elsewhere bool
}

// Ref is a new reference to the capability at a pointer of the parameters or of
// something in them, nil if there is none.
func (k *Call) Ref(s Struct, i int) *Ref { return k.caps.Ref(s, i) }

func (c *Conn) handleCall(m *Message, s Struct) error {
	payload := s.Struct(1)
	k := &Call{
		Method: Method{s.Uint64(8), s.Uint16(4)}, Params: payload.Struct(0), conn: c,
		answer: &answer{id: s.Uint32(0), fields: map[uint16]any{}}, elsewhere: s.Uint16(6) != 0,
	}
	k.answer.call = k
	c.mu.Lock()
	if c.answers[k.answer.id] != nil {
		c.mu.Unlock()
		return fmt.Errorf("the peer uses the question %d twice", k.answer.id)
	}
	if len(c.answers) >= maxCalls || len(c.exports.slots) >= maxExports {
		c.mu.Unlock()
		return fmt.Errorf("the peer has more than %d calls or %d objects open", maxCalls, maxExports)
	}
	c.answers[k.answer.id] = k.answer
	var err error
	if k.caps.refs, err = c.receive(payload); err != nil {
		c.mu.Unlock()
		return err
	}
	target := s.Struct(0)
	var server Server
	if target.Uint16(4) == 0 {
		if e := c.exports.slots[target.Uint32(0)]; e != nil {
			server = e.server
		}
	} else {
		k.target, k.field, err = c.promised(target.Struct(0))
		if err == nil && (k.target.draining || k.target.fields[k.field] == nil && !k.target.returned) {
			k.target.waiting = append(k.target.waiting, k)
			c.mu.Unlock()
			return m.Err()
		}
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if err := m.Err(); err != nil {
		return err
	}
	k.deliver(server)
	return nil
}

// deliver gives the call to the object that it is for: server, or what the results
// that it is of have.
func (k *Call) deliver(server Server) {
	var failed error = &Exception{Type: Failed, Reason: "Called null capability."}
	if t := k.target; t != nil {
		k.conn.mu.Lock()
		server, _ = t.fields[k.field].(Server)
		if t.failed != nil {
			failed = t.failed
		}
		k.conn.mu.Unlock()
	}
	switch {
	case k.elsewhere:
		k.Fail(&Exception{Type: NoMethod, Reason: "minido returns results to who calls"})
	case server == nil:
		k.Fail(failed)
	default:
		server.Call(k)
	}
}

// OnCancel sets what to call when the peer does not wait for the answer any more.
func (k *Call) OnCancel(f func()) {
	k.conn.mu.Lock()
	gone := k.answer.canceled
	k.answer.cancel = f
	k.conn.mu.Unlock()
	if gone {
		f()
	}
}

// Early makes an object that the results will have at a pointer known before the
// call returns, so that calls of it are answered.
func (k *Call) Early(i int, s Server) {
	c := k.conn
	c.mu.Lock()
	k.answer.fields[uint16(i)] = s
	c.drain(k.answer)
}

// drain delivers the calls that have waited and need not any more. Call it with mu
// held; it unlocks it.
func (c *Conn) drain(a *answer) {
	if a.draining { // whoever does goes on with what is ready now
		c.mu.Unlock()
		return
	}
	a.draining = true
	for {
		i := slices.IndexFunc(a.waiting, func(w *Call) bool { return a.returned || a.fields[w.field] != nil })
		if i < 0 {
			break
		}
		w := a.waiting[i]
		a.waiting = slices.Delete(a.waiting, i, i+1)
		c.mu.Unlock()
		w.deliver(nil)
		c.mu.Lock()
	}
	a.draining = false
	c.mu.Unlock()
}

// Return answers the call. fill writes the results, as with Ref.Call. It may be called from any
// goroutine; if the peer does not wait any more it does nothing but close what the
// results would have had.
func (k *Call) Return(fill func(p Payload)) {
	b := newBuilder()
	ret := k.conn.returning(b, k.answer)
	payload := ret.Struct(0, 0, 2)
	fields := &pipeline{map[uint16]any{}}
	if fill != nil {
		fill(Payload{payload, fields})
	}
	k.settle(b, payload, fields, nil)
}

// Fail answers the call with an error.
func (k *Call) Fail(err error) {
	b := newBuilder()
	ret := k.conn.returning(b, k.answer)
	ret.PutUint16(6, 1)
	putException(ret.Struct(0, 1, 3), err)
	k.settle(b, Object{}, nil, err)
}

func (k *Call) settle(b *Builder, payload Object, fields *pipeline, failed error) {
	c, a := k.conn, k.answer
	c.mu.Lock()
	if a.returned || c.err != nil {
		var unsent []Server
		for _, held := range b.caps {
			if s, ok := held.(Server); ok && !c.holds(s) {
				unsent = append(unsent, s)
			}
		}
		c.mu.Unlock()
		k.caps.release()
		for _, s := range unsent {
			s.Close()
		}
		return
	}
	if fields != nil {
		for i, held := range fields.fields { // order-independent: each has a field of its own
			a.fields[i] = held
		}
		c.keep(a, payload, b)
	}
	a.returned, a.failed, a.cancel = true, failed, nil
	c.send(b)
	c.drain(a)
	k.caps.release()
}

// keep writes the table of an answer's capabilities, which stay until the answer is
// finished: the peer may call them as its results. Call it with mu held.
func (c *Conn) keep(a *answer, payload Object, b *Builder) {
	a.exports = c.describe(payload, b)
	for _, id := range a.exports {
		c.exports.slots[id].refs++
	}
}

// holds reports whether the peer holds an object. Call it with mu held.
func (c *Conn) holds(s Server) bool {
	_, held := c.exported[s]
	return held
}

func (c *Conn) handleFinish(s Struct) error {
	c.mu.Lock()
	a := c.answers[s.Uint32(0)]
	if a == nil {
		c.mu.Unlock()
		return fmt.Errorf("the peer finishes the question %d, which it has not asked", s.Uint32(0))
	}
	delete(c.answers, a.id)
	var closing []func()
	cancel := a.cancel
	waiting := a.waiting
	a.waiting = nil
	var err error
	if a.returned {
		cancel = nil
		n := uint64(1)   // the answer's own
		if !s.Bool(32) { // releaseResultCaps, true by default
			n = 2
		}
		for _, id := range a.exports {
			closes, bad := c.releaseExport(id, n)
			if bad != nil {
				err = bad
				break
			}
			closing = append(closing, closes)
		}
	} else {
		a.returned, a.canceled = true, true
		b := newBuilder()
		c.returning(b, a).PutUint16(6, 2) // canceled
		c.send(b)
	}
	c.mu.Unlock()
	for _, closes := range closing {
		closes()
	}
	if cancel != nil {
		cancel()
	}
	for _, w := range waiting {
		w.Fail(&Exception{Type: Failed, Reason: "the call whose result is called was canceled"})
	}
	return err
}
