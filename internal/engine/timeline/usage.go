// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// Reading is what the clocks of a thread showed.
type Reading struct {
	At       jvmthread.Time
	CPU      int64          // so far
	RunQueue int64          // so far; less than 0: not known
	Runnable jvmthread.Time // of closed intervals since then
	Known    bool
}

// queueReading is the first half of a reading.
type queueReading struct {
	at    jvmthread.Time
	value int64
	known bool
}

// isReading reports whether an event says what the clocks of its thread showed. The thread may not have written it.
func isReading(kind jvmthread.Kind) bool {
	return kind == jvmthread.KindCPU || kind == jvmthread.KindRunQueue
}

// runs counts the time of a runnable interval up to a time.
func (m *more) runs(open *jvmthread.Interval, until jvmthread.Time) {
	if open.State == jvmthread.StateRunnable && m.reading.Known {
		m.reading.Runnable += max(0, until-max(open.Start, m.reading.At))
	}
}

// read takes a reading of a thread's clocks, and finds what the thread used since the one before.
func (m *more) read(open *jvmthread.Interval, ev *jvmthread.Event) {
	before := m.reading
	if !before.Known && open.Seq == 1 && !open.Marks.Has(jvmthread.MarkPartial) { // it has just started
		before = Reading{At: open.Start, RunQueue: -1, Known: true}
	}
	m.reading = Reading{At: ev.Time, CPU: ev.Arg, RunQueue: -1, Known: true}
	if m.queue.known && m.queue.at == ev.Time {
		m.reading.RunQueue = m.queue.value
	}
	m.queue, m.used = queueReading{}, jvmthread.Usage{}
	if !before.Known || ev.Arg < before.CPU {
		return
	}
	u := &m.used
	*u = jvmthread.Usage{From: before.At, To: ev.Time, Runnable: before.Runnable}
	if open.State == jvmthread.StateRunnable {
		u.Runnable += max(0, u.To-max(open.Start, u.From))
	}
	u.CPU = min(jvmthread.Time(ev.Arg-before.CPU), u.Runnable) // a wait takes some, too
	if before.RunQueue >= 0 && m.reading.RunQueue >= before.RunQueue {
		waited := u.To - u.From - u.Runnable // it may have waited for a processor only at the end of these waits
		u.RunQueue = min(max(0, jvmthread.Time(m.reading.RunQueue-before.RunQueue)-waited), u.Runnable-u.CPU)
	}
}

// Used returns what the thread used before the reading that was applied last. Runnable is 0 if that is not known.
func (t *Thread) Used() *jvmthread.Usage {
	if t.more == nil {
		return &jvmthread.Usage{}
	}
	return &t.more.used
}

// Use adds to the details of the open interval.
func (t *Thread) Use(cpu, runQueue jvmthread.Time) {
	d := &t.known().detail
	d.CPU, d.RunQueue, d.HasCPU = d.CPU+int64(cpu), d.RunQueue+int64(runQueue), true
}

// Spend removes from these details what was used in a window that has ended.
func (t *Thread) Spend() {
	if m := t.more; m != nil {
		m.detail.CPU, m.detail.RunQueue, m.detail.HasCPU = 0, 0, false
	}
}
