package elementary

import (
	"math"
	"math/big"
	"reflect"
	"testing"
)

// The constants are the doubles nearest to what series of hundreds of bits say.
func TestConstants(t *testing.T) {
	want, got := reflect.ValueOf(computed()), reflect.ValueOf(table)
	for i := range want.NumField() {
		if !want.Field(i).Equal(got.Field(i)) {
			t.Errorf("%s: %x, want %x", want.Type().Field(i).Name, got.Field(i), want.Field(i))
		}
	}
}

func computed() constants {
	pi, ln2 := known().pi, known().ln2
	quo := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(farthest).Quo(a, b) }
	c := constants{pi: parts(pi), right: parts(quo(pi, number(2))), ln2: parts(ln2)}
	c.perLn2, c.perRight = steps/c.ln2.hi, 2/c.pi.hi
	c.log2e = parts(quo(number(1), ln2))
	c.log10e = parts(quo(number(1), bigLog(number(10), ln2)))
	c.ln2Step = thirds(quo(ln2, number(steps)))
	c.quarter = thirds(quo(pi, number(2)))
	// The table ends with zeros after farthest bits.
	words, _ := new(big.Float).SetMantExp(quo(number(2), pi), farthest).Int(nil)
	words.Lsh(words, uint(64*(len(c.twoByPi)-1)-farthest))
	for i := range c.twoByPi {
		word := new(big.Int).Rsh(words, uint(64*(len(c.twoByPi)-1-i)))
		c.twoByPi[i] = word.And(word, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	}
	for i := range steps {
		x := number(float64(i) / steps)
		c.exps[i] = parts(bigExp(new(big.Float).SetPrec(precision).Mul(x, ln2), ln2))
		sin, cos := bigSine(x)
		c.sines[i], c.cosines[i] = parts(sin), parts(cos)
	}
	for i := range c.tangents {
		c.tangents[i] = parts(bigArctangent(number(float64(i) / steps)))
	}
	for i := range c.inverses {
		m := 1 + (float64(i)+0.5)/(2*steps)
		c.inverses[i] = math.Round(256/m) / 256
		if i == 0 {
			c.inverses[i] = 1 // so that what is near 1 is not changed at all
		}
		c.logs[i] = parts(bigLog(number(c.inverses[i]), ln2)).neg()
	}
	power := number(1)
	for i := range c.powers {
		c.powers[i], _ = power.Float64()
		power.Mul(power, number(10))
	}
	return c
}

// thirds is x as three doubles, of which the first two have 32 bits, so that their
// products with counts have no error.
func thirds(x *big.Float) (out [3]float64) {
	rest := new(big.Float).SetPrec(farthest).Set(x)
	for i := range out {
		bits := uint(32)
		if i == 2 {
			bits = 53
		}
		out[i], _ = new(big.Float).SetPrec(bits).Set(rest).Float64()
		rest.Sub(rest, new(big.Float).SetFloat64(out[i]))
	}
	return out
}

// parts is a big.Float as two doubles.
func parts(x *big.Float) pair {
	hi, _ := x.Float64()
	lo, _ := new(big.Float).SetPrec(x.Prec()).Sub(x, new(big.Float).SetFloat64(hi)).Float64()
	return pair{hi, lo}
}
