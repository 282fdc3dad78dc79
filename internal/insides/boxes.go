package insides

import (
	"math"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/scalars"
)

// Boxes makes the numbers and strings of one text. goja has each in a piece of its own;
// here neighbours share one, so a value that a program keeps has a few hundred bytes
// with it at the most. Its zero value is not ready: see Maker.Boxes. Loop-confined.
type Boxes struct {
	maker    *Maker
	integers scalars.Room[int64]
	floats   scalars.Room[float64]
	texts    scalars.Room[string]
	shorts   scalars.Room[shortText]
}

// Boxes are for one text.
func (e *Maker) Boxes() Boxes { return Boxes{maker: e} }

// manyNumbers, manyTexts and manyShorts take 256 bytes each.
const manyNumbers, manyTexts, manyShorts = 32, 16, 8

// Number is a Number. goja keeps what is an integer as one.
func (b *Boxes) Number(f float64) goja.Value {
	if !b.maker.Plain.Known || f == math.Trunc(f) || math.IsNaN(f) {
		return b.maker.vm.ToValue(f)
	}
	box := b.floats.One(manyNumbers)
	*box = f
	return boxed(b.maker.Plain.float, unsafe.Pointer(box))
}

// Integer is a Number that is an integer of at most 15 digits.
func (b *Boxes) Integer(n int64) goja.Value {
	if !b.maker.Plain.Known || n < 256 { // the small ones exist already
		return b.maker.vm.ToValue(n)
	}
	box := b.integers.One(manyNumbers)
	*box = n
	return boxed(b.maker.Plain.integer, unsafe.Pointer(box))
}

// ASCII is a string of text that is known to be ASCII.
func (b *Boxes) ASCII(s string) goja.String {
	if !b.maker.Plain.Known {
		return b.maker.AsciiString(s)
	}
	box := b.texts.One(manyTexts)
	*box = s
	return stringOver(b.maker.Plain.asciiString, unsafe.Pointer(box))
}

// ShortText is how long a text has room with its string.
const ShortText = 16

type shortText struct {
	text  string
	bytes [ShortText]byte
}

// Short is a string of at most ShortText units that are all ASCII.
func (b *Boxes) Short(units []uint16) goja.String {
	box := b.shorts.One(manyShorts)
	for i, c := range units {
		box.bytes[i] = byte(c)
	}
	box.text = unsafe.String(&box.bytes[0], len(units))
	if !b.maker.Plain.Known {
		return b.maker.AsciiString(box.text)
	}
	return stringOver(b.maker.Plain.asciiString, unsafe.Pointer(&box.text))
}
