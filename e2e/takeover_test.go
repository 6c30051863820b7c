// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
)

// takeovers are what a client tries that knows a session's ID, which is in each span, but not its secret. The texts follow a hello.
var takeovers = []struct {
	name   string
	secret bool // sends one, which is not the session's
	acked  bool // claims that another receiver has a billion batches
	then   string
}{
	{name: "take over", then: "batch sequence=2"},
	{name: "take over with a secret", secret: true, then: "batch sequence=2"},
	{name: "silence", secret: true, then: "batch sequence=1000000000"},
	{name: "silence by an acknowledgement", secret: true, acked: true},
	{name: "end", secret: true, then: "end reason=1"},
	{name: "end without a secret", then: "end reason=1"},
}

// TestForeignClientsCannotTouchASession runs a JVM while a hostile client tries all of that again and again, also while the agent's connection
// is broken and the session waits for it. Each attempt is refused, and nothing of the session is lost, repeated or ended.
func TestForeignClientsCannotTouchASession(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		address := freeAddress(t)
		c := startCollector(t, setup{endpoint: "tcp://" + address, more: []string{stream + "session_linger: 5m"}})
		network := newProxy(t, "tcp", freeAddress(t), address)
		network.calm.Store(true)
		jvm := java(t, j, "tcp://"+network.listener.Addr().String(), "victim", "Idle")
		var session string
		poll(t, "the session's ID is in a span", func() bool {
			if roots := c.spans(t).Roots("victim"); len(roots) > 0 {
				session = roots[0].Session
			}
			return session != ""
		})
		const rounds, cuts = 30, 5
		for round := range rounds {
			if round%(rounds/cuts) == 0 {
				poll(t, "the agent is connected again", network.connected)
				network.cutAll()
			}
			for _, try := range takeovers {
				hello := fmt.Sprintf("preamble version=1\nhello session=%s wall=1000000 monotonic=0 pid=42", session)
				if try.acked {
					hello += " acked=1000000000"
				}
				if try.secret {
					foreign := wire.Secret{byte(round), 1}
					hello += " secret=" + hex.EncodeToString(foreign[:])
				}
				refuse := refused(t, address, hello+` "service.name"="victim"`+"\n"+try.then+"\n")
				require.Equal(t, wire.RefuseUnauthorized, refuse.Code, "%s: %s", try.name, refuse.Message)
			}
		}
		require.NoError(t, writeLine(jvm))
		require.Zero(t, jvm.wait(t))
		assert.Empty(t, jvm.errLines())
		o := c.finish(t, "victim")
		checkIdle(t, o, "victim", jvm)
		spantest.CheckNothingLost(t, o)
		spantest.CheckStructure(t, o)
		assert.Equal(t, 1, o.Cuts("victim")["end"])
		for _, root := range o.Roots("victim") {
			assert.Equal(t, session, root.Session)
		}
		for _, line := range c.errLines() {
			assert.NotContains(t, line, "Session lost")
		}
	})
}

// refused connects, sends a text, and returns how it is refused. It gets no other frame.
func refused(t *testing.T, address, text string) (refuse wire.Refuse) {
	t.Helper()
	b, err := wiretext.AppendStream(nil, text)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = conn.Write(b)
	require.NoError(t, err)
	for reader, frames := wire.NewReader(conn, wire.MaxControl), 0; ; frames++ {
		frame, err := reader.Next()
		if errors.Is(err, io.EOF) {
			require.Equal(t, 1, frames)
			return refuse
		}
		require.NoError(t, err)
		refuse, err = frame.Refuse()
		require.NoError(t, err, "%v", frame.Kind)
	}
}
