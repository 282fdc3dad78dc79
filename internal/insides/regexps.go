package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// regexpLayout is where goja's regular expressions say whether code has changed
// them, and what they were made of. Immutable; if goja's internals were to change,
// ok is false.
type regexpLayout struct {
	ok               bool
	tab              unsafe.Pointer
	standard, source uintptr
}

var theRegexpLayout = learnt(learnRegexps)

func learnRegexps(l *look) regexpLayout {
	sample, err := goja.New().RunString("/a/")
	if !l.Is("goja.Object.self", "known", ThePlainLayout().Known) || !l.Is("/a/", "an object", err == nil) {
		return regexpLayout{}
	}
	o := sample.(*goja.Object)
	t := implementationOf(o)
	standard, source := l.Typed(t, "standard", reflect.TypeFor[bool]()), l.Typed(t, "source", reflect.TypeFor[goja.String]())
	if !l.Known() {
		return regexpLayout{}
	}
	return regexpLayout{true, mirrorOf(o).self.tab, standard, source}
}

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
	list := ThePlainLayout().Array(o)
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
