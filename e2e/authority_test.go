// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority issues certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // with its own certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "Authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a := &authority{key: newKey(t), file: filepath.Join(t.TempDir(), "ca.pem")}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

// keyPair is a certificate and its key.
type keyPair struct{ cert, key string }

// issue writes a certificate for this machine, which change may modify before it is signed.
func (a *authority) issue(t *testing.T, change func(*x509.Certificate)) keyPair {
	t.Helper()
	dir := t.TempDir()
	p := keyPair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	a.issueTo(t, p, change)
	return p
}

// issueTo replaces a pair: the key first, so that for a moment the two do not match.
func (a *authority) issueTo(t *testing.T, p keyPair, change func(*x509.Certificate)) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if change != nil {
		change(template)
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	writePEM(t, p.key, "PRIVATE KEY", keyDER)
	writePEM(t, p.cert, "CERTIFICATE", der)
}

func (p keyPair) load(t *testing.T) tls.Certificate {
	t.Helper()
	cert, err := tls.LoadX509KeyPair(p.cert, p.key)
	require.NoError(t, err)
	return cert
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func serial(t *testing.T) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	return n
}

func writePEM(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func expired(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }

func notYetValid(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }

// named replaces all names and addresses.
func named(names ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = names, nil }
}

func namedOnlyInSubject(c *x509.Certificate) {
	c.Subject.CommonName = "localhost"
	c.DNSNames, c.IPAddresses = nil, nil
}

// lockedKey is protected by the password x. The agent must not prompt.
const lockedKey = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAje4LaHF1SNXgICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEN2DJnn5E60YFuznbbDDcwAEgZDi
VRva4X6O61L52MvooVPFfsYmzcfMACIzUWtACBoDmpeU8bx+aAOFDsx757NSx2y9
HCyuXw//TeN2ms1B1LEYZGpLWbKPDerGH0wqRkhE1e3VkHaufLcoZdaV6z8KHBwq
k+yTQT3RInEDSCNJHBgZWOIaroSDl/Te4z9x0J+4BdJIaY7Vn641fVhdc4NrQyg=
-----END ENCRYPTED PRIVATE KEY-----
`
