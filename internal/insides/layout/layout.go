// Package layout compares types and values of other packages with what package insides expects.
package layout

import (
	"fmt"
	"reflect"
	"slices"

	"minido.dev/minido/internal/planted"
)

// Look compares what is there with what is expected, member by member, when a part
// Is learnt. One goroutine uses it.
type Look struct {
	Wrong string   // a member that is taken for another than expected: planted by a test
	Asked []string // the members, as "type.member: type"
	Lost  string   // the first that is not as expected; "" if all are

	words reflect.Type // mirrors an interface value, of any type
}

// Looking begins to look. Words is the type that mirrors interface values in the types that
// Mirrors is asked about.
func Looking[Words any](wrong string) Look {
	return Look{Wrong: wrong, words: reflect.TypeFor[Words]()}
}

// Known reports whether everything has been as expected so far.
func (l *Look) Known() bool { return l.Lost == "" }

// Is takes note of a member, or of something that it does.
func (l *Look) Is(what string, as string, expected bool) bool {
	if entry := what + ": " + as; !slices.Contains(l.Asked, entry) {
		l.Asked = append(l.Asked, entry)
	}
	expected = expected && what != l.Wrong && (planted.Layout == "" || what != planted.Layout)
	if !expected && l.Lost == "" {
		l.Lost = what
	}
	return expected
}

// Field is a struct's member of a name, if it is of a type that fits, which as
// names; else one that has no place. t may be a pointer to the struct.
func (l *Look) Field(t reflect.Type, name, as string, fits func(reflect.Type) bool) reflect.StructField {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	nothing := reflect.StructField{Type: reflect.TypeFor[*struct{}]()}
	if t.Kind() != reflect.Struct {
		l.Is(t.String(), "struct", false)
		return nothing
	}
	f, found := t.FieldByName(name)
	if !l.Is(t.String()+"."+name, as, found && len(f.Index) == 1 && fits(f.Type)) {
		return nothing
	}
	return f
}

// Typed is Field for a member whose type is known by its name in Go.
func (l *Look) Typed(t reflect.Type, name string, want reflect.Type) uintptr {
	return l.Field(t, name, want.String(), func(t reflect.Type) bool { return t == want }).Offset
}

// Within is Typed for a member that t may have through structs that it embeds.
func (l *Look) Within(t reflect.Type, name string, want reflect.Type) uintptr {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		l.Is(t.String(), "a pointer to a struct", false)
		return 0
	}
	f, found := t.Elem().FieldByName(name)
	offset, at := uintptr(0), t.Elem()
	for i := range f.Index {
		step := at.Field(f.Index[i])
		found = found && (i == len(f.Index)-1 || step.Type.Kind() == reflect.Struct) // no pointer on the way
		if offset += step.Offset; !found {
			break
		}
		at = step.Type
	}
	l.Is(t.Elem().String()+"."+name, want.String(), found && f.Type == want)
	return offset
}

// Kind is Field for a member of a kind of types.
func (l *Look) Kind(t reflect.Type, name string, want reflect.Kind) reflect.StructField {
	return l.Field(t, name, "a "+want.String(), func(t reflect.Type) bool { return t.Kind() == want })
}

// Mirrors reports whether a value of type original has the memory that its mirror
// says: the same members with the same names, types and offsets, and no others.
func (l *Look) Mirrors(mirror, original reflect.Type) bool {
	switch {
	case mirror == original:
		return true
	case mirror == l.words:
		return original.Kind() == reflect.Interface
	case mirror.Kind() == reflect.UnsafePointer:
		return original.Kind() == reflect.Pointer || original.Kind() == reflect.Map
	case mirror.Kind() == reflect.Int:
		return original.Kind() == reflect.Int
	case mirror.Kind() != reflect.Struct || original.Kind() != reflect.Struct:
		return false
	}
	same := l.Is(original.String(), fmt.Sprintf("struct of %d members", mirror.NumField()), original.NumField() == mirror.NumField() && original.Size() == mirror.Size())
	for i := range mirror.NumField() {
		m := mirror.Field(i)
		o, found := original.FieldByName(m.Name)
		same = l.Is(original.String()+"."+m.Name, l.mirrored(m.Type), found && m.Offset == o.Offset && (m.Type.Kind() == reflect.Struct && m.Type != l.words && m.Type != o.Type || l.Mirrors(m.Type, o.Type))) && same
		if found && m.Type.Kind() == reflect.Struct && m.Type != l.words && m.Type != o.Type {
			same = l.Mirrors(m.Type, o.Type) && same
		}
	}
	return same
}

// mirrored names what stands for a member of a mirror's type.
func (l *Look) mirrored(t reflect.Type) string {
	switch {
	case t == l.words:
		return "an interface"
	case t.Kind() == reflect.UnsafePointer:
		return "a pointer or map"
	case t.PkgPath() == "minido.dev/minido/internal/insides":
		return "a struct"
	}
	return t.String()
}

// Places appends the places, from base, of the members of one type in a struct and in those that
// it contains.
func Places(t, of reflect.Type, base uintptr, list []uintptr) []uintptr {
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Type == of:
			list = append(list, base+f.Offset)
		case f.Type.Kind() == reflect.Struct:
			list = Places(f.Type, of, base+f.Offset, list)
		}
	}
	return list
}
