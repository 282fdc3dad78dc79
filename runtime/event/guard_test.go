package event

import (
	"errors"
	"io"
	"testing"
)

// What was not read by the end of a guard is not read any more, a read that waits ends,
// and what was read to its end stays so.
func TestGuard(t *testing.T) {
	late := errors.New("late")
	read := func(b Body) (text string, err error) {
		b.Read(func(chunk []byte, e error) { text, err = string(chunk), e })
		return text, err
	}
	g := Guard(Bytes([]byte("all")))
	if !IsBytes(g) || string(Peek(g)) != "all" || g.Over() {
		t.Error("the guard hides bytes")
	}
	if whole, ok := Buffered(g); !ok || string(whole) != "all" || !g.Over() || g.End(late) {
		t.Errorf("taken as a whole: %q, %v", whole, ok)
	}
	g = Guard(Bytes([]byte("all")))
	if !g.End(late) || g.End(late) || IsBytes(g) || Peek(g) != nil {
		t.Error("the end is not one")
	}
	if _, ok := Buffered(g); ok {
		t.Error("bytes are taken after the end")
	}
	if _, err := read(g); err != late {
		t.Errorf("read after the end: %v", err)
	}
	g = Guard(Bytes([]byte("all")))
	if text, err := read(g); text != "all" || err != nil || g.Over() {
		t.Errorf("first read: %q, %v", text, err)
	}
	if _, err := read(g); err != io.EOF || g.End(late) {
		t.Errorf("second read: %v", err)
	}
	pipe := NewPipe(-1)
	g = Guard(pipe)
	var got []error
	g.Read(func(_ []byte, err error) { got = append(got, err) })
	g.End(late)
	pipe.Write([]byte("x"), func(error) {})
	if len(got) != 1 || got[0] != late {
		t.Errorf("the read that waited was told %v", got)
	}
}

// Then tells of the end once, whichever it is.
func TestThen(t *testing.T) {
	for name, end := range map[string]func(Body){
		"read":     func(b Body) { ReadAll(b, 0, func([]byte, error) {}) },
		"canceled": func(b Body) { b.Cancel(nil); b.Cancel(nil) },
	} {
		told := 0
		pipe := NewPipe(-1)
		b := Then(pipe, func() { told++ })
		pipe.Write([]byte("x"), func(error) {})
		pipe.Close(nil)
		if told != 0 {
			t.Errorf("%s: told before the end", name)
		}
		if end(b); told != 1 {
			t.Errorf("%s: told %d times", name, told)
		}
	}
}
