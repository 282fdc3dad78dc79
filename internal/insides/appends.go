package insides

import (
	"slices"
	"strings"
	"unsafe"
	"weak"

	"github.com/dop251/goja"
)

// goja copies both strings when it joins them, so that a text of n pieces that is
// built with `s += piece` costs n² copies. A string that has been appended to twice
// gets room behind it instead, and what is appended next is written there: strings
// that end before it do not change. Only the last string of a room may be appended to
// in place; each other is copied as before.

// appendedFrom is the length, in characters, from which a string may get room.
const appendedFrom = 256

// roomMost bounds the room behind a string, apart from an eighth of its length.
const roomMost = 1 << 20

// Appends is what a runtime knows of the strings that it has appended to last.
// Loop-confined. It keeps none of them in memory.
type Appends struct {
	open [8]appended
	next int // the one to be forgotten first
}

// appended is a string that was joined.
type appended struct {
	at     uintptr            // its first byte
	length int                // in bytes
	room   int                // behind it, in bytes
	buffer weak.Pointer[byte] // its memory, if there is room: at may have another owner by now
}

// find is the entry of the string that begins at a place, nil if there is none.
func (a *Appends) find(at unsafe.Pointer, length int) *appended {
	for i := range a.open {
		if e := &a.open[i]; e.at == uintptr(at) && e.length == length {
			return e
		}
	}
	return nil
}

// take gives n bytes of the room, whose first is at the end of the string at.
func (e *appended) take(at unsafe.Pointer, n int) []byte {
	if e.room < n || e.buffer != weak.Make((*byte)(at)) {
		return nil
	}
	behind := unsafe.Slice((*byte)(unsafe.Add(at, e.length)), n)
	e.length, e.room = e.length+n, e.room-n
	return behind
}

// spare is the room for a string of n characters that has been appended to again.
func spare(n int) int { return min(n, roomMost) + n/8 }

// remember takes note of a string that a join has made.
func (a *Appends) remember(v goja.Value) {
	var at unsafe.Pointer
	var length int
	switch l, w := ThePlainLayout(), wordsOf(&v); w.tab {
	case l.ascii:
		s := *(*string)(w.data)
		at, length = unsafe.Pointer(unsafe.StringData(s)), len(s)
	case l.wide:
		s := *(*[]uint16)(w.data)
		at, length = unsafe.Pointer(unsafe.SliceData(s)), 2*len(s)
	default:
		return
	}
	a.open[a.next] = appended{at: uintptr(at), length: length}
	a.next = (a.next + 1) % len(a.open)
}

// join is left + right, nil if goja has to do it. The length of left is at least
// appendedFrom.
func (a *Appends) join(left, right goja.Value) goja.Value {
	l := ThePlainLayout()
	w := wordsOf(&left)
	switch w.tab {
	case l.ascii:
		text, ok := l.asciiPiece(right)
		if !ok {
			return nil
		}
		return a.joinASCII(*(*string)(w.data), text)
	case l.wide:
		return a.joinWide(*(*[]uint16)(w.data), right)
	}
	return nil
}

// asciiPiece is a value as what is appended, if it is of ASCII.
func (l *Plain) asciiPiece(v goja.Value) (string, bool) {
	switch w := wordsOf(&v); w.tab {
	case l.ascii:
		return *(*string)(w.data), true
	case l.integer, l.float:
		return v.String(), true
	}
	return "", false
}

func (a *Appends) joinASCII(left, right string) goja.Value {
	at := unsafe.Pointer(unsafe.StringData(left))
	e := a.find(at, len(left))
	if e == nil {
		return nil
	}
	text := ""
	if behind := e.take(at, len(right)); behind != nil || right == "" {
		copy(behind, right)
		text = unsafe.String((*byte)(at), len(left)+len(right))
	} else {
		var b strings.Builder
		b.Grow(len(left) + len(right) + spare(len(left)+len(right)))
		b.WriteString(left)
		b.WriteString(right)
		text = b.String()
		data := unsafe.StringData(text)
		*e = appended{uintptr(unsafe.Pointer(data)), len(text), b.Cap() - len(text), weak.Make(data)}
	}
	return boxed(ThePlainLayout().ascii, unsafe.Pointer(&text))
}

// joinWide is joinASCII for a string of code units after goja's mark.
func (a *Appends) joinWide(left []uint16, right goja.Value) goja.Value {
	at := unsafe.Pointer(unsafe.SliceData(left))
	e := a.find(at, 2*len(left))
	if e == nil {
		return nil
	}
	l := ThePlainLayout()
	text, ascii := l.asciiPiece(right)
	n := len(text)
	var units []uint16
	if !ascii {
		w := wordsOf(&right)
		if w.tab != l.wide {
			return nil
		}
		units = (*(*[]uint16)(w.data))[1:]
		n = len(units)
	}
	all := len(left) + n
	var made []uint16
	if behind := e.take(at, 2*n); behind != nil || n == 0 {
		made = unsafe.Slice((*uint16)(at), all)
	} else {
		made = slices.Grow([]uint16(nil), all+spare(all))
		room := cap(made) - all
		made = made[:all]
		copy(made, left)
		data := (*byte)(unsafe.Pointer(unsafe.SliceData(made)))
		*e = appended{uintptr(unsafe.Pointer(data)), 2 * all, 2 * room, weak.Make(data)}
	}
	if ascii {
		for i := range n {
			made[len(left)+i] = uint16(text[i])
		}
	} else {
		copy(made[len(left):], units)
	}
	made = made[:all:all] // goja may append to what it has
	return boxed(l.wide, unsafe.Pointer(&made))
}
