// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/internal/threadtest/await"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// The page learns who was refused, and how to get in, but no credentials: not even what a careless authenticator says of them.
func TestRefusalsReachThePage(t *testing.T) {
	board := new(entrance.Board)
	r := startWith(t, Settings{Out: outlettest.New(t, nil, outlettest.NewSink()), Auth: checkToken, Entrance: board}, nil)
	await.Until(t, "the endpoint is listed", func() bool { return len(board.Doors()) == 1 })
	assert.Equal(t, []entrance.Door{{Address: "unix://" + r.listener.Addr().String(), Auth: true}}, board.Doors())
	for _, text := range []string{"preamble version=2", helloWith(`"Authorization"="Bearer wrong"`), "raw 504f5354202f2048"} {
		a := dial(t, r)
		a.send(text)
		_, err := a.reader.Next()
		require.NoError(t, err, "a refusal")
		_ = a.conn.Close()
	}
	r.stop()
	all := board.Refusals()
	require.Len(t, all, 3)
	assert.Equal(t, "unsupported protocol version 2, want 1", all[2].Reason)
	assert.Equal(t, "Use an agent and a collector of the same version of Weft.", all[2].Remedy)
	assert.Equal(t, "credentials are missing or invalid", all[1].Reason)
	assert.Equal(t, remedyCredentials, all[1].Remedy)
	assert.Positive(t, all[1].PID)
	assert.Contains(t, all[0].Remedy, "Check that an agent connects there")
	for _, refusal := range all {
		assert.NotContains(t, refusal.Reason+refusal.Remedy+refusal.Service, "wrong")
		assert.NotEmpty(t, refusal.Remote)
		assert.False(t, refusal.At.IsZero())
	}
	assert.Empty(t, board.Doors(), "closed with the server")
}

// With TLS, the page says what is wrong on either side.
func TestRefusalsWithoutTLS(t *testing.T) {
	board := new(entrance.Board)
	server, _ := certificate(t)
	r := startWith(t, Settings{Out: outlettest.New(t, nil, outlettest.NewSink()), Entrance: board}, func(c *Config) {
		c.Endpoint, c.TLS = "127.0.0.1:0", configoptional.Some(server)
	})
	a := dial(t, r)
	a.send(hello)
	_, _ = a.reader.Next()
	address := r.listener.Addr().String()
	_, err := (&tls.Dialer{Config: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}}).DialContext(t.Context(), "tcp", address)
	require.ErrorContains(t, err, "certificate")
	await.Until(t, "both refusals are listed", func() bool { return len(board.Refusals()) == 2 })
	assert.Equal(t, "tls://"+address, board.Doors()[0].Address)
	all := board.Refusals()
	assert.ElementsMatch(t, []string{remedyPlain, remedyHandshake}, []string{all[0].Remedy, all[1].Remedy})
}
