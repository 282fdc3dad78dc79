package crypto

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// x509Natives are the natives of js/crypto_x509.js: X509Certificate and
// Certificate (nodejs.org/api/crypto.html). Texts are OpenSSL's.
func x509Natives(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "parse", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			data := m.AnyBytes(c.Argument(1), "buffer")
			if block := pemBlock(data, "CERTIFICATE"); block != nil {
				data = block.Bytes
			}
			cert, err := x509.ParseCertificate(bytes.Clone(data))
			if err != nil {
				return m.VM.ToValue(false)
			}
			m.Engine.Attach(c.Argument(0).(*goja.Object), cert)
			return m.VM.ToValue(true)
		}},
		{Name: "fields", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.certificateFields(m.certificate(c.Argument(0)))
		}},
		{Name: "legacy", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.certificateKey(m.certificate(c.Argument(0)))
		}},
		{Name: "publicKey", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			m.Engine.Attach(c.Argument(1).(*goja.Object), &asymmetricKey{public: m.certificate(c.Argument(0)).PublicKey})
			return c.Argument(1)
		}},
		{Name: "issued", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(issuedBy(m.certificate(c.Argument(0)), m.certificate(c.Argument(1))))
		}},
		{Name: "belongs", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			public, ok := m.asymmetric(c.Argument(1)).public.(interface{ Equal(crypto.PublicKey) bool })
			return m.VM.ToValue(ok && public.Equal(m.certificate(c.Argument(0)).PublicKey))
		}},
		{Name: "verify", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			cert, parent := m.certificate(c.Argument(0)), x509.Certificate{PublicKey: m.asymmetric(c.Argument(1)).public}
			return m.VM.ToValue(parent.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil)
		}},
		{Name: "checkIP", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			addr, err := netip.ParseAddr(c.Argument(1).String())
			if err != nil || addr.Zone() != "" {
				m.Throw("Error", "ERR_INVALID_ARG_VALUE", "Invalid IP")
			}
			for _, ip := range m.certificate(c.Argument(0)).IPAddresses {
				if bytes.Equal(ip, addr.AsSlice()) {
					return m.VM.ToValue(true)
				}
			}
			return m.VM.ToValue(false)
		}},
		{Name: "spkac", Length: 1, Fn: m.spkac},
	}
}

func (m *module) certificate(v goja.Value) *x509.Certificate {
	cert, ok := m.Engine.Attached(v).(*x509.Certificate)
	if !ok {
		m.Throw("TypeError", "ERR_INVALID_THIS", "Value of \"this\" must be of type X509Certificate")
	}
	return cert
}

// issuedBy is X509_check_issued: names, key identifiers and usage agree.
func issuedBy(cert, issuer *x509.Certificate) bool {
	switch {
	case !bytes.Equal(cert.RawIssuer, issuer.RawSubject):
		return false
	case len(cert.AuthorityKeyId) > 0 && len(issuer.SubjectKeyId) > 0 && !bytes.Equal(cert.AuthorityKeyId, issuer.SubjectKeyId):
		return false
	}
	return issuer.KeyUsage == 0 || issuer.KeyUsage&x509.KeyUsageCertSign != 0
}

// certificateFields are the properties that never change, as strings.
func (m *module) certificateFields(cert *x509.Certificate) goja.Value {
	out := m.VM.NewObject()
	set := func(name string, v any) { m.Define(out, name, m.VM.ToValue(v)) }
	when := func(t time.Time) string { return t.UTC().Format("Jan _2 15:04:05 2006 GMT") }
	colons := func(sum []byte) string {
		parts := make([]string, len(sum))
		for i, b := range sum {
			parts[i] = fmt.Sprintf("%02X", b)
		}
		return strings.Join(parts, ":")
	}
	one, two, three := sha1.Sum(cert.Raw), sha256.Sum256(cert.Raw), sha512.Sum512(cert.Raw)
	serial := strings.ToUpper(hex.EncodeToString(cert.SerialNumber.Bytes()))
	set("subject", distinguished(cert.RawSubject, "\n"))
	set("issuer", distinguished(cert.RawIssuer, "\n"))
	if names := alternativeNames(cert); names != nil {
		set("subjectAltName", strings.Join(names, ", "))
	}
	if access := informationAccess(cert); access != "" {
		set("infoAccess", access)
	}
	set("validFrom", when(cert.NotBefore))
	set("validTo", when(cert.NotAfter))
	set("fingerprint", colons(one[:]))
	set("fingerprint256", colons(two[:]))
	set("fingerprint512", colons(three[:]))
	if usages := extendedUsages(cert); usages != nil {
		set("keyUsage", m.VM.NewArray(usages...))
	}
	set("serialNumber", max(serial, "00"))
	set("ca", cert.IsCA && (cert.KeyUsage == 0 || cert.KeyUsage&x509.KeyUsageCertSign != 0))
	set("pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})))
	m.Define(out, "raw", m.NewBuffer(bytes.Clone(cert.Raw)))
	m.Define(out, "names", m.hostNames(cert))
	m.Define(out, "subjectParts", m.nameParts(cert.RawSubject))
	m.Define(out, "issuerParts", m.nameParts(cert.RawIssuer))
	return out
}

// hostNames are the names that checkHost and checkEmail look at.
func (m *module) hostNames(cert *x509.Certificate) goja.Value {
	out := m.VM.NewObject()
	list := func(name string, values []string) {
		items := make([]any, len(values))
		for i, v := range values {
			items[i] = v
		}
		m.Define(out, name, m.VM.NewArray(items...))
	}
	var common, email []string
	for _, part := range nameAttributes(cert.RawSubject) {
		switch shortName(part.Type) {
		case "CN":
			common = append(common, fmt.Sprint(part.Value))
		case "emailAddress":
			email = append(email, fmt.Sprint(part.Value))
		}
	}
	list("dns", cert.DNSNames)
	list("email", cert.EmailAddresses)
	list("subjectName", common)
	list("subjectEmail", email)
	return out
}

// certificateKey are the members of toLegacyObject that describe the key.
func (m *module) certificateKey(cert *x509.Certificate) goja.Value {
	out := m.VM.NewObject()
	switch key := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		m.Define(out, "modulus", m.VM.ToValue(strings.ToUpper(hex.EncodeToString(key.N.Bytes()))))
		m.Define(out, "bits", m.VM.ToValue(key.N.BitLen()))
		m.Define(out, "exponent", m.VM.ToValue("0x"+strconv.FormatInt(int64(key.E), 16)))
		m.Define(out, "pubkey", m.NewBuffer(bytes.Clone(cert.RawSubjectPublicKeyInfo)))
	case *ecdsa.PublicKey:
		curve := key.Curve.Params()
		point, err := key.Bytes()
		if err != nil {
			m.Throw("Error", "ERR_CRYPTO_OPERATION_FAILED", "%v", err)
		}
		m.Define(out, "bits", m.VM.ToValue(curve.BitSize))
		m.Define(out, "pubkey", m.NewBuffer(point))
		m.Define(out, "asn1Curve", m.VM.ToValue(curveNames[curve.Name]))
		m.Define(out, "nistCurve", m.VM.ToValue(curve.Name))
	}
	return out
}

// shortNames are OpenSSL's short names of what names are made of.
var shortNames = map[string]string{
	"2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST",
	"2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.13": "description",
	"2.5.4.15": "businessCategory", "2.5.4.17": "postalCode", "2.5.4.41": "name", "2.5.4.42": "GN", "2.5.4.43": "initials",
	"2.5.4.44": "generationQualifier", "2.5.4.46": "dnQualifier", "2.5.4.65": "pseudonym", "2.5.4.97": "organizationIdentifier",
	"1.2.840.113549.1.9.1": "emailAddress", "1.2.840.113549.1.9.2": "unstructuredName",
	"0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
	"1.3.6.1.4.1.311.60.2.1.1": "jurisdictionL", "1.3.6.1.4.1.311.60.2.1.2": "jurisdictionST", "1.3.6.1.4.1.311.60.2.1.3": "jurisdictionC",
}

func shortName(id asn1.ObjectIdentifier) string {
	if name, ok := shortNames[id.String()]; ok {
		return name
	}
	return id.String()
}

func relativeNames(raw []byte) pkix.RDNSequence {
	var names pkix.RDNSequence
	if _, err := asn1.Unmarshal(raw, &names); err != nil {
		return nil // x509 has parsed it: not reached
	}
	return names
}

func nameAttributes(raw []byte) (all []pkix.AttributeTypeAndValue) {
	for _, set := range relativeNames(raw) {
		all = append(all, set...)
	}
	return all
}

// distinguished is a name as X509_NAME_print_ex writes it, escaped by RFC 2253.
func distinguished(raw []byte, separator string) string {
	var lines []string
	for _, set := range relativeNames(raw) {
		var parts []string
		for _, part := range set {
			parts = append(parts, shortName(part.Type)+"="+escapeName(fmt.Sprint(part.Value)))
		}
		lines = append(lines, strings.Join(parts, " + "))
	}
	return strings.Join(lines, separator)
}

func escapeName(s string) string {
	var out strings.Builder
	for i, r := range s {
		switch {
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, "\\%02X", r)
		case strings.ContainsRune(`,+"\<>;`, r), i == 0 && (r == '#' || r == ' '), i == len(s)-1 && r == ' ':
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// nameParts is a name as toLegacyObject has it: what occurs twice is an array.
func (m *module) nameParts(raw []byte) goja.Value {
	out := m.VM.NewObject()
	values := map[string][]any{}
	for _, part := range nameAttributes(raw) {
		name := shortName(part.Type)
		values[name] = append(values[name], fmt.Sprint(part.Value))
		if list := values[name]; len(list) > 1 {
			m.Define(out, name, m.VM.NewArray(list...))
			continue
		}
		m.Define(out, name, m.VM.ToValue(values[name][0]))
	}
	return out
}

// extension is the value of an extension, nil where there is none.
func extension(cert *x509.Certificate, id ...int) []byte {
	for _, e := range cert.Extensions {
		if e.Id.Equal(id) {
			return e.Value
		}
	}
	return nil
}

// generalName writes one name of RFC 5280's GeneralName, as Node does.
func generalName(v asn1.RawValue) string {
	label, text := "", string(v.Bytes)
	switch v.Tag {
	case 1:
		label = "email:"
	case 2:
		label = "DNS:"
	case 4:
		return "DirName:" + quoted(distinguished(v.Bytes, ","))
	case 6:
		label = "URI:"
	case 7:
		return "IP Address:" + addressText(v.Bytes)
	case 8:
		var id asn1.ObjectIdentifier
		if rest, err := asn1.UnmarshalWithParams(v.FullBytes, &id, "tag:8"); err != nil || len(rest) > 0 {
			return "Registered ID:<invalid>"
		}
		return "Registered ID:" + id.String()
	default:
		return "othername:<unsupported>"
	}
	return label + quoted(text)
}

// quoted keeps a name from being taken for two: what could be mistaken stands
// in quotes, as in JSON.
func quoted(s string) string {
	for _, b := range []byte(s) {
		if b < ' ' || b > '~' || b == '"' || b == '\\' || b == ',' || b == '\'' {
			return strconv.Quote(s)
		}
	}
	return s
}

// addressText is an address as OpenSSL writes it.
func addressText(b []byte) string {
	switch len(b) {
	case 4:
		return netip.AddrFrom4([4]byte(b)).String()
	case 16:
		var groups []string
		for i := 0; i < 16; i += 2 {
			groups = append(groups, fmt.Sprintf("%X", int(b[i])<<8|int(b[i+1])))
		}
		return strings.Join(groups, ":")
	}
	return "<invalid>"
}

func alternativeNames(cert *x509.Certificate) (names []string) {
	var list []asn1.RawValue
	if _, err := asn1.Unmarshal(extension(cert, 2, 5, 29, 17), &list); err != nil {
		return nil
	}
	for _, v := range list {
		names = append(names, generalName(v))
	}
	return names
}

// informationAccess is the extension of RFC 5280, 4.2.2.1, a line an entry.
func informationAccess(cert *x509.Certificate) string {
	var list []struct {
		Method   asn1.ObjectIdentifier
		Location asn1.RawValue
	}
	if _, err := asn1.Unmarshal(extension(cert, 1, 3, 6, 1, 5, 5, 7, 1, 1), &list); err != nil {
		return ""
	}
	var out strings.Builder
	for _, entry := range list {
		method := entry.Method.String()
		switch method {
		case "1.3.6.1.5.5.7.48.1":
			method = "OCSP"
		case "1.3.6.1.5.5.7.48.2":
			method = "CA Issuers"
		}
		out.WriteString(method + " - " + generalName(entry.Location) + "\n")
	}
	return out.String()
}

func extendedUsages(cert *x509.Certificate) (usages []any) {
	var list []asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(extension(cert, 2, 5, 29, 37), &list); err != nil {
		return nil
	}
	for _, id := range list {
		usages = append(usages, id.String())
	}
	return usages
}
