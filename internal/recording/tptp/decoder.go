// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"fmt"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// New returns a decoder of traces. Times are in Options.Times.Unit, by default seconds.
func New(options recording.Options, sink recording.Sink) recording.Decoder {
	d := &decoder{unit: unitOf(options.Times)}
	s := &scanner{decoder: d}
	d.Text = recording.NewText(recording.NewBatcher(options, sink, recording.Session{SingleEnded: true}), s.scan, d.finish)
	d.threads.rename = d.Rename
	return d
}

type decoder struct {
	*recording.Text

	unit    time.Duration
	ours    bool // this program wrote the trace
	threads threads
	classes map[uint64]jvmthread.ClassID // of objects
	last    jvmthread.Time               // of the previous event

	open  jvmthread.Kind // of the element whose content is being read, KindNone outside elements
	event record
	note  note

	// The start tag being read. It is read again from its start if it is incomplete.
	tag     jvmthread.Kind // or annotation, or KindNone for an element that is skipped
	tagged  record
	comment note
}

// record holds the attributes and annotations of an element.
type record struct {
	at                jvmthread.Time
	timeout           int64
	thread            id
	object            id
	owner             id
	name, group       string
	foreign           string // see jvmthread.Thread
	class, stack      string
	timedOut, all     bool
	daemon, virtual   bool
	interrupted, when bool // when: the element has a time
	wrong             string
	line              uint64 // of its start
	byte              int64
}

// begin is called at the name in a start tag.
func (d *decoder) begin(name []byte) {
	d.tag = jvmthread.KindNone
	if string(name) == "annotation" {
		d.tag = annotation
		d.comment = note{open: true, value: d.comment.value[:0]}
		return
	}
	if kind := findElement(name); kind != jvmthread.KindNone {
		d.tag = kind
		p := d.Position()
		d.tagged = record{line: p.Line, byte: p.Byte}
	}
}

// attribute is called for each attribute, with the value as written.
func (d *decoder) attribute(key, value []byte) {
	switch d.tag {
	case jvmthread.KindNone:
		return
	case annotation:
		switch string(key) {
		case "name":
			d.comment.name = unescape(value)
		case "value":
			d.comment.value = appendUnescaped(d.comment.value, value)
		}
		return
	}
	ev := &d.tagged
	switch string(key) {
	case "threadIdRef", "threadId":
		ev.thread = parseID(value)
	case "transientThreadId", "transientThreadIdRef":
		if !ev.thread.given {
			ev.thread = parseID(value)
		}
	case "objIdRef":
		ev.object = parseID(value)
	case "transientObjIdRef":
		if !ev.object.given {
			ev.object = parseID(value)
		}
	case "threadOwner":
		ev.owner = parseID(value)
	case "time":
		d.time(value)
	case "timeout":
		d.timeout(value)
	case "isTimedOut":
		ev.timedOut = d.truth(key, value)
	case "isNotifyAll":
		ev.all = d.truth(key, value)
	case "threadName":
		ev.name = unescape(value)
	case "groupName":
		ev.group = unescape(value)
	case "parentName", "collationValue", "traceIdRef":
		if d.tag == jvmthread.KindThreadStart {
			ev.foreign = addForeign(ev.foreign, string(key), unescape(value))
		}
	}
}

func (d *decoder) time(value []byte) {
	value = bytes.TrimSpace(value)
	at, n := recording.ParseTime(value, d.unit)
	if n == 0 || n != len(value) {
		d.tagged.wrong = fmt.Sprintf("invalid time %.40q", value)
		return
	}
	d.tagged.at, d.tagged.when = at, true
}

// timeout parses milliseconds. An invalid timeout is ignored.
func (d *decoder) timeout(value []byte) {
	value = bytes.TrimSpace(value)
	if at, n := recording.ParseTime(value, time.Millisecond); n > 0 && n == len(value) && at >= 0 {
		d.tagged.timeout = int64(at)
	}
}

// truth parses 1 or 0, as in the DTD, or true or false, as in the text of the design.
func (d *decoder) truth(key, value []byte) bool {
	switch string(bytes.TrimSpace(value)) {
	case "1", "true":
		return true
	case "0", "false", "":
		return false
	}
	d.tagged.wrong = fmt.Sprintf("invalid %s %.40q: want 1 or 0", key, value)
	return false
}

// begun is called at the end of a start tag.
func (d *decoder) begun(empty bool) {
	kind := d.tag
	d.tag = jvmthread.KindNone
	if kind == annotation {
		d.note, d.comment = d.comment, d.note
		if empty {
			d.finishNote()
		}
		return
	}
	d.finishEvent() // of an element without an end tag
	if kind == jvmthread.KindNone {
		return
	}
	if empty {
		d.emit(kind, &d.tagged)
		return
	}
	d.open, d.event = kind, d.tagged
}

// end is called at an end tag.
func (d *decoder) end(name []byte) {
	if string(name) == "annotation" {
		d.finishNote()
		return
	}
	d.finishEvent()
}

// finishEvent adds the event of the open element.
func (d *decoder) finishEvent() {
	if kind := d.open; kind != jvmthread.KindNone {
		d.open, d.note.open = jvmthread.KindNone, false
		d.emit(kind, &d.event)
	}
}

func (d *decoder) emit(kind jvmthread.Kind, ev *record) {
	if ev.wrong == "" && !ev.thread.known {
		ev.wrong = "missing thread"
	}
	if ev.wrong != "" {
		p := ev.position()
		p.What, p.Remedy, p.Lost = ev.wrong, "skipping the element; correct the trace", 1
		d.Problem(p)
		return
	}
	if !ev.when {
		ev.at = d.last
		p := ev.position()
		p.What = "missing time; using that of the previous event"
		d.Problem(p)
	}
	d.last = ev.at
	event := d.resolve(kind, ev)
	if !d.Add(&event) {
		d.Problem(d.Late(ev.position()))
	}
}

// position returns a Problem at the start of the element.
func (r *record) position() recording.Problem { return recording.Problem{Line: r.line, Byte: r.byte} }

// forget drops the start tag being read, and reports whether it was that of an event.
func (d *decoder) forget() (event bool) {
	event = d.tag != jvmthread.KindNone && d.tag != annotation
	d.tag = jvmthread.KindNone
	return event
}

// finish is called after the last tag.
func (d *decoder) finish() {
	if d.open == jvmthread.KindNone {
		return
	}
	d.finishEvent()
	d.Report(0, "the trace ends inside an element", "it may be truncated")
}

func unescape(value []byte) string {
	if bytes.IndexByte(value, '&') < 0 && !bytes.ContainsAny(value, "\n\t\r") {
		return recording.Valid(value)
	}
	return recording.Valid(appendUnescaped(nil, bytes.Map(func(r rune) rune { // attribute-value normalization (XML 1.0, 3.3.3)
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, value)))
}
