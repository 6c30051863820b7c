// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// stacks are those of stack=1, stack=2, ... in a history.
var stacks = []string{
	"at com.acme.Book.add(Book.java:7)\n- lock Book.lock\nat com.acme.Shop.buy(Shop.java:20)\n",
	"at java.lang.Thread.sleep(Native Method)\nat com.acme.Report.write(Report.java:30)\n",
	"at com.acme.Account.settle(Account.java:4)\nat com.acme.Bank.run(Bank.java:2)\n",
	"at jdk.internal.misc.Unsafe.park(Native Method)\nat com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:162)\n" +
		"at com.acme.Shop.pay(Shop.java:31)\n",
}

// origin is the start of all sessions.
const origin = jvmthread.Time(1_772_620_200_000_000_000)

// addSession adds a session with a history in the text form of threadtest, whose times are microseconds. The names of threads are those in the
// text unless there is another one.
func addSession(tb testing.TB, st *store.Store, id byte, service, text string, names map[string]string) *store.Session {
	tb.Helper()
	h, err := threadtest.Parse(text)
	require.NoError(tb, err)
	sym := h.Symbols()
	for _, stack := range stacks {
		sym.InternStack(stack)
	}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 2 {
			name, ok := names[fields[1]]
			if !ok {
				name = fields[1]
			}
			sym.SetThread(jvmthread.Thread{ID: h.Thread(fields[1]), Name: name})
		}
	}
	for i := range h.Events {
		ev := &h.Events[i]
		ev.Time = origin + ev.Time*jvmthread.Time(time.Microsecond)
		if ev.Kind == jvmthread.KindRequestEnd {
			ev.Arg *= int64(time.Microsecond)
		}
	}
	s := st.Open(jvmthread.SessionID{0: id, 15: 1}, store.Meta{"service.name": service, "host.name": "h1", "process.pid": "7", "process.runtime.version": "21"})
	e := drive.New(engine.DefaultConfig(), sym)
	e.Watch(func(events []jvmthread.Event) { s.Events(events, sym) })
	e.Add(ordering.Batch{Number: 1, Watermark: h.Events[len(h.Events)-1].Time + 1, Events: h.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { s.Append(w, sym) })
	return s
}

// pageOf returns the handler of a page without a guard of its own.
func pageOf(tb testing.TB, st *store.Store) http.Handler {
	tb.Helper()
	view := server.New(st, server.Config{})
	tb.Cleanup(view.Close)
	return view.Handler()
}

// connected returns the SDK's client of a server whose tools ask a page.
func connected(tb testing.TB, h http.Handler) *mcp.ClientSession {
	tb.Helper()
	base, err := url.Parse("http://localhost:8090/")
	require.NoError(tb, err)
	own, other := mcp.NewInMemoryTransports()
	_, err = New("1.2.3", page.Of(h), base).Connect(tb.Context(), own, nil)
	require.NoError(tb, err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(tb.Context(), other, nil)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = client.Close() }) // the server is closed with it
	return client
}

// ask calls a tool with arguments as JSON, and returns its text.
func ask(tb testing.TB, c *mcp.ClientSession, tool, arguments string) (text string, failed bool) {
	tb.Helper()
	result, err := c.CallTool(tb.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	require.NoError(tb, err, "%s %s", tool, arguments)
	require.Len(tb, result.Content, 1)
	content, ok := result.Content[0].(*mcp.TextContent)
	require.True(tb, ok)
	return content.Text, result.IsError
}

func newStore() *store.Store { return store.New(math.MaxInt64, nil) }
