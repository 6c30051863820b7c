// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Each unreadable event counts as lost once, and other events are read.
func TestUnreadableEventsCountOnce(t *testing.T) {
	for name, test := range map[string]struct {
		file, text, problem string
	}{
		"not an event": {
			"x.orca", "1.0,ThreadStarted,00000001,main\n1.5,ThreadSleep,00000001\nnonsense\n2.0,ThreadSlept,00000001\n",
			"x.orca:3 (byte 57): the line does not start with a time",
		},
		"before 1970": {
			"x.orca", "1.0,ThreadStarted,00000001,main\n1.5,ThreadSleep,00000001\n-2.0,ThreadSleep,00000001\n2.0,ThreadSlept,00000001\n",
			"x.orca:3 (byte 57): the time is before 1970 or after 2262; set the start time of the recording, or correct the time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.file)
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			sink := new(consumertest.TracesSink)
			tel := componenttest.NewTelemetry()
			r, log := filesOf(t, tel, sink, componenttest.NewNopHost(), func(f *Config) { f.Include = []string{path} })
			await(t, log, "Finished all recordings")
			r.stop()
			assert.Equal(t, []string{"main threadStart", "main sleepStart", "main sleepEnd", "lost"}, carried(t, sink.AllTraces()))
			lost, err := tel.GetMetric("otelcol_receiver_jvm_thread_events_lost")
			require.NoError(t, err)
			assert.EqualValues(t, 1, lost.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
			logged := log.FilterMessage("Problem in a recording").All()
			require.Len(t, logged, 1)
			assert.Contains(t, logged[0].ContextMap()["problem"], test.problem)
		})
	}
}
