// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Writer writes the events of one session. One goroutine owns it.
type Writer struct {
	archive *Archive
	session recording.Session
	symbols *symbols.Table
	encoder *native.Encoder
	file    *file // nil: none
	buf     []byte
	defined map[jvmthread.ThreadID]jvmthread.Thread // in the current file
	last    jvmthread.Time
	failed  error
}

// Session returns a Writer for a session with the given symbols.
func (a *Archive) Session(id jvmthread.SessionID, meta store.Meta, sym *symbols.Table) *Writer {
	return &Writer{archive: a, session: meta.Session(id), symbols: sym, last: math.MinInt64}
}

// Write writes events in the order of time. After an error it only returns it, since a recording with a hole would be worse than none.
func (w *Writer) Write(events []jvmthread.Event) error {
	for part := range slices.Chunk(events, batchEvents) {
		if w.failed == nil {
			w.batch(part)
		}
	}
	return w.failed
}

// batchEvents bounds a write to a small part of the smallest directory.
const batchEvents = 1000

func (w *Writer) batch(events []jvmthread.Event) {
	if w.file != nil && w.archive.full(w.file) {
		w.end(nil)
	}
	if w.file == nil {
		w.begin()
	}
	batch := recording.Batch{}
	for i := range events {
		ev := &events[i]
		w.last = max(w.last, ev.Time)
		if ev.Thread == jvmthread.NoThread { // a gap of all threads
			batch.Lost += uint64(max(0, ev.Arg))
			continue
		}
		batch.Threads = w.define(batch.Threads, ev.Thread)
		batch.Threads = w.define(batch.Threads, ev.Peer)
		batch.Events = append(batch.Events, *ev)
	}
	batch.Watermark = w.last
	w.buf = w.encoder.Batch(w.buf, &batch)
	w.flush()
}

// define adds a thread to a list unless the current file has its current definition.
func (w *Writer) define(list []jvmthread.Thread, id jvmthread.ThreadID) []jvmthread.Thread {
	if id == jvmthread.NoThread {
		return list
	}
	th := w.symbols.Thread(id)
	if old, ok := w.defined[id]; ok && old == th || th.Name == "" {
		return list
	}
	w.defined[id] = th
	return append(list, th)
}

func (w *Writer) begin() {
	w.defined = make(map[jvmthread.ThreadID]jvmthread.Thread)
	w.encoder = native.NewEncoder(recording.EncoderOptions{Symbols: w.symbols, Stacks: true}) // each file is readable on its own
	if w.file, w.failed = w.archive.create(w.session.ID); w.failed == nil {
		w.buf = w.encoder.Begin(w.buf, &w.session)
	}
}

func (w *Writer) flush() {
	if w.failed == nil {
		w.failed = w.archive.write(w.file, w.buf)
	}
	w.buf = w.buf[:0]
}

// end closes the current file.
func (w *Writer) end(end *recording.End) {
	if w.file == nil {
		return
	}
	w.buf = w.encoder.End(w.buf, end)
	w.flush()
	w.failed = errors.Join(w.failed, w.archive.close(w.file))
	w.file = nil
}

// Close ends the recording, which is complete until a time. Without a reason the session may continue.
func (w *Writer) Close(reason string, until jvmthread.Time) error {
	var end *recording.End
	if w.file != nil && until > w.last {
		w.last = until
		w.buf = w.encoder.Batch(w.buf, &recording.Batch{Watermark: until})
		w.flush()
	}
	if reason != "" {
		end = &recording.End{Time: w.last, Reason: reason}
	}
	w.end(end)
	return w.failed
}
