// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"slices"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
)

const endedKey = "ended"

// MaxEnded is how many sessions that have ended are remembered. Carriers of these that arrive again, from Kafka or from the queue of an edge,
// begin no session.
const MaxEnded = 1024

// Ended returns the sessions that have ended, the oldest first.
func (j *Journal) Ended() []jvmthread.SessionID {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.ended)
}

// end removes a session that has ended, with other operations in the same transaction, and remembers it.
func (j *Journal) end(l listed, ops ...*storage.Operation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	ended := append(slices.Clone(j.ended[max(0, len(j.ended)-MaxEnded+1):]), l.id)
	data := []byte{version}
	for _, id := range ended {
		data = append(data, id[:]...)
	}
	if j.relist(l, false, append(ops, storage.SetOperation(endedKey, data))...) == nil { // logged
		j.ended = ended
	}
}

// loadEnded reads what earlier lives have remembered. Without it, late carriers of a session would begin a session.
func (j *Journal) loadEnded(ctx context.Context) (ids []jvmthread.SessionID) {
	const size = len(jvmthread.SessionID{})
	data, err := j.client.Get(ctx, endedKey)
	if err != nil || len(data) == 0 || data[0] != version || (len(data)-1)%size != 0 {
		if err != nil || len(data) > 0 {
			j.log.Warn("Cannot read from the journal which sessions have ended: what arrives of them again makes windows", zap.Error(err))
		}
		return nil
	}
	for id := range slices.Chunk(data[1:], size) {
		ids = append(ids, jvmthread.SessionID(id))
	}
	return ids[max(0, len(ids)-MaxEnded):]
}
