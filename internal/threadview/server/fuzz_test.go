// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Every query gets a small JSON response; errors contain a message.
func FuzzQuery(f *testing.F) {
	for _, what := range server.Endpoints() {
		for _, query := range []string{
			"", "from=100&to=90", "limit=1", "from=-1&to=9007199254740992&width=4000", "threads=1,2-5&name=w.*&sort=blocked.time&order=asc", "thread=2&at=500",
			"width=0", "limit=99999999", "by=pool&holder=1-3&lock=Account", "wait=lock&contended=true&per_name=2&keep=3", "q=m&what=wait,notify&cursor=100%2B3", "cursor=x", "locks=1-3&class=com.acme.Account", "kind=waited&sort=stats.max",
			"sort=states.99.time", "sort=blocked", "hide=idle&state=blocked,waiting", "id=1", "from=500&to=500", "offset=7&limit=1", "mode=unbounded&thread=77",
			"threads=&name=%28", "savings=true&group=main&pool=worker-%2A", "width=3&from=1&to=2", "at=700&idle=true&sort=holder.name", "before_from=0&from=300&limit=3&name=OrderBook",
			"kind=lost_notify,deadlock&lock=book&thread=w&threads=1-3&sort=from", "request=0123456789abcdef0123456789abcdef", "request=%C3%A9&offset=3",
		} {
			f.Add(what, query)
		}
	}
	sym := symbols.New(symbols.DefaultLimits())
	for _, c := range classNames[1:] {
		sym.InternClass(c)
	}
	st := store.New(math.MaxInt64, nil)
	session := st.Open(sessionID, nil)
	run(dress(threadtest.Simulate(1, 7, 3, 600).Events, sym), 500, func(w *window.Window) { session.Append(w, sym) })
	session.Close(window.CutEnd)
	view := server.New(st, server.Config{})
	handler := view.Handler()
	f.Fuzz(func(t *testing.T, what, query string) {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Host = "localhost:1"
		r.URL.Path, r.URL.RawQuery = "/api/sessions/"+sessionID.String()+"/"+what, query
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK:
			assert.True(t, json.Valid(w.Body.Bytes()))
			assert.LessOrEqual(t, w.Body.Len(), 200_000)
		case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
			var e viewapi.Error
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
			assert.NotEmpty(t, e.Error)
		case http.StatusMovedPermanently, http.StatusTemporaryRedirect: // a path with dots
		default:
			t.Errorf("%s?%s: %d %s", what, query, w.Code, w.Body)
		}
	})
}
