package wasm

import (
	"bytes"
	"fmt"
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/buffers"
)

const (
	pageSize = 1 << 16
	// maxPages is what the format allows, maxMemory what minido does: production's
	// memory of a whole isolate.
	maxPages  = 1 << 16
	maxMemory = 128 << 20
	// pageLimit is maxMemory in pages.
	pageLimit = maxMemory / pageSize
	// pieceSize is how many bytes of a memory are copied at a time.
	pieceSize = 1 << 12
)

// linear is the memory of an instance, as wazero asks for it
// (experimental.LinearMemory). It belongs to the loop of the instance's store.
type linear struct {
	buf    []byte
	grown  bool
	most   uint64 // bytes
	growth *growth
}

// Reallocate implements experimental.LinearMemory; nil refuses to grow.
func (l *linear) Reallocate(size uint64) []byte {
	if size > l.most {
		return nil
	}
	if size > uint64(cap(l.buf)) {
		// Half as much again, so that growing page by page does not copy each time.
		room := size
		if l.buf != nil {
			room = min(max(size, uint64(cap(l.buf))*3/2), l.most)
		}
		larger := make([]byte, size, room)
		for at := 0; at < len(l.buf); at += pieceSize {
			copyPiece(larger[at:], l.buf[at:min(at+pieceSize, len(l.buf))])
		}
		l.buf = larger
	} else {
		l.buf = l.buf[:size]
	}
	l.grown, l.growth.pending = true, true
	return l.buf
}

// zeros is a piece of a memory that was never written.
var zeros [pieceSize]byte

// copyPiece copies a piece of a memory to zeroed memory; the operating system has no page
// to give for a piece of zeros that is left out. It is a function of its own since Go can
// stop a goroutine where it enters one, but not in a long copy: a collection that begins
// meanwhile would compute until it ends.
//
//go:noinline
func copyPiece(to, from []byte) {
	if !bytes.Equal(from, zeros[:len(from)]) {
		copy(to, from)
	}
}

// Free implements experimental.LinearMemory.
func (l *linear) Free() {}

// memory is a WebAssembly.Memory. Loop-confined.
type memory struct {
	inst    *instance // that defines it
	typ     limits
	through *instance // a passage, once one has been needed
	name    string    // under which inst exports it
	object  *goja.Object
	buffer  *goja.Object // nil: not asked for since it last grew
}

func (m *memory) pages() uint64 { return uint64(m.inst.mod.Memory().Size()) / pageSize }

// view is the ArrayBuffer: the memory itself, until it grows.
func (m *memory) view() goja.Value {
	if m.buffer == nil {
		s := m.inst.store
		all, _ := m.inst.mod.Memory().Read(0, m.inst.mod.Memory().Size())
		m.buffer = s.vm.ToValue(s.vm.NewArrayBuffer(all)).(*goja.Object)
		buffers.Keep(s.engine, m.buffer)
		m.inst.linear.grown = false
		s.memories = append(s.memories, weak.Make(m))
	}
	return m.buffer
}

// grow is Memory.prototype.grow.
func (m *memory) grow(delta uint32) goja.Value {
	s := m.inst.store
	limit := uint64(maxPages)
	if m.typ.bounded {
		limit = m.typ.max
	}
	before := m.pages()
	if before+uint64(delta) > limit {
		s.throw("RangeError", "WebAssembly.Memory.grow(): Maximum memory size exceeded")
	}
	if before+uint64(delta) > pageLimit {
		s.throw("RangeError", "WebAssembly.Memory.grow(): Unable to grow instance memory: %s", bound)
	}
	s.engine.Memory.Allocate(int64(before+uint64(delta))*pageSize, "WebAssembly.Memory.grow(): Unable to grow instance memory")
	m.inst.mod.Memory().Grow(delta)
	m.inst.linear.grown, s.growth.pending = true, true // also by 0 pages
	s.settle()
	return s.vm.ToValue(int64(before))
}

var bound = fmt.Sprintf("a memory has at most %d pages (%d MB) in minido, as much as an isolate of production", pageLimit, maxMemory>>20)

// settle detaches the buffers of memories that have grown.
func (s *Store) settle() {
	if !s.growth.pending {
		return
	}
	s.growth.pending = false
	kept := s.memories[:0]
	for _, w := range s.memories {
		m := w.Value()
		switch {
		case m == nil:
		case m.inst.linear.grown:
			m.detach()
		default:
			kept = append(kept, w)
		}
	}
	s.memories = kept
}

func (m *memory) detach() {
	s := m.inst.store
	if b, ok := m.buffer.Export().(goja.ArrayBuffer); ok {
		buffers.Release(s.engine, m.buffer)
		b.Detach()
	}
	m.buffer = nil
}
