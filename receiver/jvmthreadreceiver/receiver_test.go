// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/file"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

func TestShutdownGivesUpOnABlockedConsumer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	recording, err := wiretext.AppendStream(nil, outlettest.Hello+"batch sequence=1 watermark=5\nend time=6 reason=1")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, recording, 0o600))
	next := outlettest.NewSink()
	called, release := make(chan struct{}), make(chan struct{})
	notify := sync.OnceFunc(func() { close(called) })
	next.Answer = func(context.Context, ptrace.Traces) error {
		notify()
		<-release
		return consumererror.NewPermanent(assert.AnError)
	}
	cfg := createDefaultConfig().(*Config)
	cfg.filesOnly = true
	files := file.DefaultConfig()
	files.Include = []string{path}
	cfg.Protocols.File = configoptional.Some(files)
	r, err := newThreadReceiver(receivertest.NewNopSettings(metadata.Type), cfg, next)
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context(), componenttest.NewNopHost()))
	<-called
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.EqualError(t, r.Shutdown(ctx), "the next component still holds a batch: context canceled")
	close(release)
	r.wg.Wait()
	require.NoError(t, r.Shutdown(t.Context()), "second shutdown")
}

// An edge with a key signs what it sends.
func TestBatchesAreSigned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	recording, err := wiretext.AppendStream(nil, outlettest.Hello+"batch sequence=1 watermark=5\nend time=6 reason=1")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, recording, 0o600))
	next := outlettest.NewSink()
	checked := 0
	cfg := createDefaultConfig().(*Config)
	cfg.filesOnly, cfg.Carriers.Key = true, "0123456789abcdef0123456789abcdef"
	keys, err := cfg.Carriers.Load()
	require.NoError(t, err)
	next.Answer = func(_ context.Context, td ptrace.Traces) error {
		for _, span := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
			assert.Equal(t, origin.Genuine, keys.Check(span))
			checked++
		}
		return nil
	}
	files := file.DefaultConfig()
	files.Include = []string{path}
	cfg.Protocols.File = configoptional.Some(files)
	r, err := newThreadReceiver(receivertest.NewNopSettings(metadata.Type), cfg, next)
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context(), componenttest.NewNopHost()))
	<-r.Finished()
	require.NoError(t, r.Shutdown(t.Context()))
	assert.Equal(t, 2, checked, "a batch and the end")
}

func TestRemoteControlRequiresTheExtension(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.False(t, cfg.RemoteControl)
	cfg.RemoteControl = true
	rcv, err := createTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, outlettest.NewSink())
	require.NoError(t, err)
	require.EqualError(t, rcv.Start(t.Context(), componenttest.NewNopHost()),
		`remote_control: extension "agent_control" not found; configure it under extensions and add it to service::extensions`)
	require.NoError(t, rcv.Shutdown(t.Context()))
}

func TestAuthRequiresTheExtension(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Protocols.Stream.Endpoint = "unix://" + filepath.Join(threadtest.SocketDir(t), "s")
	cfg.Protocols.Stream.Auth = configoptional.Some(configauth.Config{AuthenticatorID: component.MustNewID("bearertokenauth")})
	rcv, err := createTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, outlettest.NewSink())
	require.NoError(t, err)
	require.EqualError(t, rcv.Start(t.Context(), componenttest.NewNopHost()),
		`protocols::stream::auth: failed to resolve authenticator "bearertokenauth": authenticator not found; `+
			`configure one such as bearertokenauth under extensions and add it to service::extensions`)
	require.NoError(t, rcv.Shutdown(t.Context()))
}

// Components that fail to start are not shut down.
func TestStorageIsClosedWhenTheListenerFails(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Protocols.Stream.Endpoint = "unix://" + filepath.Join(threadtest.SocketDir(t), "no", "folder", "s")
	files := file.DefaultConfig()
	id := component.MustNewID("memory")
	files.Include, files.Storage = []string{"x"}, &id
	cfg.Protocols.File = configoptional.Some(files)
	rcv, err := createTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, outlettest.NewSink())
	require.NoError(t, err)
	client := &closable{}
	require.ErrorContains(t, rcv.Start(t.Context(), client.host(id)), "the folder of socket")
	require.NoError(t, rcv.Shutdown(t.Context()))
	assert.Equal(t, 1, client.closed)
}

func TestAgentOptionsAreChecked(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.AgentOptions = map[string]string{"depth": ""}
	require.ErrorContains(t, cfg.Validate(), "agent_options: \"depth\": \"\" lacks a key or a value")
	cfg.AgentOptions = map[string]string{"depth": strings.Repeat("8", maxAgentOptions)}
	require.ErrorContains(t, cfg.Validate(), "use at most 16384")
}

// closable is a storage extension that counts how often its client is closed.
type closable struct {
	component.StartFunc
	component.ShutdownFunc
	storage.Client

	closed int
}

func (c *closable) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return c, nil
}

func (c *closable) Close(context.Context) error {
	c.closed++
	return nil
}

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func (c *closable) host(id component.ID) component.Host { return host{id: c} }
