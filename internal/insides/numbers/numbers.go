// Package numbers is how the loop of package insides has numbers and booleans outside of
// memory: a kind and 64 bits.
package numbers

import (
	"math"
	"math/big"
)

// Kind is what is in the bits of a number.
type Kind = uint8

// The kinds.
const (
	None    Kind = iota
	Integer      // an int64, within what a float64 has exactly
	Float
	Boolean Kind = 4
)

// MaxExact is up to where goja has integers.
const MaxExact = 1 << 53

// FloatOf is a number as a float64.
func FloatOf(k Kind, bits uint64) float64 {
	if k == Integer {
		return float64(int64(bits))
	}
	return math.Float64frombits(bits)
}

// Canonical is a float as goja has it: an integer if it is one.
func Canonical(f float64) (Kind, uint64) {
	if i := int64(f); float64(i) == f && i >= -MaxExact && i <= MaxExact && (i != 0 || !math.Signbit(f)) {
		return Integer, uint64(i)
	}
	return Float, math.Float64bits(f)
}

// CanonicalInteger is an integer as goja has it: a float if it is long.
func CanonicalInteger(i int64) (Kind, uint64) {
	if i >= -MaxExact && i <= MaxExact {
		return Integer, uint64(i)
	}
	return Float, math.Float64bits(float64(i))
}

// Int32Of is ToInt32 (ECMA-262, 7.1.6).
func Int32Of(k Kind, bits uint64) int32 {
	if k == Integer {
		return int32(bits)
	}
	f := math.Float64frombits(bits)
	if f > -MaxExact && f < MaxExact {
		return int32(int64(f))
	}
	if f != f || math.IsInf(f, 0) {
		return 0
	}
	return int32(int64(math.Mod(f, 1<<32)))
}

// Truth is a boolean.
func Truth(b bool) (Kind, uint64) {
	if b {
		return Boolean, 1
	}
	return Boolean, 0
}

// PlainNaN is a float whose NaN has the bits that goja's has.
func PlainNaN(f float64) float64 {
	if f != f {
		return math.NaN()
	}
	return f
}

// NewBig is 0, with room for so many words in the same piece of memory if they are few.
func NewBig(n int) *big.Int {
	switch {
	case n <= 2:
		z := &struct {
			big.Int
			room [2]big.Word
		}{}
		z.SetBits(z.room[:0])
		return &z.Int
	case n <= 5:
		z := &struct {
			big.Int
			room [5]big.Word
		}{}
		z.SetBits(z.room[:0])
		return &z.Int
	case n <= 9:
		z := &struct {
			big.Int
			room [9]big.Word
		}{}
		z.SetBits(z.room[:0])
		return &z.Int
	}
	return new(big.Int)
}

// BigIntBits bounds a BigInt; V8's bound is 2^30.
const BigIntBits = 1 << 24

// Shift is a << b, or a >> b; nil if it would be longer than BigIntBits.
func Shift(a, b *big.Int, left bool) *big.Int {
	far := !b.IsInt64() || b.Int64() > BigIntBits || b.Int64() < -BigIntBits
	switch leftwards := left == (b.Sign() >= 0); {
	case a.Sign() == 0:
		return new(big.Int)
	case far && leftwards:
		return nil
	case far && a.Sign() < 0:
		return big.NewInt(-1)
	case far:
		return new(big.Int)
	case leftwards:
		n := b.Int64()
		by := uint(max(n, -n))
		return NewBig(len(a.Bits())+int(by/64)+2).Lsh(a, by)
	default:
		n := b.Int64()
		return NewBig(len(a.Bits())+1).Rsh(a, uint(max(n, -n)))
	}
}
