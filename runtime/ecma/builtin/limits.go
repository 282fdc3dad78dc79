package builtin

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// MaxElements bounds the length of an array that a built-in walks or makes: built-ins
// whose result can be far larger than their arguments check its size first, as
// engine.MaxValueBytes says.
const MaxElements = 1 << 24

// V8's texts.
const (
	BadStringLength = "Invalid string length"
	BadArrayLength  = "Invalid array length"
	BadBufferLength = "Array buffer allocation failed"
)

// StringLength is that of a primitive string, 0 of anything else.
func StringLength(v goja.Value) int64 {
	if s, ok := v.(goja.String); ok {
		return int64(s.Length())
	}
	return 0
}

// Product is n*each in bytes, saturated; NaN and negative n give 0.
func Product(n float64, each int64) int64 {
	x := n * float64(each)
	if !(x > 0) {
		return 0
	}
	return int64(min(x, math.MaxInt64/2))
}

// LengthOf is the length of an array or something like one.
func LengthOf(e *engine.Engine, v goja.Value) int64 {
	obj, ok := v.(*goja.Object)
	if !ok {
		return 0
	}
	n := obj.Get("length")
	if n == nil {
		return 0
	}
	if _, isObject := n.(*goja.Object); isObject {
		e.Throw("RangeError", BadArrayLength) // its conversion is user code, which must run once
	}
	return n.ToInteger()
}

// MaxNesting bounds how deep arrays may be nested where a native recurses.
const MaxNesting = 5000
