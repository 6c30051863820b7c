// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"math"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Session is the journal of one session. It is safe for concurrent use.
type Session struct {
	listed

	journal  *Journal
	resource []byte

	mu      sync.Mutex // held while the storage is written, too
	first   uint64     // number of entries[0]
	entries []*Entry   // since the start of the window that was open at the last commit
	begun   bool       // the storage has a head
	paused  bool       // nothing is written until the next commit
	over    bool       // nothing is written any more
	head    int64      // bytes of the head
	commits []*Commit  // not done, or after one that is not done
}

// Entry is the carriers of a session that arrived together.
type Entry struct {
	session *Session
	traces  ptrace.Traces
	number  uint64
	low     uint64         // the first batch, ...
	before  uint64         // the events before it ...
	high    uint64         // and the last batch
	last    jvmthread.Time // of its events; nothingYet: it has none
	bytes   int64          // in the storage
	skipped bool           // it will never be there

	watermark jvmthread.Time // the highest
}

// rejoined is the attribute of a span before which the session may have been elsewhere.
const rejoined = "weft.journal.rejoined"

// Rejoined reports whether the session may have been elsewhere before the span arrived.
func Rejoined(span ptrace.Span) bool {
	_, ok := span.Attributes().Get(rejoined)
	return ok
}

// Add adds a carrier and its span to an entry, to a new one if it is nil, and returns the entry. The session awaits a batch, and may have been
// elsewhere before.
func (s *Session) Add(e *Entry, span ptrace.Span, c *threadpdata.Carrier, awaits uint64, elsewhere bool) *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e == nil {
		e = s.reserve(s.first + uint64(len(s.entries)))
		e.traces = ptrace.NewTraces()
		threadpdata.MarkCarriers(e.traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Scope())
	}
	e.note(c, awaits)
	own := e.traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().AppendEmpty()
	span.CopyTo(own)
	if elsewhere {
		own.Attributes().PutBool(rejoined, true)
	}
	return e
}

func (s *Session) reserve(number uint64) *Entry {
	e := &Entry{session: s, number: number, low: math.MaxUint64, last: nothingYet}
	s.entries = append(s.entries, e)
	return e
}

// note records for how long the entry is needed: until its batches were taken, and its events delivered. The next life does not begin with a
// batch that was taken before and came again: those after it may be in no entry any more.
func (e *Entry) note(c *threadpdata.Carrier, awaits uint64) {
	if c.Batch >= awaits && c.Batch < e.low {
		e.low, e.before = c.Batch, c.Before
	}
	e.high, e.watermark = max(e.high, c.Batch), max(e.watermark, c.Watermark)
	for i := range c.Events {
		e.last = max(e.last, c.Events[i].Time)
	}
	if len(c.Threads) > 0 { // their names are in the next checkpoint
		e.last = max(e.last, c.Watermark)
	}
}

const nothingYet = jvmthread.Time(math.MinInt64)

// manyEmpty is how many entries without events in a row are worth a commit.
const manyEmpty = 64

// Idle reports whether many entries have no events, so that no window ends and no checkpoint moves the journal: a commit to the old ones does.
func (s *Session) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) < manyEmpty || len(s.commits) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.entries[:manyEmpty], func(e *Entry) bool { return e.last != nothingYet })
}

// Write stores the entry. It returns false if that is not possible: until the end of the next window, a crash then loses the open one.
func (e *Entry) Write() bool {
	s := e.session
	var marshaler ptrace.ProtoMarshaler
	data, _ := marshaler.MarshalTraces(e.traces) // never fails
	e.traces = ptrace.Traces{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || e.number < s.first { // its events were delivered meanwhile
		return true
	}
	if s.paused {
		e.skipped = true
		return false
	}
	if !s.journal.take(int64(len(data))) {
		s.drop()
		e.skipped = true
		return false
	}
	e.bytes = int64(len(data))
	set := storage.SetOperation(s.entry(e.number), data)
	var err error
	if s.begun || !s.whole() {
		err = s.journal.write(set)
	} else {
		err = s.begin((&Head{Resource: s.resource, First: s.first}).encode(), set)
	}
	if err != nil {
		s.drop()
		e.skipped = true
		return false
	}
	return true
}

// whole reports whether the storage has, or will have, all entries.
func (s *Session) whole() bool {
	return !slices.ContainsFunc(s.entries, func(e *Entry) bool { return e.skipped })
}

// begin writes a head and lists the session.
func (s *Session) begin(head []byte, ops ...*storage.Operation) error {
	err := s.journal.list(s.listed, true, append(ops, storage.SetOperation(s.listed.head(), head))...)
	s.begun = err == nil
	s.swapHead(int64(len(head)))
	return err
}

func (s *Session) swapHead(bytes int64) {
	s.journal.bytes.Add(bytes - s.head)
	s.head = bytes
}

// drop removes the session from the storage. It is written again from the next commit on.
func (s *Session) drop() { _ = s.journal.list(s.listed, false, s.leave()...) } // logged

// leave returns what deletes the session from the storage, but for the list.
func (s *Session) leave() []*storage.Operation {
	s.paused = true
	ops := []*storage.Operation{storage.DeleteOperation(s.listed.head())}
	for _, e := range s.entries {
		ops = e.remove(s, ops)
		e.skipped = true
	}
	s.swapHead(0)
	s.begun = false
	return ops
}

// remove appends the operation that deletes the entry.
func (e *Entry) remove(s *Session, ops []*storage.Operation) []*storage.Operation {
	if e.bytes == 0 {
		return ops
	}
	s.journal.bytes.Add(-e.bytes)
	e.bytes = 0
	return append(ops, storage.DeleteOperation(s.entry(e.number)))
}

// Remove removes the session, which was delivered. If it has ended, as opposed to failed, the journal remembers that.
func (s *Session) Remove(ended bool) {
	s.finish(func(ops []*storage.Operation) {
		if ended {
			s.journal.end(s.listed, ops...)
		} else {
			_ = s.journal.list(s.listed, false, ops...) // logged
		}
	})
}

// finish calls remove once, with what deletes the session from the storage, but for the list.
func (s *Session) finish(remove func([]*storage.Operation)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.over = true
	remove(s.leave())
	s.entries, s.commits = nil, nil
}
