// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

// note is an annotation.
type note struct {
	open  bool
	name  string
	value []byte
}

// characters is called for the text between tags.
func (d *decoder) characters(text []byte, escaped bool) {
	if !d.note.open || d.open == noElement || len(d.note.value)+len(text) > d.Options().MaxRecord {
		return
	}
	if escaped {
		d.note.value = appendUnescaped(d.note.value, text)
	} else {
		d.note.value = append(d.note.value, text...)
	}
}

func (d *decoder) finishNote() {
	if !d.note.open {
		return
	}
	d.note.open = false
	if d.open == noElement {
		return
	}
	ev, value := &d.event, valid(d.note.value)
	switch d.note.name {
	case noteClass:
		ev.class = value
	case noteStack:
		ev.stack = value
	case noteDaemon:
		ev.daemon = value == "true"
	case noteVirtual:
		ev.virtual = value == "true"
	case noteInterrupted:
		ev.interrupted = value == "true"
	}
}
