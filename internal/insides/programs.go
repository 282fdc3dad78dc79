package insides

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/layout"
)

// programWalk goes through the instructions of programs. Safe for concurrent use; not
// to be copied after its first use.
type programWalk struct {
	theirs *Goja
	mu     sync.Mutex                   // guards places
	places map[unsafe.Pointer][]uintptr // where instructions keep programs of functions, by their method table
}

// code is a program's instructions.
func (w *programWalk) code(program *goja.Program) []words {
	return *(*[]words)(unsafe.Add(unsafe.Pointer(program), w.theirs.code))
}

func (w *programWalk) typeOf(instruction *words) reflect.Type {
	return reflect.NewAt(w.theirs.codeType.Elem(), unsafe.Pointer(instruction)).Elem().Elem().Type()
}

// all calls fn with the instructions of a program, and of each function in it. fn may
// change the method tables of instructions.
func (w *programWalk) all(program *goja.Program, fn func(code []words)) {
	pending, seen := []*goja.Program{program}, map[*goja.Program]bool{}
	for len(pending) > 0 {
		p := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if p == nil || seen[p] {
			continue
		}
		seen[p] = true
		code := w.code(p)
		pending = w.inner(code, pending)
		fn(code)
	}
}

// each is all for single instructions.
func (w *programWalk) each(program *goja.Program, fn func(instruction *words)) {
	w.all(program, func(code []words) {
		for i := range code {
			fn(&code[i])
		}
	})
}

// inner appends the programs that instructions keep.
func (w *programWalk) inner(code []words, list []*goja.Program) []*goja.Program {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range code {
		places, known := w.places[code[i].tab]
		if !known {
			t := w.typeOf(&code[i])
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if t.Kind() == reflect.Struct {
				places = layout.Places(t, reflect.TypeFor[*goja.Program](), 0, nil)
			}
			w.places[code[i].tab] = places
		}
		for _, at := range places {
			list = append(list, *(**goja.Program)(unsafe.Add(code[i].data, at)))
		}
	}
	return list
}
