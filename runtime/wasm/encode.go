package wasm

// writer writes the binary format.
type writer struct{ buf []byte }

func (w *writer) bytes(b ...byte) { w.buf = append(w.buf, b...) }

func (w *writer) u32(v uint32) {
	for ; v >= 0x80; v >>= 7 {
		w.buf = append(w.buf, byte(v)|0x80)
	}
	w.buf = append(w.buf, byte(v))
}

func (w *writer) s32(v int32) {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			w.buf = append(w.buf, c)
			return
		}
		w.buf = append(w.buf, c|0x80)
	}
}

func (w *writer) name(s string) {
	w.u32(uint32(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *writer) limits(l limits) {
	flags := byte(0)
	if l.bounded {
		flags = 1
	}
	w.bytes(flags)
	w.u32(uint32(l.min))
	if l.bounded {
		w.u32(uint32(l.max))
	}
}

func (w *writer) global(g globalType) {
	w.bytes(g.value, 0)
	if g.mutable {
		w.buf[len(w.buf)-1] = 1
	}
}

// zero is the constant expression of a type's zero.
func (w *writer) zero(t valueType) {
	w.nothing(t)
	w.bytes(opEnd)
}

// nothing pushes a type's zero.
func (w *writer) nothing(t valueType) {
	switch t {
	case typeI32, typeI64:
		w.bytes(opI32Const+(typeI32-t), 0) // the types count down
	case typeF32:
		w.bytes(0x43, 0, 0, 0, 0)
	case typeF64:
		w.bytes(0x44, 0, 0, 0, 0, 0, 0, 0, 0)
	case typeV128:
		w.bytes(opVector, vectorConst)
		w.bytes(make([]byte, 16)...)
	default:
		w.bytes(opRefNull, t)
	}
}

// entity writes what an import says of one.
func (w *writer) entity(e entity) {
	w.bytes(byte(e.kind))
	switch e.kind {
	case kindFunction:
		w.u32(e.typ)
	case kindTable:
		w.bytes(e.table.element)
		w.limits(e.table.limits)
	case kindMemory:
		w.limits(e.memory)
	case kindGlobal:
		w.global(e.global)
	case kindTag:
		w.bytes(0)
		w.u32(e.typ)
	}
}

// section writes a section whose content fill writes.
func (w *writer) section(id byte, fill func(w *writer)) {
	var body writer
	fill(&body)
	w.bytes(id)
	w.u32(uint32(len(body.buf)))
	w.bytes(body.buf...)
}

// The name under which a module of ours exports what it has.
const given = "x"

// moduleOf is a module that defines e and exports it.
func moduleOf(e entity) []byte {
	w := writer{append([]byte(nil), header...)}
	id := [...]byte{kindTable: sectionTable, kindMemory: sectionMemory, kindGlobal: sectionGlobal}[e.kind]
	w.section(id, func(w *writer) {
		w.u32(1)
		var whole writer
		whole.entity(e)
		w.bytes(whole.buf[1:]...)
		if e.kind == kindGlobal {
			w.zero(e.global.value)
		}
	})
	return w.exporting(e.kind)
}

// passage is a module that imports e under name and exports it as given.
func passage(e entity, name string) []byte {
	w := writer{append([]byte(nil), header...)}
	w.section(sectionImport, func(w *writer) {
		w.u32(1)
		w.name("from")
		w.name(name)
		w.entity(e)
	})
	return w.exporting(e.kind)
}

func (w *writer) exporting(k kind) []byte {
	w.section(sectionExport, func(w *writer) {
		w.u32(1)
		w.name(given)
		w.bytes(byte(k), 0)
	})
	return w.buf
}
