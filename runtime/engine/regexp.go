package engine

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
)

// A backtracking match is a native that cannot be interrupted, and a pattern
// such as (a+)+b with a back-reference takes exponential time. regexp2, which
// goja runs such patterns with, gives up after a time that it takes over when a
// pattern is compiled. goja then sees no match; but by then the watchdog has
// interrupted the turn, so that no code sees it.

// matchGrace is how much longer than a turn a match may take: the watchdog comes
// first.
const matchGrace = time.Second

func init() { BoundMatches(DefaultTurnLimit) }

// BoundMatches bounds the time of a regular expression's match, for all engines
// of the process: limit is the TurnLimit that they will have, the longest if
// they differ. Without it DefaultTurnLimit holds. Call it before anything
// compiles JavaScript.
func BoundMatches(limit time.Duration) { regexp2.DefaultMatchTimeout = limit + matchGrace }

// regexpLayout is where goja's regular expressions say whether code has changed
// them, and what they were made of. Immutable; if goja's internals were to change,
// ok is false.
type regexpLayout struct {
	ok               bool
	tab              unsafe.Pointer
	standard, source uintptr
}

var theRegexpLayout = sync.OnceValue(func() regexpLayout {
	sample, err := goja.New().RunString("/a/")
	if !thePlainLayout().ok || err != nil {
		return regexpLayout{}
	}
	o := sample.(*goja.Object)
	t := reflect.ValueOf(o).Elem().FieldByName("self").Elem().Type().Elem()
	standard, known := t.FieldByName("standard")
	source, found := t.FieldByName("source")
	ok := known && found && standard.Type.Kind() == reflect.Bool && source.Type == reflect.TypeFor[goja.String]()
	return regexpLayout{ok, mirrorOf(o).self.tab, standard.Offset, source.Offset}
})

// RegExpText is what a regular expression of goja's was made of, nil if that is not
// known. Loop-confined.
func RegExpText(re *goja.Object) goja.String {
	l, self := theRegexpLayout(), mirrorOf(re).self
	if !l.ok || self.tab != l.tab {
		return nil
	}
	return *(*goja.String)(unsafe.Add(self.data, l.source))
}

// OrderMatch puts index before input in what goja has made of a match, as
// RegExpBuiltinExec (ECMA-262, section 22.2.7.2) makes them. Anything else it leaves
// alone. Loop-confined.
func OrderMatch(match goja.Value) {
	o, isObject := match.(*goja.Object)
	if !isObject {
		return
	}
	list := thePlainLayout().list(o)
	if list == nil {
		return
	}
	if names := list.baseObject.propNames; len(names) == 4 && names[1] == "input" && names[2] == "index" {
		names[1], names[2] = names[2], names[1]
	}
}

// StandardRegExp reports whether v is a regular expression that is as goja made
// it: no property, nor a prototype, was given to it. False also when that is not
// known. It costs nothing. Loop-confined.
func StandardRegExp(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	l := theRegexpLayout()
	if !ok || o == nil || !l.ok {
		return false
	}
	self := mirrorOf(o).self
	return self.tab == l.tab && *(*bool)(unsafe.Add(self.data, l.standard))
}

// Text is a string as bytes, if it is ASCII, and as code units otherwise. Both are
// only to be read. It does not go through a string that goja has looked through:
// each of many matches in a long text asks for it.
func Text(s goja.String) (ascii []byte, units []uint16) {
	v := reflect.ValueOf(s)
	isASCII := v.Kind() == reflect.String
	if u := scannedUnits(v, s); u.IsValid() {
		isASCII = u.IsNil()
	}
	if isASCII {
		a := s.String()
		return unsafe.Slice(unsafe.StringData(a), len(a)), nil
	}
	return nil, unitsOf(s)
}

// Pause ends the turn if it has been interrupted: natives that take long call it
// now and then. Loop-confined.
func (e *Engine) Pause() { e.natives.look() }
