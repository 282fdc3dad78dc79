package webcrypto

import (
	"encoding/base64"
	"slices"
	"strings"
)

// JWK is a JsonWebKey dictionary (section 15): what of it was present.
type JWK struct {
	Fields    map[string]string // kty, use, alg, crv, x, y, d, n, e, p, q, dp, dq, qi, k
	KeyOps    []string
	HasKeyOps bool
	Ext       *bool
	HasOth    bool // further primes, which nothing supports
}

// JWKFields are the names of JWK.Fields in the order in which Web IDL converts
// them, among key_ops, ext and oth (lexicographically).
var JWKFields = []string{"alg", "crv", "d", "dp", "dq", "e", "ext", "k", "key_ops", "kty", "n", "oth", "p", "q", "qi", "use", "x", "y"}

// JWKExported are the names in the order in which workerd exports them.
var JWKExported = []string{"kty", "use", "key_ops", "alg", "ext", "crv", "x", "y", "d", "n", "e", "p", "q", "dp", "dq", "qi", "oth", "k"}

// has reports whether a field is present.
func (j *JWK) has(name string) bool { _, ok := j.Fields[name]; return ok }

// bytes decodes a field of base64url. As workerd's decoder it takes the other
// alphabet and padding too.
func (j *JWK) bytes(name string) ([]byte, bool) {
	text, ok := j.Fields[name]
	if !ok {
		return nil, false
	}
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	if strings.ContainsAny(text, "\r\n") {
		return nil, false // which the decoder would skip
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	return b, err == nil
}

func encode64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// kty fails if the key's type is another.
func (j *JWK) kty(want, name string) error {
	if j.Fields["kty"] != want {
		return fail(dataError, "%s \"jwk\" key import requires a JSON Web Key with Key Type parameter \"kty\" (%q) equal to %q.", name, j.Fields["kty"], want)
	}
	return nil
}

// purpose checks use, key_ops and ext, as every import of a JWK does (for AES:
// section 26.4.4, steps 2.6 to 2.8).
func (j *JWK) purpose(use string, in *importInput, name string) error {
	usages := in.usages
	got, hasUse := j.Fields["use"]
	if hasUse && usages != 0 && got != use {
		return fail(dataError, "\"jwk\" key must have a \"use\" of %q, not %q.", use, got)
	}
	if j.HasKeyOps {
		if err := j.operations(use, usages); err != nil {
			return err
		}
	}
	if j.Ext != nil && !*j.Ext && in.extractable {
		return fail(dataError, "JWK ext field for %q is set to false but extractable is true", name)
	}
	return nil
}

// operations checks key_ops (RFC 7517, section 4.3): no duplicates, all of the
// usages, nothing that contradicts use.
func (j *JWK) operations(use string, usages Usages) error {
	sorted := slices.Sorted(slices.Values(j.KeyOps))
	if len(slices.Compact(sorted)) != len(j.KeyOps) {
		return fail(dataError, "A JSON Web Key's Key Operations parameter (\"key_ops\") must not contain duplicates.")
	}
	var ops Usages
	for _, op := range j.KeyOps {
		ops |= UsageNamed(op)
	}
	if missing := usages &^ ops; missing != 0 {
		return fail(dataError, "All specified key usages must be present in the JSON Web Key's Key Operations parameter (\"key_ops\").")
	}
	if got, hasUse := j.Fields["use"]; hasUse {
		allowed := Encrypt | Decrypt | WrapKey | UnwrapKey | DeriveKey | DeriveBits
		if use == "sig" {
			allowed = Sign | Verify
		}
		if got != use || ops&^allowed != 0 {
			return fail(dataError, "A JSON Web Key's Public Key Use (\"use\") and Key Operations (\"key_ops\") must be consistent with each other.")
		}
	}
	return nil
}

// exported starts the JWK of a key.
func (k *Key) exported(fields map[string]string) *JWK {
	ext := k.Extractable
	return &JWK{Fields: fields, KeyOps: k.Usages.Names(), HasKeyOps: true, Ext: &ext}
}
