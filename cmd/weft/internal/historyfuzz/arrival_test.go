// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/weft-otel/weft/receiver/jvmthreadreceiver"
)

// carrierSuffix is that of the name of a history that is carriers: the messages of OTLP between two collectors, each after its length.
const carrierSuffix = ".carriers"

// carrier returns the length of a message and of its length.
func carrier(b []byte) int {
	if len(b) < 4 {
		return len(b)
	}
	return 4 + int(binary.LittleEndian.Uint32(b))
}

// carriers returns what the receiver makes of a recording.
func carriers(t *testing.T, h *history) (all []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), h.name)
	require.NoError(t, os.WriteFile(path, h.data, 0o600))
	sink := new(consumertest.TracesSink)
	receive(t, path, sink)
	for _, td := range sink.AllTraces() {
		message, err := new(ptrace.ProtoMarshaler).MarshalTraces(td)
		require.NoError(t, err)
		all = append(binary.LittleEndian.AppendUint32(all, uint32(len(message))), message...)
	}
	return all
}

// deliver passes on carriers, as far as they are messages of OTLP.
func deliver(t *testing.T, data []byte, next consumer.Traces) {
	t.Helper()
	h := history{name: carrierSuffix, data: data}
	for _, message := range pieces(&h) {
		td, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(message[min(4, len(message)):])
		if err == nil {
			_ = next.ConsumeTraces(t.Context(), td) // an error refuses it
		}
	}
}

// receive reads a file with the receiver jvm_thread, or delivers carriers.
func receive(t *testing.T, path string, next consumer.Traces) {
	t.Helper()
	if strings.HasSuffix(path, carrierSuffix) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		deliver(t, data, next)
		return
	}
	run(t, map[string]any{"protocols": map[string]any{"file": map[string]any{"include": []any{path}}}}, nil, next, func(r component.Component) {
		<-r.(interface{ Finished() <-chan struct{} }).Finished()
	})
}

// stream sends a native recording as the stream of an agent.
func stream(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if !strings.HasSuffix(path, ".weft") {
		return
	}
	listener, err := net.Listen("unix", filepath.Join(filepath.Dir(path), "socket"))
	require.NoError(t, err)
	assemble(t, false, func(next consumer.Traces) {
		run(t, map[string]any{}, listener, next, func(component.Component) {
			connection, err := net.Dial("unix", listener.Addr().String())
			require.NoError(t, err)
			answered := make(chan struct{})
			go func() {
				_, _ = io.Copy(io.Discard, connection) // ends with the connection
				close(answered)
			}()
			_, err = connection.Write(data) // fails if the agent is refused
			if err == nil {
				_ = connection.(*net.UnixConn).CloseWrite() // fails like that
			}
			<-answered
			_ = connection.Close() // both sides have ended
		})
	})
}

// run starts a receiver, waits until it has received, and stops it.
func run(t *testing.T, settings map[string]any, listener net.Listener, next consumer.Traces, wait func(component.Component)) {
	t.Helper()
	factory := jvmthreadreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig().(*jvmthreadreceiver.Config)
	require.NoError(t, confmap.NewFromStringMap(settings).Unmarshal(cfg))
	cfg.Protocols.Stream.Listener = listener
	r, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(factory.Type()), cfg, next)
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context(), host{}))
	wait(r)
	require.NoError(t, r.Shutdown(context.Background()))
}
