// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

func TestStreamOverTLS(t *testing.T) {
	server, pool := certificate(t)
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), func(s *Config) {
		s.Endpoint = "127.0.0.1:0"
		s.TLS = configoptional.Some(server)
	})
	plain := dial(t, r)
	plain.send(hello)
	_, err := plain.reader.Next()
	require.Error(t, err, "the server requires TLS")

	address := r.listener.Addr().String()
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(outlettest.Patience)))
	a := newAgent(t, conn)
	a.greet(hello)
	a.send("batch sequence=1 watermark=5")
	assert.EqualValues(t, 1, a.acked())
	next.Next(t)

	r.stop()
	refuse, err := a.next(wire.FrameRefuse).Refuse()
	require.NoError(t, err)
	assert.Equal(t, wire.RefuseShutdown, refuse.Code)
}

// An operator sees who tried, but not each port probe.
func TestFailedHandshakesAreReported(t *testing.T) {
	server, _ := certificate(t)
	out := outlettest.New(t, nil, outlettest.NewSink())
	core, logs := observer.New(zap.WarnLevel)
	out.Log = zap.New(core)
	r := start(t, out, func(s *Config) {
		s.Endpoint = "127.0.0.1:0"
		s.TLS = configoptional.Some(server)
	})
	probe := dial(t, r)
	require.NoError(t, probe.conn.Close())
	address := r.listener.Addr().String()
	_, err := (&tls.Dialer{Config: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}}).DialContext(t.Context(), "tcp", address)
	require.ErrorContains(t, err, "certificate")
	r.wg.Wait()
	require.Len(t, logs.All(), 1)
	assert.Equal(t, "Closed a connection whose TLS handshake failed", logs.All()[0].Message)
	assert.Contains(t, logs.All()[0].ContextMap()["error"], "TLS handshake: remote error: tls: ")
}

func TestBadCertificateNamesTheOption(t *testing.T) {
	server := configtls.NewDefaultServerConfig()
	server.CertFile, server.KeyFile = "no.pem", "no-key.pem"
	cfg := DefaultConfig()
	cfg.Endpoint = "127.0.0.1:0"
	cfg.TLS = configoptional.Some(server)
	_, err := Listen(t.Context(), Settings{Config: &cfg})
	require.ErrorContains(t, err, "protocols::stream::tls: ")
}

func certificate(t *testing.T) (configtls.ServerConfig, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	server := configtls.NewDefaultServerConfig()
	server.CertPem = configopaque.String(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	server.KeyPem = configopaque.String(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	pool := x509.NewCertPool()
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool.AddCert(cert)
	return server, pool
}
