package wasm

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// valueType is a value type of the binary format (WebAssembly Core, section 5.3).
type valueType = byte

const (
	typeI32       valueType = 0x7f
	typeI64       valueType = 0x7e
	typeF32       valueType = 0x7d
	typeF64       valueType = 0x7c
	typeV128      valueType = 0x7b
	typeFuncref   valueType = 0x70
	typeExternref valueType = 0x6f
	typeExnref    valueType = 0x69
)

// kind is what is imported or exported, as the binary format numbers it.
type kind byte

const (
	kindFunction kind = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

func (k kind) String() string {
	return [...]string{"function", "table", "memory", "global", "tag"}[k]
}

// functionType is a signature.
type functionType struct{ params, results []valueType }

func (t functionType) equal(u functionType) bool {
	return string(t.params) == string(u.params) && string(t.results) == string(u.results)
}

// has reports whether a value of type v passes through a function of type t.
func (t functionType) has(v valueType) bool {
	for _, list := range [][]valueType{t.params, t.results} {
		for _, x := range list {
			if x == v {
				return true
			}
		}
	}
	return false
}

// limits bound a memory in pages or a table in elements.
type limits struct {
	min, max uint64
	bounded  bool // there is a max
	shared   bool
	wide     bool // addressed by 64 bits
}

type tableType struct {
	element valueType
	limits  limits
}

type globalType struct {
	value   valueType
	mutable bool
}

// entity is the type of something that is imported, exported or defined.
type entity struct {
	kind     kind
	typ      uint32 // of a function or a tag: its index among the types
	function functionType
	table    tableType
	memory   limits
	global   globalType
}

type importItem struct {
	module, name string
	entity
}

type exportItem struct {
	name  string
	kind  kind
	index uint32
}

type custom struct {
	name string
	data []byte
}

// section is a section as it stands in the binary.
type section struct {
	id   byte
	body []byte
}

// The sections that are rewritten (WebAssembly Core, section 5.5).
const (
	sectionCustom = 0
	sectionType   = 1
	sectionImport = 2
	sectionFunc   = 3
	sectionTable  = 4
	sectionMemory = 5
	sectionGlobal = 6
	sectionExport = 7
	sectionStart  = 8
	sectionElem   = 9
	sectionCode   = 10
	sectionData   = 11
	sectionCount  = 12
	sectionTag    = 13
)

// binary is a module as its sections describe it. Immutable once read.
type binary struct {
	sections  []section
	types     []functionType
	imports   []importItem
	functions []entity // imported ones first, as all index spaces
	tables    []entity
	memories  []entity
	globals   []entity
	tags      []entity
	exports   []exportItem
	customs   []custom
	segments  []element
	start     int // the start function, or -1
	imported  [kindTag + 1]int
}

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// readBinary takes a module apart. What it does not look into, wazero validates.
func readBinary(data []byte) (b *binary, err error) {
	switch {
	case len(data) == 0:
		return nil, errors.New("BufferSource argument is empty")
	case len(data) < 4:
		return nil, errors.New("expected 4 bytes, fell off end @+0")
	case string(data[:4]) != string(header[:4]):
		return nil, fmt.Errorf("expected magic word 00 61 73 6d, found % x @+0", data[:4])
	case len(data) < 8:
		return nil, errors.New("expected 4 bytes, fell off end @+4")
	case string(data[4:8]) != string(header[4:]):
		return nil, fmt.Errorf("expected version 01 00 00 00, found % x @+4", data[4:8])
	}
	b = &binary{start: -1}
	r := &reader{data: data, at: len(header)}
	for !r.done() {
		at := r.at
		id := r.byte()
		body := r.bytes(r.u32())
		if r.err != nil {
			return nil, fmt.Errorf("section (code %d) extends past end of the module @+%d", id, at)
		}
		b.sections = append(b.sections, section{id, body})
		sr := &reader{data: body}
		if err := b.section(id, sr); err != nil {
			return nil, fmt.Errorf("%w (section %d @+%d)", err, id, at)
		}
		if sr.err != nil {
			return nil, fmt.Errorf("%w (section %d @+%d)", sr.err, id, at)
		}
		if !opaque(id) && !sr.done() {
			return nil, fmt.Errorf("section was shorter than expected size (%d bytes expected, %d decoded) @+%d", len(body), sr.at, at)
		}
	}
	if n, m := b.count(sectionFunc), b.count(sectionCode); n != m {
		return nil, fmt.Errorf("function and code section have inconsistent lengths: %d and %d", n, m)
	}
	return b, b.check()
}

// count is the number at the beginning of a section, 0 if there is none.
func (b *binary) count(id byte) uint32 {
	for _, s := range b.sections {
		if s.id == id {
			r := reader{data: s.body}
			return r.u32()
		}
	}
	return 0
}

// check looks at the indices that are used below.
func (b *binary) check() error {
	spaces := [...]int{len(b.functions), len(b.tables), len(b.memories), len(b.globals), len(b.tags)}
	names := map[string]bool{}
	for _, x := range b.exports {
		if int(x.kind) >= len(spaces) || int(x.index) >= spaces[x.kind] {
			return fmt.Errorf("export %q names a %s that does not exist", x.name, x.kind)
		}
		if names[x.name] {
			return fmt.Errorf("duplicate export name '%s'", x.name)
		}
		names[x.name] = true
	}
	if len(b.memories) > 1 {
		return errors.New("more than one memory is not supported by minido")
	}
	if b.start >= len(b.functions) {
		return fmt.Errorf("the start function %d does not exist", b.start)
	}
	return nil
}

func (b *binary) section(id byte, r *reader) error {
	switch id {
	case sectionCustom:
		name := r.name()
		b.customs = append(b.customs, custom{name, r.data[r.at:]})
	case sectionType:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			if form := r.byte(); form != 0x60 && r.err == nil {
				return fmt.Errorf("type definitions of form 0x%x (garbage collection) are not supported by minido", form)
			}
			b.types = append(b.types, functionType{r.valueTypes(), r.valueTypes()})
		}
	case sectionImport:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			item := importItem{module: r.name(), name: r.name()}
			if err := b.entity(r, &item.entity); err != nil {
				return err
			}
			b.imports = append(b.imports, item)
			b.imported[item.kind]++
			b.define(item.entity)
		}
	case sectionFunc:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			e := entity{kind: kindFunction, typ: r.u32()}
			if err := b.typeOf(&e); err != nil {
				return err
			}
			b.define(e)
		}
	case sectionTable:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			if r.peek() == 0x40 {
				return errors.New("tables with an initializer are not supported by minido")
			}
			b.define(entity{kind: kindTable, table: r.table()})
		}
	case sectionMemory:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			b.define(entity{kind: kindMemory, memory: r.limits()})
		}
	case sectionGlobal:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			b.define(entity{kind: kindGlobal, global: r.global()})
			r.constant()
		}
	case sectionTag:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			r.byte()
			e := entity{kind: kindTag, typ: r.u32()}
			if err := b.typeOf(&e); err != nil {
				return err
			}
			b.define(e)
		}
	case sectionExport:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			b.exports = append(b.exports, exportItem{r.name(), kind(r.byte()), r.u32()})
			if x := b.exports[len(b.exports)-1]; x.kind > kindTag && r.err == nil {
				return fmt.Errorf("export of an unknown kind %d", byte(x.kind))
			}
		}
	case sectionStart:
		b.start = int(r.u32())
	case sectionElem:
		b.elements(r)
	case sectionCode, sectionData, sectionCount:
	default:
		return fmt.Errorf("unknown section code #0x%02x", id)
	}
	return nil
}

// opaque reports whether section leaves a section's contents to others.
func opaque(id byte) bool {
	switch id {
	case sectionCustom, sectionCode, sectionData, sectionCount:
		return true
	}
	return false
}

// define appends to the index space of its kind.
func (b *binary) define(e entity) {
	space := [...]*[]entity{&b.functions, &b.tables, &b.memories, &b.globals, &b.tags}[e.kind]
	*space = append(*space, e)
}

func (b *binary) typeOf(e *entity) error {
	if int(e.typ) >= len(b.types) {
		return fmt.Errorf("type index %d is out of bounds (%d types)", e.typ, len(b.types))
	}
	e.function = b.types[e.typ]
	return nil
}

func (b *binary) entity(r *reader, e *entity) error {
	e.kind = kind(r.byte())
	switch e.kind {
	case kindFunction:
		e.typ = r.u32()
		return b.typeOf(e)
	case kindTable:
		e.table = r.table()
	case kindMemory:
		e.memory = r.limits()
	case kindGlobal:
		e.global = r.global()
	case kindTag:
		r.byte()
		e.typ = r.u32()
		return b.typeOf(e)
	default:
		return fmt.Errorf("import of an unknown kind %d", byte(e.kind))
	}
	return nil
}

// reader reads the binary format; after an error it gives zeros.
type reader struct {
	data []byte
	at   int
	err  error
}

var errEnd = errors.New("unexpected end of the module")

func (r *reader) done() bool { return r.at >= len(r.data) || r.err != nil }

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.data)
}

func (r *reader) peek() byte {
	if r.at >= len(r.data) {
		return 0
	}
	return r.data[r.at]
}

func (r *reader) byte() byte {
	if r.at >= len(r.data) {
		r.fail(errEnd)
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)-r.at) {
		r.fail(errEnd)
		return nil
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at]
}

// leb reads an unsigned LEB128 of at most so many bits.
func (r *reader) leb(bits uint) uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		switch {
		case c < 0x80:
			return v
		case shift+7 >= bits:
			r.fail(errors.New("an integer is too long"))
			return 0
		}
	}
}

func (r *reader) u32() uint32 { return uint32(r.leb(32)) }

// skipSigned passes a signed LEB128 of at most so many bits.
func (r *reader) skipSigned(bits uint) {
	for shift := uint(0); r.byte() >= 0x80; shift += 7 {
		if shift+7 >= bits {
			r.fail(errors.New("an integer is too long"))
			return
		}
	}
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail(errors.New("a name is not valid UTF-8"))
	}
	return string(b)
}

func (r *reader) valueType() valueType {
	switch t := r.byte(); t {
	case typeI32, typeI64, typeF32, typeF64, typeV128, typeFuncref, typeExternref, typeExnref:
		return t
	case 0x63: // (ref null heaptype), which may be spelled out
		switch h := r.byte(); h {
		case typeFuncref, typeExternref, typeExnref:
			return h
		}
		r.fail(errors.New("typed references are not supported by minido"))
	default:
		r.fail(fmt.Errorf("value type 0x%x is not supported by minido", t))
	}
	return 0
}

func (r *reader) valueTypes() []valueType {
	n := r.u32()
	if uint64(n) > uint64(len(r.data)) {
		r.fail(errEnd)
		return nil
	}
	list := make([]valueType, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		list = append(list, r.valueType())
	}
	return list
}

func (r *reader) limits() limits {
	flags := r.byte()
	if flags > 7 {
		r.fail(fmt.Errorf("limits with flags 0x%x are not supported by minido", flags))
	}
	l := limits{bounded: flags&1 != 0, shared: flags&2 != 0, wide: flags&4 != 0}
	l.min = r.leb(64)
	if l.bounded {
		l.max = r.leb(64)
	}
	switch {
	case l.wide:
		r.fail(errors.New("memories and tables of 64-bit addresses are not supported by minido"))
	case l.shared:
		r.fail(errors.New("shared memories are not supported by minido"))
	}
	return l
}

func (r *reader) table() tableType { return tableType{r.valueType(), r.limits()} }

func (r *reader) global() globalType {
	g := globalType{value: r.valueType()}
	switch m := r.byte(); m {
	case 0, 1:
		g.mutable = m == 1
	default:
		r.fail(fmt.Errorf("mutability 0x%x is unknown", m))
	}
	return g
}

// constant passes a constant expression.
func (r *reader) constant() {
	for depth := 1; depth > 0 && r.err == nil; {
		depth += r.instruction().nesting
	}
}
