// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// profilesGate makes a collector accept pipelines of profiles.
const profilesGate = "service.profilesSupport"

// profiled is a collector that sends profiles to another one over OTLP.
type profiled struct {
	*collector
	sink *collector
}

func startProfiled(t *testing.T, s setup) profiled {
	t.Helper()
	grpc := "SINK_GRPC=" + freeAddress(t)
	sink := startCollector(t, setup{
		config: filepath.Join(root, "e2e/testdata/profiles-sink.yaml"), gates: profilesGate, env: []string{grpc},
	})
	s.more, s.gates, s.env = append(s.more, filepath.Join(root, "e2e/testdata/profiles.yaml")), profilesGate, append(s.env, grpc)
	return profiled{startCollector(t, s), sink}
}

// waitSum is the number of contended waits and their time in nanoseconds.
type waitSum struct{ count, time int64 }

// stop stops both collectors and returns the sums of the metrics and of all profiles.
func (p profiled) stop(t *testing.T, service string) (metrics waitSum, profiles map[string]waitSum) {
	t.Helper()
	p.terminate(t)
	p.sink.terminate(t)
	metrics = waitSum{count: p.metric(t, "weft.lock.contentions"), time: p.metric(t, "weft.lock.blocked.time")}
	return metrics, p.profiles(t, service)
}

// metric returns the last value of a cumulative metric, over all its series. Seconds become nanoseconds.
func (p profiled) metric(t *testing.T, name string) (sum int64) {
	t.Helper()
	eachLine(t, filepath.Join(p.out, "metrics.json"), func(line []byte) {
		md, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(line)
		require.NoError(t, err)
		for _, rm := range md.ResourceMetrics().All() {
			for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
				if m.Name() != name {
					continue
				}
				sum = 0
				for _, dp := range m.Sum().DataPoints().All() {
					sum += dp.IntValue() + int64(math.Round(dp.DoubleValue()*1e9))
				}
			}
		}
	})
	return sum
}

// profiles returns the sums of all samples that the other collector received, by the type of their period.
func (p profiled) profiles(t *testing.T, service string) map[string]waitSum {
	t.Helper()
	sums := make(map[string]waitSum)
	eachLine(t, filepath.Join(p.sink.out, "profiles.json"), func(line []byte) {
		pd, err := (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(line)
		require.NoError(t, err)
		text := func(i int32) string { return pd.Dictionary().StringTable().At(int(i)) }
		for _, rp := range pd.ResourceProfiles().All() {
			name, _ := rp.Resource().Attributes().Get("service.name")
			require.Equal(t, service, name.AsString())
			for _, one := range rp.ScopeProfiles().At(0).Profiles().All() {
				sum := sums[text(one.PeriodType().TypeStrindex())]
				into := &sum.time
				if text(one.SampleType().TypeStrindex()) == "contentions" {
					into = &sum.count
				}
				for _, s := range one.Samples().All() {
					require.Equal(t, 1, s.Values().Len())
					*into += s.Values().At(0)
				}
				sums[text(one.PeriodType().TypeStrindex())] = sum
			}
		}
	})
	return sums
}

func eachLine(t *testing.T, path string, do func(line []byte)) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		do(line)
	}
}

// TestProfilesOfSums compares the profiles that a real collector receives over OTLP with the metrics, for an agent that sends sums: neither
// intervals nor holders. Package corpus compares those of all recordings.
func TestProfilesOfSums(t *testing.T) {
	p := startProfiled(t, setup{})
	var truth struct {
		Threads []counters `json:"threads"`
	}
	runJava(t, jdks[0], p.endpoint+",mode=aggregated,interval=100ms", "counters", &truth, "Counters", "20")
	poll(t, "the session ended", func() bool { return strings.Contains(strings.Join(p.errLines(), ""), "Session ended") })
	metrics, sums := p.stop(t, "counters")
	least := int64(0) // the program also counts waits to reenter as blocked, but not its first rounds
	for _, th := range truth.Threads {
		if strings.HasPrefix(th.Name, "buyer-") {
			least += th.BlockedCount
		}
	}
	require.Positive(t, least)
	assert.GreaterOrEqual(t, metrics.count, least)
	assert.Equal(t, metrics, sums["block"])
	assert.Equal(t, metrics, sums["mutex"])
}

// TestProfilesNeedTheGate checks that a collector without the gate says what to do.
func TestProfilesNeedTheGate(t *testing.T) {
	c, _ := launch(t, setup{config: "profiles.yaml"})
	require.NotZero(t, c.wait(t))
	assert.Contains(t, strings.Join(c.errLines(), "\n"), profilesGate)
}

// TestProfilesConfig runs config/profiles.yaml.
func TestProfilesConfig(t *testing.T) {
	grpc := freeAddress(t)
	sink := startCollector(t, setup{config: filepath.Join(root, "e2e/testdata/profiles-sink.yaml"), gates: profilesGate, env: []string{"SINK_GRPC=" + grpc}})
	c := startCollector(t, setup{config: "profiles.yaml", gates: profilesGate, env: []string{"PROFILES_ENDPOINT=" + grpc, "WEFT_PROFILES_INTERVAL=200ms"}})
	jvm := java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3600")
	p := profiled{c, sink}
	poll(t, "profiles arrive", func() bool {
		return exists(filepath.Join(sink.out, "profiles.json")) && p.profiles(t, "exchange")["mutex"].time > 0
	})
	jvm.stop(t, syscall.SIGTERM)
	c.terminate(t)
	sink.terminate(t)
}
