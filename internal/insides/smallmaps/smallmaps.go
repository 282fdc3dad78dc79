// Package smallmaps makes Go maps of a few properties as parts of something larger.
//
// A Go map of at most eight entries is a head and one group of slots, with a byte of each
// key's hash. What these look like (internal/runtime/maps) is no promise: package insides
// compares maps that are made here with the runtime's when the process starts, and uses
// none if they differ.
package smallmaps

import (
	"slices"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/layout"
)

// Slots is how many entries a map of one group holds.
const Slots = 8

// NoEntries are the control bytes of a group without entries.
const NoEntries = 0x8080808080808080

// Head mirrors the head of a map.
type Head struct {
	Used        uint64 // entries; of a map with less room also the slots that it lacks
	Seed        uintptr
	Group       unsafe.Pointer
	Directory   int // 0 for a map of one group
	globalDepth uint8
	globalShift uint8
	writing     uint8
	tombstone   bool
	clears      uint64
}

// Slot mirrors an entry.
type Slot struct {
	Name  unistring.String
	Value goja.Value
}

// Group mirrors a whole group of slots: a control byte of each, and its entry.
type Group struct {
	Control uint64
	Slots   [Slots]Slot
}

// Room is how many slots a map has memory for.
type Room interface {
	[1]Slot | [2]Slot | [3]Slot | [4]Slot | [5]Slot | [6]Slot | [7]Slot | [8]Slot
}

// Names is room for the names of so many entries.
type Names interface {
	[1]unistring.String | [2]unistring.String | [3]unistring.String | [4]unistring.String | [5]unistring.String | [6]unistring.String | [7]unistring.String | [8]unistring.String
}

// Map is a map that is part of something larger. It does not move. Of a group it has only the
// first slots: it counts those that it lacks as used, and their control bytes say that
// nothing is in them. So the runtime reads and writes none of them, since it takes the first
// free slot, and has a map of a size of its own made when one more would be needed. Only
// the number of the map's entries is too high, which nobody asks for; and the map must not
// be cleared as a whole.
type Map[R Room] struct {
	Head    Head
	Control uint64
	Slots   R
}

// Own is the map, which is empty.
func (m *Map[R]) Own(seed uintptr) map[unistring.String]goja.Value {
	m.Head.Used = uint64(Slots - len(m.Slots))
	m.Head.Seed, m.Head.Group, m.Control = seed, unsafe.Pointer(&m.Control), NoEntries
	at := unsafe.Pointer(&m.Head)
	return *(*map[unistring.String]goja.Value)(unsafe.Pointer(&at))
}

// Add gives the map the i-th entry: it has those before it, and none of that name. The
// name's control byte is given.
func (m *Map[R]) Add(i int, name unistring.String, control uint8, value goja.Value) {
	m.Slots[i] = Slot{name, value}
	m.Control = With(m.Control, i, control)
	m.Head.Used++
}

// With are the control bytes of a group that gets an entry in an empty slot.
func With(group uint64, i int, control uint8) uint64 {
	return group ^ (0x80^uint64(control))<<(8*i)
}

// HeadOf is the head of a map that the runtime has made, or that is one of these.
func HeadOf(m map[unistring.String]goja.Value) *Head {
	return *(**Head)(unsafe.Pointer(&m))
}

// ControlOf is the control byte of a name in maps with this seed.
func ControlOf(name unistring.String, seed uintptr) uint8 {
	var m Map[[Slots]Slot]
	m.Own(seed)[name] = nil
	return uint8(m.Control)
}

// Learn compares maps that are made so with the runtime's, when the process starts. It gives a seed for them.
func Learn(l *layout.Look) (seed uintptr) {
	real := map[unistring.String]goja.Value{}
	values := []goja.Value{goja.Null(), goja.Undefined()}
	texts := []unistring.String{"", "a", "length", "a name of more than sixteen bytes", "ç", "five", "six", "seven"}
	for i, text := range texts {
		real[text] = values[i%2]
	}
	head := HeadOf(real)
	l.Is("uintptr", "8 bytes", unsafe.Sizeof(uintptr(0)) == 8)
	if !l.Is("the head of a map", "eight used slots of one group", l.Known() && head.Used == Slots && head.Directory == 0 && head.Group != nil) {
		return seed
	}
	// Ours, with what the runtime says of each name alone, is the runtime's.
	seed = head.Seed
	control := func(text unistring.String) uint8 { return ControlOf(text, seed) }
	var s Map[[8]Slot]
	ours := s.Own(seed)
	for i, text := range texts {
		s.Add(i, text, control(text), values[i%2])
	}
	group := (*Group)(unsafe.Pointer(&s.Control))
	if !l.Is("the group of a map", "the bytes that its entries make", *group == *(*Group)(head.Group) && s.Head.Used == head.Used && len(ours) == len(texts)) {
		return seed
	}
	// It can be read, and changed: also beyond its group.
	delete(ours, "five")
	same := true
	for _, text := range append(texts, "nine", "ten") {
		v, has := ours[text]
		same = same && has == (text != "five" && text != "nine" && text != "ten") && (!has || v == real[text])
		ours[text] = values[0]
	}
	l.Is("a map that is made by hand", "read, emptied and grown as others", same && len(ours) == len(texts)+2)
	// So can one that has not the memory of a whole group.
	var few struct {
		values Map[[2]Slot]
		behind [6]Slot
	}
	ours, same = few.values.Own(seed), true
	few.values.Add(0, "a", control("a"), values[0])
	ours["five"] = values[1]
	delete(ours, "a")
	for _, text := range texts {
		ours[text] = values[0]
	}
	count := 0
	for text, v := range ours { // order-independent: counted
		same = same && slices.Contains(texts, text) && v == values[0]
		count++
	}
	l.Is("a map without the memory of a whole group", "read, emptied and grown as others", same && count == len(texts) && few.behind == [6]Slot{})
	return seed
}
