package insides

import (
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/appending"
)

// goja copies both strings when it joins them, so that a text of n pieces that is
// built with `s += piece` costs n² copies (see package appending).

// Appends is what a runtime knows of the strings that it has appended to last.
// Loop-confined. It keeps none of them in memory.
type Appends struct{ rooms appending.Rooms }

// remember takes note of a string that a join has made.
func (a *Appends) remember(v goja.Value) {
	switch l, w := ThePlainLayout(), wordsOf(&v); w.tab {
	case l.ascii:
		s := *(*string)(w.data)
		a.rooms.Remember(unsafe.Pointer(unsafe.StringData(s)), len(s))
	case l.wide:
		s := *(*[]uint16)(w.data)
		a.rooms.Remember(unsafe.Pointer(unsafe.SliceData(s)), 2*len(s))
	}
}

// join is left + right, nil if goja has to do it. The length of left is at least
// appending.From.
func (a *Appends) join(left, right goja.Value) goja.Value {
	l := ThePlainLayout()
	w := wordsOf(&left)
	text, ascii := l.asciiPiece(right)
	switch {
	case w.tab == l.ascii && ascii:
		if made, ok := a.rooms.Join(*(*string)(w.data), text); ok {
			return boxed(l.ascii, unsafe.Pointer(&made))
		}
	case w.tab == l.wide:
		var units []uint16
		if !ascii {
			r := wordsOf(&right)
			if r.tab != l.wide {
				return nil
			}
			units = (*(*[]uint16)(r.data))[1:] // after goja's mark
		}
		if made, ok := a.rooms.JoinWide(*(*[]uint16)(w.data), units, text); ok {
			return boxed(l.wide, unsafe.Pointer(&made))
		}
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
