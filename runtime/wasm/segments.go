package wasm

import "minido.dev/minido/internal/insides/instances"

// element is an active element segment: what it writes where.
type element struct {
	table  uint32
	global int // of which the value is the offset, or -1
	offset uint32
	count  uint32
}

// elements reads the active segments of the element section (WebAssembly Core,
// section 5.5.12).
func (b *binary) elements(r *reader) {
	r.many(func() {
		flags := r.u32()
		if flags > 7 {
			r.fail(errEnd)
			return
		}
		active, expressions := flags&1 == 0, flags&4 != 0
		e := element{global: -1}
		if active {
			if flags&2 != 0 {
				e.table = r.u32()
			}
			e.place(r)
		}
		switch {
		case flags&3 == 0: // functions of table 0
		case expressions:
			r.valueType()
		default:
			r.byte()
		}
		r.many(func() {
			e.count++
			if expressions {
				r.constant()
			} else {
				r.u32()
			}
		})
		if active {
			b.segments = append(b.segments, e)
		}
	})
}

// place reads the offset: a number or a global; what else it may be is taken for 0,
// which wazero evaluates.
func (e *element) place(r *reader) {
	probe := *r
	switch op := probe.byte(); op {
	case opI32Const:
		var v int32
		shift := uint(0)
		for {
			c := probe.byte()
			v |= int32(c&0x7f) << shift
			shift += 7
			if c < 0x80 || shift > 28 {
				if shift < 32 && c&0x40 != 0 {
					v |= -1 << shift
				}
				break
			}
		}
		e.offset = uint32(v)
	case opGlobalGet:
		e.global = int(probe.u32())
	}
	r.constant()
}

// overflowing reports whether an active element segment does not fit its table.
// wazero leaves it out, and those that follow; the standard has it trap.
func (b *binary) overflowing(i *instance) bool {
	for _, e := range b.segments {
		offset := uint64(e.offset)
		if e.global >= 0 && e.global < len(i.globals) {
			g := i.globals[e.global]
			lo, _ := instances.GlobalOf(g.inst.mod, g.index).Value()
			offset = uint64(uint32(lo))
		}
		if int(e.table) < len(i.tables) && offset+uint64(e.count) > uint64(i.tables[e.table].length()) {
			return true
		}
	}
	return false
}
