// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// question is a call of a tool; a part of its answer, as a pattern.
type question struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`

	want string
}

// reply is what a client got.
type reply struct {
	Failed bool   `json:"failed"`
	Text   string `json:"text"`
}

// aboutExchange are questions about the sample exchange, whose matchers wait for the lock of the book that report holds.
func aboutExchange(span string) []question {
	return []question{
		{"list_sessions", nil, `exchange, session [0-9a-f]{8}, live`},
		{"hottest_locks", map[string]any{"session": "exchange"}, `for OrderBook \(lock\) in com\.acme\.orders\.\S+ \(\w+\.java:\d+\)`},
		{"list_incidents", map[string]any{"limit": 3}, `incidents? of session`},
		{"who_is_stuck", nil, `threads? waits? for locks`},
		{"deadlocks", nil, `: 0 deadlocks`},
		{"why", map[string]any{"thread": "matcher-1", "from": "-3s"}, `matcher-1 from`},
		{"why", map[string]any{"lock": "OrderBook"}, `at com\.acme\.orders\.`},
		{"explain_span", map[string]any{"span_id": span}, `A span of Weft in session [0-9a-f]{8} \(exchange\):\n\S+ \(thread \d+\): blocked OrderBook`},
		{"critical_path", map[string]any{"thread": "matcher-1", "from": "-3s"}, `By place:`},
		{"compare", map[string]any{"from": "-100ms"}, `Compared with session`},
		{"why", map[string]any{"thread": "clerk"}, `thread "clerk": not found`},
	}
}

func checkReplies(t *testing.T, questions []question, replies []reply, page string) {
	t.Helper()
	require.Len(t, replies, len(questions))
	for i, r := range replies {
		assert.Regexp(t, questions[i].want, r.Text, questions[i].Name)
		assert.LessOrEqual(t, len(r.Text), 8000)
		assert.Equal(t, strings.Contains(r.Text, "not found"), r.Failed, r.Text)
		if !r.Failed {
			assert.Contains(t, r.Text, "\nPage: "+page, questions[i].Name)
		}
	}
}

// TestAssistantsAskAboutALiveJVM lets the protocol's SDKs of two languages ask a collector about a JVM, and one through weft mcp.
func TestAssistantsAskAboutALiveJVM(t *testing.T) {
	c := startCollector(t, setup{})
	java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3600") // ends with the test
	page := "http://" + c.page + "/"
	questions := aboutExchange(blockedSpan(t, c))

	t.Run("Go", func(t *testing.T) {
		transport := mcp.StreamableClientTransport{Endpoint: page + "mcp", HTTPClient: http.DefaultClient, DisableStandaloneSSE: true}
		checkReplies(t, questions, askWithGo(t, &transport, questions), page)
	})
	t.Run("TypeScript", func(t *testing.T) { checkReplies(t, questions, askWithTypeScript(t, questions, page+"mcp"), page) })
	t.Run("stdio", func(t *testing.T) {
		checkReplies(t, questions, askWithTypeScript(t, questions, "--", built("weft"), "mcp", "--page", page), page)
	})
}

// blockedSpan waits for an incident of the exchange, and returns the span ID of a wait for its lock.
func blockedSpan(t *testing.T, c *collector) (id string) {
	t.Helper()
	poll(t, "a matcher was blocked", func() bool {
		var list pageSessions
		fromPage(t, c, "sessions", &list)
		if len(list.Sessions) == 0 {
			return false
		}
		session := "sessions/" + list.Sessions[0].ID
		var callers struct {
			Callers []struct {
				Class   string `json:"class"`
				Longest struct {
					Thread struct {
						ID int64 `json:"id"`
					} `json:"thread"`
					Seq int `json:"seq"`
				} `json:"longest"`
			} `json:"callers"`
		}
		var incidents struct {
			Total int `json:"total"`
		}
		fromPage(t, c, session+"/incidents", &incidents)
		fromPage(t, c, session+"/callers", &callers)
		for _, row := range callers.Callers {
			if row.Class != "com.acme.orders.OrderBook" || incidents.Total == 0 {
				continue
			}
			var interval struct {
				Span struct {
					SpanID string `json:"span_id"`
				} `json:"span"`
			}
			fromPage(t, c, fmt.Sprintf("%s/interval?thread=%d&seq=%d", session, row.Longest.Thread.ID, row.Longest.Seq), &interval)
			id = interval.Span.SpanID
		}
		return id != ""
	})
	return id
}

func askWithGo(t *testing.T, transport mcp.Transport, questions []question) (replies []reply) {
	t.Helper()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "weft-e2e"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	list, err := client.ListTools(t.Context(), nil)
	require.NoError(t, err)
	assert.Len(t, list.Tools, 9)
	for _, q := range questions {
		result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: q.Name, Arguments: q.Arguments})
		require.NoError(t, err)
		text, ok := result.Content[0].(*mcp.TextContent)
		require.True(t, ok)
		replies = append(replies, reply{result.IsError, text.Text})
	}
	require.NoError(t, client.Close())
	return replies
}

// askWithTypeScript runs e2e/assistants/ask.mjs.
func askWithTypeScript(t *testing.T, questions []question, server ...string) (replies []reply) {
	t.Helper()
	folder := filepath.Join(root, "e2e", "assistants")
	require.True(t, exists(filepath.Join(folder, "node_modules", ".installed")), "run make e2e/assistants/node_modules/.installed")
	var in strings.Builder
	for _, q := range questions {
		if q.Arguments == nil {
			q.Arguments = map[string]any{}
		}
		line, err := json.Marshal(q)
		require.NoError(t, err)
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), installed(t, "node"), append([]string{filepath.Join(folder, "ask.mjs")}, server...)...)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	assert.Contains(t, lines[0], `{"server":"weft"`)
	for _, line := range lines[1:] {
		var r reply
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		replies = append(replies, r)
	}
	return replies
}

// TestEndOfAnAssistant ends weft mcp as assistants do: by closing its input, or with a signal. Its output is the protocol's and nothing else.
func TestEndOfAnAssistant(t *testing.T) {
	recording := filepath.Join(root, "cmd", "weft", "internal", "commands", "testdata", "checkout.weft.zst")
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`
	for name, end := range map[string]func(*testing.T, *process){
		"end of input": func(t *testing.T, p *process) {
			require.NoError(t, p.stdin.Close())
			assert.Zero(t, p.wait(t), "exit code")
		},
		"SIGTERM": func(t *testing.T, p *process) { interrupted(t, p, syscall.SIGTERM) },
		"SIGINT":  func(t *testing.T, p *process) { interrupted(t, p, syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, built("weft"), "mcp", recording)
			_, err := p.stdin.Write([]byte(hello + "\n"))
			require.NoError(t, err)
			poll(t, "weft answers", func() bool { return len(p.outLines()) > 0 })
			end(t, p)
			assert.Len(t, p.outLines(), 1)
			assert.True(t, json.Valid([]byte(p.outLines()[0])))
			assert.Empty(t, p.errLines())
		})
	}
}

func interrupted(t *testing.T, p *process, signal syscall.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(signal))
	assert.Zero(t, p.wait(t), "exit code")
}

// TestAssistantsExplainARequest asks about spans of OpenTelemetry's SDK: a request that was blocked.
func TestAssistantsExplainARequest(t *testing.T) {
	jars := filepath.Join(built("otel"), "*")
	require.True(t, exists(built("weft-otel.jar")), "run make build/weft-otel.jar")
	programs := t.TempDir()
	out, err := exec.Command(filepath.Join(jdks[0].Home, "bin", "javac"), "--release", "11", "-cp", jars, "-d", programs,
		filepath.Join(root, "e2e/otel/Requests.java"), filepath.Join(root, runtimes.BlockedJava)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	c := startCollector(t, setup{})
	var truth struct {
		Monitor struct {
			Holder request `json:"holder"`
			Waiter request `json:"waiter"`
		} `json:"monitor"`
	}
	runJava(t, jdks[0], c.endpoint, "requests", &truth, "-cp", jars+":"+built("weft-otel.jar")+":"+programs, "Requests")
	poll(t, "the page shows that the session has ended", func() bool {
		var list pageSessions
		fromPage(t, c, "sessions", &list)
		return len(list.Sessions) == 1 && !list.Sessions[0].Live
	})
	page := "http://" + c.page + "/"
	questions := []question{{
		"explain_span", map[string]any{"span_id": truth.Monitor.Waiter.Span}, `was current on waiter:\n(.*\n)+.*blocked Requests\$Account.*\n +holder held it: .*\n`,
	}}
	transport := mcp.StreamableClientTransport{Endpoint: page + "mcp", HTTPClient: http.DefaultClient, DisableStandaloneSSE: true}
	checkReplies(t, questions, askWithGo(t, &transport, questions), page)
}
