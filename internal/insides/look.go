package insides

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"minido.dev/minido/internal/planted"
)

// look compares what is there with what is expected, member by member, when a part
// is learnt. One goroutine uses it.
type look struct {
	wrong string   // a member that is taken for another than expected: planted by a test
	asked []string // the members, as "type.member: type"
	lost  string   // the first that is not as expected; "" if all are
}

// known reports whether everything has been as expected so far.
func (l *look) known() bool { return l.lost == "" }

// is takes note of a member, or of something that it does.
func (l *look) is(what string, as string, expected bool) bool {
	if entry := what + ": " + as; !slices.Contains(l.asked, entry) {
		l.asked = append(l.asked, entry)
	}
	expected = expected && what != l.wrong && (planted.Layout == "" || what != planted.Layout)
	if !expected && l.lost == "" {
		l.lost = what
	}
	return expected
}

// field is a struct's member of a name, if it is of a type that fits, which as
// names; else one that has no place. t may be a pointer to the struct.
func (l *look) field(t reflect.Type, name, as string, fits func(reflect.Type) bool) reflect.StructField {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	nothing := reflect.StructField{Type: reflect.TypeFor[*struct{}]()}
	if t.Kind() != reflect.Struct {
		l.is(t.String(), "struct", false)
		return nothing
	}
	f, found := t.FieldByName(name)
	if !l.is(t.String()+"."+name, as, found && len(f.Index) == 1 && fits(f.Type)) {
		return nothing
	}
	return f
}

// typed is field for a member whose type is known by its name in Go.
func (l *look) typed(t reflect.Type, name string, want reflect.Type) uintptr {
	return l.field(t, name, want.String(), func(t reflect.Type) bool { return t == want }).Offset
}

// within is typed for a member that t may have through structs that it embeds.
func (l *look) within(t reflect.Type, name string, want reflect.Type) uintptr {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		l.is(t.String(), "a pointer to a struct", false)
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
	l.is(t.Elem().String()+"."+name, want.String(), found && f.Type == want)
	return offset
}

// kind is field for a member of a kind of types.
func (l *look) kind(t reflect.Type, name string, want reflect.Kind) reflect.StructField {
	return l.field(t, name, "a "+want.String(), func(t reflect.Type) bool { return t.Kind() == want })
}

// mirrors reports whether a value of type original has the memory that its mirror
// says: the same members with the same names, types and offsets, and no others.
func (l *look) mirrors(mirror, original reflect.Type) bool {
	switch {
	case mirror == original:
		return true
	case mirror == reflect.TypeFor[words]():
		return original.Kind() == reflect.Interface
	case mirror.Kind() == reflect.UnsafePointer:
		return original.Kind() == reflect.Pointer || original.Kind() == reflect.Map
	case mirror.Kind() == reflect.Int:
		return original.Kind() == reflect.Int
	case mirror.Kind() != reflect.Struct || original.Kind() != reflect.Struct:
		return false
	}
	same := l.is(original.String(), fmt.Sprintf("struct of %d members", mirror.NumField()), original.NumField() == mirror.NumField() && original.Size() == mirror.Size())
	for i := range mirror.NumField() {
		m := mirror.Field(i)
		o, found := original.FieldByName(m.Name)
		same = l.is(original.String()+"."+m.Name, mirrored(m.Type), found && m.Offset == o.Offset && (m.Type.Kind() == reflect.Struct && m.Type != reflect.TypeFor[words]() && m.Type != o.Type || l.mirrors(m.Type, o.Type))) && same
		if found && m.Type.Kind() == reflect.Struct && m.Type != reflect.TypeFor[words]() && m.Type != o.Type {
			same = l.mirrors(m.Type, o.Type) && same
		}
	}
	return same
}

// mirrored names what stands for a member of a mirror's type.
func mirrored(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[words]():
		return "an interface"
	case t.Kind() == reflect.UnsafePointer:
		return "a pointer or map"
	case t.PkgPath() == reflect.TypeFor[look]().PkgPath():
		return "a struct"
	}
	return t.String()
}

// learnt is a part's learning, done once, for the process.
func learnt[T any](learn func(*look) T) func() T {
	return sync.OnceValue(func() T { return learn(&look{}) })
}
