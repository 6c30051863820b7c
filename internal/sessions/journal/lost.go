// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/binary"
	"slices"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
)

const lostKey = "lost"

// Lost is how far a session had come that was lost. Its JVM may return with the next batch; earlier ones that arrive again are repeats.
type Lost struct {
	ID   jvmthread.SessionID
	Next uint64 // batch
	Seen uint64 // events in the batches before
}

// AppendLost adds a session to a list of at most MaxEnded, without changing the list.
func AppendLost(list []Lost, l Lost) []Lost {
	list = slices.DeleteFunc(slices.Clone(list), func(other Lost) bool { return other.ID == l.ID })
	return append(list[max(0, len(list)-MaxEnded+1):], l)
}

// Lost returns the last sessions that were lost, the oldest first.
func (j *Journal) Lost() []Lost {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lost)
}

// Lose removes the session, which was delivered as lost, and remembers how far it had come.
func (s *Session) Lose(next, seen uint64) {
	s.finish(func(ops []*storage.Operation) { s.journal.lose(s.listed, Lost{s.id, next, seen}, ops...) })
}

func (j *Journal) lose(l listed, lost Lost, ops ...*storage.Operation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := AppendLost(j.lost, lost)
	data := []byte{version}
	for _, x := range list {
		data = append(data, x.ID[:]...)
		data = binary.BigEndian.AppendUint64(data, x.Next)
		data = binary.BigEndian.AppendUint64(data, x.Seen)
	}
	if j.relist(l, false, append(ops, storage.SetOperation(lostKey, data))...) == nil { // logged
		j.lost = list
	}
}

// loadLost reads what earlier lives have remembered. Without it, batches of lost sessions that arrive again count twice.
func (j *Journal) loadLost(ctx context.Context) (list []Lost) {
	const id, size = len(jvmthread.SessionID{}), len(jvmthread.SessionID{}) + 8 + 8
	data, err := j.client.Get(ctx, lostKey)
	if err != nil || len(data) > 0 && (data[0] != version || (len(data)-1)%size != 0) {
		j.log.Warn("Cannot read from the journal which sessions were lost: what arrives of them again counts twice", zap.Error(err))
		return nil
	}
	if len(data) == 0 {
		return nil
	}
	for x := range slices.Chunk(data[1:], size) {
		list = append(list, Lost{jvmthread.SessionID(x[:id]), binary.BigEndian.Uint64(x[id : id+8]), binary.BigEndian.Uint64(x[id+8:])})
	}
	return list[max(0, len(list)-MaxEnded):]
}
