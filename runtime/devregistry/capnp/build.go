package capnp

import "encoding/binary"

// Builder makes a message in one segment. One goroutine may use it at a time.
type Builder struct {
	buf  []byte // after the frame: the segment
	caps []any  // what the content refers to: *Ref, Server; nil is none
}

// frame is the length of the table before the segment.
const frame = 8

func newBuilder() *Builder { return &Builder{buf: make([]byte, frame+8, 512)} }

// bytes is the message as it travels.
func (b *Builder) bytes() []byte {
	binary.LittleEndian.PutUint32(b.buf[4:], uint32(len(b.buf)-frame)/8)
	return b.buf
}

// alloc makes room and returns where it is.
func (b *Builder) alloc(words int) int {
	at := len(b.buf)
	b.buf = append(b.buf, make([]byte, 8*words)...)
	return at
}

func (b *Builder) put(at int, word uint64) { binary.LittleEndian.PutUint64(b.buf[at:], word) }

// Object is a struct that is being made. Offsets are as those of Struct.
type Object struct {
	b    *Builder
	at   int
	data int // bytes
	// field is where the pointers of the content of a payload begin in the pipeline: see
	// Payload.
	caps *pipeline
}

// pipeline collects the capabilities in the pointers of a payload's content.
type pipeline struct{ fields map[uint16]any }

// structAt makes a struct and sets the pointer at an offset to it.
func (b *Builder) structAt(ptr, data, ptrs int) Object {
	at := b.alloc(data + ptrs)
	distance := uint32(at-ptr-8) / 8 << 2
	if data+ptrs == 0 {
		distance = 0xfffffffc // else it would be null
	}
	b.put(ptr, uint64(distance)|uint64(data)<<32|uint64(ptrs)<<48)
	return Object{b: b, at: at, data: 8 * data}
}

// root makes the message's content; data and ptrs are words.
func (b *Builder) root(data, ptrs int) Object { return b.structAt(frame, data, ptrs) }

// PutUint16, PutUint32, PutUint64 and PutBool set a field.
func (o Object) PutUint16(at int, v uint16) { binary.LittleEndian.PutUint16(o.b.buf[o.at+at:], v) }

// PutUint32 is like PutUint16.
func (o Object) PutUint32(at int, v uint32) { binary.LittleEndian.PutUint32(o.b.buf[o.at+at:], v) }

// PutUint64 is like PutUint16.
func (o Object) PutUint64(at int, v uint64) { binary.LittleEndian.PutUint64(o.b.buf[o.at+at:], v) }

// PutBool is like PutUint16, with the number of a bit.
func (o Object) PutBool(bit int, v bool) {
	if v {
		o.b.buf[o.at+bit/8] |= 1 << (bit % 8)
	}
}

func (o Object) ptr(i int) int { return o.at + o.data + 8*i }

// Struct makes a struct at a pointer; data and ptrs are words.
func (o Object) Struct(i, data, ptrs int) Object { return o.b.structAt(o.ptr(i), data, ptrs) }

// PutData sets the bytes at a pointer.
func (o Object) PutData(i int, v []byte) { o.b.list(o.ptr(i), v, len(v)) }

// PutText sets the text at a pointer.
func (o Object) PutText(i int, v string) { o.b.list(o.ptr(i), []byte(v), len(v)+1) }

// list makes a list of n bytes, which begins with v.
func (b *Builder) list(ptr int, v []byte, n int) {
	at := b.alloc((n + 7) / 8)
	copy(b.buf[at:], v)
	b.put(ptr, 1|uint64(uint32(at-ptr-8)/8<<2)|sizeBytes<<32|uint64(n)<<35)
}

// PutTexts sets the list of texts at a pointer.
func (o Object) PutTexts(i int, texts []string) {
	ptr, at := o.ptr(i), o.b.alloc(len(texts))
	o.b.put(ptr, 1|uint64(uint32(at-ptr-8)/8<<2)|sizePointers<<32|uint64(len(texts))<<35)
	for i, text := range texts {
		o.b.list(at+8*i, []byte(text), len(text)+1)
	}
}

// Objects is a list of structs that is being made.
type Objects struct {
	b              *Builder
	at, data, size int
}

// Structs makes a list of n structs at a pointer; data and ptrs are the words of each.
func (o Object) Structs(i, n, data, ptrs int) Objects {
	words := n * (data + ptrs)
	ptr, at := o.ptr(i), o.b.alloc(words+1)
	o.b.put(ptr, 1|uint64(uint32(at-ptr-8)/8<<2)|sizeStructs<<32|uint64(words)<<35)
	o.b.put(at, uint64(n)<<2|uint64(data)<<32|uint64(ptrs)<<48)
	return Objects{o.b, at + 8, 8 * data, 8 * (data + ptrs)}
}

// At is element i.
func (l Objects) At(i int) Object { return Object{b: l.b, at: l.at + i*l.size, data: l.data} }

// PutRef sets the capability at a pointer to what a reference refers to. The
// reference stays the caller's, who may release it once the message is on its way.
func (o Object) PutRef(i int, r *Ref) { o.putCap(i, r) }

// PutServer sets the capability at a pointer to an object of this side, which must
// be of a comparable type. It is closed when the other side has given up each
// reference to it.
func (o Object) PutServer(i int, s Server) { o.putCap(i, s) }

func (o Object) putCap(i int, c any) {
	o.b.put(o.ptr(i), 3|uint64(len(o.b.caps))<<32)
	o.b.caps = append(o.b.caps, c)
	if o.caps != nil {
		o.caps.fields[uint16(i)] = c
	}
}
