// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// did lists what threads waited for and when, in ticks from the start of the chunk.
func (c *collector) did(b *builder) (list []string) {
	for _, ev := range c.recorded() {
		what := ev.Kind.String()
		if ev.Kind == jvmthread.KindPark {
			what = c.symbols.Class(ev.Lock.Class)
		}
		list = append(list, fmt.Sprintf("%s %d %s", c.threads[ev.Thread].Name, 2*(int64(ev.Time)-b.nanos), what))
	}
	return list
}

func TestReadsAndWrites(t *testing.T) {
	for name, test := range map[string]struct {
		events func(b *builder)
		want   []string
	}{
		"socket": {
			func(b *builder) { b.read(400, "", "10.0.0.7", 5432) },
			[]string{"worker 100 reading from 10.0.0.7:5432", "worker 500 unparked"},
		},
		"IPv6": {
			func(b *builder) { b.read(400, "db.internal", "2001:db8::7", 5432) },
			[]string{"worker 100 reading from [2001:db8::7]:5432", "worker 500 unparked"},
		},
		"name only": {
			func(b *builder) { b.read(400, "db.internal", "", 5432) },
			[]string{"worker 100 reading from db.internal:5432", "worker 500 unparked"},
		},
		"Unix domain socket": {
			func(b *builder) { b.read(400, "Unix domain socket", "[/run/db.sock]", 0) },
			[]string{"worker 100 reading from [/run/db.sock]", "worker 500 unparked"},
		},
		"no name": {
			func(b *builder) { b.read(400, "", "", 0) },
			[]string{"worker 100 reading from a socket", "worker 500 unparked"},
		},
		"file": {
			func(b *builder) { b.force(100, 400, "/var/lib/orders.log") },
			[]string{"main 100 syncing /var/lib/orders.log", "main 500 unparked"},
		},
		"descriptor": {
			func(b *builder) { b.force(100, 400, "N/A") },
			[]string{"main 100 syncing a file", "main 500 unparked"},
		},
		"waits for its turn, then for the peer": {
			func(b *builder) { b.read(400, "", "10.0.0.7", 5432); b.enter(110, 40); b.enter(160, 10) },
			[]string{
				"worker 110 contendedEnter", "worker 150 contendedEntered", "worker 160 contendedEnter", "worker 170 contendedEntered",
				"worker 170 reading from 10.0.0.7:5432", "worker 500 unparked",
			},
		},
		"waits for the peer, then for something else": {
			func(b *builder) { b.read(400, "", "10.0.0.7", 5432); b.enter(460, 20) },
			[]string{
				"worker 100 reading from 10.0.0.7:5432", "worker 460 unparked",
				"worker 460 contendedEnter", "worker 480 contendedEntered",
			},
		},
		"only waits for its turn": {
			func(b *builder) { b.read(400, "", "10.0.0.7", 5432); b.enter(100, 400) },
			[]string{"worker 100 contendedEnter", "worker 500 contendedEntered"},
		},
		"next event begins before the end, by rounding": {
			func(b *builder) { b.read(402, "", "10.0.0.7", 5432); b.enter(500, 100) },
			[]string{
				"worker 100 reading from 10.0.0.7:5432", "worker 502 unparked",
				"worker 502 contendedEnter", "worker 600 contendedEntered",
			},
		},
		"pinned": {
			func(b *builder) { b.read(400, "", "10.0.0.7", 5432); b.pin(120, 360) },
			[]string{"worker 100 reading from 10.0.0.7:5432", "worker 500 unparked"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(true)
			start := *b
			c := readBytes(t, b.chunk(test.events))
			assert.Equal(t, test.want, c.did(&start))
			assert.Len(t, c.of(0, jvmthread.KindGap), 1, "what the thread did then is not known")
			assert.Empty(t, c.problems)
		})
	}
}

func TestLongNamesAreCut(t *testing.T) {
	for _, name := range []string{strings.Repeat("/a", maxIOName), strings.Repeat("/é", maxIOName), strings.Repeat("\x80", 2*maxIOName)} {
		cut := shortened(name)
		assert.LessOrEqual(t, len(cut), maxIOName+len("…"))
		assert.True(t, utf8.ValidString(cut))
		assert.True(t, strings.HasSuffix(name, strings.TrimPrefix(cut, "…")))
	}
	assert.Equal(t, "/tmp/x", shortened("/tmp/x"))
}

func TestThresholdsOfReads(t *testing.T) {
	c := readBytes(t, newBuilder(true).chunk(sample))
	assert.True(t, slices.Contains(c.sessions[0].Thresholds, "jdk.SocketRead: not stated"))
	assert.True(t, slices.Contains(c.sessions[0].Thresholds, "jdk.FileRead: unknown to this JDK"))
}
