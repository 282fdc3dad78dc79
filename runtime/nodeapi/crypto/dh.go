package crypto

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"math/big"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// agreementNatives are what DiffieHellman, ECDH and diffieHellman() are built of.
func (m *module) agreementNatives() []engine.Func {
	return []engine.Func{
		{Name: "modPow", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			return m.NewBuffer(new(big.Int).Exp(m.number(c.Argument(0)), m.number(c.Argument(1)), m.number(c.Argument(2))).Bytes())
		}},
		{Name: "dhPrivate", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			n := m.number(c.Argument(0))
			b := make([]byte, (n.BitLen()+7)/8+8)
			m.Random(b)
			x := new(big.Int).SetBytes(b)
			return m.NewBuffer(x.Mod(x, n).Bytes())
		}},
		{Name: "dhFits", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			// A public key is between 2 and the prime less 2: -1 is below, 1 above.
			key, top := m.number(c.Argument(0)), m.number(c.Argument(1))
			switch {
			case key.Cmp(big.NewInt(1)) <= 0:
				return m.VM.ToValue(-1)
			case key.Cmp(top.Sub(top, big.NewInt(1))) >= 0:
				return m.VM.ToValue(1)
			}
			return m.VM.ToValue(0)
		}},
		{Name: "dhCheck", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(m.dhCheck(m.number(c.Argument(0)), m.number(c.Argument(1))))
		}},
		{Name: "dhPrime", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.NewBuffer(m.dhPrime(int(c.Argument(0).ToInteger()), c.Argument(1).ToInteger()).Bytes())
		}},
		{Name: "dhGroup", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			if g, ok := dhGroups[c.Argument(0).String()]; ok {
				return m.NewBuffer(oakley(g[0], int64(g[1])).Bytes())
			}
			return goja.Undefined()
		}},
		{Name: "agree", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			private, err := ecdhPrivate(m.asymmetric(c.Argument(0)).private)
			var shared []byte
			if err == nil {
				var public *ecdh.PublicKey
				if public, err = ecdhPublic(m.asymmetric(c.Argument(1)).public); err == nil {
					shared, err = private.ECDH(public)
				}
			}
			if err != nil {
				m.Throw("Error", "", "Failed to compute the secret: %v", err)
			}
			return m.NewBuffer(shared)
		}},
		{Name: "ecPrivate", Length: 3, Fn: m.ecPrivate},
		{Name: "ecPublic", Length: 3, Fn: m.ecPublic},
		{Name: "ecPoint", Length: 2, Fn: m.ecPoint},
	}
}

// What DH_check of BoringSSL finds wrong (include/openssl/dh.h).
const (
	dhNotPrime     = 1 << iota // the modulus is no prime
	dhNotSafePrime             // half of it is none
	dhUnchecked                // the generator is neither 2 nor 5
	dhUnsuitable               // the generator does not fit the prime
)

// dhCheck are the flags of DH_check.
func (m *module) dhCheck(p, g *big.Int) (flags int) {
	rest := func(d int64) int64 { return new(big.Int).Mod(p, big.NewInt(d)).Int64() }
	switch {
	case g.Cmp(big.NewInt(2)) == 0:
		if rest(24) != 11 {
			flags |= dhUnsuitable
		}
	case g.Cmp(big.NewInt(5)) == 0:
		if l := rest(10); l != 3 && l != 7 {
			flags |= dhUnsuitable
		}
	default:
		flags |= dhUnchecked
	}
	if !m.isPrime(p) {
		return flags | dhNotPrime
	}
	if !m.isPrime(new(big.Int).Rsh(p, 1)) {
		flags |= dhNotSafePrime
	}
	return flags
}

// dhPrime is a safe prime that a generator suits. Long ones are no safe primes: the
// search for one would take minutes.
func (m *module) dhPrime(bits int, g int64) *big.Int {
	safe := bits <= 512
	step, rest := int64(2), int64(1)
	switch {
	case !safe || bits < 16:
	case g == 2:
		step, rest = 24, 11
	case g == 5:
		step, rest = 10, 3
	}
	return m.drawPrime(bits, safe, big.NewInt(step), big.NewInt(rest))
}

func (m *module) number(v goja.Value) *big.Int {
	return new(big.Int).SetBytes(m.AnyBytes(v, "buffer"))
}

func ecdhPrivate(k any) (*ecdh.PrivateKey, error) {
	switch k := k.(type) {
	case *ecdsa.PrivateKey:
		return k.ECDH()
	case *ecdh.PrivateKey:
		return k, nil
	}
	return nil, errContext
}

func ecdhPublic(k any) (*ecdh.PublicKey, error) {
	switch k := k.(type) {
	case *ecdsa.PublicKey:
		return k.ECDH()
	case *ecdh.PublicKey:
		return k, nil
	}
	return nil, errContext
}

// ecPrivate is (object, curve, scalar): without a scalar the key is new; with
// an object of null, the key's scalar is returned.
func (m *module) ecPrivate(c goja.FunctionCall) goja.Value {
	object := c.Argument(0).(*goja.Object)
	if node.Absent(c.Argument(1)) {
		k, ok := m.asymmetric(object).private.(*ecdsa.PrivateKey)
		if !ok {
			m.Throw("Error", "ERR_CRYPTO_ECDH_INVALID_PRIVATE_KEY", "Failed to get ECDH private key")
		}
		b, err := k.Bytes()
		if err != nil {
			m.Throw("Error", "", "Failed to get ECDH private key: %v", err)
		}
		return m.NewBuffer(b)
	}
	curve := curveOf(c.Argument(1).String())
	var k *ecdsa.PrivateKey
	if v := c.Argument(2); node.Absent(v) {
		m.Engine.IO("random values")
		k = m.scalar(curve)
	} else {
		b := new(big.Int).SetBytes(m.AnyBytes(v, "key"))
		size := (curve.Params().BitSize + 7) / 8
		var err error
		if b.BitLen() > 8*size {
			err = errContext
		} else {
			k, err = ecdsa.ParseRawPrivateKey(curve, b.FillBytes(make([]byte, size)))
		}
		if err != nil {
			m.Throw("RangeError", "ERR_CRYPTO_INVALID_KEYTYPE", "Private key is not valid for specified curve.")
		}
	}
	m.Engine.Attach(object, &asymmetricKey{public: &k.PublicKey, private: k})
	return object
}

// ecPublic is (object, curve, point): object becomes the public key.
func (m *module) ecPublic(c goja.FunctionCall) goja.Value {
	curve, b := curveOf(c.Argument(1).String()), m.AnyBytes(c.Argument(2), "otherPublicKey")
	if len(b) > 0 && (b[0] == 2 || b[0] == 3) {
		if x, y := elliptic.UnmarshalCompressed(curve, b); x != nil {
			size := (len(b) - 1)
			b = append(append([]byte{4}, x.FillBytes(make([]byte, size))...), y.FillBytes(make([]byte, size))...)
		}
	}
	k, err := ecdsa.ParseUncompressedPublicKey(curve, b)
	if err != nil {
		m.Throw("Error", "", "Failed to set point")
	}
	m.Engine.Attach(c.Argument(0).(*goja.Object), &asymmetricKey{public: k})
	return c.Argument(0)
}

// ecPoint is (key, format): the point of a key of a curve.
func (m *module) ecPoint(c goja.FunctionCall) goja.Value {
	k, ok := m.asymmetric(c.Argument(0)).public.(*ecdsa.PublicKey)
	if !ok {
		m.Throw("Error", "", "Failed to get ECDH public key")
	}
	point, err := k.Bytes()
	if err != nil {
		m.Throw("Error", "", "Failed to get ECDH public key: %v", err)
	}
	half := 1 + (len(point)-1)/2
	sign := point[len(point)-1] & 1
	switch optionalText(c.Argument(1)) {
	case "compressed":
		point = append([]byte{2 | sign}, point[1:half]...)
	case "hybrid":
		point[0] = 6 | sign
	}
	return m.NewBuffer(point)
}

// dhGroups are bits and the constant of each group (RFC 3526).
var dhGroups = map[string][2]int{
	"modp14": {2048, 124476}, "modp15": {3072, 1690314},
	"modp16": {4096, 240904}, "modp17": {6144, 929484}, "modp18": {8192, 4743158},
}

// oakley is the prime 2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) * pi) + k).
func oakley(n int, k int64) *big.Int {
	one := big.NewInt(1)
	inner := new(big.Int).Add(scaledPi(uint(n-130)), big.NewInt(k))
	p := new(big.Int).Lsh(one, uint(n))
	p.Sub(p, new(big.Int).Lsh(one, uint(n-64)))
	p.Sub(p, one)
	return p.Add(p, inner.Lsh(inner, 64))
}

// scaledPi is floor(2^bits * pi), by Machin's formula.
func scaledPi(bits uint) *big.Int {
	const guard = 64
	unit := new(big.Int).Lsh(big.NewInt(1), bits+guard)
	arctan := func(x int64) *big.Int { // of 1/x, in units
		sum, square := new(big.Int), big.NewInt(x*x)
		term := new(big.Int).Quo(unit, big.NewInt(x))
		for i := int64(1); term.Sign() != 0; i += 2 {
			part := new(big.Int).Quo(term, big.NewInt(i))
			if i%4 == 3 {
				part.Neg(part)
			}
			sum.Add(sum, part)
			term.Quo(term, square)
		}
		return sum
	}
	pi := new(big.Int).Mul(big.NewInt(16), arctan(5))
	pi.Sub(pi, new(big.Int).Mul(big.NewInt(4), arctan(239)))
	return pi.Rsh(pi, guard)
}
