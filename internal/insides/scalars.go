package insides

import (
	"unsafe"

	"github.com/dop251/goja"
)

// ScalarKind says what a Scalar is.
type ScalarKind uint8

// The kinds of values that a look shows.
const (
	NoScalar ScalarKind = iota // anything else, and what is not known
	ASCIIScalar
	WideScalar
	IntegerScalar
	FloatScalar
	BooleanScalar
	NullScalar
)

// Scalar is a primitive value where it lies. Each method is for its own kind.
type Scalar struct {
	data unsafe.Pointer
	Kind ScalarKind
}

// Scalar looks at a value.
func (l *Plain) Scalar(v goja.Value) Scalar {
	w := wordsOf(&v)
	if w.tab == nil || !l.Known {
		return Scalar{}
	}
	switch w.tab {
	case l.ascii:
		return Scalar{w.data, ASCIIScalar}
	case l.wide:
		return Scalar{w.data, WideScalar}
	case l.integer:
		return Scalar{w.data, IntegerScalar}
	case l.float:
		return Scalar{w.data, FloatScalar}
	case l.boolean:
		return Scalar{w.data, BooleanScalar}
	case l.null:
		return Scalar{w.data, NullScalar}
	}
	return Scalar{}
}

// ASCII is the text of an ASCIIScalar.
func (s Scalar) ASCII() string { return *(*string)(s.data) }

// Units are the code units of a WideScalar; they must not be changed.
func (s Scalar) Units() []uint16 { return (*(*[]uint16)(s.data))[1:] } // after goja's mark

// Integer is the number of an IntegerScalar.
func (s Scalar) Integer() int64 { return *(*int64)(s.data) }

// Float is the number of a FloatScalar.
func (s Scalar) Float() float64 { return *(*float64)(s.data) }

// Boolean is that of a BooleanScalar.
func (s Scalar) Boolean() bool { return *(*bool)(s.data) }
