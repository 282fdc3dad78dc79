package capnp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// What a message may cost its reader.
const (
	maxSegments = 512     // as the reference's limit
	maxDepth    = 64      // of structs and lists in each other, as the reference's limit
	maxWords    = 9 << 20 // of a message on its way: 72 MiB, for RPC messages of at most 32 MiB
)

// Message is one that was read. Reading never fails halfway: what is damaged reads as
// absent, and Err says so afterwards. One goroutine may use it at a time.
type Message struct {
	segments [][]byte
	budget   int64 // words that pointers may still lead to
	err      error
}

var errDamaged = errors.New("the message is damaged")

// Err is what was found damaged so far, nil if nothing was.
func (m *Message) Err() error { return m.err }

func (m *Message) fail(what string) {
	if m.err == nil {
		m.err = fmt.Errorf("%w: %s", errDamaged, what)
	}
}

// readMessage reads one message of a stream: the number of segments, their lengths,
// the segments. It returns io.EOF at the end of the stream between two messages.
func readMessage(r io.Reader) (*Message, error) {
	var word [8]byte
	if _, err := io.ReadFull(r, word[:4]); err != nil {
		return nil, err
	}
	n := uint64(binary.LittleEndian.Uint32(word[:])) + 1
	if n > maxSegments {
		return nil, fmt.Errorf("%w: %d segments", errDamaged, n)
	}
	table := make([]byte, 4*(n|1)) // padded: with the number it fills whole words
	if _, err := io.ReadFull(r, table); err != nil {
		return nil, cutOff(err)
	}
	total := uint64(0)
	for i := range n {
		total += uint64(binary.LittleEndian.Uint32(table[4*i:]))
	}
	if total > maxWords {
		return nil, fmt.Errorf("%w: it has %d bytes, the limit is %d", errDamaged, total*8, maxWords*8)
	}
	content := make([]byte, total*8)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, cutOff(err)
	}
	m := &Message{budget: 8 * maxWords}
	for i := range n {
		size := 8 * uint64(binary.LittleEndian.Uint32(table[4*i:]))
		m.segments = append(m.segments, content[:size:size])
		content = content[size:]
	}
	return m, nil
}

// cutOff is the error of a stream that ends within a message.
func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Root is the message's content.
func (m *Message) Root() Struct {
	if len(m.segments[0]) < 8 {
		m.fail("it is empty")
		return Struct{}
	}
	return m.structAt(m.follow(0, 0), 0)
}

type kind int

const (
	kindNull kind = iota
	kindStruct
	kindList
	kindCap
)

// pointer is one that was followed: where its target is, and how large.
type pointer struct {
	kind        kind
	seg, at     int // of the target
	data, ptrs  int // words of a struct
	size, count int // of a list: the encoding of its elements' size, and their number
	cap         uint32
}

func (m *Message) word(seg, at int) uint64 {
	return binary.LittleEndian.Uint64(m.segments[seg][at:])
}

// holds reports whether a segment has so many words at an offset.
func (m *Message) holds(seg, at, words int) bool {
	return seg >= 0 && seg < len(m.segments) && at >= 0 && words >= 0 && at <= len(m.segments[seg]) && words <= (len(m.segments[seg])-at)/8
}

// follow reads the pointer at an offset, through a landing pad in another segment if
// there is one.
func (m *Message) follow(seg, at int) pointer {
	word := m.word(seg, at)
	if word == 0 {
		return pointer{}
	}
	if word&3 != 2 {
		return m.near(word, seg, at+8+8*offset(word))
	}
	pad, padAt, two := int(word>>32), int(word&0xfffffff8), word&4 != 0
	if !m.holds(pad, padAt, 1) || two && !m.holds(pad, padAt, 2) {
		m.fail("a far pointer leads out of it")
		return pointer{}
	}
	first := m.word(pad, padAt)
	switch {
	case !two && first&3 == 2, two && first&7 != 2:
		m.fail("a landing pad is none")
		return pointer{}
	case !two:
		return m.near(first, pad, padAt+8+8*offset(first))
	}
	return m.near(m.word(pad, padAt+8), int(first>>32), int(first&0xfffffff8))
}

// offset is the distance in words that the pointer of a struct or list says.
func offset(word uint64) int { return int(int32(uint32(word)) >> 2) }

// near is the pointer word to a target at a place.
func (m *Message) near(word uint64, seg, at int) pointer {
	p := pointer{seg: seg, at: at}
	words := 0
	switch word & 3 {
	case 0:
		p.kind, p.data, p.ptrs = kindStruct, int(word>>32&0xffff), int(word>>48)
		words = p.data + p.ptrs
	case 1:
		p.kind, p.size, p.count = kindList, int(word>>32&7), int(word>>35)
		words = (p.count*bitsOf[p.size] + 63) / 64
		if p.size == sizeStructs {
			words = p.count + 1
		}
	case 3:
		if uint32(word) != 3 {
			m.fail("a pointer of an unknown kind")
			return pointer{}
		}
		return pointer{kind: kindCap, cap: uint32(word >> 32)}
	default:
		m.fail("a landing pad leads to another")
		return pointer{}
	}
	if !m.holds(seg, at, words) {
		m.fail("a pointer leads out of it")
		return pointer{}
	}
	if m.budget -= int64(words) + 1; m.budget < 0 {
		m.fail("pointers lead to the same places again and again")
		return pointer{}
	}
	return p
}

// The encodings of the size of a list's elements.
const (
	sizeBytes    = 2
	sizePointers = 6
	sizeStructs  = 7
)

// bitsOf is the size of a list's element by its encoding; structs have a tag that says it.
var bitsOf = [8]int{0, 1, 8, 16, 32, 64, 64, 0}

// Struct is one within a message. The zero Struct has the default value in each field.
type Struct struct {
	m          *Message
	seg        int
	at, data   int // bytes of the data section
	ptrs, nptr int
	depth      int
}

func (m *Message) structAt(p pointer, depth int) Struct {
	switch {
	case p.kind == kindNull:
		return Struct{m: m, depth: depth}
	case p.kind != kindStruct:
		m.fail("it has something else for a struct")
		return Struct{m: m, depth: depth}
	case depth > maxDepth:
		m.fail("it is nested too deeply")
		return Struct{m: m, depth: depth}
	}
	return Struct{m, p.seg, p.at, 8 * p.data, p.at + 8*p.data, p.ptrs, depth}
}

// Uint8, Uint16, Uint32 and Uint64 read a number at an offset of the data section, in
// bytes. What a shorter struct lacks is 0.
func (s Struct) Uint8(at int) uint8 {
	if at+1 > s.data {
		return 0
	}
	return s.m.segments[s.seg][s.at+at]
}

// Uint16 is like Uint8.
func (s Struct) Uint16(at int) uint16 { return uint16(s.Uint8(at)) | uint16(s.Uint8(at+1))<<8 }

// Uint32 is like Uint8.
func (s Struct) Uint32(at int) uint32 { return uint32(s.Uint16(at)) | uint32(s.Uint16(at+2))<<16 }

// Uint64 is like Uint8.
func (s Struct) Uint64(at int) uint64 { return uint64(s.Uint32(at)) | uint64(s.Uint32(at+4))<<32 }

// Bool reads a bit of the data section.
func (s Struct) Bool(bit int) bool { return s.Uint8(bit/8)>>(bit%8)&1 != 0 }

func (s Struct) pointer(i int) pointer {
	if i >= s.nptr {
		return pointer{}
	}
	return s.m.follow(s.seg, s.ptrs+8*i)
}

// Has reports whether a pointer is not null.
func (s Struct) Has(i int) bool { return s.pointer(i).kind != kindNull }

// isCap reports whether a pointer is a capability.
func (s Struct) isCap(i int) bool { return s.pointer(i).kind == kindCap }

// Struct is the struct at a pointer, the zero one if there is none.
func (s Struct) Struct(i int) Struct {
	if i >= s.nptr {
		return Struct{m: s.m, depth: s.depth + 1}
	}
	return s.m.structAt(s.pointer(i), s.depth+1)
}

// Data is the bytes at a pointer; they are the message's.
func (s Struct) Data(i int) []byte {
	if i >= s.nptr {
		return nil
	}
	return s.m.bytes(s.pointer(i))
}

func (m *Message) bytes(p pointer) []byte {
	switch {
	case p.kind == kindNull:
		return nil
	case p.kind != kindList || p.size != sizeBytes:
		m.fail("it has something else for bytes")
		return nil
	}
	return m.segments[p.seg][p.at : p.at+p.count : p.at+p.count]
}

// Text is the text at a pointer.
func (s Struct) Text(i int) string {
	if i >= s.nptr {
		return ""
	}
	return s.m.text(s.pointer(i))
}

func (m *Message) text(p pointer) string {
	b := m.bytes(p)
	switch {
	case len(b) > 0 && b[len(b)-1] == 0:
		return string(b[:len(b)-1])
	case b != nil:
		m.fail("a text has no end")
	}
	return ""
}

// Cap is the index of the capability at a pointer, if there is one.
func (s Struct) Cap(i int) (index uint32, ok bool) {
	switch p := s.pointer(i); p.kind {
	case kindNull:
	case kindCap:
		return p.cap, true
	default:
		s.m.fail("it has something else for a capability")
	}
	return 0, false
}

// List is a list within a message: of structs, or of pointers.
type List struct {
	m          *Message
	seg, at    int
	data, nptr int // bytes and pointers of each struct
	count      int
	depth      int
}

// List is the list at a pointer, the empty one if there is none.
func (s Struct) List(i int) List {
	if i >= s.nptr {
		return List{}
	}
	p, m := s.pointer(i), s.m
	l := List{m: m, seg: p.seg, at: p.at, count: p.count, depth: s.depth + 1}
	switch {
	case p.kind == kindNull:
		return List{}
	case p.kind == kindList && l.depth > maxDepth:
		m.fail("it is nested too deeply")
	case p.kind == kindList && p.size == sizePointers:
		l.nptr = 1
		return l
	case p.kind == kindList && p.size == sizeStructs:
		tag := m.word(p.seg, p.at)
		l.at += 8
		l.data, l.nptr, l.count = 8*int(tag>>32&0xffff), int(tag>>48), int(uint32(tag)>>2)
		words := uint64(l.data/8+l.nptr) * uint64(l.count)
		switch {
		case tag&3 != 0 || words > uint64(p.count):
			m.fail("a list is longer than it says")
		case int64(l.count) > m.budget:
			m.fail("pointers lead to the same places again and again")
		default:
			m.budget -= int64(l.count)
			return l
		}
	default:
		m.fail("it has something else for a list")
	}
	return List{}
}

// Len is the number of elements.
func (l List) Len() int { return l.count }

// Struct is element i of a list of structs.
func (l List) Struct(i int) Struct {
	at := l.at + i*(l.data+8*l.nptr)
	return Struct{l.m, l.seg, at, l.data, at + l.data, l.nptr, l.depth + 1}
}

// Text is element i of a list of texts.
func (l List) Text(i int) string { return l.Struct(i).Text(0) }
