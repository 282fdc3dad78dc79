package streams

import "github.com/dop251/goja"

// use has the source read by a reader of one kind.
func (t *teeing) use(byob bool) {
	if t.byob == byob {
		return
	}
	t.r.release()
	t.byob = byob
	t.r = t.s.acquire(byob)
	t.forward(t.r)
}

// pullBytes pulls for branch i, into the buffer that somebody brought to it if
// somebody did (ReadableByteStreamTee, pull1Algorithm and pull2Algorithm).
func (t *teeing) pullBytes(i int) {
	if t.reading {
		t.again[i] = true
		return
	}
	t.reading = true
	request := t.branches[i].byobRequest()
	t.s.disturbed = true
	if request == nil {
		t.use(false)
		t.r.read((*byteTeeRead)(t))
		return
	}
	t.use(true)
	t.s.controller.pullIntoView(t.p.viewOf(request.view), 1, &byteTeeInto{t, i})
}

// more reads on if somebody asked meanwhile.
func (t *teeing) more() {
	t.reading = false
	switch {
	case t.again[0]:
		t.pullBytes(0)
	case t.again[1]:
		t.pullBytes(1)
	}
}

// clone is a copy of a view; without memory for one everything ends, and ok is false.
func (t *teeing) clone(v goja.Value) (copied goja.Value, ok bool) {
	p := t.p
	thrown := p.Engine.Try(func() {
		d := p.viewOf(v)
		buffer := p.newBuffer(d.len)
		p.copyBytes(buffer, 0, d.buffer, d.off, d.len)
		copied = p.bytesOver(piece{buffer, 0, d.len})
	})
	if thrown != nil {
		t.failBoth(thrown)
		t.s.cancel(thrown).Handled()
		return nil, false
	}
	return copied, true
}

// give enqueues a view into branch i.
func (t *teeing) give(i int, v goja.Value) {
	d := t.p.viewOf(v)
	t.branches[i].enqueueBytes(piece{t.p.transfer(d.buffer), d.off, d.len})
}

// byteTeeRead is a tee of bytes as who reads what comes.
type byteTeeRead teeing

func (r *byteTeeRead) chunk(v goja.Value) {
	t := (*teeing)(r)
	t.p.Engine.Promises.Microtask(func() {
		t.again = [2]bool{}
		other := v
		if !t.canceled[0] && !t.canceled[1] {
			var ok bool
			if other, ok = t.clone(v); !ok {
				return
			}
		}
		if !t.canceled[0] {
			t.give(0, v)
		}
		if !t.canceled[1] {
			t.give(1, other)
		}
		t.more()
	})
}

func (r *byteTeeRead) close(goja.Value) {
	t := (*teeing)(r)
	t.reading = false
	t.each((*controller).closeBytes)
}

func (r *byteTeeRead) fail(goja.Value) { r.reading = false }

// byteTeeInto is a tee of bytes as who reads into the buffer that was brought to
// branch i.
type byteTeeInto struct {
	t *teeing
	i int
}

func (r *byteTeeInto) chunk(v goja.Value) {
	t, i := r.t, r.i
	t.p.Engine.Promises.Microtask(func() {
		t.again = [2]bool{}
		gone := t.canceled[i]
		if !t.canceled[1-i] {
			copied, ok := t.clone(v)
			if !ok {
				return
			}
			if !gone {
				t.branches[i].respondWithView(t.p.viewOf(v))
			}
			t.give(1-i, copied)
		} else if !gone {
			t.branches[i].respondWithView(t.p.viewOf(v))
		}
		t.more()
	})
}

func (r *byteTeeInto) close(v goja.Value) {
	t, i := r.t, r.i
	own, other := t.branches[i], t.branches[1-i]
	t.reading = false
	if v != nil && !goja.IsUndefined(v) && !own.pending.empty() {
		(*own.pending.first()).buffer = t.p.transfer(t.p.viewOf(v).buffer) // lent to the stream until now
	}
	if !t.canceled[i] {
		own.closeBytes()
	}
	if !t.canceled[1-i] {
		other.closeBytes()
	}
}

func (r *byteTeeInto) fail(goja.Value) { r.t.reading = false }
