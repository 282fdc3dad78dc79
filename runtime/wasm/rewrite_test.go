package wasm

import (
	"minido.dev/minido/internal/insides/instances"
	"testing"
)

// A module with exceptions of the newer kind is wazero's to run, and rewritten as any
// other (https://github.com/WebAssembly/exception-handling: try_table).
func TestTryTable(t *testing.T) {
	w := writer{append([]byte(nil), header...)}
	w.section(sectionType, func(w *writer) { w.bytes(2, 0x60, 0, 1, typeI32, 0x60, 1, typeI32, 0) })
	w.section(sectionFunc, func(w *writer) { w.bytes(2, 0, 1) })
	w.section(sectionTag, func(w *writer) { w.bytes(1, 0, 1) })
	w.section(sectionExport, func(w *writer) { w.bytes(1, 1, 'f', 0, 0) })
	w.section(sectionCode, func(w *writer) {
		// block i32; try_table (catch 0 0); 5; call 1; end; 6; end, and: throw what is given
		body := []byte{0, opBlock, typeI32, opTryTable, blockEmpty, 1, 0, 0, 0, opI32Const, 5, opCall, 1, opEnd, opI32Const, 6, opEnd, opEnd}
		thrower := []byte{0, opLocalGet, 0, opThrow, 0, opEnd}
		w.u32(2)
		for _, b := range [][]byte{body, thrower} {
			w.u32(uint32(len(b)))
			w.bytes(b...)
		}
	})
	code, err := Read(w.buf)
	if err != nil {
		t.Fatal(err)
	}
	if err := code.Compile(); err != nil {
		t.Fatal(err)
	}
	e, _ := theCompiler()
	m, err := e.runtime.InstantiateModule(t.Context(), code.compiled, anonymous())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	elements, _ := instances.TableOf(m, code.rewritten.fuel)
	(*elements)[0] = e.ticks
	if got, err := m.ExportedFunction("f").Call(t.Context()); err != nil || got[0] != 5 {
		t.Errorf("%v %v, want 5: what was thrown", got, err)
	}
}

// The same bytes are one module, compiled once, for all isolates.
func TestCodeIsShared(t *testing.T) {
	data := moduleOf(entity{kind: kindMemory, memory: limits{min: 1}})
	a, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := Read(append([]byte(nil), data...)); a != b {
		t.Error("two modules of the same bytes")
	}
}

// What minido cannot do is refused by name, when the module is read.
func TestRefused(t *testing.T) {
	module := func(id byte, body ...byte) []byte {
		w := writer{append([]byte(nil), header...)}
		w.section(id, func(w *writer) { w.bytes(body...) })
		return w.buf
	}
	for want, data := range map[string][]byte{
		"shared memories are not supported by minido (section 5 @+8)":                                    module(sectionMemory, 1, 3, 1, 1),
		"memories and tables of 64-bit addresses are not supported by minido (section 5 @+8)":            module(sectionMemory, 1, 4, 1),
		"type definitions of form 0x5f (garbage collection) are not supported by minido (section 1 @+8)": module(sectionType, 1, 0x5f, 0),
		"typed references are not supported by minido (section 1 @+8)":                                   module(sectionType, 1, 0x60, 1, 0x63, 0, 0),
		"unknown section code #0x20 (section 32 @+8)":                                                    module(0x20),
		"an integer is too long (section 1 @+8)":                                                         module(sectionType, 0x80, 0x80, 0x80, 0x80, 0x80, 0),
		"section (code 1) extends past end of the module @+8":                                            append(append([]byte(nil), header...), 1, 9),
		"more than one memory is not supported by minido":                                                module(sectionMemory, 2, 0, 1, 0, 1),
		"expected version 01 00 00 00, found 02 00 00 00 @+4":                                            []byte("\x00asm\x02\x00\x00\x00"),
	} {
		if _, err := Read(data); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
