package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"minido.dev/minido/runtime/config"
)

// HTTPS is what a listener with dev.local_protocol "https" shows: the certificate and
// key in these PEM files, or one that it makes for itself if both are "".
type HTTPS struct{ KeyPath, CertPath string }

// The life of a certificate that is made at the start.
const certificateDays = 30

// secured makes a listener speak TLS where the project wants it.
func (o *Options) secured(ln net.Listener, p *config.Project) (net.Listener, error) {
	if o.HTTPS == nil || p.Dev.LocalProtocol != "https" {
		return ln, nil
	}
	cert, err := o.certificate()
	if err != nil {
		return ln, err
	}
	return tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}), nil
}

// certificate has wrangler's texts (https-options.ts).
func (o *Options) certificate() (tls.Certificate, error) {
	key, cert := o.HTTPS.KeyPath, o.HTTPS.CertPath
	if key == "" && cert == "" {
		return o.selfSigned()
	}
	if key == "" || cert == "" {
		return tls.Certificate{}, errors.New("Must specify both certificate path and key path to use a Custom Certificate.") //lint:ignore ST1005 wrangler's text
	}
	if _, err := os.Stat(key); err != nil {
		return tls.Certificate{}, fmt.Errorf("Missing Custom Certificate Key at %s", key)
	}
	if _, err := os.Stat(cert); err != nil {
		return tls.Certificate{}, fmt.Errorf("Missing Custom Certificate File at %s", cert)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return pair, fmt.Errorf("the certificate %s with the key %s: %w", cert, key, err)
	}
	return pair, nil
}

// selfSigned makes a certificate for loopback, which nobody trusts.
func (o *Options) selfSigned() (cert tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), o.Entropy)
	if err != nil {
		return cert, fmt.Errorf("make a certificate: %w", err)
	}
	now := o.machine().Now()
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetUint64(o.Entropy.Uint64()), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, certificateDays),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(o.Entropy, template, template, key.Public(), key)
	if err != nil {
		return cert, fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
