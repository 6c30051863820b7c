// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"math"
	"slices"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Commit moves the journal to the start of the open window, once all windows before were delivered.
type Commit struct {
	session *Session
	head    Head
	windows []*Checkpoint
	done    bool
}

// Prepare returns a commit to the given checkpoints, one for each engine that has one. All events before start are in them or were delivered.
// All batches before next were taken, with seen events. The caller delivers what is ready, and then calls Done.
func (s *Session) Prepare(next, seen uint64, start jvmthread.Time, windows []*Checkpoint) *Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Commit{session: s, windows: windows, head: Head{Resource: s.resource, First: s.first, Next: next, Seen: seen}}
	needed := s.needed(next, start)
	c.head.First += uint64(len(s.entries) - len(needed))
	for _, e := range needed {
		if e.low < c.head.Next {
			c.head.Next, c.head.Seen = e.low, e.before
		}
	}
	s.commits = append(s.commits, c)
	return c
}

// needed returns the entries that the next life must read: from the first one with an event that was not delivered, or with a batch that was not
// taken. They hold all batches since the first one in them, as that life begins with it.
func (s *Session) needed(next uint64, start jvmthread.Time) []*Entry {
	n := 0
	for n < len(s.entries) && (s.entries[n].last < start || s.entries[n].last == nothingYet) && s.entries[n].high < next {
		if n == len(s.entries)-1 && s.entries[n].watermark > start {
			break // nothing else says how far the open window has come
		}
		n++
	}
	for low := uint64(math.MaxUint64); ; { // batches may have arrived out of order
		for _, e := range s.entries[n:] {
			low = min(low, e.low)
		}
		later := slices.IndexFunc(s.entries[:n], func(e *Entry) bool { return e.high > low })
		if later < 0 {
			return s.entries[n:]
		}
		n = later
	}
}

// Done says that all windows that were ready before Prepare have been delivered. Windows may be delivered concurrently: the journal moves when
// the windows of earlier commits have been delivered, too.
func (c *Commit) Done() {
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.done = true
	var last *Commit
	for len(s.commits) > 0 && s.commits[0].done {
		last, s.commits = s.commits[0], s.commits[1:]
	}
	if last != nil && !s.over {
		s.move(last)
	}
}

// move deletes the entries that are no longer needed, and writes the head if the storage has all others.
func (s *Session) move(to *Commit) {
	var ops []*storage.Operation
	for len(s.entries) > 0 && s.first < to.head.First {
		ops = s.entries[0].remove(s, ops)
		s.entries[0] = nil
		s.entries = s.entries[1:]
		s.first++
	}
	s.paused = false
	if !s.whole() {
		if len(ops) > 0 {
			_ = s.journal.write(ops...) // logged
		}
		return
	}
	for _, w := range to.windows {
		to.head.Windows = append(to.head.Windows, w.encoded())
	}
	head := to.head.encode()
	if !s.journal.take(int64(len(head)) - s.head) {
		s.drop()
		return
	}
	s.journal.bytes.Add(s.head - int64(len(head))) // swapped below
	var err error
	if s.begun {
		err = s.journal.write(append(ops, storage.SetOperation(s.listed.head(), head))...)
		s.swapHead(int64(len(head)))
	} else {
		err = s.begin(head, ops...)
	}
	if err != nil {
		s.drop()
	}
}
