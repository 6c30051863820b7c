// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kills is how often the tests kill collectors. WEFT_KILLS=100 is for the soak test.
const kills = 4

// killer ends collectors at random moments.
type killer struct {
	random *rand.Rand
	left   int // number of kills
	done   int
}

// newKiller returns a killer whose moments depend on WEFT_SEED, a random number by default, and on what the machine does.
func newKiller(t *testing.T) *killer {
	t.Helper()
	number := func(name string, otherwise uint64) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(text, 10, 32)
		require.NoError(t, err, name)
		return n
	}
	seed := number("WEFT_SEED", uint64(rand.Uint32()))
	k := &killer{random: rand.New(rand.NewPCG(seed, 0)), left: int(number("WEFT_KILLS", kills))}
	t.Logf("%d kills, WEFT_SEED=%d", k.left, seed)
	return k
}

// live waits for the rest of the life of a collector: 0.5 to 5 s.
func (k *killer) live() {
	time.Sleep(500*time.Millisecond + time.Duration(k.random.Int64N(int64(4500*time.Millisecond))))
}

// replace ends a collector by a signal, and starts another one. It kills some of those that start, each fourth on average, before they are
// ready: these continue what the one before had.
func (k *killer) replace(t *testing.T, c *collector, s setup, signal syscall.Signal) *collector {
	t.Helper()
	c.stop(t, signal)
	k.killed()
	for signal == syscall.SIGKILL && k.left > 0 && k.random.IntN(4) == 0 {
		starting, _ := launch(t, s)
		time.Sleep(time.Duration(k.random.Int64N(int64(1500 * time.Millisecond)))) // its life
		starting.stop(t, signal)
		k.killed()
	}
	return startCollector(t, s)
}

func (k *killer) killed() {
	k.left--
	k.done++
}
