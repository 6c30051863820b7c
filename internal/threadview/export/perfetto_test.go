// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package export_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/export"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// A session that is written part by part has the same slices and arrows as one that is written at once.
func TestPartsAreTheWhole(t *testing.T) {
	for seed := range uint64(20) {
		var whole, parts bytes.Buffer
		slices, _ := play(t, seed, 1<<30, &whole, 0)
		again, _ := play(t, seed, 1<<30, &parts, 1+int(seed%5))
		assert.Equal(t, slices, again, "seed %d", seed)
		require.Equal(t, summarize(t, whole.Bytes()), summarize(t, parts.Bytes()), "seed %d", seed)
	}
}

// The store gives up windows that were written.
func TestPartsNeedNotFitIntoTheStore(t *testing.T) {
	var whole, parts bytes.Buffer
	slices, _ := play(t, 3, 1<<30, &whole, 0)
	again, evicted := play(t, 3, 20_000, &parts, 1)
	assert.Equal(t, slices, again)
	assert.Positive(t, evicted)
	require.Equal(t, summarize(t, whole.Bytes()), summarize(t, parts.Bytes()))
}

// play writes a simulated session after each n windows, 0: at the end.
func play(t *testing.T, seed uint64, maxBytes int64, out *bytes.Buffer, n int) (slices int, evicted uint64) {
	t.Helper()
	events, sym := threadtest.Recorded(seed, 8, 3, 4000)
	cfg := engine.DefaultConfig()
	cfg.Window = time.Duration(events[len(events)-1].Time-events[0].Time) / 40
	st := store.New(maxBytes, nil)
	stored := st.Open(jvmthread.SessionID{1}, store.Meta{"service.name": "test"})
	p := export.NewPerfetto(out)
	from, windows := jvmthread.Time(-1), 0
	write := func(to func(sn *store.Snapshot) error) {
		require.NoError(t, to(stored.Snapshot()))
	}
	e := drive.New(cfg, sym)
	cut := func(w *window.Window) {
		stored.Append(w, sym)
		w.Release()
		if windows++; n > 0 && windows%n == 0 {
			write(func(sn *store.Snapshot) error {
				r := export.Range{Snapshot: sn, From: max(from, events[0].Time), To: sn.To}
				from = sn.To
				return p.WritePart(t.Context(), r)
			})
		}
	}
	for i := 0; i < len(events); {
		next := min(i+100, len(events))
		e.Batch(events[i:next], 0, events[next-1].Time, cut)
		i = next
	}
	e.Close(jvmthread.NoTime, window.CutEnd, cut)
	stored.Close(window.CutEnd)
	write(func(sn *store.Snapshot) error {
		return p.Write(t.Context(), export.Range{Snapshot: sn, From: max(from, events[0].Time), To: sn.To + 1})
	})
	assert.Greater(t, windows, 20)
	return p.Slices(), st.Stats().Evicted
}

// summarize lists slices with the names of their threads, and arrows with both of their ends.
func summarize(t *testing.T, trace []byte) []string {
	t.Helper()
	var lines []string
	names, begins, ends := map[uint64]string{}, map[uint64]string{}, map[uint64]string{}
	open := map[uint64]string{}
	for _, packet := range messages(t, trace)[1] {
		p := messages(t, packet.bytes)
		for _, d := range p[60] {
			track := messages(t, d.bytes)
			if len(track[4]) > 0 {
				names[track[1][0].number] = fmt.Sprintf("%s/%d", track[2][0].bytes, messages(t, track[4][0].bytes)[2][0].number)
			}
		}
		for _, e := range p[11] {
			event := messages(t, e.bytes)
			track := event[11][0].number
			name, ok := names[track]
			require.True(t, ok, "a track without a description")
			at := fmt.Sprintf("%s %d", name, p[8][0].number)
			switch event[9][0].number {
			case 1:
				require.Empty(t, open[track])
				open[track] = at + " " + string(event[23][0].bytes)
				for _, flow := range event[48] {
					ends[flow.number] = at
				}
			case 2:
				lines = append(lines, open[track]+" … "+at)
				open[track] = ""
			default:
				begins[event[47][0].number] = at + " " + string(event[23][0].bytes)
			}
		}
	}
	for id, begin := range begins {
		lines = append(lines, begin+" → "+ends[id])
	}
	slices.Sort(lines)
	return lines
}

type field struct {
	number uint64
	bytes  []byte
}

func messages(t *testing.T, data []byte) map[protowire.Number][]field {
	t.Helper()
	out := make(map[protowire.Number][]field)
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		require.Positive(t, n)
		data = data[n:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(data)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(data)
		default:
			f.bytes, n = protowire.ConsumeBytes(data)
		}
		require.Positive(t, n)
		data = data[n:]
		out[number] = append(out[number], f)
	}
	return out
}
