package capnp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// Messages that Cap'n Proto 0.9.2 wrote (capnp encode testdata/rpc.capnp Message) are
// read, in one segment and in many with far pointers.
func TestRead(t *testing.T) {
	for _, name := range []string{"whole.bin", "segments.bin"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		r := bytes.NewReader(text)
		m, err := readMessage(r)
		if err != nil {
			t.Fatal(err)
		}
		if name == "segments.bin" && len(m.segments) < 5 {
			t.Errorf("%s has %d segments", name, len(m.segments))
		}
		call := m.Root().Struct(0)
		target := call.Struct(0).Struct(0)
		caps := call.Struct(1).List(1)
		answer := caps.Struct(2).Struct(0)
		got := fmt.Sprint(m.Root().Uint16(0), call.Uint32(0), call.Uint64(8), call.Uint16(4), call.Struct(0).Uint16(4), target.Uint32(0), target.List(0).Struct(0).Uint16(2),
			caps.Len(), caps.Struct(0).Uint16(0), caps.Struct(0).Uint32(4), caps.Struct(1).Uint16(0), caps.Struct(2).Uint16(0), answer.Uint32(0), answer.List(0).Len(), answer.List(0).Struct(1).Uint16(2))
		if want := "2 7 16887103633683542823 5 1 2147483648 3 3 1 4 0 4 9 2 1"; got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
		m2, err := readMessage(r)
		if err != nil {
			t.Fatal(err)
		}
		ret := m2.Root().Struct(0)
		x := readException(ret.Struct(0))
		if ret.Uint32(0) != 3 || !ret.Bool(32) || ret.Uint16(6) != 1 || x.Type != Overloaded || x.Reason != "remote.jsg.RangeError: nö" ||
			len(x.Details) != 1 || x.Details[0].ID != 0xe8027292171b1646 || string(x.Details[0].Data) != "\x01\x02\x00" {
			t.Errorf("%s: %d %+v", name, ret.Uint32(0), x)
		}
		if err := errors.Join(m.Err(), m2.Err()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := readMessage(r); err != io.EOF {
			t.Errorf("%s: %v at its end", name, err)
		}
	}
}

// What is written is read back.
func TestWrite(t *testing.T) {
	b := newBuilder()
	o := b.root(2, 6)
	o.PutUint16(2, 0xfffe)
	o.PutUint32(4, 1<<31)
	o.PutUint64(8, 1<<63|1)
	o.PutText(0, "")
	o.PutData(1, []byte("\x00\x01ß"))
	o.PutTexts(2, []string{"a", "", "longer than a word"})
	o.Struct(3, 0, 0)
	list := o.Structs(4, 2, 1, 1)
	list.At(1).PutBool(9, true)
	list.At(1).PutText(0, "in a list")
	m, err := readMessage(bytes.NewReader(b.bytes()))
	if err != nil {
		t.Fatal(err)
	}
	s := m.Root()
	texts, items := s.List(2), s.List(4)
	got := fmt.Sprintf("%x %x %x %q %q %q %v %v %v %q %v", s.Uint16(2), s.Uint32(4), s.Uint64(8), s.Text(0), s.Data(1),
		[]string{texts.Text(0), texts.Text(1), texts.Text(2)}, s.Has(0), s.Has(3), items.Struct(1).Bool(9), items.Struct(1).Text(0), s.Has(5))
	if want := `fffe 80000000 8000000000000001 "" "\x00\x01ß" ["a" "" "longer than a word"] true true true "in a list" false`; got != want || m.Err() != nil {
		t.Errorf("%s, not %s; %v", got, want, m.Err())
	}
}

// An empty struct right after its pointer is there.
func TestWriteEmpty(t *testing.T) {
	b := newBuilder()
	b.root(0, 1).Struct(0, 0, 0)
	m, err := readMessage(bytes.NewReader(b.bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Root(); !s.Has(0) || m.Err() != nil {
		t.Errorf("it is not there: %v", m.Err())
	}
}

// A message that is damaged is an error, and reads as absent.
func TestDamaged(t *testing.T) {
	whole := func(words ...uint64) []byte {
		b := newBuilder()
		b.alloc(len(words) - 1)
		for i, w := range words {
			b.put(frame+8*i, w)
		}
		return b.bytes()
	}
	for name, text := range map[string][]byte{
		"a struct outside":          whole(0x0000_0001_0000_0040),
		"a list outside":            whole(0x0001_0000_0000_0000, 1|2<<32|1000<<35),
		"a list that has more":      whole(0x0001_0000_0000_0000, 1|7<<32|1<<35, 50<<2|1<<32),
		"a list of nothing":         whole(0x0001_0000_0000_0000, 1|7<<32, (1<<29)<<2),
		"a far pointer outside":     whole(2 | 7<<32),
		"a far pointer to itself":   whole(2),
		"a pointer of no kind":      whole(0x0001_0000_0000_0000, 7),
		"a text that has no end":    whole(0x0001_0000_0000_0000, 1|2<<32|3<<35, 0x616161),
		"a struct that has a list":  whole(0x0001_0000_0000_0000, 1|2<<32|1<<35, 0),
		"a capability for a struct": whole(3),
	} {
		m, err := readMessage(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		s := m.Root()
		walk(s, 3)
		_ = s.Text(0)
		_ = s.List(0)
		if !errors.Is(m.Err(), errDamaged) {
			t.Errorf("%s: %v", name, m.Err())
		}
	}
	for name, text := range map[string]string{"segments": "\xff\xff\x00\x00", "length": "\x00\x00\x00\x00\x00\x00\x00\x01", "end": "\x00\x00\x00\x00\x02\x00\x00\x00abc"} {
		if _, err := readMessage(strings.NewReader(text)); err == nil || err == io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// walk reads all that a message has, as long as it is not damaged.
func walk(s Struct, depth int) {
	if s.m == nil || s.m.Err() != nil || depth == 0 {
		return
	}
	for i := range s.nptr {
		switch p := s.pointer(i); {
		case p.kind == kindStruct:
			walk(s.Struct(i), depth-1)
		case p.kind == kindList && p.size == sizeBytes:
			_ = s.Data(i)
			_ = s.Text(i)
		case p.kind == kindList:
			for l, j := s.List(i), 0; j < min(l.Len(), 100); j++ {
				walk(l.Struct(j), depth-1)
			}
		}
	}
}

// pair is two ends of a connection, of which each offers an object.
func pair(t *testing.T, near, far Server) (a, b *Conn) {
	threads := sched.NewThreads(clock.Real{})
	x, y := net.Pipe()
	lost := func(cause error) error { return fmt.Errorf("lost: %w", cause) }
	a = New(x, Options{Scheduler: threads, Bootstrap: near, Lost: lost})
	b = New(y, Options{Scheduler: threads, Bootstrap: far, Lost: lost})
	t.Cleanup(func() {
		a.Close()
		b.Close()
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a, b
}

// object is a Server made of functions.
type object struct {
	name   string
	call   func(c *Call)
	closed chan string
}

func (o *object) Call(c *Call) { o.call(c) }

func (o *object) Close() {
	if o.closed != nil {
		o.closed <- o.name
	}
}

// outcome is what a call came to.
type outcome struct {
	text string
	err  error
}

// ask calls a method with a text and gets one.
func ask(r *Ref, number uint16, text string) (Pending, chan outcome) {
	got := make(chan outcome, 1)
	p := r.Call(Method{1, number}, func(p Payload) { p.Content(0, 2).PutText(0, text) }, func(s Struct, _ *Results, err error) {
		o := outcome{err: err}
		if err == nil {
			o.text = s.Text(0)
		}
		got <- o
	})
	return p, got
}

func answerText(c *Call, text string) {
	c.Return(func(p Payload) { p.Content(0, 2).PutText(0, text) })
}

// Calls of results that have not come are answered in order; objects are closed once
// nobody holds them; errors keep their kind and details; what is canceled is told.
func TestCalls(t *testing.T) {
	closed := make(chan string, 10)
	var mu sync.Mutex
	var order []string
	var late *Call
	canceled := make(chan bool, 1)
	counter := func() *object {
		return &object{name: "counter", closed: closed, call: func(c *Call) {
			mu.Lock()
			order = append(order, c.Params.Text(0))
			mu.Unlock()
			answerText(c, "counted "+c.Params.Text(0))
		}}
	}
	far := &object{name: "far"}
	held := make(chan struct{})
	far.call = func(c *Call) {
		switch c.Number {
		case 0:
			answerText(c, "hello "+c.Params.Text(0))
		case 1: // the counter, at once or later
			if c.Params.Text(0) == "later" {
				late = c
				close(held)
				return
			}
			c.Return(func(p Payload) { p.Content(0, 2).PutServer(1, counter()) })
		case 2:
			c.Fail(&Exception{Type: Overloaded, Reason: "too much", Details: []Detail{{7, []byte("x")}}})
		case 3:
			c.OnCancel(func() { canceled <- true })
		case 4: // calls back
			back := c.Ref(c.Params, 1)
			p, got := ask(back, 0, "from afar")
			p.Release()
			back.Release()
			go func() { answerText(c, "it said "+(<-got).text) }()
		default:
			c.Fail(&Exception{Type: NoMethod, Reason: "no"})
		}
	}
	a, _ := pair(t, nil, far)
	root := a.Bootstrap()
	expect := func(got chan outcome, want string) {
		t.Helper()
		if o := <-got; o.err != nil || o.text != want {
			t.Errorf("%q, %v, not %q", o.text, o.err, want)
		}
	}
	p, got := ask(root, 0, "you")
	expect(got, "hello you")
	p.Release()

	p, _ = ask(root, 1, "later")
	c := p.Field(1)
	p.Release()
	var outs []chan outcome
	for i := range 5 {
		q, out := ask(c, 0, fmt.Sprint(i))
		q.Release()
		outs = append(outs, out)
	}
	<-held
	p, got = ask(root, 0, "those are there")
	expect(got, "hello those are there")
	p.Release()
	late.Return(func(p Payload) { p.Content(0, 2).PutServer(1, counter()) })
	for i, out := range outs {
		expect(out, fmt.Sprintf("counted %d", i))
	}
	if want := []string{"0", "1", "2", "3", "4"}; !slices.Equal(order, want) {
		t.Errorf("order %v", order)
	}
	d := c.Dup()
	c.Release()
	p, got = ask(root, 0, "the return has arrived, and what it had is given up")
	<-got
	p.Release()
	q, out := ask(d, 0, "again")
	q.Release()
	expect(out, "counted again")
	d.Release()
	if name := <-closed; name != "counter" {
		t.Error(name)
	}

	p, got = ask(root, 2, "")
	p.Release()
	var x *Exception
	if o := <-got; !errors.As(o.err, &x) || x.Type != Overloaded || x.Reason != "too much" || len(x.Details) != 1 || string(x.Details[0].Data) != "x" {
		t.Errorf("%v", o.err)
	}
	p, got = ask(root, 2, "") // calls of what is not there fail with the reason
	e := p.Field(1)
	p.Release()
	q, out = ask(e, 0, "")
	q.Release()
	e.Release()
	if o := <-out; !errors.As(o.err, &x) || x.Reason != "too much" {
		t.Errorf("%v", o.err)
	}
	<-got

	p, got = ask(root, 3, "")
	why := errors.New("no patience")
	p.Cancel(why)
	p.Release()
	if o := <-got; o.err != why || !<-canceled {
		t.Errorf("%v", o.err)
	}

	mine := &object{name: "mine", closed: closed, call: func(c *Call) { answerText(c, c.Params.Text(0)+" and back") }}
	got = make(chan outcome, 1)
	root.Call(Method{1, 4}, func(p Payload) { p.Content(0, 2).PutServer(1, mine) }, func(s Struct, _ *Results, err error) { got <- outcome{s.Text(0), err} }).Release()
	expect(got, "it said from afar and back")
	if name := <-closed; name != "mine" {
		t.Error(name)
	}
	root.Release()
	if n := a.Open(); n != 0 {
		t.Errorf("%d things are left: %v %v %v", n, a.questions.slots, a.imports, a.exports.slots)
	}
}

// The end of a connection fails what waits and closes what the peer held; nothing is
// called afterwards.
func TestEnd(t *testing.T) {
	closed := make(chan string, 10)
	began := make(chan bool, 1)
	far := &object{name: "far", call: func(*Call) { began <- true }}
	a, b := pair(t, nil, far)
	root := a.Bootstrap()
	mine := &object{name: "mine", closed: closed}
	got := make(chan outcome, 1)
	p := root.Call(Method{1, 0}, func(p Payload) { p.Content(0, 1).PutServer(0, mine) }, func(_ Struct, _ *Results, err error) { got <- outcome{err: err} })
	<-began
	b.Close()
	if o := <-got; o.err == nil || !strings.HasPrefix(o.err.Error(), "lost: ") {
		t.Error(o.err)
	}
	if name := <-closed; name != "mine" {
		t.Error(name)
	}
	p.Release()
	q, out := ask(root, 0, "")
	q.Release()
	if o := <-out; o.err == nil || o.err != a.Err() {
		t.Error(o.err)
	}
	root.Release()
}

// A peer that breaks the protocol is told why, and the connection ends.
func TestAbort(t *testing.T) {
	a, b := pair(t, nil, &object{name: "far"})
	b.mu.Lock()
	m := newBuilder()
	o := m.root(1, 1)
	o.PutUint16(0, msgFinish)
	o.Struct(0, 1, 0).PutUint32(0, 99)
	b.send(m)
	b.mu.Unlock()
	root := b.Bootstrap()
	for b.Err() == nil || a.Err() == nil {
		q, out := ask(root, 0, "")
		q.Release()
		<-out
	}
	if want := "lost: the peer has ended the connection: the peer finishes the question 99, which it has not asked"; b.Err().Error() != want {
		t.Error(b.Err())
	}
}

// FuzzConn: no message ends the process.
func FuzzConn(f *testing.F) {
	for _, name := range []string{"whole.bin", "segments.bin"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	b := newBuilder()
	o := b.root(1, 1)
	o.PutUint16(0, msgBootstrap)
	o.Struct(0, 1, 1)
	boot := slices.Clone(b.bytes())
	f.Add(boot)
	b = newBuilder()
	o = b.root(1, 1)
	o.PutUint16(0, msgCall)
	call := o.Struct(0, 3, 3)
	call.PutUint32(0, 1)
	target := call.Struct(0, 1, 1)
	target.PutUint16(4, 1)
	target.Struct(0, 1, 1)
	call.Struct(1, 0, 2).Struct(0, 1, 2).PutText(0, "text")
	f.Add(append(boot, b.bytes()...))
	f.Fuzz(func(t *testing.T, text []byte) {
		threads := sched.NewThreads(clock.Real{})
		x, y := net.Pipe()
		y.Close()
		far := &object{}
		far.call = func(c *Call) {
			walk(c.Params, 5)
			if r := c.Ref(c.Params, 1); r != nil {
				r.Call(Method{1, 1}, nil, func(Struct, *Results, error) {}).Release()
				r.Release()
			}
			c.Return(func(p Payload) { p.Content(1, 2).PutServer(0, far) })
		}
		c := &Conn{
			opts: Options{Scheduler: threads, Bootstrap: far, Lost: func(err error) error { return err }}, rwc: x, answers: map[uint32]*answer{},
			exported: map[Server]uint32{}, imports: map[uint32]*imported{}, writing: true, // nothing is written
			questions: table[*question]{slots: map[uint32]*question{}}, exports: table[*export]{slots: map[uint32]*export{}},
		}
		for r := bytes.NewReader(text); ; {
			m, err := readMessage(r)
			if err != nil || c.handle(m) != nil {
				break
			}
		}
		c.Close()
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// Calls without an answer, and objects, are bounded: the caller is refused one more, and
// a peer that does not refuse itself is cut off.
func TestLimits(t *testing.T) {
	far := &object{call: func(*Call) {}}
	a, b := pair(t, nil, far)
	root := a.Bootstrap()
	q, out := ask(root, 0, "")
	q.Release()
	for range maxCalls - 2 { // the bootstrap is one, too
		q, _ := ask(root, 0, "")
		q.Release()
	}
	q, refused := ask(root, 0, "")
	q.Release()
	var x *Exception
	if o := <-refused; !errors.As(o.err, &x) || x.Type != Overloaded {
		t.Errorf("%v", o.err)
	}
	a.mu.Lock()
	for i := range uint32(2) {
		m := newBuilder()
		o := m.root(1, 1)
		o.PutUint16(0, msgCall)
		call := o.Struct(0, 3, 3)
		call.PutUint32(0, 1<<30+i)
		call.Struct(0, 1, 1)
		call.Struct(1, 0, 2)
		a.send(m)
	}
	a.mu.Unlock()
	if o := <-out; o.err == nil || !strings.Contains(o.err.Error(), "more than 10000 calls") {
		t.Errorf("%v", o.err)
	}
	if b.Err() == nil {
		t.Error("the connection goes on")
	}
}
