// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package threadtest answers: are the results correct? It provides a readable text form of histories, a simulator of threads and monitors
// that records what really happened, and a validator of the engine's output. Only tests import it.
package threadtest

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// History is a parsed text: events in the order of the lines, and the names of their ids.
type History struct {
	Events  []jvmthread.Event
	threads []string // by id - 1
	locks   []string // by id - 1
	spans   []string // by id - 1
}

// Parse reads a history with one event per line: time, thread, kind, then owner=, target=, lock=, arg=, stack=, span= and flags by name.
// Threads, locks and spans get ids in the order of their first occurrence. A # starts a comment.
func Parse(text string) (*History, error) {
	h := &History{}
	if err := h.Append(text); err != nil {
		return nil, err
	}
	return h, nil
}

// Append reads more events, keeping the names defined so far.
func (h *History) Append(text string) error {
	for n, line := range strings.Split(text, "\n") {
		if at := strings.IndexByte(line, '#'); at >= 0 {
			line = line[:at]
		}
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		ev, err := h.parseEvent(fields)
		if err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		h.Events = append(h.Events, ev)
	}
	return nil
}

func (h *History) parseEvent(fields []string) (ev jvmthread.Event, err error) {
	if len(fields) < 3 {
		return ev, fmt.Errorf("incomplete event %q: want time, thread and kind", strings.Join(fields, " "))
	}
	at, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return ev, fmt.Errorf("time: %w", err)
	}
	kind, ok := jvmthread.ParseKind(fields[2])
	if !ok {
		return ev, fmt.Errorf("unknown kind %q", fields[2])
	}
	ev = jvmthread.Event{Time: jvmthread.Time(at), Thread: h.Thread(fields[1]), Kind: kind}
	for _, f := range fields[3:] {
		if err = h.parseField(&ev, f); err != nil {
			return ev, err
		}
	}
	return ev, nil
}

func (h *History) parseField(ev *jvmthread.Event, f string) error {
	key, value, hasValue := strings.Cut(f, "=")
	if !hasValue {
		for bit, name := range jvmthread.FlagNames {
			if key == name {
				ev.Flags |= 1 << bit
				return nil
			}
		}
		return fmt.Errorf("unknown flag %q", f)
	}
	switch key {
	case "owner", "target":
		ev.Peer = h.Thread(value)
		return nil
	case "lock":
		ev.Lock = h.Lock(value)
		return nil
	case "span":
		ev.Span = h.Span(value)
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", key, err)
	case key == "arg":
		ev.Arg = n
	case key == "stack":
		ev.Stack = jvmthread.StackID(n)
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}

// Thread returns the id of a named thread; "-" means none.
func (h *History) Thread(name string) jvmthread.ThreadID {
	if name == "-" {
		return jvmthread.NoThread
	}
	return jvmthread.ThreadID(intern(&h.threads, name))
}

// Lock returns the id of a named lock. Each lock has its own class.
func (h *History) Lock(name string) jvmthread.LockID {
	n := intern(&h.locks, name)
	return jvmthread.LockID{Class: jvmthread.ClassID(n), Hash: uint32(n)}
}

// Span returns the ids of a named span of the application; "-" means none.
func (h *History) Span(name string) (c jvmthread.SpanContext) {
	if name != "-" {
		n := intern(&h.spans, name)
		binary.BigEndian.PutUint64(c.TraceID[8:], uint64(n))
		binary.BigEndian.PutUint64(c.SpanID[:], uint64(n))
	}
	return c
}

// SpanName returns the name of a span.
func (h *History) SpanName(c jvmthread.SpanContext) string {
	if n := binary.BigEndian.Uint64(c.SpanID[:]); n > 0 && n <= uint64(len(h.spans)) {
		return h.spans[n-1]
	}
	return "-"
}

// Symbols returns a table in which the name of each lock is that of its class.
func (h *History) Symbols() *symbols.Table {
	t := symbols.New(symbols.DefaultLimits())
	for _, name := range h.locks {
		t.InternClass(name)
	}
	return t
}

func intern(list *[]string, name string) int {
	for i, known := range *list {
		if known == name {
			return i + 1
		}
	}
	*list = append(*list, name)
	return len(*list)
}

func (h *History) threadName(id jvmthread.ThreadID) string {
	if i := int(id) - 1; i >= 0 && i < len(h.threads) {
		return h.threads[i]
	}
	return "-"
}

func (h *History) lockName(id jvmthread.LockID) string {
	if i := int(id.Class) - 1; i >= 0 && i < len(h.locks) {
		return h.locks[i]
	}
	return "-"
}

// Interval formats an interval as in goldens.
func (h *History) Interval(iv jvmthread.Interval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d %s %d..%d", h.threadName(iv.Thread), iv.Seq, iv.State, iv.Start, iv.End)
	if !iv.Lock.IsZero() {
		fmt.Fprintf(&b, " lock=%s", h.lockName(iv.Lock))
	}
	if iv.Peer != jvmthread.NoThread {
		fmt.Fprintf(&b, " peer=%s", h.threadName(iv.Peer))
	}
	if iv.Timeout > 0 {
		fmt.Fprintf(&b, " timeout=%d", iv.Timeout)
	}
	if iv.Cycle != 0 {
		fmt.Fprintf(&b, " cycle=%d", iv.Cycle)
	}
	for bit, name := range []string{"timedOut", "interrupted", "open", "partial", "willContinue", "continues", "pinned"} {
		if iv.Marks.Has(1 << bit) {
			b.WriteString(" " + name)
		}
	}
	return b.String()
}

// Hold formats a hold as in goldens.
func (h *History) Hold(hold jvmthread.Hold) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %d..%d", h.lockName(hold.Lock), h.threadName(hold.Thread), hold.Start, hold.End)
	for bit, name := range []string{"sinceBefore", "inferred", "open"} {
		if hold.Marks&(1<<bit) != 0 {
			b.WriteString(" " + name)
		}
	}
	return b.String()
}

// Hint formats a hint as in goldens.
func (h *History) Hint(hint deadlock.Hint) string {
	return fmt.Sprintf("%s held %s and requested %s at %d, %s in the opposite order at %d", h.threadName(hint.Holder), h.lockName(hint.First),
		h.lockName(hint.Second), hint.Before, h.threadName(hint.Other), hint.At)
}

// Interaction formats an interaction as in goldens.
func (h *History) Interaction(ia jvmthread.Interaction) string {
	s := fmt.Sprintf("%s %s/%d -> %s/%d at %d..%d", ia.Kind, h.threadName(ia.From.Thread), ia.From.Seq,
		h.threadName(ia.To.Thread), ia.To.Seq, ia.CauseTime, ia.EffectTime)
	if !ia.Lock.IsZero() {
		s += " lock=" + h.lockName(ia.Lock)
	}
	return s + " " + ia.Confidence.String()
}
