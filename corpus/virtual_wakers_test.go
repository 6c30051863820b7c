// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// wakers are pairs of threads, one of which ended all waits of the other.
type wakers struct {
	Turns int         `json:"turns"`
	Pairs []wakerPair `json:"pairs"`
}

type wakerPair struct {
	Way        string `json:"way"`
	WakerKind  string `json:"waker_kind"`
	WaiterKind string `json:"waiter_kind"`
	Waiter     int64  `json:"waiter"`
	Wakers     []any  `json:"wakers"` // ids, or names of carriers: the same one in each turn, or one for each
}

// checkWakers compares links with what a program knows: each wait was ended by one thread, and by no other.
func checkWakers(exact bool) func(t spantest.T, r *run) {
	return func(t spantest.T, r *run) {
		t.Helper()
		var truth wakers
		r.know(t, &truth)
		assert.Len(t, truth.Pairs, 36)
		for _, p := range truth.Pairs {
			name := fmt.Sprintf("%s: %s by %s", p.Way, p.WaiterKind, p.WakerKind)
			found, wrong := p.woken(r)
			assert.Zero(t, wrong, name)
			if exact || p.determined() {
				assert.Equal(t, truth.Turns, found, name)
			}
		}
	}
}

// determined reports whether the end of a wait is known without virtual=exact: a platform thread waited, or the lock has an owner.
func (p *wakerPair) determined() bool {
	return p.WaiterKind == "platform" || p.Way == "Lock" || p.Way == "Monitor" || p.Way == "Notify"
}

// woken counts the links of the waits of a pair: to its wakers, and to others.
func (p *wakerPair) woken(r *run) (found, wrong int) {
	kinds := []string{"unpark", "handoff"}
	if p.Way == "Notify" {
		kinds = []string{"notify"} // then the waker hands the monitor over
	}
	for _, kind := range kinds {
		for _, l := range r.Links(r.service, kind) {
			switch {
			case l.From.Number("thread.id") != p.Waiter:
			case l.To != nil && p.isWaker(l.To, found+wrong):
				found++
			default:
				wrong++
			}
		}
	}
	return found, wrong
}

// isWaker reports whether a thread ended the wait of a turn.
func (p *wakerPair) isWaker(s *spantest.Span, turn int) bool {
	switch waker := p.Wakers[min(turn, len(p.Wakers)-1)].(type) {
	case float64:
		return s.Number("thread.id") == int64(waker)
	default:
		return s.Text("thread.name") == waker
	}
}
