// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/convert"
	"github.com/weft-otel/weft/cmd/weft/internal/local/localtest"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wire"
)

// view shows a file, and returns its only session and the locks of that.
func view(t *testing.T, file string) (viewapi.Session, viewapi.Locks) {
	t.Helper()
	client, session := localtest.Session(t, file)
	locks, err := client.Locks(t.Context(), session.ID, nil)
	require.NoError(t, err)
	return *session, locks
}

// The page writes spans with the same waits as those that weft convert writes.
func TestSpansOfThePage(t *testing.T) {
	const file = "../commands/testdata/checkout.weft.zst"
	converted := filepath.Join(t.TempDir(), "x.spans.json")
	_, err := convert.Convert(t.Context(), convert.Request{In: file, Out: converted})
	require.NoError(t, err)
	p, err := localtest.Open(t, file)
	require.NoError(t, err)
	list, err := page.Of(p.Handler()).Sessions(t.Context())
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodGet, "http://localhost/api/sessions/"+list.Sessions[0].ID+"/download?format=otlp", http.NoBody)
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	downloaded := filepath.Join(t.TempDir(), "y.spans.json")
	require.NoError(t, os.WriteFile(downloaded, w.Body.Bytes(), 0o600))
	_, want := view(t, converted)
	_, got := view(t, downloaded)
	assert.NotEmpty(t, want.Locks)
	assert.Equal(t, want.Locks, got.Locks)
}

// The page of spans has the blocked times of the page of the recording, and says that it was read from spans.
func TestPageOfSpans(t *testing.T) {
	for seed := range uint64(6) {
		events, sym := threadtest.Recorded(seed, 8, 4, 3000)
		for i := range events {
			events[i].Time = 1_700_000_000_000_000_000 + 100_000*events[i].Time
		}
		e := native.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
		session := recording.Session{ID: jvmthread.SessionID{byte(seed + 1)}, PID: 7, Attributes: []wire.Attribute{{Key: "service.name", Value: "orders"}}}
		data := e.Begin(nil, &session)
		var threads []jvmthread.Thread
		for id := range jvmthread.ThreadID(9) {
			if th := sym.Thread(id); th.ID != jvmthread.NoThread {
				th.Virtual = false // the simulated ones behave like platform threads
				threads = append(threads, th)
			}
		}
		data = e.Batch(data, &recording.Batch{Threads: threads, Events: events, Watermark: events[len(events)-1].Time})
		data = e.End(data, &recording.End{Time: events[len(events)-1].Time, Reason: "exit"})
		dir := t.TempDir()
		in, out := filepath.Join(dir, "x.weft"), filepath.Join(dir, "x.spans.json")
		require.NoError(t, os.WriteFile(in, data, 0o600))
		_, err := convert.Convert(t.Context(), convert.Request{In: in, Out: out})
		require.NoError(t, err)

		original, want := view(t, in)
		shown, got := view(t, out)
		assert.Equal(t, original.ID, shown.ID)
		assert.Equal(t, "orders", shown.Service)
		assert.Equal(t, "otlp", shown.Attributes["weft.recording.format"])
		assert.Equal(t, "spans: each interval has a span", shown.Attributes["weft.recording.thresholds"])
		require.NotEmpty(t, want.Locks)
		type times struct{ blocked, waited viewapi.StateTime }
		of := func(l viewapi.Locks) map[string]times {
			all := make(map[string]times)
			for i := range l.Locks {
				row := &l.Locks[i]
				all[row.Lock.Class+"/"+row.Lock.Hash] = times{row.Blocked, row.Waited}
			}
			return all
		}
		assert.Equal(t, of(want), of(got), "seed %d", seed)
	}
}
