// Package appending has a text that is built with `s += piece` copied a few times and not once
// for each piece. A string that has been appended to twice gets room behind it, and what is
// appended next is written there: strings that end before it do not change. Only the last
// string of a room may be appended to in place; each other is copied as before.
package appending

import (
	"unsafe"
	"weak"

	"minido.dev/minido/internal/stepwise"
)

// From is the length, in characters, from which a string may get room.
const From = 256

// roomMost bounds the room behind a string, apart from an eighth of its length.
const roomMost = 1 << 20

// Rooms is what a runtime knows of the strings that it has appended to last.
// Loop-confined. It keeps none of them in memory.
type Rooms struct {
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
func (r *Rooms) find(at unsafe.Pointer, length int) *appended {
	for i := range r.open {
		if e := &r.open[i]; e.at == uintptr(at) && e.length == length {
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

// Remember takes note of a string that a join has made: of its bytes.
func (r *Rooms) Remember(at unsafe.Pointer, length int) {
	r.open[r.next] = appended{at: uintptr(at), length: length}
	r.next = (r.next + 1) % len(r.open)
}

// Join is left + right; ok is false if left was not appended to.
func (r *Rooms) Join(left, right string) (text string, ok bool) {
	at := unsafe.Pointer(unsafe.StringData(left))
	e := r.find(at, len(left))
	if e == nil {
		return "", false
	}
	if behind := e.take(at, len(right)); behind != nil || right == "" {
		copy(behind, right)
		return unsafe.String((*byte)(at), len(left)+len(right)), true
	}
	all := len(left) + len(right)
	made := make([]byte, all, all+spare(all)) // slices.Grow would clear it in one step
	room := cap(made) - all
	stepwise.Copy(made, unsafe.Slice((*byte)(at), len(left)))
	stepwise.Copy(made[len(left):], unsafe.Slice(unsafe.StringData(right), len(right)))
	data := unsafe.SliceData(made)
	*e = appended{uintptr(unsafe.Pointer(data)), all, room, weak.Make(data)}
	return unsafe.String(data, all), true
}

// JoinWide is Join for code units; what is appended are units, or a text in ASCII.
func (r *Rooms) JoinWide(left, units []uint16, text string) (made []uint16, ok bool) {
	at := unsafe.Pointer(unsafe.SliceData(left))
	e := r.find(at, 2*len(left))
	if e == nil {
		return nil, false
	}
	n := len(text) + len(units)
	all := len(left) + n
	if behind := e.take(at, 2*n); behind != nil || n == 0 {
		made = unsafe.Slice((*uint16)(at), all)
	} else {
		made = make([]uint16, all, all+spare(all))
		room := cap(made) - all
		stepwise.Copy(made, left)
		data := (*byte)(unsafe.Pointer(unsafe.SliceData(made)))
		*e = appended{uintptr(unsafe.Pointer(data)), 2 * all, 2 * room, weak.Make(data)}
	}
	for i := range len(text) {
		made[len(left)+i] = uint16(text[i])
	}
	stepwise.Copy(made[len(left)+len(text):], units)
	return made[:all:all], true // goja may append to what it has
}
