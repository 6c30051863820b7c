// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
			logged(t, log, "Finished all recordings")
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

// What a compressed file has before its limit or damage is read. The loss is reported, with position and remedy.
func TestCompressedFilesAreReadUpToTheLimitOrDamage(t *testing.T) {
	const begun = "1.0,ThreadStarted,00000001,main\n"
	small, large := gzipped(t, []byte(begun)), gzipped(t, bytes.Repeat([]byte("\n"), minUnpackedSize))
	for name, test := range map[string]struct {
		data    []byte
		problem string
	}{
		"bomb": {
			slices.Concat(small, large),
			"x.orca.gz (byte 16777216): the file has more than 16777216 bytes uncompressed; decompress it before, " +
				"or raise protocols::file::max_unpacked_size; the data before is read",
		},
		"truncated": {
			slices.Concat(small, small[:len(small)-4]),
			"x.orca.gz (byte 64): cannot decompress beyond byte 64: the file is truncated or damaged; copy it again, in binary mode; the data before is read",
		},
		"huge window": {
			slices.Concat(zstandard(t, []byte(begun)), []byte("\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00")),
			"x.orca.gz (byte 32): cannot decompress beyond byte 32: it takes more than 128 MiB of memory; decompress it before, with " +
				"zstd -d --long=31 or xz -d; the data before is read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.orca.gz")
			require.NoError(t, os.WriteFile(path, test.data, 0o600))
			sink := new(consumertest.TracesSink)
			r, log := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) {
				f.Include, f.MaxUnpackedSize = []string{path}, minUnpackedSize
			})
			logged(t, log, "Finished all recordings")
			r.stop()
			assert.Contains(t, carried(t, sink.AllTraces()), "main threadStart")
			var problems []string
			for _, entry := range log.FilterMessage("Problem in a recording").All() {
				problems = append(problems, strings.TrimPrefix(fmt.Sprint(entry.ContextMap()["problem"]), filepath.Dir(path)+"/"))
			}
			assert.Contains(t, problems, test.problem)
		})
	}
}
