package insides

import (
	"slices"
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

	lengthAlone []unistring.String // the names of an array, see shared
	marker      unistring.String   // goja's
}

// Name is the name of a property, with its control byte in small maps.
type Name struct {
	Text unistring.String
	hash uint8
	Next *Name // which followed it last in a text: the first guess

	shape  *shape // of objects whose last name it is: the first guess
	misses int    // how many of these in a row had another one
}

// shape is what objects with the same names in one order share. It is immutable.
type shape struct {
	names   []*Name
	texts   []unistring.String // see shared
	control uint64             // of a small map of them
}

// is reports whether these are its names. They differ, then.
func (s *shape) is(members []Member) bool {
	if len(s.names) != len(members) {
		return false
	}
	for i, name := range s.names {
		if name != members[i].Name {
			return false
		}
	}
	return true
}

// A shape is made at the second object that lacks one, and replaced when many in a
// row have had another.
const missesBeforeFirst, missesBeforeNext = 2, 16

// miss notes that an object with these names, of which it is the last, has no shape.
func (n *Name) miss(names *mapNames, members []Member) {
	if n.misses++; n.misses < missesBeforeFirst || n.shape != nil && n.misses < missesBeforeNext {
		return
	}
	n.misses = 0
	s, made := &shape{control: noEntries}, make([]unistring.String, len(members))
	for i := range members {
		name := members[i].Name
		s.names = append(s.names, name)
		s.control ^= (0x80 ^ uint64(name.hash)) << (8 * i)
		made[i] = name.Text
	}
	s.texts = shared(names.marker, made)
	n.shape = s
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
	n.learnShared(l)
	return n
}

// learnShared learns how goja marks a list of names that something else has, too.
func (n *mapNames) learnShared(l *look) {
	if !l.is("goja.Object", "as the part of values has it", ThePlainLayout().Known) {
		return
	}
	vm := goja.New()
	v, err := vm.RunString("({ b: 1, a: 2 })")
	if !l.is("an object", "compiled", err == nil) {
		return
	}
	base := baseOf(v.(*goja.Object))
	// A loop that is left early leaves its mark.
	vm.Set("o", v)
	_, err = vm.RunString("for (const name in o) break")
	names := base.propNames
	if !l.is("a list of names in a loop", "marked behind its end", err == nil && len(names) == 2 && cap(names) > 2) {
		return
	}
	n.marker = names[:cap(names)][cap(names)-1]
	list := shared(n.marker, []unistring.String{"b", "1", "a"})
	ours := func() *goja.Object {
		o := vm.NewObject()
		for _, name := range list {
			o.Set(string(name), 1)
		}
		baseOf(o).propNames = list
		return o
	}
	vm.Set("ours", ours)
	v, err = vm.RunString(`const said = []
		for (const change of [o => delete o.b, o => o.c = 1, o => Object.keys(o), o => { for (const name in o) delete o[name] }, o => { for (const name in o) if (name === "a") break }]) {
			const o = ours()
			change(o)
			o.d = 1
			said.push(Object.keys(o).join(""))
		}
		said.join(" ")`)
	l.is("a list of names that is marked", "copied before it changes", err == nil && v.String() == "1ad 1bacd 1bad d 1bad" &&
		slices.Equal(list[:cap(list)], []unistring.String{"b", "1", "a", n.marker}))
	n.lengthAlone = shared(n.marker, []unistring.String{"length"})
}

// shared is a list of names that any number of objects may have: goja copies one that is marked
// before it changes it.
func shared(marker unistring.String, names []unistring.String) []unistring.String {
	return append(make([]unistring.String, 0, len(names)+1), append(names, marker)...)[:len(names)]
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
