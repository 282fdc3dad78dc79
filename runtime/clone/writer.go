package clone

import (
	"encoding/binary"
	"math"
	"math/big"
	"reflect"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// V8's small integers under pointer compression, as workerd is built: numbers
// outside are written as doubles.
const (
	smiMin = -1 << 30
	smiMax = 1<<30 - 1
)

// How deeply values may be nested. V8 recurses on its stack, which holds 3,370
// arrays or 2,426 objects in one another ("depth" in the golden files, and the
// innermost). The costs are in units that give both limits.
const (
	stackUnits  = 3370 * 2426
	arrayFrame  = 2426
	objectFrame = 3370
)

// Writer writes one value. Host codecs receive it to write the body of their
// object; it is valid only until their Write returns. Loop-confined.
type Writer struct {
	c     *Codec
	o     Options
	buf   []byte
	limit int // of buf's length
	look  int // the length from which on the limit and the room for more are looked at
	stack int // how much of stackUnits the nesting so far takes
	ids   idTable
	names []unistring.String // names being iterated, a stack

	transfers []transfer
}

type transfer struct {
	object *goja.Object
	buffer goja.ArrayBuffer
}

// Mode returns the purpose of the value being written.
func (w *Writer) Mode() Mode { return w.o.Mode }

// External returns Options.External.
func (w *Writer) External() any { return w.o.External }

// WriteUint32 writes a varint (v8::ValueSerializer::WriteUint32).
func (w *Writer) WriteUint32(n uint32) { w.buf = appendVarint(w.buf, uint64(n)) }

// WriteUint64 writes a varint.
func (w *Writer) WriteUint64(n uint64) { w.buf = appendVarint(w.buf, n) }

// WriteRaw writes bytes without a length.
func (w *Writer) WriteRaw(b []byte) { w.buf = append(w.buf, b...) }

// WriteLengthDelimited writes a length and then the bytes
// (jsg::Serializer::writeLengthDelimited).
func (w *Writer) WriteLengthDelimited(b string) {
	w.buf = append(appendVarint(w.buf, uint64(len(b))), b...)
}

// WriteValue writes any value, with the same references to objects as the rest.
// Errors as of [Codec.Serialize].
func (w *Writer) WriteValue(v goja.Value) error {
	switch t := reflect.TypeOf(v); {
	case t == nil:
		w.buf = append(w.buf, tagUndefined)
	case t == w.c.layout.intType:
		w.buf = appendInt(w.buf, v.ToInteger())
	case t == w.c.layout.floatType:
		w.buf = appendFloat(w.buf, v.ToFloat())
	case t == w.c.layout.boolType:
		w.buf = append(w.buf, boolTag(v.ToBoolean()))
	default:
		return w.writeOther(v)
	}
	return w.fits()
}

// roomStep is how many bytes are written between two looks at the room for more.
const roomStep = 1 << 20

// fits reports that what has been written is too large, or that there is no room for
// as much again: a buffer that grows is copied.
func (w *Writer) fits() error {
	n := len(w.buf)
	if n <= w.look {
		return nil
	}
	if n > w.limit {
		return ErrTooLarge
	}
	w.look = min(w.limit, n+roomStep)
	return w.c.room(n)
}

func (w *Writer) writeOther(v goja.Value) error {
	switch x := v.(type) {
	case *goja.Object:
		return w.writeReceiver(x)
	case goja.String:
		w.writeString(x)
	case *goja.Symbol:
		return w.c.refuse(v)
	default:
		switch n, isBig := v.Export().(*big.Int); {
		case isBig:
			w.buf = appendBigInt(append(w.buf, tagBigInt), n)
		case goja.IsNull(v):
			w.buf = append(w.buf, tagNull)
		default:
			w.buf = append(w.buf, tagUndefined)
		}
	}
	return w.fits()
}

// enter accounts for one level of nesting; leave undoes it.
func (w *Writer) enter(frame int) error {
	w.stack += frame
	if w.stack > stackUnits {
		return ErrTooDeep
	}
	return nil
}

func (w *Writer) leave(frame int) { w.stack -= frame }

func appendVarint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func appendInt(b []byte, n int64) []byte {
	if n < smiMin || n > smiMax {
		return appendDouble(append(b, tagDouble), float64(n))
	}
	return appendVarint(append(b, tagInt32), uint64(uint32(n)<<1^uint32(int32(n)>>31)))
}

// appendFloat writes a number that goja keeps as a float, as V8 would have it.
func appendFloat(b []byte, f float64) []byte {
	if n := int64(f); float64(n) == f && n >= smiMin && n <= smiMax && (n != 0 || !math.Signbit(f)) {
		return appendInt(b, n)
	}
	return appendDouble(append(b, tagDouble), f)
}

func appendDouble(b []byte, f float64) []byte {
	if f != f {
		return append(b, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f) // V8's one NaN
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

// appendBigInt writes the sign and the byte length in one number, then digits
// of 64 bits, least significant first.
func appendBigInt(b []byte, n *big.Int) []byte {
	digits := (n.BitLen() + 63) / 64
	field := uint64(digits*8) << 1
	if n.Sign() < 0 {
		field |= 1
	}
	b = appendVarint(b, field)
	raw := n.FillBytes(make([]byte, digits*8))
	for i := len(raw) - 1; i >= 0; i-- {
		b = append(b, raw[i])
	}
	return b
}

// writeString writes a string value in the narrower of V8's two forms.
func (w *Writer) writeString(s goja.String) {
	if reflect.TypeOf(s) == w.c.layout.asciiType {
		w.writeASCII(s.String())
		return
	}
	if units, ok := w.c.layout.units(s); ok {
		w.writeUnits(units)
		return
	}
	// A string that came from Go as UTF-8; any other form goja may have has
	// the same methods.
	if text := s.String(); len(text) == s.Length() && isASCII(text) {
		w.writeASCII(text)
		return
	}
	units := make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	w.writeUnits(units)
}

func (w *Writer) writeASCII(s string) {
	w.buf = append(appendVarint(append(w.buf, tagOneByteString), uint64(len(s))), s...)
}

func (w *Writer) writeUnits(units []uint16) {
	var all uint16
	for _, u := range units {
		all |= u
	}
	if all <= 0xFF {
		w.buf = appendVarint(append(w.buf, tagOneByteString), uint64(len(units)))
		for _, u := range units {
			w.buf = append(w.buf, byte(u))
		}
		return
	}
	size := uint64(len(units)) * 2
	// Readers expect the characters at an even offset.
	if (len(w.buf)+1+varintLen(size))&1 != 0 {
		w.buf = append(w.buf, tagPadding)
	}
	w.buf = appendVarint(append(w.buf, tagTwoByteString), size)
	for _, u := range units {
		w.buf = append(w.buf, byte(u), byte(u>>8))
	}
}

func varintLen(n uint64) int {
	length := 1
	for ; n >= 0x80; n >>= 7 {
		length++
	}
	return length
}

// registerTransfers checks the transfer list and remembers the buffers in it.
func (w *Writer) registerTransfers() error {
	for _, o := range w.o.Transfer {
		buffer, err := w.c.bufferOf(o)
		if err != nil {
			return err
		}
		if w.transferIndex(buffer) < 0 {
			w.transfers = append(w.transfers, transfer{object: buffer, buffer: buffer.Export().(goja.ArrayBuffer)})
		}
	}
	return nil
}

func (w *Writer) transferIndex(buffer *goja.Object) int {
	for i, t := range w.transfers {
		if t.object == buffer {
			return i
		}
	}
	return -1
}

func (w *Writer) detachTransfers() []Content {
	if len(w.transfers) == 0 {
		return nil
	}
	contents := make([]Content, len(w.transfers))
	for i, t := range w.transfers {
		contents[i] = Content{t.buffer.Bytes(), w.c.limitOf(t.object)}
		t.buffer.Detach()
	}
	return contents
}

// bufferOf returns the ArrayBuffer that an item of a transfer list stands for.
func (c *Codec) bufferOf(o *goja.Object) (*goja.Object, error) {
	call := goja.FunctionCall{This: o}
	switch c.layout.kindOf(o) {
	case kindBuffer:
		return o, nil
	case kindTypedArray:
		return c.prim.viewBuffer(call).(*goja.Object), nil
	case kindDataView:
		return c.prim.dataBuffer(call).(*goja.Object), nil
	}
	return nil, ErrNotTransferable
}

// idTable numbers the objects written so far, in order of appearance: a list
// while there are few, a map beyond.
type idTable struct {
	few  []*goja.Object
	many map[*goja.Object]uint32
	next uint32
}

const fewObjects = 12

// find returns an object's number, or gives it the next one.
func (t *idTable) find(o *goja.Object) (id uint32, found bool) {
	if id, found = t.lookup(o); found {
		return id, true
	}
	id = t.next
	t.next++
	if t.many != nil {
		t.many[o] = id
		return id, false
	}
	t.few = append(t.few, o)
	if len(t.few) > fewObjects {
		t.many = make(map[*goja.Object]uint32, 4*fewObjects)
		for i, known := range t.few {
			t.many[known] = uint32(i)
		}
	}
	return id, false
}

func (t *idTable) lookup(o *goja.Object) (id uint32, found bool) {
	if t.many != nil {
		id, found = t.many[o]
		return id, found
	}
	for i, known := range t.few {
		if known == o {
			return uint32(i), true
		}
	}
	return 0, false
}

func (t *idTable) reset() {
	clear(t.few)
	t.few, t.many, t.next = t.few[:0], nil, 0
}
