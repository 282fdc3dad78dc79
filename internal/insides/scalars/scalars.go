// Package scalars looks at goja's primitive values where they lie, and has places for new ones.
package scalars

import "unsafe"

// Kind says what a Scalar is.
type Kind uint8

// The kinds of values that a look shows.
const (
	None Kind = iota // anything else, and what is not known
	ASCII
	Wide
	Integer
	Float
	Boolean
	Null
)

// Scalar is a primitive value where it lies. Each method is for its own kind.
type Scalar struct {
	data unsafe.Pointer
	Kind Kind
}

// At is what a value of that kind points to.
func At(data unsafe.Pointer, kind Kind) Scalar { return Scalar{data, kind} }

// ASCII is the text of a scalar of the kind ASCII.
func (s Scalar) ASCII() string { return *(*string)(s.data) }

// Units are the code units of a Wide one; they must not be changed.
func (s Scalar) Units() []uint16 { return (*(*[]uint16)(s.data))[1:] } // after goja's mark

// Integer is the number of an Integer.
func (s Scalar) Integer() int64 { return *(*int64)(s.data) }

// Float is the number of a Float.
func (s Scalar) Float() float64 { return *(*float64)(s.data) }

// Boolean is that of a Boolean.
func (s Scalar) Boolean() bool { return *(*bool)(s.data) }

// Room has pieces of more and more values, so that a short text takes little. Loop-confined.
type Room[T any] struct {
	left []T
	next int
}

// One is a place for a value, of pieces of up to this many.
func (r *Room[T]) One(most int) *T {
	if len(r.left) == 0 {
		r.next = min(max(1, 2*r.next), most)
		r.left = make([]T, r.next)
	}
	place := &r.left[0]
	r.left = r.left[1:]
	return place
}
