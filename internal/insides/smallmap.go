package insides

import (
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/smallmaps"
)

// goja keeps an object's properties in a Go map. JSON.parse makes the map in one piece with its
// object, without hashing a name twice (package smallmaps). When the process starts, a map made so
// is compared with one of the runtime's, and used as one. If they differ, maps are made
// with make.

// mapNames is what a process knows of its small maps.
type mapNames struct {
	Known  bool
	seed   uintptr // of every map that is made here
	length Name    // of arrays

	lengthAlone   []unistring.String // the names of an array, see shared
	lengthAndName []unistring.String // and those of a function
	marker        unistring.String   // goja's
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
	s, made := &shape{control: smallmaps.NoEntries}, make([]unistring.String, len(members))
	for i := range members {
		name := members[i].Name
		s.names = append(s.names, name)
		s.control = smallmaps.With(s.control, i, name.hash)
		made[i] = name.Text
	}
	s.texts = shared(names.marker, made)
	n.shape = s
}

// TheMapNames is learnt at the first call. Safe for concurrent use.
var TheMapNames = learnt(learnKnownMapNames)

func learnKnownMapNames(l *look) *mapNames {
	return whole(l, learnMapNames(l), func(known *mapNames) { known.Known = true })
}

func learnMapNames(l *look) *mapNames {
	n := &mapNames{}
	n.seed = smallmaps.Learn(&l.Look)
	n.length = n.know("length")
	n.learnShared(l)
	return n
}

// learnShared learns how goja marks a list of names that something else has, too.
func (n *mapNames) learnShared(l *look) {
	if !l.Is("goja.Object", "as the part of values has it", ThePlainLayout().Known) {
		return
	}
	vm := goja.New()
	v, err := vm.RunString("({ b: 1, a: 2 })")
	if !l.Is("an object", "compiled", err == nil) {
		return
	}
	base := baseOf(v.(*goja.Object))
	// A loop that is left early leaves its mark.
	vm.Set("o", v)
	_, err = vm.RunString("for (const name in o) break")
	names := base.propNames
	if !l.Is("a list of names in a loop", "marked behind its end", err == nil && len(names) == 2 && cap(names) > 2) {
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
	l.Is("a list of names that is marked", "copied before it changes", err == nil && v.String() == "1ad 1bacd 1bad d 1bad" &&
		slices.Equal(list[:cap(list)], []unistring.String{"b", "1", "a", n.marker}))
	n.lengthAlone = shared(n.marker, []unistring.String{"length"})
	n.lengthAndName = shared(n.marker, []unistring.String{"length", "name"})
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
	return Name{Text: text, hash: smallmaps.ControlOf(text, n.seed)}
}
