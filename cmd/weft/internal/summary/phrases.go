// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// words says what a thread did, in what place: "asleep in Report.write".
func (d doing) words() string {
	text := map[string]string{
		"sleeping": "asleep", "runnable": "running", "waiting": "waiting", "parked": "waiting", "joining": "joining a thread", "blocked": "blocked",
		"suspended": "suspended",
	}[d.state]
	if text != "" && d.function != "" {
		text += " in " + wording.SimpleFunction(d.function)
	}
	return text
}

// own reports whether the holders are the threads that waited.
func (o *object) own(holders []string) bool {
	waited := make(map[string]bool)
	for _, w := range o.threads {
		waited[w.name] = true
	}
	return !slices.ContainsFunc(holders, func(name string) bool { return !waited[name] })
}

// heldBy lists who had the permits or the objects of a pool, but those that had them for a much shorter time than the first.
func (o *object) heldBy(holders []string) string {
	if len(holders) == 0 {
		return ""
	}
	in, waiting := make(map[string]time.Duration), make(map[string]time.Duration)
	for d, length := range o.doing {
		switch {
		case d.function == "" && d.state != jvmthread.StateRunnable.String():
		case d.state == jvmthread.StateParked.String() || d.state == jvmthread.StateBlocked.String():
			waiting[d.function] += length // perhaps for the next object, since a return is not always seen
		default:
			in[d.function] += length
		}
	}
	if len(in) == 0 {
		in = waiting
	}
	least := time.Duration(mentioned * float64(o.holders[holders[0]]))
	if rest := slices.IndexFunc(holders, func(name string) bool { return o.holders[name] < least }); rest > 0 {
		holders = holders[:rest]
	}
	text := "; held by " + listed(holders)
	switch function, length := most(in, cmp.Compare); {
	case function != "":
		text += ", mostly in " + wording.SimpleFunction(function)
	case length > 0:
		text += ", mostly running"
	}
	return text
}

// noun returns what one waits for at a pool or a semaphore.
func (o *object) noun() string {
	if unit := wording.Unit(o.kind, o.entry); unit != "" {
		return unit + " of " + o.what()
	}
	return o.what()
}

// what names the object: "Inventory.lock", "HikariPool", "the ReentrantLock of Inventory.reserve".
func (o *object) what() string {
	if o.caller == "" {
		return o.name
	}
	return "the " + o.name + " of " + wording.SimpleFunction(o.caller)
}

// whole is what for the holder of a read-write lock: those that wait for one of its two locks do not know which one the holder has.
func (o *object) whole() string {
	return strings.TrimSuffix(strings.TrimSuffix(o.what(), ".readLock()"), ".writeLock()")
}

// at says where threads waited.
func (o *object) at() string {
	if site := o.site(); site != "" && o.caller == "" {
		return " in " + wording.SimpleFunction(site)
	}
	return ""
}
