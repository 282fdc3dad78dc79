package elementary

import (
	"math"
	"math/big"
	"testing"
)

// draw gives doubles of all sizes between 2^-30 and 2^10, from a fixed beginning.
func draw(n int, use func(x float64)) {
	state := uint64(1)
	for range n {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		x := 1 + float64(state>>12)/(1<<52)
		if state&1 == 1 {
			x = -x
		}
		use(math.Ldexp(x, int(state>>1%40)-30))
	}
}

// ECMA-262, section 21.3.2: the approximations. What two doubles tell is what
// hundreds of bits tell: the double nearest to the true value.
func TestBothWaysAgree(t *testing.T) {
	c := known()
	log := func(x *big.Float) *big.Float { return bigLog(x, c.ln2) }
	for _, f := range []struct {
		name       string
		fast       func(float64) float64
		slow       func(x *big.Float) *big.Float
		low, until float64
	}{
		{"exp", Exp, func(x *big.Float) *big.Float { return bigExp(x, c.ln2) }, -700, 700},
		{"log", Log, log, 0, math.Inf(1)},
		{"log2", Log2, func(x *big.Float) *big.Float { return new(big.Float).Quo(log(x), c.ln2) }, 0, math.Inf(1)},
		{"log10", Log10, func(x *big.Float) *big.Float { return new(big.Float).Quo(log(x), log(number(10))) }, 0, math.Inf(1)},
		{"log1p", Log1p, func(x *big.Float) *big.Float { return log(new(big.Float).SetPrec(600).Add(x, small(1))) }, -1, math.Inf(1)},
		{"sin", Sin, func(x *big.Float) *big.Float { sin, _ := bigSine(x); return sin }, -4, 4},
		{"cos", Cos, func(x *big.Float) *big.Float { _, cos := bigSine(x); return cos }, -4, 4},
		{"tan", Tan, func(x *big.Float) *big.Float { sin, cos := bigSine(x); return sin.Quo(sin, cos) }, -4, 4},
		{"atan", Atan, bigArctangent, -1e300, 1e300},
	} {
		draw(400, func(x float64) {
			if x <= f.low || x >= f.until || f.name == "atan" && math.Abs(x) < 0x1p-26 {
				return
			}
			if got, want := f.fast(x), settle(f.slow(number(x))); got != want {
				t.Errorf("%s(%v) = %v, want %v", f.name, x, got, want)
			}
		})
	}
}

// What is exact is exact, and what lies exactly between two doubles goes to the
// even one (section 6.1.6.1.3).
func TestExactResults(t *testing.T) {
	for n := -1074; n < 1024; n++ {
		x := math.Ldexp(1, n)
		if Log2(x) != float64(n) || Pow(2, float64(n)) != x {
			t.Errorf("2^%d: log2 %v, pow %v", n, Log2(x), Pow(2, float64(n)))
		}
	}
	for n := range 200 {
		x := float64(n)
		if Cbrt(x*x*x) != x {
			t.Errorf("cbrt(%v^3) = %v", x, Cbrt(x*x*x))
		}
	}
	power := 1.0
	for n := range 23 {
		if Log10(power) != float64(n) || Pow(10, float64(n)) != power {
			t.Errorf("10^%d: log10 %v, pow %v", n, Log10(power), Pow(10, float64(n)))
		}
		power *= 10
	}
	x := float64(1<<18 + 1) // x^3 has 55 bits
	want, _ := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(1<<18+1), big.NewInt(3), nil)).Float64()
	if got := Pow(x, 3); got != want {
		t.Errorf("%v^3 = %v, want %v", x, got, want)
	}
}

func BenchmarkSin(b *testing.B) { bench(b, Sin) }
func BenchmarkExp(b *testing.B) { bench(b, Exp) }
func BenchmarkLog(b *testing.B) { bench(b, Log) }

func BenchmarkPow(b *testing.B) { bench(b, func(x float64) float64 { return Pow(math.Abs(x), 1.5) }) }

var sink float64

func bench(b *testing.B, f func(float64) float64) {
	for i := range b.N {
		sink += f(float64(i%1000) / 100)
	}
}

// Arguments beyond 2^20 lose their right angles in integers; the largest double and
// the one closest to a multiple of a right angle (6381956970095103 * 2^797) too.
func TestFarAngles(t *testing.T) {
	list := []float64{1 << 20, math.MaxFloat64, math.Ldexp(6381956970095103, 797), 1e15, 1e22}
	state := uint64(1)
	for k := 20; k < 1024; k++ {
		state = state*6364136223846793005 + 1442695040888963407
		list = append(list, math.Ldexp(1+float64(state>>12)/(1<<52), k))
	}
	for _, x := range list {
		for _, x := range []float64{x, -x} {
			sin, cos := bigTurn(x)
			wantSin, wantCos, wantTan := settle(sin), settle(cos), settle(new(big.Float).Quo(sin, cos))
			if Sin(x) != wantSin || Cos(x) != wantCos || Tan(x) != wantTan {
				t.Errorf("%v: sin %v, want %v; cos %v, want %v; tan %v, want %v", x, Sin(x), wantSin, Cos(x), wantCos, Tan(x), wantTan)
			}
			if r, _ := reduceFar(x); math.Abs(r.hi) > 0.7854 || r.hi == 0 && math.Abs(x) != math.Ldexp(6381956970095103, 797) {
				t.Errorf("%v: %v is left", x, r)
			}
		}
	}
}

func BenchmarkSinFar(b *testing.B) { bench(b, func(x float64) float64 { return Sin((x + 1) * 1e17) }) }
