package webcrypto

import (
	"bytes"
	"strings"
	"testing"

	"minido.dev/minido/internal/entropy"
)

// importers are algorithms that read the formats, each with its usages.
var importers = []struct {
	p               *Params
	public, private Usages
}{
	{&Params{Name: "RSA-PSS", Hash: "SHA-256"}, Verify, Sign},
	{&Params{Name: "RSA-OAEP", Hash: "SHA-1"}, Encrypt, Decrypt},
	{&Params{Name: "ECDSA", NamedCurve: "P-256"}, Verify, Sign},
	{&Params{Name: "ECDSA", NamedCurve: "P-521"}, Verify, Sign},
	{&Params{Name: "ECDH", NamedCurve: "P-384"}, 0, DeriveBits},
	{&Params{Name: "Ed25519"}, Verify, Sign},
	{&Params{Name: "X25519"}, 0, DeriveBits},
}

// pairs generates a pair for each importer.
func pairs(t testing.TB) []Generated {
	src := entropy.NewSeeded(5)
	var out []Generated
	for _, x := range importers {
		p := *x.p
		if isRSA(p.Name) {
			p.ModulusLength, p.PublicExponent = 512, []byte{3}
		}
		g, err := Generate(&p, true, x.public|x.private, src)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// exported is the export of one half in a format.
func exported(t testing.TB, format string, k *Key) *Exported {
	t.Helper()
	x, err := Export(format, k)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What is exported is imported again, as the same key; no other algorithm takes it.
func TestRoundTrips(t *testing.T) {
	for i, g := range pairs(t) {
		for _, half := range []struct {
			format string
			key    *Key
			usages Usages
		}{
			{"spki", g.Public, importers[i].public}, {"pkcs8", g.Private, importers[i].private},
			{"jwk", g.Public, importers[i].public}, {"jwk", g.Private, importers[i].private},
		} {
			x := exported(t, half.format, half.key)
			for j, other := range importers {
				usages := other.public
				if half.key.Type == Private {
					usages = other.private
				}
				k, err := Import(half.format, bytes.Clone(x.Bytes), x.JWK, other.p, true, usages)
				sameKind := i == j || isRSA(other.p.Name) && isRSA(importers[i].p.Name) && half.format != "jwk"
				if !sameKind {
					if err == nil {
						t.Errorf("%s took a %s key in %s", other.p.Name, importers[i].p.Name, half.format)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %v", other.p.Name, half.format, err)
					continue
				}
				if half.format != "jwk" && !bytes.Equal(exported(t, half.format, k).Bytes, x.Bytes) {
					t.Errorf("%s %s changed", other.p.Name, half.format)
				}
			}
		}
	}
}

// Whatever the bytes are, an import in spki, pkcs8 or raw ends with a key that
// exports, or with an error that has a name.
func FuzzImportBytes(f *testing.F) {
	for i, g := range pairs(f) {
		f.Add("spki", i, exported(f, "spki", g.Public).Bytes)
		f.Add("pkcs8", i, exported(f, "pkcs8", g.Private).Bytes)
		f.Add("raw", i, make([]byte, 33))
	}
	f.Fuzz(func(t *testing.T, format string, i int, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		x := importers[uint(i)%uint(len(importers))]
		usages := x.public
		if format == "pkcs8" {
			usages = x.private
		}
		k, err := Import(format, bytes.Clone(data), nil, x.p, true, usages)
		checkImport(t, k, err)
	})
}

// The same for a JWK of any strings.
func FuzzImportJWK(f *testing.F) {
	join := func(j *JWK) string {
		var b strings.Builder
		for _, name := range JWKExported {
			if text, ok := j.Fields[name]; ok {
				b.WriteString(name + "=" + text + "\n")
			}
		}
		return b.String()
	}
	for i, g := range pairs(f) {
		f.Add(i, true, join(exported(f, "jwk", g.Private).JWK))
		f.Add(i, false, join(exported(f, "jwk", g.Public).JWK))
	}
	f.Fuzz(func(t *testing.T, i int, extractable bool, text string) {
		if len(text) > 1<<12 {
			return
		}
		j := &JWK{Fields: map[string]string{}}
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			switch name {
			case "key_ops":
				j.KeyOps, j.HasKeyOps = strings.Split(value, ","), true
			case "oth":
				j.HasOth = true
			default:
				j.Fields[name] = value
			}
		}
		x := importers[uint(i)%uint(len(importers))]
		usages := x.public
		if j.has("d") {
			usages = x.private
		}
		k, err := Import("jwk", nil, j, x.p, extractable, usages)
		checkImport(t, k, err)
	})
}

func checkImport(t *testing.T, k *Key, err error) {
	t.Helper()
	if err != nil {
		if _, ok := err.(*Error); !ok {
			t.Fatalf("an error without a name: %v", err)
		}
		return
	}
	for _, format := range []string{"raw", "spki", "pkcs8", "jwk"} {
		if _, err := Export(format, k); err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("export in %s: %v", format, err)
			}
		}
	}
}
