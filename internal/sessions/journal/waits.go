// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/binary"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// waitsKey has how long sessions of earlier lives have waited to be heard of again, in all lives together: a collector that restarts again and
// again would otherwise never live long enough to give one up. The value is a version, then for each session its ID, generation and the time.
const waitsKey = "waits"

const waitSize = len(jvmthread.SessionID{}) + 8 + 8

// Waits stores how long sessions of earlier lives have waited. It does nothing if none has, and none had at the last call.
func (j *Journal) Waits(all map[*Session]time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(all) == 0 && !j.waits {
		return
	}
	j.waits = len(all) > 0
	if !j.waits {
		_ = j.write(storage.DeleteOperation(waitsKey)) // logged
		return
	}
	data := []byte{version}
	for s, waited := range all {
		data = append(data, s.id[:]...)
		data = binary.BigEndian.AppendUint64(data, s.generation)
		data = binary.BigEndian.AppendUint64(data, uint64(waited))
	}
	_ = j.write(storage.SetOperation(waitsKey, data)) // logged
}

// waited returns what Waits has stored. What cannot be read has not waited.
func (j *Journal) waited(ctx context.Context) map[listed]time.Duration {
	all := make(map[listed]time.Duration)
	data, err := j.client.Get(ctx, waitsKey)
	if err != nil || len(data) > 0 && (data[0] != version || (len(data)-1)%waitSize != 0) {
		j.log.Warn("Cannot read how long the sessions of the last run have waited; they wait again", zap.Error(err), zap.Int("bytes", len(data)))
	} else if len(data) > 0 {
		for data = data[1:]; len(data) > 0; data = data[waitSize:] {
			const id = len(jvmthread.SessionID{})
			l := listed{jvmthread.SessionID(data[:id]), binary.BigEndian.Uint64(data[id : id+8])}
			all[l] = time.Duration(max(0, int64(binary.BigEndian.Uint64(data[id+8:waitSize]))))
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waits = len(all) > 0
	return all
}
