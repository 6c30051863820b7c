// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package journal answers: what must survive a crash so that the open windows of sessions do? For each session, a storage extension keeps a
// head and entries. The head has the state at the start of the open window, that is, at the end of the last window that was delivered. The
// entries are the carriers that arrived with events since then; each is written before its carriers are processed and acknowledged.
//
// Storage extensions cannot list their keys, so a key has the list of sessions, and the entries of a session are numbered:
//
//	sessions               version, then 24 bytes for each session: its ID, and the generation in which it began
//	ended                  version, then the IDs of the last sessions that have ended
//	lost                   version, then 32 bytes for each of the last sessions that were lost: its ID, the next batch, the events before
//	ID.GENERATION.head     version, then a head
//	ID.GENERATION.NUMBER   an entry: traces of OTLP without a resource
//	waits                  how long sessions of earlier lives have waited to be heard of again
package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// version is that of the list of sessions and of heads. A journal of another version is dropped, with a warning.
const version = 1

const sessionsKey = "sessions"

// Journal is the journal of the sessions that share engines. It is safe for concurrent use.
type Journal struct {
	client storage.Client
	limit  int64 // bytes of all entries and heads
	log    *zap.Logger
	bytes  atomic.Int64
	failed atomic.Bool // a write failed, and the log says so
	full   atomic.Bool // the limit was reached, and the log says so

	mu         sync.Mutex // held while the list of sessions is written, too
	listed     []listed   // what the storage has
	ended      []jvmthread.SessionID
	lost       []Lost
	generation uint64 // of the last session that began
	waits      bool   // the storage has the key of that name
}

// listed is a session in the list.
type listed struct {
	id         jvmthread.SessionID
	generation uint64
}

func (l listed) key(of string) string { return fmt.Sprintf("%x.%d.%s", l.id[:], l.generation, of) }

func (l listed) head() string { return l.key("head") }

func (l listed) entry(number uint64) string { return l.key(strconv.FormatUint(number, 10)) }

// New returns a journal in a storage. At most limit bytes are stored, as far as the journal itself knows; the storage takes more.
func New(client storage.Client, limit int64, log *zap.Logger) *Journal {
	return &Journal{client: client, limit: limit, log: log}
}

// Close gives the storage back. What it has stays there.
func (j *Journal) Close(ctx context.Context) error { return j.client.Close(ctx) }

// Begin returns the journal of a new session. Nothing is written before the first entry.
func (j *Journal) Begin(id jvmthread.SessionID, resource pcommon.Resource) *Session {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.generation++
	return &Session{journal: j, listed: listed{id, j.generation}, resource: encodeResource(resource)}
}

// take takes room for so many bytes, if there is any.
func (j *Journal) take(bytes int64) bool {
	if j.bytes.Add(bytes) <= j.limit {
		return true
	}
	j.bytes.Add(-bytes)
	if !j.full.Swap(true) {
		j.log.Warn("The journal is full: if the collector crashes, some open windows are lost; raise journal_limit_mib", zap.Int64("bytes", j.limit))
	}
	return false
}

// list adds or removes a session, with other operations in the same transaction.
func (j *Journal) list(l listed, present bool, ops ...*storage.Operation) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.relist(l, present, ops...)
}

// relist is list for callers that have the lock.
func (j *Journal) relist(l listed, present bool, ops ...*storage.Operation) error {
	list := slices.DeleteFunc(slices.Clone(j.listed), func(x listed) bool { return x == l })
	if present {
		list = append(list, l)
	}
	err := j.write(append(ops, storage.SetOperation(sessionsKey, encodeList(list)))...)
	if err == nil {
		j.listed = list
	}
	return err
}

// write executes operations in one transaction. It works during shutdown, too, when the caller's context has ended.
func (j *Journal) write(ops ...*storage.Operation) error {
	err := j.client.Batch(context.Background(), ops...)
	if err != nil && !j.failed.Swap(true) {
		j.log.Warn("Cannot write the journal: if the collector crashes, the open windows are lost; check the storage extension", zap.Error(err))
	}
	return err
}

func encodeList(list []listed) []byte {
	data := []byte{version}
	for _, l := range list {
		data = append(data, l.id[:]...)
		data = binary.BigEndian.AppendUint64(data, l.generation)
	}
	return data
}

var errVersion = errors.New("it is of another version")

func decodeList(data []byte) (list []listed, err error) {
	const size = len(jvmthread.SessionID{}) + 8
	switch {
	case len(data) == 0:
		return nil, nil
	case data[0] != version:
		return nil, errVersion
	case (len(data)-1)%size != 0:
		return nil, fmt.Errorf("the list of sessions has %d bytes", len(data))
	}
	for data = data[1:]; len(data) > 0; data = data[size:] {
		list = append(list, listed{jvmthread.SessionID(data[:size-8]), binary.BigEndian.Uint64(data[size-8 : size])})
	}
	return list, nil
}
