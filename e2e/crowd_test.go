// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/bench/crowd"
	"github.com/weft-otel/weft/corpus/spantest"
)

// TestCrowdOnVirtualThreads has clients send requests to a Tomcat on virtual threads, all at once: its answers are the same with the agent, and
// nothing is lost. What that costs is a row of bench/speed/results.txt.
func TestCrowdOnVirtualThreads(t *testing.T) {
	const clients, requests = 1000, 4
	classpath := withJars(t, "tomcat")
	for _, j := range virtualJDKs(t) {
		for _, extent := range []string{"", "on", "exact"} {
			t.Run(strings.TrimSpace(j.String()+" "+extent), func(t *testing.T) {
				var c *collector
				var agent []string
				if extent != "" {
					c = startCollector(t, setup{})
					agent = []string{"-agentpath:" + built("libweft.so") + "=endpoint=" + c.endpoint + ",service=crowd,virtual=" + extent + everything}
				}
				assert.Equal(t, fmt.Sprintf("%d %d", clients, clients*requests), serveCrowd(t, j, agent, classpath, clients, requests),
					"requests at once, and in all")
				if c == nil {
					return
				}
				o := c.finish(t, "crowd")
				spantest.CheckStructure(t, o)
				spantest.CheckNothingLost(t, o)
				var waits int64
				for _, root := range o.Roots("crowd") {
					waits += root.Number("weft.count.parked")
				}
				assert.GreaterOrEqual(t, waits, int64(clients*requests), "each request waited for its answer")
			})
		}
	}
}

// serveCrowd runs a server until all clients have their answers. It returns what the server counted.
func serveCrowd(t *testing.T, j jdk, agent []string, classpath string, clients, requests int) string {
	t.Helper()
	address := freeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	jvm := start(t, nil, filepath.Join(j.Home, "bin", "java"),
		append(agent, "-Xmx512m", "-cp", classpath, "com.acme.prices.CrowdServer", host, port, "200", strconv.Itoa(clients))...)
	poll(t, "the server is ready", func() bool {
		require.True(t, jvm.running(), "the server ended")
		return slices.Contains(jvm.outLines(), "ready")
	})
	all := crowd.Crowd{
		Address: address, Clients: clients, Requests: []int{requests}, Patience: patience,
		Path: func(client, request int) string { return fmt.Sprintf("/square/%d", client+request) },
		Want: func(client, request int) string { return strconv.Itoa((client + request) * (client + request)) },
	}
	_, err := all.Run(t.Context())
	require.NoError(t, err)
	counts, err := get("http://" + address + "/counts")
	require.NoError(t, err)
	require.NoError(t, jvm.stdin.Close())
	require.Zero(t, jvm.wait(t))
	return counts
}
