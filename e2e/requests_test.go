// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// request is a span of the application.
type request = spantest.Request

// Requests of each client, and how long it pauses on average before each: the spans in their traces remain below max_per_second.
const (
	shopClients  = 200
	shopRequests = 4
	shopPause    = 2 * time.Second
)

// serveShop starts a server of e2e/requests with OpenTelemetry's Java agent and more options, puts it under load, and returns what it measured.
func serveShop(t *testing.T, j jdk, service string, options ...string) []spantest.Hold {
	t.Helper()
	address := freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	options = append([]string{"-Xmx512m", "-javaagent:" + javaAgent(t), "-Dotel.service.name=" + service}, options...)
	options = append(options, "-cp", withJars(t, "requests"), "com.acme.checkout.PlainServer", host, port, "platform")
	jvm := start(t, nil, filepath.Join(j.Home, "bin", "java"), options...)
	poll(t, "the server is ready", func() bool {
		require.True(t, jvm.running(), "the server ended")
		return slices.Contains(jvm.outLines(), "ready")
	})
	clients := shoppers{http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: shopClients}}, "http://" + address + "/checkout/"}
	clients.buy(t, 2, 50, 0) // loads classes
	_, err = jvm.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	clients.buy(t, shopClients, shopRequests, shopPause)
	require.NoError(t, jvm.stdin.Close())
	require.Zero(t, jvm.wait(t))
	var truth struct{ Holds []spantest.Hold }
	jvm.truth(t, &truth)
	require.NotEmpty(t, truth.Holds)
	return truth.Holds
}

// shoppers are clients of a shop.
type shoppers struct {
	http.Client

	url string
}

// buy makes clients send requests at random times.
func (s *shoppers) buy(t *testing.T, clients, requests int, pause time.Duration) {
	t.Helper()
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for range requests {
				time.Sleep(time.Duration(rand.Int64N(2*int64(pause) + 1)))
				body, err := s.get(c)
				assert.Equal(t, "bought", body, "%v", err)
			}
		})
	}
	all.Wait()
}

func (s *shoppers) get(client int) (string, error) {
	response, err := s.Get(s.url + strconv.Itoa(client))
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(response.Body)
	return string(body), errors.Join(err, response.Body.Close())
}
