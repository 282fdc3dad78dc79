package webcrypto

import (
	"io"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

func isRSA(name string) bool {
	return name == "RSASSA-PKCS1-v1_5" || name == "RSA-PSS" || name == "RSA-OAEP"
}

// rsaUsages are the usages of either half.
func rsaUsages(name string) (public, private Usages) {
	if name == "RSA-OAEP" {
		return Encrypt | WrapKey, Decrypt | UnwrapKey
	}
	return Verify, Sign
}

// maxRSABits is the largest modulus (workerd: Rsa::validateRsaParams).
const maxRSABits = 16384

func generateRSA(p *Params, usages Usages, src io.Reader) (public, private *Key, err error) {
	pub, priv := rsaUsages(p.Name)
	if err := allow("generate", p.Name, usages, pub|priv); err != nil {
		return nil, nil, err
	}
	if p.ModulusLength == 0 {
		return nil, nil, fail(operationError, "modulusLength must be greater than zero (requested 0).")
	}
	if p.ModulusLength%8 != 0 || p.ModulusLength < 256 || p.ModulusLength > maxRSABits {
		return nil, nil, fail(operationError, "The modulus length must be a multiple of 8 and between 256 and 16k, but %d was requested.", p.ModulusLength)
	}
	e := new(big.Int).SetBytes(p.PublicExponent)
	if e.BitLen() > 32 {
		return nil, nil, fail(operationError, "The \"publicExponent\" must be either 3 or 65537, but got a number larger than 2^32.")
	}
	if v := e.Int64(); v != 3 && v != 65537 {
		return nil, nil, fail(operationError, "The \"publicExponent\" must be either 3 or 65537, but got %d.", v)
	}
	if p.ModulusLength%128 != 0 {
		return nil, nil, fail(operationError, "Can't generate key: RSA key size is required to be a multiple of 128")
	}
	if usages&privateUsages == 0 {
		return nil, nil, errNoPrivateUsages()
	}
	k, err := newRSA(p.ModulusLength, e, src)
	if err != nil {
		return nil, nil, err
	}
	algorithm := Algorithm{Name: p.Name, Hash: p.Hash, ModulusLength: p.ModulusLength, PublicExponent: p.PublicExponent}
	return &Key{Algorithm: algorithm, rsa: &rsaKey{n: k.n, e: k.e}}, &Key{Algorithm: algorithm, rsa: k}, nil
}

// newRSA finds two primes of half the length each.
func newRSA(bits int, e *big.Int, src io.Reader) (*rsaKey, error) {
	for {
		p, err := prime(bits/2, e, src)
		if err != nil {
			return nil, err
		}
		q, err := prime(bits/2, e, src)
		if err != nil {
			return nil, err
		}
		switch p.Cmp(q) {
		case 0:
			continue
		case -1:
			p, q = q, p
		}
		k := &rsaKey{n: new(big.Int).Mul(p, q), e: e, p: p, q: q}
		p1, q1 := new(big.Int).Sub(p, one), new(big.Int).Sub(q, one)
		lambda := new(big.Int).Div(new(big.Int).Mul(p1, q1), new(big.Int).GCD(nil, nil, p1, q1))
		k.d = new(big.Int).ModInverse(e, lambda)
		k.complete()
		return k, nil
	}
}

// sieveLimit is above the small primes whose multiples are not tried.
const sieveLimit = 1 << 15

// smallPrimes are the odd primes below sieveLimit.
func smallPrimes() []int64 {
	var composite [sieveLimit]bool
	var primes []int64
	for i := 3; i < sieveLimit; i += 2 {
		if composite[i] {
			continue
		}
		primes = append(primes, int64(i))
		for j := i * i; j < sieveLimit; j += 2 * i {
			composite[j] = true
		}
	}
	return primes
}

// millerRabin is how many rounds a candidate passes beside Baillie-PSW (FIPS
// 186-5, table B.1 asks for 5 at 1024 bits).
const millerRabin = 5

// Stopper is a source of randomness that can end a search for primes: Stopped is
// asked before each that is tried.
type Stopper interface{ Stopped() error }

// prime finds a prime p of that many bits, its two highest set so that the
// product of two has full length, with p-1 coprime to e. Candidates follow each
// other from a random start; how many bytes are read depends on nothing but how
// many starts are needed.
func prime(bits int, e *big.Int, src io.Reader) (*big.Int, error) {
	divisors := smallPrimes()
	residues := make([]int64, len(divisors))
	word, rest := new(big.Int), new(big.Int)
	for {
		b, err := random(src, bits/8)
		if err != nil {
			return nil, err
		}
		start := new(big.Int).SetBytes(b)
		start.SetBit(start, bits-1, 1).SetBit(start, bits-2, 1).SetBit(start, 0, 1)
		for i, d := range divisors {
			residues[i] = rest.Mod(start, word.SetInt64(d)).Int64()
		}
	next:
		for delta := int64(0); delta < 1<<16; delta += 2 {
			for i, d := range divisors {
				if (residues[i]+delta)%d == 0 {
					continue next
				}
			}
			p := new(big.Int).Add(start, word.SetInt64(delta))
			if p.BitLen() != bits {
				break
			}
			if s, ok := src.(Stopper); ok {
				if err := s.Stopped(); err != nil {
					return nil, err
				}
			}
			if rest.GCD(nil, nil, rest.Sub(p, one), e).Cmp(one) == 0 && p.ProbablyPrime(millerRabin) {
				return p, nil
			}
		}
	}
}

// complete computes the parts of the Chinese remainder theorem from d, p and q.
func (k *rsaKey) complete() {
	k.dp = new(big.Int).Mod(k.d, new(big.Int).Sub(k.p, one))
	k.dq = new(big.Int).Mod(k.d, new(big.Int).Sub(k.q, one))
	k.qi = new(big.Int).ModInverse(k.q, k.p)
}

// valid reports whether the numbers of a private key belong together (RFC 8017,
// section 3.2).
func (k *rsaKey) valid() bool {
	if k.p.Cmp(one) <= 0 || k.q.Cmp(one) <= 0 || new(big.Int).Mul(k.p, k.q).Cmp(k.n) != 0 || k.d.Cmp(k.n) >= 0 {
		return false
	}
	ed := new(big.Int).Mul(k.e, k.d)
	for _, f := range []struct{ prime, crt *big.Int }{{k.p, k.dp}, {k.q, k.dq}} {
		m := new(big.Int).Sub(f.prime, one)
		if new(big.Int).Mod(new(big.Int).Sub(ed, one), m).Sign() != 0 || new(big.Int).Mod(k.d, m).Cmp(f.crt) != 0 {
			return false
		}
	}
	qi := new(big.Int).Mul(k.qi, k.q)
	return k.qi.Cmp(k.p) < 0 && qi.Mod(qi, k.p).Cmp(one) == 0
}

// factor finds the primes of a private key that came without them (NIST SP
// 800-56B, appendix C); false if the numbers are no key.
func (k *rsaKey) factor() bool {
	odd := new(big.Int).Mul(k.e, k.d)
	odd.Sub(odd, one)
	if odd.Sign() <= 0 || odd.Bit(0) == 1 {
		return false
	}
	twos := odd.TrailingZeroBits()
	odd.Rsh(odd, twos)
	last := new(big.Int).Sub(k.n, one)
	for g := int64(2); g < 100; g++ {
		x := new(big.Int).Exp(big.NewInt(g), odd, k.n)
		for range twos {
			if x.Cmp(one) == 0 || x.Cmp(last) == 0 {
				break
			}
			square := new(big.Int).Mul(x, x)
			if square.Mod(square, k.n).Cmp(one) == 0 {
				k.p = new(big.Int).GCD(nil, nil, x.Sub(x, one), k.n)
				k.q = new(big.Int).Div(k.n, k.p)
				if k.p.Cmp(k.q) < 0 {
					k.p, k.q = k.q, k.p
				}
				k.complete()
				return k.qi != nil
			}
			x = square
		}
	}
	return false
}

func importRSA(p *Params, in *importInput) (*Key, error) {
	if in.format == "raw" {
		return nil, badImportFormat(in.format)
	}
	pub, priv := rsaUsages(p.Name)
	t, allowed, err := in.half(pub, priv)
	if err != nil {
		return nil, err
	}
	if err := importing(t, p.Name, in.usages, allowed); err != nil {
		return nil, err
	}
	var k *rsaKey
	switch in.format {
	case "spki":
		k, err = rsaFromSPKI(in.data)
	case "pkcs8":
		k, err = rsaFromPKCS8(in.data)
	case "jwk":
		k, err = rsaFromJWK(p, in)
	}
	if err != nil {
		return nil, err
	}
	key := &Key{Type: Public, rsa: k, Algorithm: Algorithm{Name: p.Name, Hash: p.Hash, ModulusLength: k.n.BitLen(), PublicExponent: k.e.Bytes()}}
	if k.d != nil {
		key.Type = Private
	}
	return key, nil
}

// limits refuses what is no public key, and what workerd takes for unsafe.
func (k *rsaKey) limits() error {
	bits := k.n.BitLen()
	if k.n.Sign() > 0 && (k.n.Bit(0) == 0 || k.e.Sign() <= 0) {
		return fail(dataError, "Input was not an RSA key.")
	}
	if size := k.size() * 8; size < 256 || bits > maxRSABits {
		return fail(operationError, "The modulus length must be a multiple of 8 and between 256 and 16k, but %d was requested.", size)
	}
	if k.e.BitLen() > 32 {
		return fail(operationError, "The \"publicExponent\" must be either 3 or 65537, but got a number larger than 2^32.")
	}
	switch v := k.e.Int64(); v {
	case 3, 17, 37, 65537:
		return nil
	default:
		return fail(operationError, "Imported RSA key has invalid publicExponent %d.", v)
	}
}

func rsaFromSPKI(data []byte) (*rsaKey, error) {
	id, bits, err := parseSPKI(data)
	if err != nil {
		return nil, err
	}
	k := &rsaKey{n: new(big.Int), e: new(big.Int)}
	s, seq := cryptobyte.String(bits), cryptobyte.String(nil)
	if !id.oid.Equal(oidRSA) || !(id.null || id.absent) || !s.ReadASN1(&seq, der.SEQUENCE) || !s.Empty() ||
		!seq.ReadASN1Integer(k.n) || !seq.ReadASN1Integer(k.e) || !seq.Empty() {
		return nil, fail(dataError, "Invalid SPKI input.")
	}
	return k, k.limits()
}

func rsaFromPKCS8(data []byte) (*rsaKey, error) {
	id, octets, err := parsePKCS8(data)
	if err != nil {
		return nil, err
	}
	k := &rsaKey{n: new(big.Int), e: new(big.Int), d: new(big.Int), p: new(big.Int), q: new(big.Int), dp: new(big.Int), dq: new(big.Int), qi: new(big.Int)}
	s, seq := cryptobyte.String(octets), cryptobyte.String(nil)
	var version int64
	ok := id.oid.Equal(oidRSA) && (id.null || id.absent) && s.ReadASN1(&seq, der.SEQUENCE) && s.Empty() && seq.ReadASN1Integer(&version) && version == 0
	for _, v := range []*big.Int{k.n, k.e, k.d, k.p, k.q, k.dp, k.dq, k.qi} {
		ok = ok && seq.ReadASN1Integer(v) && v.Sign() > 0
	}
	if !ok || !seq.Empty() {
		return nil, fail(dataError, "Invalid PKCS8 input.")
	}
	if err := k.limits(); err != nil {
		return nil, err
	}
	if !k.valid() {
		return nil, fail(dataError, "Invalid PKCS8 input.")
	}
	return k, nil
}

// rsaAlg is the JWK algorithm of an RSA algorithm with a hash; "" if it has none.
func rsaAlg(name, hash string) string {
	bits, ok := hashBits(hash)
	switch {
	case !ok:
		return ""
	case name == "RSASSA-PKCS1-v1_5":
		return "RS" + bits
	case name == "RSA-PSS":
		return "PS" + bits
	case bits == "1":
		return "RSA-OAEP"
	}
	return "RSA-OAEP-" + bits
}

func rsaFromJWK(p *Params, in *importInput) (*rsaKey, error) {
	if err := in.jwk.purpose(in, p.Name); err != nil {
		return nil, err
	}
	if err := in.jwk.kty("RSA", p.Name); err != nil {
		return nil, err
	}
	if alg, ok := in.jwk.Fields["alg"]; ok && alg != rsaAlg(p.Name, p.Hash) {
		return nil, fail(dataError, "JSON Web Key Algorithm parameter \"alg\" (%q) does not match requested hash algorithm %q.", alg, alg) // reference's text
	}
	k := &rsaKey{n: new(big.Int), e: new(big.Int)}
	if err := in.jwk.numbers(map[string]*big.Int{"n": k.n, "e": k.e}, "n", "e"); err != nil {
		return nil, err
	}
	if err := k.limits(); err != nil || !in.jwk.has("d") {
		return k, err
	}
	return k, k.privateFromJWK(in.jwk)
}

// numbers decodes the named fields into the numbers of their names.
func (j *JWK) numbers(into map[string]*big.Int, names ...string) error {
	for _, name := range names {
		b, ok := j.bytes(name)
		if !ok || len(b) == 0 && name != "n" { // workerd measures an empty modulus
			what := map[string]string{"n": "Modulus parameter", "e": "Exponent parameter"}[name]
			if what == "" {
				what = "parameter"
			}
			return fail(dataError, "Invalid RSA key in JSON Web Key; missing or invalid %s (%q).", what, name)
		}
		into[name].SetBytes(b)
	}
	return nil
}

// privateFromJWK reads the private numbers (RFC 7518, section 6.3.2): all of
// them, or d alone.
func (k *rsaKey) privateFromJWK(j *JWK) error {
	if j.HasOth {
		return fail(notSupportedError, "Multi-prime private keys not supported.")
	}
	k.d = new(big.Int)
	if err := j.numbers(map[string]*big.Int{"d": k.d}, "d"); err != nil {
		return err
	}
	names := []string{"p", "q", "dp", "dq", "qi"}
	present := 0
	for _, name := range names {
		if j.has(name) {
			present++
		}
	}
	bad := fail(dataError, "Invalid RSA key in JSON Web Key; its numbers do not belong together.")
	switch present {
	case 0:
		if k.d.Cmp(k.n) >= 0 || !k.factor() {
			return bad
		}
	case len(names):
		k.p, k.q, k.dp, k.dq, k.qi = new(big.Int), new(big.Int), new(big.Int), new(big.Int), new(big.Int)
		if err := j.numbers(map[string]*big.Int{"p": k.p, "q": k.q, "dp": k.dp, "dq": k.dq, "qi": k.qi}, names...); err != nil {
			return err
		}
	default:
		return fail(dataError, "Invalid RSA private key in JSON Web Key; if one Prime Factor or CRT Exponent/Coefficient parameter is present, then they must all be present (\"p\", \"q\", \"dp\", \"dq\", \"qi\").")
	}
	if !k.valid() {
		return bad
	}
	return nil
}

func (k *Key) exportRSA(format string) (*Exported, error) {
	r := k.rsa
	list := func(numbers ...*big.Int) []byte {
		var b cryptobyte.Builder
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			for _, n := range numbers {
				b.AddASN1BigInt(n)
			}
		})
		return b.BytesOrPanic() // numbers always encode
	}
	switch format {
	case "spki":
		return &Exported{Bytes: buildSPKI(oidRSA, nil, list(r.n, r.e))}, nil
	case "pkcs8":
		return &Exported{Bytes: buildPKCS8(oidRSA, nil, list(new(big.Int), r.n, r.e, r.d, r.p, r.q, r.dp, r.dq, r.qi))}, nil
	case "jwk":
		alg := rsaAlg(k.Algorithm.Name, k.Algorithm.Hash)
		if alg == "" {
			return nil, fail(notSupportedError, "JWK export not supported for hash algorithm %q.", k.Algorithm.Hash)
		}
		fields := map[string]string{"kty": "RSA", "alg": alg, "n": encode64(r.n.Bytes()), "e": encode64(r.e.Bytes())}
		if r.d != nil {
			for i, name := range []string{"d", "p", "q", "dp", "dq", "qi"} {
				fields[name] = encode64([]*big.Int{r.d, r.p, r.q, r.dp, r.dq, r.qi}[i].Bytes())
			}
		}
		return &Exported{JWK: k.exported(fields)}, nil
	}
	return nil, fail(invalidAccessError, "Cannot export %q in %q format.", k.Algorithm.Name, format)
}
