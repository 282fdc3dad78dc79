package webcrypto

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"testing"

	"minido.dev/minido/internal/entropy"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func number(n int) *int { return &n }

// raw imports a secret key with every usage that allowed has.
func raw(t testing.TB, name, hash string, key []byte, usages Usages) *Key {
	t.Helper()
	k, err := Import("raw", bytes.Clone(key), nil, &Params{Name: name, Hash: hash}, name != "HKDF" && name != "PBKDF2", usages)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func same(t testing.TB, what string, got []byte, err error, want string) {
	t.Helper()
	if err != nil || hex.EncodeToString(got) != strings.ReplaceAll(want, " ", "") {
		t.Errorf("%s: got %x, %v; want %s", what, got, err, want)
	}
}

// failsWith checks the name of an error.
func failsWith(t testing.TB, what string, err error, name string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Name != name {
		t.Errorf("%s: got %v, want %s", what, err, name)
	}
}

// HMAC gives the values of RFC 4231, section 4.3 and RFC 2202.
func TestHMACVectors(t *testing.T) {
	data := []byte("what do ya want for nothing?")
	for hash, want := range map[string]string{
		"SHA-1":   "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
		"SHA-256": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		"SHA-384": "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
		"SHA-512": "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
		"MD5":     "750c783e6ab0b503eaa86e310a5db738",
	} {
		k := raw(t, "HMAC", hash, []byte("Jefe"), Sign|Verify)
		mac, err := SignWith(&Params{Name: "HMAC"}, k, data, nil)
		same(t, hash, mac, err, want)
		if ok, err := VerifyWith(&Params{Name: "HMAC"}, k, mac, data); !ok || err != nil {
			t.Errorf("%s: verify: %v, %v", hash, ok, err)
		}
	}
}

// AES-GCM gives the values of the GCM specification, test cases 4 and 6 (a
// nonce of 60 bytes), at every tag length, and refuses what was changed.
func TestGCMVectors(t *testing.T) {
	k := raw(t, "AES-GCM", "", unhex("feffe9928665731c6d6a8f9467308308"), Encrypt|Decrypt)
	plain := unhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
	aad := unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
	for _, c := range []struct{ iv, cipher, tag string }{
		{"cafebabefacedbaddecaf888", "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091", "5bc94fbc3221a5db94fae95ae7121a47"},
		{"9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b", "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5", "619cc5aefffe0bfa462af43c1699d050"},
	} {
		for _, bits := range []int{32, 64, 96, 104, 112, 120, 128} {
			p := &Params{Name: "AES-GCM", IV: unhex(c.iv), AdditionalData: aad, TagLength: number(bits)}
			sealed, err := EncryptWith(p, k, Encrypt, plain, nil)
			same(t, "seal", sealed, err, c.cipher+c.tag[:bits/4])
			opened, err := DecryptWith(p, k, Decrypt, sealed)
			same(t, "open", opened, err, hex.EncodeToString(plain))
			sealed[len(sealed)-1] ^= 1
			_, err = DecryptWith(p, k, Decrypt, sealed)
			failsWith(t, "changed tag", err, operationError)
		}
	}
	for _, p := range []*Params{{Name: "AES-GCM"}, {Name: "AES-GCM", IV: make([]byte, 12), TagLength: number(100)}} {
		_, err := EncryptWith(p, k, Encrypt, plain, nil)
		failsWith(t, "bad parameters", err, operationError)
	}
}

// AES-KW gives the values of RFC 3394, sections 4.1 and 4.6.
func TestKeyWrapVectors(t *testing.T) {
	for _, c := range []struct{ kek, key, wrapped string }{
		{"000102030405060708090A0B0C0D0E0F", "00112233445566778899AABBCCDDEEFF", "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"},
		{"000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F", "00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F", "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"},
	} {
		k := raw(t, "AES-KW", "", unhex(c.kek), WrapKey|UnwrapKey)
		wrapped, err := EncryptWith(&Params{Name: "AES-KW"}, k, WrapKey, unhex(c.key), nil)
		same(t, "wrap", wrapped, err, c.wrapped)
		key, err := DecryptWith(&Params{Name: "AES-KW"}, k, UnwrapKey, wrapped)
		same(t, "unwrap", key, err, strings.ToLower(c.key))
		wrapped[3] ^= 1
		_, err = DecryptWith(&Params{Name: "AES-KW"}, k, UnwrapKey, wrapped)
		failsWith(t, "changed", err, operationError)
	}
}

// AES-CTR and AES-CBC give the values of NIST SP 800-38A, appendix F.
func TestBlockModeVectors(t *testing.T) {
	key := unhex("2b7e151628aed2a6abf7158809cf4f3c")
	plain := unhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
	p := &Params{Name: "AES-CTR", Counter: unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"), Length: number(64)}
	out, err := EncryptWith(p, raw(t, "AES-CTR", "", key, Encrypt), Encrypt, plain, nil)
	same(t, "CTR", out, err, "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff")
	p = &Params{Name: "AES-CBC", IV: unhex("000102030405060708090a0b0c0d0e0f")}
	out, err = EncryptWith(p, raw(t, "AES-CBC", "", key, Encrypt), Encrypt, plain, nil)
	same(t, "CBC", out[:32], err, "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")
	back, err := DecryptWith(p, raw(t, "AES-CBC", "", key, Decrypt), Decrypt, out)
	same(t, "CBC back", back, err, hex.EncodeToString(plain))
	_, err = DecryptWith(p, raw(t, "AES-CBC", "", key, Decrypt), Decrypt, out[:32])
	failsWith(t, "CBC without its padding", err, operationError)
}

// Only the counter's own bits count: the block after the last is that of the
// counter at zero, and no block is used twice.
func TestCounterWraps(t *testing.T) {
	k := raw(t, "AES-CTR", "", make([]byte, 16), Encrypt)
	stream := func(last byte, bits, blocks int) []byte {
		counter := bytes.Repeat([]byte{0xAB}, 16)
		counter[15] = last
		out, err := EncryptWith(&Params{Name: "AES-CTR", Counter: counter, Length: &bits}, k, Encrypt, make([]byte, 16*blocks), nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	got := stream(0xA7, 3, 3) // ...111 and, wrapped, ...000 and ...001
	want := append(stream(0xA7, 128, 1), stream(0xA0, 128, 2)...)
	if !bytes.Equal(got, want) {
		t.Errorf("got %x\nwant %x", got, want)
	}
	_, err := EncryptWith(&Params{Name: "AES-CTR", Counter: make([]byte, 16), Length: number(2)}, k, Encrypt, make([]byte, 65), nil)
	failsWith(t, "repeated counter", err, operationError)
	for _, bits := range []int{0, 129} {
		_, err = EncryptWith(&Params{Name: "AES-CTR", Counter: make([]byte, 16), Length: &bits}, k, Encrypt, nil, nil)
		failsWith(t, "length of counter", err, operationError)
	}
}

// PBKDF2 and HKDF give the values of RFC 6070, RFC 7914 (section 11) and RFC 5869.
func TestDerivationVectors(t *testing.T) {
	k := raw(t, "PBKDF2", "", []byte("password"), DeriveBits)
	out, err := Derive(&Params{Name: "PBKDF2", Hash: "SHA-1", Salt: []byte("salt"), Iterations: 4096}, k, DeriveBits, number(160))
	same(t, "PBKDF2", out, err, "4b007901b765489abead49d926f721d065a429c1")
	k = raw(t, "PBKDF2", "", []byte("passwd"), DeriveBits)
	out, err = Derive(&Params{Name: "PBKDF2", Hash: "SHA-256", Salt: []byte("salt"), Iterations: 1}, k, DeriveBits, number(512))
	same(t, "PBKDF2", out, err, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783")
	k = raw(t, "HKDF", "", bytes.Repeat([]byte{0x0b}, 22), DeriveBits)
	p := &Params{Name: "HKDF", Hash: "SHA-256", Salt: unhex("000102030405060708090a0b0c"), Info: unhex("f0f1f2f3f4f5f6f7f8f9")}
	out, err = Derive(p, k, DeriveBits, number(42*8))
	same(t, "HKDF", out, err, "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
	for _, bits := range []int{0, 255 * 256} {
		if out, err := Derive(p, k, DeriveBits, &bits); err != nil || len(out) != bits/8 {
			t.Errorf("%d bits: %d bytes, %v", bits, len(out), err)
		}
	}
	for _, bits := range []int{7, 255*256 + 8} {
		_, err = Derive(p, k, DeriveBits, &bits)
		failsWith(t, "length", err, operationError)
	}
	_, err = Derive(p, k, DeriveBits, nil)
	failsWith(t, "null length", err, operationError)
}

// Ed25519 gives the values of RFC 8032, section 7.1, and refuses small orders.
func TestEd25519Vectors(t *testing.T) {
	seed := unhex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")
	public := unhex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
	key, err := newOKP("Ed25519", seed)
	if err != nil || !bytes.Equal(key.public, public) {
		t.Fatalf("public key %x, %v", key.public, err)
	}
	signature := key.sign(unhex("af82"))
	same(t, "sign", signature, nil, "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")
	if !key.verify(signature, unhex("af82")) || key.verify(signature, unhex("af83")) || key.verify(signature[:63], unhex("af82")) {
		t.Error("verify")
	}
	// With a key of order 1, R = B·s is a valid signature of everything.
	forged := &okpKey{public: []byte(smallOrders[0])}
	if forged.verify(append([]byte(smallOrders[0]), make([]byte, 32)...), nil) {
		t.Error("a key of small order verified")
	}
}

// The table of small orders holds the y of points of edwards25519 that eight
// times themselves are the identity, and no other.
func TestSmallOrders(t *testing.T) {
	p, _ := new(big.Int).SetString("57896044618658097711785492504343953926634992332820282019728792003956564819949", 10)
	mod := func(x *big.Int) *big.Int { return x.Mod(x, p) }
	mul := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }
	d := mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), p))
	for _, s := range smallOrders {
		b := []byte(s)
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		y := mod(new(big.Int).SetBytes(b))
		y2 := mul(y, y)
		// x² = (y² - 1) / (d·y² + 1)
		bottom := mod(new(big.Int).Add(mul(d, y2), one))
		x := new(big.Int).ModSqrt(mul(mod(new(big.Int).Sub(y2, one)), new(big.Int).ModInverse(bottom, p)), p)
		if x == nil {
			t.Fatalf("%x is no point", s)
		}
		for range 3 { // doubling: ((2xy)/(1+dx²y²), (y²+x²)/(1-dx²y²))
			dxy := mul(mul(d, mul(x, x)), mul(y, y))
			nx := mul(mul(big.NewInt(2), mul(x, y)), new(big.Int).ModInverse(mod(new(big.Int).Add(one, dxy)), p))
			ny := mul(mod(new(big.Int).Add(mul(y, y), mul(x, x))), new(big.Int).ModInverse(mod(new(big.Int).Sub(one, dxy)), p))
			x, y = nx, ny
		}
		if x.Sign() != 0 || y.Cmp(one) != 0 {
			t.Errorf("%x: eight times it is (%d, %d)", s, x, y)
		}
	}
}

// X25519 gives the values of RFC 7748, section 6.1, and refuses a secret of zeros.
func TestX25519Vectors(t *testing.T) {
	bob, err := newOKP("X25519", unhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "public", bob.public, nil, "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
	secret, err := bob.shared(&okpKey{public: unhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")})
	same(t, "secret", secret, err, "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
	_, err = bob.shared(&okpKey{public: make([]byte, 32)})
	failsWith(t, "zeros", err, operationError)
}

// What RSA encodes here, the standard library decodes, and the other way round.
func TestRSAAgainstTheStandardLibrary(t *testing.T) {
	src := entropy.NewSeeded(7)
	key, err := newRSA(1024, big.NewInt(65537), src)
	if err != nil {
		t.Fatal(err)
	}
	theirs := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: key.n, E: 65537}, D: key.d, Primes: []*big.Int{key.p, key.q}}
	theirs.Precompute()
	if err := theirs.Validate(); err != nil || !key.valid() {
		t.Fatalf("the key is not valid: %v", err)
	}
	data := []byte("data")
	for name, hash := range map[string]crypto.Hash{"SHA-1": crypto.SHA1, "SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384} {
		sum := digest(name, data)
		ours, err := key.signPKCS1(name, data)
		want, err2 := rsa.SignPKCS1v15(nil, theirs, hash, sum)
		if err != nil || err2 != nil || !bytes.Equal(ours, want) || !key.verifyPKCS1(name, want, data) {
			t.Errorf("%s: PKCS #1: %x, %v; want %x, %v", name, ours, err, want, err2)
		}
		for _, salt := range []int{1, 20} {
			ours, err := key.signPSS(name, salt, data, src)
			if err != nil || rsa.VerifyPSS(&theirs.PublicKey, hash, sum, ours, &rsa.PSSOptions{SaltLength: salt}) != nil || key.verifyPSS(name, salt+1, ours, data) {
				t.Errorf("%s: PSS with salt of %d: %v", name, salt, err)
			}
			signature, err := rsa.SignPSS(rand.Reader, theirs, hash, sum, &rsa.PSSOptions{SaltLength: salt})
			if err != nil || !key.verifyPSS(name, salt, signature, data) || key.verifyPSS(name, salt, signature, nil) {
				t.Errorf("%s: their PSS with salt of %d: %v", name, salt, err)
			}
		}
		if ours, err = key.signPSS(name, 0, data, src); err != nil || !key.verifyPSS(name, 0, ours, data) {
			t.Errorf("%s: PSS without salt: %v", name, err)
		}
		public := &Key{Type: Public, Algorithm: Algorithm{Name: "RSA-OAEP", Hash: name}, rsa: &rsaKey{n: key.n, e: key.e}}
		private := &Key{Type: Private, Algorithm: public.Algorithm, rsa: key}
		p := &Params{Name: "RSA-OAEP", Label: []byte("label")}
		if hash == crypto.SHA384 {
			_, err := public.encryptOAEP(p, make([]byte, 31), src)
			failsWith(t, "too long", err, operationError)
			continue
		}
		sealed, err := public.encryptOAEP(p, data, src)
		opened, err2 := rsa.DecryptOAEP(hash.New(), nil, theirs, sealed, p.Label)
		if err != nil || err2 != nil || !bytes.Equal(opened, data) {
			t.Errorf("%s: OAEP: %q, %v, %v", name, opened, err, err2)
		}
		if sealed, err = rsa.EncryptOAEP(hash.New(), rand.Reader, &theirs.PublicKey, data, p.Label); err != nil {
			t.Fatal(err)
		}
		opened, err = private.decryptOAEP(p, sealed)
		same(t, name+": their OAEP", opened, err, hex.EncodeToString(data))
		_, err = private.decryptOAEP(&Params{}, sealed)
		failsWith(t, "another label", err, operationError)
	}
}

// A private key without its primes gets them back.
func TestRSAFactor(t *testing.T) {
	key, err := newRSA(512, big.NewInt(3), entropy.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	k := &rsaKey{n: key.n, e: key.e, d: key.d}
	if !k.factor() || !k.valid() || k.p.Cmp(key.p) != 0 {
		t.Errorf("got %v", k)
	}
	k = &rsaKey{n: key.n, e: key.e, d: new(big.Int).Add(key.d, one)}
	if k.factor() && k.valid() {
		t.Error("a wrong exponent was accepted")
	}
}

// The same entropy gives the same keys and signatures.
func TestDeterministic(t *testing.T) {
	for _, p := range []*Params{
		{Name: "ECDSA", NamedCurve: "P-256", Hash: "SHA-256"}, {Name: "ECDSA", NamedCurve: "P-384", Hash: "SHA-512"},
		{Name: "ECDSA", NamedCurve: "P-521", Hash: "SHA-1"}, {Name: "ECDSA", NamedCurve: "P-256", Hash: "SHA-512"}, {Name: "Ed25519"},
		{Name: "RSA-PSS", Hash: "SHA-256", ModulusLength: 512, PublicExponent: []byte{1, 0, 1}, SaltLength: 20},
	} {
		run := func() ([]byte, []byte) {
			src := entropy.NewSeeded(3)
			g, err := Generate(p, true, Sign|Verify, src)
			if err != nil {
				t.Fatal(err)
			}
			exported, err := Export("pkcs8", g.Private)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := SignWith(p, g.Private, []byte("data"), src)
			if err != nil {
				t.Fatal(err)
			}
			if ok, err := VerifyWith(p, g.Public, signature, []byte("data")); !ok || err != nil {
				t.Errorf("%s: %v, %v", p.Name, ok, err)
			}
			return exported.Bytes, signature
		}
		key1, signature1 := run()
		key2, signature2 := run()
		if !bytes.Equal(key1, key2) || !bytes.Equal(signature1, signature2) {
			t.Errorf("%s %s: two runs differ", p.Name, p.NamedCurve)
		}
	}
}
