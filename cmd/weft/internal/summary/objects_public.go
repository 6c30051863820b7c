// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// describe notes of what kind the locks of a class are, and their name if all spans are about the same.
func (l *Lock) describe(objects []*object) {
	if l.Contentions == 0 && l.Blocked == 0 {
		return
	}
	l.Kind = jvmthread.WaitLock.String()
	i := slices.IndexFunc(objects, func(o *object) bool { return o.class == l.Class })
	if i < 0 {
		return
	}
	o := objects[i]
	l.Kind = o.kind.String()
	if o.alone && (o.named || o.kind != jvmthread.WaitLock) {
		l.Name = o.name
	}
}

const (
	maxObjects = 100
	maxHolders = 10
)

// public returns the object for users.
func (o *object) public() Object {
	p := Object{
		Name: o.name, Caller: o.caller, Class: o.class, Kind: o.kind.String(), Entry: o.entry, Site: o.site(), Threads: len(o.threads), Contentions: o.count,
		Blocked: o.time, Holders: []Holder{},
	}
	holders := o.held()
	for _, name := range holders[:min(maxHolders, len(holders))] {
		d := o.of(name)
		h := Holder{Thread: name, Held: o.heldFor(name), State: d.state, Function: d.function}
		if o.time > 0 {
			h.Share = float64(o.holders[name]) / float64(o.time)
		}
		p.Holders = append(p.Holders, h)
	}
	return p
}
