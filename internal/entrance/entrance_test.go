// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package entrance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/entrance"
)

// An agent that tries again and again is one refusal, and the number of all of them is limited.
func TestRefusalsAreFew(t *testing.T) {
	var b entrance.Board
	first := time.Unix(1, 0)
	for i := range 100 {
		b.Refuse(entrance.Refusal{At: first.Add(time.Duration(i)), Remote: fmt.Sprintf("10.0.0.1:%d", 1000+i), Service: "orders", PID: 7, Reason: "old", Remedy: "update"})
	}
	require.Len(t, b.Refusals(), 1)
	assert.Equal(t, 100, b.Refusals()[0].Times)
	assert.Equal(t, first.Add(99), b.Refusals()[0].At)
	assert.Equal(t, "10.0.0.1:1099", b.Refusals()[0].Remote)
	for i := range uint32(100) {
		b.Refuse(entrance.Refusal{Remote: "10.0.0.1:1", Service: "orders", PID: 8 + i, Reason: "old", Remedy: "update"})
	}
	all := b.Refusals()
	require.Len(t, all, entrance.MaxRefusals)
	assert.Equal(t, uint32(107), all[0].PID, "the newest is first")
}

// Two reasons of one process are two refusals; an unknown process at the same host is one.
func TestRefusalsDifferByReason(t *testing.T) {
	var b entrance.Board
	for _, reason := range []string{"a", "b"} {
		b.Refuse(entrance.Refusal{Remote: "h:1", PID: 7, Reason: reason})
		b.Refuse(entrance.Refusal{Remote: "h:1", Reason: reason})
	}
	assert.Len(t, b.Refusals(), 3)
}

func TestTextsAreShortAndVisible(t *testing.T) {
	var b entrance.Board
	b.Refuse(entrance.Refusal{Service: "a\u202eb\n" + strings.Repeat("ü", 1000), Reason: strings.Repeat("\x00", 1000)})
	r := b.Refusals()[0]
	assert.True(t, strings.HasPrefix(r.Service, `a\u202eb\nü`), r.Service)
	assert.LessOrEqual(t, len(r.Service), 200)
	assert.LessOrEqual(t, len(r.Reason), 400)
	assert.NotContains(t, r.Reason, "\x00")
}

func TestDoorsCloseOnce(t *testing.T) {
	var b entrance.Board
	closeFirst := b.Open(entrance.Door{Address: "tcp://localhost:1"})
	b.Open(entrance.Door{Address: "tcp://localhost:1", TLS: true})
	closeFirst()
	closeFirst()
	assert.Equal(t, []entrance.Door{{Address: "tcp://localhost:1", TLS: true}}, b.Doors())
}
