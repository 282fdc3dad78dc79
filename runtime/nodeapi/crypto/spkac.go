package crypto

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"

	"github.com/dop251/goja"
)

// signedKey is Netscape's SignedPublicKeyAndChallenge.
type signedKey struct {
	Content struct {
		Raw       asn1.RawContent
		Key       asn1.RawValue
		Challenge string `asn1:"ia5"`
	}
	Algorithm pkix.AlgorithmIdentifier
	Signature asn1.BitString
}

// spkacHashes are the digests of the signatures with RSA, by their identifier.
var spkacHashes = map[string]crypto.Hash{
	"1.2.840.113549.1.1.4": crypto.MD5, "1.2.840.113549.1.1.5": crypto.SHA1, "1.2.840.113549.1.1.11": crypto.SHA256,
	"1.2.840.113549.1.1.12": crypto.SHA384, "1.2.840.113549.1.1.13": crypto.SHA512,
}

// spkac reads (bytes): [whether the signature holds, challenge, key as PEM],
// undefined for what is none.
func (m *module) spkac(c goja.FunctionCall) goja.Value {
	der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(m.AnyBytes(c.Argument(0), "spkac")), nil)))
	var s signedKey
	if err == nil {
		_, err = asn1.Unmarshal(der, &s)
	}
	if err != nil {
		return goja.Undefined()
	}
	key, err := x509.ParsePKIXPublicKey(s.Content.Key.FullBytes)
	if err != nil {
		return goja.Undefined()
	}
	public, isRSA := key.(*rsa.PublicKey)
	hash := spkacHashes[s.Algorithm.Algorithm.String()]
	holds := false
	if isRSA && hash != 0 {
		sum := hash.New()
		sum.Write(s.Content.Raw)
		holds = rsa.VerifyPKCS1v15(public, hash, sum.Sum(nil), s.Signature.Bytes) == nil
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: s.Content.Key.FullBytes})
	return m.VM.NewArray(holds, m.NewBuffer([]byte(s.Content.Challenge)), m.NewBuffer(text))
}
