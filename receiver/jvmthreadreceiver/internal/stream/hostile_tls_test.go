// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package stream

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/wire"
)

// Types of records, and what an alert says (RFC 5246, 6.2.1 and 7.2).
const (
	recordChange    = 20
	recordAlert     = 21
	recordHandshake = 22

	alertUnexpectedMessage = 10
)

// renegotiation is a second handshake on a TLS 1.2 connection that serves a session. Go's client cannot do that, so its keys are used to
// encrypt the hello. That the answer is unexpected_message, rather than bad_record_mac, proves that the server could read it.
func renegotiation() attack {
	return attack{"TLS renegotiation", "a client's hello, encrypted, on a TLS 1.2 connection with a session", overTLS, func(h *hostile) string {
		var keys bytes.Buffer
		conn := &tapped{Conn: h.connect()}
		client := tls.Client(conn, &tls.Config{
			RootCAs: h.pool, ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS12, KeyLogWriter: &keys,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		})
		a := &agent{tb: h, conn: client, reader: wire.NewReader(client, wire.MaxControl)}
		a.greet(another(1))
		sent, got := records(h, conn.sent.Bytes()), records(h, conn.got.Bytes())
		out, in := trafficKeys(h, keys.String(), got[0].payload)
		hello := sent[0].payload
		_, err := conn.Write(seal(out, sealed(sent), record{recordHandshake, hello}))
		require.NoError(h, err)
		_, _ = client.Read(make([]byte, 1)) // an error, after what the server sent
		_ = h.outcome(&agent{tb: h, conn: conn, reader: wire.NewReader(conn, wire.MaxControl)})
		got = records(h, conn.got.Bytes())
		last := slices.IndexFunc(got, func(r record) bool { return r.kind == recordAlert })
		require.GreaterOrEqual(h, last, 0, "the server sent no alert")
		alert, err := in.Open(nil, nonce(in, got[last].payload[:8]), got[last].payload[8:], extra(sealed(got[:last]), recordAlert, 2))
		require.NoError(h, err)
		assert.EqualValues(h, alertUnexpectedMessage, alert[1])
		return "closed: unexpected_message"
	}}
}

// tapped keeps what passes a connection.
type tapped struct {
	net.Conn

	sent, got bytes.Buffer
}

func (t *tapped) Write(p []byte) (int, error) {
	t.sent.Write(p)
	return t.Conn.Write(p)
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.got.Write(p[:n])
	return n, err
}

// record is one of TLS, as it is on the wire.
type record struct {
	kind    byte
	payload []byte
}

const recordHeader = 5

func records(tb testing.TB, b []byte) (all []record) {
	tb.Helper()
	for len(b) >= recordHeader {
		end := recordHeader + int(binary.BigEndian.Uint16(b[3:]))
		require.LessOrEqual(tb, end, len(b))
		all = append(all, record{b[0], b[recordHeader:end]})
		b = b[end:]
	}
	return all
}

// sealed returns how many records are encrypted, which is the sequence number of the next one.
func sealed(all []record) uint64 {
	change := slices.IndexFunc(all, func(r record) bool { return r.kind == recordChange })
	return uint64(len(all) - change - 1)
}

// trafficKeys derives the keys of both directions from the client's key log and the server's hello (RFC 5246, 6.3).
func trafficKeys(tb testing.TB, log string, serverHello []byte) (client, server *gcm) {
	tb.Helper()
	words := strings.Fields(log)
	require.Len(tb, words, 3)
	clientRandom, err := hex.DecodeString(words[1])
	require.NoError(tb, err)
	master, err := hex.DecodeString(words[2])
	require.NoError(tb, err)
	const random = 6 // type, length and version precede it
	seed := slices.Concat([]byte("key expansion"), serverHello[random:random+32], clientRandom)
	sum := func(parts ...[]byte) []byte {
		mac := hmac.New(sha256.New, master)
		mac.Write(slices.Concat(parts...))
		return mac.Sum(nil)
	}
	var block []byte
	for a := sum(seed); len(block) < 40; a = sum(a) {
		block = append(block, sum(a, seed)...)
	}
	return newGCM(tb, block[:16], block[32:36]), newGCM(tb, block[16:32], block[36:40])
}

// gcm is one direction.
type gcm struct {
	cipher.AEAD

	salt []byte
}

func newGCM(tb testing.TB, key, salt []byte) *gcm {
	tb.Helper()
	block, err := aes.NewCipher(key)
	require.NoError(tb, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(tb, err)
	return &gcm{aead, salt}
}

func nonce(g *gcm, explicit []byte) []byte { return slices.Concat(g.salt, explicit) }

// extra is what a record authenticates besides its content.
func extra(sequence uint64, kind byte, length int) []byte {
	b := binary.BigEndian.AppendUint64(nil, sequence)
	return binary.BigEndian.AppendUint16(append(b, kind, 3, 3), uint16(length))
}

// seal encrypts a record.
func seal(g *gcm, sequence uint64, r record) []byte {
	explicit := binary.BigEndian.AppendUint64(nil, sequence)
	content := g.Seal(explicit, nonce(g, explicit), r.payload, extra(sequence, r.kind, len(r.payload)))
	return append(binary.BigEndian.AppendUint16([]byte{r.kind, 3, 3}, uint16(len(content))), content...)
}
