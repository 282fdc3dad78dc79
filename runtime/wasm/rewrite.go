package wasm

import (
	"fmt"
	"strconv"
)

// The names that imports and our own exports get. A user's export of the same
// name would only be found twice, so the names are not ones that tools make.
const (
	fromJS      = "minido:functions"
	exportStart = "minido:start"
)

// rewritten is a module as wazero gets it.
type rewritten struct {
	bytes  []byte
	fuel   int        // the table with the function to call when fuel has run out, or -1
	unwind *unwinding // nil: exceptions are wazero's
}

// rewrite renames the imports, makes the start function an export and adds the
// counting down.
func (b *binary) rewrite() (*rewritten, error) {
	code, counts, unwind, err := b.countDown()
	if err != nil {
		return nil, err
	}
	out := &rewritten{fuel: -1, unwind: unwind}
	if counts {
		out.fuel = len(b.tables)
	}
	w := writer{append([]byte(nil), header...)}
	// The sections, in the order in which they have to be; those that are missing
	// and are needed are written where they belong.
	for _, id := range []byte{sectionType, sectionImport, sectionFunc, sectionTable, sectionMemory, sectionTag, sectionGlobal, sectionExport, sectionElem, sectionCount, sectionCode, sectionData} {
		body, have := b.body(id)
		switch {
		case id == sectionImport && have:
			w.section(id, func(w *writer) { b.renamed(w, unwind != nil) })
		case id == sectionType && counts:
			w.section(id, func(w *writer) { w.appended(body, len(b.types), 0x60, 0, 0) })
		case id == sectionTable && counts:
			w.section(id, func(w *writer) {
				w.appended(body, len(b.tables)-b.imported[kindTable], typeFuncref, 1, 1, 1)
			})
		case id == sectionGlobal && counts:
			w.section(id, func(w *writer) { w.counters(body, len(b.globals)-b.imported[kindGlobal], unwind) })
		case id == sectionTag && unwind != nil:
		case id == sectionExport && (have || b.start >= 0):
			w.section(id, func(w *writer) { b.exported(w, unwind != nil) })
		case id == sectionCode && counts:
			w.section(id, func(w *writer) { w.bytes(code...) })
		case have:
			w.section(id, func(w *writer) { w.bytes(body...) })
		}
	}
	out.bytes = w.buf
	return out, nil
}

// body is the content of the section of that number. A section that is there
// twice is refused, as the format does.
func (b *binary) body(id byte) (body []byte, have bool) {
	for _, s := range b.sections {
		if s.id == id {
			return s.body, true
		}
	}
	return nil, false
}

// appended writes a vector of n elements and one more, which begins with extra.
func (w *writer) appended(body []byte, n int, extra ...byte) {
	r := reader{data: body}
	if len(body) > 0 {
		r.u32()
	}
	w.u32(uint32(n) + 1)
	w.bytes(body[r.at:]...)
	w.bytes(extra...)
}

// counters writes the globals and those that are added.
func (w *writer) counters(body []byte, n int, u *unwinding) {
	var more writer
	more.bytes(typeI32, 1, opI32Const)
	more.s32(fuel)
	more.bytes(opEnd)
	added := 1
	if u != nil {
		added += u.globals(&more)
	}
	r := reader{data: body}
	if len(body) > 0 {
		r.u32()
	}
	w.u32(uint32(n + added))
	w.bytes(body[r.at:]...)
	w.bytes(more.buf...)
}

// exported writes the exports, and that of the start function. Without tags there
// are none in what wazero gets.
func (b *binary) exported(w *writer, untagged bool) {
	var items writer
	n := uint32(0)
	for _, x := range b.exports {
		if x.kind == kindTag && untagged {
			continue
		}
		n++
		items.name(x.name)
		items.bytes(byte(x.kind))
		items.u32(x.index)
	}
	if b.start >= 0 {
		n++
		items.name(exportStart)
		items.bytes(byte(kindFunction))
		items.u32(uint32(b.start))
	}
	w.u32(n)
	w.bytes(items.buf...)
}

// renamed writes the imports: functions are fromJS's by their number, the rest
// is each the given one of a module named by its number.
func (b *binary) renamed(w *writer, untagged bool) {
	n := len(b.imports)
	if untagged {
		n -= b.imported[kindTag]
	}
	w.u32(uint32(n))
	for i, item := range b.imports {
		if item.kind == kindTag && untagged {
			continue
		}
		if item.kind == kindFunction {
			w.name(fromJS)
			w.name(strconv.Itoa(i))
		} else {
			w.name(strconv.Itoa(i))
			w.name(given)
		}
		w.entity(item.entity)
	}
}

// ordered holds the sections against the order that the format prescribes.
func (b *binary) ordered() error {
	place := map[byte]int{}
	for i, id := range []byte{sectionType, sectionImport, sectionFunc, sectionTable, sectionMemory, sectionTag, sectionGlobal, sectionExport, sectionStart, sectionElem, sectionCount, sectionCode, sectionData} {
		place[id] = i + 1
	}
	last := 0
	for _, s := range b.sections {
		if s.id == sectionCustom {
			continue
		}
		if place[s.id] <= last {
			return fmt.Errorf("unexpected section <%d>: sections are out of order", s.id)
		}
		last = place[s.id]
	}
	return nil
}
