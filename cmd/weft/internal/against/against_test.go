// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package against_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/against"
	"github.com/weft-otel/weft/internal/compare"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestWriteText compares the texts with golden files.
func TestWriteText(t *testing.T) {
	book := compare.Key{Kind: "lock", Object: "OrderBook.lock", Site: "com.acme.orders.Matcher.match"}
	pool := compare.Key{Kind: "pool", Object: "HikariPool", Site: "com.acme.shop.Shop$OrderController.order"}
	queue := compare.Key{Kind: "condition", Site: "com.acme.orders.Settlement.awaitTheNextBatchOfOrders"}
	tape := compare.Key{Kind: "lock", Object: "Tape\x1b[31m.lock"}
	old := map[compare.Key]compare.Sum{book: {Count: 100, Time: time.Second}, queue: {Count: 100, Time: time.Second}, tape: {Count: 50, Time: time.Second / 2}}
	now := map[compare.Key]compare.Sum{book: {Count: 150, Time: 9 * time.Second}, queue: {Count: 101, Time: time.Second}, pool: {Count: 9, Time: 2 * time.Second}}
	for name, runs := range map[string][2]compare.Run{
		"worse":    {{Length: time.Minute, Waits: old}, {Length: time.Minute, Waits: now}},
		"better":   {{Length: time.Minute, Waits: now}, {Length: 2 * time.Minute, Waits: old}},
		"requests": {{Length: time.Minute, Requests: 1000, Waits: old}, {Length: time.Minute, Requests: 1200, Waits: now}},
		"same":     {{Length: time.Minute, Waits: old}, {Length: time.Minute, Waits: old}},
		"new":      {{Length: time.Minute}, {Length: time.Minute, Waits: old}},
		"gone":     {{Length: time.Minute, Waits: old}, {Length: time.Minute}},
		"none":     {{Length: time.Minute}, {Length: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, against.WriteText(&b, compare.Runs(&runs[0], &runs[1]), 2))
			path := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o700))
				require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), b.String())
		})
	}
}
