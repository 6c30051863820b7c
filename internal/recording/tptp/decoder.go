// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// New returns a decoder of traces. Times are seconds, or units of Options.Times.Unit.
func New(opts recording.Options, sink recording.Sink) recording.Decoder {
	d := &decoder{Batcher: recording.NewBatcher(opts, sink, recording.Session{Old: true}), unit: opts.Times.Unit}
	if d.unit <= 0 || d.unit > time.Second {
		d.unit = time.Second
	}
	s := &scanner{decoder: d}
	d.text = recording.NewText(d.Batcher, s.scan, d.finish)
	return d.text
}

type decoder struct {
	*recording.Batcher

	text    *recording.Text
	unit    time.Duration
	ours    bool // the trace was written by this program
	threads threads
	last    jvmthread.Time // of the event before

	open  element // the one whose content is being read
	event record
	note  note

	// The start tag that is being read. It may have to be read again from its beginning, when more of it has come.
	tag     element
	tagged  record
	comment note
}

// record is what the attributes and annotations of an element say.
type record struct {
	at                jvmthread.Time
	timeout           int64
	thread            id
	object            id
	owner             id
	name, group       string
	class, stack      string
	timedOut, all     bool
	daemon, virtual   bool
	interrupted, when bool // when: it has a time
	wrong             string
	line              uint64 // where it began
	byte              int64
}

// begin is called at the name in a start tag.
func (d *decoder) begin(name []byte) {
	d.tag = noElement
	if string(name) == "annotation" {
		d.tag = annotation
		d.comment = note{open: true, value: d.comment.value[:0]}
		return
	}
	if e, ok := findElement(name); ok {
		d.tag = e
		p := d.text.Position()
		d.tagged = record{line: p.Line, byte: p.Byte}
	}
}

// attribute is called for each attribute; the text is as it stands in the trace.
func (d *decoder) attribute(key, value []byte) {
	switch d.tag {
	case noElement:
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
	}
}

func (d *decoder) time(value []byte) {
	value = bytes.TrimSpace(value)
	at, n := recording.ParseTime(value, d.unit)
	if n == 0 || n != len(value) {
		d.tagged.wrong = fmt.Sprintf("its time is %.40q", value)
		return
	}
	d.tagged.at, d.tagged.when = at, true
}

// timeout reads milliseconds. That of an unusual one costs no event.
func (d *decoder) timeout(value []byte) {
	value = bytes.TrimSpace(value)
	if at, n := recording.ParseTime(value, time.Millisecond); n > 0 && n == len(value) && at >= 0 {
		d.tagged.timeout = int64(at)
	}
}

// truth reads 1 or 0, or what the text of the design has in place of them.
func (d *decoder) truth(key, value []byte) bool {
	switch string(bytes.TrimSpace(value)) {
	case "1", "true":
		return true
	case "0", "false", "":
		return false
	}
	d.tagged.wrong = fmt.Sprintf("its %s is %.40q, which is neither 1 nor 0", key, value)
	return false
}

// begun is called at the end of a start tag.
func (d *decoder) begun(empty bool) {
	e := d.tag
	d.tag = noElement
	if e == annotation {
		d.note, d.comment = d.comment, d.note
		if empty {
			d.finishNote()
		}
		return
	}
	d.finishEvent() // one that has no end tag
	if e == noElement {
		return
	}
	if empty {
		d.emit(e, &d.tagged)
		return
	}
	d.open, d.event = e, d.tagged
}

// end is called at an end tag.
func (d *decoder) end(name []byte) {
	if string(name) == "annotation" {
		d.finishNote()
		return
	}
	d.finishEvent()
}

// finishEvent hands the open event on.
func (d *decoder) finishEvent() {
	if e := d.open; e != noElement {
		d.open, d.note.open = noElement, false
		d.emit(e, &d.event)
	}
}

func (d *decoder) emit(e element, ev *record) {
	if ev.wrong == "" && !ev.thread.known {
		ev.wrong = "it has no thread"
	}
	if ev.wrong != "" {
		p := ev.position()
		p.What, p.Remedy, p.Lost = ev.wrong, "mend the trace; this element is left out", 1
		d.Problem(p)
		return
	}
	if !ev.when {
		ev.at = d.last
		p := ev.position()
		p.What = "it has no time; that of the event before is taken"
		d.Problem(p)
	}
	d.last = ev.at
	if !d.Add(d.resolve(e, ev)) {
		d.Problem(d.Late(ev.position()))
	}
}

// position is where the element began.
func (r *record) position() recording.Problem { return recording.Problem{Line: r.line, Byte: r.byte} }

// forget gives up the start tag that is being read, and reports whether it was to be an event.
func (d *decoder) forget() (event bool) {
	event = d.tag != noElement && d.tag != annotation
	d.tag = noElement
	return event
}

// finish is called behind the last tag.
func (d *decoder) finish() {
	if d.open == noElement {
		return
	}
	d.finishEvent()
	d.bad(0, "the trace breaks off in an element", "it may have been cut off")
}

func (d *decoder) bad(lost uint64, what, remedy string) {
	p := d.text.Position()
	p.What, p.Remedy, p.Lost = what, remedy, lost
	d.Problem(p)
}

func unescape(value []byte) string {
	if bytes.IndexByte(value, '&') < 0 && !bytes.ContainsAny(value, "\n\t\r") {
		return valid(value)
	}
	return valid(appendUnescaped(nil, bytes.Map(func(r rune) rune { // attribute-value normalization (XML 1.0, 3.3.3)
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, value)))
}

func valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }
