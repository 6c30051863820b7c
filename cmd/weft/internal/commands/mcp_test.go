// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// asked runs weft mcp with the SDK's client at the other end until the function returns, and checks how it ends.
func asked(t *testing.T, use func(*mcp.ClientSession), args ...string) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var errs strings.Builder
	ended := make(chan int, 1)
	go func() {
		ended <- Run(&Program{Version: "1.2.3", In: in, Out: out, Err: &errs}, append([]string{"mcp"}, args...))
		_ = out.Close()
	}()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	assert.Equal(t, "1.2.3", client.InitializeResult().ServerInfo.Version)
	use(client)
	require.NoError(t, toServer.Close()) // the assistant goes away
	assert.Equal(t, exitOK, <-ended, errs.String())
	assert.Empty(t, errs.String())
	_ = client.Close() // the pipes are closed already
}

// answered calls a tool that must succeed.
func answered(t *testing.T, c *mcp.ClientSession, tool, arguments string) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	text, ok := result.Content[0].(*mcp.TextContent)
	require.True(t, ok && !result.IsError, "%v", result.Content)
	return text.Text
}

// checkout is a recording of the shop of e2e/requests under load.
const checkout = "testdata/checkout.weft.zst"

// Three questions lead from a slow checkout to the line of code. The documentation shows some of them.
func TestTranscript(t *testing.T) {
	const file = "testdata/checkout.txt"
	names, bodies := golden.Read(t, file)
	asked(t, func(c *mcp.ClientSession) {
		for _, name := range names {
			if tool, arguments, ok := strings.Cut(name, " "); ok {
				bodies[name] = answered(t, c, tool, arguments)
			}
		}
	}, checkout)
	golden.Compare(t, file, golden.Join(names, bodies))
	doc, err := os.ReadFile("../../../../docs/assistants.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)```text\n> ([^\n]*)\n(.*?)```\n").FindAllStringSubmatch(string(doc), -1)
	assert.NotEmpty(t, shown)
	for _, match := range shown {
		assert.Equal(t, bodies[match[1]], match[2], "the answer of %s in docs/assistants.md", match[1])
	}
}

// A page is asked over HTTP, and answers have links to it.
func TestQuestionsToAPage(t *testing.T) {
	p := Program{Err: io.Discard}
	view, err := p.readAll(t.Context(), []string{checkout}, &readOptions{})
	require.NoError(t, err)
	defer view.Close(t.Context())
	server := httptest.NewServer(view.Handler())
	defer server.Close()
	asked(t, func(c *mcp.ClientSession) {
		text := answered(t, c, "hottest_locks", `{"session":"checkout"}`)
		assert.Contains(t, text, "Inventory.lock")
		assert.Contains(t, text, "\nPage: "+server.URL+"/#range=")
		assert.NotContains(t, text, "secret")
	}, "--page", strings.Replace(server.URL, "://", "://me:secret@", 1))
	asked(t, func(c *mcp.ClientSession) {
		result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_sessions", Arguments: struct{}{}})
		require.NoError(t, err)
		assert.True(t, result.IsError)
		text, ok := result.Content[0].(*mcp.TextContent)
		require.True(t, ok)
		assert.Contains(t, text.Text, "check that this is the page of Weft")
		assert.NotContains(t, text.Text, "secret")
	}, "--page", strings.Replace(server.URL, "://", "://me:secret@", 1)+"/elsewhere")
}
