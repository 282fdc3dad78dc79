package insides

import (
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// goja keeps an object's properties in a Go map. A map of at most eight entries is
// a head and one group of slots, with a byte of each key's hash: JSON.parse makes
// both in one piece with their object, without hashing a name twice. What the
// runtime's maps look like (internal/runtime/maps) is no promise: when the process
// starts, a map made so is compared with one of the runtime's, and used as one. If
// they differ, maps are made with make.

// smallMapSlots is how many entries a map of one group holds.
const smallMapSlots = 8

// noEntries are the control bytes of a group without entries.
const noEntries = 0x8080808080808080

// mapHead mirrors the head of a map.
type mapHead struct {
	used        uint64
	seed        uintptr
	group       unsafe.Pointer
	directory   int
	globalDepth uint8
	globalShift uint8
	writing     uint8
	tombstone   bool
	clears      uint64
}

type mapSlot struct {
	name  unistring.String
	value goja.Value
}

// mapGroup mirrors a group of slots: a control byte of each, and its entry.
type mapGroup struct {
	control uint64
	slots   [smallMapSlots]mapSlot
}

// smallMap is a map that is part of something larger. It does not move.
type smallMap struct {
	head  mapHead
	group mapGroup
}

// own is the map, which is empty.
func (s *smallMap) own(seed uintptr) map[unistring.String]goja.Value {
	s.head.seed, s.head.group, s.group.control = seed, unsafe.Pointer(&s.group), noEntries
	m := unsafe.Pointer(&s.head)
	return *(*map[unistring.String]goja.Value)(unsafe.Pointer(&m))
}

// add gives the map the i-th entry: it has those before it, and none of that name.
func (s *smallMap) add(i int, name *Name, value goja.Value) {
	s.group.slots[i] = mapSlot{name.Text, value}
	s.group.control ^= (0x80 ^ uint64(name.hash)) << (8 * i)
	s.head.used++
}

// mapNames is what a process knows of its small maps.
type mapNames struct {
	Known  bool
	seed   uintptr // of every map that is made here
	length Name    // of arrays
}

// Name is the name of a property, with its control byte in small maps.
type Name struct {
	Text unistring.String
	hash uint8
	Next *Name // which followed it last in a text: the first guess
}

// TheMapNames is learnt at the first call. Safe for concurrent use.
var TheMapNames = learnt(learnKnownMapNames)

func learnKnownMapNames(l *look) *mapNames {
	if m := learnMapNames(l); l.known() {
		m.Known = true
		return m
	}
	return &mapNames{}
}

// headOf is the head of a map that the runtime has made, or that is one of ours.
func headOf(m map[unistring.String]goja.Value) *mapHead {
	return *(**mapHead)(unsafe.Pointer(&m))
}

func learnMapNames(l *look) *mapNames {
	real := map[unistring.String]goja.Value{}
	values := []goja.Value{goja.Null(), goja.Undefined()}
	texts := []unistring.String{"", "a", "length", "a name of more than sixteen bytes", "ç", "five", "six", "seven"}
	for i, text := range texts {
		real[text] = values[i%2]
	}
	n, head := &mapNames{}, headOf(real)
	l.is("uintptr", "8 bytes", unsafe.Sizeof(uintptr(0)) == 8)
	if !l.is("the head of a map", "eight used slots of one group", l.known() && head.used == smallMapSlots && head.directory == 0 && head.group != nil) {
		return n
	}
	// Ours, with what the runtime says of each name alone, is the runtime's.
	n.seed = head.seed
	var s smallMap
	ours := s.own(n.seed)
	for i, text := range texts {
		name := n.know(text)
		s.add(i, &name, values[i%2])
	}
	if !l.is("the group of a map", "the bytes that its entries make", s.group == *(*mapGroup)(head.group) && s.head.used == head.used && len(ours) == len(texts)) {
		return n
	}
	// It can be read, and changed: also beyond its group.
	delete(ours, "five")
	same := true
	for _, text := range append(texts, "nine", "ten") {
		v, has := ours[text]
		same = same && has == (text != "five" && text != "nine" && text != "ten") && (!has || v == real[text])
		ours[text] = values[0]
	}
	l.is("a map that is made by hand", "read, emptied and grown as others", same && len(ours) == len(texts)+2)
	n.length = n.know("length")
	return n
}

// know is a name with its control byte: the one that the runtime gives it.
func (n *mapNames) know(text unistring.String) Name {
	if n.seed == 0 {
		return Name{Text: text}
	}
	var s smallMap
	s.own(n.seed)[text] = nil
	return Name{Text: text, hash: uint8(s.group.control)}
}
