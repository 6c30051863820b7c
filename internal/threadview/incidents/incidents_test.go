// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incidents_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/incidents"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// What is kept says who waited, who held, for how long, where, and for which request.
func TestKept(t *testing.T) {
	h, err := threadtest.Parse(`
0         A threadStart
0         B threadStart
0         C threadStart
10000000  A sleepStart
15000000  B context span=buy
20000000  B contendedEnter lock=Book owner=A stack=1
30000000  C contendedEnter lock=Book owner=A stack=1
100000000 A sleepEnd
101000000 B contendedEntered lock=Book
105000000 C contendedEntered lock=Book
`)
	require.NoError(t, err)
	sym := h.Symbols()
	sym.InternStack("at com.acme.Book.add(Book.java:7)\nat com.acme.Shop.buy(Shop.java:20)")
	for _, name := range []string{"A", "B", "C"} {
		sym.SetThread(jvmthread.Thread{ID: h.Thread(name), Name: name})
	}
	id := jvmthread.SessionID{1}
	s := store.New(1<<20, nil).Open(id, nil)
	cfg := engine.DefaultConfig()
	cfg.Window = time.Second
	e := engine.New(cfg, sym)
	k := incidents.New(id, s, sym, e.Waits())
	e.AddBatch(1, 0, h.Events[len(h.Events)-1].Time+1, h.Events)
	e.Close(window.CutEnd, func(w *window.Window) {
		s.Append(w, sym)
		k.Window(w)
	})
	kept := s.Snapshot().Incidents
	require.Len(t, kept, 1)
	inc := kept[0]
	assert.Equal(t, "contention Book", inc.Name)
	assert.Equal(t, "A held Book for 81 ms, asleep; 2 threads waited 156 ms for it", inc.Text)
	assert.Equal(t, 156*time.Millisecond, inc.Blocked)
	assert.Equal(t, jvmthread.Time(20_000_000), inc.Start)
	require.NotEmpty(t, inc.Holds)
	assert.Equal(t, "A", inc.Holds[0].Name)
	require.Len(t, inc.Waits, 2)
	assert.Equal(t, []string{"com.acme.Book.add(Book.java:7)", "com.acme.Shop.buy(Shop.java:20)"}, inc.Waits[0].Frames)
	assert.Len(t, inc.Waits[0].Trace, 32)
	assert.Len(t, inc.Waits[0].Span, 16)
	assert.Empty(t, inc.Waits[1].Trace)
	assert.Positive(t, k.Held())
}
