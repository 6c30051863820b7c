// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/local/localtest"
	"github.com/weft-otel/weft/internal/assistant"
	pageclient "github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/viewapi"
)

// page reads a history as weft view does, and asks the page and the assistant all that they answer.
func page(t *testing.T, path string) {
	t.Helper()
	ctx := t.Context()
	view, _ := localtest.Open(t, path) // problems are the point
	client := pageclient.Of(view.Handler())
	list, err := client.Sessions(ctx)
	require.NoError(t, err)
	for i := range list.Sessions {
		askPage(t, view.Handler(), &list.Sessions[i])
	}
	askAssistant(t, client, list.Sessions)
}

// askPage requests each answer about a session.
func askPage(t *testing.T, page http.Handler, s *viewapi.Session) {
	t.Helper()
	session := "/api/sessions/" + s.ID
	get(t, page, session)
	var threads viewapi.Threads
	if body := get(t, page, session+"/threads"); body != nil {
		require.NoError(t, json.Unmarshal(body, &threads))
	}
	thread := uint64(1)
	if len(threads.Threads) > 0 {
		thread = threads.Threads[0].ID
	}
	half := fmt.Sprintf("from=%d&to=%d", s.From, s.From+(s.To-s.From)/2)
	for _, name := range server.Endpoints() {
		for _, query := range []string{
			"", half, half + "&limit=1", "savings=true", fmt.Sprintf("thread=%d", thread), fmt.Sprintf("thread=%d&at=%d", thread, s.From),
			fmt.Sprintf("at=%d&idle=true", s.To), "id=1", "q=a", "width=100", "by=pool", "mode=unbounded",
			fmt.Sprintf("%s&before_from=%d&before_to=%d", half, s.From+(s.To-s.From)/2, s.To),
		} {
			get(t, page, session+"/"+name+"?"+query)
		}
	}
	for _, table := range []string{"threads", "classes", "callers", "kinds", "holders", "compare", "locks", "path", "requests", "log", "intervals"} {
		get(t, page, session+"/export?table="+table)
	}
	for _, format := range []string{"native", "otlp", "perfetto"} {
		download := &download{header: http.Header{}}
		page.ServeHTTP(download, request(session+"/download?format="+format))
		assert.Contains(t, []int{0, http.StatusOK, http.StatusUnprocessableEntity}, download.status, format)
	}
}

// get returns the answer to a request, nil if the page says why it has none.
func get(t *testing.T, page http.Handler, path string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	page.ServeHTTP(w, request(path))
	switch w.Code {
	case http.StatusOK:
		assert.True(t, w.Header().Get("Content-Type") != "application/json" || json.Valid(w.Body.Bytes()), path)
		return w.Body.Bytes()
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		var answer viewapi.Error
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), path)
		assert.NotEmpty(t, answer.Error, path)
	default:
		t.Errorf("%s: %d %s", path, w.Code, w.Body)
	}
	return nil
}

func request(path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.Host = "localhost:1"
	return r
}

// download counts the bytes of a file and drops them: some are long.
type download struct {
	header http.Header
	status int
	length int
}

func (d *download) Header() http.Header { return d.header }

func (d *download) WriteHeader(status int) { d.status = status }

func (d *download) Write(p []byte) (int, error) {
	d.length += len(p)
	return len(p), nil
}

// askAssistant calls each tool, about each session.
func askAssistant(t *testing.T, client *pageclient.Client, sessions []viewapi.Session) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	near, far := mcp.NewInMemoryTransports()
	answering, err := assistant.New("1", client, nil).Connect(ctx, far, nil)
	require.NoError(t, err)
	defer answering.Close() //nolint:errcheck // the other side ends it as well
	asking, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, near, nil)
	require.NoError(t, err)
	defer asking.Close() //nolint:errcheck // see above
	tools, err := asking.ListTools(ctx, nil)
	require.NoError(t, err)
	for _, tool := range tools.Tools {
		arguments := []map[string]any{{}}
		for i := range sessions {
			arguments = append(arguments, map[string]any{"session": sessions[i].ID})
		}
		for _, given := range arguments {
			_, err := asking.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: given})
			assert.NoError(t, err, tool.Name)
		}
	}
}
