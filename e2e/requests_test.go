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
)

// shop is a server of e2e/requests.
type shop struct {
	name    string
	virtual bool // request threads
	command func(host, port string) []string
}

var shops = []shop{
	{name: "tomcat", command: plainShop("platform")},
	{name: "tomcat-virtual", virtual: true, command: plainShop("virtual")},
	{name: "spring", command: springShop("false")},
	{name: "spring-virtual", virtual: true, command: springShop("true")},
}

func plainShop(threads string) func(host, port string) []string {
	return func(host, port string) []string {
		return []string{"com.acme.checkout.PlainServer", host, port, threads}
	}
}

func springShop(virtual string) func(host, port string) []string {
	return func(host, port string) []string {
		return []string{
			"com.acme.checkout.SpringServer", "--server.address=" + host, "--server.port=" + port, "--spring.datasource.url=jdbc:h2:mem:shop",
			"--spring.threads.virtual.enabled=" + virtual, "--spring.datasource.hikari.maximum-pool-size=10",
			"--spring.datasource.hikari.connection-timeout=600000", "--logging.threshold.console=OFF", "--spring.main.banner-mode=off",
		}
	}
}

// hold is an acquisition as the program measured it, or a whole request; times are nanoseconds since 1970.
type hold struct {
	request

	Of, Thread                 string
	Called, Acquired, Released int64
	Busy                       int64 // of the time between Called and Acquired: for how long the thread ran or lacked a processor; 0 for a virtual one
}

// Requests of each client, and how long it pauses on average before each: the spans in their traces remain below max_per_second.
const (
	shopClients  = 200
	shopRequests = 4
	shopPause    = 2 * time.Second
)

// serve starts the server with OpenTelemetry's Java agent and more options, puts it under load, and returns what it measured.
func (s shop) serve(t *testing.T, j jdk, classpath string, pause time.Duration, options ...string) []hold {
	t.Helper()
	address := freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	options = append([]string{"-Xmx512m", "-javaagent:" + javaAgent(t), "-Dotel.service.name=" + s.name}, options...)
	jvm := start(t, nil, filepath.Join(j.home, "bin", "java"), append(append(options, "-cp", classpath), s.command(host, port)...)...)
	poll(t, "the server is ready", func() bool {
		require.True(t, jvm.running(), "the server ended")
		return slices.Contains(jvm.outLines(), "ready")
	})
	clients := shoppers{http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: shopClients}}, "http://" + address + "/checkout/"}
	clients.buy(t, 2, 50, 0) // loads classes
	_, err = jvm.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	clients.buy(t, shopClients, shopRequests, pause)
	require.NoError(t, jvm.stdin.Close())
	require.Zero(t, jvm.wait(t))
	var truth struct{ Holds []hold }
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

// TestWaitsInTheTracesOfRequests puts servers with 200 request threads under load. Each request takes a monitor, a ReentrantLock and a
// connection, and a job holds each of them for long. The program measures its own waits.
func TestWaitsInTheTracesOfRequests(t *testing.T) {
	classpath := withJars(t, "requests")
	require.True(t, exists(built("weft-otel.jar")), "run make build/weft-otel.jar")
	server := startJaeger(t)
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, s := range shops {
			if s.virtual && j.major < 24 { // before, a monitor pins the carrier
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				address := freeAddress(t)
				with := withOTLP(server.setup(), address)
				with.more = append(with.more, "yaml:service::pipelines::traces/app::exporters: [otlp_grpc, file]")
				c := startCollector(t, with)
				options := append(exporting(address), "-Dotel.javaagent.extensions="+built("weft-otel.jar"),
					"-agentpath:"+built("libweft.so")+"=endpoint="+c.endpoint+everything)
				holds := s.serve(t, j, classpath, shopPause, options...)
				r := newServed(t, c.finish(t, s.name), s.name, holds)
				t.Run("coverage", r.checkCoverage)
				t.Run("place", r.checkPlace)
				t.Run("requests", r.checkRequests)
				t.Run("holders", r.checkHolders)
				t.Run("holds", r.checkHolds)
				t.Run("jaeger", func(t *testing.T) { r.checkJaeger(t, server) })

				address = freeAddress(t)
				c = startCollector(t, withOTLP(setup{}, address))
				s.serve(t, j, classpath, 0, append(exporting(address), "-Dcheckout.long=20")...)
				c.terminate(t)
				assert.Equal(t, newServed(t, c.spans(t), s.name, nil).names(), r.names(), "spans of the program without Weft and with it")
			})
		}
	})
}
