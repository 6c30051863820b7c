// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package origin_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/threadpdata"
)

var key = strings.Repeat("k", 32)

func load(t testing.TB, text string) *origin.Keys {
	t.Helper()
	keys, err := (&origin.Config{Key: configopaque.String(text)}).Load()
	require.NoError(t, err)
	return keys
}

// carrier returns a span with so many bytes of a batch.
func carrier(size int) (ptrace.Traces, ptrace.Span) {
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1, 2, 3})
	span.SetSpanID(pcommon.SpanID{4, 5})
	span.Attributes().PutInt("weft.raw.version", 1)
	span.Attributes().PutInt("weft.raw.batch.events", 3)
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * i)
	}
	span.Attributes().PutEmptyBytes("weft.raw.batch.bytes").FromRaw(data)
	return td, span
}

// Other releases must compute the same, here computed with another implementation of HMAC.
func TestSignature(t *testing.T) {
	_, span := carrier(1000)
	load(t, key).Sign(span)
	mac, ok := threadpdata.MACOf(span)
	require.True(t, ok)
	assert.Equal(t, "9d6b6c23176a7d5f67b942e3268ea7b7", pcommon.TraceID(mac).String())
}

func TestSignatureIsSmall(t *testing.T) {
	sizer := ptrace.ProtoMarshaler{}
	td, span := carrier(100)
	before := sizer.TracesSize(td)
	load(t, key).Sign(span)
	assert.Equal(t, 36, sizer.TracesSize(td)-before)
}

func TestWithoutKeysNothingIsSigned(t *testing.T) {
	keys, err := (&origin.Config{}).Load()
	require.NoError(t, err)
	assert.Nil(t, keys)
	_, span := carrier(10)
	keys.Sign(span)
	assert.Equal(t, 3, span.Attributes().Len())
	assert.Equal(t, origin.Unsigned, load(t, key).Check(span))
}

func TestKeysOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte(key+"\n"+strings.Repeat("l", 40)+"\n"), 0o600))
	keys, err := (&origin.Config{KeyFile: path}).Load()
	require.NoError(t, err)
	_, span := carrier(300)
	load(t, strings.Repeat("l", 40)).Sign(span)
	assert.Equal(t, origin.Genuine, keys.Check(span))
	load(t, key).Sign(span)
	assert.Equal(t, origin.Genuine, keys.Check(span))
	load(t, strings.Repeat("m", 40)).Sign(span)
	assert.Equal(t, origin.Forged, keys.Check(span))
}

// Errors name the option and the remedy, and no key.
func TestBadKeys(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, test := range []struct {
		cfg  origin.Config
		want string
	}{
		{origin.Config{Key: "secret"}, "carriers: key: key 1 has 6 characters, use at least 32, such as the output of: openssl rand -hex 32"},
		{origin.Config{Key: configopaque.String(strings.Repeat(key+" ", 9))}, "carriers: key: 9 keys, use at most 8"},
		{origin.Config{KeyFile: file("none", " \n")}, "has no key; write one, such as the output of: openssl rand -hex 32"},
		{origin.Config{KeyFile: file("short", key+"\nsecret")}, "key 2 has 6 characters, use at least 32"},
		{origin.Config{KeyFile: file("long", strings.Repeat(" ", 1<<14+1))}, "more than 16384 bytes; it should have a key on each line"},
		{origin.Config{KeyFile: folder + "/missing"}, "carriers: key_file: open " + folder + "/missing: no such file or directory"},
	} {
		_, err := test.cfg.Load()
		require.ErrorContains(t, err, test.want)
		assert.NotContains(t, err.Error(), "secret")
		if test.cfg.Key != "" {
			require.Error(t, test.cfg.Validate())
		}
	}
	require.EqualError(t, (&origin.Config{Key: configopaque.String(key), KeyFile: "k"}).Validate(), "key, key_file: set one of them")
	require.NoError(t, (&origin.Config{}).Validate())
}

type user map[string]any

func (u user) GetAttribute(name string) any { return u[name] }
func (user) GetAttributeNames() []string    { return nil }

// Who has authenticated is one sender wherever he is; two ports of a host are one.
func TestSenders(t *testing.T) {
	at := func(addr net.Addr, auth client.AuthData) origin.Sender {
		return origin.SenderOf(client.NewContext(t.Context(), client.Info{Addr: addr, Auth: auth}))
	}
	a, b := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}, &net.IPAddr{IP: net.IPv4(10, 0, 0, 2)}
	assert.Equal(t, at(a, nil), at(&net.TCPAddr{IP: net.IP{10, 0, 0, 1}, Port: 2}, user{"subject": 7}))
	assert.NotEqual(t, at(a, nil), at(b, nil))
	assert.Equal(t, at(a, user{"subject": "edge"}), at(b, user{"subject": "edge"}))
	assert.NotEqual(t, at(a, user{"subject": "edge"}), at(a, user{"username": "edge"}))
	assert.Empty(t, at(&net.UnixAddr{Name: "@"}, nil))
	assert.Empty(t, origin.SenderOf(t.Context()))
	assert.NotEmpty(t, origin.SenderOf(threadpdata.Direct(context.Background())))
}

// The cost of a batch of 20 events, as an agent sends a hundred of each second.
func BenchmarkCheck(b *testing.B) {
	keys := load(b, key)
	_, span := carrier(1000)
	keys.Sign(span)
	b.ReportAllocs()
	for b.Loop() {
		if keys.Check(span) != origin.Genuine {
			b.Fatal("not genuine")
		}
	}
}

// BenchmarkSign replaces a signature, which has its memory then.
func BenchmarkSign(b *testing.B) {
	keys := load(b, key)
	_, span := carrier(1000)
	b.ReportAllocs()
	for b.Loop() {
		keys.Sign(span)
	}
}
