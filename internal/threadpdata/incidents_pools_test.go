// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Threads that wait for memory of one pool, each on a condition of its own, and the one that gives it back after it slept. Since
// it gave back some before, it is not known to have held the rest all the time.
func TestExplainsWhoGaveBack(t *testing.T) {
	h, err := threadtest.Parse(`
0         A threadStart
0         B threadStart
0         C threadStart
0         network threadStart
1000000   A park lock=C1 stack=1
2000000   B park lock=C2 stack=1
83000000  C park lock=C3 stack=1
85000000  network unpark target=C
85100000  C unparked lock=C3
86000000  network sleepStart stack=2
90000000  network sleepEnd
90100000  network unpark target=A
90200000  A unparked lock=C1
90300000  network unpark target=B
90400000  B unparked lock=C2
`)
	require.NoError(t, err)
	sym := h.Symbols()
	sym.InternStack(`	at jdk.internal.misc.Unsafe.park(Native Method)
	at org.apache.kafka.clients.producer.internals.BufferPool.allocate(BufferPool.java:1)
	at com.acme.Shop.send(Shop.java:1)
`)
	sym.InternStack("	at java.lang.Thread.sleep(Native Method)\n	at com.acme.Audit.write(Audit.java:1)\n")
	for _, name := range []string{"A", "B", "C", "network"} {
		sym.SetThread(jvmthread.Thread{ID: h.Thread(name), Name: name})
	}
	e := drive.New(engine.DefaultConfig(), sym)
	emitter, finder := threadpdata.NewEmitter(session, sym, e.Waits()), incident.NewFinder(incident.DefaultOptions())
	finder.Waits = e.Waits()
	var got []string
	e.Add(ordering.Batch{Number: 1, Watermark: h.Events[len(h.Events)-1].Time + 1, Events: h.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
		threadpdata.Prepare(w, window.NewFinder(), 0)
		for _, inc := range finder.Find(w).Incidents {
			got = append(got, emitter.IncidentText(inc, 3, 5).Text)
		}
	})
	assert.Equal(t, []string{
		"3 threads waited 180 ms for memory of BufferPool; who held it for 96 % of that time is not known; " +
			"network gave it back, asleep in Audit.write before",
	}, got)
}
