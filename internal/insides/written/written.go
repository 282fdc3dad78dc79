// Package written writes programs that goja has compiled, and reads them again: a process
// that starts then compiles nothing that another has compiled. What a function does is read
// when it is first called, so one that never is costs a few words.
//
// It knows the memory of programs through mirrors that package insides has compared with
// the originals, and instructions through the types that insides has met. A program with
// anything else is not written. The form is that of one build of goja: who keeps what is
// written names the build with it, and a checksum of it.
package written

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// Words are those of an interface value.
type Words struct{ Tab, Data unsafe.Pointer }

// Place mirrors the place in the source of the instructions from one on.
type Place struct{ pc, srcPos int }

// Program mirrors goja.Program.
type Program struct {
	code     []Words
	funcName unistring.String
	src      *file.File
	srcMap   []Place
}

// Values are the first words of interface values by which values are told apart.
type Values struct {
	ASCII, Wide, Integer, Float, Boolean, BigInt, Property unsafe.Pointer // as goja.Value
	ASCIIString, WideString                                unsafe.Pointer // as goja.String
}

// Property mirrors an item of an array that cannot be written.
type Property struct {
	value                                        goja.Value
	writable, configurable, enumerable, accessor bool
	getterFunc, setterFunc                       *goja.Object
}

// Pattern mirrors the beginning of a compiled regular expression.
type Pattern struct {
	src                                                    string
	global, ignoreCase, multiline, dotAll, sticky, unicode bool
}

// Format is what programs can consist of. Immutable once it is made; safe for concurrent use.
type Format struct {
	values Values
	names  map[string]*kind
	tables map[reflect.Type]*kind
	typeOf func(*Words) reflect.Type
	unread unsafe.Pointer // the method table of the one instruction of a function that was not read yet
	mark   func() string
}

// kind is a type of instructions.
type kind struct {
	name   string
	table  unsafe.Pointer
	memory reflect.Type // behind the interface
	cells  int          // of 8 bytes, if there is no pointer in it
	leaves []leaf
	// shared are the instructions that all programs have in common and goja tells apart by
	// where they lie; nil for kinds of which each instruction has its own.
	shared []unsafe.Pointer
}

// leaf is a member of an instruction.
type leaf struct {
	at   uintptr
	form form
}

// form is how a member is written.
type form uint8

const (
	formInt form = iota
	formInt32
	formByte
	formText   // a name
	formSource // a text that lies in the source
	formNames
	formValue
	formString
	formValues
	formSlots // numbers of variables by name
	formFunction
	formPattern // of a regular expression
)

//go:linkname compileRegexp github.com/dop251/goja.compileRegexp
func compileRegexp(pattern, flags string) (unsafe.Pointer, error)

// NewFormat is the format of instructions of which there is a sample each; of kinds that are
// shared, by their types' names, each instruction is a sample. pattern is the
// type of a pointer to a compiled regular expression; typeOf says what
// instruction there is, unread is the method table of Function's.
func NewFormat(samples []*Words, shared map[string]bool, values Values, pattern reflect.Type, unread unsafe.Pointer, typeOf func(*Words) reflect.Type) *Format {
	f := &Format{values: values, names: map[string]*kind{}, tables: map[reflect.Type]*kind{}, typeOf: typeOf, unread: unread}
	f.mark = sync.OnceValue(f.sum)
	for _, s := range samples {
		t := typeOf(s)
		if k := f.tables[t]; k != nil {
			if shared[k.name] && !slices.Contains(k.shared, s.Data) {
				k.shared = append(k.shared, s.Data)
			}
			continue
		}
		k := &kind{name: t.String(), table: s.Tab, memory: t}
		if t.Kind() == reflect.Pointer {
			k.memory = t.Elem()
		} else if holdsPointer(t) {
			continue // it lies in the interface itself
		}
		if shared[k.name] {
			k.shared = []unsafe.Pointer{s.Data}
			f.names[k.name], f.tables[t] = k, k
			continue
		}
		ok := true
		if k.leaves, ok = leavesOf(k.memory, 0, pattern, nil); !ok {
			continue
		}
		if !slices.ContainsFunc(k.leaves, func(l leaf) bool { return l.form > formByte }) {
			k.cells = int(k.memory.Size()+7) / 8
		}
		f.names[k.name], f.tables[t] = k, k
	}
	return f
}

// holdsPointer reports whether a value of the type is one pointer.
func holdsPointer(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		return t.NumField() == 1 && holdsPointer(t.Field(0).Type)
	case reflect.Array:
		return t.Len() == 1 && holdsPointer(t.Elem())
	}
	return false
}

// leavesOf appends the members of a type; it reports false if one cannot be written.
func leavesOf(t reflect.Type, at uintptr, pattern reflect.Type, list []leaf) ([]leaf, bool) {
	var f form
	switch name := reflect.TypeFor[unistring.String](); {
	case t == pattern:
		f = formPattern
	case t == reflect.TypeFor[*goja.Program]():
		f = formFunction
	case t == reflect.TypeFor[string]():
		f = formSource
	case t.Kind() == reflect.String:
		f = formText
	case t.Kind() == reflect.Int:
		f = formInt
	case t.Kind() == reflect.Int32 || t.Kind() == reflect.Uint32:
		f = formInt32
	case t.Kind() == reflect.Uint8 || t.Kind() == reflect.Bool:
		f = formByte
	case t == reflect.SliceOf(name):
		f = formNames
	case t == reflect.TypeFor[goja.Value]():
		f = formValue
	case t == reflect.TypeFor[goja.String]():
		f = formString
	case t == reflect.TypeFor[[]goja.Value]():
		f = formValues
	case t == reflect.MapOf(name, reflect.TypeFor[uint32]()):
		f = formSlots
	case t.Kind() == reflect.Struct:
		ok := true
		for i := 0; i < t.NumField() && ok; i++ {
			list, ok = leavesOf(t.Field(i).Type, at+t.Field(i).Offset, pattern, list)
		}
		return list, ok
	default:
		return list, false
	}
	return append(list, leaf{at, f}), true
}

// gojaVersion is what go.mod requires: what instructions do can change with it.
const gojaVersion = "v0.0.0-20260917113740-793a2a65c13b"

//go:embed read.go samples.go write.go written.go
var sources embed.FS

// Mark tells this format from every other one: it sums up the instructions, how this
// package writes them, and the version of goja.
func (f *Format) Mark() string { return f.mark() }

func (f *Format) sum() string {
	sum := sha256.New()
	for _, name := range f.Kinds() {
		k := f.names[name]
		fmt.Fprintln(sum, name, k.memory.Size(), k.cells, k.leaves, len(k.shared))
	}
	files, _ := sources.ReadDir(".") // what is embedded can be read
	for _, file := range files {
		text, _ := sources.ReadFile(file.Name())
		sum.Write(text)
	}
	fmt.Fprintln(sum, gojaVersion)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Kinds are the names of the instructions that can be written, sorted.
func (f *Format) Kinds() []string { return slices.Sorted(maps.Keys(f.names)) }
