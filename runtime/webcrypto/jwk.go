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
var JWKExported = []string{"kty", "use", "key_ops", "alg", "ext", "crv", "x", "y", "d", "n", "e", "p", "q", "dp", "dq", "qi", "oth", "k", "pub", "priv"}

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

// purpose checks use, key_ops and ext of the JWK of an asymmetric key, in the
// words of the reference (importAsymmetricForWebCrypto in
// src/workerd/api/crypto/keys.c++).
func (j *JWK) purpose(in *importInput, name string) error {
	want, ops := "sig", []string{"sign", "verify"}
	switch name {
	case "RSA-OAEP":
		want, ops = "enc", []string{"encrypt", "wrapKey"}
	case "ECDH", "X25519":
		want, ops = "enc", nil
	}
	if use, ok := j.Fields["use"]; ok && in.usages != 0 && use != want {
		return fail(dataError, "Asymmetric \"jwk\" key import with usages requires a JSON Web Key with Public Key Use parameter \"use\" (%q) equal to \"sig\".", use)
	}
	if j.HasKeyOps {
		if err := j.operations(in.usages, name, want, ops); err != nil {
			return err
		}
	}
	if j.Ext != nil && !*j.Ext && in.extractable {
		return fail(dataError, "Cannot create an extractable CryptoKey from an unextractable JSON Web Key.")
	}
	return nil
}

// symmetric is purpose for the keys of AES.
func (j *JWK) symmetric(in *importInput, name string) error {
	if use, ok := j.Fields["use"]; ok && in.usages != 0 && use != "enc" {
		return fail(dataError, "Symmetric \"jwk\" key must have a \"use\" of \"enc\", not %q.", use)
	}
	if j.HasKeyOps {
		sorted := slices.Sorted(slices.Values(j.KeyOps))
		for i, op := range sorted {
			if i > 0 && op == sorted[i-1] {
				return fail(dataError, "Symmetric \"jwk\" key contains duplicate value %q, in \"key_op\".", op)
			}
		}
		for _, usage := range in.usages.Names() {
			if !slices.Contains(sorted, usage) {
				return fail(dataError, "\"jwk\" key missing usage %q, in \"key_ops\".", usage)
			}
		}
	}
	return j.extractable(in, name)
}

// extractable fails if the JWK says that it is not extractable and the import
// wants it to be.
func (j *JWK) extractable(in *importInput, name string) error {
	if j.Ext != nil && !*j.Ext && in.extractable {
		return fail(dataError, "JWK ext field for %q is set to false but extractable is true", name)
	}
	return nil
}

// operations checks key_ops (RFC 7517, section 4.3): no duplicates, nothing that
// contradicts use, all of the usages.
func (j *JWK) operations(usages Usages, name, wantUse string, allowed []string) error {
	sorted := slices.Sorted(slices.Values(j.KeyOps))
	if len(slices.Compact(sorted)) != len(j.KeyOps) {
		return fail(dataError, "A JSON Web Key's Key Operations parameter (\"key_ops\") must not contain duplicates.")
	}
	const either = "A JSON Web Key should have either a Public Key Use parameter (\"use\") or a Key Operations parameter (\"key_ops\"); otherwise, the parameters must be consistent with each other. "
	if use, ok := j.Fields["use"]; ok {
		if use != wantUse {
			return fail(dataError, "Asymmetric \"jwk\" import requires a JSON Web Key with Public Key Use \"use\" (%q) equal to %q.", use, wantUse)
		}
		for _, op := range sorted {
			switch {
			case allowed == nil:
				return fail(dataError, either+"For public %s keys, there are no valid usages,so keys with a non-empty \"key_ops\" parameter are not allowed.", name) // reference's text
			case !slices.Contains(allowed, op):
				return fail(dataError, either+"A Public Key Use for %s would allow a Key Operations array with only %q and/or %q values (not %q).", name, allowed[0], allowed[1], op)
			}
		}
	}
	for _, usage := range usages.Names() {
		if !slices.Contains(j.KeyOps, usage) {
			return fail(dataError, "All specified key usages must be present in the JSON Web Key's Key Operations parameter (\"key_ops\").")
		}
	}
	return nil
}

// exported starts the JWK of a key.
func (k *Key) exported(fields map[string]string) *JWK {
	ext := k.Extractable
	return &JWK{Fields: fields, KeyOps: k.Usages.Names(), HasKeyOps: true, Ext: &ext}
}
